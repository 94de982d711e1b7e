//! The types of Codex's app-server protocol, as far as rawr reads it. Unknown fields, methods and items are ignored.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::host::ContextOverflow;

/// A message from Codex.
#[derive(Debug)]
pub(super) enum Incoming {
    Reply {
        id: u64,
        answer: Result<Value, CodexError>,
    },
    /// A request from Codex, which waits for an answer with the same id.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Unknown,
}

/// The error of a reply.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct CodexError {
    #[serde(default)]
    pub(super) message: String,
}

impl Incoming {
    pub(super) fn from_value(mut message: Value) -> Self {
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let mut part = |name: &str| message.get_mut(name).map(Value::take);
        match (part("id"), method) {
            (Some(id), Some(method)) => {
                Self::Request { id, method, params: part("params").unwrap_or_default() }
            }
            (None, Some(method)) => {
                Self::Notification { method, params: part("params").unwrap_or_default() }
            }
            (Some(id), None) => match (id.as_u64(), part("error")) {
                (Some(id), None) => {
                    Self::Reply { id, answer: Ok(part("result").unwrap_or_default()) }
                }
                (Some(id), Some(error)) => {
                    Self::Reply { id, answer: Err(CodexError::from_value(error)) }
                }
                (None, _) => Self::Unknown,
            },
            (None, None) => Self::Unknown,
        }
    }
}

impl CodexError {
    fn from_value(error: Value) -> Self {
        let text = error.to_string();
        serde_json::from_value(error).unwrap_or(Self { message: text })
    }
}

/// A notification that rawr uses.
#[derive(Debug, Clone)]
pub(super) enum CodexNotification {
    StatusChanged(StatusChanged),
    /// The thread was unloaded, or deleted.
    Closed(ThreadClosed),
    TurnStarted(TurnNote),
    TurnCompleted(TurnNote),
    ItemStarted(ItemNote),
    ItemCompleted(ItemNote),
    Usage(UsageNote),
    Plan(PlanNote),
    Settings(SettingsNote),
    Title(TitleNote),
    Error(ErrorNote),
    /// A message for the user, about one thread or about all.
    Warning {
        thread_id: Option<String>,
        text: String,
    },
}

impl CodexNotification {
    /// `None` for an unused method; an error if the parameters have an unknown shape.
    pub(super) fn read(method: &str, params: Value) -> Option<Result<Self, serde_json::Error>> {
        fn shape<T: DeserializeOwned>(
            params: Value,
            note: fn(T) -> CodexNotification,
        ) -> Option<Result<CodexNotification, serde_json::Error>> {
            Some(serde_json::from_value(params).map(note))
        }
        match method {
            "thread/status/changed" => shape(params, CodexNotification::StatusChanged),
            "thread/closed" => shape(params, CodexNotification::Closed),
            "turn/started" => shape(params, CodexNotification::TurnStarted),
            "turn/completed" => shape(params, CodexNotification::TurnCompleted),
            "item/started" => shape(params, CodexNotification::ItemStarted),
            "item/completed" => shape(params, CodexNotification::ItemCompleted),
            "thread/tokenUsage/updated" => shape(params, CodexNotification::Usage),
            "turn/plan/updated" => shape(params, CodexNotification::Plan),
            "thread/settings/updated" => shape(params, CodexNotification::Settings),
            "thread/name/updated" => shape(params, CodexNotification::Title),
            "error" => shape(params, CodexNotification::Error),
            "warning" | "configWarning" | "deprecationNotice" | "guardianWarning" => {
                shape(params, Self::warning)
            }
            _ => None,
        }
    }

    fn warning(words: WarningNote) -> Self {
        let said = [words.message, words.summary, words.details];
        let text = said.into_iter().flatten().collect::<Vec<_>>().join(": ");
        Self::Warning { thread_id: words.thread_id, text }
    }

    /// The thread that it is about.
    pub(super) fn thread_id(&self) -> Option<&str> {
        match self {
            Self::StatusChanged(note) => Some(&note.thread_id),
            Self::Closed(note) => Some(&note.thread_id),
            Self::TurnStarted(note) | Self::TurnCompleted(note) => Some(&note.thread_id),
            Self::ItemStarted(note) | Self::ItemCompleted(note) => Some(&note.thread_id),
            Self::Usage(note) => Some(&note.thread_id),
            Self::Plan(note) => Some(&note.thread_id),
            Self::Settings(note) => Some(&note.thread_id),
            Self::Title(note) => Some(&note.thread_id),
            Self::Error(note) => Some(&note.thread_id),
            Self::Warning { thread_id, .. } => thread_id.as_deref(),
        }
    }
}

impl CodexNotification {
    /// The turn that has just recorded a user message.
    pub(super) fn message_taken_in(&self) -> Option<&str> {
        match self {
            Self::ItemCompleted(ItemNote {
                turn_id, item: CodexItem::UserMessage { .. }, ..
            }) => Some(turn_id),
            _ => None,
        }
    }

    /// The turn that the notification is about, except for its start and end.
    pub(super) fn inside_turn(&self) -> Option<&str> {
        match self {
            Self::ItemStarted(note) | Self::ItemCompleted(note) => Some(&note.turn_id),
            Self::Usage(note) => Some(&note.turn_id),
            Self::Plan(note) => Some(&note.turn_id),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadClosed {
    pub(super) thread_id: String,
}

/// The title of a thread, from the user or from Codex.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TitleNote {
    pub(super) thread_id: String,
    pub(super) thread_name: Option<String>,
}

/// The settings of the next turn.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SettingsNote {
    pub(super) thread_id: String,
    pub(super) thread_settings: ThreadSettings,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ThreadSettings {
    pub(super) model: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusChanged {
    pub(super) thread_id: String,
    pub(super) status: CodexThreadStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum CodexThreadStatus {
    Active,
    Idle,
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnNote {
    pub(super) thread_id: String,
    pub(super) turn: CodexTurn,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodexTurn {
    pub(super) id: String,
    pub(super) status: CodexTurnStatus,
    pub(super) error: Option<TurnError>,
    #[serde(default, deserialize_with = "readable_items")]
    pub(super) items: Vec<CodexItem>,
}

/// Leaves out those that cannot be read: the end of their turn must not be lost with them.
fn readable_items<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<CodexItem>, D::Error> {
    let items = Vec::<Value>::deserialize(from)?;
    Ok(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CodexTurnStatus {
    InProgress,
    Completed,
    Interrupted,
    Failed,
    /// A status of a newer Codex.
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnError {
    pub(super) message: String,
    /// The kind of the error: a name, or an object with details.
    #[serde(default)]
    codex_error_info: Value,
}

impl TurnError {
    /// Whether the model refused the conversation as too long.
    pub(super) fn overflow(&self) -> Option<ContextOverflow> {
        let is_named = self.codex_error_info == "contextWindowExceeded";
        ContextOverflow::read(&self.message).or_else(|| is_named.then(ContextOverflow::default))
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ItemNote {
    pub(super) thread_id: String,
    pub(super) turn_id: String,
    pub(super) item: CodexItem,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum CodexItem {
    UserMessage {
        /// The id that its client gave it.
        client_id: Option<String>,
        #[serde(default)]
        content: Vec<MessagePart>,
    },
    AgentMessage {
        text: String,
    },
    CommandExecution {
        id: String,
        command: String,
        cwd: String,
        /// Absent for a command that never ran or still runs.
        exit_code: Option<i64>,
    },
    FileChange {
        id: String,
    },
    McpToolCall {
        id: String,
        tool: String,
    },
    DynamicToolCall {
        id: String,
        tool: String,
    },
    CollabAgentToolCall(CollabCall),
    WebSearch {
        id: String,
    },
    ImageView {
        id: String,
    },
    ImageGeneration {
        id: String,
    },
    ContextCompaction,
    EnteredReviewMode,
    ExitedReviewMode,
    #[serde(other)]
    Other,
}

impl CodexItem {
    /// The id and the name of a tool call.
    pub(super) fn tool(&self) -> Option<(&str, &str)> {
        match self {
            Self::CommandExecution { id, .. } => Some((id, "shell")),
            Self::FileChange { id } => Some((id, "apply_patch")),
            Self::McpToolCall { id, tool } | Self::DynamicToolCall { id, tool } => Some((id, tool)),
            Self::CollabAgentToolCall(call) => Some((&call.id, "sub_agent")),
            Self::WebSearch { id } => Some((id, "web_search")),
            Self::ImageView { id } => Some((id, "view_image")),
            Self::ImageGeneration { id } => Some((id, "image_generation")),
            Self::UserMessage { .. }
            | Self::AgentMessage { .. }
            | Self::ContextCompaction
            | Self::EnteredReviewMode
            | Self::ExitedReviewMode
            | Self::Other => None,
        }
    }
}

/// A call that concerns sub-agents.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CollabCall {
    pub(super) id: String,
    #[serde(default)]
    pub(super) tool: String,
    #[serde(default)]
    pub(super) receiver_thread_ids: Vec<String>,
    pub(super) prompt: Option<String>,
}

/// A part of a user message.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum MessagePart {
    Text {
        text: String,
    },
    #[serde(other)]
    Other,
}

/// The text of a user message, without images and mentions.
pub(super) fn words(content: &[MessagePart]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        MessagePart::Text { text } => Some(text.as_str()),
        MessagePart::Other => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageNote {
    pub(super) thread_id: String,
    pub(super) turn_id: String,
    pub(super) token_usage: ThreadTokens,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadTokens {
    /// The total of all requests of the thread, not the size of the context.
    pub(super) total: TokenBreakdown,
    pub(super) last: TokenBreakdown,
    pub(super) model_context_window: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenBreakdown {
    pub(super) total_tokens: u64,
    pub(super) input_tokens: u64,
    #[serde(default)]
    pub(super) cached_input_tokens: u64,
    #[serde(default)]
    pub(super) output_tokens: u64,
    #[serde(default)]
    pub(super) reasoning_output_tokens: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlanNote {
    pub(super) thread_id: String,
    pub(super) turn_id: String,
    pub(super) explanation: Option<String>,
    pub(super) plan: Vec<CodexPlanStep>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct CodexPlanStep {
    pub(super) step: String,
    pub(super) status: CodexStepStatus,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CodexStepStatus {
    InProgress,
    Completed,
    /// Also an unknown status of a newer Codex.
    #[serde(other)]
    Pending,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorNote {
    pub(super) thread_id: String,
    pub(super) error: TurnError,
    #[serde(default)]
    pub(super) will_retry: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WarningNote {
    thread_id: Option<String>,
    message: Option<String>,
    summary: Option<String>,
    details: Option<String>,
}
