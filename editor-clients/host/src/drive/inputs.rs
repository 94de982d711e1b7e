//! User messages. Each goes to the sidecar first, which may hold it. A message typed here is then sent to the host. A message
//! typed into the host is only released there, unless the driver took it over.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rawr_protocol::{
    Disposition, HeldInput, InputCancelParams, InputItem, InputKind, InputSubmitParams,
    PendingAction, ThreadGetParams, methods,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout};

use super::action_queue::{ActionOutcome, QueuedWork};
use super::turns::StartedBy;
use super::{Drive, DriveError};
use crate::event::SessionEvent;
use crate::host::{HandedOverBefore, HostAccess, HostError};

/// A message typed into the host, which waits for the driver's answer.
#[derive(Debug)]
pub struct TypedMessage {
    /// The message.
    pub text: String,
    /// The channel for the driver's replies.
    pub answer: HoldReplySender,
}

/// The driver's end of the channel about a held message. Dropping it releases the message.
#[derive(Debug)]
pub struct HoldReplySender {
    replies: UnboundedSender<HoldReply>,
    is_orphaned: Arc<AtomicBool>,
}

/// The sender's end of the channel about a held message. Dropping it means that the message went to the agent, or that the
/// user has it back.
#[derive(Debug)]
pub struct HoldReplies {
    replies: UnboundedReceiver<HoldReply>,
    is_orphaned: Arc<AtomicBool>,
}

/// A channel about one message.
pub fn hold_channel() -> (HoldReplySender, HoldReplies) {
    let (send, replies) = unbounded_channel();
    let is_orphaned = Arc::<AtomicBool>::default();
    let sender = HoldReplySender { replies: send, is_orphaned: Arc::clone(&is_orphaned) };
    (sender, HoldReplies { replies, is_orphaned })
}

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

/// How long a sender may take to say what became of a message.
const RELEASE: Duration = Duration::from_secs(1);

impl HeldMessage {
    /// Tells the sender to release the message.
    pub(super) async fn release(mut self) -> MessageRelease {
        let Some(answer) = self.answer.take() else { return MessageRelease::Orphan(self) };
        let is_waiting = answer.say(HoldReply::Go);
        // The state tells whether the sender reacted.
        let _ = timeout(RELEASE, answer.replies.closed()).await;
        match answer.sender() {
            SenderState::Orphaned => MessageRelease::Orphan(self),
            SenderState::Holds => MessageRelease::Unconfirmed(self),
            SenderState::Released if is_waiting => MessageRelease::ToAgent(self.text),
            SenderState::Released => MessageRelease::Earlier,
        }
    }
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

/// What the sender of a held message does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SenderState {
    Holds,
    /// Gave it to the agent, or back to the user.
    Released,
    /// Ended with the user's screen. Only the driver has the message now.
    Orphaned,
}

impl HoldReplySender {
    /// Returns false if the sender no longer holds the message.
    fn say(&self, said: HoldReply) -> bool {
        self.replies.send(said).is_ok()
    }

    fn sender(&self) -> SenderState {
        match (self.replies.is_closed(), self.is_orphaned.load(Ordering::Acquire)) {
            (false, _) => SenderState::Holds,
            (true, false) => SenderState::Released,
            (true, true) => SenderState::Orphaned,
        }
    }
}

impl HoldReplies {
    /// The driver's next reply. `None` if there will be none, which releases the message. Cancel safe.
    pub async fn next(&mut self) -> Option<HoldReply> {
        self.replies.recv().await
    }

    /// Accepts no further reply. Those that were sent can still be read.
    pub fn close(&mut self) {
        self.replies.close();
    }

    /// The user's screen ended, and this message did not reach the agent. The driver keeps it.
    pub fn orphan(self) {
        self.is_orphaned.store(true, Ordering::Release);
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
            phase if phase.waits_for_person() => false,
            _ => !self.turns.is_busy() || can_come_first,
        };
        if may_wait && answer.sender() != SenderState::Released {
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

    /// From here on the driver holds the messages whose senders ended with the user's screen.
    pub(super) fn adopt_orphans(&mut self) {
        for held in &mut self.held {
            held.answer.take_if(|answer| answer.sender() == SenderState::Orphaned);
        }
    }

    /// Renews the hold of messages typed into the host. A message is released early if its sender released it, if the user
    /// must answer a question on the frozen screen, or if the handoff may never come.
    pub(super) async fn look_after_held(&mut self) -> Result<(), DriveError> {
        let is_in_vain = self.phase.waits_for_person() || self.is_unsure;
        let is_due =
            self.typed_inputs.said_at.is_none_or(|said_at| said_at.elapsed() >= SIGN_OF_LIFE);
        if is_due {
            self.typed_inputs.said_at = Some(Instant::now());
        }
        self.adopt_orphans();
        let mut at = 0;
        while let Some(held) = self.held.get(at) {
            match &held.answer {
                Some(answer) if is_in_vain || answer.sender() != SenderState::Holds => {
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
        self.adopt_orphans();
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
                && let Some(why) = shared.give_back(&text, since_ms).await?.ends_sequence()
            {
                let sequences = self.in_doubt.iter().map(|sequence| (sequence.clone(), why));
                self.given_up = sequences.collect();
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
        self.outage.delivered_already(held.input_id.clone());
        if held.answer.is_some()
            && let MessageRelease::Orphan(held) = held.release().await
        {
            self.action_queue.prompt(held.text);
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
        let has_sender = answer.is_some_and(|answer| {
            answer.say(HoldReply::Go) || answer.sender() == SenderState::Released
        });
        if !has_sender {
            self.action_queue.prompt(text);
        }
    }

    /// Releases a held message after its handoff is in the conversation.
    pub(super) async fn let_go(
        &mut self,
        action: PendingAction,
        held: HeldMessage,
        items: &[&InputItem],
    ) -> Result<(), DriveError> {
        let ours = items.iter().find_map(|item| Some((item.role.purpose()?, &item.text)));
        let Some((purpose, text)) = ours else {
            return self.release(action, held).await;
        };
        let begun = match self.host.access() {
            HostAccess::Shared(shared) => shared.hand_over_before_held(text).await,
            HostAccess::Exclusive => {
                self.host.start_turn(&[text]).await.map(HandedOverBefore::InTurn)
            }
        };
        if matches!(begun, Err(HostError::Busy)) {
            self.held.insert(0, held);
            return self.begun(&action, begun).await.map(drop);
        }
        let Some(handed_over) = self.begun(&action, begun).await? else {
            if let MessageRelease::Orphan(held) = held.release().await {
                self.action_queue.prompt(held.text);
            }
            return Ok(());
        };
        let HandedOverBefore::InTurn(turn_id) = handed_over else {
            self.show_injected(&action, None, purpose, text)?;
            self.handed_over.insert(action.sequence_id.clone());
            return self.release(action, held).await;
        };
        self.show_injected(&action, Some(&turn_id), purpose, text)?;
        if let HostAccess::Shared(shared) = self.host.access() {
            shared.wait_until_recorded(&turn_id).await?;
        }
        let starts_no_turn = self.host.thread().host.capabilities.queue_in_place;
        let started_by = match held.release().await {
            MessageRelease::ToAgent(text)
            | MessageRelease::Unconfirmed(HeldMessage { text, .. }) => StartedBy::Delivery { text },
            // The handoff stands in the conversation, before the next message.
            MessageRelease::Earlier if starts_no_turn => {
                self.handed_over.insert(action.sequence_id.clone());
                return self.settle(&action.action_id, ActionOutcome::done_before()).await;
            }
            MessageRelease::Earlier => StartedBy::Handoff,
            MessageRelease::Orphan(held) => {
                self.turns.begin(&turn_id, StartedBy::Handoff, None);
                self.handed_over.insert(action.sequence_id.clone());
                return self.deliver_orphan(action, held);
            }
        };
        self.turns.begin(&turn_id, started_by, Some(&action.action_id));
        self.settle(&action.action_id, ActionOutcome::accepted(Some(&turn_id))).await
    }

    /// Lets a message go on its own, in a turn of the person.
    async fn release(
        &mut self,
        action: PendingAction,
        held: HeldMessage,
    ) -> Result<(), DriveError> {
        match held.release().await {
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
        self.held.insert(0, held);
        self.wait_with(QueuedWork::Perform(action));
        Ok(())
    }
}
