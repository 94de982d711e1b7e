//! A line of a rollout, and what is in it.

use crate::lenient::{self, Text, parse, value_in};
use crate::tokens::TokenCounts;
use rawr_protocol::{PlanStep, TokenUsage as ProtocolUsage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A line: an event, an item, or another kind.
pub(super) enum Line<'l> {
    SessionMeta(SessionMeta),
    TurnContext(TurnContext),
    Compacted,
    EventMsg(Payload<'l>),
    ResponseItem(Payload<'l>),
    /// A kind that says nothing here.
    Other,
    Unknown,
}

/// A line whose keys stand in any order.
#[derive(Deserialize)]
struct RawLine<'l> {
    #[serde(borrow, default, deserialize_with = "lenient::text", rename = "type")]
    kind: Option<Text<'l>>,
    #[serde(borrow)]
    payload: Option<&'l RawValue>,
}

#[derive(Deserialize)]
pub(super) struct SessionMeta {
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) cwd: Option<String>,
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) cli_version: Option<String>,
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) history_mode: Option<String>,
    /// A word that says how the session began, or an object that describes a sub-agent.
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) source: Option<String>,
    /// The client that began the session.
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) originator: Option<String>,
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) forked_from_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct TurnContext {
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) model: Option<String>,
}

/// An event or an item. Each kind has some of these.
#[derive(Deserialize)]
pub(super) struct Payload<'l> {
    #[serde(borrow, default, deserialize_with = "lenient::text", rename = "type")]
    pub(super) kind: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) turn_id: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) message: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) last_agent_message: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "boxed_item")]
    pub(super) item: Option<Box<Item<'l>>>,
    #[serde(default, deserialize_with = "lenient::object")]
    pub(super) info: Option<TokenInfo>,
    #[serde(default, deserialize_with = "lenient::count")]
    pub(super) model_context_window: Option<u64>,
    #[serde(default, deserialize_with = "lenient::object")]
    pub(super) turn_attribution: Option<TurnAttribution>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) name: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) call_id: Option<Text<'l>>,
    /// A text that holds an object, or that object.
    #[serde(borrow)]
    pub(super) arguments: Option<&'l RawValue>,
    #[serde(borrow)]
    pub(super) output: Option<&'l RawValue>,
}

/// Who started a turn.
#[derive(Deserialize)]
pub(super) struct TurnAttribution {
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) turn_trigger: Option<String>,
}

fn boxed_item<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<Item<'de>>>, D::Error> {
    Ok(lenient::object(from)?.map(Box::new))
}

#[derive(Deserialize)]
pub(super) struct Item<'l> {
    #[serde(borrow, default, deserialize_with = "lenient::text", rename = "type")]
    pub(super) kind: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(super) id: Option<Text<'l>>,
    #[serde(default, deserialize_with = "lenient::list")]
    pub(super) content: Vec<Part>,
    #[serde(default, deserialize_with = "lenient::texts")]
    pub(super) command: Vec<String>,
    #[serde(default, deserialize_with = "lenient::number")]
    pub(super) exit_code: Option<i64>,
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) cwd: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Part {
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) text: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct TokenInfo {
    /// What the last request took.
    #[serde(default, deserialize_with = "lenient::object")]
    pub(super) last_token_usage: Option<TokenUsage>,
    /// The sum of all requests so far.
    #[serde(default, deserialize_with = "lenient::object")]
    pub(super) total_token_usage: Option<TokenUsage>,
    #[serde(default, deserialize_with = "lenient::count")]
    pub(super) model_context_window: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(super) struct TokenUsage {
    #[serde(default, deserialize_with = "lenient::count")]
    total_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    cached_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    cache_write_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    reasoning_output_tokens: Option<u64>,
}

impl TokenUsage {
    pub(super) fn total(&self) -> u64 {
        let parts = self.input_tokens.unwrap_or(0).saturating_add(self.output_tokens.unwrap_or(0));
        self.total_tokens.filter(|total| *total > 0).unwrap_or(parts)
    }

    /// What came since an earlier sum.
    pub(super) fn since(&self, before: &Self) -> Self {
        let rest =
            |of: fn(&Self) -> Option<u64>| Some(of(self)?.saturating_sub(of(before).unwrap_or(0)));
        Self {
            total_tokens: rest(|usage| usage.total_tokens),
            input_tokens: rest(|usage| usage.input_tokens),
            cached_input_tokens: rest(|usage| usage.cached_input_tokens),
            cache_write_input_tokens: rest(|usage| usage.cache_write_input_tokens),
            output_tokens: rest(|usage| usage.output_tokens),
            reasoning_output_tokens: rest(|usage| usage.reasoning_output_tokens),
        }
    }

    pub(super) fn to_usage(self) -> ProtocolUsage {
        ProtocolUsage {
            context_tokens: self.total(),
            input_tokens: self.input_tokens,
            cached_input_tokens: self.cached_input_tokens,
            output_tokens: self.output_tokens,
            reasoning_tokens: self.reasoning_output_tokens,
            cache_seconds: None,
        }
    }

    pub(super) fn counts(&self) -> TokenCounts {
        let (cached, written) = (self.cached_input_tokens, self.cache_write_input_tokens);
        let (cached, written) = (cached.unwrap_or(0), written.unwrap_or(0));
        let kept = cached.saturating_add(written);
        TokenCounts {
            requests: 1,
            input: self.input_tokens.unwrap_or(0).saturating_sub(kept),
            cached,
            written,
            written_for_hour: 0,
            output: self.output_tokens.unwrap_or(0),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct PlanArguments {
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) explanation: Option<String>,
    pub(super) plan: Vec<PlanStep>,
}

/// The arguments of the shell tools of all releases.
#[derive(Deserialize)]
pub(super) struct ShellArguments {
    cmd: Option<String>,
    command: Option<ShellCommand>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ShellCommand {
    Line(String),
    Words(Vec<String>),
}

/// The arguments of a tool: a text that holds an object, or that object.
pub(super) fn arguments<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    match value_in::<String>(raw.get()) {
        Some(text) => value_in(&text),
        None => value_in(raw.get()),
    }
}

/// Nearly all lines have these keys in this order, which needs no second look at the payload.
pub(super) fn parse_line(line: &[u8]) -> serde_json::Result<Line<'_>> {
    let payload = |kind: &[u8]| {
        let rest = line.strip_prefix(b"{\"timestamp\":\"")?;
        let rest =
            &rest[memchr::memchr(b'"', rest).filter(|length| is_plain(&rest[..*length]))?..];
        let rest = rest.strip_prefix(b"\",\"type\":\"")?.strip_prefix(kind)?;
        let payload = rest.strip_prefix(b"\",\"payload\":")?.strip_suffix(b"}")?;
        parse(payload).ok()
    };
    if let Some(event) = payload(b"event_msg") {
        return Ok(Line::EventMsg(event));
    }
    if let Some(item) = payload(b"response_item") {
        return Ok(Line::ResponseItem(item));
    }
    let RawLine { kind, payload } = parse(line)?;
    let line = match kind.as_deref().unwrap_or_default() {
        "session_meta" => payload_in(payload)?.map(Line::SessionMeta),
        "turn_context" => payload_in(payload)?.map(Line::TurnContext),
        "compacted" => Some(Line::Compacted),
        "event_msg" => payload_in(payload)?.map(Line::EventMsg),
        "response_item" => payload_in(payload)?.map(Line::ResponseItem),
        "world_state" | "token_usage_record" => Some(Line::Other),
        _ => None,
    };
    Ok(line.unwrap_or(Line::Unknown))
}

/// A line, where the messages of the history matter.
pub(super) enum TurnLine<'l> {
    Message(HistoryMessage),
    Other(Box<Line<'l>>),
}

/// A message of the history.
#[derive(Default, Deserialize)]
pub(super) struct HistoryMessage {
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) id: Option<String>,
    /// Who wrote it.
    #[serde(default, deserialize_with = "lenient::owned")]
    pub(super) role: Option<String>,
    #[serde(default, deserialize_with = "lenient::list")]
    pub(super) content: Vec<Part>,
    /// What Codex keeps about it.
    #[serde(
        default,
        deserialize_with = "lenient::object",
        rename = "internal_chat_message_metadata_passthrough"
    )]
    pub(super) about: Option<MessageMetadata>,
}

#[derive(Deserialize)]
pub(super) struct MessageMetadata {
    /// The origin of each part of the content.
    #[serde(default, deserialize_with = "lenient::texts")]
    pub(super) content_item_kinds: Vec<String>,
}

pub(super) fn parse_turn_line(line: &[u8]) -> serde_json::Result<TurnLine<'_>> {
    let RawLine { kind, payload } = parse(line)?;
    if kind.as_deref() == Some("response_item") {
        return Ok(TurnLine::Message(payload_in(payload)?.unwrap_or_default()));
    }
    parse_line(line).map(|line| TurnLine::Other(Box::new(line)))
}

pub(super) fn command_of(arguments: ShellArguments) -> Option<Vec<String>> {
    match (arguments.cmd, arguments.command) {
        (Some(line), _) | (None, Some(ShellCommand::Line(line))) => Some(vec![line]),
        (None, Some(ShellCommand::Words(words))) => Some(words).filter(|words| !words.is_empty()),
        (None, None) => None,
    }
}

fn payload_in<'l, T: Deserialize<'l>>(raw: Option<&'l RawValue>) -> serde_json::Result<Option<T>> {
    raw.map_or(Ok(None), lenient::object_in)
}

fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'\\')
}

/// The first key of a line is its time, in what Codex writes.
pub(super) fn time_of(line: &[u8]) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct OnlyTime<'l> {
        #[serde(borrow)]
        timestamp: Cow<'l, str>,
    }
    const KEY: &[u8] = b"{\"timestamp\":";
    let Some(rest) = line.strip_prefix(KEY) else {
        return serde_json::from_slice::<OnlyTime<'_>>(line).ok().map(|line| line.timestamp);
    };
    let text = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let end = text.iter().take(40).position(|byte| *byte == b'"')?;
    str::from_utf8(&text[..end]).ok().map(Cow::Borrowed)
}
