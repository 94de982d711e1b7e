//! The lines of the file that Codex keeps of a thread, as far as they mean something to rawr. Shapes only.

use rawr_protocol::TokenUsage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
pub enum RolloutLine {
    SessionMeta {
        /// A text, or more about a sub-agent.
        #[serde(default)]
        source: Value,
    },
    EventMsg(Event),
    Compacted(IgnoredAny),
    ResponseItem(RolloutMessage),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    TaskStarted {
        turn_id: String,
        turn_attribution: Option<Attribution>,
    },
    TokenCount {
        info: Option<Info>,
    },
    ItemCompleted {
        item: Item,
    },
    TaskComplete {
        turn_id: String,
        last_agent_message: Option<String>,
    },
    TurnAborted {},
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub struct Attribution {
    /// What began the turn: a `user`, `exec`, and more.
    pub turn_trigger: Option<String>,
}

/// A message as the model is sent it.
#[derive(Deserialize)]
pub struct RolloutMessage {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub role: String,
    #[serde(default)]
    pub content: Vec<Part>,
    #[serde(default, rename = "internal_chat_message_metadata_passthrough")]
    pub about: About,
}

#[derive(Deserialize, Default)]
pub struct About {
    /// Where each part of the content comes from.
    #[serde(default)]
    pub content_item_kinds: Vec<String>,
}

#[derive(Deserialize)]
pub struct Info {
    pub last_token_usage: Tokens,
    pub model_context_window: Option<u64>,
}

#[derive(Deserialize)]
pub struct Tokens {
    pub total_tokens: u64,
    pub input_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    reasoning_output_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
pub enum Item {
    CommandExecution {
        command: Vec<String>,
        exit_code: Option<i64>,
    },
    AgentMessage {
        content: Vec<Part>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub struct Part {
    #[serde(default)]
    pub text: String,
}

impl From<Tokens> for TokenUsage {
    fn from(tokens: Tokens) -> Self {
        Self {
            context_tokens: tokens.total_tokens,
            input_tokens: tokens.input_tokens,
            cached_input_tokens: tokens.cached_input_tokens,
            output_tokens: tokens.output_tokens,
            reasoning_tokens: tokens.reasoning_output_tokens,
        }
    }
}
