//! The one turn that runs: whose it is, and how its compaction goes. It knows nothing of other turns.

use rawr_protocol::CompactionOrigin;

use crate::host::codex::message::TurnStatus;
use crate::host::{HostEvent, TurnKind};

#[derive(Debug)]
pub(super) struct Running {
    pub(super) id: String,
    /// While a compaction is awaited, unknown until the turn's first item: it tells the compaction from a turn that Codex started for itself.
    pub(super) kind: Option<TurnKind>,
    pub(super) compaction: Compaction,
    pub(super) last_agent_message: Option<String>,
    /// A sampling request whose last output is a message ends the turn; after any other output Codex samples again.
    pub(super) ends_with_message: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compaction {
    None,
    Running { estimate: Option<u64> },
    Done { estimate: Option<u64> },
}

impl Running {
    /// Settles the kind unless it is settled, and announces the turn then. Returns what it is.
    pub(super) fn is(&mut self, kind: TurnKind, events: &mut Vec<HostEvent>) -> &TurnKind {
        self.kind.get_or_insert_with(|| {
            events.push(HostEvent::TurnStarted { turn_id: self.id.clone(), kind: kind.clone() });
            kind
        })
    }

    pub(super) fn origin(&self) -> CompactionOrigin {
        match self.kind {
            Some(TurnKind::Compaction) => CompactionOrigin::Rawr,
            Some(TurnKind::Asked | TurnKind::Person { .. } | TurnKind::Host) | None => {
                CompactionOrigin::Host
            }
        }
    }

    pub(super) fn end_compaction(
        &self,
        compacts: bool,
        status: TurnStatus,
        error: Option<&str>,
        events: &mut Vec<HostEvent>,
    ) {
        let (turn_id, origin) = (self.id.clone(), self.origin());
        match (self.compaction, compacts, status) {
            (Compaction::Done { estimate }, _, TurnStatus::Completed) => {
                events.push(HostEvent::CompactionCompleted {
                    turn_id,
                    origin,
                    tokens_after: estimate,
                });
            }
            (Compaction::None, false, _) => {}
            _ => {
                let error = error.unwrap_or(match status {
                    TurnStatus::Completed => "the compaction's turn ended without a compaction",
                    TurnStatus::Interrupted => "the compaction was interrupted",
                    TurnStatus::Failed | TurnStatus::InProgress | TurnStatus::Other => {
                        "the compaction's turn failed"
                    }
                });
                events.push(HostEvent::CompactionFailed {
                    turn_id,
                    origin,
                    error: error.to_owned(),
                });
            }
        }
    }
}
