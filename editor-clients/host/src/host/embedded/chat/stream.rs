//! Parses the server-sent events of a completion into a reply. Pure.

use rawr_protocol::{count_if_known, if_known, read_json};
use reqwest::Url;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::send::{FailureKind, RequestFailure};
use super::text::{JoinedText, TextPiece, known};
use crate::host::embedded::history::TokenCount;
use crate::host::embedded::model::{DeltaSink, ModelDelta, SampleReply};
use crate::host::embedded::tools::ModelToolCall;

/// A partially received completion.
#[derive(Debug, Default)]
pub(super) struct CompletionStream {
    /// The incomplete line.
    line: Vec<u8>,
    text: JoinedText,
    calls: Vec<JoinedCall>,
    usage: Option<ChatUsage>,
    /// The answer is complete; its usage may follow.
    finished: bool,
    done: bool,
}

/// A partially received call.
#[derive(Debug, Default)]
struct JoinedCall {
    id: String,
    name: String,
    arguments: JoinedText,
}

/// Why an answer is invalid.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadStream {
    /// Ended early.
    CutShort,
    NotUnderstood(String),
    /// The endpoint reported an error.
    Told(String),
}

// Endpoints differ in what they write. A value of an unknown shape is read as absent, so that it costs nothing but itself.

/// An event of a stream, or a whole completion.
#[derive(Deserialize)]
struct ChatChunk {
    choices: Option<Box<RawValue>>,
    usage: Option<Box<RawValue>>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct ChatChoice {
    /// In a stream.
    delta: Option<Box<RawValue>>,
    /// In a whole completion.
    message: Option<Box<RawValue>>,
    finish_reason: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct ChatDelta {
    content: Option<Box<RawValue>>,
    refusal: Option<Box<RawValue>>,
    tool_calls: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct CallPiece {
    #[serde(default, deserialize_with = "count_if_known")]
    index: Option<u64>,
    id: Option<Box<RawValue>>,
    function: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct FunctionPiece {
    name: Option<Box<RawValue>>,
    arguments: Option<Box<RawValue>>,
}

/// The tokens of a request, as far as they are known.
#[derive(Debug, Clone, Copy, Deserialize)]
struct ChatUsage {
    #[serde(default, deserialize_with = "count_if_known")]
    prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count_if_known")]
    completion_tokens: Option<u64>,
    #[serde(default, deserialize_with = "if_known")]
    prompt_tokens_details: Option<InputDetails>,
    #[serde(default, deserialize_with = "if_known")]
    completion_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct InputDetails {
    #[serde(default, deserialize_with = "count_if_known")]
    cached_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct OutputDetails {
    #[serde(default, deserialize_with = "count_if_known")]
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
        let message = Some(self.text.end()).filter(|text| !text.is_empty());
        let calls = self.calls.into_iter().filter(|call| !call.name.is_empty());
        let calls = calls.map(|JoinedCall { id, name, arguments }| ModelToolCall {
            id,
            name,
            arguments: arguments.end(),
        });
        let mut reply = SampleReply { message, calls: calls.collect(), counted: None };
        reply.counted = self.usage.and_then(|usage| usage.counted(&reply));
        Ok(reply)
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
        let chunk: Box<RawValue> = read_json(data.as_bytes())
            .map_err(|error| BadStream::NotUnderstood(error.to_string()))?;
        let Some(chunk) = known::<ChatChunk>(Some(chunk)) else { return Ok(()) };
        if let Some(error) = chunk.error {
            let message = error["message"].as_str().map(str::to_owned);
            return Err(BadStream::Told(message.unwrap_or_else(|| error.to_string())));
        }
        self.usage = known(chunk.usage).or(self.usage);
        // The request asks for one choice.
        let choices: Vec<Box<RawValue>> = known(chunk.choices).unwrap_or_default();
        let Some(choice) = known::<ChatChoice>(choices.into_iter().next()) else { return Ok(()) };
        self.finished |= choice.finish_reason.is_some_and(|reason| reason.is_string());
        let piece = known::<ChatDelta>(choice.delta).or_else(|| known(choice.message));
        let Some(piece) = piece else { return Ok(()) };
        for content in [piece.content, piece.refusal].into_iter().flatten() {
            hear(ModelDelta::Text(self.text.push(&TextPiece::of_content(&content))));
        }
        let calls: Vec<Box<RawValue>> = known(piece.tool_calls).unwrap_or_default();
        for (at, piece) in calls.into_iter().enumerate() {
            if let Some(piece) = known(Some(piece)) {
                self.call_piece(at, piece, hear)?;
            }
        }
        Ok(())
    }

    fn call_piece(
        &mut self,
        at: usize,
        piece: CallPiece,
        hear: DeltaSink<'_>,
    ) -> Result<(), BadStream> {
        let at = piece.index.map_or(at, |index| usize::try_from(index).unwrap_or(usize::MAX));
        if at >= MOST_CALLS {
            return Err(BadStream::NotUnderstood(format!("more than {MOST_CALLS} tool calls")));
        }
        while self.calls.len() <= at {
            self.calls.push(JoinedCall::default());
        }
        let call = &mut self.calls[at];
        if let Some(id) = known(piece.id).filter(|id: &String| !id.is_empty()) {
            call.id = id;
        }
        let Some(function) = known::<FunctionPiece>(piece.function) else { return Ok(()) };
        call.name.push_str(&known::<String>(function.name).unwrap_or_default());
        if let Some(arguments) = function.arguments {
            let arguments = call.arguments.push(&TextPiece::of_arguments(&arguments));
            hear(ModelDelta::Call(arguments));
        }
        Ok(())
    }
}

impl ChatUsage {
    /// The tokens of a request with this reply. `None` if the size of the request is unknown, for which endpoints also
    /// write 0.
    fn counted(self, reply: &SampleReply) -> Option<TokenCount> {
        let known = |tokens: &u64| *tokens > 0;
        Some(TokenCount {
            input: self.prompt_tokens.filter(known)?,
            cached_input: self.prompt_tokens_details.and_then(|details| details.cached_tokens),
            output: self.completion_tokens.filter(known).unwrap_or_else(|| reply.estimate()),
            reasoning: self.completion_tokens_details.and_then(|it| it.reasoning_tokens),
        })
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

    /// An event of another program, as it wrote it.
    fn written(event: &str) -> String {
        format!("data: {event}\n\n")
    }

    fn counting(usage: &str) -> Option<TokenCount> {
        let usage = format!(r#"{{"choices": [], "usage": {usage}}}"#);
        let events = [delta(json!({"content": "12345678"})), finish(), written(&usage)];
        let (reply, _) = read(events.concat().as_bytes(), 7);
        let reply = reply.unwrap();
        assert_eq!(reply.message.as_deref(), Some("12345678"), "{usage}");
        reply.counted
    }

    #[test]
    fn an_odd_usage_loses_no_answer() {
        for unknown in [
            "{}",
            "[]",
            "0",
            r#""none""#,
            r#"{"prompt_tokens": null, "completion_tokens": null}"#,
            r#"{"prompt_tokens": -1, "completion_tokens": 10}"#,
            r#"{"prompt_tokens": 18446744073709551615, "completion_tokens": 10}"#,
            r#"{"prompt_tokens": "100", "completion_tokens": 10}"#,
            r#"{"prompt_tokens": 0, "completion_tokens": 0}"#,
        ] {
            assert_eq!(counting(unknown), None, "{unknown}");
        }
        let counted = |output| Some(TokenCount { input: 100, output, ..TokenCount::default() });
        assert_eq!(counting(r#"{"prompt_tokens": 100.0, "completion_tokens": 9.6}"#), counted(10));
        // The answer has eight bytes.
        assert_eq!(counting(r#"{"prompt_tokens": 100, "completion_tokens": null}"#), counted(2));
        assert_eq!(counting(r#"{"prompt_tokens": 100, "completion_tokens": 0}"#), counted(2));
        let odd_details = r#"{"prompt_tokens": 100, "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": -1}, "completion_tokens_details": 0}"#;
        assert_eq!(counting(&odd_details.replace('\n', "")), counted(5));
    }

    #[test]
    fn an_odd_event_loses_no_answer() {
        let events = [
            written("null"),
            delta(json!({"role": "assistant", "content": null})),
            delta(json!({"content": "hal"})),
            written(r#"{"choices": null, "usage": null}"#),
            written(r#"{"choices": {}}"#),
            written(r#"["ping"]"#),
            written(r#"{"choices": [{"delta": "hal"}]}"#),
            written(
                r#"{"choices": [{"delta": {"content": "lo", "tool_calls": {}}, "finish_reason": 0}]}"#,
            ),
            finish(),
        ];
        check(&events, Ok(says("hallo")));
        check(&[written("{")], Err(BadStream::NotUnderstood(unreadable("{"))));
    }

    fn unreadable(json: &str) -> String {
        serde_json::from_str::<Value>(json).unwrap_err().to_string()
    }

    #[test]
    fn a_content_of_parts_is_joined() {
        let parts = json!([{"type": "text", "text": "hal"}, {"type": "image"}, "l", 1]);
        let events = [delta(json!({ "content": parts })), delta(json!({"content": "o"})), finish()];
        check(&events, Ok(says("hallo")));
    }

    #[test]
    fn arguments_that_are_no_text_are_taken_as_json() {
        let function = json!({"name": "shell", "arguments": {"command": "ls"}});
        let events = [
            delta(json!({"tool_calls": [{"index": -1, "id": 7, "function": function}]})),
            finish(),
        ];
        let arguments = r#"{"command":"ls"}"#.to_owned();
        let call = ModelToolCall { id: String::new(), name: "shell".to_owned(), arguments };
        check(&events, Ok(SampleReply { calls: vec![call], ..SampleReply::default() }));
    }

    #[test]
    fn a_surrogate_pair_may_be_split_between_two_events() {
        let content = |text: &str| {
            written(&format!(r#"{{"choices": [{{"delta": {{"content": "{text}"}}}}]}}"#))
        };
        let check_text = |pieces: &[&str], text: &str| {
            let mut events: Vec<_> = pieces.iter().map(|piece| content(piece)).collect();
            events.push(finish());
            check(&events, Ok(says(text)));
            // The end of the stream tells that no other half follows.
            assert!(text.starts_with(&read(events.concat().as_bytes(), 5).1), "{text}");
        };
        check_text(&[r"a \ud83d", r"\ude80 b"], "a \u{1f680} b");
        check_text(&[r"a \ud83d", "", r"\ude80"], "a \u{1f680}");
        check_text(&[r"a \ud83d", r"b \ude80"], "a \u{fffd}b \u{fffd}");
        check_text(&[r"\ud83d", r"\ud83d\ude80"], "\u{fffd}\u{1f680}");
        check_text(&[r"half \ud83d"], "half \u{fffd}");
    }
}
