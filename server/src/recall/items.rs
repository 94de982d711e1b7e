//! What a host has written down of a conversation, one JSON object a line: Codex's rollouts, and items of any shape that
//! say in a field who speaks. Lines that repeat others, or that the host wrote for itself, are left out.

use super::lines::{Lines, Problem};
use super::{Kind, RecalledText, Search, Seen, Source, Spot, time};
use rawr_core::units::Timestamp;
use serde_json::Value;
use std::path::Path;

/// What every text of rawr's ends with. They stand in rawr's own log.
const MARK: &str = "[rawr:";

/// User-role texts that Codex writes by itself.
const FRAGMENTS: [&str; 4] =
    ["<environment_context>", "<turn_aborted>", "<user_instructions>", "# AGENTS.md instructions"];

impl Search<'_> {
    /// Whether there is such a file and it can be read. `at`: when its lines were written, where they do not say it.
    /// `seen`: texts that are not named again.
    pub(super) fn items(
        &mut self,
        source: &Source,
        file: &Path,
        at: Option<Timestamp>,
        seen: Option<&mut Seen>,
    ) -> bool {
        match self.read_items(source, file, at, seen) {
            Ok(()) => true,
            Err(problem @ Problem::Lines(_)) => {
                self.could_not(file, &problem);
                true
            }
            Err(problem) => {
                self.could_not(file, &problem);
                false
            }
        }
    }

    fn read_items(
        &mut self,
        source: &Source,
        file: &Path,
        at: Option<Timestamp>,
        mut seen: Option<&mut Seen>,
    ) -> Result<(), Problem> {
        let gone = || Problem::Io(std::io::ErrorKind::NotFound.into());
        let mut lines = Lines::of(file)?.ok_or_else(gone)?;
        let (mut room, mut unreadable) = (Vec::new(), 0);
        while let Some((line, text)) = lines.next()?.filter(|_| !self.is_over()) {
            if !self.words.may_be_in(text, &mut room) {
                continue;
            }
            let Ok(item) = serde_json::from_slice::<Value>(text) else {
                unreadable += u64::from(!lines.is_torn());
                continue;
            };
            let at = item["timestamp"].as_str().and_then(time::parse).or(at);
            let Some((kind, text)) = said(&item) else { continue };
            if seen.as_ref().is_some_and(|seen| seen.has(&text)) {
                continue;
            }
            let spot = Spot { thread: &source.thread, file, line };
            let is_named = self.met(&spot, &RecalledText { kind, at, text: &text });
            if let Some(seen) = seen.as_mut().filter(|_| is_named) {
                seen.note(&text);
            }
        }
        match unreadable + lines.skipped {
            0 => Ok(()),
            many => Err(Problem::Lines(many)),
        }
    }
}

fn said(item: &Value) -> Option<(Kind, String)> {
    let (kind, text) = match item.get("payload") {
        Some(payload) => rollout(item["type"].as_str()?, payload)?,
        None => (spoken_by(item)?, texts(item)),
    };
    let is_rawrs = text.trim_end().lines().last().is_some_and(|line| line.starts_with(MARK));
    let is_hosts = FRAGMENTS.iter().any(|fragment| text.trim_start().starts_with(fragment));
    let is_anybodys = !(is_rawrs || is_hosts && kind == Kind::UserMessage);
    is_anybodys.then_some((kind, text))
}

/// Codex writes every message twice, raw and for people to see: the raw one counts.
fn rollout(line: &str, payload: &Value) -> Option<(Kind, String)> {
    match (line, payload["type"].as_str()) {
        ("compacted", _) => Some((Kind::Summary, payload["message"].as_str()?.to_owned())),
        ("response_item", Some(kind)) => {
            let kind = match kind {
                "message" => spoken_by(payload)?,
                "reasoning" => Kind::AgentMessage,
                kind if kind.ends_with("_output") => Kind::ToolOutput,
                kind if kind.ends_with("_call") => Kind::ToolCall,
                _ => return None,
            };
            Some((kind, texts(payload)))
        }
        _ => None,
    }
}

fn spoken_by(item: &Value) -> Option<Kind> {
    let who = ["role", "kind", "type"].into_iter().find_map(|field| item[field].as_str())?;
    match who {
        "user" => Some(Kind::UserMessage),
        "assistant" => Some(Kind::AgentMessage),
        "summary" => Some(Kind::Summary),
        "tool" | "result" => Some(Kind::ToolOutput),
        _ => None,
    }
}

/// Fields that hold what was said or done.
const SAID: [&str; 9] =
    ["text", "content", "message", "summary", "arguments", "input", "output", "calls", "action"];
/// Below those, every text counts but these.
const NOT_SAID: [&str; 6] = ["type", "id", "call_id", "role", "status", "annotations"];

fn texts(item: &Value) -> String {
    let mut found = String::new();
    for field in SAID {
        collect(&item[field], &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut String) {
    match value {
        Value::String(text) => {
            if !found.is_empty() {
                found.push('\n');
            }
            found.push_str(text);
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Object(fields) => {
            for (_, value) in fields.iter().filter(|(name, _)| !NOT_SAID.contains(&name.as_str())) {
                collect(value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
