//! How a driver leaves before its work is done: nothing runs on unseen, and nothing is reported that was not anyone's wish.

use std::time::Duration;

use rawr_protocol::{CompactionOrigin, InputCancelParams, Phase, TurnStatus, methods};
use tokio::time::{Instant, sleep_until};

use super::inputs::HeldInput;
use super::turns::StartedBy;
use super::{Drive, DriveError};
use crate::event::SessionEvent;
use crate::host::{Host, HostEvent, ThreadLifetime};
use crate::sidecar::Launch;

/// How long a host may take to wind up a turn that was interrupted.
const WIND_UP: Duration = Duration::from_secs(5);

impl<H: Host, L: Launch> Drive<'_, H, L> {
    /// The running turn is stopped, held inputs are taken back.
    pub(super) async fn wind_up(&mut self) -> Result<(), DriveError> {
        // Where people talk to the host itself its turns are theirs to stop.
        if self.turns.is_busy() && !self.host.access().is_shared() {
            // A turn that has just ended cannot be interrupted, and need not be.
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
        for HeldInput { input_id, .. } in std::mem::take(&mut self.held) {
            let thread_id = self.thread_id.clone();
            let params = InputCancelParams { thread_id, input_id };
            self.report::<methods::InputCancel>(params).await?;
        }
        Ok(())
    }

    /// The end of what a sequence waits for. Told to the arbiter, it would be a person's no to the sequence.
    fn is_cut_off(&mut self, event: &HostEvent) -> bool {
        let waits = !matches!(self.phase, Phase::Idle | Phase::Deferred);
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

    /// Whoever takes the thread up asks for it again.
    fn leave_open(&mut self, event: HostEvent) -> Result<(), DriveError> {
        self.reporter.report(&SessionEvent::Host(&event))?;
        match event {
            HostEvent::TurnCompleted { turn_id, .. } => drop(self.turns.end(&turn_id)),
            // The end of its turn is still to come.
            _ => self.turns.compaction = None,
        }
        Ok(())
    }
}
