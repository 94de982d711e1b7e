//! The part of Codex's app-server protocol that rawr reads, as types. Nothing is decided here.
//!
//! Fields that rawr does not use are left out; methods and items that it does not know are passed over.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One line from Codex, told apart.
#[derive(Debug)]
pub(super) enum Incoming {
    Reply {
        id: u64,
        answer: Result<Value, Refusal>,
    },
    /// Codex asks, and waits for an answer with the same id.
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
pub(super) struct Refusal {
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
                    Self::Reply { id, answer: Err(Refusal::from_value(error)) }
                }
                (None, _) => Self::Unknown,
            },
            (None, None) => Self::Unknown,
        }
    }
}

impl Refusal {
    fn from_value(error: Value) -> Self {
        let text = error.to_string();
        serde_json::from_value(error).unwrap_or(Self { message: text })
    }
}

/// A notification that means something to rawr.
#[derive(Debug, Clone)]
pub(super) enum Note {
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
    Error(ErrorNote),
    /// Said to the person at the keyboard, about one thread or about all.
    Warning {
        thread_id: Option<String>,
        text: String,
    },
}

impl Note {
    /// `None` for a method that means nothing here; an error for one that has changed its shape.
    pub(super) fn read(method: &str, params: Value) -> Option<Result<Self, serde_json::Error>> {
        fn shape<T: DeserializeOwned>(
            params: Value,
            note: fn(T) -> Note,
        ) -> Option<Result<Note, serde_json::Error>> {
            Some(serde_json::from_value(params).map(note))
        }
        match method {
            "thread/status/changed" => shape(params, Note::StatusChanged),
            "thread/closed" => shape(params, Note::Closed),
            "turn/started" => shape(params, Note::TurnStarted),
            "turn/completed" => shape(params, Note::TurnCompleted),
            "item/started" => shape(params, Note::ItemStarted),
            "item/completed" => shape(params, Note::ItemCompleted),
            "thread/tokenUsage/updated" => shape(params, Note::Usage),
            "turn/plan/updated" => shape(params, Note::Plan),
            "thread/settings/updated" => shape(params, Note::Settings),
            "error" => shape(params, Note::Error),
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
            Self::Error(note) => Some(&note.thread_id),
            Self::Warning { thread_id, .. } => thread_id.as_deref(),
        }
    }
}

impl Note {
    /// The turn that has just written a user message down.
    pub(super) fn message_taken_in(&self) -> Option<&str> {
        match self {
            Self::ItemCompleted(ItemNote { turn_id, item: Item::UserMessage { .. }, .. }) => {
                Some(turn_id)
            }
            _ => None,
        }
    }

    /// The turn that something happens in. Not for a turn's own beginning and end.
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

/// What the next turn runs with.
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
    pub(super) status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum Status {
    Active,
    Idle,
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnNote {
    pub(super) thread_id: String,
    pub(super) turn: Turn,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Turn {
    pub(super) id: String,
    pub(super) status: TurnStatus,
    pub(super) error: Option<TurnError>,
    #[serde(default)]
    pub(super) items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum TurnStatus {
    InProgress,
    Completed,
    Interrupted,
    Failed,
    /// One of a newer Codex.
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct TurnError {
    pub(super) message: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ItemNote {
    pub(super) thread_id: String,
    pub(super) turn_id: String,
    pub(super) item: Item,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Item {
    UserMessage {
        /// As its sender named it.
        client_id: Option<String>,
        #[serde(default)]
        content: Vec<Content>,
    },
    AgentMessage {
        text: String,
    },
    CommandExecution {
        id: String,
        command: String,
        cwd: String,
        /// Absent for a command that never ran, or that still does.
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

impl Item {
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

/// What an agent does with others.
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

/// A part of a user's message.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum Content {
    Text {
        text: String,
    },
    #[serde(other)]
    Other,
}

/// What a person wrote, without pictures and mentions.
pub(super) fn words(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        Content::Text { text } => Some(text.as_str()),
        Content::Other => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageNote {
    pub(super) thread_id: String,
    pub(super) turn_id: String,
    pub(super) token_usage: Tokens,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tokens {
    /// The running bill of the thread; never how full the window is.
    pub(super) total: Breakdown,
    pub(super) last: Breakdown,
    pub(super) model_context_window: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Breakdown {
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
    pub(super) plan: Vec<Step>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Step {
    pub(super) step: String,
    pub(super) status: StepStatus,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StepStatus {
    InProgress,
    Completed,
    /// Whatever else a newer Codex says, it is not done.
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
