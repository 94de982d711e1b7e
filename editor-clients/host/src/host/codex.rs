//! Codex as a host: a `codex app-server` child process, or the app-server of a user's own Codex.

mod answers;
mod attach;
mod children;
mod connection;
mod goal;
mod handoff;
mod handoff_queue;
mod message;
mod missed;
mod own_limit;
mod paused;
mod probe;
mod record;
mod requests;
mod restore;
mod settings;
mod side_requests;
mod threads;
mod transport;
mod turns;

use std::collections::VecDeque;
use std::path::PathBuf;

use async_trait::async_trait;
pub use attach::{Attachment, UserMessageRoute};
pub use missed::MissedTurns;
pub use probe::{CodexProbe, HookTrust, ListedHook, probe};
use rawr_protocol::PendingAction;
use rawr_records::profile::CODEX;
pub use requests::Experimental;
pub use restore::{RestoreMethod, RestorePoint, RestoreTarget, RestoredThread};
use serde::Deserialize;
use serde_json::Value;
pub use settings::{
    CodexSettings, LEAST_BESIDE, PLAN_TOOL_ON, Sandbox, codex_home, find_codex, is_at_least,
    left_to_codex, version,
};
pub use threads::{ThreadFeedItem, ThreadWatch};

use self::children::SubAgents;
use self::connection::{CodexConnection, ConnectionMessage};
use self::goal::Goal;
use self::handoff::HandedOver;
use self::handoff_queue::HandoffQueue;
use self::message::{CodexError, CodexNotification, CodexThreadStatus, Incoming};
use self::own_limit::OwnLimit;
use self::paused::PausedGoalRecord;
use self::side_requests::SideRequests;
use self::turns::{CodexTurns, ThreadAccess};
use super::{
    AgentHost, CompactionOrder, HostAccess, HostError, HostEvent, HostSummary, HostThread,
    INTERRUPT_WITHIN, ModelQuestion, RecordedOutcome, SummaryTuning, ThreadOrigin, is_marked,
};

/// The host's name in capsules and notifications.
pub const NAME: &str = CODEX.name;

/// Part of Codex's error for a turn that has ended.
const NO_TURN_ANY_MORE: &str = "no active turn";

/// A connection to Codex with one thread.
#[derive(Debug)]
pub struct Codex {
    thread: HostThread,
    connection: CodexConnection,
    turns: CodexTurns,
    side_requests: SideRequests,
    events: VecDeque<HostEvent>,
    /// Those of turns that ended before rawr joined. They come first, and say nothing about what runs now.
    missed: VecDeque<HostEvent>,
    /// Where it compacts by itself.
    own_limit: OwnLimit,
    /// Who else uses the thread.
    access: ThreadAccess,
    children: SubAgents,
    goal: Goal,
    /// The file that records a goal paused by rawr.
    paused: Option<PausedGoalRecord>,
    handoff_queue: HandoffQueue,
    /// The pending request that queues the handoff.
    queueing: Option<u64>,
    /// Events since the handoff's turn started, until the driver claims that turn.
    withheld: VecDeque<HostEvent>,
    /// The turn that recorded a user message last.
    took_message: Option<String>,
    /// Images for the first message.
    images: Vec<PathBuf>,
    /// Why Codex ended.
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
    status: Option<CodexThreadStatus>,
    path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    /// The thread's title.
    name: Option<String>,
    /// The thread's first message.
    preview: Option<String>,
    #[serde(default)]
    ephemeral: bool,
    thread_source: Option<String>,
    parent_thread_id: Option<String>,
    /// A word, or an object that describes the sub-agent.
    #[serde(default)]
    source: Value,
    agent_nickname: Option<String>,
    agent_role: Option<String>,
}

impl ThreadAbout {
    /// Who started the thread. `None` for Codex's internal threads, such as those that write titles.
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
    /// Starts an app-server with a new thread, or with the stored one that the settings name.
    ///
    /// # Errors
    ///
    /// Fails if the process does not start or refuses the thread.
    pub async fn start(settings: &CodexSettings) -> Result<Self, HostError> {
        let mut connection = CodexConnection::open(&settings.binary, settings.command()).await?;
        let options = requests::thread_options(settings);
        let Some(thread_id) = &settings.resume else {
            let answer = connection.request_as(requests::thread_start(options)).await?;
            return Self::on(connection, settings, answer).await;
        };
        let resume = requests::thread_resume(options, thread_id);
        let answer: ThreadAnswer = connection.request_as(resume).await?;
        let status = answer.thread.status.unwrap_or(CodexThreadStatus::Other);
        let mut codex = Self::on(connection, settings, answer).await?;
        codex.seed(status, &MissedTurns::NONE).await?;
        Ok(codex)
    }

    /// Wraps a thread that the app-server has opened.
    async fn on(
        mut connection: CodexConnection,
        settings: &CodexSettings,
        answer: ThreadAnswer,
    ) -> Result<Self, HostError> {
        let sample = probe::knows_sample(&mut connection).await?;
        let own_limit = OwnLimit::ask(&mut connection, &settings.cwd).await?;
        // Every input of this thread comes from the driver, which can hold it.
        let typed = UserMessageRoute::MayBeHeld;
        let title = answer.thread.name.clone();
        let opened = attach::about(answer, ThreadOrigin::Person, sample, typed);
        let thread = HostThread { cwd: settings.cwd.clone(), ..opened };
        let turns = CodexTurns::new(thread.thread_id.clone());
        let codex = Self::with(thread, connection, turns, ThreadAccess::Exclusive, title);
        Ok(Self { images: settings.images.clone(), own_limit, ..codex })
    }

    fn with(
        thread: HostThread,
        connection: CodexConnection,
        turns: CodexTurns,
        access: ThreadAccess,
        title: Option<String>,
    ) -> Self {
        let title = title.map(|title| HostEvent::TitleChanged { title: Some(title) });
        Self {
            thread,
            connection,
            turns,
            own_limit: OwnLimit::default(),
            side_requests: SideRequests::default(),
            events: title.into_iter().collect(),
            missed: VecDeque::new(),
            images: Vec::new(),
            access,
            children: SubAgents::default(),
            goal: Goal::default(),
            paused: None,
            handoff_queue: HandoffQueue::default(),
            queueing: None,
            withheld: VecDeque::new(),
            took_message: None,
            gone: None,
        }
    }

    /// The process id of a child process, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.connection.process_id()
    }

    fn has_window(&mut self, tokens: u64) {
        self.thread.context_window = Some(tokens);
        self.thread.compacts_above_tokens = self.own_limit.of(tokens);
    }

    /// Processes what arrived while a request waited for its answer.
    fn catch_up(&mut self) {
        while let Some(arrived) = self.connection.take_unread() {
            self.take(arrived);
        }
    }

    fn take(&mut self, arrived: ConnectionMessage) {
        match arrived {
            ConnectionMessage::Message(Incoming::Notification { method, params }) => {
                self.take_note(&method, params)
            }
            // The user answers at the screen. An answer from rawr could win over the user's.
            ConnectionMessage::Message(Incoming::Request { .. })
                if self.access == ThreadAccess::Shared =>
            {
                self.events.push_back(HostEvent::AsksPerson);
            }
            ConnectionMessage::Message(Incoming::Request { id, method, params }) => {
                let answer = answers::answer(&method, &params);
                self.connection.reply(id, answer.reply);
                self.events.extend(answer.notice.map(HostEvent::Notice));
            }
            ConnectionMessage::Message(Incoming::Reply { id, answer })
                if self.queueing == Some(id) =>
            {
                self.queueing = None;
                self.put_in_line(answer);
            }
            ConnectionMessage::Message(Incoming::Reply { id, answer }) => {
                self.events.extend(self.side_requests.replied(&mut self.connection, id, answer));
            }
            ConnectionMessage::Message(Incoming::Unknown) => {}
            ConnectionMessage::Noise(line) => {
                self.events
                    .push_back(HostEvent::Notice(format!("unexpected output from codex: {line}")));
            }
            ConnectionMessage::End { reason } => self.gone = Some(reason),
        }
    }

    fn take_note(&mut self, method: &str, params: Value) {
        if method.starts_with("thread/goal/") && params["threadId"] == self.thread_id() {
            self.heard_of_goal(params);
            return;
        }
        match CodexNotification::read(method, params) {
            Some(Ok(note)) if self.side_requests.concerns(&note) => {
                self.events.extend(self.side_requests.read(&mut self.connection, note));
            }
            Some(Ok(CodexNotification::Closed(note)))
                if note.thread_id == self.thread.thread_id =>
            {
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

    /// Fails if Codex has ended. Called before every request.
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

    /// Whether a turn runs, or the event of its end is still queued.
    fn is_busy(&self) -> bool {
        !self.missed.is_empty() || self.runs_a_turn()
    }

    /// As [`Self::is_busy`], without the turns that ended before rawr joined.
    fn runs_a_turn(&self) -> bool {
        let is_end = |event: &HostEvent| matches!(event, HostEvent::TurnCompleted { .. });
        self.turns.is_busy() || self.events.iter().any(is_end)
    }

    /// Asks Codex whether it runs no turn, after processing everything that it sent before its answer.
    async fn is_idle(&mut self) -> Result<bool, HostError> {
        if self.runs_a_turn() {
            return Ok(false);
        }
        let status = self.status().await?;
        Ok(status != Some(CodexThreadStatus::Active) && !self.runs_a_turn())
    }

    async fn status(&mut self) -> Result<Option<CodexThreadStatus>, HostError> {
        let answer = self.connection.ask(requests::thread_read(&self.thread.thread_id)).await?;
        self.catch_up();
        // Codex may fail to read a thread that it has just started to store. Its notifications have arrived anyway.
        let read = answer.ok().and_then(|answer| serde_json::from_value::<ThreadRead>(answer).ok());
        Ok(read.and_then(|read| read.thread.status))
    }

    /// Adds the items to the running turn.
    async fn join(&mut self, items: &[&str]) -> Result<String, HostError> {
        let turn_id = self.turns.current().ok_or(HostError::NoTurn)?.to_owned();
        let steer = requests::turn_steer(self.thread_id(), &turn_id, items);
        let answer = self.connection.ask(steer).await?;
        self.catch_up();
        match answer {
            Ok(_) => Ok(turn_id),
            // The turn has just ended; its notification is on the way.
            Err(refusal) if refusal.message.contains(NO_TURN_ANY_MORE) => Err(HostError::NoTurn),
            Err(CodexError { message }) => {
                Err(HostError::Refused { method: "turn/steer", message })
            }
        }
    }
}

#[derive(Deserialize)]
struct ThreadRead {
    thread: ThreadAbout,
}

#[async_trait]
impl AgentHost for Codex {
    fn thread(&self) -> &HostThread {
        &self.thread
    }

    fn access(&mut self) -> HostAccess<'_> {
        match self.access {
            ThreadAccess::Exclusive => HostAccess::Exclusive,
            ThreadAccess::Shared => HostAccess::Shared(self),
        }
    }

    fn resume_withheld_work(&mut self) {
        self.give_up_claim();
        self.resume_goal();
    }

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        self.ready()?;
        let handed_over = self.hand_over().await?;
        let items: Vec<&str> =
            items.iter().copied().filter(|item| !self.handoff_queue.has_said(item)).collect();
        match handed_over {
            HandedOver::Begun { turn_id } if items.is_empty() => return Ok(turn_id),
            // If that turn has just ended, wait for the event of its end before starting another.
            HandedOver::Begun { .. } => return self.join(&items).await.map_err(busy_if_over),
            HandedOver::TakenBack if self.turns.current().is_some() => {
                return self.join(&items).await.map_err(busy_if_over);
            }
            HandedOver::TakenBack | HandedOver::NothingInLine => {}
        }
        self.pause_goal().await?;
        // Codex would silently add it to the running turn.
        if self.is_busy() {
            return Err(HostError::Busy);
        }
        // A text of rawr's own may come before the first message.
        let takes_images = items.last().is_some_and(|text| !is_marked(text));
        let images = if takes_images { self.images.as_slice() } else { &[] };
        let start = requests::turn_start(self.thread_id(), &items, images);
        let answer: TurnAnswer = self.connection.request_as(start).await?;
        if takes_images {
            self.images.clear();
        }
        if self.access == ThreadAccess::Shared {
            // If a user was faster, their turn runs and has taken the text.
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
        // During a turn Codex accepts this request and discards the turn.
        if self.is_busy() || !self.is_idle().await? {
            return Err(HostError::Busy);
        }
        self.connection.request(requests::compact_start(&self.thread.thread_id)).await?;
        self.turns.compaction_promised();
        if order.summary == HostSummary::Omitted {
            let notice = "codex always writes a summary; compaction_packet_only is ignored";
            self.events.push_back(HostEvent::Notice(notice.to_owned()));
        }
        if order.tuning != SummaryTuning::default() {
            let notice = "codex compacts with the thread's model; the configured model is ignored";
            self.events.push_back(HostEvent::Notice(notice.to_owned()));
        }
        self.catch_up();
        Ok(())
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        self.ready()?;
        let turn_id = self.turns.current().ok_or(HostError::NoTurn)?;
        let interrupt = requests::turn_interrupt(self.thread_id(), turn_id);
        self.connection.request(interrupt.within(INTERRUPT_WITHIN)).await?;
        self.catch_up();
        Ok(())
    }

    async fn sample(&mut self, question: ModelQuestion) -> Result<(), HostError> {
        self.ready()?;
        if !self.thread.host.capabilities.sample {
            return Err(HostError::Unable { what: "sample" });
        }
        if !question.ahead {
            // Otherwise the goal could start the next turn, which would outdate the sample.
            self.pause_goal().await?;
        }
        let unable = HostError::Unable { what: "sample before the first turn" };
        let turn_id = self.turns.latest().ok_or(unable)?;
        self.side_requests.sample(&mut self.connection, &self.thread.thread_id, turn_id, question);
        Ok(())
    }

    async fn judge(&mut self, question: ModelQuestion) -> Result<(), HostError> {
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
            if let Some(event) = self.missed.pop_front().or_else(|| self.events.pop_front()) {
                if let HostEvent::Usage { context_window: Some(window), .. } = &event {
                    self.has_window(*window);
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

    async fn close(mut self: Box<Self>) {
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
