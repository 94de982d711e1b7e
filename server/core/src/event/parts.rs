//! The types that events consist of. They are stored: a change here is a change of the format on disk.

use crate::boundary::Boundaries;
use crate::policy::{PacketAuthor, Tier};
use crate::units::{Percent, Tokens};
use serde::{Deserialize, Serialize};

/// The host that runs a thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
pub struct HostInfo {
    /// The host's name.
    pub name: String,
    /// The version that the host reports.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    /// What it can do.
    #[serde(default)]
    pub can: Capabilities,
}

/// What the host can do, as it declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Capabilities {
    /// Run a turn that rawr injects. Without it no packet can be asked for and none handed over.
    pub inject_turn: bool,
    /// Take a message into a running turn.
    pub steer: bool,
    /// Answer a prompt from the conversation without a turn.
    pub sample: bool,
    /// Hold back the user's messages while a sequence runs.
    pub queue: bool,
    /// A message that is held back stays in the host, which starts no other turn before it: packets are sampled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub queue_in_place: bool,
    /// With less in the context, the host cannot compact before a message that it holds back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_above_tokens: Option<u64>,
    /// Compact when rawr asks for it.
    pub compact: bool,
    /// Only a person can compact, once the packet is there. rawr cannot order it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compact_by_person: bool,
    /// Compact between two sampling requests of a turn.
    pub mid_turn_compact: bool,
    /// Add items to the history without a turn.
    pub inject_items: bool,
    /// Answer a judgment with its own model.
    pub judge: bool,
    /// For how many seconds its provider keeps a prompt cached at least; `None`: unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_seconds: Option<u64>,
}

/// Who began a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnOrigin {
    /// A user's message.
    User,
    /// rawr, as a step of a sequence.
    Synthetic,
    /// The host by itself.
    Host,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// The agent finished it.
    Completed,
    /// The user or the host interrupted it.
    Interrupted,
    /// The turn ended with an error.
    Failed,
}

impl TurnStatus {
    /// The name on disk and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

/// A request that the model refused, because it does not fit the context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Overflow {
    /// Tokens of the request, by the host's count or estimate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<Tokens>,
    /// The size of the context window in tokens, where the refusal names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window: Option<Tokens>,
}

/// Tokens of one sampling request. Percentages come from `context`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens in the context after the request.
    pub context: Tokens,
    /// Tokens of the request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input: Option<Tokens>,
    /// Those of `input` that the provider had cached.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cached: Option<Tokens>,
    /// Tokens of the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<Tokens>,
    /// Those of `output` that were reasoning.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reasoning: Option<Tokens>,
}

/// When a guard ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardEnd {
    /// After this many more turns of the user or the host ended.
    Turns(u32),
    /// After this many minutes.
    Minutes(u32),
    /// With the next commit.
    NextCommit,
    /// When a test run succeeds.
    TestsPass,
    /// Only when it is cleared.
    Released,
}

/// A git work tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct Repo {
    /// The branch that is checked out; absent on a detached HEAD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The hash of HEAD; absent before the first commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<String>,
    /// How many files differ from HEAD.
    #[serde(default)]
    pub dirty: u32,
    /// The first of those files.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<String>,
    /// Files changed by commits since the last compaction.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub changed: Vec<String>,
    /// The stack of branches, as Graphite prints it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stack: Option<String>,
}

/// Who judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgmentSource {
    /// The host's own model.
    Host,
    /// A model behind the Responses API.
    Responses,
    /// A model behind the Chat Completions API.
    Chat,
    /// The score of signals; no model.
    Heuristic,
}

impl JudgmentSource {
    /// The name on disk and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Heuristic => "heuristic",
        }
    }
}

/// A judge's answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeReply {
    /// A judgment.
    Says {
        /// Whether a compaction is right now.
        should_compact: bool,
        /// Why, in one sentence.
        reason: String,
    },
    /// No judgment: a network error, a refusal, an answer against the schema, a timeout.
    Failed {
        /// What went wrong.
        error: String,
    },
}

/// What one judgment cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct JudgeUsage {
    /// Tokens of the question.
    #[serde(default)]
    pub input: Tokens,
    /// Tokens of the answer.
    #[serde(default)]
    pub output: Tokens,
}

/// A rate limit from the headers of the endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EndpointLimit {
    /// The header's name, in lower case.
    pub name: String,
    /// The header's value.
    pub value: String,
}

/// How far a compaction has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionReportStatus {
    /// The host began it.
    Started,
    /// The history has been rewritten.
    Completed,
    /// The history is as it was.
    Failed,
}

/// Who started a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionOrigin {
    /// rawr asked for it.
    Rawr,
    /// The host, by its own rules.
    Host,
    /// The user, with a command of the host.
    User,
}

/// What a decision leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing happens.
    Nothing,
    /// Log that a compaction would have come.
    Tag,
    /// Recommend a compaction.
    Suggest,
    /// Start a sequence that waits for approval.
    Ask,
    /// Ask the judge first.
    Judge,
    /// Compact before the next message, or once a proposal is confirmed.
    Defer,
    /// Start a sequence.
    Compact,
}

/// Which moment asked for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entrance {
    /// A turn ended, or a person asked.
    TurnComplete,
    /// Before the next message: it came, or the silence before it confirmed a proposal.
    Preflight,
    /// Between two sampling requests of a turn.
    MidTurn,
    /// The built-in compaction of `[auto_compact]`.
    Inline,
}

/// Why a compaction comes. Stored with the compaction.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A decision of rawr.
    Rawr {
        /// The moment.
        entrance: Entrance,
        /// The tier in force.
        tier: Tier,
        /// Percent of the context window left.
        percent: Percent,
        /// The boundaries that counted.
        boundaries: Boundaries,
    },
    /// The built-in compaction.
    Inline {
        /// Percent of the context window left.
        percent: Percent,
    },
    /// The host, by its own rules.
    Host,
    /// A person.
    User,
}

impl Trigger {
    /// The tier, where rawr's tiers started it.
    pub const fn tier(&self) -> Option<Tier> {
        match self {
            Self::Rawr { tier, .. } => Some(*tier),
            Self::Inline { .. } | Self::Host | Self::User => None,
        }
    }

    /// The reason in a few words, for the user and for the agent, who is never told percentages.
    pub fn reason(&self) -> String {
        match self {
            Self::Rawr { boundaries, .. } if !boundaries.is_empty() => {
                format!("a phase ended here ({})", boundaries.labels())
            }
            Self::Rawr { .. } | Self::Inline { .. } => "the context is nearly full".to_owned(),
            Self::User => "the user asked for it".to_owned(),
            Self::Host => "the host compacted by itself".to_owned(),
        }
    }
}

/// The continuation packet: the notes that are carried across a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Packet {
    /// Who wrote it.
    pub author: PacketAuthor,
    /// How the agent goes on after the compaction.
    pub resume: ResumeState,
    /// The packet without its tags, facts that rawr added included.
    pub text: String,
    /// Facts that rawr added to `text`, under a heading.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub added: Vec<Fact>,
}

/// Something that a packet must name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fact {
    /// What the fact is about.
    pub kind: FactKind,
    /// The fact, word for word.
    pub text: String,
}

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    /// A step of the plan that is not done.
    OpenStep,
    /// A file changed since the last compaction.
    ChangedFile,
    /// A standing instruction of the user.
    Directive,
    /// A tool or command that runs.
    RunningJob,
    /// The branch that is checked out.
    Branch,
    /// A file changed since a check passed.
    UncheckedFile,
    /// A command that failed and has not succeeded since.
    FailedCommand,
    /// How a message of the user begins: rawr's own part of a packet.
    Request,
}

/// What the agent does after the compaction, by its packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeState {
    /// The agent can go on alone.
    Working,
    /// An answer of the user must come first.
    WaitingForUser,
    /// Nothing is left to do.
    Done,
}

impl ResumeState {
    /// The word on the packet's `State:` line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::WaitingForUser => "waiting_for_user",
            Self::Done => "done",
        }
    }
}

/// What a person can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Compact now, without waiting for a boundary, an approval or a judge.
    CompactNow,
    /// Approve the sequence that waits.
    Approve,
    /// Stop it, and set a guard for a while.
    Snooze,
    /// Stop it.
    Cancel,
    /// Replace the packet.
    EditPacket,
}

impl Choice {
    /// The words for people and the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CompactNow => "compact now",
            Self::Approve => "approve",
            Self::Snooze => "snooze",
            Self::Cancel => "cancel",
            Self::EditPacket => "edit packet",
        }
    }

    /// For an answer that stops a compaction, the word for that: `snoozed` or `cancelled`.
    pub const fn stops(self) -> Option<&'static str> {
        match self {
            Self::Snooze => Some("snoozed"),
            Self::Cancel => Some("cancelled"),
            Self::CompactNow | Self::Approve | Self::EditPacket => None,
        }
    }
}

/// What a thread is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// For the next turn to end: nothing is under way.
    Idle,
    /// For the judge.
    AwaitingJudgment,
    /// For a person to approve.
    AwaitingApproval,
    /// For the next message.
    Deferred,
    /// For a confirmation of a proposal. Not stored: on disk it is `deferred`.
    Proposed,
    /// For the heads-up turn to end.
    AwaitingHeadsUp,
    /// For the agent to update its scratch file.
    AwaitingScratchWrite,
    /// For the agent's packet.
    AwaitingPacket,
    /// For a person to compact, on hosts where only a person can.
    AwaitingCompaction,
    /// For the host to compact.
    Compacting,
    /// For the host to take the handoff.
    AwaitingHandoff,
}

impl Phase {
    /// The name on disk and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::AwaitingJudgment => "awaiting_judgment",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Deferred => "deferred",
            Self::Proposed => "proposed",
            Self::AwaitingHeadsUp => "awaiting_heads_up",
            Self::AwaitingScratchWrite => "awaiting_scratch_write",
            Self::AwaitingPacket => "awaiting_packet",
            Self::AwaitingCompaction => "awaiting_compaction",
            Self::Compacting => "compacting",
            Self::AwaitingHandoff => "awaiting_handoff",
        }
    }
}

/// How a sequence ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The agent was handed over, or the built-in compaction is done.
    Completed,
    /// Something went wrong. It counts against the breaker.
    Failed,
    /// A person, a guard or an interrupted turn stopped it.
    Cancelled,
}
