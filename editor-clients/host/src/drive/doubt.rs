//! Actions that the host may already have carried out for an earlier driver. Their outcome in the host's record is reported,
//! and they are not repeated.

use rawr_protocol::{
    Action, CompactionOrigin, CompactionReportParams, CompactionReportStatus, ItemRole,
    PendingAction, methods,
};

use super::action_queue::{ActionOutcome, QueuedWork};
use super::driver::DriverTask;
use super::held::submitted_at_ms;
use super::observe::EndedTurn;
use super::port::Order;
use super::result::DriveError;
use super::turns::StartedBy;
use crate::host::{HostError, RecordedOutcome, TurnKind};

/// The user message of a delivery action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeliveryMessage {
    None,
    /// Without a handoff.
    Alone,
    /// With a handoff; the message is already in the conversation.
    Delivered,
    /// With a handoff; the message is not in the conversation.
    Missing,
}

impl DriverTask<'_> {
    /// Looks up an action in the host's record. Returns true if it must not be requested now.
    pub(super) async fn is_found(&mut self, action: &PendingAction) -> Result<bool, DriveError> {
        let action_id = action.action_id.as_str();
        let message = self.look_for_message(action).await?;
        if message == DeliveryMessage::Alone {
            return Ok(false);
        }
        match self.recorded_outcome(action).await? {
            RecordedOutcome::NotFound => return Ok(false),
            RecordedOutcome::Unclear => self.actions.requeue(QueuedWork::Perform(action.clone())),
            // The handoff was delivered before its message, which joins its turn or follows it.
            RecordedOutcome::Running { turn_id, .. } if message == DeliveryMessage::Missing => {
                self.actions.handed_over.insert(action.sequence_id.clone());
                self.turns.begin(&turn_id, StartedBy::Handoff, None);
                return Ok(false);
            }
            RecordedOutcome::Ended { .. } if message == DeliveryMessage::Missing => {
                self.actions.handed_over.insert(action.sequence_id.clone());
                return Ok(false);
            }
            RecordedOutcome::Running { turn_id, by_people } => {
                self.turns.begin(&turn_id, started_by(action), Some(action_id));
                self.settle(action_id, ActionOutcome::accepted(Some(&turn_id))).await?;
                self.found_messages(&turn_id, by_people).await?;
            }
            RecordedOutcome::Ended { turn_id, status, last_agent_message, by_people } => {
                self.turns.begin(&turn_id, started_by(action), Some(action_id));
                self.turn_started(turn_id.clone(), TurnKind::Asked).await?;
                self.found_messages(&turn_id, by_people).await?;
                let ended = EndedTurn { status, last_agent_message, error: None, overflow: None };
                self.turn_completed(turn_id, ended).await?;
            }
            RecordedOutcome::Compacted { turn_id, tokens_before, tokens_after } => {
                self.found_compacted(action, tokens_before, tokens_after).await?;
                self.settle(action_id, ActionOutcome::completed(&turn_id, None)).await?;
            }
        }
        // The message of this action is delivered.
        if let Action::DeliverInput { input_id, .. } = &action.action {
            self.held.remove(input_id);
        }
        Ok(true)
    }

    async fn recorded_outcome(
        &mut self,
        action: &PendingAction,
    ) -> Result<RecordedOutcome, DriveError> {
        let action = Box::new(action.clone());
        Ok(self.port.ask(|reply| Order::LookUp { action, reply }).await?)
    }

    /// Looks up an action that the host did not answer, because it may have carried it out.
    pub(super) async fn is_done_unanswered(
        &mut self,
        action: &PendingAction,
        error: &HostError,
    ) -> Result<bool, DriveError> {
        if !matches!(error, HostError::Silent { .. }) {
            return Ok(false);
        }
        self.actions.in_doubt.insert(action.sequence_id.clone());
        match self.is_found(action).await {
            Err(DriveError::Host(HostError::Silent { .. })) => Ok(false),
            found => found,
        }
    }

    /// Reports messages that users wrote in a turn of rawr while no driver ran. The turn then counts as a user turn.
    async fn found_messages(
        &mut self,
        turn_id: &str,
        by_people: Vec<String>,
    ) -> Result<(), DriveError> {
        for text in by_people {
            self.user_message(turn_id.to_owned(), text).await?;
        }
        Ok(())
    }

    /// A held message is released when its driver dies and is then already in the conversation. It is not sent again.
    async fn look_for_message(
        &mut self,
        action: &PendingAction,
    ) -> Result<DeliveryMessage, DriveError> {
        let Action::DeliverInput { input_id, items } = &action.action else {
            return Ok(DeliveryMessage::None);
        };
        let (messages, others): (Vec<_>, Vec<_>) =
            items.iter().cloned().partition(|item| item.role == ItemRole::Input);
        if messages.is_empty() {
            return Ok(DeliveryMessage::None);
        }
        let alone = PendingAction {
            issued_at_ms: submitted_at_ms(input_id).or(action.issued_at_ms),
            action: Action::DeliverInput { input_id: input_id.clone(), items: messages },
            ..action.clone()
        };
        let is_there = self.recorded_outcome(&alone).await? != RecordedOutcome::NotFound;
        if is_there {
            self.held.note_delivered(input_id.clone());
        }
        Ok(match (others.is_empty(), is_there) {
            (true, _) => DeliveryMessage::Alone,
            (false, true) => DeliveryMessage::Delivered,
            (false, false) => DeliveryMessage::Missing,
        })
    }

    async fn found_compacted(
        &mut self,
        action: &PendingAction,
        tokens_before: Option<u64>,
        tokens_after: Option<u64>,
    ) -> Result<(), DriveError> {
        self.turns.context_tokens = tokens_after;
        let params = CompactionReportParams {
            thread_id: self.thread_id.clone(),
            status: CompactionReportStatus::Completed,
            origin: CompactionOrigin::Rawr,
            action_id: Some(action.action_id.clone()),
            tokens_before,
            tokens_after,
            error: None,
        };
        self.report::<methods::CompactionReport>(params).await.map(drop)
    }
}

/// What started the turn of an action that was carried out before.
fn started_by(action: &PendingAction) -> StartedBy {
    match &action.action {
        Action::InjectTurn { purpose, .. } => StartedBy::injection(*purpose),
        Action::DeliverInput { .. }
        | Action::Compact { .. }
        | Action::Judge { .. }
        | Action::SamplePacket { .. } => StartedBy::Handoff,
    }
}
