//! The loop between a host and the sidecar. It reports the host's events and carries out the sidecar's actions. It decides
//! nothing about compaction.

mod action_queue;
mod actions;
mod approval;
mod doubt;
mod inputs;
mod leaving;
mod observe;
mod outage;
mod prompts;
mod result;
mod turns;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rawr_protocol::{
    Action, BreakerHold, CompactionStatus, Directive, ErrorCode, HeldInput, PacketGetResult, Phase,
    Purpose, Request, Role, SessionSource, Signal, SignalReportParams, ThreadCloseParams,
    ThreadOpenParams, Transcript, methods,
};
use tokio::time::{Instant, sleep_until};

use self::action_queue::ActionQueue;
use self::actions::QuestionPurpose;
use self::inputs::{HeldMessage, SIGN_OF_LIFE, TypedInputs, said_at_ms};
pub use self::inputs::{HoldReplies, HoldReply, HoldReplySender, TypedMessage, hold_channel};
use self::leaving::SidecarAccess;
use self::outage::StoreOutage;
pub use self::prompts::PromptQueue;
use self::prompts::WantedLine;
pub use self::result::{DriveError, SessionEnd, SessionResult};
use self::turns::DriverTurns;
use crate::event::{NoticeLevel, Reporter, SessionEvent};
use crate::host::{AgentHost, HostAccess, HostError, HostEvent, ThreadOrigin};
use crate::sidecar::{Launch, SidecarClient, SidecarError, SidecarNotification};
use crate::stop::StopRequest;

/// One session: connects a host's thread to a sidecar and reports events to a reporter.
///
/// Order of calls: [`open`](Self::open), then optionally [`direct`](Self::direct) and
/// [`with_typed_inputs`](Self::with_typed_inputs), then [`run`](Self::run).
pub struct Drive<'r> {
    // Not type parameters: this loop is large, and would be compiled for each kind of host.
    host: Box<dyn AgentHost>,
    launch: Box<dyn Launch>,
    sidecar: SidecarClient,
    reporter: &'r mut dyn Reporter,
    thread_id: String,
    /// The phase that the sidecar reported last.
    phase: Phase,
    /// A report was refused since then. The phase may never change, so do not wait for it.
    is_unsure: bool,
    turns: DriverTurns,
    action_queue: ActionQueue,
    /// Pending questions to the host's model, by action id.
    asked: HashMap<String, QuestionPurpose>,
    /// Sequences with actions that were issued before this driver opened the thread. The host may already have carried them
    /// out, and an earlier driver may have prepared their handoff.
    in_doubt: HashSet<String>,
    /// Those of them that are not continued, because of where their message is, with the reason.
    given_up: HashMap<String, &'static str>,
    /// Sequences whose handoff is in the conversation without the held message.
    handed_over: HashSet<String>,
    /// Inputs that the sidecar holds and will deliver, in order.
    held: Vec<HeldMessage>,
    typed_inputs: TypedInputs,
    outage: StoreOutage,
    inputs: u64,
    told_model: Option<String>,
    /// The limit that was reported last.
    told_limit: Option<u64>,
    compactions: u32,
    packet: Option<PacketGetResult>,
    paused: Option<BreakerHold>,
    /// A turn of the agent's work failed.
    has_failed: bool,
    /// The last turn did not fit the model's window.
    is_refused: bool,
    /// The host refused a request although it seemed idle. Do not retry before its next event.
    blocked: bool,
    /// When the sidecar was restarted. A sidecar that dies twice within `quiet` is not restarted again.
    relaunched: Option<Instant>,
    /// How long a restarted sidecar must live to be restarted once more.
    quiet: Duration,
    /// The user was told how to answer the open question.
    invited: bool,
}

/// A sidecar that ended again within this time is not restarted.
const QUIET: Duration = Duration::from_secs(60);

/// Interval between redraws of a live terminal.
const TICK: Duration = Duration::from_millis(120);

impl<'r> Drive<'r> {
    /// Opens the host's thread at the sidecar, as its owner. Restarts the sidecar once if it ends meanwhile.
    ///
    /// # Errors
    ///
    /// The host and the sidecar are stopped before the error is returned.
    pub async fn open(
        host: impl AgentHost + 'static,
        launch: impl Launch + 'static,
        sidecar: SidecarClient,
        reporter: &'r mut dyn Reporter,
    ) -> Result<Self, DriveError> {
        let thread_id = host.thread().thread_id.clone();
        let mut drive = Self {
            host: Box::new(host),
            launch: Box::new(launch),
            sidecar,
            reporter,
            thread_id,
            phase: Phase::Idle,
            is_unsure: false,
            turns: DriverTurns::default(),
            action_queue: ActionQueue::default(),
            asked: HashMap::new(),
            in_doubt: HashSet::new(),
            given_up: HashMap::new(),
            handed_over: HashSet::new(),
            held: Vec::new(),
            typed_inputs: TypedInputs::default(),
            outage: StoreOutage::default(),
            inputs: 0,
            told_model: None,
            told_limit: None,
            compactions: 0,
            packet: None,
            paused: None,
            has_failed: false,
            is_refused: false,
            blocked: false,
            relaunched: None,
            quiet: QUIET,
            invited: false,
        };
        let opened = match drive.open_thread().await {
            Err(DriveError::Sidecar(error)) if error.is_end() => drive.relaunch(Some(error)).await,
            opened => opened.map(drop),
        };
        match opened {
            Ok(()) => Ok(drive),
            Err(error) => {
                drive.end().await;
                Err(error)
            }
        }
    }

    /// Reports the standing instructions of a restored conversation to the sidecar.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn direct(mut self, directives: &[Directive]) -> Result<Self, DriveError> {
        for Directive { text, pinned, .. } in directives {
            let signal = Signal::Directive { text: text.clone(), pinned: *pinned };
            let thread_id = self.thread_id.clone();
            let params = SignalReportParams { thread_id, turn_id: None, signal_id: None, signal };
            if let Err(error) = self.report::<methods::SignalReport>(params).await {
                self.end().await;
                return Err(error);
            }
        }
        Ok(self)
    }

    /// Sends the prompts to the host one by one and carries out the sidecar's actions until all work is done or a stop is
    /// requested. Stops the host and the sidecar before it returns.
    ///
    /// # Errors
    ///
    /// Fails if the host ends by itself, if a restarted sidecar ends again, or if the reporter fails.
    pub async fn run(
        mut self,
        prompts: &mut PromptQueue,
        stop: &mut StopRequest,
    ) -> Result<SessionResult, DriveError> {
        let ended = self.turn_over(prompts, stop).await;
        let wound_up = match &ended {
            Ok(SessionEnd::Finished | SessionEnd::Unfinished) => Ok(()),
            Ok(SessionEnd::Stopped) | Err(DriveError::Output(_)) => self.wind_up().await,
            Err(_) => Ok(()),
        };
        let left = match (&ended, &wound_up) {
            (Err(DriveError::Output(_)), _) | (_, Err(_)) => Ok(0),
            (Ok(_), Ok(())) => self.leave_messages(prompts, SidecarAccess::Open).await,
            (Err(_), Ok(())) => self.leave_messages(prompts, SidecarAccess::Unsure).await,
        };
        let (compactions, packet) = (self.compactions, self.packet.take());
        let paused = self.paused.take();
        self.end().await;
        let ended = ended?;
        wound_up?;
        let kept_messages = left?;
        Ok(SessionResult { ended, compactions, packet, paused, kept_messages })
    }

    async fn turn_over(
        &mut self,
        prompts: &mut PromptQueue,
        stop: &mut StopRequest,
    ) -> Result<SessionEnd, DriveError> {
        self.release_unheld_inputs().await?;
        loop {
            self.say_what_waits().await?;
            self.look_after_held().await?;
            self.carry_out().await?;
            if self.has_no_sequence()
                && let Some(withheld) = self.host.withheld_work()
            {
                withheld.release();
            }
            self.let_go_on().await?;
            self.invite(prompts)?;
            if prompts.is_at_end() && self.is_quiet() && !self.asks(prompts) {
                return Ok(if self.has_failed || self.is_refused {
                    SessionEnd::Unfinished
                } else {
                    SessionEnd::Finished
                });
            }
            let wanted = self.wanted(prompts);
            let tick = Instant::now() + TICK;
            let sign_of_life = Instant::now() + SIGN_OF_LIFE;
            tokio::select! {
                biased;
                () = stop.asked() => return Ok(SessionEnd::Stopped),
                note = self.sidecar.next_note() => match note {
                    Some(note) => self.hear(note)?,
                    None => self.relaunch(None).await?,
                },
                event = self.host.next_event() => self.observe(event).await?,
                line = prompts.line(wanted), if wanted != WantedLine::Nothing => match (line, wanted) {
                    (Some(line), WantedLine::Answer) => self.answer(line, prompts).await?,
                    (Some(text), _) => self.submit(text).await?,
                    (None, _) => {}
                },
                () = std::future::ready(()), if self.has_typed() => self.look_at_typed().await?,
                typed = self.typed_inputs.next() => self.typed(typed).await?,
                () = sleep_until(sign_of_life), if self.has_held_elsewhere() => {}
                () = sleep_until(tick), if self.reporter.is_live() => self.reporter.tick()?,
            }
        }
    }

    /// A prompt waits until the host is idle. A prompt typed while a sequence runs goes to the sidecar at once, which holds it
    /// and delivers it with the handoff.
    fn wanted(&self, prompts: &PromptQueue) -> WantedLine {
        if self.asks(prompts) {
            return WantedLine::Answer;
        }
        let host_is_idle =
            !self.turns.is_busy() && self.action_queue.is_done() && self.held.is_empty();
        let in_sequence = !self.phase.is_settled();
        let takes_prompt = host_is_idle || prompts.is_live() && in_sequence;
        if takes_prompt && !prompts.is_at_end() { WantedLine::Prompt } else { WantedLine::Nothing }
    }

    /// Nothing runs, and nothing will start by itself. An open question to the user does not count, because no user may be
    /// present.
    fn is_quiet(&self) -> bool {
        // A suspended sequence continues when the thread is opened again.
        let settled = !self.phase.ends_by_itself() || self.outage.is_on;
        settled && !self.turns.is_busy() && self.action_queue.is_done() && self.held.is_empty()
    }

    /// No sequence runs, and no action of one is pending.
    fn has_no_sequence(&self) -> bool {
        let idle = self.phase.is_settled() || self.is_unsure;
        idle && !self.turns.is_busy() && self.action_queue.is_done()
    }

    /// Handles a notification of the sidecar. Its actions are queued for [`carry_out`](Self::carry_out).
    fn hear(&mut self, note: SidecarNotification) -> Result<(), DriveError> {
        match note {
            SidecarNotification::Perform(perform) if perform.thread_id == self.thread_id => {
                let mut perform = *perform;
                self.hurry(&mut perform.action);
                self.action_queue.take_up(rawr_protocol::PendingAction {
                    action_id: perform.action_id,
                    sequence_id: perform.sequence_id,
                    issued_at_ms: None,
                    action: perform.action,
                });
            }
            SidecarNotification::Changed(changed) if changed.thread_id == self.thread_id => {
                self.phase = changed.phase;
                self.is_unsure = false;
                self.paused.clone_from(&changed.breaker);
                self.reporter.report(&SessionEvent::ThreadChanged(&changed))?;
            }
            SidecarNotification::Decided(decided) if decided.thread_id == self.thread_id => {
                self.reporter.report(&SessionEvent::Verdict(&decided))?;
            }
            SidecarNotification::HeadsUp(heads_up) if heads_up.thread_id == self.thread_id => {
                self.reporter.report(&SessionEvent::HeadsUp(&heads_up))?;
            }
            SidecarNotification::Compaction(update) if update.thread_id == self.thread_id => {
                self.compactions += u32::from(update.status == CompactionStatus::Completed);
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

    /// Calls the sidecar; restarts it and retries once if it dies. Notifications that arrived before the answer are handled first.
    async fn ask<R: Request>(&mut self, params: R::Params) -> Result<R::Result, DriveError>
    where
        R::Params: Clone,
    {
        loop {
            let answer = self.sidecar.call::<R>(params.clone()).await;
            for note in self.sidecar.notes() {
                self.hear(note)?;
            }
            match answer {
                Err(error) if error.is_end() => self.relaunch(Some(error)).await?,
                answer => return Ok(answer?),
            }
        }
    }

    /// Calls the sidecar. A refusal is only reported; the host's work continues.
    async fn report<R: Request>(
        &mut self,
        params: R::Params,
    ) -> Result<Option<R::Result>, DriveError>
    where
        R::Params: Clone,
    {
        if self.outage.waits::<R>() {
            self.outage.keep::<R>(&params);
            return Ok(None);
        }
        match self.ask::<R>(params.clone()).await {
            Ok(answer) => Ok(Some(answer)),
            // The sidecar reports this once itself.
            Err(DriveError::Sidecar(error))
                if error.code() == Some(ErrorCode::StoreFailed) && self.outage.is_on =>
            {
                self.outage.keep::<R>(&params);
                Ok(None)
            }
            // The actions of a finished sequence may be unknown.
            Err(DriveError::Sidecar(error)) if error.code() == Some(ErrorCode::UnknownAction) => {
                Ok(None)
            }
            Err(DriveError::Sidecar(
                error @ (SidecarError::Refused { .. } | SidecarError::NotUnderstood { .. }),
            )) => {
                self.is_unsure = true;
                self.warn(&format!("{}: {error}", R::METHOD))?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// In a shared conversation a person's turn can start before the handoff. The handoff then joins that turn.
    fn hurry(&mut self, action: &mut Action) {
        let is_late = |purpose: Purpose| matches!(purpose, Purpose::Handoff | Purpose::Notice);
        if let Action::InjectTurn { purpose, via_steer, .. } = action
            && is_late(*purpose)
        {
            *via_steer |= self.host.access().is_shared();
        }
    }

    fn warn(&mut self, message: &str) -> Result<(), DriveError> {
        Ok(self.reporter.report(&SessionEvent::Notice { level: NoticeLevel::Warning, message })?)
    }

    /// Opens the thread and queues its pending actions. Returns their number.
    async fn open_thread(&mut self) -> Result<usize, DriveError> {
        let thread = self.host.thread().clone();
        let running_turn = match (self.turns.running_turn(), self.host.access()) {
            (Some(turn_id), _) => Some(turn_id.to_owned()),
            (None, HostAccess::Shared(shared)) => shared.running_turn().map(str::to_owned),
            (None, HostAccess::Exclusive) => None,
        };
        let params = ThreadOpenParams {
            thread_id: self.thread_id.clone(),
            cwd: thread.cwd.display().to_string(),
            role: Role::Owner,
            host: thread.host.clone(),
            model: thread.model.clone(),
            context_window: thread.context_window,
            context_window_assumed: false,
            compacts_above_tokens: thread.compacts_above_tokens,
            baseline_tokens: thread.baseline_tokens,
            session_source: Some(match thread.origin.clone() {
                ThreadOrigin::Person => SessionSource::User,
                ThreadOrigin::Parent { name } => SessionSource::Subagent { name },
            }),
            transcript: thread
                .transcript
                .as_ref()
                .map(|path| Transcript { path: path.display().to_string() }),
            began_at_ms: thread.began_at_ms,
            running_turn,
        };
        let opened = self.sidecar.call::<methods::ThreadOpen>(params).await;
        for note in self.sidecar.notes() {
            self.hear(note)?;
        }
        let opened = opened?;
        self.phase = opened.phase;
        self.told_model.clone_from(&thread.model);
        self.told_limit = thread.compacts_above_tokens;
        let sidecar = self.sidecar.process_id();
        self.reporter.report(&SessionEvent::Session { host: &thread, opened: &opened, sidecar })?;
        if let Some(HeldInput { input_id, text }) = opened.held_before
            && let HostAccess::Shared(shared) = self.host.access()
        {
            shared.give_back(&text, said_at_ms(&input_id)).await?;
        }
        let pending = opened.pending_actions.len();
        for mut action in opened.pending_actions {
            self.hurry(&mut action.action);
            self.in_doubt.insert(action.sequence_id.clone());
            self.action_queue.take_up(action);
        }
        Ok(pending)
    }

    /// Replaces a sidecar that died. The new one reads the thread's log and repeats the pending actions.
    async fn relaunch(&mut self, error: Option<SidecarError>) -> Result<(), DriveError> {
        let error = match error {
            Some(error) => error,
            None => self.sidecar.exit_error("it hung up").await,
        };
        let now = Instant::now();
        if self.relaunched.replace(now).is_some_and(|before| now - before < self.quiet) {
            return Err(DriveError::SidecarEndedAgain(error));
        }
        self.sidecar = self.launch.launch().await?;
        self.outage.is_on = false;
        let pending = self.open_thread().await?;
        self.reporter
            .report(&SessionEvent::SidecarRestarted { error: &error.to_string(), pending })?;
        Ok(())
    }

    /// Handles an event of the host. The session ends when the host ends.
    async fn observe(&mut self, event: HostEvent) -> Result<(), DriveError> {
        self.blocked = false;
        match event {
            HostEvent::Gone { reason } => Err(HostError::Gone { reason }.into()),
            event => self.report_event(event).await,
        }
    }

    async fn end(mut self) {
        // Each step runs even if the one before failed.
        let params = ThreadCloseParams { thread_id: self.thread_id.clone() };
        let _ = self.sidecar.call::<methods::ThreadClose>(params).await;
        for note in self.sidecar.notes() {
            let _ = self.hear(note);
        }
        self.host.close().await;
        self.sidecar.stop().await;
    }
}

#[cfg(test)]
mod tests;
