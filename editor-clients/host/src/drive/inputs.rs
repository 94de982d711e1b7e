//! What people say: each message goes to the sidecar first, which may hold it. Typed here it is given to the host; typed into
//! the host itself, and put to us before it gets there, it is only let go.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rawr_protocol::{
    Disposition, InputCancelParams, InputItem, InputKind, InputSubmitParams, ItemRole,
    PendingAction, Phase, Purpose, methods,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use super::action_queue::Outcome;
use super::turns::StartedBy;
use super::{Drive, DriveError};
use crate::event::SessionEvent;
use crate::host::{Access, Host, HostError};
use crate::sidecar::Launch;

/// A message that somebody is about to give to the host, and waits for our word with.
#[derive(Debug)]
pub struct Typed {
    pub text: String,
    pub answer: Answer,
}

/// Dropped without a word, it lets the message go.
#[derive(Debug)]
pub struct Answer(pub UnboundedSender<HoldReply>);

/// What is said of a message that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldReply {
    /// It waits on. To be said from time to time.
    StillHeld,
    Go,
}

/// A person's input that waits.
#[derive(Debug)]
pub(super) struct HeldInput {
    pub(super) input_id: String,
    pub(super) text: String,
    /// Where it was typed into the host itself.
    pub(super) answer: Option<Answer>,
}

/// Where messages come from that are typed into the host itself.
#[derive(Debug, Default)]
pub(super) struct TypedInputs {
    typed: Option<UnboundedReceiver<Typed>>,
    /// What came, and is looked at when all that the host had said before is known.
    came: VecDeque<Typed>,
    /// When those that wait heard of us last.
    said_at: Option<Instant>,
}

/// How often a message that waits is given a sign of life.
pub(super) const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// How the name of an input begins; the time follows.
const INPUT: &str = "input-";

/// When a message was said, which its name tells.
pub(super) fn said_at_ms(input_id: &str) -> Option<i64> {
    let (at, _) = input_id.strip_prefix(INPUT)?.split_once('-')?;
    i64::from_str_radix(at, 16).ok()
}

impl Answer {
    fn say(&self, said: HoldReply) {
        // Whoever waits no longer has let it go.
        let _ = self.0.send(said);
    }

    fn is_waited_for(&self) -> bool {
        !self.0.is_closed()
    }
}

impl TypedInputs {
    /// May be cancelled at any time.
    pub(super) async fn next(&mut self) -> Typed {
        if let Some(typed) = &mut self.typed {
            if let Some(typed) = typed.recv().await {
                return typed;
            }
            self.typed = None;
        }
        std::future::pending().await
    }
}

impl<H: Host, L: Launch> Drive<'_, H, L> {
    pub fn thread_id(&self) -> &str {
        &self.thread_id
    }

    /// What is typed into the host itself is put to this session first.
    #[must_use]
    pub fn with_typed_inputs(mut self, typed: UnboundedReceiver<Typed>) -> Self {
        self.typed_inputs.typed = Some(typed);
        self
    }

    pub(super) async fn submit(&mut self, text: String) -> Result<(), DriveError> {
        let input_id = self.next_input_id();
        // A sidecar that refuses is no reason to keep a person's words from the agent.
        match self.ask_about(&input_id, &text).await? {
            Some(Disposition::Held) => self.hold(HeldInput { input_id, text, answer: None })?,
            None if self.outage.is_on => {
                self.deliver_myself(HeldInput { input_id, text, answer: None });
            }
            Some(Disposition::Deliver) | None => self.action_queue.prompt(text),
        }
        Ok(())
    }

    /// Whoever says something as soon as a turn has ended may be faster than the word of that end.
    pub(super) async fn typed(&mut self, typed: Typed) -> Result<(), DriveError> {
        self.typed_inputs.came.push_back(typed);
        match self.host.access() {
            Access::Shared(shared) => Ok(shared.drain_events().await?),
            Access::Exclusive => Ok(()),
        }
    }

    pub(super) fn has_typed(&self) -> bool {
        !self.typed_inputs.came.is_empty()
    }

    /// A message for a turn that runs is that turn's, unless another one waits.
    pub(super) async fn look_at_typed(&mut self) -> Result<(), DriveError> {
        let Some(Typed { text, answer }) = self.typed_inputs.came.pop_front() else {
            return Ok(());
        };
        let may_wait = !self.turns.is_busy() || self.has_held_elsewhere();
        if may_wait && answer.is_waited_for() {
            let input_id = self.next_input_id();
            if self.ask_about(&input_id, &text).await? == Some(Disposition::Held) {
                answer.say(HoldReply::StillHeld);
                return self.hold(HeldInput { input_id, text, answer: Some(answer) });
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

    fn hold(&mut self, held: HeldInput) -> Result<(), DriveError> {
        self.reporter
            .report(&SessionEvent::InputHeld { input_id: &held.input_id, text: &held.text })?;
        self.held.push(held);
        Ok(())
    }

    pub(super) fn has_held_elsewhere(&self) -> bool {
        self.held.iter().any(|held| held.answer.is_some())
    }

    /// Says that those that wait elsewhere wait on. Some may have gone meanwhile; a screen that waits cannot show its
    /// person a question; and for what may never come nobody waits.
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

    /// Codex asks its person something: whoever waits for an answer must not wait for its screen.
    pub(super) async fn let_all_go_early(&mut self) -> Result<(), DriveError> {
        let (typed_there, others) =
            std::mem::take(&mut self.held).into_iter().partition(|held| held.answer.is_some());
        self.held = others;
        for held in Vec::<HeldInput>::into_iter(typed_there) {
            self.let_go_early(held).await?;
        }
        Ok(())
    }

    async fn let_go_early(&mut self, held: HeldInput) -> Result<(), DriveError> {
        let thread_id = self.thread_id.clone();
        let input_id = held.input_id.clone();
        // First, so that no handoff comes with it any more.
        self.report::<methods::InputCancel>(InputCancelParams { thread_id, input_id }).await?;
        self.outage.delivered_already(held.input_id);
        if let Some(answer) = held.answer {
            answer.say(HoldReply::Go);
        }
        Ok(())
    }

    /// Where there is no sidecar to hand it over.
    pub(super) fn deliver_myself(&mut self, held: HeldInput) {
        let HeldInput { input_id, text, answer } = held;
        let thread_id = self.thread_id.clone();
        let params = InputCancelParams { thread_id, input_id: input_id.clone() };
        self.outage.keep::<methods::InputCancel>(&params);
        self.outage.delivered_already(input_id);
        match answer {
            Some(answer) => answer.say(HoldReply::Go),
            None => self.action_queue.prompt(text),
        }
    }

    /// The handoff that comes with it is in the conversation before it goes.
    pub(super) async fn let_go(
        &mut self,
        action: PendingAction,
        held: HeldInput,
        items: &[&InputItem],
    ) -> Result<(), DriveError> {
        let handoff = items.iter().find(|item| item.role == ItemRole::Handoff);
        let Some(InputItem { text, .. }) = handoff else {
            self.go(&held);
            return self.settle(&action.action_id, Outcome::done_before()).await;
        };
        let begun = self.host.start_turn(&[text]).await;
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
            // It has gone another way.
            Some(_) | None => StartedBy::Injection,
        };
        self.turns.begin(&turn_id, started_by, Some(&action.action_id));
        self.show_injected(&action, &turn_id, Purpose::Handoff, text)?;
        if let Access::Shared(shared) = self.host.access() {
            shared.wait_until_recorded(&turn_id).await?;
        }
        self.go(&held);
        self.settle(&action.action_id, Outcome::accepted(Some(&turn_id))).await
    }

    fn go(&mut self, held: &HeldInput) {
        if let Some(answer) = &held.answer {
            answer.say(HoldReply::Go);
        }
    }
}
