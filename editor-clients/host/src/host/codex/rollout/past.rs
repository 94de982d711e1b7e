//! The turns of a thread as its file tells them: what each was sent, and how it ended. Reads one file, and changes nothing.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::{Event, RolloutLine};
use crate::host::record::{Compacted, PastTurns, Sent};

/// Turns and messages are named by time: the first 48 bits of the name are milliseconds.
pub(in crate::host::codex) fn named_at_ms(name: &str) -> Option<i64> {
    let name = name.strip_prefix("msg_").unwrap_or(name);
    let digits: String = name.chars().filter(|digit| *digit != '-').take(12).collect();
    i64::from_str_radix(&digits, 16).ok()
}

/// All of them, oldest first. A file that cannot be read tells of none.
pub(in crate::host::codex) fn past(path: &Path) -> Vec<PastTurns> {
    let mut turns = Vec::new();
    if let Ok(file) = File::open(path) {
        let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
        lines.for_each(|line| read(&line, &mut turns));
    }
    turns
}

/// How Codex calls a text that it was sent.
const USERS: &str = "user.text";

/// Most lines are long and none of these.
const WORDS: [&str; 5] =
    ["\"token_count\"", "\"task_started\"", "\"task_complete\"", "\"compacted\"", "\"user\""];

fn read(line: &[u8], turns: &mut Vec<PastTurns>) {
    let Ok(line) = std::str::from_utf8(line) else { return };
    if !WORDS.iter().any(|word| line.contains(word)) {
        return;
    }
    let Ok(line) = serde_json::from_str(line) else { return };
    if let RolloutLine::EventMsg(Event::TaskStarted { turn_id, .. }) = line {
        let began_at_ms = named_at_ms(&turn_id);
        turns.push(PastTurns { turn_id, began_at_ms, ..PastTurns::default() });
        return;
    }
    // What the turns before it left is what a compaction found.
    let before = turns.iter().rev().skip(1).find_map(|turn| turn.used);
    let Some(turn) = turns.last_mut() else { return };
    match line {
        RolloutLine::ResponseItem(said) if said.role == "user" => {
            let (at_ms, kinds) = (named_at_ms(&said.id), said.about.content_item_kinds);
            // What is said together stays apart.
            turn.sent.extend(said.content.into_iter().enumerate().map(|(at, part)| Sent {
                text: part.text,
                at_ms,
                is_users: kinds.get(at).is_some_and(|kind| kind == USERS),
            }));
        }
        RolloutLine::EventMsg(Event::TokenCount { info: Some(info) }) => {
            let tokens = info.last_token_usage;
            match &mut turn.compacted {
                None => turn.used = Some(tokens.total_tokens),
                // An estimate of the new history is told without input.
                Some(compacted) => {
                    if compacted.after.is_none() && tokens.input_tokens == Some(0) {
                        compacted.after = Some(tokens.total_tokens);
                    }
                    turn.used = Some(tokens.total_tokens);
                }
            }
        }
        RolloutLine::EventMsg(Event::TaskComplete { turn_id, last_agent_message })
            if turn_id == turn.turn_id =>
        {
            turn.has_ended = true;
            turn.last_agent_message = last_agent_message;
        }
        RolloutLine::Compacted(_) => {
            turn.compacted = Some(Compacted { before: before.or(turn.used), after: None });
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

    /// As Codex has written them, in both of its ways.
    #[test]
    fn what_each_turn_was_sent_and_came_to_is_read_off_the_file() {
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
                |turn: &PastTurns| turn.sent.iter().all(|sent| sent.at_ms > turn.began_at_ms);
            assert!(turns.iter().all(later), "{name}: {turns:?}");
            assert!(compacted.compacted.as_ref().is_some_and(|it| it.before.is_some()), "{name}");
        }
    }
}
