//! Turns that ended before their thread was joined, although rawr stood there when they began: a quick model ends its first one
//! in less time than Codex takes to store the thread. They are read off Codex's own record and heard as if they happened now.

use serde_json::{Value, json};

use super::Codex;
use super::message::{Item, Status, words};
use super::rollout::{Stored, StoredTurn, named_at_ms};
use crate::host::{HostError, HostEvent, is_marked};

/// The newest of them. What the arbiter has been told of these before, by a driver that is gone, it knows.
const MOST: usize = 16;

impl Codex {
    pub(super) async fn tell_of_missed(
        &mut self,
        stored: &Stored,
        status: Status,
        since_ms: i64,
    ) -> Result<(), HostError> {
        let began_since = |turn: &&StoredTurn| named_at_ms(&turn.id) >= Some(since_ms);
        let runs = usize::from(status == Status::Active);
        let ended = stored.turns.iter().rev().skip(runs).take(MOST);
        let missed: Vec<_> = ended.filter(began_since).collect();
        if missed.is_empty() {
            return Ok(());
        }
        let params = json!({"threadId": self.thread_id(), "includeTurns": true});
        let turns = match self.connection.ask("thread/read", params).await? {
            Ok(mut read) => read["thread"]["turns"].take(),
            Err(refusal) => {
                let notice = format!(
                    "codex does not tell of the turns before rawr came: {}",
                    refusal.message
                );
                self.events.push_back(HostEvent::Notice(notice));
                return Ok(());
            }
        };
        for turn in missed.into_iter().rev() {
            let of_id = |told: &&Value| told["id"] == turn.id.as_str();
            if let Some(told) = turns.as_array().and_then(|turns| turns.iter().find(of_id)) {
                self.hear_of(turn, told);
            }
        }
        Ok(())
    }

    /// The notes that Codex sent then. One of rawr's own turns is looked for by what it was asked for.
    fn hear_of(&mut self, turn: &StoredTurn, told: &Value) {
        let items = told["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        if told["status"] == "inProgress" || items.iter().any(is_of_rawr) {
            return;
        }
        let thread_id = self.thread_id().to_owned();
        let of_turn = json!({"threadId": thread_id, "turn": told});
        self.take_note("turn/started", of_turn.clone());
        for item in items {
            let of_item = json!({"threadId": thread_id, "turnId": turn.id, "item": item});
            self.take_note("item/started", of_item.clone());
            self.take_note("item/completed", of_item);
        }
        self.events.extend(turn.last.clone().map(HostEvent::from));
        self.take_note("turn/completed", of_turn);
    }
}

fn is_of_rawr(item: &Value) -> bool {
    let item = serde_json::from_value(item.clone());
    matches!(item, Ok(Item::UserMessage { content, .. }) if is_marked(&words(&content)))
}
