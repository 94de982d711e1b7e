//! Reads a conversation's turns from Claude Code's transcript, for a driver that continues the work of an earlier one.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use rawr_protocol::read_json;
use serde::Deserialize;
use serde_json::Value;

use super::{ClaudeBlock, ClaudeMessage};
use crate::host::record::{HostTurnRecord, RecordedCompaction, RecordedMessage};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TranscriptRow {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    uuid: Option<String>,
    timestamp: Option<String>,
    /// Who wrote a message that started a turn. Claude Code on a terminal writes it.
    origin: Option<PromptOrigin>,
    /// `sdk` for a message that started a turn of `claude -p`.
    prompt_source: Option<String>,
    message: Option<ClaudeMessage>,
    #[serde(default)]
    compact_metadata: CompactMetadata,
    #[serde(default)]
    attachment: Attachment,
    #[serde(default)]
    is_sidechain: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PromptOrigin {
    kind: String,
    /// The plugin submitted what the user had typed.
    as_user: bool,
}

impl PromptOrigin {
    fn is_users(&self) -> bool {
        self.kind != "plugin" || self.as_user
    }
}

impl TranscriptRow {
    /// Whether this message was sent by the program that runs `claude -p`.
    fn is_sdks(&self) -> bool {
        self.origin.is_none() && self.prompt_source.as_deref() == Some("sdk")
    }

    fn starts_turn(&self) -> bool {
        self.origin.is_some() || self.is_sdks()
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CompactMetadata {
    pre_tokens: Option<u64>,
    post_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attachment {
    #[serde(rename = "type")]
    kind: String,
    content: Value,
}

/// Only rows with one of these are parsed; most other rows are long.
const WORDS: [&str; 5] = [
    "\"type\":\"user\"",
    "\"type\":\"assistant\"",
    "\"compact_boundary\"",
    "\"turn_duration\"",
    "\"plugin_note\"",
];

/// All turns, oldest first. An unreadable file has none.
pub(in crate::host) fn past(path: &Path) -> Vec<HostTurnRecord> {
    let mut turns = Vec::new();
    if let Ok(file) = File::open(path) {
        let rows = BufReader::new(file).split(b'\n').map_while(Result::ok);
        let mut is_sdks = false;
        rows.for_each(|row| read(&row, &mut turns, &mut is_sdks));
    }
    turns
}

/// Adds a row. `is_sdks` says whether `claude -p` runs the newest turn: only its end is not recorded.
fn read(row: &[u8], turns: &mut Vec<HostTurnRecord>, is_sdks: &mut bool) {
    let row = String::from_utf8_lossy(row);
    if !WORDS.iter().any(|word| row.contains(word)) {
        return;
    }
    let Ok(row) = read_json::<TranscriptRow>(row.as_bytes()) else { return };
    if row.is_sidechain {
        return;
    }
    let at_ms = row.timestamp.as_deref().and_then(at_ms);
    let turn_id = row.uuid.clone().unwrap_or_default();
    match (row.kind.as_str(), row.subtype.as_deref()) {
        ("user", _) if row.starts_turn() => {
            *is_sdks = row.is_sdks();
            if let Some(before) = turns.last_mut() {
                before.has_ended = true;
            }
            let is_users = row.origin.as_ref().is_none_or(PromptOrigin::is_users);
            let sent = texts(row.message).map(|text| RecordedMessage { text, at_ms, is_users });
            let sent = sent.collect();
            turns.push(HostTurnRecord { turn_id, began_at_ms: at_ms, sent, ..Default::default() });
        }
        ("assistant", _) => {
            let Some(turn) = turns.last_mut() else { return };
            turn.has_ended |=
                *is_sdks && row.message.as_ref().is_some_and(ClaudeMessage::ends_turn);
            if let Some(said) = texts(row.message).last() {
                turn.last_agent_message = Some(said);
            }
        }
        ("attachment", _) if row.attachment.kind == "plugin_note" => {
            let Value::Array(notes) = row.attachment.content else { return };
            if let Some(turn) = turns.last_mut() {
                turn.sent.extend(
                    notes.iter().filter_map(Value::as_str).map(|text| RecordedMessage {
                        text: text.to_owned(),
                        at_ms,
                        is_users: false,
                    }),
                );
            }
        }
        ("system", Some("turn_duration")) => {
            if let Some(turn) = turns.last_mut() {
                turn.has_ended = true;
            }
        }
        ("system", Some("compact_boundary")) => {
            let CompactMetadata { pre_tokens: before, post_tokens: after } = row.compact_metadata;
            turns.push(HostTurnRecord {
                turn_id,
                began_at_ms: at_ms,
                has_ended: true,
                compacted: Some(RecordedCompaction { before, after }),
                ..Default::default()
            });
        }
        _ => {}
    }
}

fn at_ms(timestamp: &str) -> Option<i64> {
    timestamp.parse().ok().map(jiff::Timestamp::as_millisecond)
}

fn texts(message: Option<ClaudeMessage>) -> impl Iterator<Item = String> {
    let blocks = message.map(ClaudeMessage::into_blocks).unwrap_or_default();
    blocks.into_iter().filter_map(|block| match block {
        ClaudeBlock::Text { text } => Some(text),
        ClaudeBlock::ToolUse { .. } | ClaudeBlock::ToolResult { .. } | ClaudeBlock::Unknown => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn short(sent: &RecordedMessage) -> String {
        let by = if sent.is_users { "user" } else { "rawr" };
        format!("{by}: {}", sent.text.lines().nth(1).unwrap_or(&sent.text))
    }

    /// Reads a transcript of a session with a note and a prompt of the plugin, two compactions and a message of the user.
    #[test]
    fn turns_are_read_from_a_transcript() {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples");
        let turns = past(&samples.join("claude-mod-session.jsonl"));
        let told: Vec<_> = turns
            .iter()
            .map(|turn| {
                let sent: Vec<_> = turn.sent.iter().map(short).collect();
                let said = turn.last_agent_message.as_deref().unwrap_or("-");
                let compacted = turn.compacted.as_ref().map(|it| (it.before, it.after));
                format!("{sent:?} {said} {} {compacted:?}", turn.has_ended)
            })
            .collect();
        expect_test::expect![[r#"
            ["user: DO-WORK please"] Done: committed. true None
            ["user: NEXT-STEP bare message", "rawr: [rawr] HANDOFF row"] Step 2 done. true None
            [] - true Some((Some(23020), Some(2936)))
            ["rawr: [rawr] This thread was just compacted. framed"] Understood; continuing. true None
            [] - true Some((Some(22020), Some(4)))"#]]
        .assert_eq(&told.join("\n"));
        assert!(turns.windows(2).all(|pair| pair[0].began_at_ms < pair[1].began_at_ms));
    }

    /// `claude -p` records who sent a message, and not when its turn ended.
    #[test]
    fn turns_of_a_program_end_with_the_agents_last_message() {
        let row = |source: &str, text: &str| {
            let message = json!({"role": "user", "content": [{"type": "text", "text": text}]});
            json!({"type": "user", "promptSource": source, "uuid": text, "message": message})
        };
        let said = |text: &str, stop_reason: &str| {
            let content = json!([{"type": "text", "text": text}]);
            json!({"type": "assistant", "message": {"content": content, "stop_reason": stop_reason}})
        };
        let rows = [
            row("sdk", "task"),
            said("I begin.", "tool_use"),
            said("Done.", "end_turn"),
            // What Claude Code writes in the user's name.
            row("", "<command-name>/compact</command-name>"),
            row("sdk", "next"),
            said("I begin.", "tool_use"),
            row("", "[Request interrupted by user]"),
        ];
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), rows.map(|row| format!("{row}\n")).concat()).unwrap();
        let turns: Vec<_> = past(file.path())
            .iter()
            .map(|turn| format!("{} {}", turn.sent[0].text, turn.has_ended))
            .collect();
        assert_eq!(turns, ["task true", "next false"]);
    }
}
