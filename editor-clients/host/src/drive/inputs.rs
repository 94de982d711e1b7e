//! User messages. Each goes to the sidecar first, which may hold it. A message typed here is then sent to the host. A message
//! typed into the host is only released there, unless the driver took it over.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rawr_protocol::{
    Disposition, HeldInput, InputCancelParams, InputItem, InputKind, InputSubmitParams, ItemRole,
    PendingAction, Phase, Purpose, ThreadGetParams, methods,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use super::action_queue::ActionOutcome;
use super::turns::StartedBy;
use super::{Drive, DriveError};
use crate::event::SessionEvent;
use crate::host::{HostAccess, HostError};

/// A message typed into the host, which waits for the driver's answer.
#[derive(Debug)]
pub struct TypedMessage {
    /// The message.
    pub text: String,
    /// The channel for the driver's replies.
    pub answer: HoldReplySender,
}

/// The channel for replies about a held message. Dropping it releases the message.
#[derive(Debug)]
pub struct HoldReplySender(pub UnboundedSender<HoldReply>);

/// A reply about a held message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldReply {
    /// Keep holding it. Sent at least once per second.
    StillHeld,
    /// Release it.
    Go,
}

/// A held user message.
#[derive(Debug)]
pub(super) struct HeldMessage {
    pub(super) input_id: String,
    pub(super) text: String,
    /// Present if its sender holds it.
    pub(super) answer: Option<HoldReplySender>,
}

/// The messages that are typed into the host.
#[derive(Debug, Default)]
pub(super) struct TypedInputs {
    typed: Option<UnboundedReceiver<TypedMessage>>,
    /// Messages that arrived. They are handled after all earlier events of the host.
    came: VecDeque<TypedMessage>,
    /// When the holders were last told to keep holding.
    said_at: Option<Instant>,
}

/// Interval of the replies that keep a message held.
pub(super) const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// Prefix of an input id. The time follows.
const INPUT: &str = "input-";

/// When a message was submitted, read from its id.
pub(super) fn said_at_ms(input_id: &str) -> Option<i64> {
    let (at, _) = input_id.strip_prefix(INPUT)?.split_once('-')?;
    i64::from_str_radix(at, 16).ok()
}

impl HoldReplySender {
    /// Returns false if the sender has already released the message.
    fn say(&self, said: HoldReply) -> bool {
        self.0.send(said).is_ok()
    }

    fn is_waited_for(&self) -> bool {
        !self.0.is_closed()
    }
}

impl TypedInputs {
    /// May be cancelled at any time.
    pub(super) async fn next(&mut self) -> TypedMessage {
        if let Some(typed) = &mut self.typed {
            if let Some(typed) = typed.recv().await {
                return typed;
            }
            self.typed = None;
        }
        std::future::pending().await
    }
}

impl Drive<'_> {
    /// The id of the session's thread.
    pub fn thread_id(&self) -> &str {
        &self.thread_id
    }

    /// Sets the source of messages that users type into the host. The session answers each before it reaches the agent.
    #[must_use]
    pub fn with_typed_inputs(mut self, typed: UnboundedReceiver<TypedMessage>) -> Self {
        self.typed_inputs.typed = Some(typed);
        self
    }

    pub(super) async fn submit(&mut self, text: String) -> Result<(), DriveError> {
        let input_id = self.next_input_id();
        // A refusal by the sidecar must not keep a user's message from the agent.
        match self.ask_about(&input_id, &text).await? {
            Some(Disposition::Held) => self.hold(HeldMessage { input_id, text, answer: None })?,
            None if self.outage.is_on => {
                self.deliver_myself(HeldMessage { input_id, text, answer: None });
            }
            Some(Disposition::Deliver) | None => self.action_queue.prompt(text),
        }
        Ok(())
    }

    /// A message typed right after a turn ends may arrive before the event of that end.
    pub(super) async fn typed(&mut self, typed: TypedMessage) -> Result<(), DriveError> {
        self.typed_inputs.came.push_back(typed);
        match self.host.access() {
            HostAccess::Shared(shared) => Ok(shared.drain_events().await?),
            HostAccess::Exclusive => Ok(()),
        }
    }

    pub(super) fn has_typed(&self) -> bool {
        !self.typed_inputs.came.is_empty()
    }

    /// A message typed during a turn belongs to that turn, unless another message is held. No message waits for the answer to a question that may stay open.
    pub(super) async fn look_at_typed(&mut self) -> Result<(), DriveError> {
        let Some(TypedMessage { text, answer }) = self.typed_inputs.came.pop_front() else {
            return Ok(());
        };
        // A host that keeps a message can compact before it, also if it was asked to before the message came.
        let can_come_first = self.host.thread().host.capabilities.queue_in_place
            && self.turns.compaction.is_some()
            && self.turns.running_turn().is_none();
        let may_wait = match self.phase {
            _ if !self.held.is_empty() => true,
            Phase::AwaitingApproval => false,
            _ => !self.turns.is_busy() || can_come_first,
        };
        if may_wait && answer.is_waited_for() {
            let input_id = self.next_input_id();
            if self.ask_about(&input_id, &text).await? == Some(Disposition::Held) {
                // A sender that did not wait any longer is found out when the hold is renewed.
                answer.say(HoldReply::StillHeld);
                return self.hold(HeldMessage { input_id, text, answer: Some(answer) });
            }
        }
        answer.say(HoldReply::Go);
        Ok(())
    }

    fn next_input_id(&mut self) -> String {
        self.inputs += 1;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("{INPUT}{:x}-{}", since.as_millis(), self.inputs)
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
        self.held.push(held);
        Ok(())
    }

    pub(super) fn has_held_elsewhere(&self) -> bool {
        self.held.iter().any(|held| held.answer.is_some())
    }

    /// Renews the hold of messages typed into the host. A message is released early if its sender is gone, if the user must
    /// answer a question on the frozen screen, or if the handoff may never come.
    pub(super) async fn look_after_held(&mut self) -> Result<(), DriveError> {
        let is_in_vain = self.phase == Phase::AwaitingApproval || self.is_unsure;
        let is_due =
            self.typed_inputs.said_at.is_none_or(|said_at| said_at.elapsed() >= SIGN_OF_LIFE);
        if is_due {
            self.typed_inputs.said_at = Some(Instant::now());
        }
        let mut at = 0;
        while let Some(held) = self.held.get(at) {
            match &held.answer {
                Some(answer) if is_in_vain || !answer.is_waited_for() => {
                    let held = self.held.remove(at);
                    self.let_go_early(held).await?;
                }
                Some(answer) if is_due => {
                    answer.say(HoldReply::StillHeld);
                    at += 1;
                }
                Some(_) | None => at += 1,
            }
        }
        Ok(())
    }

    /// Codex asks the user a question. A held message would freeze the screen that shows it.
    pub(super) async fn let_all_go_early(&mut self) -> Result<(), DriveError> {
        let (typed_there, others) =
            std::mem::take(&mut self.held).into_iter().partition(|held| held.answer.is_some());
        self.held = others;
        for held in Vec::<HeldMessage>::into_iter(typed_there) {
            self.let_go_early(held).await?;
        }
        Ok(())
    }

    /// The user goes on in another conversation.
    pub(super) async fn taken_back(&mut self) -> Result<(), DriveError> {
        for held in std::mem::take(&mut self.held) {
            self.let_go_early(held).await?;
        }
        Ok(())
    }

    /// A host that keeps held messages itself has sent those of an earlier driver to the agent, or ended with them. Those go
    /// back to the user.
    pub(super) async fn release_unheld_inputs(&mut self) -> Result<(), DriveError> {
        if !self.host.thread().host.capabilities.queue_in_place {
            return Ok(());
        }
        let params = ThreadGetParams { thread_id: self.thread_id.clone() };
        let Some(thread) = self.report::<methods::ThreadGet>(params).await? else { return Ok(()) };
        let is_held =
            |input: &HeldInput| self.held.iter().any(|held| held.input_id == input.input_id);
        let unheld: Vec<_> =
            thread.held_inputs.into_iter().filter(|input| !is_held(input)).collect();
        for HeldInput { input_id, text } in unheld {
            let since_ms = said_at_ms(&input_id);
            if let HostAccess::Shared(shared) = self.host.access()
                && shared.give_back(&text, since_ms).await?
            {
                self.given_up.clone_from(&self.in_doubt);
            }
            self.let_go_early(HeldMessage { input_id, text, answer: None }).await?;
        }
        Ok(())
    }

    async fn let_go_early(&mut self, held: HeldMessage) -> Result<(), DriveError> {
        let thread_id = self.thread_id.clone();
        let input_id = held.input_id.clone();
        // First, so that no handoff follows with it.
        self.report::<methods::InputCancel>(InputCancelParams { thread_id, input_id }).await?;
        self.outage.delivered_already(held.input_id);
        if let Some(answer) = held.answer {
            answer.say(HoldReply::Go);
        }
        Ok(())
    }

    /// Delivers a held message without the sidecar, which cannot do it during an outage.
    pub(super) fn deliver_myself(&mut self, held: HeldMessage) {
        let HeldMessage { input_id, text, answer } = held;
        let thread_id = self.thread_id.clone();
        let params = InputCancelParams { thread_id, input_id: input_id.clone() };
        self.outage.keep::<methods::InputCancel>(&params);
        self.outage.delivered_already(input_id);
        match answer {
            Some(answer) => drop(answer.say(HoldReply::Go)),
            None => self.action_queue.prompt(text),
        }
    }

    /// Releases a held message after its handoff is in the conversation.
    pub(super) async fn let_go(
        &mut self,
        action: PendingAction,
        held: HeldMessage,
        items: &[&InputItem],
    ) -> Result<(), DriveError> {
        let handoff = items.iter().find(|item| item.role == ItemRole::Handoff);
        let Some(InputItem { text, .. }) = handoff else {
            self.go(&held);
            return self.settle(&action.action_id, ActionOutcome::done_before()).await;
        };
        let begun = match self.host.access() {
            HostAccess::Shared(shared) => shared.hand_over_before_held(text).await,
            HostAccess::Exclusive => self.host.start_turn(&[text]).await,
        };
        if matches!(begun, Err(HostError::Busy)) {
            self.held.insert(0, held);
            return self.begun(&action, begun).await.map(drop);
        }
        let Some(turn_id) = self.begun(&action, begun).await? else {
            self.go(&held);
            return Ok(());
        };
        let started_by = match &held.answer {
            Some(answer) if answer.is_waited_for() => {
                StartedBy::Delivery { text: held.text.clone() }
            }
            // The message was already released.
            Some(_) | None => StartedBy::Injection,
        };
        self.turns.begin(&turn_id, started_by, Some(&action.action_id));
        self.show_injected(&action, &turn_id, Purpose::Handoff, text)?;
        if let HostAccess::Shared(shared) = self.host.access() {
            shared.wait_until_recorded(&turn_id).await?;
        }
        self.go(&held);
        self.settle(&action.action_id, ActionOutcome::accepted(Some(&turn_id))).await
    }

    fn go(&mut self, held: &HeldMessage) {
        if let Some(answer) = &held.answer {
            answer.say(HoldReply::Go);
        }
    }
}
