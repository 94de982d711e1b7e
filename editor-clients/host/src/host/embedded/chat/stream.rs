//! The server-sent events of one completion, put together to a reply. Pure: bytes in, pieces and a reply out.

use reqwest::Url;
use serde::Deserialize;

use super::send::{Failure, Problem};
use crate::host::embedded::model::{Call, DeltaSink, ModelDelta, Reply, TokenCount};

/// A completion as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The line that has begun.
    line: Vec<u8>,
    text: String,
    calls: Vec<Call>,
    counted: Option<TokenCount>,
    /// The answer is whole; what may still come is its bill.
    finished: bool,
    done: bool,
}

/// What is wrong with an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadStream {
    /// It broke off.
    CutShort,
    NotUnderstood(String),
    /// The endpoint itself says so.
    Told(String),
}

/// One event, or a whole completion: what of it matters here.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Choice {
    /// In a stream.
    delta: Option<Piece>,
    /// Of a whole completion.
    message: Option<Piece>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Piece {
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
struct Usage {
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

/// A model that names call after call is out of its mind.
const MOST_CALLS: usize = 128;

impl Stream {
    /// A completion that was not streamed.
    pub(super) fn read_whole(text: &str) -> Result<Reply, BadStream> {
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

    pub(super) fn end(mut self) -> Result<Reply, BadStream> {
        let line = std::mem::take(&mut self.line);
        self.line(&line, &mut |_| {})?;
        if !self.finished && !self.done {
            return Err(BadStream::CutShort);
        }
        let message = Some(self.text).filter(|text| !text.is_empty());
        let calls = self.calls.into_iter().filter(|call| !call.name.is_empty()).collect();
        Ok(Reply { message, calls, counted: self.counted })
    }

    fn line(&mut self, line: &[u8], hear: DeltaSink<'_>) -> Result<(), BadStream> {
        let line = String::from_utf8_lossy(line);
        // Other fields and comments say nothing about the answer.
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
        let chunk: Chunk = serde_json::from_str(data)
            .map_err(|error| BadStream::NotUnderstood(error.to_string()))?;
        if let Some(error) = chunk.error {
            let message = error["message"].as_str().map(str::to_owned);
            return Err(BadStream::Told(message.unwrap_or_else(|| error.to_string())));
        }
        self.counted = chunk.usage.map(TokenCount::from).or(self.counted);
        // One choice was asked for.
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
            return Err(BadStream::NotUnderstood(format!("it makes more than {MOST_CALLS} calls")));
        }
        while self.calls.len() <= at {
            let (id, name, arguments) = Default::default();
            self.calls.push(Call { id, name, arguments });
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

impl From<Usage> for TokenCount {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.prompt_tokens,
            cached_input: usage.prompt_tokens_details.and_then(|details| details.cached_tokens),
            output: usage.completion_tokens,
            reasoning: usage.completion_tokens_details.and_then(|it| it.reasoning_tokens),
        }
    }
}

impl BadStream {
    pub(super) fn at(self, url: &Url) -> Failure {
        let (problem, message) = match self {
            Self::CutShort => (Problem::Passing, "the answer broke off".to_owned()),
            Self::NotUnderstood(why) => {
                (Problem::Lasting, format!("the answer is not understood: {why}"))
            }
            Self::Told(message) => (Problem::of_words(&message, Problem::Passing), message),
        };
        Failure::new(problem, format!("POST {url}: {message}"))
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

    fn read(bytes: &[u8], at_a_time: usize) -> (Result<Reply, BadStream>, String) {
        let (mut stream, mut heard) = (Stream::default(), String::new());
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

    /// However the bytes are cut.
    fn check(events: &[String], expected: Result<Reply, BadStream>) {
        let bytes = events.concat().into_bytes();
        for at_a_time in [1, 7, bytes.len() + 1] {
            assert_eq!(read(&bytes, at_a_time).0, expected, "{at_a_time}");
        }
    }

    fn says(message: &str) -> Reply {
        Reply { message: Some(message.to_owned()), ..Reply::default() }
    }

    #[test]
    fn pieces_of_a_message_are_heard_and_put_together() {
        let events = [
            delta(json!({"role": "assistant", "content": "Grü"})),
            delta(json!({"content": "ße"})),
            finish(),
        ];
        check(&events, Ok(says("Grüße")));
        assert_eq!(read(&events.concat().into_bytes(), 3).1, "Grüße");
    }

    #[test]
    fn the_bill_comes_after_the_answer() {
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
        check(&events, Ok(Reply { counted: Some(counted), ..says("hi") }));
    }

    #[test]
    fn calls_come_in_pieces_and_side_by_side() {
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
        let call = |id: &str, name: &str, arguments: &str| Call {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let calls =
            vec![call("a", "shell", "{\"command\": \"ls\"}"), call("b", "update_plan", "{}")];
        check(&events, Ok(Reply { calls, ..Reply::default() }));
    }

    #[test]
    fn an_answer_without_its_end_has_broken_off() {
        check(&[delta(json!({"content": "hal"}))], Err(BadStream::CutShort));
        check(&[], Err(BadStream::CutShort));
    }

    #[test]
    fn an_error_in_the_middle_is_an_error() {
        let error = json!({"error": {"message": "overloaded"}});
        let events = [delta(json!({"content": "hal"})), format!("data: {error}\n\n")];
        check(&events, Err(BadStream::Told("overloaded".to_owned())));
    }

    #[test]
    fn a_server_that_does_not_stream_is_read_all_the_same() {
        let whole = json!({
            "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        });
        let counted = TokenCount { input: 3, output: 1, ..TokenCount::default() };
        let expected = Reply { counted: Some(counted), ..says("hi") };
        assert_eq!(Stream::read_whole(&whole.to_string()), Ok(expected));
        assert!(matches!(Stream::read_whole("<html>"), Err(BadStream::NotUnderstood(_))));
    }
}
