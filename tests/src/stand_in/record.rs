//! The fake host's record of turns and messages, which does not contain action ids.

use rawr_protocol::{Action, InputItem, PendingAction, Purpose};
use std::time::{SystemTime, UNIX_EPOCH};

/// The fake host's turns, oldest first.
#[derive(Debug, Default)]
pub(super) struct TurnRecord(Vec<FakeTurn>);

#[derive(Debug)]
struct FakeTurn {
    id: String,
    began_at_ms: i64,
    sent: Vec<String>,
    compacts: bool,
}

/// What an action led to.
#[derive(Debug)]
pub(super) struct Did {
    pub(super) turn: String,
}

impl TurnRecord {
    pub(super) fn took(&mut self, turn: &str, sent: &[&str]) {
        let sent = sent.iter().map(|&text| text.to_owned()).collect();
        self.0.push(FakeTurn { id: turn.to_owned(), began_at_ms: now_ms(), sent, compacts: false });
    }

    pub(super) fn compacted(&mut self, turn: &str) {
        let (id, began_at_ms) = (turn.to_owned(), now_ms());
        self.0.push(FakeTurn { id, began_at_ms, sent: Vec::new(), compacts: true });
    }

    /// Finds the outcome of an action. A handoff happens once; a request may be repeated; a compaction is found by time.
    pub(super) fn became_of(&self, pending: &PendingAction) -> Option<Did> {
        let is_since =
            |turn: &&FakeTurn| pending.issued_at_ms.is_some_and(|at| turn.began_at_ms >= at);
        let bears =
            |turn: &&FakeTurn, marker: &str| turn.sent.iter().any(|text| text.contains(marker));
        let mut turns = self.0.iter().rev();
        let turn = match &pending.action {
            Action::Compact { .. } => turns.find(|turn| turn.compacts && is_since(turn)),
            Action::InjectTurn { purpose: Purpose::Handoff | Purpose::Notice, marker, .. } => {
                turns.find(|turn| bears(turn, marker))
            }
            Action::InjectTurn { marker, .. } => {
                turns.find(|turn| bears(turn, marker) && is_since(turn))
            }
            Action::DeliverInput { .. } | Action::Judge { .. } | Action::SamplePacket { .. } => {
                None
            }
        };
        turn.map(|turn| Did { turn: turn.id.clone() })
    }

    pub(super) fn has_said(&self, item: &InputItem) -> bool {
        self.0.iter().any(|turn| turn.sent.contains(&item.text))
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or_default()
}
