//! How a driver stops before its work is done. No turn keeps running unseen, and an interrupted step is not reported as a
//! user's decision.

use rawr_protocol::{CompactionOrigin, InputCancelParams, Phase, TurnStatus, methods};

use super::action_queue::ActionOutcome;
use super::driver::DriverTask;
use super::inputs::MessageRelease;
use super::observe::EndedTurn;
use super::port::{AccessKind, DriverInput, Order, Wait};
use super::prompts::WantedLine;
use super::result::DriveError;
use super::turns::{OverdueRequest, OverdueStage, RequestedCompaction, WIND_UP};
use crate::event::{LeftMessage, SessionEvent};
use crate::host::HostEvent;

/// Whether the sidecar takes reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SidecarAccess {
    Open,
    /// The session failed, perhaps because of the sidecar.
    Unsure,
}

impl DriverTask<'_> {
    /// Interrupts the running turn.
    pub(super) async fn wind_up(&mut self) -> Result<(), DriveError> {
        let is_shared = self.port.is_shared();
        // In a shared conversation only its users stop turns.
        if self.turns.is_busy() && !is_shared {
            // Interrupting fails if the turn has just ended.
            let _ = self.port.ask(|reply| Order::Interrupt { reply }).await;
            let until = self.port.now().at + WIND_UP;
            while self.turns.is_busy() && self.port.now().at < until {
                let until = Some(until);
                let wait = Wait { until, line: WantedLine::Nothing, for_host_only: true };
                match self.port.next(wait).await {
                    DriverInput::Host(event) if self.is_cut_off(&event) => {
                        self.leave_open(event)?
                    }
                    DriverInput::Host(event) => self.observe(event).await?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Stops a request of rawr that runs although the sidecar waits for it no longer, and counts it as ended if the host does
    /// not end it: what waits behind it must not wait forever. In a shared conversation only its users stop turns: there the
    /// messages that wait go to the host.
    pub(super) async fn end_overdue_request(&mut self) -> Result<(), DriveError> {
        let is_over = self.actions.has_action_that_waits() || self.link.phase.is_settled();
        // The sidecar wrote the packet itself, and compacts once the turn has ended.
        let is_late = self.link.phase == Phase::Compacting && self.turns.compaction.is_none();
        let Some(request) = self.turns.own_request().filter(|_| is_over || is_late) else {
            self.turns.overdue = None;
            return Ok(());
        };
        let now = self.port.now().at;
        let known = self.turns.overdue.take().filter(|overdue| overdue.request == request);
        let since = OverdueRequest { request, stage: OverdueStage::Since(now) };
        let mut overdue = known.unwrap_or(since);
        let is_due = overdue.until().is_some_and(|until| now >= until);
        let is_answered = overdue.request.is_answered;
        match overdue.stage {
            _ if !is_due => self.turns.overdue = Some(overdue),
            _ if self.port.is_shared() => {
                overdue.stage = OverdueStage::Left;
                self.turns.overdue = Some(overdue);
                self.release_typed_messages().await?;
            }
            OverdueStage::Since(_) if !is_answered => {
                // Interrupting fails if the turn has just ended.
                let _ = self.port.ask(|reply| Order::Interrupt { reply }).await;
                overdue.stage = OverdueStage::Interrupted(self.port.now().at);
                self.turns.overdue = Some(overdue);
            }
            _ => self.give_up().await?,
        }
        Ok(())
    }

    /// Counts as ended what the host does not end.
    async fn give_up(&mut self) -> Result<(), DriveError> {
        self.warn("the host reports no end of what rawr asked for")?;
        let (turns, compaction) = self.turns.give_up(self.port.now().at);
        for turn_id in turns {
            let ended = EndedTurn {
                status: TurnStatus::Interrupted,
                last_agent_message: None,
                error: Some("the host reported no end".to_owned()),
                overflow: None,
            };
            self.turn_completed(turn_id, ended).await?;
        }
        if let Some(RequestedCompaction { action_id, done, .. }) = compaction {
            let outcome = match done {
                true => ActionOutcome::done_before(),
                false => ActionOutcome::failed(None, "the host reported no end".to_owned()),
            };
            self.settle(&action_id, outcome).await?;
        }
        Ok(())
    }

    /// A host that was given up may have a turn again by now. After a while its refusal is final.
    pub(super) fn retry_after_giving_up(&mut self) {
        if self.turns.given_up_until().is_some_and(|until| self.port.now().at >= until) {
            self.actions.is_blocked = false;
        }
    }

    /// Settles the user messages that the agent did not get, and reports each. Where the conversation outlives its driver,
    /// the sidecar keeps what it holds, and the next driver delivers it.
    pub(super) async fn leave_messages(
        &mut self,
        sidecar: SidecarAccess,
    ) -> Result<(), DriveError> {
        if self.port.queues_in_place() {
            // The host has them, and the next driver finds out what became of them.
            self.held.clear();
        }
        let is_stored = self.outlives_driver();
        for held in self.held.take_all() {
            let input_id = held.input_id.clone();
            let left = match self.release(held).await {
                MessageRelease::ToAgent(_) | MessageRelease::Earlier => None,
                // The next driver finds in the host's record whether it has to deliver it.
                MessageRelease::Orphan(held) | MessageRelease::Unconfirmed(held) => Some(held.text),
            };
            let is_kept = is_stored && left.is_some();
            if !is_kept && sidecar == SidecarAccess::Open {
                let thread_id = self.thread_id.clone();
                let params = InputCancelParams { thread_id, input_id };
                self.report::<methods::InputCancel>(params).await?;
            }
            if let Some(text) = left {
                self.result.kept_messages += usize::from(is_kept);
                self.left(&text, if is_kept { LeftMessage::Kept } else { LeftMessage::NotSent })?;
            }
        }
        let rest = self.port.ask(|reply| Order::TakeRest { reply }).await;
        let orphans = self.held.take_typed_orphans();
        for text in orphans.into_iter().chain(self.actions.take_prompts()).chain(rest) {
            self.left(&text, LeftMessage::NotSent)?;
        }
        Ok(())
    }

    /// Whether people can continue the conversation without this driver.
    fn outlives_driver(&self) -> bool {
        self.port.access() != AccessKind::InProcess
    }

    fn left(&mut self, text: &str, fate: LeftMessage) -> Result<(), DriveError> {
        Ok(self.reporter.report(&SessionEvent::MessageLeft { text, fate })?)
    }

    /// Whether this event ends a step of the running sequence. Reporting it would cancel the sequence.
    fn is_cut_off(&mut self, event: &HostEvent) -> bool {
        let waits = !self.link.phase.is_settled();
        if !waits || !self.outlives_driver() {
            return false;
        }
        match event {
            HostEvent::TurnCompleted { turn_id, status: TurnStatus::Interrupted, .. } => {
                let turn = self.turns.running(turn_id);
                turn.is_some_and(|turn| turn.started_by.is_by_rawr())
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
