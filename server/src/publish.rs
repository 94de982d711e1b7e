//! Converts notices to notifications. Those that a client must act on are orders, which are never dropped.

use crate::outbox::Outbox;
use crate::query::ThreadOverview;
use crate::registry::RegistryNotice;
use crate::wire::{self, ToWire};
use crate::workspace::WorkspaceNotice;
use rawr_core::event::Ending;
use rawr_core::units::Timestamp;
use rawr_core::{Thread, machine};
use rawr_protocol::methods::{
    ActionPerform, CompactionUpdate, ConfigChanged, DecisionRecorded, JudgmentRequested,
    JudgmentResult, LogMessage, PacketChanged, PromptChanged, ScratchChanged, SequenceHeadsUp,
    SequenceResponded, StoreFailed, StoreRecovered, ThreadChanged, ThreadListChanged,
};
use rawr_protocol::{
    ActionPerformNotification, ConfigChangedNotification, DecisionRecordedNotification,
    JudgmentRequestedNotification, LogMessageParams, MessageType, PacketChangedNotification,
    Problem, PromptChangedNotification, ScratchChangedNotification, StoreFailedNotification,
    StoreRecoveredNotification, ThreadListChangedNotification, ThreadSummary,
};
use rawr_settings::config::Config;
use rawr_storage::store::LogDamage;

/// Told once.
const FIRST_QUESTION: &str = "where it is unclear whether your next message ends a piece of work, rawr asks a small model on your agent's login: \
     about 1,500 tokens a question, for at most `judgment.wait_seconds`. `rawr_auto_compaction.judgment.backend = \"off\"` turns it off";

/// Sends one notice to the client.
pub fn publish(notice: &RegistryNotice<'_>, outbox: &Outbox) {
    match notice {
        RegistryNotice::Thread { thread, config, now, notice, heads_up } => {
            publish_thread(thread, config, *now, notice, heads_up.as_ref(), outbox);
        }
        RegistryNotice::Listed { overview } => {
            outbox.notify::<ThreadListChanged>(&ThreadListChangedNotification {
                threads: vec![thread_summary(overview)],
                gone: Vec::new(),
            });
        }
        RegistryNotice::Gone { thread } => {
            outbox.notify::<ThreadListChanged>(&ThreadListChangedNotification {
                threads: Vec::new(),
                gone: vec![thread.to_string()],
            });
        }
        RegistryNotice::Decided { thread, decision } => {
            outbox.notify::<DecisionRecorded>(&DecisionRecordedNotification {
                thread_id: thread.id.to_string(),
                decision: wire::new_decision(thread, decision),
            });
        }
        // The sidecar performs it itself.
        RegistryNotice::Perform { issued, .. } if issued.kind.is_for_sidecar() => {}
        RegistryNotice::Perform { thread, issued } => {
            outbox.order::<ActionPerform>(&ActionPerformNotification {
                thread_id: thread.id.to_string(),
                sequence_id: issued.sequence.to_string(),
                action_id: issued.id.to_string(),
                action: wire::action(issued),
            })
        }
        RegistryNotice::FirstQuestion { thread } => {
            log(outbox, MessageType::Info, format!("thread {}: {FIRST_QUESTION}", thread.id));
        }
        RegistryNotice::Notes { thread, file, path, bytes, by } => {
            outbox.notify::<ScratchChanged>(&ScratchChangedNotification {
                thread_id: thread.to_string(),
                scratch_file: (*file).to_owned(),
                path: path.display().to_string(),
                exists: bytes.is_some(),
                bytes: bytes.unwrap_or_default(),
                by: by.map(str::to_owned),
            });
        }
        RegistryNotice::Damaged { thread, damage } => {
            log(outbox, MessageType::Warning, damaged(thread.as_str(), damage))
        }
        RegistryNotice::StoreFailed { thread, error, held } => {
            outbox.order::<StoreFailed>(&StoreFailedNotification {
                thread_id: thread.to_string(),
                error: format!(
                    "{error}; make the folder writable or free some space, and rawr continues automatically"
                ),
                held_inputs: held.iter().map(ToString::to_string).collect(),
            });
        }
        RegistryNotice::StoreRecovered { thread } => {
            outbox.order::<StoreRecovered>(&StoreRecoveredNotification {
                thread_id: thread.to_string(),
            });
        }
    }
}

/// Sends one notice about configuration and prompts to the client.
pub fn publish_workspace(notice: &WorkspaceNotice<'_>, outbox: &Outbox) {
    match notice {
        WorkspaceNotice::Problems { problems } => {
            for problem in wire::problems(*problems) {
                log(outbox, MessageType::Warning, problem_line(&problem));
            }
        }
        WorkspaceNotice::PromptChanged { name, version, problems } => {
            outbox.notify::<PromptChanged>(&PromptChangedNotification {
                name: (*name).to_owned(),
                version: (*version).to_owned(),
                problems: wire::problems(*problems),
            });
        }
        WorkspaceNotice::ConfigChanged { config, problems } => {
            outbox.notify::<ConfigChanged>(&ConfigChangedNotification {
                problems: wire::problems(*problems),
                effective: config.effective(),
            });
        }
    }
}

/// The short form of a thread.
pub(crate) fn thread_summary(overview: &ThreadOverview) -> ThreadSummary {
    ThreadSummary {
        thread_id: overview.thread.to_string(),
        cwd: overview.cwd.clone(),
        title: overview.title.clone(),
        phase: overview.phase.to_wire(),
        tier: overview.tier.map(ToWire::to_wire),
        percent_remaining: overview.percent.map(wire::percent),
        updated_at_ms: overview.updated_at.0,
        open: overview.open,
        running: overview.is_running(),
        owner: overview.owner.clone(),
        host: Some(overview.host.clone()).filter(|name| !name.is_empty()),
        sub_agent: overview.sub_agent.clone(),
        breaker: overview.held_back.as_ref().map(wire::breaker_hold),
        last_fate: overview
            .last_fate
            .as_ref()
            .map(|known| wire::last_fate(known, overview.proposal.as_ref())),
        proposal: overview
            .proposal
            .as_ref()
            .and_then(|proposal| wire::proposal(proposal, overview.mode, overview.silence)),
        runs_by_hooks: overview.runs_by_hooks,
    }
}

fn publish_thread(
    thread: &Thread,
    config: &Config,
    now: Timestamp,
    notice: &machine::Notice,
    heads_up: Option<&machine::HeadsUpBanner>,
    outbox: &Outbox,
) {
    let warn = |message: String| {
        log(outbox, MessageType::Warning, format!("thread {}: {message}", thread.id));
    };
    match notice {
        machine::Notice::HeadsUp(heads_up) => {
            outbox.order::<SequenceHeadsUp>(&wire::heads_up_notification(thread, heads_up))
        }
        machine::Notice::Changed => {
            let changed = wire::thread_changed(thread, &config.policy, heads_up, now);
            outbox.notify::<ThreadChanged>(&changed);
        }
        machine::Notice::Compaction { report, sequence, trigger } => {
            let (sequence, trigger) = (sequence.as_ref(), trigger.as_ref());
            let update = wire::compaction_update(thread, report, sequence, trigger);
            outbox.notify::<CompactionUpdate>(&update);
        }
        machine::Notice::JudgmentAsked { request, tier } => {
            outbox.notify::<JudgmentRequested>(&JudgmentRequestedNotification {
                thread_id: thread.id.to_string(),
                request_id: request.to_string(),
                tier: tier.map(ToWire::to_wire),
            });
        }
        machine::Notice::JudgmentAnswered { request, tier, source, answer } => {
            let result = wire::judgment_result(thread, request, *tier, *source, answer);
            outbox.notify::<JudgmentResult>(&result);
        }
        machine::Notice::Responded(responded) => {
            outbox.notify::<SequenceResponded>(&wire::responded(thread, responded));
        }
        machine::Notice::Packet { sequence, author, change, by } => {
            outbox.notify::<PacketChanged>(&PacketChangedNotification {
                thread_id: thread.id.to_string(),
                sequence_id: sequence.to_string(),
                author: author.to_wire(),
                change: change.to_wire(),
                by: by.clone(),
            });
        }
        machine::Notice::SequenceEnded(ended) => {
            if ended.ending == Ending::Failed {
                warn(format!("{} failed: {}", ended.sequence, ended.reason));
            }
        }
        machine::Notice::InputRefused { input, error } => {
            let message = format!(
                "thread {}: the host did not take message {input}: {error}; send it again",
                thread.id
            );
            log(outbox, MessageType::Error, message);
        }
        machine::Notice::GuardBypassed => {
            warn("compacting in spite of an active guard: too little context is left".to_owned())
        }
        machine::Notice::HeldBack(hold) => warn(format!(
            "rawr pauses compactions: {}; it compacts again when {}",
            hold.reason, hold.ends_when
        )),
    }
}

/// In the format of compilers, so that log viewers link to the position.
fn problem_line(problem: &Problem) -> String {
    let at = problem
        .range
        .as_ref()
        .map(|range| format!(":{}:{}", range.start.line + 1, range.start.character + 1));
    let file = problem.file.as_ref();
    let place = file.map(|file| format!("{file}{}: ", at.unwrap_or_default())).unwrap_or_default();
    let help = problem.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    format!("{place}{}{help}", problem.message)
}

fn damaged(thread: &str, damage: &LogDamage) -> String {
    match damage {
        LogDamage::TornTail { line, bytes } => {
            format!(
                "thread {thread}: line {line} of events.jsonl was incomplete; {bytes} bytes were cut off"
            )
        }
        LogDamage::Unreadable { line, reason, .. } => {
            format!(
                "thread {thread}: line {line} of events.jsonl is unreadable ({reason}); it is kept in quarantine.jsonl"
            )
        }
    }
}

fn log(outbox: &Outbox, level: MessageType, message: String) {
    outbox.notify::<LogMessage>(&LogMessageParams { level, message });
}
