//! The properties that must always hold, and the history that is needed to check them. The host records what was done
//! and which messages it received.

use crate::explore::Violation;
use crate::same::NOW;
use crate::task::{HostReport, confirms, input_id};
use crate::worlds::SmallWorld;
use rawr_core::assess::{DecisionRecord, Gate, GateOutcome, Question, assess};
use rawr_core::boundary::Boundary;
use rawr_core::event::{
    ActionIssued, Assessed, CompactionOrigin, CompactionReportStatus, DeliveredMessage, Entrance,
    Event, HostAction, ItemRole, JudgeReply, Outcome, Purpose, SequenceStarted, Trigger,
};
use rawr_core::policy::{ConfirmRule, Tier};
use rawr_core::thread::{Issued, Mark};
use rawr_core::units::{JudgeRequestId, SequenceId, TurnId};
use rawr_core::{Record, Thread};
use std::collections::{BTreeMap, BTreeSet};

pub const SPENT: &str = "a boundary counts once";
pub const ENDED: &str = "no action after its sequence ended";
pub const SYNTHETIC: &str = "no synthetic trigger";
pub const EMERGENCY: &str = "an emergency is never blocked by judgment";
pub const LATE: &str = "a compaction is handed over before the next message";
pub const CONFIRMED: &str = "a proposal waits for its confirmation";
pub const IDS: &str = "an action id is given once";

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CheckedHistory {
    /// Boundaries that a sequence has used, or whose turn is over.
    counted: BTreeSet<(TurnId, Boundary)>,
    /// The turns that were reported to belong to a sequence, and their purpose.
    told: BTreeMap<TurnId, Purpose>,
    /// rawr knows of a compaction that it did not request and that has no handoff yet.
    owes: bool,
}

impl CheckedHistory {
    /// A report was recorded.
    pub fn told(&mut self, report: Option<&HostReport>) {
        self.told.extend(report.and_then(|report| report.tells.clone()));
    }

    /// `before`: the thread without the record. A running sequence hands off itself, unless it waits for an answer.
    pub fn recorded(&mut self, before: &Thread, record: &Record) {
        match &record.event {
            Event::CompactionReported(reported) => {
                self.owes |= reported.status == CompactionReportStatus::Completed
                    && reported.origin != CompactionOrigin::Rawr
                    && before.sequence().is_none_or(|running| !running.takes_compaction());
            }
            Event::ActionIssued(issued) => self.owes &= !hands_off(&issued.kind),
            _ => {}
        }
    }

    /// A boundary that was assessed once must never start anything again.
    pub fn counted(&mut self, thread: &Thread) {
        let counted = |mark: &&Mark| mark.assessed || mark.spent_by.is_some();
        self.counted.extend(thread.boundaries.iter().filter(counted).filter_map(named));
    }
}

fn hands_off(action: &HostAction) -> bool {
    match action {
        HostAction::InjectTurn { purpose, .. } => *purpose == Purpose::Handoff,
        HostAction::DeliverInput { items, .. } => {
            items.iter().any(|item| item.role == ItemRole::Handoff)
        }
        HostAction::Compact { .. } | HostAction::Judge { .. } | HostAction::SamplePacket { .. } => {
            false
        }
    }
}

/// A message is delivered now. The built-in compaction has no handoff, and neither does a host that refuses it.
pub fn check_owed(
    world: &SmallWorld,
    thread: &Thread,
    past: &CheckedHistory,
) -> Result<(), Violation> {
    let owes = past.owes && thread.is_idle() && thread.has_packet_material();
    if !owes || !world.policy.enabled || world.may.refusals > 0 {
        return Ok(());
    }
    Err(Violation::of(LATE, format!("{:?}", thread.compactions.last)))
}

/// Records of other events cannot violate a property.
pub fn is_looked_at(record: &Record) -> bool {
    matches!(
        record.event,
        Event::ActionIssued(_)
            | Event::Assessed(_)
            | Event::CompactionReported(_)
            | Event::SequenceStarted(_)
    )
}

/// Checks a record of rawr. `before`: the thread without the record.
pub fn check_record(
    before: &Thread,
    record: &Record,
    past: &CheckedHistory,
) -> Result<(), Violation> {
    match &record.event {
        Event::ActionIssued(issued) => {
            if before.action(&issued.action).is_some() {
                return Err(Violation::of(IDS, format!("{issued:?}")));
            }
            check_issued(before, issued)
        }
        Event::Assessed(assessed) => check_origin(before, assessed, past),
        Event::SequenceStarted(started) => check_boundary(before, started, past),
        _ => Ok(()),
    }
}

fn check_issued(thread: &Thread, issued: &ActionIssued) -> Result<(), Violation> {
    let alone = |items: &[DeliveredMessage]| items.iter().all(|item| item.role == ItemRole::Input);
    let belongs = match &issued.kind {
        HostAction::Judge { request, .. } => is_asked(thread, request),
        HostAction::DeliverInput { items, .. } if alone(items) => true,
        HostAction::SamplePacket { ahead: true, .. } => thread.proposal().is_some(),
        _ => runs(thread, &issued.sequence),
    };
    if belongs { Ok(()) } else { Err(Violation::of(ENDED, format!("{issued:?}"))) }
}

/// Sequences are numbered.
fn number(sequence: &SequenceId) -> Option<u32> {
    sequence.as_str().strip_prefix('s')?.split('-').next()?.parse().ok()
}

/// Checks a repeated action. A message in delivery when its sequence ended is still the user's, and a handoff that was not
/// taken in time is still owed.
pub fn check_pending(thread: &Thread, issued: &Issued) -> Result<(), Violation> {
    let belongs = match &issued.kind {
        HostAction::Judge { request, .. } => is_asked(thread, request),
        HostAction::DeliverInput { .. } => true,
        HostAction::SamplePacket { ahead: true, .. } if thread.sequence().is_none() => {
            thread.stage.draft() == Some(&issued.id)
        }
        HostAction::InjectTurn { .. } if issued.kind.hands_over() => {
            let compacted =
                thread.compactions.last.as_ref().and_then(|last| last.sequence.as_ref());
            let owed = thread.handoffs.last_packet.as_ref().filter(|last| last.failed);
            runs(thread, &issued.sequence)
                || owed.is_some_and(|last| last.sequence == issued.sequence)
                || compacted.is_some_and(|last| number(last) <= number(&issued.sequence))
        }
        HostAction::InjectTurn { .. }
        | HostAction::Compact { .. }
        | HostAction::SamplePacket { .. } => runs(thread, &issued.sequence),
    };
    if belongs { Ok(()) } else { Err(Violation::of(ENDED, format!("{issued:?}"))) }
}

fn runs(thread: &Thread, sequence: &SequenceId) -> bool {
    thread.sequence().is_some_and(|running| running.id == *sequence)
}

fn is_asked(thread: &Thread, request: &JudgeRequestId) -> bool {
    thread.judging().is_some_and(|judging| judging.request == *request)
}

/// After its sequence has ended, the turn of a handoff is the agent's own work: between its requests it may trigger.
fn check_origin(
    before: &Thread,
    assessed: &Assessed,
    past: &CheckedHistory,
) -> Result<(), Violation> {
    let triggers = match assessed.outcome {
        Outcome::Compact | Outcome::Ask | Outcome::Judge => true,
        Outcome::Defer => assessed.entrance == Entrance::Preflight,
        Outcome::Nothing | Outcome::Tag | Outcome::Suggest => false,
    };
    let part = assessed.turn.as_ref().and_then(|turn| past.told.get(turn));
    let inside = assessed.turn.as_ref().is_some_and(|turn| before.is_in_turn(turn));
    match part.filter(|_| triggers) {
        None => Ok(()),
        Some(Purpose::Handoff | Purpose::Notice) if inside && before.sequence().is_none() => Ok(()),
        Some(part) => Err(Violation::of(SYNTHETIC, format!("{part:?}: {assessed:?}"))),
    }
}

fn check_boundary(
    before: &Thread,
    started: &SequenceStarted,
    past: &CheckedHistory,
) -> Result<(), Violation> {
    if let Trigger::Rawr { tier, boundaries, .. } = &started.trigger
        && *tier != Tier::Emergency
    {
        let counts = |mark: &&Mark| {
            mark.spent_by.is_none() && !mark.assessed && boundaries.has(mark.boundary)
        };
        let counting = before.boundaries.iter().filter(counts);
        if let Some(again) = counting.filter_map(named).find(|mark| past.counted.contains(mark)) {
            return Err(Violation::of(SPENT, format!("{again:?} starts {started:?}")));
        }
    }
    Ok(())
}

/// A message that confirms came, or the judge said yes to it, or silence, or a person asked, or it is an emergency. With
/// `closing_first` the message came before the turn that ends now.
pub fn check_confirmed(
    world: &SmallWorld,
    before: &Thread,
    record: &Record,
) -> Result<(), Violation> {
    let Event::Assessed(assessed) = &record.event else { return Ok(()) };
    let compacts = matches!(assessed.outcome, Outcome::Compact | Outcome::Ask);
    let decides = (compacts && before.asked_at.is_none()) || assessed.after_turn;
    let Some(tier) = assessed.tier.filter(|_| decides) else { return Ok(()) };
    let confirm = world.policy.tiers.rule(tier).confirm;
    let by_silence = before.proposal().is_some_and(|proposed| proposed.confirmed_at.is_some());
    let said = (1..=world.may.inputs).filter(|input| confirms(*input)).map(input_id);
    let front = before.held.front().map(|held| &held.id);
    let confirmed = match confirm {
        _ if tier == Tier::Emergency => true,
        _ if compacts && before.closing().is_some() => true,
        _ if front.is_some() && judge_agreed(before) => true,
        ConfirmRule::None => true,
        ConfirmRule::Message => said.clone().any(|input| front == Some(&input)),
        ConfirmRule::Idle => by_silence,
        ConfirmRule::Either => by_silence || said.clone().any(|input| front == Some(&input)),
    };
    if confirmed { Ok(()) } else { Err(Violation::of(CONFIRMED, format!("{assessed:?}"))) }
}

fn judge_agreed(thread: &Thread) -> bool {
    let answer = thread.judging().and_then(|judging| judging.answer.as_ref());
    matches!(answer, Some((_, JudgeReply::Says { should_compact: true, .. })))
}

fn named(mark: &Mark) -> Option<(TurnId, Boundary)> {
    Some((mark.turn.clone()?, mark.boundary))
}

/// By the world's own policy, independent of rawr's view.
pub fn check_emergency(world: &SmallWorld, decision: &DecisionRecord) -> Result<(), Violation> {
    let threshold = world.policy.tiers.emergency.percent_remaining_lt;
    let is_emergency = decision.percent.is_some_and(|percent| percent.0 < threshold);
    let fails = |gate: Gate| {
        let failed = |result: &&rawr_core::assess::GateEvidence| {
            result.gate == gate && result.outcome == GateOutcome::Fail
        };
        decision.gates.iter().any(|result| failed(&result))
    };
    let others = decision.gates.iter().filter(|result| result.gate != Gate::Judgment);
    let stopped = others.clone().any(|result| fails(result.gate));
    let goes_on = matches!(decision.outcome, Outcome::Compact | Outcome::Ask);
    if world.policy.enabled && is_emergency && !stopped && !goes_on {
        return Err(Violation::of(EMERGENCY, format!("{decision:?}")));
    }
    Ok(())
}

/// In a state in which rawr waits: there must be no open question in an emergency.
pub fn check_rest(world: &SmallWorld, thread: &Thread) -> Result<(), Violation> {
    let (Some(turn), Some(_)) = (&thread.between_requests, &thread.judging()) else {
        return Ok(());
    };
    if !thread.is_in_turn(turn) {
        return Ok(());
    }
    let decision = assess(thread, &world.policy, Question::MidTurn(turn), NOW);
    if decision.tier == Some(Tier::Emergency) && decision.outcome == Outcome::Compact {
        return Err(Violation::of(EMERGENCY, format!("it waits for {:?}", thread.judging())));
    }
    Ok(())
}
