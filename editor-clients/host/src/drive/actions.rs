//! Carries out the sidecar's actions on the host, each once, and reports when each is accepted and when it is done. The
//! order and the texts come from the sidecar.

use rawr_protocol::{
    Action, CapsuleAttachParams, HandoffBuildParams, InputItem, ItemRole, JudgmentAnswerParams,
    PacketGetParams, PendingAction, methods,
};
use serde::Deserialize;
use tracing::Instrument;

use super::action_queue::{ActionOutcome, HostAvailability, QuestionPurpose, QueuedWork, order_of};
use super::driver::DriverTask;
use super::port::{AccessKind, Order};
use super::result::DriveError;
use super::turns::{GateHold, RequestedCompaction, StartedBy};
use crate::event::SessionEvent;
use crate::host::{CompactionOrder, Compactor, HostError, KeptHistory, ModelQuestion};
use crate::sidecar::SidecarError;

/// A judge's answer in the schema that the question requests.
#[derive(Deserialize)]
struct JudgeAnswer {
    should_compact: bool,
    reason: String,
}

impl DriverTask<'_> {
    /// Carries out queued work as far as the host is available.
    pub(super) async fn carry_out(&mut self) -> Result<(), DriveError> {
        while let Some(todo) = self.actions.next(self.availability()) {
            match todo {
                QueuedWork::ReportAgain { action_id } => self.report_action(&action_id).await?,
                QueuedWork::Prompt { text } => self.prompt(text).await?,
                QueuedWork::Perform(action) => {
                    let (id, sequence) = (&action.action_id, &action.sequence_id);
                    let span = tracing::info_span!("action", ?id, ?sequence);
                    span.in_scope(|| tracing::info!("is carried out"));
                    self.perform(action).instrument(span).await?;
                }
            }
        }
        Ok(())
    }

    fn availability(&self) -> HostAvailability {
        let inside = self.port.thread().host.capabilities.mid_turn_compact
            && self.turns.compaction.is_none()
            && !self.actions.is_blocked;
        if !self.turns.is_busy() && !self.actions.is_blocked {
            HostAvailability::Turn
        } else if inside && self.turns.is_between_requests() {
            HostAvailability::Compaction
        } else if inside {
            HostAvailability::Cut
        } else {
            HostAvailability::Word
        }
    }

    /// Resumes paused turns, unless a judgment, a compaction or a handoff is pending.
    pub(super) fn resume_paused_turns(&mut self) {
        // A host does not accept this while it compacts.
        if self.turns.compaction.is_some() {
            return;
        }
        let hold = if self.link.phase.holds_turn() && !self.link.is_unsure {
            GateHold::Midway
        } else {
            GateHold::None
        };
        for (turn_id, next) in self.turns.resume(hold) {
            self.port.order(Order::ResumeTurn { turn_id, next });
        }
    }

    async fn prompt(&mut self, text: String) -> Result<(), DriveError> {
        let texts = vec![text.clone()];
        let begun = self.port.ask(|reply| Order::StartTurn { texts, reply }).await;
        // A person's message waits longer for a host that was given up.
        let is_final = self.turns.given_up_until().is_some_and(|until| self.port.now().at >= until);
        match refused_if(is_final, begun) {
            Ok(turn_id) => {
                self.reporter
                    .report(&SessionEvent::UserMessage { turn_id: &turn_id, text: &text })?;
                self.turns.begin(&turn_id, StartedBy::Prompt { text }, None);
                Ok(())
            }
            Err(HostError::Busy) => {
                self.actions.requeue(QueuedWork::Prompt { text });
                Ok(())
            }
            Err(error @ HostError::Gone { .. }) => Err(error.into()),
            Err(source) => Err(DriveError::NotDelivered { text: excerpt(&text), source }),
        }
    }

    /// Starts a turn for an action of rawr, which does not wait for a host that was given up.
    pub(super) async fn start_turn(&mut self, texts: Vec<String>) -> Result<String, HostError> {
        let begun = self.port.ask(|reply| Order::StartTurn { texts, reply }).await;
        refused_if(self.turns.is_given_up(), begun)
    }

    pub(super) async fn steer(&mut self, text: String) -> Result<String, HostError> {
        self.port.ask(|reply| Order::Steer { text, reply }).await
    }

    async fn perform(&mut self, action: PendingAction) -> Result<(), DriveError> {
        if self.actions.in_doubt.contains(&action.sequence_id) && self.is_found(&action).await? {
            return Ok(());
        }
        if let Some(why) = self.actions.given_up.get(&action.sequence_id).copied() {
            return self.fail_action(&action, why).await;
        }
        match &action.action {
            Action::InjectTurn { purpose, text, via_steer, .. } => {
                let (purpose, text, via_steer) = (*purpose, text.clone(), *via_steer);
                self.inject(action, purpose, &text, via_steer).await
            }
            Action::Compact { .. } => self.compact(action).await,
            Action::DeliverInput { input_id, items } => {
                let (input_id, items) = (input_id.clone(), items.clone());
                self.deliver(action, &input_id, &items).await
            }
            Action::Judge { request_id, instructions, context, output_schema } => {
                let question = ModelQuestion {
                    request_id: action.action_id.clone(),
                    instructions: instructions.clone(),
                    text: context.clone(),
                    output_schema: output_schema.clone().into(),
                    ahead: false,
                };
                let request_id = request_id.clone();
                let asked = self.port.ask(|reply| Order::Judge { question, reply }).await;
                self.question_sent(&action, QuestionPurpose::Judgment { request_id }, asked).await
            }
            Action::SamplePacket { prompt, ahead } => {
                let question = ModelQuestion {
                    request_id: action.action_id.clone(),
                    instructions: String::new(),
                    text: prompt.clone(),
                    output_schema: serde_json::Value::Null,
                    ahead: *ahead,
                };
                let asked = self.port.ask(|reply| Order::Sample { question, reply }).await;
                self.question_sent(&action, QuestionPurpose::Packet, asked).await
            }
        }
    }

    async fn compact(&mut self, action: PendingAction) -> Result<(), DriveError> {
        let order = CompactionOrder {
            before_message: self.held.are_held_by_senders(),
            ..order_of(&action.action)
        };
        // A retry with the host as compactor comes after the first attempt may have rewritten the history.
        if order.by == Compactor::Provider {
            self.keep_history(&action.sequence_id).await?;
        }
        // A compaction without a golden path has no packet.
        if order.keep == KeptHistory::UserMessages {
            self.show_packet(&action.sequence_id).await?;
        }
        let compact = order.clone();
        let begun = self.port.ask(|reply| Order::Compact { order: compact, reply }).await;
        match refused_if(self.turns.is_given_up(), begun) {
            Ok(()) => {
                self.turns.compaction = Some(RequestedCompaction {
                    action_id: action.action_id.clone(),
                    tokens_before: self.turns.context_tokens,
                    done: false,
                });
                self.settle(&action.action_id, ActionOutcome::accepted(None)).await?;
                self.prepare_handoff(&order).await
            }
            refused => {
                let refused = refused.map(|()| String::new());
                self.accepted(&action, refused).await.map(|_| ())
            }
        }
    }

    /// Prepares the handoff in a shared conversation, where people can start a turn at any time.
    async fn prepare_handoff(&mut self, order: &CompactionOrder) -> Result<(), DriveError> {
        if order.keep != KeptHistory::UserMessages || !self.port.is_shared() {
            return Ok(());
        }
        let Some(packet) = &self.result.packet else { return Ok(()) };
        let packet = packet.packet.clone();
        let params = HandoffBuildParams { thread_id: self.thread_id.clone(), packet };
        let handoff = self.report::<methods::HandoffBuild>(params).await?;
        if let Some(handoff) = handoff {
            let before_message = order.before_message;
            self.port.order(Order::PrepareHandoff { text: handoff.text, before_message });
        }
        Ok(())
    }

    /// Saves the history of a host that writes no transcript. A failure is reported, and the compaction continues.
    async fn keep_history(&mut self, sequence_id: &str) -> Result<(), DriveError> {
        if self.port.access() != AccessKind::InProcess {
            return Ok(());
        }
        let history = self.port.ask(|reply| Order::ReadHistory { reply }).await?;
        let params = CapsuleAttachParams {
            thread_id: self.thread_id.clone(),
            capsule_id: sequence_id.to_owned(),
            history,
        };
        match self.call_until_answered::<methods::CapsuleAttach>(&params).await {
            Err(DriveError::Sidecar(
                error @ (SidecarError::Refused { .. } | SidecarError::NotUnderstood { .. }),
            )) => self.warn(&format!("failed to save the history before this compaction: {error}")),
            kept => kept.map(drop),
        }
    }

    /// Reports the sequence's packet. If the sidecar has none, its refusal is reported and the compaction continues.
    async fn show_packet(&mut self, sequence_id: &str) -> Result<(), DriveError> {
        let params = PacketGetParams {
            thread_id: self.thread_id.clone(),
            sequence_id: Some(sequence_id.to_owned()),
        };
        if let Some(packet) = self.report::<methods::PacketGet>(params).await? {
            self.reporter.report(&SessionEvent::Packet(&packet))?;
            self.result.packet = Some(packet);
        }
        Ok(())
    }

    async fn deliver(
        &mut self,
        action: PendingAction,
        input_id: &str,
        items: &[InputItem],
    ) -> Result<(), DriveError> {
        // Where it was typed, a message goes on by itself when it no longer waits.
        let is_kept_there = self.port.queues_in_place();
        let is_new = |item: &&InputItem| match item.role {
            ItemRole::Handoff | ItemRole::Notice => {
                !self.actions.handed_over.contains(&action.sequence_id)
            }
            ItemRole::Input => !is_kept_there && !self.held.is_delivered(input_id),
        };
        let items: Vec<_> = items.iter().filter(is_new).collect();
        if let Some(held) = self.held.remove_from_sender(input_id) {
            return self.release_with_handoff(action, held, &items).await;
        }
        if is_kept_there
            && let [InputItem { role, text }] = items[..]
            && let Some(purpose) = role.purpose()
            && self.port.is_shared()
            && self.port.running_turn().is_none()
        {
            return self.inject_before_held(&action, purpose, text).await;
        }
        if items.is_empty() {
            return self.settle(&action.action_id, ActionOutcome::done_before()).await;
        }
        let texts: Vec<_> = items.iter().map(|item| item.text.clone()).collect();
        let inputs = items.iter().filter(|item| item.role == ItemRole::Input);
        let inputs: Vec<_> = inputs.map(|item| item.text.as_str()).collect();
        let input = (!inputs.is_empty()).then(|| inputs.join("\n"));
        // A running turn can only be the one that the handoff started.
        let joined = match self.turns.is_busy() {
            true => self.steer(texts.join("\n\n")).await,
            false => Err(HostError::NoTurn),
        };
        let begun = match joined {
            Err(HostError::NoTurn) => self.start_turn(texts).await,
            joined => joined,
        };
        if matches!(begun, Err(HostError::Busy)) {
            return self.accepted(&action, begun).await.map(drop);
        }
        self.held.remove(input_id);
        let turn_id = match begun {
            Ok(turn_id) => turn_id,
            Err(error @ HostError::Gone { .. }) => return Err(error.into()),
            Err(error) => return self.not_delivered(&action, input, error).await,
        };
        let started_by = match input {
            None => StartedBy::Handoff,
            Some(text) => StartedBy::Delivery { text },
        };
        self.turns.begin(&turn_id, started_by, Some(&action.action_id));
        for item in items {
            match item.role.purpose() {
                Some(purpose) => {
                    self.show_injected(&action, Some(&turn_id), purpose, &item.text)?;
                }
                None => {
                    let (turn_id, text) = (turn_id.as_str(), item.text.as_str());
                    self.reporter.report(&SessionEvent::UserMessage { turn_id, text })?;
                }
            }
        }
        self.settle(&action.action_id, ActionOutcome::accepted(Some(&turn_id))).await
    }

    /// Handles a refused delivery. The sidecar drops the message, so the driver delivers it: without the handoff, because
    /// both together may have been too large. If the host did not answer, it may have taken the message, and the driver
    /// does not send it again.
    async fn not_delivered(
        &mut self,
        action: &PendingAction,
        input: Option<String>,
        error: HostError,
    ) -> Result<(), DriveError> {
        if self.is_done_unanswered(action, &error).await? {
            return Ok(());
        }
        self.fail_action(action, &error.to_string()).await?;
        match input {
            None => Ok(()),
            Some(text) if matches!(error, HostError::Silent { .. }) => {
                Err(DriveError::NotDelivered { text: excerpt(&text), source: error })
            }
            Some(text) => {
                self.warn(&format!(
                    "failed to deliver the handoff; sending the held message without it: {error}"
                ))?;
                self.actions.prompt(text);
                Ok(())
            }
        }
    }

    /// Handles the host's answer to an action. Returns the turn that it started, if any.
    pub(super) async fn accepted<T>(
        &mut self,
        action: &PendingAction,
        answer: Result<T, HostError>,
    ) -> Result<Option<T>, DriveError> {
        match answer {
            Ok(begun) => Ok(Some(begun)),
            Err(HostError::Busy) => {
                self.actions.requeue(QueuedWork::Perform(action.clone()));
                Ok(None)
            }
            Err(error @ HostError::Gone { .. }) => Err(error.into()),
            Err(error) => {
                if !self.is_done_unanswered(action, &error).await? {
                    self.fail_action(action, &error.to_string()).await?;
                }
                Ok(None)
            }
        }
    }

    async fn question_sent(
        &mut self,
        action: &PendingAction,
        what: QuestionPurpose,
        answer: Result<(), HostError>,
    ) -> Result<(), DriveError> {
        if answer.is_ok() {
            self.actions.questions.insert(action.action_id.clone(), what);
        }
        self.accepted(action, answer).await.map(drop)
    }

    /// Handles the answer of the host's model to an action's question.
    pub(super) async fn handle_model_answer(
        &mut self,
        action_id: &str,
        answer: Result<String, String>,
    ) -> Result<(), DriveError> {
        match (self.actions.questions.remove(action_id), answer) {
            (Some(QuestionPurpose::Judgment { request_id }), Ok(text)) => {
                match serde_json::from_str::<JudgeAnswer>(&text) {
                    Ok(JudgeAnswer { should_compact, reason }) => {
                        let params = JudgmentAnswerParams {
                            thread_id: self.thread_id.clone(),
                            request_id,
                            should_compact,
                            reason,
                        };
                        self.report::<methods::JudgmentAnswer>(params).await.map(drop)
                    }
                    Err(error) => {
                        let error = format!("failed to parse the judge's answer: {error}");
                        self.settle(action_id, ActionOutcome::failed(None, error)).await
                    }
                }
            }
            (Some(QuestionPurpose::Packet), Ok(text)) => {
                self.settle(action_id, ActionOutcome::sampled(text)).await
            }
            (Some(_), Err(error)) => {
                self.settle(action_id, ActionOutcome::failed(None, error)).await
            }
            (None, _) => Ok(()),
        }
    }

    async fn fail_action(&mut self, action: &PendingAction, why: &str) -> Result<(), DriveError> {
        self.settle(&action.action_id, ActionOutcome::failed(None, why.to_owned())).await
    }

    /// Records an action's outcome and reports it.
    pub(super) async fn settle(
        &mut self,
        action_id: &str,
        outcome: ActionOutcome,
    ) -> Result<(), DriveError> {
        self.actions.note(action_id, outcome);
        self.report_action(action_id).await
    }

    async fn report_action(&mut self, action_id: &str) -> Result<(), DriveError> {
        if let Some(params) = self.actions.report(&self.thread_id, action_id) {
            self.report::<methods::ActionReport>(params).await?;
        }
        Ok(())
    }
}

/// The first characters of a message, enough to recognize it.
fn excerpt(text: &str) -> String {
    const CHARS: usize = 200;
    let kept: String = text.chars().take(CHARS).collect();
    if kept.len() < text.len() { format!("{kept} …") } else { kept }
}

/// That a host is busy is a refusal where it does not end what it was asked to stop.
pub(super) fn refused_if<T>(is_final: bool, answer: Result<T, HostError>) -> Result<T, HostError> {
    match answer {
        Err(HostError::Busy) if is_final => {
            let message = "the host still runs what it was asked to stop".to_owned();
            Err(HostError::Refused { method: "interrupt", message })
        }
        answer => answer,
    }
}
