//! Reads a thread's turns and last usage from its rollout file, the JSON Lines file that Codex keeps of a thread.

mod line;
mod past;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use rawr_protocol::{TokenUsage, read_json};

pub use self::line::{RolloutEvent, RolloutItem, RolloutLine, RolloutMessage};
pub(super) use self::past::{named_at_ms, past};

/// The usage of a sampling request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LastUsage {
    pub(super) turn_id: String,
    pub(super) usage: TokenUsage,
    pub(super) context_window: Option<u64>,
}

/// A thread as stored in its file.
#[derive(Debug, Default)]
pub(super) struct StoredThread {
    /// All turns, oldest first.
    pub(super) turns: Vec<StoredTurn>,
    /// Whether the last turn has not ended. If Codex is active, it runs this turn.
    is_open: bool,
    /// The last usage. `None` if there is none, or if the history was rewritten since.
    pub(super) last: Option<LastUsage>,
}

/// A stored turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredTurn {
    pub(super) id: String,
    /// The turn's last usage. `None` if the history was rewritten since.
    pub(super) last: Option<LastUsage>,
}

/// Reads a rollout file. An unreadable file has no turns.
pub(super) fn stored(path: &Path) -> StoredThread {
    let mut stored = StoredThread::default();
    if let Ok(file) = File::open(path) {
        let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
        lines.for_each(|line| stored.line(&line));
    }
    stored
}

/// Only lines with one of these are parsed; most other lines are long.
const WORDS: [&str; 5] = [
    "\"token_count\"",
    "\"task_started\"",
    "\"task_complete\"",
    "\"turn_aborted\"",
    "\"compacted\"",
];

impl StoredThread {
    pub(super) fn open_turn(&self) -> Option<String> {
        self.turns.last().filter(|_| self.is_open).map(|turn| turn.id.clone())
    }

    fn used(&mut self, last: Option<LastUsage>) {
        self.last.clone_from(&last);
        if let Some(turn) = self.turns.last_mut() {
            turn.last = last;
        }
    }

    fn line(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        if !WORDS.iter().any(|word| line.contains(word)) {
            return;
        }
        match read_json(line.as_bytes()) {
            Ok(RolloutLine::EventMsg(RolloutEvent::TaskStarted { turn_id, .. })) => {
                self.turns.push(StoredTurn { id: turn_id, last: None });
                self.is_open = true;
            }
            Ok(RolloutLine::EventMsg(RolloutEvent::TaskComplete { turn_id, .. })) => {
                self.is_open &= self.turns.last().is_some_and(|last| last.id != turn_id);
            }
            Ok(RolloutLine::EventMsg(RolloutEvent::TurnAborted {})) => self.is_open = false,
            Ok(RolloutLine::EventMsg(RolloutEvent::TokenCount { info: Some(info) })) => {
                let turn_id = self.turns.last().map(|turn| turn.id.clone()).unwrap_or_default();
                self.used(Some(LastUsage {
                    turn_id,
                    usage: info.last_token_usage.into(),
                    context_window: info.model_context_window,
                }));
            }
            // Earlier usage in the same turn is that of the summary's own request.
            Ok(RolloutLine::Compacted(_)) => self.used(None),
            Ok(
                RolloutLine::SessionMeta { .. }
                | RolloutLine::EventMsg(_)
                | RolloutLine::ResponseItem(_)
                | RolloutLine::Other,
            )
            | Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(lines: &[Value], expected: Option<(&str, u64)>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(file.path(), text + "{\"type\":\"event_msg\",\"payl").unwrap();
        let stored = stored(file.path());
        let last =
            stored.last.as_ref().map(|last| (last.turn_id.as_str(), last.usage.context_tokens));
        assert_eq!(last, expected);
        let started = lines.iter().filter(|line| line["payload"]["type"] == "task_started");
        assert_eq!(stored.turns.len(), started.count());
    }

    fn event(payload: Value) -> Value {
        json!({"timestamp": "", "type": "event_msg", "payload": payload})
    }

    fn started(turn: &str) -> Value {
        event(json!({"type": "task_started", "turn_id": turn, "model_context_window": 190_000}))
    }

    fn count(tokens: u64) -> Value {
        event(json!({"type": "token_count", "info": {
            "total_token_usage": {"total_tokens": 900_000},
            "last_token_usage": {"total_tokens": tokens, "input_tokens": tokens},
            "model_context_window": 190_000,
        }}))
    }

    #[test]
    fn the_last_turn_is_open_until_its_end_is_in_the_file() {
        let check = |lines: &[Value], expected: Option<&str>| {
            let mut stored = StoredThread::default();
            lines.iter().for_each(|line| stored.line(line.to_string().as_bytes()));
            assert_eq!(stored.open_turn().as_deref(), expected);
        };
        let over = |turn| event(json!({"type": "task_complete", "turn_id": turn}));
        let aborted = || event(json!({"type": "turn_aborted", "reason": "interrupted"}));
        check(&[], None);
        check(&[started("t1"), over("t1"), started("t2"), count(9)], Some("t2"));
        check(&[started("t1"), started("t2"), over("t1")], Some("t2"));
        check(&[started("t1"), started("t2"), over("t2")], None);
        check(&[started("t1"), aborted()], None);
    }

    fn compacted() -> Value {
        json!({"timestamp": "", "type": "compacted", "payload": {"message": "\"token_count\""}})
    }

    #[test]
    fn the_last_usage_wins() {
        check(&[], None);
        check(&[started("a"), count(10), started("b"), count(20), count(30)], Some(("b", 30)));
        let empty = event(json!({"type": "token_count", "info": null}));
        check(&[started("a"), count(10), empty], Some(("a", 10)));
    }

    #[test]
    fn the_usage_of_a_compaction_is_ignored() {
        let before = [started("a"), count(10), started("c"), count(10), count(12), compacted()];
        check(&before, None);
        check(&[&before[..], &[count(4)]].concat(), Some(("c", 4)));
    }

    /// Codex writes a compaction only with its summary, so the file cannot tell a running compaction from a turn.
    #[test]
    fn a_running_or_failed_compaction_keeps_the_earlier_usage() {
        check(&[started("a"), count(10), started("c")], Some(("a", 10)));
        check(&[started("a"), count(10), started("c"), count(10)], Some(("c", 10)));
    }

    #[test]
    fn the_usage_after_a_compaction_inside_a_turn_counts() {
        let lines = [started("a"), count(10), count(12), compacted(), count(4), count(7)];
        for (until, left) in [(4, None), (5, Some(("a", 4))), (6, Some(("a", 7)))] {
            check(&lines[..until], left);
        }
    }

    #[test]
    fn a_missing_file_has_no_turns() {
        let stored = stored(Path::new("/no/such/rollout.jsonl"));
        assert_eq!((stored.turns.len(), stored.last), (0, None));
    }
}
