//! Turns that started while rawr was attached but ended before their thread could be joined: a fast model ends its first turn
//! before Codex stores the thread. They are read from Codex's record and reported as if they happened now.

use rawr_records::turns::RecordedTurn;
use serde_json::{Value, json};

use super::attach::usage;
use super::message::{CodexItem, CodexThreadStatus, words};
use super::{Codex, requests};
use crate::host::{HostError, HostEvent, is_marked};

/// The largest number of turns to report, newest first. The sidecar ignores turns that an earlier driver reported.
const MOST: usize = 16;

/// Which turns of a thread to report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedTurns {
    /// Those that began since this time, in Unix milliseconds,
    pub since_ms: i64,
    /// and after this turn, whose end was reported. Ids of turns grow with time.
    pub after: Option<String>,
}

impl MissedTurns {
    pub(super) const NONE: Self = Self { since_ms: i64::MAX, after: None };

    fn has(&self, turn: &RecordedTurn) -> bool {
        let is_reported = self.after.as_ref().is_some_and(|after| turn.turn_id <= *after);
        turn.began_at_ms >= Some(self.since_ms) && !is_reported
    }
}

impl Codex {
    pub(super) async fn tell_of_missed(
        &mut self,
        recorded: &[RecordedTurn],
        status: CodexThreadStatus,
        missed: &MissedTurns,
    ) -> Result<(), HostError> {
        let runs = usize::from(status == CodexThreadStatus::Active);
        let ended = recorded.iter().rev().skip(runs).take(MOST);
        let missed: Vec<_> = ended.filter(|turn| missed.has(turn)).collect();
        if missed.is_empty() {
            return Ok(());
        }
        let read = requests::thread_read_with_turns(self.thread_id());
        let turns = match self.connection.ask(read).await? {
            Ok(mut read) => read["thread"]["turns"].take(),
            Err(refusal) => {
                let notice = format!(
                    "failed to read the turns from before rawr joined: {}",
                    refusal.message
                );
                self.events.push_back(HostEvent::Notice(notice));
                return Ok(());
            }
        };
        let others = std::mem::take(&mut self.events);
        for turn in missed.into_iter().rev() {
            let of_id = |told: &&Value| told["id"] == turn.turn_id.as_str();
            if let Some(told) = turns.as_array().and_then(|turns| turns.iter().find(of_id)) {
                self.hear_of(turn, told);
            }
        }
        self.missed = std::mem::replace(&mut self.events, others);
        Ok(())
    }

    /// Replays the notifications of one turn. A turn of rawr is skipped, because its action is looked up in the record.
    fn hear_of(&mut self, turn: &RecordedTurn, told: &Value) {
        let items = told["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        if told["status"] == "inProgress" || items.iter().any(is_of_rawr) {
            return;
        }
        let thread_id = self.thread_id().to_owned();
        let of_turn = json!({"threadId": thread_id, "turn": told});
        self.take_note("turn/started", of_turn.clone());
        for item in items {
            let of_item = json!({"threadId": thread_id, "turnId": turn.turn_id, "item": item});
            self.take_note("item/started", of_item.clone());
            self.take_note("item/completed", of_item);
        }
        self.events.extend(turn.last.as_ref().map(|last| usage(turn, last)));
        self.take_note("turn/completed", of_turn);
    }
}

fn is_of_rawr(item: &Value) -> bool {
    let item = serde_json::from_value(item.clone());
    matches!(item, Ok(CodexItem::UserMessage { content, .. }) if is_marked(&words(&content)))
}
