//! What became of an action, by the turns that a host's own record tells of. Where they come from is the host's.

use rawr_protocol::{Action, ItemRole, PendingAction, Purpose};

use super::{RecordedOutcome, is_marked};

/// A turn that has begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastTurns {
    pub turn_id: String,
    pub began_at_ms: Option<i64>,
    pub sent: Vec<Sent>,
    pub has_ended: bool,
    pub last_agent_message: Option<String>,
    pub compacted: Option<Compacted>,
    /// How full the window was after it.
    pub used: Option<u64>,
}

/// A message of a turn: one of rawr's, a person's, or something that the host put in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    pub text: String,
    /// A message that joins a turn comes after the turn's start.
    pub at_ms: Option<i64>,
    /// Not the host's own words.
    pub is_users: bool,
}

impl PastTurns {
    /// What people wrote of it.
    fn by_people(&self) -> Vec<String> {
        let by_person = |sent: &&Sent| sent.is_users && !is_marked(&sent.text);
        self.sent.iter().filter(by_person).map(|sent| sent.text.clone()).collect()
    }
}

/// How full the window was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compacted {
    pub before: Option<u64>,
    pub after: Option<u64>,
}

/// Read off all turns, oldest first.
pub fn fate(turns: &[PastTurns], asked: &PendingAction, is_idle: bool) -> RecordedOutcome {
    let is_later = |at_ms: Option<i64>| asked.issued_at_ms.is_some_and(|at| at_ms >= Some(at));
    let is_since = |turn: &&PastTurns| is_later(turn.began_at_ms);
    match &asked.action {
        Action::Compact { .. } => match turns.iter().rev().filter(is_since).find_map(compacted) {
            Some(fate) => fate,
            None if is_idle => RecordedOutcome::NotFound,
            None => RecordedOutcome::Unclear,
        },
        // A sequence hands over once, into whatever turn.
        Action::InjectTurn { purpose: Purpose::Handoff, marker, .. } => {
            turn_of(turns, marker, |_| true, is_idle)
        }
        // What is asked of an agent may be asked again, and is outdated by what it did afterwards.
        Action::InjectTurn { marker, .. } => {
            let fate = turn_of(turns, marker, |turn| is_since(&turn), is_idle);
            let is_newest = |id: &str| turns.last().is_some_and(|turn| turn.turn_id == id);
            match fate {
                RecordedOutcome::Ended { turn_id, .. } if !is_newest(&turn_id) => {
                    RecordedOutcome::NotFound
                }
                fate => fate,
            }
        }
        // With its handoff, or the message alone: that stands where it was said, however its turn ended.
        Action::DeliverInput { items, .. } => {
            let handoff = items.iter().find(|item| item.role == ItemRole::Handoff);
            let marker = handoff.and_then(|item| item.text.trim_end().lines().last());
            match marker {
                Some(marker) => turn_of(turns, marker, |_| true, is_idle),
                None => {
                    let is_said = |turn: &PastTurns, text: &str| {
                        turn.sent.iter().any(|sent| sent.text == text && is_later(sent.at_ms))
                    };
                    let says =
                        |turn: &&PastTurns| items.iter().all(|item| is_said(turn, &item.text));
                    turns.iter().find(says).map_or(RecordedOutcome::NotFound, ended)
                }
            }
        }
        // Neither leaves anything behind.
        Action::Judge { .. } | Action::SamplePacket { .. } => RecordedOutcome::NotFound,
    }
}

fn compacted(turn: &PastTurns) -> Option<RecordedOutcome> {
    let compacted = turn.compacted.as_ref()?;
    Some(RecordedOutcome::Compacted {
        turn_id: turn.turn_id.clone(),
        tokens_before: compacted.before,
        tokens_after: compacted.after,
    })
}

fn ended(turn: &PastTurns) -> RecordedOutcome {
    RecordedOutcome::Ended {
        turn_id: turn.turn_id.clone(),
        last_agent_message: turn.last_agent_message.clone(),
        by_people: turn.by_people(),
    }
}

fn turn_of(
    turns: &[PastTurns],
    marker: &str,
    fits: impl Fn(&PastTurns) -> bool,
    is_idle: bool,
) -> RecordedOutcome {
    let has_marker = |turn: &&PastTurns| turn.sent.iter().any(|sent| sent.text.contains(marker));
    let found = turns.iter().rev().filter(|turn| fits(turn)).find(has_marker);
    match found {
        Some(turn) if turn.has_ended => ended(turn),
        Some(turn) if !is_idle && turns.last() == Some(turn) => {
            RecordedOutcome::Running { turn_id: turn.turn_id.clone(), by_people: turn.by_people() }
        }
        // It broke off with the host itself.
        Some(_) | None => RecordedOutcome::NotFound,
    }
}
