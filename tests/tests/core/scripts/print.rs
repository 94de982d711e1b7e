//! Formats effects below a line of a script: one line each, with only what rules refer to.

use rawr_core::Effect;
use rawr_core::assess::{DecisionRecord, GateOutcome};
use rawr_core::event::{DeliveredMessage, Event, HostAction, JudgeReply, Trigger};
use rawr_core::machine::{Notice, PacketChange};
use rawr_core::units::SequenceId;
use std::fmt::Write as _;

pub fn effect(effect: &Effect) -> Option<String> {
    match effect {
        Effect::Record(record) => event(&record.event),
        Effect::Decided(decision) => Some(decided(decision)),
        Effect::Perform(issued) => Some(format!("perform {} {}", issued.id, action(&issued.kind))),
        Effect::Tell(told) => notice(told),
    }
}

fn event(event: &Event) -> Option<String> {
    Some(match event {
        Event::PacketTaken(taken) => {
            format!("packet by {:?}: {}", taken.packet.author, one_line(&taken.packet.text))
        }
        Event::DeadlinePassed(passed) => format!("deadline of {} passed", passed.phase.name()),
        Event::InputHeld(held) => format!("held {}", held.input),
        Event::TurnCompleted(completed) if !completed.boundaries.is_empty() => {
            format!("boundaries: {}", completed.boundaries)
        }
        Event::PlanUpdated(updated) if !updated.boundaries.is_empty() => {
            format!("boundaries: {}", updated.boundaries)
        }
        Event::CommandFinished(finished) => format!("boundaries: {}", finished.boundaries),
        _ => return None,
    })
}

fn notice(notice: &Notice) -> Option<String> {
    Some(match notice {
        Notice::Changed => return None,
        Notice::Packet { change: PacketChange::Outdated, sequence, .. } => {
            format!("the packet of {sequence} is outdated")
        }
        // The packet's event is printed instead.
        Notice::Packet { .. } => return None,
        Notice::HeadsUp(heads_up) => {
            let tier = heads_up.tier.map(|tier| format!(" {tier}")).unwrap_or_default();
            let percent = heads_up.percent.map(|left| format!(" {left}")).unwrap_or_default();
            format!(
                "heads-up {:?}{tier}{percent}: {} (packet by {:?})",
                heads_up.stage, heads_up.reason, heads_up.author
            )
        }
        Notice::Compaction { report, sequence, .. } => {
            let of = sequence.as_ref().map_or("no sequence", SequenceId::as_str);
            format!("compaction {:?} by {:?} of {of}", report.status, report.origin)
        }
        Notice::Responded(responded) => {
            let by = responded.by.as_deref().unwrap_or("a client");
            format!("{} by {by}", responded.choice.name())
        }
        Notice::SequenceEnded(ended) => {
            format!("{:?} {}: {}", ended.ending, ended.sequence, ended.reason)
        }
        Notice::InputRefused { input, error } => format!("{input} was not taken: {error}"),
        Notice::GuardBypassed => "guard bypassed".to_owned(),
        Notice::HeldBack(hold) => format!("held back: {}", hold.reason),
        Notice::JudgmentAsked { .. } => return None,
        Notice::JudgmentAnswered { source, answer, .. } => {
            let source = source.name();
            match &answer {
                JudgeReply::Says { should_compact, reason } => {
                    let word = if *should_compact { "yes" } else { "no" };
                    format!("judgment by {source}: {word}, {reason}")
                }
                JudgeReply::Failed { error } => format!("no judgment by {source}: {error}"),
            }
        }
    })
}

fn decided(decision: &DecisionRecord) -> String {
    let mut text = format!("verdict {:?}: {}", decision.outcome, decision.reason);
    for gate in decision
        .gates
        .iter()
        .filter(|gate| matches!(gate.outcome, GateOutcome::Fail | GateOutcome::Bypassed))
    {
        let _ = write!(text, "\n    {:?} {:?}: {}", gate.gate, gate.outcome, gate.evidence);
    }
    text
}

pub fn action(action: &HostAction) -> String {
    let item = |item: &DeliveredMessage| format!("{:?} {:?}", item.role, one_line(&item.text));
    match action {
        HostAction::InjectTurn { purpose, text, via_steer, .. } => {
            let how = if *via_steer { "steer" } else { "inject" };
            format!("{how} {}: {}", purpose.name(), one_line(text))
        }
        HostAction::SamplePacket { prompt, ahead } => {
            format!("sample{}: {}", if *ahead { " ahead" } else { "" }, one_line(prompt))
        }
        HostAction::Judge { by, instructions, context, .. } => {
            format!("judge by {}: {} | {}", by.name(), one_line(instructions), one_line(context))
        }
        HostAction::Compact { trigger: Trigger::Inline { percent }, local, interrupt, .. } => {
            let local = if *local { ", locally" } else { "" };
            let interrupt = if *interrupt { ", may interrupt" } else { "" };
            format!("compact inline at {percent}{local}{interrupt}")
        }
        HostAction::Compact { author, settings, .. } => {
            let mut text = format!("compact, packet by {author:?}");
            let words = [&settings.model, &settings.reasoning_effort, &settings.verbosity];
            for value in words.into_iter().flatten() {
                let _ = write!(text, " {value}");
            }
            if settings.packet_only {
                text.push_str(", without a summary");
            }
            text
        }
        HostAction::DeliverInput { input, items } => {
            format!("deliver {input}: {}", items.iter().map(item).collect::<Vec<_>>().join(" + "))
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
