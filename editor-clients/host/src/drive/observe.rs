//! Translates the host's events to the sidecar's requests.

use rawr_protocol::{
    CommandLine, CompactionOrigin, CompactionReportParams, CompactionReportStatus, Phase, Signal,
    SignalReportParams, TokenUsage, TurnCompletedParams, TurnCompletedResult, TurnFailure,
    TurnStartedParams, TurnStatus, TurnUsageParams, Verdict, check_id, methods,
};

use super::action_queue::ActionOutcome;
use super::driver::DriverTask;
use super::port::AccessKind;
use super::result::DriveError;
use super::turns::{DriverTurn, StartedBy};
use crate::event::{NoticeLevel, SessionEvent};
use crate::host::{ContextOverflow, HostEvent, TurnKind};

/// The id of a signal. It includes the turn, because some models restart their call ids in every turn. `None` if the
/// sidecar would refuse the id; the signal is then sent without one.
fn signal_id(turn_id: &str, call_id: &str) -> Option<String> {
    Some(format!("{turn_id} {call_id}")).filter(|id| check_id(id).is_ok())
}

/// A rough average, for estimates.
const BYTES_A_TOKEN: u64 = 4;

/// How a turn ended.
pub(super) struct EndedTurn {
    pub(super) status: TurnStatus,
    pub(super) last_agent_message: Option<String>,
    pub(super) error: Option<String>,
    pub(super) overflow: Option<ContextOverflow>,
}

impl DriverTask<'_> {
    pub(super) async fn report_event(&mut self, event: HostEvent) -> Result<(), DriveError> {
        self.reporter.report(&SessionEvent::Host(&event))?;
        match event {
            HostEvent::TurnStarted { turn_id, kind } => self.turn_started(turn_id, kind).await,
            HostEvent::AgentMessage { turn_id, text } => {
                if let Some(turn) = self.turns.running(&turn_id) {
                    turn.is_answered = true;
                    turn.said = Some(text.clone());
                    turn.last_agent_message = Some(text);
                }
                Ok(())
            }
            HostEvent::UserMessage { turn_id, text } => self.user_message(turn_id, text).await,
            HostEvent::Usage { turn_id, usage, context_window, needs_follow_up } => {
                self.sampled(turn_id, usage, context_window, needs_follow_up).await
            }
            HostEvent::UsageEstimated { turn_id, usage, context_window } => {
                self.usage(turn_id, usage, context_window, true).await
            }
            HostEvent::TitleChanged { title } => {
                let signal = Signal::TitleChanged { title };
                let thread_id = self.thread_id.clone();
                let params =
                    SignalReportParams { thread_id, turn_id: None, signal_id: None, signal };
                self.report::<methods::SignalReport>(params).await.map(drop)
            }
            HostEvent::PlanUpdated { turn_id, call_id, steps, explanation } => {
                let signal = Signal::PlanUpdated { steps, explanation };
                self.signal_of(turn_id, call_id.as_deref(), signal).await
            }
            HostEvent::ToolStarted { turn_id, call_id, name } => {
                if let Some(turn) = self.turns.running(&turn_id) {
                    turn.is_answered = true;
                }
                self.signal(turn_id, Signal::ToolStarted { call_id, name: Some(name) }).await
            }
            HostEvent::ToolFinished { turn_id, call_id } => {
                self.signal(turn_id, Signal::ToolFinished { call_id }).await
            }
            HostEvent::CommandFinished { turn_id, call_id, command, exit_code, cwd } => {
                let command = CommandLine::Line(command);
                let signal = Signal::CommandFinished { command, exit_code, cwd: Some(cwd) };
                self.signal_of(turn_id, Some(&call_id), signal).await
            }
            HostEvent::ReviewEntered { .. } => {
                self.turns.review_mode = true;
                Ok(())
            }
            HostEvent::ReviewLeft { .. } => {
                self.turns.review_mode = false;
                Ok(())
            }
            HostEvent::TurnCompleted { turn_id, status, last_agent_message, error, overflow } => {
                if self.turns.ended_late(&turn_id) {
                    return Ok(());
                }
                let ended = EndedTurn { status, last_agent_message, error, overflow };
                self.turn_completed(turn_id, ended).await
            }
            HostEvent::CompactionStarted { origin, .. } => {
                self.compaction(CompactionReportStatus::Started, origin, None, None).await
            }
            HostEvent::CompactionCompleted { turn_id, origin, tokens_after } => {
                let completed = CompactionReportStatus::Completed;
                self.compaction(completed, origin, tokens_after, None).await?;
                // A separate compaction turn reports its own end.
                let inside = self.turns.running(&turn_id);
                let inside = inside.is_some_and(|turn| turn.started_by != StartedBy::Compaction);
                if inside && origin == CompactionOrigin::Rawr {
                    self.compaction_turn_completed(&turn_id).await?;
                }
                Ok(())
            }
            HostEvent::CompactionFailed { turn_id, origin, error } => {
                self.compaction_failed(&turn_id, origin, error).await
            }
            HostEvent::Answered { request_id, answer } => {
                self.handle_model_answer(&request_id, answer).await
            }
            HostEvent::CompactionDeclined => self.decline().await,
            HostEvent::AsksPerson => self.release_typed_messages().await,
            HostEvent::MessagesTakenBack => self.release_all_messages().await,
            HostEvent::Notice(_) | HostEvent::Gone { .. } => Ok(()),
        }
    }

    /// Reports the usage of a sampling request, and the actions that it answered.
    async fn sampled(
        &mut self,
        turn_id: String,
        usage: TokenUsage,
        context_window: Option<u64>,
        needs_follow_up: bool,
    ) -> Result<(), DriveError> {
        let host_waits = self.port.access() == AccessKind::InProcess;
        let (mut goes_on, mut answered, mut said) = (needs_follow_up, Vec::new(), None);
        if let Some(turn) = self.turns.running(&turn_id) {
            turn.is_answered = true;
            (answered, said) = turn.sampled(needs_follow_up);
            goes_on |= turn.owes_work;
            if host_waits {
                turn.pause(needs_follow_up);
            }
        }
        self.usage(turn_id.clone(), usage, context_window, goes_on).await?;
        for action_id in answered {
            self.settle(&action_id, ActionOutcome::completed(&turn_id, said.clone())).await?;
        }
        Ok(())
    }

    async fn usage(
        &mut self,
        turn_id: String,
        usage: TokenUsage,
        context_window: Option<u64>,
        needs_follow_up: bool,
    ) -> Result<(), DriveError> {
        self.turns.context_tokens = Some(usage.context_tokens);
        let turn = self.turns.running(&turn_id);
        let last_agent_message = turn.and_then(|turn| turn.last_agent_message.clone());
        let thread = self.port.thread();
        let model = thread.model.clone().filter(|_| thread.model != self.link.known_model);
        if model.is_some() {
            self.link.known_model.clone_from(&model);
        }
        let limit = thread.compacts_above_tokens;
        let compacts_above_tokens = limit.filter(|_| limit != self.link.known_limit);
        self.link.known_limit = limit;
        let params = TurnUsageParams {
            thread_id: self.thread_id.clone(),
            turn_id,
            usage: Some(usage),
            context_window,
            compacts_above_tokens,
            model,
            needs_follow_up: Some(needs_follow_up),
            last_agent_message,
        };
        self.report::<methods::TurnUsage>(params).await.map(drop)
    }

    pub(super) async fn turn_started(
        &mut self,
        turn_id: String,
        kind: TurnKind,
    ) -> Result<(), DriveError> {
        let mut joined = None;
        match kind {
            TurnKind::Asked => {}
            // The user's turn started before the action's text was queued, and the text joined it.
            TurnKind::Person { text } if self.turns.carries_action(&turn_id) => joined = Some(text),
            TurnKind::Person { text } => {
                if !text.is_empty() {
                    self.reporter
                        .report(&SessionEvent::UserMessage { turn_id: &turn_id, text: &text })?;
                }
                self.turns.begin(&turn_id, StartedBy::Prompt { text }, None);
            }
            TurnKind::Host => self.turns.begin(&turn_id, StartedBy::Host, None),
            TurnKind::Compaction => {
                self.turns.begin(&turn_id, StartedBy::Compaction, None);
                return Ok(());
            }
        }
        let turn = self.turns.running(&turn_id).cloned();
        let DriverTurn { started_by, actions, .. } = turn.unwrap_or_default();
        let params = TurnStartedParams {
            thread_id: self.thread_id.clone(),
            turn_id,
            origin: started_by.origin(),
            action_id: actions.into_iter().next(),
            text: started_by.text().map(str::to_owned),
        };
        let turn_id = params.turn_id.clone();
        self.report::<methods::TurnStarted>(params).await?;
        match joined {
            Some(text) => self.user_message(turn_id, text).await,
            None => Ok(()),
        }
    }

    /// Reports a user message, unless it was reported when its turn started.
    pub(super) async fn user_message(
        &mut self,
        turn_id: String,
        text: String,
    ) -> Result<(), DriveError> {
        let turn = self.turns.running(&turn_id);
        let is_told = turn.is_some_and(|turn| turn.started_by.text() == Some(&text));
        if is_told {
            return Ok(());
        }
        if let Some(turn) = self.turns.running(&turn_id) {
            turn.is_joined = true;
        }
        if text.is_empty() {
            return Ok(());
        }
        self.reporter.report(&SessionEvent::UserMessage { turn_id: &turn_id, text: &text })?;
        self.signal(turn_id, Signal::UserMessage { text }).await
    }

    async fn signal(&mut self, turn_id: String, signal: Signal) -> Result<(), DriveError> {
        self.signal_of(turn_id, None, signal).await
    }

    /// Reports a signal with the tool call that it comes from.
    async fn signal_of(
        &mut self,
        turn_id: String,
        call_id: Option<&str>,
        signal: Signal,
    ) -> Result<(), DriveError> {
        let thread_id = self.thread_id.clone();
        let signal_id = call_id.and_then(|call_id| signal_id(&turn_id, call_id));
        let params = SignalReportParams { thread_id, turn_id: Some(turn_id), signal_id, signal };
        self.report::<methods::SignalReport>(params).await.map(drop)
    }

    /// Reports the turn's end before its actions' ends, because the sidecar reads a packet from the turn's last message.
    pub(super) async fn turn_completed(
        &mut self,
        turn_id: String,
        ended: EndedTurn,
    ) -> Result<(), DriveError> {
        let EndedTurn { status, last_agent_message, error, overflow } = ended;
        let turn = self.turns.end(&turn_id);
        if turn.started_by == StartedBy::Compaction {
            return self.compaction_turn_completed(&turn_id).await;
        }
        // If a request of rawr fails, rawr writes the packet itself.
        let failed = status == TurnStatus::Failed && turn.started_by != StartedBy::Request;
        self.turns.has_failed |= failed && overflow.is_none();
        // A turn that did not fit is continued after a compaction.
        self.turns.is_refused = failed && overflow.is_some();
        if let Some(error) = &error {
            let message = format!("the turn failed: {error}");
            self.reporter
                .report(&SessionEvent::Notice { level: NoticeLevel::Error, message: &message })?;
        }
        let last_agent_message = last_agent_message.or_else(|| turn.last_agent_message.clone());
        let params = TurnCompletedParams {
            thread_id: self.thread_id.clone(),
            turn_id: turn_id.clone(),
            status,
            failure: overflow.map(|overflow| self.context_full(overflow, &turn)),
            last_agent_message: last_agent_message.clone(),
            usage: None,
            queued_inputs: None,
            review_mode: Some(self.turns.review_mode),
        };
        let answer = self.report::<methods::TurnCompleted>(params).await?;
        // If this turn started a sequence, do not end the session before the sidecar's first notification of it.
        let starts = |answer: &TurnCompletedResult| answer.verdict.sequence_id.is_some();
        if answer.as_ref().is_some_and(starts) && self.link.phase == Phase::Idle {
            self.link.phase = Phase::AwaitingHeadsUp;
        }
        if let Some(answer) = answer.filter(|_| overflow.is_some()) {
            self.overflowed(&turn, &answer.verdict).await?;
        }
        for action_id in turn.actions {
            let outcome = match status {
                TurnStatus::Completed => {
                    ActionOutcome::completed(&turn_id, last_agent_message.clone())
                }
                TurnStatus::Interrupted | TurnStatus::Failed => {
                    let why = error.clone().unwrap_or_else(|| format!("the turn was {status}"));
                    ActionOutcome::failed(Some(&turn_id), why)
                }
            };
            self.settle(&action_id, outcome).await?;
        }
        Ok(())
    }

    /// The size of a refused request is known only if nothing but the message was added since the last answer.
    fn context_full(&self, overflow: ContextOverflow, turn: &DriverTurn) -> TurnFailure {
        let message = turn.started_by.text().filter(|_| !turn.is_answered);
        let estimate = message
            .zip(self.turns.context_tokens)
            .map(|(message, before)| before.saturating_add(message.len() as u64 / BYTES_A_TOKEN));
        let request_tokens = overflow.request_tokens.or(estimate);
        ContextOverflow { request_tokens, ..overflow }.to_failure()
    }

    /// The model refused the conversation as too long. A message that it never answered is sent again after the
    /// compaction; other work continues with the handoff.
    async fn overflowed(&mut self, turn: &DriverTurn, verdict: &Verdict) -> Result<(), DriveError> {
        if verdict.sequence_id.is_some() {
            return match turn.started_by.text().filter(|_| !turn.is_answered) {
                Some(text) => self.submit(text.to_owned()).await,
                None => Ok(()),
            };
        }
        // A running sequence compacts anyway.
        if !self.link.phase.is_settled() {
            return Ok(());
        }
        self.turns.has_failed = true;
        let message = format!(
            "the conversation does not fit the model's context window, and rawr does not compact it: {}; send a \
             shorter message, start a new conversation, or use a model with a larger window",
            verdict.reason
        );
        let level = NoticeLevel::Error;
        Ok(self.reporter.report(&SessionEvent::Notice { level, message: &message })?)
    }

    async fn compaction_turn_completed(&mut self, turn_id: &str) -> Result<(), DriveError> {
        let Some(compaction) = self.turns.compaction.take() else { return Ok(()) };
        let outcome = if compaction.done {
            ActionOutcome::completed(turn_id, None)
        } else {
            let error = "the compaction's turn ended without a compaction".to_owned();
            ActionOutcome::failed(Some(turn_id), error)
        };
        self.settle(&compaction.action_id, outcome).await
    }

    async fn compaction_failed(
        &mut self,
        turn_id: &str,
        origin: CompactionOrigin,
        error: String,
    ) -> Result<(), DriveError> {
        let failed = CompactionReportStatus::Failed;
        self.compaction(failed, origin, None, Some(error.clone())).await?;
        if origin != CompactionOrigin::Rawr {
            return Ok(());
        }
        match self.turns.compaction.take() {
            Some(ours) => {
                self.settle(&ours.action_id, ActionOutcome::failed(Some(turn_id), error)).await
            }
            None => Ok(()),
        }
    }

    async fn compaction(
        &mut self,
        status: CompactionReportStatus,
        origin: CompactionOrigin,
        tokens_after: Option<u64>,
        error: Option<String>,
    ) -> Result<(), DriveError> {
        let completed = status == CompactionReportStatus::Completed;
        let ours = self.turns.compaction.as_mut().filter(|_| origin == CompactionOrigin::Rawr);
        let (action_id, tokens_before) = match ours {
            Some(ours) => {
                ours.done |= completed;
                (Some(ours.action_id.clone()), ours.tokens_before)
            }
            None => (None, self.turns.context_tokens),
        };
        if completed {
            self.turns.context_tokens = tokens_after;
        }
        let params = CompactionReportParams {
            thread_id: self.thread_id.clone(),
            status,
            origin,
            action_id,
            tokens_before,
            tokens_after,
            error,
        };
        self.report::<methods::CompactionReport>(params).await.map(drop)
    }
}
