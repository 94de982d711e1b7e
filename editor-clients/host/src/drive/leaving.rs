//! How a driver stops before its work is done. No turn keeps running unseen, and an interrupted step is not reported as a
//! user's decision.

use std::time::Duration;

use rawr_protocol::{CompactionOrigin, InputCancelParams, Phase, TurnStatus, methods};
use tokio::time::{Instant, sleep_until};

use super::inputs::HeldMessage;
use super::turns::StartedBy;
use super::{Drive, DriveError};
use crate::event::SessionEvent;
use crate::host::{HostEvent, ThreadLifetime};

/// How long a host may take to end an interrupted turn.
const WIND_UP: Duration = Duration::from_secs(5);

impl Drive<'_> {
    /// Interrupts the running turn and cancels held inputs.
    pub(super) async fn wind_up(&mut self) -> Result<(), DriveError> {
        let is_shared = self.host.access().is_shared();
        let keeps_messages = self.host.thread().host.capabilities.queue_in_place;
        // In a shared conversation only its users stop turns.
        if self.turns.is_busy() && !is_shared {
            // Interrupting fails if the turn has just ended.
            let _ = self.host.interrupt().await;
            let deadline = Instant::now() + WIND_UP;
            while self.turns.is_busy() {
                tokio::select! {
                    event = self.host.next_event() => match self.is_cut_off(&event) {
                        true => self.leave_open(event)?,
                        false => self.observe(event).await?,
                    },
                    () = sleep_until(deadline) => break,
                }
            }
        }
        for HeldMessage { input_id, answer, .. } in std::mem::take(&mut self.held) {
            // It was taken over from the host, so the next driver delivers it, or the host keeps it.
            if is_shared && answer.is_none() || keeps_messages {
                continue;
            }
            let thread_id = self.thread_id.clone();
            let params = InputCancelParams { thread_id, input_id };
            self.report::<methods::InputCancel>(params).await?;
        }
        Ok(())
    }

    /// Whether this event ends a step of the running sequence. Reporting it would cancel the sequence.
    fn is_cut_off(&mut self, event: &HostEvent) -> bool {
        let waits = !matches!(self.phase, Phase::Idle | Phase::Deferred | Phase::Proposed);
        if !waits || self.host.lifetime() == ThreadLifetime::Driver {
            return false;
        }
        match event {
            HostEvent::TurnCompleted { turn_id, status: TurnStatus::Interrupted, .. } => {
                let turn = self.turns.running(turn_id);
                turn.is_some_and(|turn| turn.started_by == StartedBy::Injection)
            }
            HostEvent::CompactionFailed { origin, .. } => *origin == CompactionOrigin::Rawr,
            _ => false,
        }
    }

    /// Leaves the action pending for the next driver.
    fn leave_open(&mut self, event: HostEvent) -> Result<(), DriveError> {
        self.reporter.report(&SessionEvent::Host(&event))?;
        match event {
            HostEvent::TurnCompleted { turn_id, .. } => drop(self.turns.end(&turn_id)),
            // The event of its turn's end follows.
            _ => self.turns.compaction = None,
        }
        Ok(())
    }
}
