//! Payloads about signals: what hosts observe between turns.

use crate::{Boundary, StepStatus};
use serde::{Deserialize, Serialize};

/// `rawr/signal/report`: something happened that may matter to a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignalReportParams {
    /// The thread.
    pub thread_id: String,
    /// The turn that it happened in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The host's id of the signal, at most 200 bytes: an item's id, a commit's hash. The same id again is a repeat;
    /// another id is another signal, even of the same kind in the same turn. Without an id, a boundary that already
    /// counted in its turn does not count again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal_id: Option<String>,
    /// What happened.
    pub signal: Signal,
}

/// Answer to `rawr/signal/report`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignalReportResult {
    /// The boundaries that the signal amounts to; mostly none.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub boundaries: Vec<Boundary>,
}

/// An observation (docs/spec/boundaries.md#signals).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Signal {
    /// The agent set or changed its plan.
    PlanUpdated {
        /// The whole plan, in order.
        steps: Vec<PlanStep>,
        /// Why the plan changed.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "crate::lenient::if_known"
        )]
        explanation: Option<String>,
    },
    /// A shell command ended.
    CommandFinished {
        /// The command.
        command: CommandLine,
        /// The exit code; 0 is success.
        #[serde(deserialize_with = "crate::lenient::whole")]
        exit_code: i64,
        /// The folder that it ran in, absolute.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "crate::lenient::if_known"
        )]
        cwd: Option<String>,
    },
    /// A commit was made other than by a reported command.
    Commit {
        /// The commit's hash.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "crate::lenient::if_known"
        )]
        hash: Option<String>,
        /// The first line of its message.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "crate::lenient::if_known"
        )]
        subject: Option<String>,
    },
    /// Something happened to a pull request.
    PrCheckpoint {
        /// What: opened, updated, merged, …
        action: String,
        /// The pull request's address.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "crate::lenient::if_known"
        )]
        url: Option<String>,
    },
    /// Another branch was checked out.
    BranchChanged {
        /// The branch.
        branch: String,
    },
    /// A tool call began; until it ends, work is active.
    ToolStarted {
        /// The host's name for the call.
        call_id: String,
        /// The tool.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "crate::lenient::if_known"
        )]
        name: Option<String>,
    },
    /// A tool call ended, well or not.
    ToolFinished {
        /// The host's name for the call.
        call_id: String,
    },
    /// A person or a program declared that a phase ended. Accepted from every client, not only from the owner. Between
    /// turns it is assessed at once.
    PhaseBoundary {
        /// Which phase.
        label: String,
    },
    /// A user's message joined a running turn. From then on the turn counts as the user's. The message that begins a
    /// turn is reported with `rawr/turn/started`.
    UserMessage {
        /// The message, unchanged.
        text: String,
    },
    /// A user instruction that must survive word for word.
    Directive {
        /// The instruction, unchanged.
        text: String,
        /// Whether it never ages out; of the others, the newest 20 outlive a compaction.
        #[serde(default, deserialize_with = "crate::lenient::or_default")]
        pinned: bool,
    },
    /// The host gave the conversation another title. It replaces the one that the first message makes.
    TitleChanged {
        /// The title; absent if the host has none any more.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// What is to be done.
    pub step: String,
    /// How far it has come. An unknown status is read as pending, because only `completed` makes a checkpoint.
    #[serde(deserialize_with = "step_status")]
    pub status: StepStatus,
}

fn step_status<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<StepStatus, D::Error> {
    let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
    Ok(StepStatus::from_name(&name).unwrap_or(StepStatus::Pending))
}

/// A command, as the host knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CommandLine {
    /// One line for a shell.
    Line(String),
    /// Words, not yet quoted.
    Words(Vec<String>),
}
