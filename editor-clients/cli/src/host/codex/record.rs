//! What became of something that Codex was asked for, read off its own record: a driver that has died cannot say.

use rawr_protocol::{Action, ItemRole, PendingAction, Purpose};

use super::Codex;
use super::rollout::{Past, past};
use crate::host::{Fate, HostError};

impl Codex {
    pub(super) async fn look_up(&mut self, asked: &PendingAction) -> Result<Fate, HostError> {
        self.ready()?;
        let is_idle = self.is_idle().await?;
        let Some(path) = self.thread.transcript.clone() else { return Ok(Fate::Nothing) };
        let Ok(turns) = tokio::task::spawn_blocking(move || past(&path)).await else {
            return Ok(Fate::Nothing);
        };
        let fate = fate(&turns, asked, is_idle);
        if let Fate::Running { turn_id } = &fate {
            self.turns.turn_promised(turn_id);
        }
        Ok(fate)
    }
}

fn fate(turns: &[Past], asked: &PendingAction, is_idle: bool) -> Fate {
    let is_since = |turn: &&Past| {
        asked.issued_at_ms.is_some_and(|at| turn.began_at_ms().is_some_and(|began| began >= at))
    };
    match &asked.action {
        Action::Compact { .. } => match turns.iter().rev().filter(is_since).find_map(compacted) {
            Some(fate) => fate,
            None if is_idle => Fate::Nothing,
            None => Fate::Unclear,
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
                Fate::Ended { turn_id, .. } if !is_newest(&turn_id) => Fate::Nothing,
                fate => fate,
            }
        }
        Action::DeliverInput { items, .. } => {
            let handoff = items.iter().find(|item| item.role == ItemRole::Handoff);
            let marker = handoff.and_then(|item| item.text.trim_end().lines().last());
            match marker {
                Some(marker) => turn_of(turns, marker, |_| true, is_idle),
                None => Fate::Nothing,
            }
        }
        // Neither leaves anything behind.
        Action::Judge { .. } | Action::SamplePacket { .. } => Fate::Nothing,
    }
}

fn compacted(turn: &Past) -> Option<Fate> {
    let compacted = turn.compacted.as_ref()?;
    Some(Fate::Compacted {
        turn_id: turn.turn_id.clone(),
        tokens_before: compacted.before,
        tokens_after: compacted.after,
    })
}

fn turn_of(turns: &[Past], marker: &str, fits: impl Fn(&Past) -> bool, is_idle: bool) -> Fate {
    let has_marker = |turn: &&Past| turn.sent.iter().any(|text| text.contains(marker));
    let found = turns.iter().rev().filter(|turn| fits(turn)).find(has_marker);
    match found {
        Some(turn) if turn.has_ended => Fate::Ended {
            turn_id: turn.turn_id.clone(),
            last_agent_message: turn.last_agent_message.clone(),
        },
        Some(turn) if !is_idle && turns.last() == Some(turn) => {
            Fate::Running { turn_id: turn.turn_id.clone() }
        }
        // It broke off with Codex itself.
        Some(_) | None => Fate::Nothing,
    }
}
