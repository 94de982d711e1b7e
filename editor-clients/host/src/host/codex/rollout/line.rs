//! The types of the lines of a rollout file, as far as rawr reads them.

use rawr_protocol::TokenUsage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// A line of a rollout file.
#[derive(Deserialize)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
pub enum RolloutLine {
    /// The first line.
    SessionMeta {
        /// A word, or an object that describes the sub-agent.
        #[serde(default)]
        source: Value,
    },
    EventMsg(RolloutEvent),
    /// The history was compacted.
    Compacted(IgnoredAny),
    /// An item of the history: a message, or a call of a tool.
    ResponseItem(RolloutMessage),
    /// A line of another kind.
    #[serde(other)]
    Other,
}

/// An event in a rollout file.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RolloutEvent {
    /// A turn started.
    #[serde(alias = "turn_started")]
    TaskStarted {
        turn_id: String,
        /// Who started it.
        turn_attribution: Option<TurnAttribution>,
    },
    /// The usage of a sampling request.
    TokenCount {
        /// Absent if the usage is unknown.
        info: Option<TokenInfo>,
    },
    /// An item of a turn was completed.
    ItemCompleted { item: RolloutItem },
    /// A message of the agent, in rollouts without items.
    AgentMessage { message: String },
    /// A turn ended.
    #[serde(alias = "turn_complete")]
    TaskComplete {
        turn_id: String,
        /// The agent's last message in it.
        last_agent_message: Option<String>,
    },
    /// The last turn was interrupted.
    TurnAborted {},
    /// An event of another kind.
    #[serde(other)]
    Other,
}

/// Who started a turn.
#[derive(Deserialize)]
pub struct TurnAttribution {
    /// `user`, `exec`, or another word.
    pub turn_trigger: Option<String>,
}

/// An item of the history. What another kind of item has is empty.
#[derive(Deserialize)]
pub struct RolloutMessage {
    /// The item's id.
    #[serde(default)]
    pub id: String,
    /// Who wrote a message.
    #[serde(default)]
    pub role: String,
    /// The parts of a message.
    #[serde(default)]
    pub content: Vec<RolloutPart>,
    /// What Codex keeps about a message.
    #[serde(default, rename = "internal_chat_message_metadata_passthrough")]
    pub about: MessageMetadata,
    /// The tool that is called.
    #[serde(default)]
    pub name: String,
    /// A call's arguments: a text in JSON, for most tools.
    #[serde(default)]
    pub arguments: Value,
    /// The id of a call, and of its output.
    #[serde(default)]
    pub call_id: String,
    /// What a tool answered: a text, or a list of parts.
    #[serde(default)]
    pub output: Value,
}

#[derive(Deserialize, Default)]
pub struct MessageMetadata {
    /// The origin of each part of the content.
    #[serde(default)]
    pub content_item_kinds: Vec<String>,
}

#[derive(Deserialize)]
pub struct TokenInfo {
    pub last_token_usage: RolloutTokens,
    pub model_context_window: Option<u64>,
}

#[derive(Deserialize)]
pub struct RolloutTokens {
    pub total_tokens: u64,
    pub input_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    reasoning_output_tokens: Option<u64>,
}

/// A completed item of a turn.
#[derive(Deserialize)]
#[serde(tag = "type")]
pub enum RolloutItem {
    /// A shell command.
    CommandExecution {
        /// The arguments of the command.
        command: Vec<String>,
        /// The exit code; absent if the command never ran.
        exit_code: Option<i64>,
    },
    AgentMessage {
        /// The parts of the message.
        content: Vec<RolloutPart>,
    },
    /// An item of another kind.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub struct RolloutPart {
    #[serde(default)]
    pub text: String,
}

impl From<RolloutTokens> for TokenUsage {
    fn from(tokens: RolloutTokens) -> Self {
        Self {
            context_tokens: tokens.total_tokens,
            input_tokens: tokens.input_tokens,
            cached_input_tokens: tokens.cached_input_tokens,
            output_tokens: tokens.output_tokens,
            reasoning_tokens: tokens.reasoning_output_tokens,
            cache_seconds: None,
        }
    }
}
