//! The protocol between relay and driver: one connection per held message, one JSON value per line. The relay asks, the driver
//! replies, and the relay hangs up when the message has passed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Asks the driver whether this message may start a turn now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreflightQuestion {
    /// The thread of the message.
    pub thread_id: String,
    /// The message's text items, joined.
    pub text: String,
}

/// The driver's reply. An unknown reply and no reply count as [`Pass`](Self::Pass).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreflightReply {
    /// Keep holding. Repeated as a sign of life.
    Hold,
    /// Release the message.
    Pass,
}

/// What the relay adds if a message has not passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreflightEnd {
    /// The screen closed before the driver released the message, so only the driver has it now.
    ScreenClosed,
}

#[derive(Deserialize)]
struct TurnStartRequest {
    method: String,
    params: TurnStartParams,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TurnStartParams {
    thread_id: String,
    #[serde(default)]
    input: Vec<Value>,
}

const METHOD: &[u8] = b"\"turn/start\"";

impl PreflightQuestion {
    /// `None` for a message that does not start a turn.
    pub(super) fn about(message: &[u8]) -> Option<Self> {
        // A cheap check first: most messages need no parsing.
        message.windows(METHOD.len()).find(|window| *window == METHOD)?;
        let TurnStartRequest { method, params } = serde_json::from_slice(message).ok()?;
        let texts = params.input.iter().filter_map(|item| item["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n\n");
        (method == "turn/start").then_some(Self { thread_id: params.thread_id, text })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn about(message: &Value) -> Option<PreflightQuestion> {
        PreflightQuestion::about(message.to_string().as_bytes())
    }

    #[test]
    fn a_message_that_starts_a_turn_is_a_question() {
        let input = json!([{"type": "text", "text": "one"}, {"type": "image", "url": "x"}, {"type": "text", "text": "two"}]);
        let params = json!({"threadId": "t", "input": input, "cwd": "/x"});
        let expected =
            PreflightQuestion { thread_id: "t".to_owned(), text: "one\n\ntwo".to_owned() };
        assert_eq!(
            about(&json!({"id": 7, "method": "turn/start", "params": params})),
            Some(expected)
        );
    }

    #[test]
    fn any_other_message_is_no_question() {
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
        assert_eq!(PreflightQuestion::about(b"{\"method\": \"turn/start\""), None);
    }
}
