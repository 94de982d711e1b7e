//! The types that the state of a thread consists of.

use super::fate::TrackedDecision;
use crate::event::{
    Assessed, Choice, CompactionOrigin, EndpointLimit, Fact, GuardEnd, JudgeUsage, Packet, Trigger,
};
use crate::policy::{PacketAuthor, Worth};
use crate::units::{ActionId, GuardId, InputId, SequenceId, Timestamp, Tokens, TurnId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What was decided, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Decided {
    /// The newest assessment, whatever came of it.
    pub last: Option<Assessed>,
    /// What became of the newest decisions, oldest first.
    pub fates: VecDeque<TrackedDecision>,
    /// Calls, failures and tokens of the judge.
    pub judged: Judged,
    /// How many packets were asked for ahead of time, and what the unused ones cost.
    pub drafts: Drafts,
}

/// How many of each there have been. Their ids are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Sequences that have started.
    pub sequences: u32,
    /// Decisions that have been made.
    pub decisions: u32,
    /// Guards that have been set.
    pub guards: u32,
    /// Deliveries of messages that were asked for.
    pub deliveries: u32,
}

/// What judging has cost, separate from the thread's own usage.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Judged {
    /// Questions asked.
    pub calls: u32,
    /// Questions without an answer.
    pub failures: u32,
    /// Tokens of all questions and answers.
    pub usage: JudgeUsage,
    /// The newest rate limits of the endpoint.
    pub rate_limits: Vec<EndpointLimit>,
}

/// A turn that ended because the model refused a request as too long.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Overflowed {
    /// The newest such turn.
    pub turn: TurnId,
    /// Tokens in the context after the last answer before it.
    pub answered: Option<Tokens>,
    /// A sequence has started because of it.
    pub tried: bool,
}

/// A "do not compact until …".
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CompactionGuard {
    pub id: GuardId,
    /// When it ends.
    pub until: GuardEnd,
    /// A remark for people.
    pub note: Option<String>,
    /// Who set it.
    pub by: Option<String>,
    /// When it was set.
    pub set_at: Timestamp,
    /// How many turns had ended then.
    pub set_at_turn: u32,
}

impl CompactionGuard {
    /// Whether it still holds, after this many turns and at this time.
    pub fn is_active(&self, turns_ended: u32, now: Timestamp) -> bool {
        match self.until {
            GuardEnd::Turns(turns) => turns_ended.saturating_sub(self.set_at_turn) <= turns,
            GuardEnd::Minutes(minutes) => now < self.set_at.plus_seconds(u64::from(minutes) * 60),
            GuardEnd::NextCommit | GuardEnd::TestsPass | GuardEnd::Released => true,
        }
    }

    /// When a guard ends that is set after this many turns and at this time, and holds as long as this one.
    pub fn remaining(&self, turns_ended: u32, now: Timestamp) -> GuardEnd {
        match &self.until {
            GuardEnd::Turns(turns) => {
                GuardEnd::Turns(turns.saturating_sub(turns_ended.saturating_sub(self.set_at_turn)))
            }
            GuardEnd::Minutes(minutes) => {
                let gone = now.seconds_since(self.set_at) / 60;
                GuardEnd::Minutes(minutes.saturating_sub(u32::try_from(gone).unwrap_or(u32::MAX)))
            }
            end @ (GuardEnd::NextCommit | GuardEnd::TestsPass | GuardEnd::Released) => end.clone(),
        }
    }
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Answered {
    /// The sequence that the answer was for.
    pub sequence: SequenceId,
    /// The answer.
    pub choice: Choice,
    /// Who gave it.
    pub by: Option<String>,
}

/// A user's message that waits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WaitingInput {
    pub id: InputId,
    /// The text, unchanged.
    pub text: String,
    /// The action that delivers it.
    pub action: Option<ActionId>,
    /// The host did not confirm the delivery in time and was asked once more.
    #[serde(default)]
    pub asked_again: bool,
    /// Whether a compaction comes before it has been assessed.
    pub assessed: bool,
}

/// The newest packet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LastPacket {
    /// The sequence that it was taken for.
    pub sequence: SequenceId,
    pub packet: Packet,
    /// How many turns had ended when it was taken. After one more it is out of date.
    pub turns_ended: u32,
    /// Whether the agent has it back.
    pub handed_over: bool,
    /// The history was rewritten and the handoff failed, so it is owed however old it is.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub failed: bool,
}

/// Packets that were asked for while their compactions were only proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Drafts {
    /// How many were asked for.
    pub asked: u32,
    /// How many of them a sequence used.
    pub used: u32,
    /// Tokens of context that the others read for nothing. Most of them come from the prompt cache.
    pub unused_tokens: Tokens,
}

/// A compaction that completed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CompletedCompaction {
    /// When the host reported it as completed.
    pub at: Timestamp,
    /// How many turns had ended then.
    pub turns_ended: u32,
    /// Who started it.
    pub origin: CompactionOrigin,
    /// Why, where it was a sequence's.
    pub trigger: Option<Trigger>,
    /// The sequence that it belongs to.
    pub sequence: Option<SequenceId>,
    /// Who wrote its packet.
    pub author: Option<PacketAuthor>,
    /// Tokens in the context before it.
    pub before: Option<Tokens>,
    /// Tokens in the context after it: the host's estimate until the next sampling request measures it.
    pub after: Option<Tokens>,
    /// Whether `after` is measured, and not the host's estimate.
    pub measured: bool,
    /// Whether the model has answered a request since.
    #[serde(default)]
    pub answered: bool,
    /// The rule that it is measured by, if it is rawr's own.
    pub worth: Option<Worth>,
    /// The facts that rawr added to its packet.
    pub added: Vec<Fact>,
}
