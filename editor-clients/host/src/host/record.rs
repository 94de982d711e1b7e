//! Finds the outcome of an action in the turns of a host's record.

use rawr_protocol::{Action, ItemRole, PendingAction, Purpose, TurnStatus};

use rawr_records::turns::RecordedTurn;

use super::{RecordedOutcome, is_marked};

/// Finds the outcome of the action `asked` in all turns, oldest first. `is_idle` says whether the host runs no turn now.
pub fn fate(turns: &[RecordedTurn], asked: &PendingAction, is_idle: bool) -> RecordedOutcome {
    let is_later = |at_ms: Option<i64>| asked.issued_at_ms.is_some_and(|at| at_ms >= Some(at));
    let is_since = |turn: &&RecordedTurn| is_later(turn.began_at_ms);
    match &asked.action {
        Action::Compact { .. } => match turns.iter().rev().filter(is_since).find_map(compacted) {
            Some(fate) => fate,
            None if is_idle => RecordedOutcome::NotFound,
            None => RecordedOutcome::Unclear,
        },
        // A sequence delivers one handoff, in any turn.
        Action::InjectTurn { purpose: Purpose::Handoff | Purpose::Notice, marker, .. } => {
            turn_of(turns, marker, |_| true, is_idle)
        }
        // A request to the agent may be repeated, and is outdated once the agent has done other work.
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
        // With its handoff, or the message alone: delivered if it is in the conversation, however its turn ended.
        Action::DeliverInput { items, .. } => {
            let ours = items.iter().find(|item| item.role != ItemRole::Input);
            let marker = ours.and_then(|item| item.text.trim_end().lines().last());
            match marker {
                Some(marker) => {
                    let found = turns.iter().rev().find(has(marker));
                    found.map_or(RecordedOutcome::NotFound, |turn| {
                        outcome(turns, turn, is_idle).unwrap_or_else(|| ended(turn))
                    })
                }
                None => {
                    let is_said = |turn: &RecordedTurn, text: &str| {
                        turn.sent.iter().any(|sent| sent.text == text && is_later(sent.at_ms))
                    };
                    let says =
                        |turn: &&RecordedTurn| items.iter().all(|item| is_said(turn, &item.text));
                    turns.iter().find(says).map_or(RecordedOutcome::NotFound, ended)
                }
            }
        }
        // These leave no record.
        Action::Judge { .. } | Action::SamplePacket { .. } => RecordedOutcome::NotFound,
    }
}

fn compacted(turn: &RecordedTurn) -> Option<RecordedOutcome> {
    let compacted = turn.compacted.as_ref()?;
    Some(RecordedOutcome::Compacted {
        turn_id: turn.turn_id.clone(),
        tokens_before: compacted.before,
        tokens_after: compacted.after,
    })
}

fn ended(turn: &RecordedTurn) -> RecordedOutcome {
    RecordedOutcome::Ended {
        turn_id: turn.turn_id.clone(),
        status: TurnStatus::Completed,
        last_agent_message: turn.last_agent_message.clone(),
        by_people: by_people(turn),
    }
}

/// The messages that users wrote.
fn by_people(turn: &RecordedTurn) -> Vec<String> {
    let by_person = turn.sent.iter().filter(|sent| sent.is_users && !is_marked(&sent.text));
    by_person.map(|sent| sent.text.clone()).collect()
}

fn has(marker: &str) -> impl Fn(&&RecordedTurn) -> bool {
    move |turn| turn.sent.iter().any(|sent| sent.text.contains(marker))
}

fn turn_of(
    turns: &[RecordedTurn],
    marker: &str,
    fits: impl Fn(&RecordedTurn) -> bool,
    is_idle: bool,
) -> RecordedOutcome {
    let mut fitting = turns.iter().rev().filter(|turn| fits(turn));
    let found = fitting.find(has(marker)).and_then(|turn| outcome(turns, turn, is_idle));
    found.unwrap_or(RecordedOutcome::NotFound)
}

/// `None` for a turn that ended together with the host.
fn outcome(turns: &[RecordedTurn], turn: &RecordedTurn, is_idle: bool) -> Option<RecordedOutcome> {
    if turn.has_ended {
        return Some(ended(turn));
    }
    let runs = !is_idle && turns.last() == Some(turn);
    let (turn_id, by_people) = (turn.turn_id.clone(), by_people(turn));
    runs.then_some(RecordedOutcome::Running { turn_id, by_people })
}
