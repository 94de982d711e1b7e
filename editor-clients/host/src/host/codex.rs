//! The real Codex as a host: a `codex app-server` process of ours, or one that people's own Codex works on. It decides nothing about compaction.

mod attach;
mod children;
mod connection;
mod goal;
mod handoff;
mod handoff_queue;
mod message;
mod missed;
mod paused;
mod probe;
mod record;
mod requests;
mod restore;
pub mod rollout;
mod settings;
mod side_requests;
mod threads;
mod turns;
mod wire;

use std::collections::VecDeque;
use std::path::PathBuf;

pub use attach::{Attachment, Typed};
pub use connection::Experimental;
pub use probe::{CodexProbe, HookTrust, ListedHook, probe};
use rawr_protocol::{Host as HostInfo, HostCapabilities, PendingAction};
pub use restore::{Point, Restored, Then, Way};
use serde::Deserialize;
use serde_json::{Value, json};
pub use settings::{
    CodexSettings, LEAST_BESIDE, PLAN_TOOL_ON, Sandbox, codex_home, find_codex, is_at_least,
    left_to_codex, version,
};
pub use threads::{ThreadFeedItem, Threads};

use self::children::Children;
use self::connection::{Arrived, Connection};
use self::goal::Goal;
use self::handoff::HandedOver;
use self::handoff_queue::HandoffQueue;
use self::message::{Incoming, Note, Refusal, Status};
use self::paused::Paused;
use self::side_requests::SideRequests;
use self::turns::{ThreadAccess, Turns};
use super::{
    Access, CompactionOrder, HistoryKeeper, Host, HostError, HostEvent, HostThread, Question,
    RecordedOutcome, RequestGate, ThreadLifetime, ThreadOrigin, Tuning, WithheldWork,
};

/// What capsules know it by.
pub const NAME: &str = "codex";

/// How Codex refuses a text for a turn that is over.
const NO_TURN_ANY_MORE: &str = "no active turn";

/// What Codex's own status line takes off both sides; with it rawr and Codex show the same percentage.
pub const BASELINE_TOKENS: u64 = 12_000;

/// A running Codex with one thread.
#[derive(Debug)]
pub struct Codex {
    thread: HostThread,
    connection: Connection,
    turns: Turns,
    side_requests: SideRequests,
    events: VecDeque<HostEvent>,
    /// Who else uses the thread.
    access: ThreadAccess,
    children: Children,
    goal: Goal,
    /// Where it is noted that rawr has paused it.
    paused: Option<Paused>,
    handoff_queue: HandoffQueue,
    /// The request that put the handoff in line, until it is answered.
    queueing: Option<u64>,
    /// What happened since the handoff's turn began, while nobody has claimed that.
    withheld: VecDeque<HostEvent>,
    /// The turn that took a user message in last.
    took_message: Option<String>,
    /// Why Codex has ended, once it has.
    gone: Option<String>,
}

#[derive(Deserialize)]
struct ThreadAnswer {
    thread: ThreadAbout,
    model: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadAbout {
    id: String,
    cli_version: Option<String>,
    status: Option<Status>,
    path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    /// Its first message.
    preview: Option<String>,
    #[serde(default)]
    ephemeral: bool,
    thread_source: Option<String>,
    parent_thread_id: Option<String>,
    /// How it came about: a word, or what is known of the sub-agent.
    #[serde(default)]
    source: Value,
    agent_nickname: Option<String>,
    agent_role: Option<String>,
}

impl ThreadAbout {
    /// `None` for the helpers that Codex runs beside people's threads, for titles and the like.
    fn origin(&self) -> Option<ThreadOrigin> {
        let source = self.thread_source.as_deref().unwrap_or("user");
        let is_spawned = self.source.pointer("/subAgent/thread_spawn").is_some();
        match &self.parent_thread_id {
            _ if self.ephemeral => None,
            None if source == "user" => Some(ThreadOrigin::Person),
            Some(_) if is_spawned => {
                let name = self.agent_nickname.clone().or_else(|| self.agent_role.clone());
                Some(ThreadOrigin::Parent { name: name.unwrap_or_default() })
            }
            None | Some(_) => None,
        }
    }
}

#[derive(Deserialize)]
struct TurnAnswer {
    turn: TurnAbout,
}

#[derive(Deserialize)]
struct TurnAbout {
    id: String,
}

impl Codex {
    /// Starts the process and a new thread in it.
    pub async fn start(settings: &CodexSettings) -> Result<Self, HostError> {
        let mut connection = Connection::open(&settings.binary, settings.command()).await?;
        let answer = connection.request_as("thread/start", settings.thread()).await?;
        Self::on(connection, settings, answer).await
    }

    /// On a thread that the process has opened.
    async fn on(
        mut connection: Connection,
        settings: &CodexSettings,
        answer: ThreadAnswer,
    ) -> Result<Self, HostError> {
        let capabilities = HostCapabilities {
            inject_turn: true,
            steer: true,
            sample: probe::knows_sample(&mut connection).await?,
            // Every input of this thread comes from the driver, which can hold it.
            queue: true,
            compact: true,
            compact_by_person: false,
            judge: true,
            // Codex compacts inside a turn only when it wants to.
            mid_turn_compact: false,
            inject_items: false,
        };
        let thread = HostThread {
            thread_id: answer.thread.id,
            origin: ThreadOrigin::Person,
            cwd: settings.cwd.clone(),
            host: HostInfo {
                name: NAME.to_owned(),
                version: answer.thread.cli_version,
                capabilities,
            },
            model: answer.model,
            context_window: None,
            baseline_tokens: BASELINE_TOKENS,
            transcript: answer.thread.path,
        };
        let turns = Turns::new(thread.thread_id.clone());
        Ok(Self::with(thread, connection, turns, ThreadAccess::Exclusive))
    }

    fn with(
        thread: HostThread,
        connection: Connection,
        turns: Turns,
        access: ThreadAccess,
    ) -> Self {
        Self {
            thread,
            connection,
            turns,
            side_requests: SideRequests::default(),
            events: VecDeque::new(),
            access,
            children: Children::default(),
            goal: Goal::default(),
            paused: None,
            handoff_queue: HandoffQueue::default(),
            queueing: None,
            withheld: VecDeque::new(),
            took_message: None,
            gone: None,
        }
    }

    /// The process, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.connection.process_id()
    }

    /// Reads what arrived while an answer was waited for.
    fn catch_up(&mut self) {
        while let Some(arrived) = self.connection.take_unread() {
            self.take(arrived);
        }
    }

    fn take(&mut self, arrived: Arrived) {
        match arrived {
            Arrived::Message(Incoming::Notification { method, params }) => {
                self.take_note(&method, params)
            }
            // Whoever sits there answers; the first answer would count, were it ours.
            Arrived::Message(Incoming::Request { .. }) if self.access == ThreadAccess::Shared => {
                self.events.push_back(HostEvent::AsksPerson);
            }
            Arrived::Message(Incoming::Request { id, method, params }) => {
                let answer = requests::answer(&method, &params);
                self.connection.reply(id, answer.reply);
                self.events.extend(answer.notice.map(HostEvent::Notice));
            }
            Arrived::Message(Incoming::Reply { id, answer }) if self.queueing == Some(id) => {
                self.queueing = None;
                self.put_in_line(answer);
            }
            Arrived::Message(Incoming::Reply { id, answer }) => {
                self.events.extend(self.side_requests.replied(&mut self.connection, id, answer));
            }
            Arrived::Message(Incoming::Unknown) => {}
            Arrived::Noise(line) => {
                self.events
                    .push_back(HostEvent::Notice(format!("unexpected output from codex: {line}")));
            }
            Arrived::End { reason } => self.gone = Some(reason),
        }
    }

    fn take_note(&mut self, method: &str, params: Value) {
        if method.starts_with("thread/goal/") && params["threadId"] == self.thread_id() {
            self.heard_of_goal(params);
            return;
        }
        match Note::read(method, params) {
            Some(Ok(note)) if self.side_requests.concerns(&note) => {
                self.events.extend(self.side_requests.read(&mut self.connection, note));
            }
            Some(Ok(Note::Closed(note))) if note.thread_id == self.thread.thread_id => {
                self.gone = Some("codex closed the thread".to_owned());
            }
            Some(Ok(note)) => self.read(note),
            Some(Err(error)) => {
                let notice = format!("failed to parse codex's {method}: {error}");
                self.events.push_back(HostEvent::Notice(notice));
            }
            None => {}
        }
    }

    /// To be called before every request.
    fn ready(&mut self) -> Result<(), HostError> {
        self.catch_up();
        match &self.gone {
            Some(reason) => Err(HostError::Gone { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    fn thread_id(&self) -> &str {
        &self.thread.thread_id
    }

    /// A turn that has ended counts until the driver hears of its end: nothing may overtake that.
    fn is_busy(&self) -> bool {
        let is_end = |event: &HostEvent| matches!(event, HostEvent::TurnCompleted { .. });
        self.turns.is_busy() || self.events.iter().any(is_end)
    }

    /// Whether Codex is idle by its own word, everything that it had said before included.
    async fn is_idle(&mut self) -> Result<bool, HostError> {
        if self.is_busy() {
            return Ok(false);
        }
        let status = self.status().await?;
        Ok(status != Some(Status::Active) && !self.is_busy())
    }

    async fn status(&mut self) -> Result<Option<Status>, HostError> {
        let params = json!({"threadId": self.thread_id(), "includeTurns": false});
        let answer = self.connection.ask("thread/read", params).await?;
        self.catch_up();
        // Codex cannot always read a thread that it has just begun to store; its notifications have come all the same.
        let read = answer.ok().and_then(|answer| serde_json::from_value::<ThreadRead>(answer).ok());
        Ok(read.and_then(|read| read.thread.status))
    }

    /// Adds these to the running turn, as items of their own.
    async fn join(&mut self, items: &[&str]) -> Result<String, HostError> {
        let turn_id = self.turns.current().ok_or(HostError::NoTurn)?.to_owned();
        let params = json!({"threadId": self.thread_id(), "expectedTurnId": turn_id, "input": inputs(items)});
        let answer = self.connection.ask("turn/steer", params).await?;
        self.catch_up();
        match answer {
            Ok(_) => Ok(turn_id),
            // It has just ended, and the word of it is on its way.
            Err(refusal) if refusal.message.contains(NO_TURN_ANY_MORE) => Err(HostError::NoTurn),
            Err(Refusal { message }) => Err(HostError::Refused { method: "turn/steer", message }),
        }
    }
}

#[derive(Deserialize)]
struct ThreadRead {
    thread: ThreadAbout,
}

impl Host for Codex {
    fn thread(&self) -> &HostThread {
        &self.thread
    }

    fn access(&mut self) -> Access<'_> {
        match self.access {
            ThreadAccess::Exclusive => Access::Exclusive,
            ThreadAccess::Shared => Access::Shared(self),
        }
    }

    fn request_gate(&mut self) -> Option<&mut dyn RequestGate> {
        None
    }

    fn withheld_work(&mut self) -> Option<&mut dyn WithheldWork> {
        Some(self)
    }

    fn history_keeper(&mut self) -> Option<&mut dyn HistoryKeeper> {
        None
    }

    fn lifetime(&self) -> ThreadLifetime {
        ThreadLifetime::Host
    }

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        self.ready()?;
        let handed_over = self.hand_over().await?;
        let items: Vec<&str> =
            items.iter().copied().filter(|item| !self.handoff_queue.has_said(item)).collect();
        match handed_over {
            HandedOver::Begun { turn_id } if items.is_empty() => return Ok(turn_id),
            // A turn that has just ended is heard of before another one begins.
            HandedOver::Begun { .. } => return self.join(&items).await.map_err(busy_if_over),
            HandedOver::TakenBack if self.turns.current().is_some() => {
                return self.join(&items).await.map_err(busy_if_over);
            }
            HandedOver::TakenBack | HandedOver::NothingInLine => {}
        }
        self.pause_goal().await?;
        // On a running turn Codex would steer without a word.
        if self.is_busy() {
            return Err(HostError::Busy);
        }
        let params = json!({"threadId": self.thread_id(), "input": inputs(&items)});
        let answer: TurnAnswer = self.connection.request_as("turn/start", params).await?;
        if self.access == ThreadAccess::Shared {
            // Somebody may have been faster: then it is their turn that runs, and it has taken the text in.
            self.catch_up();
        }
        self.turns.turn_promised(&answer.turn.id);
        self.catch_up();
        Ok(answer.turn.id)
    }

    async fn steer(&mut self, text: &str) -> Result<String, HostError> {
        self.ready()?;
        if self.handoff_queue.is_queued() || self.handoff_queue.has_begun() {
            return Err(HostError::NoTurn);
        }
        self.join(&[text]).await
    }

    async fn compact(&mut self, order: &CompactionOrder) -> Result<(), HostError> {
        self.ready()?;
        self.pause_goal().await?;
        // Codex takes this in the middle of a turn without an error, and throws the turn away.
        if !self.is_idle().await? {
            return Err(HostError::Busy);
        }
        self.connection
            .request("thread/compact/start", json!({"threadId": self.thread_id()}))
            .await?;
        self.turns.compaction_promised();
        if order.tuning != Tuning::default() {
            let notice = "codex compacts with the thread's model; the configured model is ignored";
            self.events.push_back(HostEvent::Notice(notice.to_owned()));
        }
        self.catch_up();
        Ok(())
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        self.ready()?;
        let turn_id = self.turns.current().ok_or(HostError::NoTurn)?;
        let params = json!({"threadId": self.thread_id(), "turnId": turn_id});
        self.connection.request("turn/interrupt", params).await?;
        self.catch_up();
        Ok(())
    }

    async fn sample(&mut self, question: Question) -> Result<(), HostError> {
        self.ready()?;
        if !self.thread.host.capabilities.sample {
            return Err(HostError::Unable { what: "sample" });
        }
        // It would begin the next turn meanwhile, and what is sampled would be outdated.
        self.pause_goal().await?;
        let unable = HostError::Unable { what: "sample before the first turn" };
        let turn_id = self.turns.latest().ok_or(unable)?;
        self.side_requests.sample(&mut self.connection, &self.thread.thread_id, turn_id, question);
        Ok(())
    }

    async fn judge(&mut self, question: Question) -> Result<(), HostError> {
        self.ready()?;
        self.side_requests.judge(&mut self.connection, &self.thread.cwd, question);
        Ok(())
    }

    async fn recorded_outcome(
        &mut self,
        action: &PendingAction,
    ) -> Result<RecordedOutcome, HostError> {
        self.look_up(action).await
    }

    async fn next_event(&mut self) -> HostEvent {
        loop {
            if let Some(event) = self.events.pop_front() {
                if let HostEvent::Usage { context_window: Some(window), .. } = &event {
                    self.thread.context_window = Some(*window);
                }
                return event;
            }
            if let Some(arrived) = self.connection.take_unread() {
                self.take(arrived);
            } else if let Some(reason) = self.gone.clone() {
                return HostEvent::Gone { reason };
            } else {
                let arrived = self.connection.arrive().await;
                self.take(arrived);
            }
        }
    }

    async fn close(mut self) {
        if !self.goal.is_anothers() {
            self.resume_goal();
        }
        self.connection.close().await;
    }
}

fn busy_if_over(error: HostError) -> HostError {
    match error {
        HostError::NoTurn => HostError::Busy,
        error => error,
    }
}

fn inputs(items: &[&str]) -> Value {
    items.iter().map(|text| json!({"type": "text", "text": text, "text_elements": []})).collect()
}
