//! A recorded request to the model.

use std::time::SystemTime;

use serde_json::Value;

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPurpose {
    /// The agent works.
    Turn,
    /// A judge is asked whether to compact, outside the conversation.
    Judgment,
    /// A summary by a prompt: the history ends in a request for one.
    LocalCompaction,
    /// The provider compacts: the history ends in a trigger item, and the answer is opaque.
    RemoteCompaction,
}

/// How the judge's question begins the person's next message, known or not.
const JUDGE_QUESTION: &str = "<next_message_of_the_user>";

/// Whether a message asks the judge. A packet that quotes such a question asks no one.
pub(crate) fn asks_judge(message: &str) -> bool {
    message.starts_with("Tier: ") && message.contains(JUDGE_QUESTION)
}

/// One request to the model.
#[derive(Debug, Clone)]
pub struct ResponsesRequest {
    pub purpose: RequestPurpose,
    /// The marker of the script that chose the reply.
    pub marker: Option<String>,
    /// The number of tool outputs after the last user message.
    pub step: usize,
    pub body: Value,
    pub arrived: SystemTime,
}

/// The beginning of Codex's summarization prompt; `compact_prompt` in its configuration replaces it.
const LOCAL_COMPACTION_PROMPT: &str = "CONTEXT CHECKPOINT COMPACTION";

/// The Codex on the screen gives a thread a title, by one of its first messages and whenever it likes.
pub const TITLE_PROMPT: &str = "Generate a concise, single-line task title";

/// User-role text that Codex writes by itself: never what a turn is about.
const FRAGMENTS: [&str; 4] =
    ["<environment_context>", "<turn_aborted>", "<user_instructions>", "# AGENTS.md instructions"];

impl ResponsesRequest {
    pub(super) fn new(body: Value) -> Self {
        let mut recorded = Self {
            purpose: RequestPurpose::Turn,
            marker: None,
            step: 0,
            body,
            arrived: SystemTime::now(),
        };
        recorded.purpose = recorded.purpose_of();
        recorded.step = recorded.tool_outputs_after_last_user_message();
        recorded
    }

    /// The history that was sent, as raw items.
    pub fn input(&self) -> &[Value] {
        self.body["input"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The messages of one role, in order: `user`, `assistant` or `developer`.
    pub fn messages(&self, role: &str) -> Vec<String> {
        self.input().iter().filter(|item| item["role"] == role).map(text_of).collect()
    }

    /// User messages without those that Codex writes by itself.
    pub fn user_messages(&self) -> Vec<String> {
        let mut messages = self.messages("user");
        messages.retain(|text| !is_fragment(text));
        messages
    }

    /// Not a part of the conversation.
    pub fn asks_for_title(&self) -> bool {
        self.user_messages().iter().any(|message| message.contains(TITLE_PROMPT))
    }

    /// The history as one line each: who speaks, and what; calls by name. Without what Codex writes by itself.
    pub fn transcript(&self) -> Vec<String> {
        self.input().iter().flat_map(lines_of).collect()
    }

    /// The types of the items that are not messages: calls, outputs, reasoning.
    pub fn other_items(&self) -> Vec<&str> {
        self.input()
            .iter()
            .filter_map(|item| item["type"].as_str())
            .filter(|kind| *kind != "message")
            .collect()
    }

    /// The names of the tools on offer.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools
            .iter()
            .filter_map(|tool| tool["name"].as_str().or_else(|| tool["type"].as_str()))
            .collect()
    }

    /// What Codex tells the provider about this request, for instance `request_kind`.
    pub fn metadata(&self) -> Value {
        let text =
            self.body["client_metadata"]["x-codex-turn-metadata"].as_str().unwrap_or_default();
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(super) fn last_user_message(&self) -> Option<String> {
        self.last_user_item().map(|at| text_of(&self.input()[at]))
    }

    fn last_user_item(&self) -> Option<usize> {
        self.input().iter().rposition(|item| item["role"] == "user" && !is_fragment(&text_of(item)))
    }

    fn tool_outputs_after_last_user_message(&self) -> usize {
        let after = self.last_user_item().map_or(0, |at| at + 1);
        let kinds = self.input()[after..].iter().filter_map(|item| item["type"].as_str());
        kinds.filter(|kind| kind.ends_with("_output")).count()
    }

    fn purpose_of(&self) -> RequestPurpose {
        if self.input().last().is_some_and(|item| item["type"] == "compaction_trigger") {
            return RequestPurpose::RemoteCompaction;
        }
        if self.last_user_message().is_some_and(|text| asks_judge(&text)) {
            return RequestPurpose::Judgment;
        }
        let asked =
            self.last_user_message().is_some_and(|text| text.contains(LOCAL_COMPACTION_PROMPT));
        if asked || self.metadata()["request_kind"] == "compaction" {
            return RequestPurpose::LocalCompaction;
        }
        RequestPurpose::Turn
    }
}

fn is_fragment(text: &str) -> bool {
    FRAGMENTS.iter().any(|fragment| text.trim_start().starts_with(fragment))
}

/// The parts of one message stay apart.
fn lines_of(item: &Value) -> Vec<String> {
    let role = item["role"].as_str().unwrap_or_default();
    if matches!(role, "user" | "assistant") {
        let parts = item["content"].as_array().map_or(&[][..], Vec::as_slice);
        let texts = parts.iter().filter_map(|part| part["text"].as_str());
        let texts = texts.filter(|text| role != "user" || !is_fragment(text));
        return texts
            .enumerate()
            .map(|(at, text)| format!("{}: {text}", if at == 0 { role } else { "and" }))
            .collect();
    }
    match (item["type"].as_str().unwrap_or_default(), item["name"].as_str()) {
        ("function_call" | "custom_tool_call", Some(name)) => vec![format!("assistant: <{name}>")],
        (kind, _) if kind.ends_with("_output") => vec!["tool".to_owned()],
        _ => Vec::new(),
    }
}

fn text_of(item: &Value) -> String {
    match &item["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
