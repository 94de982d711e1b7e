//! A session of Claude Code that its user runs, joined from inside: rawr's plugin reports what happens and carries out orders.

mod message;
mod record;
mod turns;

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use rawr_protocol::{Action, Host, HostCapabilities, PendingAction};
use rawr_records::profile::CLAUDE;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::timeout;

pub use self::message::{
    CarriedOutOrder, ModAnswer, ModBand, ModButton, ModCompactionTrigger, ModEvent, ModOrder,
    ModQuestion, ModScreen, ModSession, ModTurnEnd,
};
use self::turns::ModTurns;
use super::claude::{NAME, fresh_id};
use super::record::fate;
use super::{
    AgentHost, CompactionOrder, HandedOverBefore, HostAccess, HostError, HostEvent, HostSummary,
    HostThread, LeftMessage, ModelQuestion, NO_SUMMARY, RecordedOutcome, SharedThread,
    ThreadOrigin,
};

/// How long the plugin may take to answer an order that needs no model.
const PATIENCE: Duration = Duration::from_secs(10);

/// Claude Code compacts at the start of a turn only above so many tokens: 33,000 less than its smallest window.
const TURN_START_TOKENS: u64 = 67_000;

/// The model for questions without the conversation: Claude Code's name for the small model of any provider.
const JUDGE: &str = "haiku";

/// One session of Claude Code.
#[derive(Debug)]
pub struct ClaudeMod {
    thread: HostThread,
    turns: ModTurns,
    orders: UnboundedSender<ModOrder>,
    arriving: UnboundedReceiver<ModEvent>,
    events: VecDeque<HostEvent>,
    compact_instructions: String,
    /// No driver has run in this process of Claude Code before.
    is_first: bool,
    carried_out: Vec<CarriedOutOrder>,
    last_id: u64,
    /// Orders whose outcome is an event.
    pending: HashMap<u64, PendingOrder>,
    /// Outcomes that a request waits for.
    done: HashMap<u64, Result<(), String>>,
    gone: bool,
}

/// An order that the plugin carries out while the session goes on.
#[derive(Debug)]
enum PendingOrder {
    Turn(String),
    Compaction,
    Question(String),
}

impl ClaudeMod {
    /// Joins the session. `orders` leads to the plugin, `arriving` comes from it.
    pub fn join(
        session: ModSession,
        orders: UnboundedSender<ModOrder>,
        arriving: UnboundedReceiver<ModEvent>,
        compact_instructions: String,
    ) -> Self {
        let cwd = session.cwd.clone();
        let mut turns = ModTurns::new(cwd, session.model.clone(), session.context_window);
        if let Some(running) = session.running_turn {
            turns.came_into(running);
        }
        let transcript = Some(session.transcript_path).filter(|path| !path.is_empty());
        let thread = HostThread {
            thread_id: session.session_id,
            origin: ThreadOrigin::Person,
            cwd: PathBuf::from(session.cwd),
            host: Host {
                name: NAME.to_owned(),
                version: session.version,
                capabilities: HostCapabilities {
                    inject_turn: true,
                    steer: true,
                    sample: true,
                    queue: true,
                    queue_in_place: true,
                    queue_above_tokens: Some(TURN_START_TOKENS),
                    compact: true,
                    compact_by_person: false,
                    judge: true,
                    // Claude Code refuses to compact inside a turn.
                    mid_turn_compact: false,
                    inject_items: true,
                    cache_seconds: Some(CLAUDE.hints.cache_seconds),
                },
            },
            model: session.model,
            context_window: session.context_window,
            context_window_assumed: false,
            compacts_above_tokens: session.compacts_above_tokens,
            baseline_tokens: 0,
            transcript: transcript.map(PathBuf::from),
            began_at_ms: session.started_at_ms,
        };
        Self {
            thread,
            turns,
            orders,
            arriving,
            events: VecDeque::new(),
            compact_instructions,
            is_first: session.is_first,
            carried_out: session.carried_out,
            last_id: 0,
            pending: HashMap::new(),
            done: HashMap::new(),
            gone: false,
        }
    }

    fn ready(&self) -> Result<(), HostError> {
        if self.gone { Err(HostError::Gone { reason: ENDED.to_owned() }) } else { Ok(()) }
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn order(&mut self, order: ModOrder) {
        // If the plugin is gone, its events end, too.
        self.gone |= self.orders.send(order).is_err();
    }

    fn take(&mut self, event: ModEvent) {
        if let ModEvent::Done { id, text, tokens_after, error, joined } = event {
            let outcome = error.map_or(Ok(()), Err);
            match self.pending.remove(&id) {
                Some(PendingOrder::Turn(turn_id)) if joined => self.turns.joins_message(&turn_id),
                Some(PendingOrder::Turn(turn_id)) => {
                    if let Err(error) = outcome {
                        self.events.extend(self.turns.broken(&turn_id, error));
                    }
                }
                Some(PendingOrder::Compaction) => {
                    self.events.extend(self.turns.compacted(outcome.map(|()| tokens_after)));
                }
                Some(PendingOrder::Question(request_id)) => {
                    let answer = outcome.map(|()| text.unwrap_or_default());
                    self.events.push_back(HostEvent::Answered { request_id, answer });
                }
                None => {
                    self.done.insert(id, outcome);
                }
            }
            return;
        }
        if let ModEvent::Measured { compacts_above_tokens: Some(limit), .. } = &event {
            self.thread.compacts_above_tokens = Some(*limit);
        }
        self.events.extend(self.turns.read(event));
        if let Some(model) = self.turns.model() {
            self.thread.model = Some(model.to_owned());
        }
    }

    /// Waits until the plugin has carried out an order that needs no model.
    async fn settled(&mut self, id: u64, method: &'static str) -> Result<(), HostError> {
        let answer = timeout(PATIENCE, async {
            loop {
                if let Some(outcome) = self.done.remove(&id) {
                    return outcome.map_err(|message| HostError::Refused { method, message });
                }
                match self.arriving.recv().await {
                    // Nothing is carried out any more.
                    Some(ModEvent::Left) | None => self.gone = true,
                    Some(event) => self.take(event),
                }
                self.ready()?;
            }
        });
        let silent = HostError::Silent { method, seconds: PATIENCE.as_secs() };
        answer.await.unwrap_or(Err(silent))
    }

    async fn append(&mut self, text: &str) -> Result<(), HostError> {
        let id = self.next_id();
        self.order(ModOrder::Append { id, text: text.to_owned() });
        self.settled(id, "append").await
    }
}

/// Why the session is gone.
const ENDED: &str = "Claude Code ended the session";

#[async_trait]
impl AgentHost for ClaudeMod {
    fn thread(&self) -> &HostThread {
        &self.thread
    }

    fn access(&mut self) -> HostAccess<'_> {
        HostAccess::Shared(self)
    }

    fn resume_withheld_work(&mut self) {}

    /// The last item starts the turn. Those before it are added to the conversation, so that a message of the user stays a
    /// message of its own.
    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        self.ready()?;
        if self.turns.is_busy() {
            return Err(HostError::Busy);
        }
        let Some((last, notes)) = items.split_last() else {
            return Err(HostError::Unable { what: "start a turn without a message" });
        };
        for note in notes {
            self.append(note).await?;
        }
        let (id, turn_id) = (self.next_id(), fresh_id());
        self.turns.promise(&turn_id, last);
        self.pending.insert(id, PendingOrder::Turn(turn_id.clone()));
        self.order(ModOrder::Submit { id, text: (*last).to_owned() });
        Ok(turn_id)
    }

    async fn steer(&mut self, text: &str) -> Result<String, HostError> {
        self.ready()?;
        let Some((turn_id, _)) = self.turns.running() else { return Err(HostError::NoTurn) };
        let turn_id = turn_id.to_owned();
        self.append(text).await?;
        Ok(turn_id)
    }

    async fn compact(&mut self, order: &CompactionOrder) -> Result<(), HostError> {
        self.ready()?;
        if self.turns.is_busy() {
            return Err(HostError::Busy);
        }
        if order.tuning != super::SummaryTuning::default() {
            let notice =
                "claude compacts with the conversation's model; the configured model is ignored";
            self.events.push_back(HostEvent::Notice(notice.to_owned()));
        }
        let id = self.next_id();
        self.pending.insert(id, PendingOrder::Compaction);
        self.events.extend(self.turns.compacts());
        let instructions = self.compact_instructions.clone();
        let replacement = (order.summary == HostSummary::Omitted).then(|| NO_SUMMARY.to_owned());
        let before_message = order.before_message;
        self.order(ModOrder::Compact { id, instructions, replacement, before_message });
        Ok(())
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        self.ready()?;
        let Some((_, mod_id)) = self.turns.running() else { return Err(HostError::NoTurn) };
        let turn_id = mod_id.to_owned();
        let id = self.next_id();
        self.order(ModOrder::Abort { id, turn_id });
        self.settled(id, "abort").await
    }

    async fn sample(&mut self, question: ModelQuestion) -> Result<(), HostError> {
        self.ready()?;
        let id = self.next_id();
        self.pending.insert(id, PendingOrder::Question(question.request_id));
        self.order(ModOrder::Fork { id, text: question.text });
        Ok(())
    }

    async fn judge(&mut self, question: ModelQuestion) -> Result<(), HostError> {
        self.ready()?;
        let id = self.next_id();
        self.pending.insert(id, PendingOrder::Question(question.request_id));
        let model = JUDGE.to_owned();
        let schema = question.output_schema;
        let system = format!(
            "{}\n\nAnswer with one JSON object of this schema and nothing else:\n{schema}",
            question.instructions
        );
        self.order(ModOrder::Complete { id, model, system, text: question.text });
        Ok(())
    }

    async fn recorded_outcome(
        &mut self,
        asked: &PendingAction,
    ) -> Result<RecordedOutcome, HostError> {
        self.ready()?;
        let Some(path) = self.thread.transcript.clone() else {
            return Ok(RecordedOutcome::NotFound);
        };
        let mut asked = asked.clone();
        if matches!(asked.action, Action::DeliverInput { .. }) {
            asked.issued_at_ms = asked.issued_at_ms.map(record::stamped_since);
        }
        let carried_out = self.carried_out.clone();
        let is_running = self.turns.running().is_some();
        let look = move || record::known(&path, carried_out, is_running);
        let Ok(turns) = tokio::task::spawn_blocking(look).await else {
            return Ok(RecordedOutcome::NotFound);
        };
        Ok(match fate(&turns, &asked, !self.turns.is_busy()) {
            RecordedOutcome::Running { by_people, .. } => match self.turns.running() {
                // The transcript has other ids for turns.
                Some((turn_id, _)) => {
                    RecordedOutcome::Running { turn_id: turn_id.to_owned(), by_people }
                }
                None => RecordedOutcome::Unclear,
            },
            outcome => outcome,
        })
    }

    async fn next_event(&mut self) -> HostEvent {
        loop {
            if let Some(event) = self.events.pop_front() {
                match &event {
                    HostEvent::Usage { context_window: Some(window), .. } => {
                        self.thread.context_window = Some(*window);
                    }
                    HostEvent::MessagesTakenBack => self.gone = true,
                    _ => {}
                }
                return event;
            }
            if self.gone {
                return HostEvent::Gone { reason: ENDED.to_owned() };
            }
            match self.arriving.recv().await {
                Some(event) => self.take(event),
                None => self.gone = true,
            }
        }
    }

    async fn close(self: Box<Self>) {}
}

impl SharedThread for ClaudeMod {
    fn running_turn(&self) -> Option<&str> {
        self.turns.running().map(|(turn_id, _)| turn_id)
    }

    /// The plugin sends its events in order, and a question after all of them.
    fn drain_events(&mut self) -> BoxFuture<'_, Result<(), HostError>> {
        while let Ok(event) = self.arriving.try_recv() {
            self.take(event);
        }
        async { Ok(()) }.boxed()
    }

    /// Not needed: a message of the user waits in Claude Code until the handoff is there.
    fn prepare_handoff(&mut self, _text: String, _before_message: bool) {}

    fn hand_over_before_held<'h>(
        &'h mut self,
        handoff: &'h str,
    ) -> BoxFuture<'h, Result<HandedOverBefore, HostError>> {
        async move {
            self.append(handoff).await?;
            let (turn_id, started) = self.turns.handed_over(fresh_id());
            self.events.extend(started);
            Ok(HandedOverBefore::InTurn(turn_id))
        }
        .boxed()
    }

    /// Within one process of Claude Code, a message that waited has passed or is back in the input box.
    fn give_back<'h>(
        &'h mut self,
        text: &'h str,
        since_ms: Option<i64>,
    ) -> BoxFuture<'h, Result<LeftMessage, HostError>> {
        async move {
            if !self.is_first {
                return Ok(LeftMessage::Passed);
            }
            let (path, message) = (self.thread.transcript.clone(), text.to_owned());
            let look =
                move || path.is_some_and(|path| record::has_message(&path, &message, since_ms));
            if tokio::task::spawn_blocking(look).await.unwrap_or(false) {
                return Ok(LeftMessage::InConversation);
            }
            self.order(ModOrder::Fill { text: text.to_owned() });
            Ok(LeftMessage::WithUser)
        }
        .boxed()
    }

    /// Not needed: the handoff is there when Claude Code has added it.
    fn wait_until_recorded<'h>(
        &'h mut self,
        _turn_id: &'h str,
    ) -> BoxFuture<'h, Result<(), HostError>> {
        async { Ok(()) }.boxed()
    }
}
