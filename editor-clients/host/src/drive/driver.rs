//! The driver without I/O: takes what happened and returns what to do. It reports the host's events to the sidecar and
//! carries out the sidecar's actions on the host. It decides nothing about compaction.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rawr_protocol::{
    CompactionStatus, Directive, Signal, SignalReportParams, ThreadCloseParams, methods,
};

use super::action_queue::ActionQueue;
use super::held::{HOLD_RENEWAL, HeldMessages};
use super::leaving::SidecarAccess;
use super::link::SidecarLink;
use super::port::{AccessKind, DriverInput, DriverTime, Order, Port, Surroundings, Wait};
use super::prompts::WantedLine;
use super::result::{DriveError, SessionEnd, SessionResult};
use super::turns::TurnLedger;
use crate::event::{NoticeLevel, Reporter, SessionEvent};
use crate::host::{HostError, HostEvent};
use crate::sidecar::SidecarNotification;

/// Interval between redraws of a live terminal.
const TICK: Duration = Duration::from_millis(120);

/// The driver of one session.
///
/// A program that is written from top to bottom and stops where it needs something: [`handle`](Self::handle) tells it what
/// happened and continues it as far as it gets.
pub struct Driver<'r> {
    port: Port,
    program: Pin<Box<dyn Future<Output = Result<SessionResult, DriveError>> + 'r>>,
    ended: Option<Result<SessionResult, DriveError>>,
}

impl<'r> Driver<'r> {
    /// A driver that has done nothing yet. A sidecar that dies twice within `quiet` is not started again.
    pub fn new(
        now: DriverTime,
        surroundings: Surroundings,
        quiet: Duration,
        reporter: &'r mut dyn Reporter,
    ) -> Self {
        let thread_id = surroundings.thread.thread_id.clone();
        let port = Port::new(now, surroundings);
        let task = DriverTask {
            port: port.clone(),
            reporter,
            thread_id,
            link: SidecarLink::new(quiet),
            turns: TurnLedger::default(),
            actions: ActionQueue::default(),
            held: HeldMessages::default(),
            result: SessionResult::default(),
            is_invited: false,
        };
        Self { port, program: Box::pin(task.run()), ended: None }
    }

    /// Sets what the driver can look at from the next call on.
    pub fn set_surroundings(&self, surroundings: Surroundings) {
        self.port.set_surroundings(surroundings);
    }

    /// Takes what happened and returns what to do now, in order.
    pub fn handle(&mut self, now: DriverTime, input: DriverInput) -> Vec<Order> {
        self.port.add_input(input);
        self.resume(now)
    }

    /// Continues after the last order has its reply, and returns what to do now, in order.
    pub fn resume(&mut self, now: DriverTime) -> Vec<Order> {
        self.port.set_now(now);
        if self.ended.is_none() {
            // Whatever it waits for comes with the next call.
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(ended) = self.program.as_mut().poll(&mut context) {
                self.ended = Some(ended);
            }
        }
        self.port.take_orders()
    }

    /// What it waits for.
    pub fn wait(&self) -> Wait {
        self.port.wait()
    }

    /// The result, once there is nothing left to do.
    pub fn take_result(&mut self) -> Option<Result<SessionResult, DriveError>> {
        self.ended.take()
    }
}

/// The program of a driver, with what it knows.
pub(super) struct DriverTask<'r> {
    pub(super) port: Port,
    // Shows what happens, and is never waited for.
    pub(super) reporter: &'r mut dyn Reporter,
    pub(super) thread_id: String,
    pub(super) link: SidecarLink,
    pub(super) turns: TurnLedger,
    pub(super) actions: ActionQueue,
    pub(super) held: HeldMessages,
    pub(super) result: SessionResult,
    /// The user was told how to answer the open question.
    pub(super) is_invited: bool,
}

impl DriverTask<'_> {
    async fn run(mut self) -> Result<SessionResult, DriveError> {
        let done = self.open_and_work().await;
        let params = ThreadCloseParams { thread_id: self.thread_id.clone() };
        // If this fails, the end of the sidecar closes the thread.
        let _ = self.call::<methods::ThreadClose>(&params).await;
        let ended = done?;
        Ok(SessionResult { ended, ..self.result })
    }

    async fn open_and_work(&mut self) -> Result<SessionEnd, DriveError> {
        match self.open_thread().await {
            Err(DriveError::Sidecar(error)) if error.is_end() => self.relaunch(Some(error)).await?,
            opened => drop(opened?),
        }
        self.port.order(Order::Begin);
        let directives = loop {
            if let DriverInput::Begin(directives) = self.port.next(Wait::default()).await {
                break directives;
            }
        };
        self.report_directives(directives).await?;
        let ended = self.work().await;
        let wound_up = match &ended {
            Ok(SessionEnd::Finished | SessionEnd::Unfinished) => Ok(()),
            Ok(SessionEnd::Stopped) | Err(DriveError::Output(_)) => self.wind_up().await,
            Err(_) => Ok(()),
        };
        let left = match (&ended, &wound_up) {
            (Err(DriveError::Output(_)), _) | (_, Err(_)) => Ok(()),
            (Ok(_), Ok(())) => self.leave_messages(SidecarAccess::Open).await,
            (Err(_), Ok(())) => self.leave_messages(SidecarAccess::Unsure).await,
        };
        let ended = ended?;
        wound_up?;
        left?;
        Ok(ended)
    }

    /// Reports the standing instructions of a restored conversation to the sidecar.
    async fn report_directives(&mut self, directives: Vec<Directive>) -> Result<(), DriveError> {
        for Directive { text, pinned, .. } in directives {
            let signal = Signal::Directive { text, pinned };
            let thread_id = self.thread_id.clone();
            let params = SignalReportParams { thread_id, turn_id: None, signal_id: None, signal };
            self.report::<methods::SignalReport>(params).await?;
        }
        Ok(())
    }

    /// Sends the prompts to the host one by one and carries out the sidecar's actions until all work is done or a stop is
    /// requested.
    async fn work(&mut self) -> Result<SessionEnd, DriveError> {
        self.release_unheld_inputs().await?;
        loop {
            self.send_unsent_calls().await?;
            self.renew_holds().await?;
            self.retry_after_giving_up();
            self.carry_out().await?;
            if self.is_waited_for() {
                return Ok(SessionEnd::Finished);
            }
            self.end_overdue_request().await?;
            if self.has_no_sequence() {
                self.port.order(Order::ResumeWithheldWork);
            }
            self.resume_paused_turns();
            self.invite()?;
            if self.port.prompts().is_at_end && self.is_quiet() && !self.asks_person() {
                return Ok(match self.turns.has_failed || self.turns.is_refused {
                    true => SessionEnd::Unfinished,
                    false => SessionEnd::Finished,
                });
            }
            let wanted = self.wanted_line();
            match self.port.next(self.next_wait(wanted)).await {
                DriverInput::Stop => return Ok(SessionEnd::Stopped),
                DriverInput::Notice(notice) => self.handle_notice(notice)?,
                DriverInput::SidecarEnded => self.relaunch(None).await?,
                DriverInput::Host(event) => self.observe(event).await?,
                DriverInput::Line(Some(line)) if wanted == WantedLine::Answer => {
                    self.answer(line).await?;
                }
                DriverInput::Line(Some(text)) => self.submit(text).await?,
                DriverInput::Typed(message) => self.message_typed(message).await?,
                DriverInput::Tick if self.held.has_typed() => self.submit_typed().await?,
                DriverInput::Tick if self.reporter.is_live() => self.reporter.tick()?,
                DriverInput::Begin(_) | DriverInput::Line(None) | DriverInput::Tick => {}
            }
        }
    }

    fn next_wait(&self, line: WantedLine) -> Wait {
        let now = self.port.now().at;
        let given_up = self.turns.given_up_until().filter(|_| !self.actions.is_done());
        let overdue = self.turns.overdue_until();
        let until = if self.held.has_typed() {
            // Handled after everything that has happened.
            Some(now)
        } else if self.reporter.is_live() {
            Some(now + TICK)
        } else if self.held.are_held_by_senders() {
            Some(now + HOLD_RENEWAL)
        } else {
            None
        };
        Wait {
            until: until.into_iter().chain(overdue).chain(given_up).min(),
            line,
            for_host_only: false,
        }
    }

    /// A prompt waits until the host is idle. A prompt typed while a sequence runs goes to the sidecar at once, which holds
    /// it and delivers it with the handoff.
    fn wanted_line(&self) -> WantedLine {
        if self.asks_person() {
            return WantedLine::Answer;
        }
        let prompts = self.port.prompts();
        let host_is_idle = !self.turns.is_busy() && self.actions.is_done() && self.held.is_empty();
        let in_sequence = !self.link.phase.is_settled();
        let takes_prompt = host_is_idle || prompts.is_live && in_sequence;
        if takes_prompt && !prompts.is_at_end { WantedLine::Prompt } else { WantedLine::Nothing }
    }

    /// Nothing runs, and nothing will start by itself. An open question to the user does not count, because no user may be
    /// present.
    fn is_quiet(&self) -> bool {
        // A suspended sequence continues when the thread is opened again.
        let settled = !self.link.phase.ends_by_itself() || self.link.outage.is_on;
        settled && !self.turns.is_busy() && self.actions.is_done() && self.held.is_empty()
    }

    /// The agent begins what it was asked once this driver has ended.
    fn is_waited_for(&self) -> bool {
        self.port.access() == AccessKind::AtHook && self.turns.runs_what_was_asked()
    }

    /// No sequence runs, and no action of one is pending.
    fn has_no_sequence(&self) -> bool {
        let idle = self.link.phase.is_settled() || self.link.is_unsure;
        idle && !self.turns.is_busy() && self.actions.is_done()
    }

    /// Handles a notification of the sidecar. Its actions are queued for [`carry_out`](Self::carry_out).
    pub(super) fn handle_notice(&mut self, notice: SidecarNotification) -> Result<(), DriveError> {
        match notice {
            SidecarNotification::Perform(perform) if perform.thread_id == self.thread_id => {
                self.take_up(rawr_protocol::PendingAction {
                    action_id: perform.action_id,
                    sequence_id: perform.sequence_id,
                    issued_at_ms: i64::try_from(self.port.now().unix_ms).ok(),
                    action: perform.action,
                });
            }
            SidecarNotification::Changed(changed) if changed.thread_id == self.thread_id => {
                self.link.phase = changed.phase;
                self.link.is_unsure = false;
                self.result.paused.clone_from(&changed.breaker);
                self.reporter.report(&SessionEvent::ThreadChanged(&changed))?;
            }
            SidecarNotification::Decided(decided) if decided.thread_id == self.thread_id => {
                self.reporter.report(&SessionEvent::Verdict(&decided))?;
            }
            SidecarNotification::HeadsUp(heads_up) if heads_up.thread_id == self.thread_id => {
                self.reporter.report(&SessionEvent::HeadsUp(&heads_up))?;
            }
            SidecarNotification::Compaction(update) if update.thread_id == self.thread_id => {
                let is_completed = update.status == CompactionStatus::Completed;
                self.result.compactions += u32::from(is_completed);
                self.reporter.report(&SessionEvent::Compaction(&update))?;
            }
            SidecarNotification::StoreFailed(failed) if failed.thread_id == self.thread_id => {
                self.store_failed(&failed)?;
            }
            SidecarNotification::StoreRecovered(recovered)
                if recovered.thread_id == self.thread_id =>
            {
                self.store_recovered()?;
            }
            SidecarNotification::Prompt(changed) => {
                self.reporter.report(&SessionEvent::PromptChanged(&changed))?
            }
            SidecarNotification::Config(changed) => {
                self.reporter.report(&SessionEvent::ConfigChanged(&changed))?
            }
            SidecarNotification::Log(line) => self.reporter.report(&SessionEvent::Log(&line))?,
            SidecarNotification::Garbled { method, error } => {
                self.warn(&format!("failed to parse the sidecar's {method}: {error}"))?;
            }
            // Not shown in a session.
            SidecarNotification::Responded(_)
            | SidecarNotification::JudgeAsked(_)
            | SidecarNotification::Judged(_) => {}
            // For another thread.
            SidecarNotification::Perform(_)
            | SidecarNotification::Changed(_)
            | SidecarNotification::ListChanged(_)
            | SidecarNotification::Decided(_)
            | SidecarNotification::HeadsUp(_)
            | SidecarNotification::Compaction(_)
            | SidecarNotification::StoreFailed(_)
            | SidecarNotification::StoreRecovered(_) => {}
        }
        Ok(())
    }

    /// Handles an event of the host. The session ends when the host ends.
    pub(super) async fn observe(&mut self, event: HostEvent) -> Result<(), DriveError> {
        self.actions.is_blocked = false;
        match event {
            HostEvent::Gone { reason } => Err(HostError::Gone { reason }.into()),
            event => self.report_event(event).await,
        }
    }

    pub(super) fn warn(&mut self, message: &str) -> Result<(), DriveError> {
        Ok(self.reporter.report(&SessionEvent::Notice { level: NoticeLevel::Warning, message })?)
    }
}
