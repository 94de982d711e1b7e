//! What the plugin in Claude Code and rawr say to each other. The plugin posts events over a socket, one at a time and in the
//! order in which they happened; rawr writes orders as lines to its standard output, which the plugin reads.

use rawr_protocol::if_known;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::host::claude::ClaudeUsage;

/// The session in which the plugin runs. The plugin writes it to rawr's standard input.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModSession {
    /// Claude Code's id of the session.
    pub session_id: String,
    /// The agent's working folder, absolute.
    pub cwd: String,
    /// When Claude Code first started the session, in Unix milliseconds. A session that goes on under another id keeps it.
    #[serde(default, deserialize_with = "if_known")]
    pub started_at_ms: Option<u64>,
    /// The transcript; empty in a session that keeps none.
    #[serde(default)]
    pub transcript_path: String,
    /// Claude Code's version.
    #[serde(default)]
    pub version: Option<String>,
    /// The model's name.
    #[serde(default)]
    pub model: Option<String>,
    /// The size of the context window in tokens.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// Claude Code compacts by itself above this many tokens; absent if it does not, or does not tell.
    #[serde(default, deserialize_with = "if_known")]
    pub compacts_above_tokens: Option<u64>,
    /// No rawr has run in this process of Claude Code before.
    #[serde(default)]
    pub is_first: bool,
    /// The turn that runs already.
    #[serde(default)]
    pub running_turn: Option<String>,
    /// What earlier drivers of this session ordered and the plugin carried out, oldest first.
    #[serde(default)]
    pub carried_out: Vec<CarriedOutOrder>,
}

/// An order that the plugin carried out. The transcript may not have it yet.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarriedOutOrder {
    /// When the plugin began, in Unix milliseconds.
    pub at_ms: i64,
    /// The message that was submitted; absent for a compaction.
    #[serde(default)]
    pub text: Option<String>,
    /// After a compaction: the new size of the context, in tokens.
    #[serde(default)]
    pub tokens_after: Option<u64>,
}

/// What happened in Claude Code. Only the main conversation has turns, answers and compactions; sub-agents call tools, too.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ModEvent {
    TurnStarted {
        /// Claude Code's id of the turn.
        turn_id: String,
        /// The message that started it; empty for a turn without one.
        text: String,
    },
    /// A request to the model ended. Its tool calls follow.
    Answered {
        /// The text of the answer; empty if it only called tools.
        text: String,
        /// The model that answered.
        model: Option<String>,
        /// What the model reported; absent for a failed request.
        #[serde(default, deserialize_with = "if_known")]
        usage: Option<ClaudeUsage>,
        /// Whether the answer calls tools, so that another request follows.
        calls_tools: bool,
    },
    /// A tool call started.
    ToolStarted {
        /// The tool call.
        call_id: String,
        /// The tool's name.
        tool: String,
    },
    /// A tool call ended.
    ToolFinished {
        /// The tool call.
        call_id: String,
        /// The tool's name.
        tool: String,
        /// The arguments; absent for tools that rawr does not read.
        #[serde(default)]
        input: Value,
        /// The result; absent for tools that rawr does not read.
        #[serde(default)]
        result: Value,
        /// How the text for the model begins, after a failure.
        #[serde(default)]
        error: Option<String>,
        /// Whether a sub-agent called it.
        #[serde(default)]
        by_sub_agent: bool,
    },
    /// Claude Code measured the context.
    Measured {
        /// The size of the context window in tokens.
        context_window: Option<u64>,
        /// Claude Code compacts by itself above this many tokens; absent if it does not, or if no one asked.
        #[serde(default, deserialize_with = "if_known")]
        compacts_above_tokens: Option<u64>,
        /// The size of the last request that is part of the conversation; absent before the first.
        #[serde(default)]
        context_tokens: Option<u64>,
    },
    /// A turn ended.
    TurnCompleted {
        /// Claude Code's id of the turn.
        turn_id: String,
        /// How it ended.
        reason: ModTurnEnd,
        /// The agent's last message; empty if there is none.
        answer: String,
    },
    /// Claude Code or its user starts a compaction.
    CompactionStarted {
        /// Who.
        trigger: ModCompactionTrigger,
    },
    CompactionEnded {
        /// Who started it.
        trigger: ModCompactionTrigger,
        /// The new size of the context, in tokens.
        tokens_after: Option<u64>,
        /// Why it did not take place.
        skip: Option<String>,
    },
    /// The user took back a message that rawr holds, or it is in a turn that ended.
    Withdrawn {
        /// The message, as in [`ModQuestion::MayPass`].
        message_id: String,
    },
    /// The user went on in another session. Nothing follows.
    Left,
    /// An order was carried out, or not.
    Done {
        /// [`ModOrder`]'s id.
        id: u64,
        /// What came of it; absent after a failure.
        #[serde(default)]
        text: Option<String>,
        /// The new size of the context, in tokens, after a compaction.
        #[serde(default)]
        tokens_after: Option<u64>,
        /// Why it was not carried out.
        #[serde(default)]
        error: Option<String>,
        /// Whether a text that was to start a turn is in the turn of a message of the user, which starts.
        #[serde(default)]
        joined: bool,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModTurnEnd {
    /// The model answered.
    Answer,
    /// The user interrupted it.
    Aborted,
    /// The model refused.
    Refusal,
    /// The request failed.
    Error,
    /// A later version of Claude Code has more.
    #[serde(other)]
    Unknown,
}

/// Who starts a compaction other than rawr's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModCompactionTrigger {
    /// The user, with `/compact`.
    Manual,
    /// Claude Code.
    Auto,
    /// Another plugin.
    Plugin,
    /// A later version of Claude Code has more.
    #[serde(other)]
    Unknown,
}

/// A question that Claude Code waits for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "question", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ModQuestion {
    /// No turn runs, and this message of the user is about to start one. May it?
    MayPass {
        /// The plugin's name for the message.
        message_id: String,
        /// The message.
        text: String,
    },
    /// Must a message that rawr holds still wait? The answer may take a second.
    StillHeld { message_id: String },
    /// What should the summary of this compaction keep?
    SummaryInstructions,
}

/// The answer to a [`ModQuestion`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModAnswer {
    /// The message waits, and the plugin asks again. It stays in Claude Code, which sends it to the agent as it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hold: bool,
    /// Instructions for the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// What the plugin does for rawr. Each order with an id is answered by [`ModEvent::Done`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "order", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ModOrder {
    /// Events go to this socket.
    Listen {
        /// The path of the socket.
        socket: String,
    },
    /// rawr ends, and starting it again would not help.
    GiveUp {
        /// Why.
        reason: String,
    },
    /// rawr ends, and can run when another one has ended.
    Retry {
        /// Why.
        reason: String,
    },
    /// Start a turn with this message once Claude Code is idle.
    Submit {
        /// The order's id.
        id: u64,
        /// The message.
        text: String,
    },
    /// Add a note to the conversation, which the agent reads with its next request.
    Append {
        /// The order's id.
        id: u64,
        /// The note.
        text: String,
    },
    /// Compact the conversation, before the message that waits if there is one.
    Compact {
        /// The order's id.
        id: u64,
        /// Instructions for the summary.
        instructions: String,
        /// The text that replaces the conversation, instead of a summary.
        #[serde(skip_serializing_if = "Option::is_none")]
        replacement: Option<String>,
        /// Only if that message still waits.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        before_message: bool,
    },
    /// End the running turn.
    Abort {
        /// The order's id.
        id: u64,
        /// Claude Code's id of the turn.
        turn_id: String,
    },
    /// Ask the model about the conversation without adding to it.
    Fork {
        /// The order's id.
        id: u64,
        /// The question.
        text: String,
    },
    /// Ask the model without the conversation.
    Complete {
        /// The order's id.
        id: u64,
        /// The model's name.
        model: String,
        /// The system prompt.
        system: String,
        /// The question.
        text: String,
    },
    /// Add a message to the input box, from which its user sends it.
    Fill {
        /// The message.
        text: String,
    },
    /// What the screen shows of rawr. It stays until the next one.
    Show(ModScreen),
    /// Show a message for some seconds.
    Toast {
        /// The message.
        text: String,
    },
}

/// What Claude Code's screen shows of rawr.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModScreen {
    /// The line below the input box.
    pub status: String,
    /// The band above the input box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<ModBand>,
}

/// A band with buttons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModBand {
    /// What it is about.
    pub title: String,
    /// What happens next, or is asked.
    pub text: String,
    /// The answers, the default first.
    pub buttons: Vec<ModButton>,
}

/// A button of a band.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModButton {
    /// The button's label.
    pub label: String,
    /// The arguments of the `rawr` command that it runs.
    pub arguments: Vec<String>,
}
