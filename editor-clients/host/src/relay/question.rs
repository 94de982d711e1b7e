//! What the relay asks the driver, and what the driver says: a line of JSON each, on a connection for each message.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// May this message begin a turn now?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub thread_id: String,
    /// What is typed of it.
    pub text: String,
}

/// Anything else, and silence, is a yes as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreflightReply {
    /// Not yet. Said again and again, as a sign of life.
    Hold,
    Pass,
}

#[derive(Deserialize)]
struct Message {
    method: String,
    params: Params,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    thread_id: String,
    #[serde(default)]
    input: Vec<Value>,
}

const METHOD: &[u8] = b"\"turn/start\"";

impl Question {
    /// `None` for whatever begins no turn.
    pub(super) fn about(message: &[u8]) -> Option<Self> {
        // Most messages are not: they need not be read.
        message.windows(METHOD.len()).find(|window| *window == METHOD)?;
        let Message { method, params } = serde_json::from_slice(message).ok()?;
        let texts = params.input.iter().filter_map(|item| item["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n\n");
        (method == "turn/start").then_some(Self { thread_id: params.thread_id, text })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn about(message: &Value) -> Option<Question> {
        Question::about(message.to_string().as_bytes())
    }

    #[test]
    fn it_is_asked_about_what_begins_a_turn() {
        let input = json!([{"type": "text", "text": "one"}, {"type": "image", "url": "x"}, {"type": "text", "text": "two"}]);
        let params = json!({"threadId": "t", "input": input, "cwd": "/x"});
        let expected = Question { thread_id: "t".to_owned(), text: "one\n\ntwo".to_owned() };
        assert_eq!(
            about(&json!({"id": 7, "method": "turn/start", "params": params})),
            Some(expected)
        );
    }

    #[test]
    fn it_is_not_asked_about_anything_else() {
        let quoting = json!([{"type": "text", "text": "\"turn/start\""}]);
        for message in [
            json!({"id": 7, "method": "turn/interrupt", "params": {"threadId": "t"}}),
            json!({"id": 7, "method": "turn/steer", "params": {"threadId": "t", "input": quoting}}),
            json!({"id": 7, "method": "turn/start"}),
            json!({"id": 7, "method": "turn/start", "params": {"threadId": 3}}),
            json!(["turn/start"]),
        ] {
            assert_eq!(about(&message), None, "{message}");
        }
        assert_eq!(Question::about(b"{\"method\": \"turn/start\""), None);
    }
}
