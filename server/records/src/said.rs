//! What was said in one record of any format: Codex's rollouts, Claude Code's transcripts, and items that name the speaker
//! in a field. Without copies and what the host generated.

use crate::lenient::{OddLine, Openings};
use rawr_core::units::Timestamp;
use serde_json::Value;

/// Who said it, or what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidKind {
    UserMessage,
    AgentMessage,
    /// A tool call of the agent.
    ToolCall,
    ToolOutput,
    /// The summary of a compaction.
    Summary,
}

/// A text of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Who said it.
    pub kind: SaidKind,
    /// When, where the record tells it.
    pub at: Option<Timestamp>,
    pub text: String,
}

/// The end of every text of rawr, which rawr's own log has.
const MARK: &str = "[rawr:";

/// Texts with the role `user` that Codex generates.
const FRAGMENTS: [&str; 4] =
    ["<environment_context>", "<turn_aborted>", "<user_instructions>", "# AGENTS.md instructions"];

/// Reads what was said, line by line.
#[derive(Debug, Default)]
pub struct SaidReader {
    openings: Openings,
}

impl SaidReader {
    /// What was said in the next line. `None` if it is no record, and holds none.
    pub fn read(&mut self, line: &[u8]) -> Option<Vec<Said>> {
        let found = read_line(line, &self.openings)?;
        self.openings.learn(line);
        Some(found)
    }
}

fn read_line(line: &[u8], openings: &Openings) -> Option<Vec<Said>> {
    let one = |record: &Value| {
        let at = record["timestamp"].as_str().and_then(crate::time::parse);
        of_record(record).map(|(kind, text)| Said { kind, at, text })
    };
    if let Ok(record) = serde_json::from_slice(line) {
        return Some(one(&record).into_iter().collect());
    }
    match OddLine::of(line, openings) {
        OddLine::Mended(line) => {
            Some(one(&serde_json::from_str(&line).ok()?).into_iter().collect())
        }
        OddLine::Records { records, .. } => {
            let records =
                records.into_iter().filter_map(|record| read_line(&line[record], openings));
            Some(records.flatten().collect())
        }
        OddLine::Unreadable => None,
    }
}

fn of_record(item: &Value) -> Option<(SaidKind, String)> {
    let (kind, text) = match item.get("payload") {
        Some(payload) => rollout(item["type"].as_str()?, payload)?,
        None if item["message"].is_object() => transcript(item)?,
        None => (spoken_by(item)?, texts(item)),
    };
    let is_rawrs = text.trim_end().lines().last().is_some_and(|line| line.starts_with(MARK));
    let is_hosts = FRAGMENTS.iter().any(|fragment| text.trim_start().starts_with(fragment));
    let is_relevant = !(is_rawrs || is_hosts && kind == SaidKind::UserMessage);
    is_relevant.then_some((kind, text))
}

/// Codex writes every message twice, raw and for display. The raw one counts.
fn rollout(line: &str, payload: &Value) -> Option<(SaidKind, String)> {
    match (line, payload["type"].as_str()) {
        ("compacted", _) => Some((SaidKind::Summary, payload["message"].as_str()?.to_owned())),
        ("response_item", Some(kind)) => {
            let kind = match kind {
                "message" => spoken_by(payload)?,
                "reasoning" => SaidKind::AgentMessage,
                kind if kind.ends_with("_output") => SaidKind::ToolOutput,
                kind if kind.ends_with("_call") => SaidKind::ToolCall,
                _ => return None,
            };
            Some((kind, texts(payload)))
        }
        _ => None,
    }
}

/// A line of Claude Code: who speaks, and the message as the API has it. Of the message only its content was said, and
/// thoughts are signed.
fn transcript(line: &Value) -> Option<(SaidKind, String)> {
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
        _ if is("isCompactSummary") => SaidKind::Summary,
        SaidKind::UserMessage if all("tool_result") => SaidKind::ToolOutput,
        SaidKind::AgentMessage if all("tool_use") => SaidKind::ToolCall,
        kind => kind,
    };
    let mut found = String::new();
    collect(content, &mut found);
    Some((kind, found))
}

fn spoken_by(item: &Value) -> Option<SaidKind> {
    let who = ["role", "kind", "type"].into_iter().find_map(|field| item[field].as_str())?;
    match who {
        "user" => Some(SaidKind::UserMessage),
        "assistant" => Some(SaidKind::AgentMessage),
        "summary" => Some(SaidKind::Summary),
        "tool" | "result" => Some(SaidKind::ToolOutput),
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
        let found = of_record(line).map(|(kind, text)| format!("{kind:?}: {text}"));
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
