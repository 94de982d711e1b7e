//! Reads a thread's turns from its rollout file: the messages of each turn and how it ended.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::{RolloutEvent, RolloutLine};
use crate::host::record::{HostTurnRecord, RecordedCompaction, RecordedMessage};

/// The time in the id of a turn or message: the first 48 bits are Unix milliseconds.
pub(in crate::host::codex) fn named_at_ms(name: &str) -> Option<i64> {
    let name = name.strip_prefix("msg_").unwrap_or(name);
    let digits: String = name.chars().filter(|digit| *digit != '-').take(12).collect();
    i64::from_str_radix(&digits, 16).ok()
}

/// All turns, oldest first. An unreadable file has none.
pub(in crate::host::codex) fn past(path: &Path) -> Vec<HostTurnRecord> {
    let mut turns = Vec::new();
    if let Ok(file) = File::open(path) {
        let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
        lines.for_each(|line| read(&line, &mut turns));
    }
    turns
}

/// Codex's kind of a text that a client sent.
const USERS: &str = "user.text";

/// Only lines with one of these are parsed; most other lines are long.
const WORDS: [&str; 5] =
    ["\"token_count\"", "\"task_started\"", "\"task_complete\"", "\"compacted\"", "\"user\""];

fn read(line: &[u8], turns: &mut Vec<HostTurnRecord>) {
    let Ok(line) = std::str::from_utf8(line) else { return };
    if !WORDS.iter().any(|word| line.contains(word)) {
        return;
    }
    let Ok(line) = serde_json::from_str(line) else { return };
    if let RolloutLine::EventMsg(RolloutEvent::TaskStarted { turn_id, .. }) = line {
        let began_at_ms = named_at_ms(&turn_id);
        turns.push(HostTurnRecord { turn_id, began_at_ms, ..HostTurnRecord::default() });
        return;
    }
    // The usage of the earlier turns is the size before a compaction.
    let before = turns.iter().rev().skip(1).find_map(|turn| turn.used);
    let Some(turn) = turns.last_mut() else { return };
    match line {
        RolloutLine::ResponseItem(said) if said.role == "user" => {
            let (at_ms, kinds) = (named_at_ms(&said.id), said.about.content_item_kinds);
            // Each part of a message is a separate entry.
            turn.sent.extend(said.content.into_iter().enumerate().map(|(at, part)| {
                RecordedMessage {
                    text: part.text,
                    at_ms,
                    is_users: kinds.get(at).is_some_and(|kind| kind == USERS),
                }
            }));
        }
        RolloutLine::EventMsg(RolloutEvent::TokenCount { info: Some(info) }) => {
            let tokens = info.last_token_usage;
            match &mut turn.compacted {
                None => turn.used = Some(tokens.total_tokens),
                // The estimate of the new history is reported without input tokens.
                Some(compacted) => {
                    if compacted.after.is_none() && tokens.input_tokens == Some(0) {
                        compacted.after = Some(tokens.total_tokens);
                    }
                    turn.used = Some(tokens.total_tokens);
                }
            }
        }
        RolloutLine::EventMsg(RolloutEvent::TaskComplete { turn_id, last_agent_message })
            if turn_id == turn.turn_id =>
        {
            turn.has_ended = true;
            turn.last_agent_message = last_agent_message;
        }
        RolloutLine::Compacted(_) => {
            turn.compacted = Some(RecordedCompaction { before: before.or(turn.used), after: None });
        }
        RolloutLine::EventMsg(_)
        | RolloutLine::ResponseItem(_)
        | RolloutLine::SessionMeta { .. }
        | RolloutLine::Other => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads sample files in both of Codex's formats.
    #[test]
    fn turns_are_read_from_both_formats() {
        for name in ["legacy", "paginated"] {
            let samples =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples/rollouts");
            let turns = past(&samples.join(format!("{name}.jsonl")));
            let asked = turns.iter().find(|turn| {
                turn.sent
                    .iter()
                    .any(|sent| sent.text.contains("Reply with one continuation packet"))
            });
            let asked = asked.unwrap_or_else(|| panic!("{name}: {turns:?}"));
            assert!(asked.has_ended, "{name}");
            let said = asked.last_agent_message.as_deref().unwrap_or_default();
            assert!(said.starts_with("<continuation_packet>"), "{name}: {said}");
            let compacted = turns.iter().find(|turn| turn.compacted.is_some());
            let compacted = compacted.unwrap_or_else(|| panic!("{name}: {turns:?}"));
            assert!(compacted.began_at_ms > asked.began_at_ms, "{name}");
            let first = turns[0].sent.iter().map(|sent| (sent.is_users, sent.text.as_str()));
            let first: Vec<_> = first.collect();
            assert!(
                matches!(first[..], [(false, _), (true, "DO-WORK please")]),
                "{name}: {first:?}"
            );
            let later =
                |turn: &HostTurnRecord| turn.sent.iter().all(|sent| sent.at_ms > turn.began_at_ms);
            assert!(turns.iter().all(later), "{name}: {turns:?}");
            assert!(compacted.compacted.as_ref().is_some_and(|it| it.before.is_some()), "{name}");
        }
    }
}
