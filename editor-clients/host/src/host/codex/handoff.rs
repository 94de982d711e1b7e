//! The handoff in a shared thread. It is added to Codex's queue, so that it comes before anything that users type. The events
//! of its turn are withheld until the driver claims the turn.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::handoff_queue::QueueEntry;
use super::message::{CodexError, CodexNotification, SettingsNote};
use super::{Codex, requests};
use crate::host::{AgentHost, HandedOverBefore, HostError, LeftMessage, SharedThread};

/// The result of claiming the queued handoff.
pub(super) enum HandedOver {
    NothingInLine,
    Begun {
        turn_id: String,
    },
    /// Another turn was faster; the handoff was removed from the queue.
    TakenBack,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueueAddResult {
    queued_submission: QueuedSubmission,
}

#[derive(Deserialize)]
struct QueuedSubmission {
    id: String,
}

#[derive(Deserialize)]
struct QueueDeleteResult {
    deleted: bool,
}

/// How long Codex may take to start the first entry of its queue.
const SOON: Duration = Duration::from_secs(10);

impl Codex {
    pub(super) fn read(&mut self, note: CodexNotification) {
        if let Some(turn_id) = note.message_taken_in() {
            self.took_message = Some(turn_id.to_owned());
        }
        if let CodexNotification::Settings(SettingsNote { thread_id, thread_settings }) = &note
            && *thread_id == self.thread.thread_id
            && thread_settings.model.is_some()
        {
            self.thread.model.clone_from(&thread_settings.model);
        }
        if self.handoff_queue.begins(&note)
            && let Some(turn_id) = note.inside_turn()
        {
            self.turns.turn_is_ours(turn_id);
        }
        let mut events = self.turns.read(note.clone());
        let of_children =
            self.children.read(&note, &self.thread.thread_id, self.turns.latest(), &events);
        events.extend(of_children);
        if self.handoff_queue.has_begun() {
            self.withheld.extend(events);
        } else {
            self.events.extend(events);
        }
        if self.turns.has_compacted()
            && let Some(QueueEntry { name, text }) = self.handoff_queue.compacted()
        {
            let add = requests::queue_add(self.thread_id(), &name, &text);
            self.queueing = Some(self.connection.post(add));
        }
    }

    /// Handles the answer to `thread/queue/add`. Without a queue, the handoff is started as a turn later.
    pub(super) fn put_in_line(&mut self, answer: Result<Value, CodexError>) {
        let queued =
            answer.ok().and_then(|answer| serde_json::from_value::<QueueAddResult>(answer).ok());
        self.handoff_queue.taken(queued.map(|queued| queued.queued_submission.id));
    }

    /// Claims the turn of the queued handoff. Removes the handoff if another turn runs before it.
    pub(super) async fn hand_over(&mut self) -> Result<HandedOver, HostError> {
        loop {
            if let Some(turn_id) = self.handoff_queue.claim() {
                self.let_withheld_go();
                return Ok(HandedOver::Begun { turn_id });
            }
            if !self.handoff_queue.is_queued() {
                return Ok(HandedOver::NothingInLine);
            }
            let is_behind = self.turns.runs_for_others() && self.handoff_queue.entry().is_some();
            if is_behind && self.take_out().await? {
                return Ok(HandedOver::TakenBack);
            }
            match timeout(SOON, self.connection.arrive()).await {
                Ok(arrived) => self.take(arrived),
                Err(_) if self.take_out().await? => return Ok(HandedOver::TakenBack),
                Err(_) => {}
            }
            self.ready()?;
        }
    }

    /// Waits until the turn's message is in the conversation, or the turn has ended, so that later messages come after it.
    pub(super) async fn until_message_in(&mut self, turn_id: &str) -> Result<(), HostError> {
        let until = Instant::now() + SOON;
        while self.took_message.as_deref() != Some(turn_id) && self.turns.current() == Some(turn_id)
        {
            match timeout_at(until, self.connection.arrive()).await {
                Ok(arrived) => self.take(arrived),
                // The turn was accepted, so the message will follow.
                Err(_) => return Ok(()),
            }
            self.ready()?;
        }
        Ok(())
    }

    /// In the history and not as a turn, which the message would join: Codex forgets what has joined a turn and was not read
    /// when that is interrupted.
    async fn put_before_held(&mut self, handoff: &str) -> Result<HandedOverBefore, HostError> {
        self.ready()?;
        let is_there = self.handoff_queue.has_begun()
            || self.handoff_queue.is_queued() && !self.take_out().await?;
        if is_there {
            return Ok(HandedOverBefore::InTurn(self.start_turn(&[handoff]).await?));
        }
        self.pause_goal().await?;
        if self.is_busy() {
            return Err(HostError::Busy);
        }
        self.connection.request(requests::inject_message(self.thread_id(), handoff)).await?;
        self.catch_up();
        Ok(HandedOverBefore::InHistory)
    }

    /// Removes the handoff from the queue. Returns whether it was still queued.
    async fn take_out(&mut self) -> Result<bool, HostError> {
        let delete = requests::queue_delete(self.thread_id(), self.handoff_queue.entry());
        let answer = self.connection.ask(delete).await?;
        self.catch_up();
        let answer =
            answer.ok().and_then(|answer| serde_json::from_value::<QueueDeleteResult>(answer).ok());
        let is_out = answer.is_some_and(|answer| answer.deleted) && self.handoff_queue.is_queued();
        if is_out {
            self.handoff_queue.forget();
        }
        Ok(is_out)
    }

    /// The driver will not claim the turn: stop withholding its events.
    pub(super) fn give_up_claim(&mut self) {
        if self.handoff_queue.has_begun() {
            self.handoff_queue.forget();
            self.let_withheld_go();
        }
    }

    fn let_withheld_go(&mut self) {
        self.events.append(&mut self.withheld);
    }
}

impl SharedThread for Codex {
    fn running_turn(&self) -> Option<&str> {
        self.turns.running_since_before()
    }

    fn drain_events(&mut self) -> BoxFuture<'_, Result<(), HostError>> {
        Box::pin(async { self.status().await.map(drop) })
    }

    fn prepare_handoff(&mut self, text: String, before_message: bool) {
        // Only a goal could start a turn then.
        if !before_message || self.goal.is_active() {
            self.handoff_queue.prepare(text);
        }
    }

    fn hand_over_before_held<'h>(
        &'h mut self,
        handoff: &'h str,
    ) -> BoxFuture<'h, Result<HandedOverBefore, HostError>> {
        Box::pin(self.put_before_held(handoff))
    }

    /// Not needed: Codex keeps no message.
    fn give_back<'h>(
        &'h mut self,
        _text: &'h str,
        _since_ms: Option<i64>,
    ) -> BoxFuture<'h, Result<LeftMessage, HostError>> {
        Box::pin(async { Ok(LeftMessage::Passed) })
    }

    fn wait_until_recorded<'h>(
        &'h mut self,
        turn_id: &'h str,
    ) -> BoxFuture<'h, Result<(), HostError>> {
        Box::pin(self.until_message_in(turn_id))
    }
}
