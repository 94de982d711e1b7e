//! The part of Claude Code's stream-json that rawr reads, as types. Nothing is decided here.
//!
//! Fields that rawr does not use are left out; lines that it does not know are passed over.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

/// One line from Claude Code.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ClaudeLine {
    System(System),
    /// A block of an answer, as soon as it is whole.
    Assistant(AssistantMessage),
    /// What a tool answered, or a text that Claude Code says in the user's place.
    User(AssistantMessage),
    /// A request to the model as it runs.
    StreamEvent(Streamed),
    /// What becomes of a message that bears an id.
    CommandLifecycle(Lifecycle),
    /// The end of a turn.
    Result(Box<TurnResult>),
    ControlResponse {
        response: Reply,
    },
    /// Claude Code asks, and waits for an answer with the same id.
    ControlRequest {
        request_id: String,
        #[serde(default)]
        request: Value,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(super) enum System {
    /// A turn begins.
    Init(Init),
    Status(Status),
    CompactBoundary {
        #[serde(default)]
        compact_metadata: CompactMetadata,
    },
    PermissionDenied {
        #[serde(default)]
        tool_name: String,
    },
    ApiRetry(ApiRetry),
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct Init {
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) capabilities: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Status {
    pub(super) status: Option<String>,
    pub(super) compact_result: Option<String>,
    pub(super) compact_error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct CompactMetadata {
    pub(super) post_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ApiRetry {
    #[serde(default)]
    pub(super) attempt: u64,
    #[serde(default)]
    pub(super) max_retries: u64,
    pub(super) error_status: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct AssistantMessage {
    pub(super) message: Message,
    /// A sub-agent's, started by that tool call.
    pub(super) parent_tool_use_id: Option<String>,
    /// What a tool answered, as data.
    #[serde(default)]
    pub(super) tool_use_result: Value,
}

#[derive(Debug, Deserialize)]
pub struct Message {
    pub model: Option<String>,
    /// Whole only in a transcript.
    pub usage: Option<Usage>,
    #[serde(default)]
    content: Value,
}

/// A part of a message.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default)]
        content: Value,
        #[serde(default)]
        is_error: bool,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct Streamed {
    pub(super) event: StreamEvent,
    pub(super) parent_tool_use_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum StreamEvent {
    MessageStart {
        message: StreamStart,
    },
    MessageDelta {
        #[serde(default)]
        delta: Delta,
        #[serde(default)]
        usage: Usage,
    },
    MessageStop,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct StreamStart {
    #[serde(default)]
    pub(super) usage: Usage,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta {
    pub(super) stop_reason: Option<String>,
}

/// Of one request. What is absent was told before, or is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub struct Usage {
    pub input_tokens: Option<u64>,
    pub cache_creation_input_tokens: Option<u64>,
    pub cache_read_input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Lifecycle {
    pub(super) command_uuid: String,
    pub(super) state: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct TurnResult {
    #[serde(default)]
    pub(super) is_error: bool,
    /// The last message of the agent, or what went wrong.
    pub(super) result: Option<String>,
    #[serde(default)]
    pub(super) errors: Vec<String>,
    pub(super) terminal_reason: Option<String>,
    #[serde(default, rename = "modelUsage")]
    pub(super) model_usage: HashMap<String, ModelUsage>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelUsage {
    pub(super) context_window: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(super) enum Reply {
    Success {
        request_id: String,
        #[serde(default)]
        response: Value,
    },
    Error {
        request_id: String,
        #[serde(default)]
        error: String,
    },
}

/// What Claude Code says of itself when it is greeted.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Greeting {
    pub(super) claude_code_version: Option<String>,
    pub(super) account: Option<Account>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Account {
    token_source: Option<String>,
    api_key_source: Option<String>,
    api_provider: Option<String>,
}

/// Who writes messages that no model wrote: errors, and what commands print.
const NO_MODEL: &str = "<synthetic>";

impl Message {
    pub fn is_by_a_model(&self) -> bool {
        self.model.as_deref() != Some(NO_MODEL)
    }

    pub fn into_blocks(self) -> Vec<Block> {
        match self.content {
            Value::String(text) => vec![Block::Text { text }],
            Value::Array(blocks) => blocks
                .into_iter()
                .map(|block| serde_json::from_value(block).unwrap_or(Block::Unknown))
                .collect(),
            _ => Vec::new(),
        }
    }
}

impl Usage {
    /// How much of the window it filled.
    pub fn context_tokens(self) -> u64 {
        let Self {
            input_tokens,
            cache_creation_input_tokens,
            cache_read_input_tokens,
            output_tokens,
        } = self;
        let parts =
            [input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens];
        parts.into_iter().flatten().sum()
    }

    /// With what came later in the same request, which goes before.
    pub(super) fn and(self, later: Self) -> Self {
        Self {
            input_tokens: later.input_tokens.or(self.input_tokens),
            cache_creation_input_tokens: later
                .cache_creation_input_tokens
                .or(self.cache_creation_input_tokens),
            cache_read_input_tokens: later.cache_read_input_tokens.or(self.cache_read_input_tokens),
            output_tokens: later.output_tokens.or(self.output_tokens),
        }
    }
}

impl Account {
    /// Another provider's logins are that provider's business.
    pub(super) fn is_missing(&self) -> bool {
        let none = |source: &Option<String>| {
            source.as_deref().is_none_or(|source| matches!(source, "" | "none"))
        };
        self.api_provider.as_deref() == Some("firstParty")
            && none(&self.token_source)
            && none(&self.api_key_source)
    }
}
