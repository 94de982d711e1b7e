//! The replies of the mock, including failures.

use serde_json::{Value, json};

use super::{ChatPurpose, ChatRequest};
use crate::mock_responses::ReplyGate;
use crate::wait_until;

/// What is answered.
#[derive(Debug, Clone)]
pub struct ChatModelReply {
    pub(super) kind: Kind,
    input_tokens: Option<u64>,
    retry_after: Option<u64>,
    gate: Option<ReplyGate>,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Message {
        text: Option<String>,
        calls: Vec<(String, Value)>,
    },
    Http {
        status: u16,
        message: String,
    },
    /// The stream ends in the middle.
    Cut(String),
    /// The stream stays open after this.
    Stall(String),
}

impl ChatModelReply {
    fn of(kind: Kind) -> Self {
        Self { kind, input_tokens: None, retry_after: None, gate: None }
    }

    /// Sets the reported input tokens; the default is a quarter of the request's bytes.
    pub fn input_tokens(mut self, tokens: u64) -> Self {
        self.input_tokens = Some(tokens);
        self
    }

    /// Seconds, in the header of the same name.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Waits until the gate opens.
    pub fn behind(mut self, gate: &ReplyGate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    pub(super) fn await_gate(&self) {
        if let Some(gate) = &self.gate {
            wait_until("an open gate", || gate.is_open());
        }
    }

    /// And another call.
    pub fn and_call(mut self, name: &str, arguments: Value) -> Self {
        if let Kind::Message { calls, .. } = &mut self.kind {
            calls.push((name.to_owned(), arguments));
        }
        self
    }

    /// Status, further headers and body, and whether the connection stays open after it.
    pub(super) fn written(&self, number: usize, request: &ChatRequest) -> Written {
        let retry = self.retry_after.map(|seconds| format!("Retry-After: {seconds}\r\n"));
        let headers = retry.unwrap_or_default();
        let stream = |body: String| {
            let headers = format!("{headers}Content-Type: text/event-stream\r\n");
            Written { status: 200, headers, body, stays_open: false }
        };
        match &self.kind {
            Kind::Http { status, message } => {
                let body = json!({"error": {"message": message, "type": "scripted"}}).to_string();
                let headers = format!("{headers}Content-Type: application/json\r\n");
                Written { status: *status, headers, body, stays_open: false }
            }
            Kind::Message { text, .. } if request.purpose == ChatPurpose::Compaction => {
                let content = json!([{"type": "output_text", "text": text}]);
                let item = json!({"type": "message", "role": "assistant", "content": content});
                let body = json!({"output": [item]}).to_string();
                let headers = format!("{headers}Content-Type: application/json\r\n");
                Written { status: 200, headers, body, stays_open: false }
            }
            Kind::Message { text, calls } => {
                let mut body = events(text.as_deref().unwrap_or_default());
                for (index, (name, arguments)) in calls.iter().enumerate() {
                    let id = format!("call_{number}_{index}");
                    let function = json!({"name": name, "arguments": arguments.to_string()});
                    let call = json!({"index": index, "id": id, "function": function});
                    body.push_str(&delta(json!({ "tool_calls": [call] })));
                }
                let input = self.input_tokens;
                let input = input.unwrap_or_else(|| request.body.to_string().len() as u64 / 4);
                let output = text.as_ref().map_or(1, |text| text.len() as u64 / 4 + 1);
                let usage = json!({"prompt_tokens": input, "completion_tokens": output});
                body.push_str(&event(
                    &json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
                ));
                body.push_str(&event(&json!({"choices": [], "usage": usage})));
                body.push_str("data: [DONE]\n\n");
                stream(body)
            }
            Kind::Cut(text) => stream(events(text)),
            Kind::Stall(text) => Written { stays_open: true, ..stream(events(text)) },
        }
    }
}

/// An encoded reply.
pub(super) struct Written {
    pub(super) status: u16,
    pub(super) headers: String,
    pub(super) body: String,
    pub(super) stays_open: bool,
}

fn events(text: &str) -> String {
    let mut events = delta(json!({"role": "assistant", "content": ""}));
    // In pieces, as models speak.
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(40) {
        events.push_str(&delta(json!({"content": piece.iter().collect::<String>()})));
    }
    events
}

fn delta(delta: Value) -> String {
    event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

fn event(event: &Value) -> String {
    format!("data: {event}\n\n")
}

/// A message.
pub fn reply(text: &str) -> ChatModelReply {
    ChatModelReply::of(Kind::Message { text: Some(text.to_owned()), calls: Vec::new() })
}

/// A tool call.
pub fn call(name: &str, arguments: Value) -> ChatModelReply {
    ChatModelReply::of(Kind::Message { text: None, calls: vec![(name.to_owned(), arguments)] })
}

/// An error.
pub fn http(status: u16, message: &str) -> ChatModelReply {
    ChatModelReply::of(Kind::Http { status, message: message.to_owned() })
}

/// A message whose stream ends early.
pub fn cut(text: &str) -> ChatModelReply {
    ChatModelReply::of(Kind::Cut(text.to_owned()))
}

/// A message whose stream never ends.
pub fn stall(text: &str) -> ChatModelReply {
    ChatModelReply::of(Kind::Stall(text.to_owned()))
}
