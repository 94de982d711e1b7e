//! A recorded request to the model.

use std::time::SystemTime;

use serde_json::Value;

use crate::mock_responses::{RequestPurpose, asks_judge};

/// One request to the model.
#[derive(Debug, Clone)]
pub struct AnthropicRequest {
    pub purpose: RequestPurpose,
    /// The marker of the script that chose the reply.
    pub marker: Option<String>,
    /// The number of rounds of tool results after the last user message.
    pub step: usize,
    pub body: Value,
    pub arrived: SystemTime,
}

/// How Claude Code's request for a summary begins.
const COMPACTION_PROMPT: &str = "CRITICAL: Respond with TEXT ONLY.";

/// Text in the user's role that Claude Code writes by itself.
const REMINDER: &str = "<system-reminder>";

/// How the text of a Stop hook begins. The agent answers it like a message, although newer versions put it into a reminder.
const STOP_HOOK: &str = "Stop hook";

impl AnthropicRequest {
    pub(super) fn new(body: Value) -> Self {
        let mut recorded = Self {
            purpose: RequestPurpose::Turn,
            marker: None,
            step: 0,
            body,
            arrived: SystemTime::now(),
        };
        let last = recorded.last_user();
        let asks = |at: usize| {
            texts(&recorded.history()[at]).iter().any(|text| text.starts_with(COMPACTION_PROMPT))
        };
        if last.is_some_and(asks) {
            recorded.purpose = RequestPurpose::LocalCompaction;
        } else if recorded.last_user_message().is_some_and(|text| asks_judge(&text)) {
            recorded.purpose = RequestPurpose::Judgment;
        }
        let after = last.map_or(0, |at| at + 1);
        recorded.step =
            recorded.history()[after..].iter().filter(|message| is_round(message)).count();
        recorded
    }

    /// The history that was sent, as raw messages.
    pub fn history(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The messages of the user, without what Claude Code writes by itself.
    pub fn user_messages(&self) -> Vec<String> {
        let users = self.history().iter().filter(|message| message["role"] == "user");
        users.map(|message| texts(message).join("\n")).filter(|text| !text.is_empty()).collect()
    }

    /// Like [`Self::user_messages`], with each message for itself where Claude Code has joined several into one.
    pub fn user_texts(&self) -> Vec<&str> {
        let users = self.history().iter().filter(|message| message["role"] == "user");
        users.flat_map(texts).collect()
    }

    /// What the agent has said.
    pub fn agent_messages(&self) -> Vec<String> {
        let agents = self.history().iter().filter(|message| message["role"] == "assistant");
        agents.map(|message| texts(message).join("\n")).filter(|text| !text.is_empty()).collect()
    }

    /// What Claude Code reminds the agent of, in the whole request.
    pub fn reminders(&self) -> Vec<&str> {
        let texts = self.history().iter().flat_map(parts);
        texts.filter(|text| is_reminder(text)).collect()
    }

    /// The history as one line each: who speaks, and what; calls by name. Without what Claude Code writes by itself.
    pub fn transcript(&self) -> Vec<String> {
        self.history().iter().flat_map(lines_of).collect()
    }

    pub(super) fn last_user_message(&self) -> Option<String> {
        self.last_user().map(|at| texts(&self.history()[at]).join("\n"))
    }

    fn last_user(&self) -> Option<usize> {
        let is_user = |message: &Value| message["role"] == "user" && !texts(message).is_empty();
        self.history().iter().rposition(is_user)
    }
}

fn lines_of(message: &Value) -> Vec<String> {
    let role = message["role"].as_str().unwrap_or_default();
    let said = texts(message);
    let said = said.iter().enumerate();
    let said = said.map(|(at, text)| format!("{}: {text}", if at == 0 { role } else { "and" }));
    let calls = blocks(message).iter().filter_map(|block| match block["type"].as_str()? {
        "tool_use" => Some(format!("assistant: <{}>", block["name"].as_str()?)),
        "tool_result" => Some("tool".to_owned()),
        _ => None,
    });
    said.chain(calls).collect()
}

fn is_round(message: &Value) -> bool {
    blocks(message).iter().any(|block| block["type"] == "tool_result")
}

fn texts(message: &Value) -> Vec<&str> {
    parts(message).into_iter().filter(|text| !is_reminder(text)).map(bare).collect()
}

fn is_reminder(text: &str) -> bool {
    text.trim_start().starts_with(REMINDER) && !bare(text).starts_with(STOP_HOOK)
}

/// Without the tag of a reminder.
fn bare(text: &str) -> &str {
    let inside = text.trim_start().strip_prefix(REMINDER).map(str::trim);
    inside.map_or(text, |text| text.trim_end_matches("</system-reminder>").trim_end())
}

fn parts(message: &Value) -> Vec<&str> {
    match &message["content"] {
        Value::String(text) => vec![text],
        _ => blocks(message)
            .iter()
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .collect(),
    }
}

fn blocks(message: &Value) -> &[Value] {
    message["content"].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> Value {
        let reminder = json!({"type": "text", "text": "<system-reminder>mind</system-reminder>"});
        json!({"role": "user", "content": [reminder, {"type": "text", "text": text}]})
    }

    fn result() -> Value {
        let reminder = json!({"type": "text", "text": "<system-reminder>mind</system-reminder>"});
        json!({"role": "user", "content": [{"type": "tool_result", "content": "done"}, reminder]})
    }

    #[test]
    fn results_behind_the_last_message_count_the_steps_and_reminders_are_no_messages() {
        let messages = json!([user("WORK"), result(), user("MORE"), result(), result()]);
        let recorded = AnthropicRequest::new(json!({ "messages": messages }));
        assert_eq!((recorded.step, recorded.last_user_message().unwrap().as_str()), (2, "MORE"));
        assert_eq!(recorded.transcript(), ["user: WORK", "tool", "user: MORE", "tool", "tool"]);
        assert_eq!(recorded.purpose, RequestPurpose::Turn);
    }

    #[test]
    fn the_text_of_a_stop_hook_is_a_message() {
        let hook = json!({"type": "text", "text": "<system-reminder>\nStop hook says MORE\n</system-reminder>"});
        let messages = json!([user("WORK"), {"role": "user", "content": [hook]}]);
        let recorded = AnthropicRequest::new(json!({ "messages": messages }));
        assert_eq!(recorded.last_user_message().unwrap(), "Stop hook says MORE");
    }

    #[test]
    fn a_request_for_a_summary_is_a_compaction() {
        let messages = json!([user("WORK"), user("CRITICAL: Respond with TEXT ONLY. Do NOT …")]);
        let recorded = AnthropicRequest::new(json!({ "messages": messages }));
        assert_eq!(recorded.purpose, RequestPurpose::LocalCompaction);
    }
}
