//! How far a compaction has come. A thread is in one stage at a time, and each stage holds what only it needs.
//!
//! What may happen next in each phase that clients show, and where it leads. An assessment leads to `idle`, `awaiting_judgment`,
//! `deferred`, `proposed` or, by `Starting`, to the first step of a sequence: `awaiting_approval`, else the first request, else
//! `compacting`. A sequence that ends, fails or is called off leads to `idle`. Snoozing and cancelling end what waits or runs;
//! snoozing also sets a guard. Deadlines are seconds of `Deadlines`, counted from when the wait began.
//!
//! | phase | stage, step | what ends it → next phase | at the deadline | a person can |
//! | --- | --- | --- | --- | --- |
//! | `idle` | `Idle` | a turn's end, a message or a person's wish → assessment; a handoff or notice that is owed → a sequence that only tells | `compaction`: a host that is silent while a message waits, or that compacts, is waited for no longer; `handoff`: a delivery without an answer is asked for once more | compact, snooze |
//! | `idle` | `Starting` | the owner starts the sequence at once; another decision to compact replaces it | none | compact, snooze |
//! | `awaiting_judgment` | `Judging` | the answer → assessment with it; a turn's start or end, an emergency, a compaction → the question is dropped, `idle` or what the assessment of that turn leads to | `judgment`, with a message that waits `judge_wait_seconds` → assessment as if the judge had failed | compact (assessed once the answer is there), snooze, cancel |
//! | `deferred` | `Deferred` | the next message → assessment, which starts the sequence; a compaction, or a message that does not wait for it → `idle` | as `idle` | compact, snooze, cancel |
//! | `proposed` | `Proposed` | the next message → assessment, which confirms it (a sequence starts; or it stays `proposed`, with `after_turn`, while that message closes the work) or drops it (`idle`); with `after_turn`, the end of the turn that closes the work → assessment, which starts the sequence; a compaction → `idle` | `idle_seconds` of silence, shorter where the prompt cache ends before, and only where the tier's `confirm` is `idle` or `either` → assessment at once, which starts the sequence; else as `idle` | compact, approve, snooze, cancel |
//! | `awaiting_approval` | `Approval` | approval → the first request, or `compacting` with an edited packet; a compaction of someone else → ends | `approval` → ends | approve, also by compacting now or editing the packet, snooze, cancel |
//! | `awaiting_heads_up`, `awaiting_scratch_write`, `awaiting_packet` | `Preparing` without a packet | the agent's answers, in the order of the queue (heads-up, scratch notes, packet: in one turn, or the packet alone outside of the conversation, twice at most), or an edited packet → `compacting`, or `awaiting_compaction`; an interrupted turn, or that the confirming message is taken back → ends; a compaction of someone else → `awaiting_handoff` | `heads_up`, `scratch_write`, `packet` → the next request, at last rawr's own packet; fails where the host was never free to be asked | snooze, cancel, edit the packet |
//! | `awaiting_compaction` | `Preparing` with a packet, where only a person compacts | a person compacts in the host → `awaiting_handoff`; work makes a packet stale that no person edited → `awaiting_packet`; messages do not wait | none | snooze, cancel, edit the packet |
//! | `compacting` | `Preparing` with a packet | the host is idle, or takes it inside of a turn, and is asked → `Compacting`; a stale packet → `awaiting_packet` | `compaction` → fails | snooze, cancel, edit the packet |
//! | `compacting` | `Compacting` | the host reports the compaction → `awaiting_handoff`, or its failure → fails | `compaction` → `awaiting_handoff` where the host says that it is done, else fails | nothing |
//! | `compacting` | the built-in compaction, in all of its steps | the host reports it → the host's own once if too little was freed, else ends; its failure → fails | `compaction` → fails | snooze and cancel until the host was asked |
//! | `awaiting_handoff` | `HandingOff` | the host takes the packet, in a turn or with the next message → ends; refuses it → fails, and another sequence hands it over after the next event, twice at most | `compaction`: the packet is given without waiting for the turn's end; `handoff` → fails | nothing |
//!
//! A sequence that is `CalledOff` or `Overtaken` keeps its phase until the owner ends it, at once. One that only tells that
//! no compaction came (`Aim::CallOff`) is `idle` throughout; messages wait for it, and no answer is allowed.

use super::sequence::Sequence;
use crate::event::{Assessed, Choice, JudgeReply, JudgmentSource, Phase, Trigger};
use crate::policy::ConfirmRule;
use crate::thread::Thread;
use crate::units::{ActionId, DecisionId, JudgeRequestId, Timestamp, TurnId};
use serde::{Deserialize, Serialize};

/// The stage of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// No compaction is in sight.
    #[default]
    Idle,
    /// The judge is asked whether to compact.
    Judging(Judging),
    /// A compaction comes before the next message.
    Deferred(Deferred),
    /// A compaction comes if the next message, or silence, confirms it, or when the turn that closes the work has ended.
    Proposed(Proposed),
    /// A sequence is about to start.
    Starting(Starting),
    /// A sequence runs.
    Running(Box<Sequence>),
}

/// The open question to the judge. There is one at a time: a newer one replaces it, and an answer to any other is late.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Judging {
    /// The question's id.
    pub request: JudgeRequestId,
    /// The assessment that asked.
    pub asked_by: Assessed,
    /// When the question was asked.
    pub since: Timestamp,
    /// The action that asks it; `None` until it is issued.
    pub action: Option<ActionId>,
    /// The first answer, with who gave it.
    pub answer: Option<(JudgmentSource, JudgeReply)>,
    /// The sample of a packet that was asked for ahead of time.
    pub draft: Option<ActionId>,
}

/// A decision whose compaction waits for the next message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Deferred {
    /// The decision.
    pub assessed: Assessed,
    /// Since when it waits.
    pub since: Timestamp,
    /// The sample of a packet that was asked for ahead of time.
    pub draft: Option<ActionId>,
}

/// A proposal that waits for a confirmation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Proposed {
    /// The decision.
    pub assessed: Assessed,
    /// What confirms it.
    pub confirm: ConfirmRule,
    /// Since when it waits.
    pub since: Timestamp,
    /// When nothing had been said for long enough to confirm it.
    pub confirmed_at: Option<Timestamp>,
    /// The sample of a packet that was asked for ahead of time.
    pub draft: Option<ActionId>,
}

/// A sequence that is about to start.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Starting {
    /// Why.
    pub trigger: Trigger,
    /// The turn that it runs in, if it starts between two sampling requests.
    pub turn: Option<TurnId>,
    /// Whether a person has to approve it.
    pub needs_approval: bool,
    /// The decision that waited for the turn of a message that closes the work.
    pub closing: Option<DecisionId>,
    /// The sample of a packet that was asked for ahead of time.
    pub draft: Option<ActionId>,
}

impl Stage {
    /// What clients show of it.
    pub fn phase(&self, thread: &Thread) -> Phase {
        match self {
            Self::Idle | Self::Starting(_) => Phase::Idle,
            Self::Judging(_) => Phase::AwaitingJudgment,
            Self::Deferred(_) => Phase::Deferred,
            Self::Proposed(_) => Phase::Proposed,
            Self::Running(sequence) => sequence.phase(thread),
        }
    }

    /// What a person can answer or ask for, the default first.
    pub const fn allowed_answers(&self) -> &'static [Choice] {
        use Choice::{Approve, Cancel, CompactNow, Snooze};
        match self {
            Self::Idle | Self::Starting(_) => &[CompactNow, Snooze],
            Self::Judging(_) | Self::Deferred(_) => &[CompactNow, Snooze, Cancel],
            // To approve a proposal confirms it.
            Self::Proposed(_) => &[CompactNow, Approve, Snooze, Cancel],
            Self::Running(sequence) => sequence.allowed_answers(),
        }
    }

    /// Whether a sequence or the judge is at work, with deadlines of their own.
    pub const fn is_at_work(&self) -> bool {
        matches!(self, Self::Running(_) | Self::Judging(_))
    }

    /// The decision that waits for the next message or for a confirmation.
    pub const fn waiting(&self) -> Option<&Assessed> {
        match self {
            Self::Deferred(Deferred { assessed, .. })
            | Self::Proposed(Proposed { assessed, .. }) => Some(assessed),
            Self::Idle | Self::Judging(_) | Self::Starting(_) | Self::Running(_) => None,
        }
    }

    /// The sample of a packet for a compaction that has not started.
    pub const fn draft(&self) -> Option<&ActionId> {
        match self {
            Self::Judging(Judging { draft, .. })
            | Self::Deferred(Deferred { draft, .. })
            | Self::Proposed(Proposed { draft, .. })
            | Self::Starting(Starting { draft, .. }) => draft.as_ref(),
            Self::Idle | Self::Running(_) => None,
        }
    }

    /// Where that sample is kept; none in a stage that has no use for it.
    pub(super) const fn draft_mut(&mut self) -> Option<&mut Option<ActionId>> {
        match self {
            Self::Judging(Judging { draft, .. })
            | Self::Deferred(Deferred { draft, .. })
            | Self::Proposed(Proposed { draft, .. })
            | Self::Starting(Starting { draft, .. }) => Some(draft),
            Self::Idle | Self::Running(_) => None,
        }
    }

    /// When the wait began, for what waits.
    pub const fn since_mut(&mut self) -> Option<&mut Timestamp> {
        match self {
            Self::Idle | Self::Starting(_) => None,
            Self::Judging(Judging { since, .. })
            | Self::Deferred(Deferred { since, .. })
            | Self::Proposed(Proposed { since, .. }) => Some(since),
            Self::Running(sequence) => sequence.wait.since_mut(),
        }
    }
}

impl Thread {
    /// The sequence that runs.
    pub const fn sequence(&self) -> Option<&Sequence> {
        match &self.stage {
            Stage::Running(sequence) => Some(sequence),
            _ => None,
        }
    }

    pub(super) const fn sequence_mut(&mut self) -> Option<&mut Sequence> {
        match &mut self.stage {
            Stage::Running(sequence) => Some(sequence),
            _ => None,
        }
    }

    /// Ends the sequence that runs.
    pub(super) fn take_sequence(&mut self) -> Option<Box<Sequence>> {
        match std::mem::take(&mut self.stage) {
            Stage::Running(sequence) => Some(sequence),
            other => {
                self.stage = other;
                None
            }
        }
    }

    /// The open question to the judge.
    pub const fn judging(&self) -> Option<&Judging> {
        match &self.stage {
            Stage::Judging(judging) => Some(judging),
            _ => None,
        }
    }

    pub(super) const fn judging_mut(&mut self) -> Option<&mut Judging> {
        match &mut self.stage {
            Stage::Judging(judging) => Some(judging),
            _ => None,
        }
    }

    /// The proposal that waits for a confirmation.
    pub const fn proposal(&self) -> Option<&Proposed> {
        match &self.stage {
            Stage::Proposed(proposed) => Some(proposed),
            _ => None,
        }
    }

    /// The confirmed proposal whose compaction comes when the turn that closes the work has ended.
    pub fn closing(&self) -> Option<&Assessed> {
        let proposed = self.proposal().map(|proposed| &proposed.assessed);
        proposed.filter(|assessed| assessed.after_turn)
    }
}
