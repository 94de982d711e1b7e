//! User messages. Each goes to the sidecar first, which may hold it. A message typed here is then sent to the host. A message
//! typed into the host is only released there, unless the driver took it over.

use rawr_protocol::{
    Disposition, HeldInput, InputCancelParams, InputItem, InputKind, InputSubmitParams,
    PendingAction, ThreadGetParams, methods,
};

use super::action_queue::{ActionOutcome, QueuedWork};
use super::actions::refused_if;
use super::driver::DriverTask;
use super::held::{HeldMessage, submitted_at_ms};
use super::port::Order;
use super::result::DriveError;
use super::turns::StartedBy;
use super::typed::{HoldReply, SenderState, TypedMessage};
use crate::event::{LeftMessage, SessionEvent};
use crate::host::{HandedOverBefore, HostError};

/// What became of a held message that its sender was told to release.
#[derive(Debug)]
pub(super) enum MessageRelease {
    /// Goes to the agent.
    ToAgent(String),
    /// The sender does not react, and releases the message when it reads that it must.
    Unconfirmed(HeldMessage),
    /// Released by the sender before.
    Earlier,
    /// Only the driver has it.
    Orphan(HeldMessage),
}

impl DriverTask<'_> {
    pub(super) async fn submit(&mut self, text: String) -> Result<(), DriveError> {
        let input_id = self.next_input_id();
        let disposition = match self.ask_about(&input_id, &text).await {
            Ok(disposition) => disposition,
            // The sidecar may have stored it before it ended.
            Err(error) => {
                let fate = LeftMessage::Unknown;
                self.reporter.report(&SessionEvent::MessageLeft { text: &text, fate })?;
                return Err(error);
            }
        };
        // A refusal by the sidecar must not keep a user's message from the agent.
        match disposition {
            Some(Disposition::Held) => self.hold(HeldMessage { input_id, text, sender: None })?,
            None if self.link.outage.is_on => {
                self.deliver_without_sidecar(HeldMessage { input_id, text, sender: None });
            }
            Some(Disposition::Deliver) | None => self.actions.prompt(text),
        }
        Ok(())
    }

    /// A message typed right after a turn ends may arrive before the event of that end.
    pub(super) async fn message_typed(&mut self, message: TypedMessage) -> Result<(), DriveError> {
        self.held.arrived(message);
        match self.port.is_shared() {
            true => Ok(self.port.ask(|reply| Order::DrainEvents { reply }).await?),
            false => Ok(()),
        }
    }

    /// A message typed during a turn belongs to that turn, unless another message is held. No message waits for the answer to a question that may stay open.
    pub(super) async fn submit_typed(&mut self) -> Result<(), DriveError> {
        let Some(TypedMessage { text, answer }) = self.held.next_typed() else { return Ok(()) };
        // A host that keeps a message can compact before it, also if it was asked to before the message came.
        let can_come_first = self.port.queues_in_place()
            && self.turns.compaction.is_some()
            && self.turns.running_turn().is_none();
        let may_wait = match self.link.phase {
            _ if !self.held.is_empty() => true,
            phase if phase.waits_for_person() => false,
            _ => !self.turns.is_busy() || can_come_first,
        };
        if may_wait && answer.sender() != SenderState::Released {
            let input_id = self.next_input_id();
            if self.ask_about(&input_id, &text).await? == Some(Disposition::Held) {
                // A sender that did not wait any longer is found out when the hold is renewed.
                answer.reply(HoldReply::StillHeld);
                return self.hold(HeldMessage { input_id, text, sender: Some(answer) });
            }
        }
        answer.reply(HoldReply::Go);
        if answer.sender() == SenderState::Orphaned {
            self.actions.prompt(text);
        }
        Ok(())
    }

    fn next_input_id(&mut self) -> String {
        self.held.next_id(self.port.now().unix_ms)
    }

    async fn ask_about(
        &mut self,
        input_id: &str,
        text: &str,
    ) -> Result<Option<Disposition>, DriveError> {
        let params = InputSubmitParams {
            thread_id: self.thread_id.clone(),
            input_id: input_id.to_owned(),
            text: text.to_owned(),
            kind: InputKind::Message,
        };
        let answer = self.report::<methods::InputSubmit>(params).await?;
        Ok(answer.map(|answer| answer.disposition))
    }

    fn hold(&mut self, held: HeldMessage) -> Result<(), DriveError> {
        self.reporter
            .report(&SessionEvent::InputHeld { input_id: &held.input_id, text: &held.text })?;
        self.held.hold(held);
        Ok(())
    }

    /// Renews the hold of messages typed into the host. A message is released early if its sender released it, if the user
    /// must answer a question on the frozen screen, or if the handoff may never come.
    pub(super) async fn renew_holds(&mut self) -> Result<(), DriveError> {
        let is_in_vain = self.link.phase.waits_for_person() || self.link.is_unsure;
        let released = self.held.renew(self.port.now().at, is_in_vain);
        self.release_each(released).await
    }

    /// Codex asks the user a question. A held message would freeze the screen that shows it.
    pub(super) async fn release_typed_messages(&mut self) -> Result<(), DriveError> {
        let typed = self.held.take_from_senders();
        self.release_each(typed).await
    }

    /// The user goes on in another conversation.
    pub(super) async fn release_all_messages(&mut self) -> Result<(), DriveError> {
        let all = self.held.take_all();
        self.release_each(all).await
    }

    /// If one cannot be released, the others are still held.
    async fn release_each(&mut self, messages: Vec<HeldMessage>) -> Result<(), DriveError> {
        let mut messages = messages.into_iter();
        while let Some(held) = messages.next() {
            if let Err(error) = self.release_early(held).await {
                messages.rev().for_each(|held| self.held.hold_first(held));
                return Err(error);
            }
        }
        Ok(())
    }

    /// A host that keeps held messages itself has sent those of an earlier driver to the agent, or ended with them. Those go
    /// back to the user.
    pub(super) async fn release_unheld_inputs(&mut self) -> Result<(), DriveError> {
        if !self.port.queues_in_place() {
            return Ok(());
        }
        let params = ThreadGetParams { thread_id: self.thread_id.clone() };
        let Some(thread) = self.report::<methods::ThreadGet>(params).await? else { return Ok(()) };
        let is_unheld = |input: &HeldInput| !self.held.has(&input.input_id);
        let unheld: Vec<_> = thread.held_inputs.into_iter().filter(is_unheld).collect();
        for HeldInput { input_id, text } in unheld {
            let since_ms = submitted_at_ms(&input_id);
            let given = text.clone();
            let give_back = |reply| Order::GiveBack { text: given, since_ms, reply };
            if self.port.is_shared()
                && let Some(why) = self.port.ask(give_back).await?.ends_sequence()
            {
                let sequences =
                    self.actions.in_doubt.iter().map(|sequence| (sequence.clone(), why));
                self.actions.given_up = sequences.collect();
            }
            self.release_early(HeldMessage { input_id, text, sender: None }).await?;
        }
        Ok(())
    }

    async fn release_early(&mut self, held: HeldMessage) -> Result<(), DriveError> {
        let thread_id = self.thread_id.clone();
        let input_id = held.input_id.clone();
        // First, so that no handoff follows with it.
        self.report::<methods::InputCancel>(InputCancelParams { thread_id, input_id }).await?;
        self.held.note_delivered(held.input_id.clone());
        if held.sender.is_some()
            && let MessageRelease::Orphan(held) = self.release(held).await
        {
            self.actions.prompt(held.text);
        }
        Ok(())
    }

    /// Delivers a held message without the sidecar, which cannot do it during an outage.
    pub(super) fn deliver_without_sidecar(&mut self, held: HeldMessage) {
        let HeldMessage { input_id, text, sender } = held;
        let thread_id = self.thread_id.clone();
        let params = InputCancelParams { thread_id, input_id: input_id.clone() };
        self.link.outage.keep::<methods::InputCancel>(&params);
        self.held.note_delivered(input_id);
        let has_sender = sender.is_some_and(|sender| {
            sender.reply(HoldReply::Go) || sender.sender() == SenderState::Released
        });
        if !has_sender {
            self.actions.prompt(text);
        }
    }

    /// Releases a held message after its handoff is in the conversation.
    pub(super) async fn release_with_handoff(
        &mut self,
        action: PendingAction,
        held: HeldMessage,
        items: &[&InputItem],
    ) -> Result<(), DriveError> {
        let ours = items.iter().find_map(|item| Some((item.role.purpose()?, &item.text)));
        let Some((purpose, text)) = ours else {
            return self.release_alone(action, held).await;
        };
        let begun = match self.port.is_shared() {
            true => self.hand_over_before_held(text.clone()).await,
            false => self.start_turn(vec![text.clone()]).await.map(HandedOverBefore::InTurn),
        };
        if matches!(begun, Err(HostError::Busy)) {
            self.held.hold_first(held);
            return self.accepted(&action, begun).await.map(drop);
        }
        let Some(handed_over) = self.accepted(&action, begun).await? else {
            if let MessageRelease::Orphan(held) = self.release(held).await {
                self.actions.prompt(held.text);
            }
            return Ok(());
        };
        let HandedOverBefore::InTurn(turn_id) = handed_over else {
            self.show_injected(&action, None, purpose, text)?;
            self.actions.handed_over.insert(action.sequence_id.clone());
            return self.release_alone(action, held).await;
        };
        self.show_injected(&action, Some(&turn_id), purpose, text)?;
        if self.port.is_shared() {
            let turn_id = turn_id.clone();
            self.port.ask(|reply| Order::WaitUntilRecorded { turn_id, reply }).await?;
        }
        let starts_no_turn = self.port.queues_in_place();
        let started_by = match self.release(held).await {
            MessageRelease::ToAgent(text)
            | MessageRelease::Unconfirmed(HeldMessage { text, .. }) => StartedBy::Delivery { text },
            // The handoff stands in the conversation, before the next message.
            MessageRelease::Earlier if starts_no_turn => {
                self.actions.handed_over.insert(action.sequence_id.clone());
                return self.settle(&action.action_id, ActionOutcome::done_before()).await;
            }
            MessageRelease::Earlier => StartedBy::Handoff,
            MessageRelease::Orphan(held) => {
                self.turns.begin(&turn_id, StartedBy::Handoff, None);
                self.actions.handed_over.insert(action.sequence_id.clone());
                return self.deliver_orphan(action, held);
            }
        };
        self.turns.begin(&turn_id, started_by, Some(&action.action_id));
        self.settle(&action.action_id, ActionOutcome::accepted(Some(&turn_id))).await
    }

    pub(super) async fn hand_over_before_held(
        &mut self,
        text: String,
    ) -> Result<HandedOverBefore, HostError> {
        let begun = self.port.ask(|reply| Order::HandOverBeforeHeld { text, reply }).await;
        refused_if(self.turns.is_given_up(), begun)
    }

    /// Tells the sender of a message to release it.
    pub(super) async fn release(&mut self, mut held: HeldMessage) -> MessageRelease {
        let Some(sender) = held.sender.take() else { return MessageRelease::Orphan(held) };
        let is_waiting = sender.reply(HoldReply::Go);
        // The state tells whether the sender reacted.
        let sender = self.port.ask(|reply| Order::AwaitRelease { sender, reply }).await;
        match sender.sender() {
            SenderState::Orphaned => MessageRelease::Orphan(held),
            SenderState::Holds => MessageRelease::Unconfirmed(held),
            SenderState::Released if is_waiting => MessageRelease::ToAgent(held.text),
            SenderState::Released => MessageRelease::Earlier,
        }
    }

    /// Releases a message on its own, in a turn of the person.
    async fn release_alone(
        &mut self,
        action: PendingAction,
        held: HeldMessage,
    ) -> Result<(), DriveError> {
        match self.release(held).await {
            MessageRelease::Orphan(held) => self.deliver_orphan(action, held),
            MessageRelease::ToAgent(_)
            | MessageRelease::Unconfirmed(_)
            | MessageRelease::Earlier => {
                self.settle(&action.action_id, ActionOutcome::done_before()).await
            }
        }
    }

    /// The sender ended with the user's screen, so the driver carries out the delivery.
    fn deliver_orphan(
        &mut self,
        action: PendingAction,
        held: HeldMessage,
    ) -> Result<(), DriveError> {
        self.held.hold_first(held);
        self.actions.requeue(QueuedWork::Perform(action));
        Ok(())
    }
}
