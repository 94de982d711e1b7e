//! Looks up the outcome of an action in Codex's record of the thread, for a driver that took over from a dead one.

use rawr_protocol::{Action, PendingAction};
use rawr_records::read::codex_turns;

use super::Codex;
use crate::host::record::fate;
use crate::host::{HostError, RecordedOutcome};

impl Codex {
    pub(super) async fn look_up(
        &mut self,
        asked: &PendingAction,
    ) -> Result<RecordedOutcome, HostError> {
        self.ready()?;
        let is_idle = self.is_idle().await?;
        // This driver queued it; its turn is claimed through the queue.
        if self.is_in_line(&asked.action) {
            return Ok(RecordedOutcome::NotFound);
        }
        let Some(path) = self.thread.transcript.clone() else {
            return Ok(RecordedOutcome::NotFound);
        };
        let Ok(turns) = tokio::task::spawn_blocking(move || codex_turns(&path)).await else {
            return Ok(RecordedOutcome::NotFound);
        };
        let fate = fate(&turns, asked, is_idle);
        if let RecordedOutcome::Running { turn_id, .. } = &fate {
            self.turns.turn_promised(turn_id);
        }
        Ok(fate)
    }

    fn is_in_line(&self, action: &Action) -> bool {
        match action {
            Action::InjectTurn { text, .. } => self.handoff_queue.holds(text),
            Action::DeliverInput { items, .. } => {
                items.iter().any(|item| self.handoff_queue.holds(&item.text))
            }
            Action::Compact { .. } | Action::Judge { .. } | Action::SamplePacket { .. } => false,
        }
    }
}
