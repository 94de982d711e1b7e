//! Searches the conversations that hosts store as JSON lines: Codex's rollouts, Claude Code's transcripts, and items of any
//! format that name the speaker in a field. Skips duplicates and lines that the host generated.

use super::SearchError;
use super::{HitKind, RecallSearch, RecallSource, RecalledText, SearchPosition, SeenTexts, time};
use rawr_core::units::Timestamp;
use rawr_records::lines::FileLines;
use serde_json::Value;
use std::path::Path;

/// The end of every text of rawr, which rawr's own log has.
const MARK: &str = "[rawr:";

/// Texts with the role `user` that Codex generates.
const FRAGMENTS: [&str; 4] =
    ["<environment_context>", "<turn_aborted>", "<user_instructions>", "# AGENTS.md instructions"];

impl RecallSearch<'_> {
    /// Returns whether the file exists and could be read. `at`: the time of lines without one. `seen`: texts that are
    /// not reported again.
    pub(super) fn items(
        &mut self,
        source: &RecallSource,
        file: &Path,
        at: Option<Timestamp>,
        seen: Option<&mut SeenTexts>,
    ) -> bool {
        match self.read_items(source, file, at, seen) {
            Ok(()) => true,
            Err(problem @ SearchError::Lines(_)) => {
                self.mark_failed(file, &problem);
                true
            }
            Err(problem) => {
                self.mark_failed(file, &problem);
                false
            }
        }
    }

    fn read_items(
        &mut self,
        source: &RecallSource,
        file: &Path,
        at: Option<Timestamp>,
        mut seen: Option<&mut SeenTexts>,
    ) -> Result<(), SearchError> {
        let gone = || SearchError::from(std::io::Error::from(std::io::ErrorKind::NotFound));
        let mut lines = FileLines::of(file)?.ok_or_else(gone)?;
        let (mut room, mut unreadable) = (Vec::new(), 0);
        while let Some((line, text)) = lines.next_line()?.filter(|_| !self.is_over()) {
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
            let spot = SearchPosition { thread: &source.thread, file, line };
            let is_named = self.met(&spot, &RecalledText { kind, at, text: &text });
            if let Some(seen) = seen.as_mut().filter(|_| is_named) {
                seen.note(&text);
            }
        }
        match unreadable + lines.skipped {
            0 => Ok(()),
            many => Err(SearchError::Lines(many)),
        }
    }
}

fn said(item: &Value) -> Option<(HitKind, String)> {
    let (kind, text) = match item.get("payload") {
        Some(payload) => rollout(item["type"].as_str()?, payload)?,
        None if item["message"].is_object() => transcript(item)?,
        None => (spoken_by(item)?, texts(item)),
    };
    let is_rawrs = text.trim_end().lines().last().is_some_and(|line| line.starts_with(MARK));
    let is_hosts = FRAGMENTS.iter().any(|fragment| text.trim_start().starts_with(fragment));
    let is_relevant = !(is_rawrs || is_hosts && kind == HitKind::UserMessage);
    is_relevant.then_some((kind, text))
}

/// Codex writes every message twice, raw and for display. The raw one counts.
fn rollout(line: &str, payload: &Value) -> Option<(HitKind, String)> {
    match (line, payload["type"].as_str()) {
        ("compacted", _) => Some((HitKind::Summary, payload["message"].as_str()?.to_owned())),
        ("response_item", Some(kind)) => {
            let kind = match kind {
                "message" => spoken_by(payload)?,
                "reasoning" => HitKind::AgentMessage,
                kind if kind.ends_with("_output") => HitKind::ToolOutput,
                kind if kind.ends_with("_call") => HitKind::ToolCall,
                _ => return None,
            };
            Some((kind, texts(payload)))
        }
        _ => None,
    }
}

/// A line of Claude Code: who speaks, and the message as the API has it. Of the message only its content was said, and
/// thoughts are signed.
fn transcript(line: &Value) -> Option<(HitKind, String)> {
    let content = &line["message"]["content"];
    let is = |field: &str| line[field].as_bool() == Some(true);
    if is("isMeta") {
        return None;
    }
    let all = |kind: &str| {
        let mut parts = content.as_array().into_iter().flatten().peekable();
        parts.peek().is_some() && parts.all(|part| part["type"].as_str() == Some(kind))
    };
    let kind = match spoken_by(line)? {
        _ if is("isCompactSummary") => HitKind::Summary,
        HitKind::UserMessage if all("tool_result") => HitKind::ToolOutput,
        HitKind::AgentMessage if all("tool_use") => HitKind::ToolCall,
        kind => kind,
    };
    let mut found = String::new();
    collect(content, &mut found);
    Some((kind, found))
}

fn spoken_by(item: &Value) -> Option<HitKind> {
    let who = ["role", "kind", "type"].into_iter().find_map(|field| item[field].as_str())?;
    match who {
        "user" => Some(HitKind::UserMessage),
        "assistant" => Some(HitKind::AgentMessage),
        "summary" => Some(HitKind::Summary),
        "tool" | "result" => Some(HitKind::ToolOutput),
        _ => None,
    }
}

/// Fields that contain messages or actions.
const SAID: [&str; 9] =
    ["text", "content", "message", "summary", "arguments", "input", "output", "calls", "action"];
/// Inside those, every string counts except in these fields.
const NOT_SAID: [&str; 9] = [
    "type",
    "id",
    "call_id",
    "tool_use_id",
    "role",
    "status",
    "annotations",
    "signature",
    // In an image.
    "source",
];

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

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    fn check(line: &Value, expected: Expect) {
        let found = said(line).map(|(kind, text)| format!("{kind:?}: {text}"));
        expected.assert_eq(&found.unwrap_or_default());
    }

    fn assistant(content: Value) -> Value {
        let usage = json!({ "input_tokens": 3, "service_tier": "standard" });
        json!({ "type": "assistant", "uuid": "u1", "cwd": "/work", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
            "content": content, "stop_reason": "end_turn", "usage": usage,
        } })
    }

    #[test]
    fn only_what_was_said_is_found_in_a_transcript_of_claude_code() {
        let said = json!([{ "type": "text", "text": "The parser reads both forms." }]);
        check(&assistant(said), expect!["AgentMessage: The parser reads both forms."]);
        let thought =
            json!([{ "type": "thinking", "thinking": "Which form?", "signature": "EqQBCg" }]);
        check(&assistant(thought), expect!["AgentMessage: Which form?"]);
        let call = json!([{ "type": "tool_use", "id": "toolu_1", "name": "Bash",
            "input": { "command": "cargo deny check" } }]);
        check(
            &assistant(call),
            expect![[r#"
            ToolCall: cargo deny check
            Bash"#]],
        );
        let user = |content: Value| json!({ "type": "user", "message": { "role": "user", "content": content } });
        check(&user(json!("Now the docs.")), expect!["UserMessage: Now the docs."]);
        let output =
            json!([{ "type": "tool_result", "tool_use_id": "toolu_1", "content": "2 errors" }]);
        check(&user(output), expect!["ToolOutput: 2 errors"]);
        let mut meta = user(json!("Caveat: generated by the host"));
        meta["isMeta"] = json!(true);
        check(&meta, expect![""]);
        let mut summary = user(json!("This session is being continued"));
        summary["isCompactSummary"] = json!(true);
        check(&summary, expect!["Summary: This session is being continued"]);
    }
}
