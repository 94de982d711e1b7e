//! Finds a conversation's turns, for a driver that took over from a dead one.

use std::path::Path;

use super::message::CarriedOutOrder;
use crate::host::claude::past_turns;
use crate::host::record::{HostTurnRecord, RecordedCompaction, RecordedMessage};

/// The turns of the transcript and those that the plugin started, oldest first. `is_running` says whether a turn runs now.
pub(super) fn known(
    path: &Path,
    carried_out: Vec<CarriedOutOrder>,
    is_running: bool,
) -> Vec<HostTurnRecord> {
    let mut turns = past_turns(path);
    turns.extend(carried_out.into_iter().map(|order| {
        let CarriedOutOrder { at_ms, text, tokens_after: after } = order;
        let at_ms = Some(at_ms);
        let compaction = RecordedCompaction { before: None, after };
        HostTurnRecord {
            turn_id: "carried out".to_owned(),
            began_at_ms: at_ms,
            has_ended: text.is_none() || !is_running,
            compacted: text.is_none().then_some(compaction),
            sent: text
                .map(|text| RecordedMessage { text, at_ms, is_users: true })
                .into_iter()
                .collect(),
            ..HostTurnRecord::default()
        }
    }));
    turns.sort_by_key(|turn| turn.began_at_ms);
    turns
}

<<<<<<< HEAD
/// Whether the user has sent this message since then (Unix milliseconds).
pub(super) fn has_message(path: &Path, message: &str, since_ms: Option<i64>) -> bool {
    let sent = past(path).into_iter().flat_map(|turn| turn.sent);
    sent.filter(|sent| sent.is_users && sent.at_ms >= since_ms)
        .any(|sent| sent.text.contains(message))
}

/// All turns, oldest first. An unreadable file has none.
fn past(path: &Path) -> Vec<HostTurnRecord> {
    let mut turns = Vec::new();
    if let Ok(file) = File::open(path) {
        let rows = BufReader::new(file).split(b'\n').map_while(Result::ok);
        rows.for_each(|row| read(&row, &mut turns));
    }
    turns
}

fn read(row: &[u8], turns: &mut Vec<HostTurnRecord>) {
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
        ("user", _) if row.origin.is_some() => {
            if let Some(before) = turns.last_mut() {
                before.has_ended = true;
            }
            let is_users = row.origin.as_ref().is_some_and(PromptOrigin::is_users);
            let sent = texts(row.message).map(|text| RecordedMessage { text, at_ms, is_users });
            let sent = sent.collect();
            turns.push(HostTurnRecord { turn_id, began_at_ms: at_ms, sent, ..Default::default() });
        }
        ("assistant", _) => {
            if let (Some(turn), Some(said)) = (turns.last_mut(), texts(row.message).last()) {
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

=======
>>>>>>> e02f9788 (Deliver a message held by `rawr exec --host claude` on resume)
#[cfg(test)]
mod tests {
    use super::*;

    /// Claude Code writes its transcript with a delay: what the plugin carried out counts although the file has it not.
    #[test]
    fn what_the_plugin_carried_out_is_known_before_the_transcript_has_it() {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples");
        let path = samples.join("claude-mod-session.jsonl");
        let written = past_turns(&path);
        let last = written.iter().filter_map(|turn| turn.began_at_ms).max().unwrap();
        let compaction = CarriedOutOrder { at_ms: last + 1, text: None, tokens_after: Some(9) };
        let message = CarriedOutOrder {
            at_ms: last + 2,
            text: Some("[rawr] handoff".to_owned()),
            tokens_after: None,
        };
        for (is_running, has_ended) in [(true, false), (false, true)] {
            let turns = known(&path, vec![message.clone(), compaction.clone()], is_running);
            assert_eq!(turns[..written.len()], written);
            let [compacted, sent] = &turns[written.len()..] else { panic!("{turns:?}") };
            let compaction = RecordedCompaction { before: None, after: Some(9) };
            assert_eq!(compacted.compacted, Some(compaction));
            assert!(compacted.has_ended && compacted.sent.is_empty());
            assert_eq!(sent.sent[0].text, "[rawr] handoff");
            assert_eq!((sent.compacted.is_none(), sent.has_ended), (true, has_ended));
        }
    }
}
