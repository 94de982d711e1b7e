//! The types of Claude Code's stream-json, as far as rawr reads it. Unknown fields and lines are ignored.

use std::collections::HashMap;

use rawr_protocol::{TokenUsage, count_if_known, if_known};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// One line from Claude Code.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ClaudeLine {
    System(SystemLine),
    /// A complete block of an answer.
    Assistant(AssistantMessage),
    /// A tool's result, or a text that Claude Code sends as the user.
    User(AssistantMessage),
    /// The progress of a request to the model.
    StreamEvent(StreamLine),
    /// The state of a message with an id.
    CommandLifecycle(MessageLifecycle),
    /// The end of a turn.
    Result(Box<TurnResult>),
    ControlResponse {
        response: ControlReply,
    },
    /// A request from Claude Code, which waits for an answer with the same id.
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
pub(super) enum SystemLine {
    /// A turn begins.
    Init(InitLine),
    Status(ClaudeStatus),
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
pub(super) struct InitLine {
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) capabilities: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ClaudeStatus {
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
    pub(super) message: ClaudeMessage,
    /// Set if a sub-agent wrote it: the tool call that started the sub-agent.
    pub(super) parent_tool_use_id: Option<String>,
    /// A tool's result as JSON.
    #[serde(default)]
    pub(super) tool_use_result: Value,
}

/// A message of the conversation.
#[derive(Debug, Deserialize)]
pub struct ClaudeMessage {
    /// The model that wrote it.
    pub model: Option<String>,
    #[serde(default)]
    content: Value,
}

/// A content block of a message.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClaudeBlock {
    Text {
        text: String,
    },
    /// A tool call.
    ToolUse {
        /// The id of the call.
        id: String,
        /// The tool's name.
        name: String,
        /// The tool's arguments.
        #[serde(default)]
        input: Value,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        tool_use_id: String,
        /// A text, or a list of content blocks.
        #[serde(default)]
        content: Value,
        /// Whether the call failed.
        #[serde(default)]
        is_error: bool,
    },
    /// A block of another kind.
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct StreamLine {
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
        delta: StreamDelta,
        #[serde(default, deserialize_with = "if_known")]
        usage: Option<ClaudeUsage>,
    },
    MessageStop,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct StreamStart {
    #[serde(default, deserialize_with = "if_known")]
    pub(super) usage: Option<ClaudeUsage>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct StreamDelta {
    pub(super) stop_reason: Option<String>,
}

/// The tokens of one request. An absent count was reported earlier in the stream, or is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub struct ClaudeUsage {
    /// Input tokens that were not cached.
    #[serde(default, deserialize_with = "certain_count")]
    pub input_tokens: Option<u64>,
    /// Input tokens that were written to the cache.
    #[serde(default, deserialize_with = "certain_count")]
    pub cache_creation_input_tokens: Option<u64>,
    /// Input tokens that were read from the cache.
    #[serde(default, deserialize_with = "certain_count")]
    pub cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "certain_count")]
    pub output_tokens: Option<u64>,
    /// What was written to the cache, by how long it stays.
    #[serde(default, deserialize_with = "if_known")]
    pub cache_creation: Option<CacheWrites>,
}

/// Tokens that a request wrote to the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub struct CacheWrites {
    #[serde(default, deserialize_with = "certain_count")]
    ephemeral_5m_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "certain_count")]
    ephemeral_1h_input_tokens: Option<u64>,
}

impl CacheWrites {
    /// In seconds: the shortest of what was written. `None` if nothing was.
    fn lifetime(self) -> Option<u64> {
        let lifetimes =
            [(self.ephemeral_5m_input_tokens, 300), (self.ephemeral_1h_input_tokens, 3600)];
        let written = lifetimes.into_iter().find(|(tokens, _)| tokens.is_some_and(|it| it > 0));
        written.map(|(_, seconds)| seconds)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct MessageLifecycle {
    pub(super) command_uuid: String,
    pub(super) state: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct TurnResult {
    #[serde(default)]
    pub(super) is_error: bool,
    /// The agent's last message, or the error.
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
pub(super) enum ControlReply {
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

/// Claude Code's answer to `initialize`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct InitializeReply {
    pub(super) claude_code_version: Option<String>,
    pub(super) account: Option<ClaudeAccount>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaudeAccount {
    token_source: Option<String>,
    api_key_source: Option<String>,
    api_provider: Option<String>,
}

/// The model's name in messages that Claude Code wrote itself: errors and command output.
const NO_MODEL: &str = "<synthetic>";

/// A count that is no count makes the whole usage unknown: the others alone would look like an empty context.
fn certain_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        value => match count_if_known(value) {
            Ok(Some(count)) => Ok(Some(count)),
            Ok(None) => Err(D::Error::custom("not a count")),
            Err(error) => Err(D::Error::custom(error)),
        },
    }
}

impl ClaudeMessage {
    /// Whether a model wrote it, not Claude Code itself.
    pub fn is_by_a_model(&self) -> bool {
        self.model.as_deref() != Some(NO_MODEL)
    }

    /// The content blocks. A content that is a plain string is one text block.
    pub fn into_blocks(self) -> Vec<ClaudeBlock> {
        match self.content {
            Value::String(text) => vec![ClaudeBlock::Text { text }],
            Value::Array(blocks) => blocks
                .into_iter()
                .map(|block| serde_json::from_value(block).unwrap_or(ClaudeBlock::Unknown))
                .collect(),
            _ => Vec::new(),
        }
    }
}

impl ClaudeUsage {
    /// The size of the context after the request, in tokens. `None` if it is not known what was sent.
    pub fn context_tokens(self) -> Option<u64> {
        let Self {
            input_tokens,
            cache_creation_input_tokens,
            cache_read_input_tokens,
            output_tokens,
            cache_creation: _,
        } = self;
        let sent = [input_tokens, cache_creation_input_tokens, cache_read_input_tokens];
        let sent = sent.into_iter().flatten().reduce(u64::saturating_add)?;
        Some(sent.saturating_add(output_tokens.unwrap_or(0)))
    }

    /// `None` if the size of the context is not known.
    pub fn to_usage(self) -> Option<TokenUsage> {
        Some(TokenUsage {
            context_tokens: self.context_tokens()?,
            input_tokens: self.input_tokens,
            cached_input_tokens: self.cache_read_input_tokens,
            output_tokens: self.output_tokens,
            reasoning_tokens: None,
            cache_seconds: self.cache_creation.and_then(CacheWrites::lifetime),
        })
    }

    /// Merges the counts that were reported later in the same request. Later counts win.
    pub(super) fn and(self, later: Self) -> Self {
        Self {
            input_tokens: later.input_tokens.or(self.input_tokens),
            cache_creation_input_tokens: later
                .cache_creation_input_tokens
                .or(self.cache_creation_input_tokens),
            cache_read_input_tokens: later.cache_read_input_tokens.or(self.cache_read_input_tokens),
            output_tokens: later.output_tokens.or(self.output_tokens),
            cache_creation: later.cache_creation.or(self.cache_creation),
        }
    }
}

impl ClaudeAccount {
    /// Whether credentials are missing. Not checked for other providers.
    pub(super) fn is_missing(&self) -> bool {
        let none = |source: &Option<String>| {
            source.as_deref().is_none_or(|source| matches!(source, "" | "none"))
        };
        self.api_provider.as_deref() == Some("firstParty")
            && none(&self.token_source)
            && none(&self.api_key_source)
    }
}
