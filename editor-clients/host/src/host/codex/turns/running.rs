//! The running turn: its kind and its compaction.

use rawr_protocol::CompactionOrigin;

use crate::host::codex::message::CodexTurnStatus;
use crate::host::{HostEvent, TurnKind};

#[derive(Debug)]
pub(super) struct CodexRunningTurn {
    pub(super) id: String,
    /// `None` until the first item tells a requested compaction from a turn that Codex started by itself.
    pub(super) kind: Option<TurnKind>,
    pub(super) compaction: CodexCompaction,
    pub(super) last_agent_message: Option<String>,
    /// A sampling request whose last output is a message ends the turn; after any other output Codex samples again.
    pub(super) ends_with_message: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodexCompaction {
    None,
    Running { estimate: Option<u64> },
    Done { estimate: Option<u64> },
}

impl CodexRunningTurn {
    /// Sets the kind if it is unknown, and reports the turn's start. Returns the kind.
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
        status: CodexTurnStatus,
        error: Option<&str>,
        events: &mut Vec<HostEvent>,
    ) {
        let (turn_id, origin) = (self.id.clone(), self.origin());
        match (self.compaction, compacts, status) {
            (CodexCompaction::Done { estimate }, _, CodexTurnStatus::Completed) => {
                events.push(HostEvent::CompactionCompleted {
                    turn_id,
                    origin,
                    tokens_after: estimate,
                });
            }
            (CodexCompaction::None, false, _) => {}
            _ => {
                let error = error.unwrap_or(match status {
                    CodexTurnStatus::Completed => {
                        "the compaction's turn ended without a compaction"
                    }
                    CodexTurnStatus::Interrupted => "the compaction was interrupted",
                    CodexTurnStatus::Failed
                    | CodexTurnStatus::InProgress
                    | CodexTurnStatus::Other => "the compaction's turn failed",
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
