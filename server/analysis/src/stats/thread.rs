//! How compaction went in one thread, as its own events tell. A figure that no event tells is absent and never guessed.

use super::PacketFacts;
use rawr_core::event::{CompactionOrigin, Ending, Phase};
use rawr_core::policy::Tier;
use rawr_core::units::{SequenceId, ThreadId, Timestamp, Tokens};
use rawr_records::read::LineCounts;
use serde::Serialize;

/// How compaction went in one thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadStats {
    /// The host's id of the thread.
    pub thread: ThreadId,
    /// The folder that the agent worked in.
    pub cwd: String,
    /// The host's name.
    pub host: String,
    /// The sub-agent's name, if the thread belongs to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// When the first and the last event that count were recorded; absent if none counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spans: Option<(Timestamp, Timestamp)>,
    /// Turns of the user or the host that ended.
    pub turns: u32,
    /// Every sequence, and every compaction that no sequence waited for, in their order.
    pub runs: Vec<CompactionRun>,
    /// Proposals and what became of them.
    pub proposals: ProposalCounts,
    /// What people answered.
    pub answers: AnswerCounts,
    /// What the judge was asked and said.
    pub judge: JudgeCounts,
    /// The thread's lines.
    pub lines: LineCounts,
}

/// One sequence, or a compaction that no sequence waited for with the handoff after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionRun {
    /// When the sequence began, or the compaction completed.
    pub at: Timestamp,
    /// The sequence; of a compaction that none waited for, the one that handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<SequenceId>,
    /// How it came about.
    pub start: CompactionStart,
    /// The tier, where rawr's tiers started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Whether it began while the agent worked.
    pub inside_turn: bool,
    /// The compaction, once it completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction: Option<CompactionTokens>,
    /// The packet, if there was one: the last one, where it was asked for again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<PacketFacts>,
    /// The agent was handed over.
    pub handed_over: bool,
    /// Sampling requests from the handoff until work went on, the one that called the first tool included; absent if no
    /// event tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_until_work: Option<u32>,
    /// Commands soon after the compaction; absent if the thread recorded none at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandCounts>,
    /// How long the phases took that were completed, in their order.
    pub phases: Vec<PhaseTime>,
    /// How the sequence ended. A late handoff adds an ending of its own.
    pub endings: Vec<RunEnding>,
}

/// How a compaction came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionStart {
    /// The next message confirmed a proposal.
    Message,
    /// Silence confirmed a proposal.
    Silence,
    /// A person approved a proposal.
    Approval,
    /// A boundary of rawr's tiers, which needed no confirmation.
    Boundary,
    /// The context was nearly full.
    Emergency,
    /// The built-in compaction of `[auto_compact]`.
    BuiltIn,
    /// A person asked for it without a proposal, of rawr or of the host.
    Person,
    /// The host, by its own rules.
    Host,
    /// The events do not tell.
    NotRecorded,
}

impl CompactionStart {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 9] = [
        Self::Message,
        Self::Silence,
        Self::Approval,
        Self::Boundary,
        Self::Emergency,
        Self::BuiltIn,
        Self::Person,
        Self::Host,
        Self::NotRecorded,
    ];

    /// A proposal was confirmed: a phase of work had ended.
    pub const fn is_confirmed(self) -> bool {
        matches!(self, Self::Message | Self::Silence | Self::Approval)
    }
}

/// What a compaction did to the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionTokens {
    /// Who started it in the host.
    pub by: CompactionOrigin,
    /// Tokens in the context before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Tokens>,
    /// Tokens in the context after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Tokens>,
    /// `after` is that of the first request after it, and not the host's estimate.
    pub is_measured: bool,
}

/// Commands within the first turns after a compaction, each counted once. Checks such as a test run do not count: they
/// are repeated on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandCounts {
    /// All.
    pub ran: u32,
    /// Those that had run, word for word, between the compaction before and this one.
    pub again: u32,
}

/// How long a sequence was in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseTime {
    pub phase: Phase,
    /// In milliseconds; absent if the host was restarted or the clock set back meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

/// How a sequence ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunEnding {
    /// How.
    pub ending: Ending,
    /// Why, for people.
    pub reason: String,
}

/// The name of an ending, for people and in JSON.
pub(super) const fn ending_name(ending: Ending) -> &'static str {
    match ending {
        Ending::Completed => "completed",
        Ending::Failed => "failed",
        Ending::Cancelled => "cancelled",
    }
}

impl RunEnding {
    /// How it ended, for people.
    pub const fn ending_name(&self) -> &'static str {
        ending_name(self.ending)
    }
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name { $($(#[$field_doc])* pub $field: u32,)* }

        impl $name {
            /// Adds those of another thread.
            pub const fn add(&mut self, other: Self) {
                $(self.$field += other.$field;)*
            }
        }
    )*};
}

counts! {
    /// Proposals and what became of them. One that is still open is only in `made`.
    ProposalCounts {
        /// All.
        made,
        /// Confirmed by the next message.
        by_message,
        /// Confirmed by silence.
        by_silence,
        /// Approved by a person.
        by_approval,
        /// The next message dropped it, or did not wait for it.
        dropped,
        /// A person snoozed or cancelled it.
        stopped,
        /// Something else came first: an emergency, the judge's no, another decision, a restart.
        overtaken,
    }
    /// What people answered, to proposals and to sequences.
    AnswerCounts {
        approved,
        /// Asked for a compaction at once.
        asked,
        /// Snoozed, also while nothing was about to start.
        snoozed,
        /// Skipped this one.
        cancelled,
        /// Edited the packet.
        edited,
    }
    /// What the judge was asked and said.
    JudgeCounts {
        /// Questions to a model.
        asked,
        /// Those it answered with yes.
        yes,
        /// Those it answered with no.
        no,
        /// Those it did not answer.
        failed,
        /// Decisions that are recorded as vetoed by the judge, the heuristic included.
        vetoes,
    }
}

impl ProposalCounts {
    /// Those that were confirmed.
    pub const fn confirmed(self) -> u32 {
        self.by_message + self.by_silence + self.by_approval
    }
}
