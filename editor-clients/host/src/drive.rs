//! The loop between a host and the sidecar: what the host does is reported, what the arbiter asks is carried out. It decides nothing about compaction.

mod action_queue;
mod actions;
mod approval;
mod doubt;
mod inputs;
mod leaving;
mod observe;
mod outage;
mod prompts;
mod turns;

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::Duration;

use rawr_protocol::{
    Action, BreakerHold, CompactionStatus, Directive, ErrorCode, PacketGetResult, Phase, Purpose,
    Request, Role, SessionSource, Signal, SignalReportParams, ThreadCloseParams, ThreadOpenParams,
    Transcript, TurnStatus, methods,
};
use tokio::time::{Instant, sleep_until};

use self::action_queue::ActionQueue;
use self::actions::QuestionPurpose;
pub use self::inputs::{Answer, HoldReply, Typed};
use self::inputs::{HeldInput, SIGN_OF_LIFE, TypedInputs};
use self::outage::Outage;
pub use self::prompts::Prompts;
use self::prompts::WantedLine;
use self::turns::Turns;
use crate::event::{Level, Reporter, SessionEvent};
use crate::host::{Access, Host, HostError, HostEvent, ThreadOrigin};
use crate::sidecar::{Launch, Note, Sidecar, SidecarError};
use crate::stop::Stop;

/// One session: a host with its thread, a sidecar, and what a person sees.
pub struct Drive<'r, H, L> {
    host: H,
    launch: L,
    sidecar: Sidecar,
    reporter: &'r mut dyn Reporter,
    thread_id: String,
    /// As the sidecar last told it.
    phase: Phase,
    /// A report was refused since then: the phase may stay for ever, and nobody must wait for it.
    is_unsure: bool,
    turns: Turns,
    action_queue: ActionQueue,
    /// Questions to the host's model, by the action that asks.
    asked: HashMap<String, QuestionPurpose>,
    /// Sequences of which something was asked before the thread was opened: the host may have done it, and what a
    /// driver that is gone had prepared for it, too.
    in_doubt: HashSet<String>,
    /// Sequences whose handoff stands in the conversation, without the message that was to come with it.
    handed_over: HashSet<String>,
    /// Inputs that the sidecar holds and will hand over, in order.
    held: Vec<HeldInput>,
    typed_inputs: TypedInputs,
    outage: Outage,
    inputs: u64,
    told_model: Option<String>,
    compactions: u32,
    packet: Option<PacketGetResult>,
    paused: Option<BreakerHold>,
    /// How the agent's last turn ended.
    last_turn: Option<TurnStatus>,
    /// The host refused something although it seemed idle; until it says something, asking again is no use.
    blocked: bool,
    /// When the sidecar was started again: one that dies twice in a short time would go on dying.
    relaunched: Option<Instant>,
    /// How long a sidecar must have lived to be started again a second time.
    quiet: Duration,
    /// A person was told how to answer the open question.
    invited: bool,
}

/// A session that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub ended: Ended,
    /// How often its history was rewritten.
    pub compactions: u32,
    /// The last packet that was handed over.
    pub packet: Option<PacketGetResult>,
    /// Compactions are paused, because the last ones did not help.
    pub paused: Option<BreakerHold>,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is left to do.
    Finished,
    /// Neither, but the agent's last turn broke off.
    Unfinished,
    /// A person or the system stopped it.
    Stopped,
}

const QUIET: Duration = Duration::from_secs(60);

/// Why a session could not go on.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error(transparent)]
    Host(#[from] HostError),
    #[error(transparent)]
    Sidecar(#[from] SidecarError),
    #[error("the sidecar ended a second time: {0}")]
    SidecarEndedAgain(SidecarError),
    #[error(
        "the host did not take the message ({source}); look there before you send it again, it began with: {text}"
    )]
    NotDelivered { text: String, source: HostError },
    #[error("the output cannot be written: {0}")]
    Output(#[from] io::Error),
}

/// How often what moves on a terminal moves.
const TICK: Duration = Duration::from_millis(120);

impl<'r, H: Host, L: Launch> Drive<'r, H, L> {
    /// Opens the host's thread at the sidecar, as its owner.
    pub async fn open(
        host: H,
        launch: L,
        sidecar: Sidecar,
        reporter: &'r mut dyn Reporter,
    ) -> Result<Self, DriveError> {
        let thread_id = host.thread().thread_id.clone();
        let mut drive = Self {
            host,
            launch,
            sidecar,
            reporter,
            thread_id,
            phase: Phase::Idle,
            is_unsure: false,
            turns: Turns::default(),
            action_queue: ActionQueue::default(),
            asked: HashMap::new(),
            in_doubt: HashSet::new(),
            handed_over: HashSet::new(),
            held: Vec::new(),
            typed_inputs: TypedInputs::default(),
            outage: Outage::default(),
            inputs: 0,
            told_model: None,
            compactions: 0,
            packet: None,
            paused: None,
            last_turn: None,
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

    /// Tells the sidecar the standing instructions that the conversation brings along.
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

    /// Gives the host the prompts one by one and does what the arbiter asks, until nothing is left to do.
    pub async fn run(
        mut self,
        prompts: &mut Prompts,
        stop: &mut Stop,
    ) -> Result<Session, DriveError> {
        let ended = self.turn_over(prompts, stop).await;
        let wound_up = match &ended {
            Ok(Ended::Finished | Ended::Unfinished) => Ok(()),
            Ok(Ended::Stopped) | Err(DriveError::Output(_)) => self.wind_up().await,
            Err(_) => Ok(()),
        };
        let (compactions, packet) = (self.compactions, self.packet.take());
        let paused = self.paused.take();
        self.end().await;
        let ended = ended?;
        wound_up.map(|()| Session { ended, compactions, packet, paused })
    }

    async fn turn_over(
        &mut self,
        prompts: &mut Prompts,
        stop: &mut Stop,
    ) -> Result<Ended, DriveError> {
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
                let failed = self.last_turn == Some(TurnStatus::Failed);
                return Ok(if failed { Ended::Unfinished } else { Ended::Finished });
            }
            let wanted = self.wanted(prompts);
            let tick = Instant::now() + TICK;
            let sign_of_life = Instant::now() + SIGN_OF_LIFE;
            tokio::select! {
                biased;
                () = stop.asked() => return Ok(Ended::Stopped),
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

    /// A prompt waits until the host is idle. One that a person types while a sequence runs goes to the sidecar at
    /// once: it is held there and delivered with the handoff.
    fn wanted(&self, prompts: &Prompts) -> WantedLine {
        if self.asks(prompts) {
            return WantedLine::Answer;
        }
        let host_is_idle =
            !self.turns.is_busy() && self.action_queue.is_done() && self.held.is_empty();
        let in_sequence = !matches!(self.phase, Phase::Idle | Phase::Deferred);
        let takes_prompt = host_is_idle || prompts.is_live() && in_sequence;
        if takes_prompt && !prompts.is_at_end() { WantedLine::Prompt } else { WantedLine::Nothing }
    }

    /// Nothing runs and nothing will by itself. An open question to a person is not waited for: nobody may be there.
    fn is_quiet(&self) -> bool {
        let settled = matches!(self.phase, Phase::Idle | Phase::Deferred | Phase::AwaitingApproval);
        // A sequence that stands still goes on when the thread is taken up again.
        let settled = settled || self.outage.is_on;
        settled && !self.turns.is_busy() && self.action_queue.is_done() && self.held.is_empty()
    }

    /// Nothing of a sequence is under way, or will come of it.
    fn has_no_sequence(&self) -> bool {
        let idle = matches!(self.phase, Phase::Idle | Phase::Deferred) || self.is_unsure;
        idle && !self.turns.is_busy() && self.action_queue.is_done()
    }

    /// Takes note of what the sidecar said; what it asks for is done by [`carry_out`](Self::carry_out).
    fn hear(&mut self, note: Note) -> Result<(), DriveError> {
        match note {
            Note::Perform(perform) if perform.thread_id == self.thread_id => {
                let mut perform = *perform;
                self.hurry(&mut perform.action);
                self.action_queue.take_up(rawr_protocol::PendingAction {
                    action_id: perform.action_id,
                    sequence_id: perform.sequence_id,
                    issued_at_ms: None,
                    action: perform.action,
                });
            }
            Note::Changed(changed) if changed.thread_id == self.thread_id => {
                self.phase = changed.phase;
                self.is_unsure = false;
                self.paused.clone_from(&changed.breaker);
                self.reporter.report(&SessionEvent::ThreadChanged(&changed))?;
            }
            Note::Decided(decided) if decided.thread_id == self.thread_id => {
                self.reporter.report(&SessionEvent::Verdict(&decided))?;
            }
            Note::HeadsUp(heads_up) if heads_up.thread_id == self.thread_id => {
                self.reporter.report(&SessionEvent::HeadsUp(&heads_up))?;
            }
            Note::Compaction(update) if update.thread_id == self.thread_id => {
                self.compactions += u32::from(update.status == CompactionStatus::Completed);
                self.reporter.report(&SessionEvent::Compaction(&update))?;
            }
            Note::StoreFailed(failed) if failed.thread_id == self.thread_id => {
                self.store_failed(&failed)?;
            }
            Note::StoreRecovered(recovered) if recovered.thread_id == self.thread_id => {
                self.store_recovered()?;
            }
            Note::Prompt(changed) => {
                self.reporter.report(&SessionEvent::PromptChanged(&changed))?
            }
            Note::Config(changed) => {
                self.reporter.report(&SessionEvent::ConfigChanged(&changed))?
            }
            Note::Log(line) => self.reporter.report(&SessionEvent::Log(&line))?,
            Note::Garbled { method, error } => {
                self.warn(&format!("the sidecar's {method} is not understood: {error}"))?;
            }
            // What a session does not show.
            Note::Responded(_) | Note::JudgeAsked(_) | Note::Judged(_) => {}
            // Another thread's.
            Note::Perform(_)
            | Note::Changed(_)
            | Note::ListChanged(_)
            | Note::Decided(_)
            | Note::HeadsUp(_)
            | Note::Compaction(_)
            | Note::StoreFailed(_)
            | Note::StoreRecovered(_) => {}
        }
        Ok(())
    }

    /// Asks the sidecar, a second one if the first dies over it. What it said before its answer is heard first.
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

    /// The same; that it is refused is told and nothing else: the host's work goes on in any case.
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
            // Told once, by the sidecar itself.
            Err(DriveError::Sidecar(error))
                if error.code() == Some(ErrorCode::StoreFailed) && self.outage.is_on =>
            {
                self.outage.keep::<R>(&params);
                Ok(None)
            }
            // A sequence that is over may have forgotten its actions.
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

    /// Where people talk to the host itself, one of them may be faster than a handoff: then it joins their turn.
    fn hurry(&mut self, action: &mut Action) {
        if let Action::InjectTurn { purpose: Purpose::Handoff, via_steer, .. } = action {
            *via_steer |= self.host.access().is_shared();
        }
    }

    fn warn(&mut self, message: &str) -> Result<(), DriveError> {
        Ok(self.reporter.report(&SessionEvent::Notice { level: Level::Warning, message })?)
    }

    /// Announces the thread and takes up what was asked for before. Returns how much that is.
    async fn open_thread(&mut self) -> Result<usize, DriveError> {
        let thread = self.host.thread().clone();
        let running_turn = match (self.turns.running_turn(), self.host.access()) {
            (Some(turn_id), _) => Some(turn_id.to_owned()),
            (None, Access::Shared(shared)) => shared.running_turn().map(str::to_owned),
            (None, Access::Exclusive) => None,
        };
        let params = ThreadOpenParams {
            thread_id: self.thread_id.clone(),
            cwd: thread.cwd.display().to_string(),
            role: Role::Owner,
            host: thread.host.clone(),
            model: thread.model.clone(),
            context_window: thread.context_window,
            context_window_assumed: false,
            baseline_tokens: thread.baseline_tokens,
            session_source: Some(match thread.origin.clone() {
                ThreadOrigin::Person => SessionSource::User,
                ThreadOrigin::Parent { name } => SessionSource::Subagent { name },
            }),
            transcript: thread
                .transcript
                .as_ref()
                .map(|path| Transcript { path: path.display().to_string() }),
            running_turn,
        };
        let opened = self.sidecar.call::<methods::ThreadOpen>(params).await;
        for note in self.sidecar.notes() {
            self.hear(note)?;
        }
        let opened = opened?;
        self.phase = opened.phase;
        self.told_model.clone_from(&thread.model);
        let sidecar = self.sidecar.process_id();
        self.reporter.report(&SessionEvent::Session { host: &thread, opened: &opened, sidecar })?;
        let pending = opened.pending_actions.len();
        for mut action in opened.pending_actions {
            self.hurry(&mut action.action);
            self.in_doubt.insert(action.sequence_id.clone());
            self.action_queue.take_up(action);
        }
        Ok(pending)
    }

    /// A new sidecar in place of one that died: it reads the thread's log and says what is still to be done.
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

    /// What the host says; its end is ours.
    async fn observe(&mut self, event: HostEvent) -> Result<(), DriveError> {
        self.blocked = false;
        match event {
            HostEvent::Gone { reason } => Err(HostError::Gone { reason }.into()),
            event => self.report_event(event).await,
        }
    }

    async fn end(mut self) {
        // Each is tried whatever came of the one before.
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
