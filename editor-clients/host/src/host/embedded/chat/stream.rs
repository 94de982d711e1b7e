//! Parses the server-sent events of a completion into a reply. Pure.

use rawr_protocol::read_json;
use reqwest::Url;
use serde::Deserialize;

use super::send::{FailureKind, RequestFailure};
use crate::host::embedded::history::TokenCount;
use crate::host::embedded::model::{DeltaSink, ModelDelta, SampleReply};
use crate::host::embedded::tools::ModelToolCall;

/// A partially received completion.
#[derive(Debug, Default)]
pub(super) struct CompletionStream {
    /// The incomplete line.
    line: Vec<u8>,
    text: String,
    calls: Vec<ModelToolCall>,
    counted: Option<TokenCount>,
    /// The answer is complete; its usage may follow.
    finished: bool,
    done: bool,
}

/// Why an answer is invalid.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadStream {
    /// It ended early.
    CutShort,
    NotUnderstood(String),
    /// The endpoint reported an error.
    Told(String),
}

/// An event of a stream, or a whole completion.
#[derive(Deserialize)]
struct ChatChunk {
    #[serde(default)]
    choices: Vec<ChatChoice>,
    usage: Option<ChatUsage>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct ChatChoice {
    /// In a stream.
    delta: Option<ChatDelta>,
    /// Of a whole completion.
    message: Option<ChatDelta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChatDelta {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
struct CallPiece {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionPiece>,
}

#[derive(Deserialize)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct ChatUsage {
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    prompt_tokens_details: Option<InputDetails>,
    completion_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

/// The largest number of calls in one answer.
const MOST_CALLS: usize = 128;

impl CompletionStream {
    /// A completion that was not streamed.
    pub(super) fn read_whole(text: &str) -> Result<SampleReply, BadStream> {
        let mut stream = Self::default();
        stream.event(text, &mut |_| {})?;
        stream.finished = true;
        stream.end()
    }

    pub(super) fn push(&mut self, bytes: &[u8], hear: DeltaSink<'_>) -> Result<(), BadStream> {
        for &byte in bytes {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            self.line(&line, hear)?;
        }
        Ok(())
    }

    /// Whether nothing more will come.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn end(mut self) -> Result<SampleReply, BadStream> {
        let line = std::mem::take(&mut self.line);
        self.line(&line, &mut |_| {})?;
        if !self.finished && !self.done {
            return Err(BadStream::CutShort);
        }
        let message = Some(self.text).filter(|text| !text.is_empty());
        let calls = self.calls.into_iter().filter(|call| !call.name.is_empty()).collect();
        Ok(SampleReply { message, calls, counted: self.counted })
    }

    fn line(&mut self, line: &[u8], hear: DeltaSink<'_>) -> Result<(), BadStream> {
        let line = String::from_utf8_lossy(line);
        // Other fields and comments are ignored.
        let Some(data) = line.trim().strip_prefix("data:") else { return Ok(()) };
        match data.trim() {
            "" => Ok(()),
            "[DONE]" => {
                self.done = true;
                Ok(())
            }
            data => self.event(data, hear),
        }
    }

    fn event(&mut self, data: &str, hear: DeltaSink<'_>) -> Result<(), BadStream> {
        let chunk: ChatChunk = read_json(data.as_bytes())
            .map_err(|error| BadStream::NotUnderstood(error.to_string()))?;
        if let Some(error) = chunk.error {
            let message = error["message"].as_str().map(str::to_owned);
            return Err(BadStream::Told(message.unwrap_or_else(|| error.to_string())));
        }
        self.counted = chunk.usage.map(TokenCount::from).or(self.counted);
        // The request asks for one choice.
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
        self.finished |= choice.finish_reason.is_some();
        let Some(piece) = choice.delta.or(choice.message) else { return Ok(()) };
        for text in [piece.content, piece.refusal].into_iter().flatten() {
            hear(ModelDelta::Text(&text));
            self.text.push_str(&text);
        }
        for (at, piece) in piece.tool_calls.into_iter().flatten().enumerate() {
            self.call_piece(at, piece, hear)?;
        }
        Ok(())
    }

    fn call_piece(
        &mut self,
        at: usize,
        piece: CallPiece,
        hear: DeltaSink<'_>,
    ) -> Result<(), BadStream> {
        let at = piece.index.unwrap_or(at);
        if at >= MOST_CALLS {
            return Err(BadStream::NotUnderstood(format!("more than {MOST_CALLS} tool calls")));
        }
        while self.calls.len() <= at {
            let (id, name, arguments) = Default::default();
            self.calls.push(ModelToolCall { id, name, arguments });
        }
        let call = &mut self.calls[at];
        if let Some(id) = piece.id.filter(|id| !id.is_empty()) {
            call.id = id;
        }
        let Some(function) = piece.function else { return Ok(()) };
        call.name.push_str(function.name.as_deref().unwrap_or_default());
        let arguments = function.arguments.unwrap_or_default();
        hear(ModelDelta::Call(&arguments));
        call.arguments.push_str(&arguments);
        Ok(())
    }
}

impl From<ChatUsage> for TokenCount {
    fn from(usage: ChatUsage) -> Self {
        Self {
            input: usage.prompt_tokens,
            cached_input: usage.prompt_tokens_details.and_then(|details| details.cached_tokens),
            output: usage.completion_tokens,
            reasoning: usage.completion_tokens_details.and_then(|it| it.reasoning_tokens),
        }
    }
}

impl BadStream {
    pub(super) fn at(self, url: &Url) -> RequestFailure {
        let (problem, message) = match self {
            Self::CutShort => (FailureKind::Passing, "the answer ended early".to_owned()),
            Self::NotUnderstood(why) => {
                (FailureKind::Lasting, format!("failed to parse the answer: {why}"))
            }
            Self::Told(message) => (FailureKind::of_words(&message, FailureKind::Passing), message),
        };
        RequestFailure::new(problem, format!("POST {url}: {message}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn delta(delta: Value) -> String {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
    }

    fn finish() -> String {
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        format!("data: {end}\r\n\r\n")
    }

    fn read(bytes: &[u8], at_a_time: usize) -> (Result<SampleReply, BadStream>, String) {
        let (mut stream, mut heard) = (CompletionStream::default(), String::new());
        for piece in bytes.chunks(at_a_time) {
            let pushed = stream.push(piece, &mut |piece| match piece {
                ModelDelta::Text(text) | ModelDelta::Call(text) => heard.push_str(text),
                ModelDelta::RetryPlan { .. } => {}
            });
            if let Err(error) = pushed {
                return (Err(error), heard);
            }
        }
        (stream.end(), heard)
    }

    /// Checks the result for several chunk sizes.
    fn check(events: &[String], expected: Result<SampleReply, BadStream>) {
        let bytes = events.concat().into_bytes();
        for at_a_time in [1, 7, bytes.len() + 1] {
            assert_eq!(read(&bytes, at_a_time).0, expected, "{at_a_time}");
        }
    }

    fn says(message: &str) -> SampleReply {
        SampleReply { message: Some(message.to_owned()), ..SampleReply::default() }
    }

    #[test]
    fn the_pieces_of_a_message_are_joined() {
        let events = [
            delta(json!({"role": "assistant", "content": "Grü"})),
            delta(json!({"content": "ße"})),
            finish(),
        ];
        check(&events, Ok(says("Grüße")));
        assert_eq!(read(&events.concat().into_bytes(), 3).1, "Grüße");
    }

    #[test]
    fn the_usage_follows_the_answer() {
        let usage = json!({
            "choices": [],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
        });
        let counted =
            TokenCount { input: 100, cached_input: Some(64), output: 20, reasoning: Some(5) };
        let events = [
            delta(json!({"content": "hi"})),
            finish(),
            format!(": keep-alive\ndata: {usage}\n\n"),
            "data: [DONE]\n\n".to_owned(),
        ];
        check(&events, Ok(SampleReply { counted: Some(counted), ..says("hi") }));
    }

    #[test]
    fn interleaved_calls_are_joined_by_index() {
        let piece = |index: usize, id: Value, name: Value, arguments: &str| {
            let function = json!({"name": name, "arguments": arguments});
            delta(json!({"tool_calls": [{"index": index, "id": id, "function": function}]}))
        };
        let events = [
            piece(0, json!("a"), json!("shell"), "{\"comm"),
            piece(1, json!("b"), json!("update_plan"), "{}"),
            piece(0, Value::Null, Value::Null, "and\": \"ls\"}"),
            finish(),
        ];
        let call = |id: &str, name: &str, arguments: &str| ModelToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let calls =
            vec![call("a", "shell", "{\"command\": \"ls\"}"), call("b", "update_plan", "{}")];
        check(&events, Ok(SampleReply { calls, ..SampleReply::default() }));
    }

    #[test]
    fn an_answer_without_an_end_is_an_error() {
        check(&[delta(json!({"content": "hal"}))], Err(BadStream::CutShort));
        check(&[], Err(BadStream::CutShort));
    }

    #[test]
    fn an_error_event_fails_the_request() {
        let error = json!({"error": {"message": "overloaded"}});
        let events = [delta(json!({"content": "hal"})), format!("data: {error}\n\n")];
        check(&events, Err(BadStream::Told("overloaded".to_owned())));
    }

    #[test]
    fn an_answer_that_is_not_streamed_is_read() {
        let whole = json!({
            "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        });
        let counted = TokenCount { input: 3, output: 1, ..TokenCount::default() };
        let expected = SampleReply { counted: Some(counted), ..says("hi") };
        assert_eq!(CompletionStream::read_whole(&whole.to_string()), Ok(expected));
        assert!(matches!(CompletionStream::read_whole("<html>"), Err(BadStream::NotUnderstood(_))));
    }
}
