//! Claude Code as a host: a `claude -p` child process that speaks stream-json.

mod calls;
mod judge;
mod message;
mod session;
mod turns;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use rawr_protocol::{Host, HostCapabilities, PendingAction};
use rawr_records::profile::CLAUDE;
use rawr_records::read::claude_turns;
use serde_json::{Value, json};
use tokio::process::Command;

pub use self::calls::ClaudeToolCall;
pub(super) use self::calls::FinishedCall;
use self::judge::Judgments;
pub use self::message::ClaudeUsage;
use self::message::{ClaudeLine, ControlReply, InitializeReply};
pub(super) use self::session::fresh_id;
use self::session::transcript;
use self::turns::ClaudeTurns;
use super::find::{HostProgram, find};
use super::pipes::{PipeMessage, ProcessPipes};
use super::record::fate;
use super::{
    AgentHost, CompactionOrder, HostAccess, HostError, HostEvent, HostSummary, HostThread,
    INTERRUPT_WITHIN, ModelQuestion, OwnCompaction, RecordedOutcome, SummaryTuning, ThreadOrigin,
    TurnKind,
};

/// Options for starting Claude Code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeSettings {
    /// The `claude` executable.
    pub binary: PathBuf,
    /// The working folder. Must be absolute: Claude Code and rawr both resolve paths against it.
    pub cwd: PathBuf,
    /// The model; `None` selects the one in Claude Code's settings.
    pub model: Option<String>,
    /// One of Claude Code's permission modes; `None` selects the one in its settings.
    pub permission_mode: Option<String>,
    /// A file, or JSON, with further settings of Claude Code.
    pub settings: Option<String>,
    /// The stored session to continue; `None` starts a new one.
    pub resume: Option<String>,
    /// Whether Claude Code may compact by itself.
    pub own_compaction: OwnCompaction,
    /// Instructions for its summary.
    pub compact_instructions: String,
    /// Variables to set in addition to rawr's environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// The host's name in capsules and notifications.
pub const NAME: &str = CLAUDE.name;

/// The program to look for.
const PROGRAM: HostProgram = HostProgram { name: NAME, option: "--claude" };

/// The variable that disables rawr's hooks in a session that a driver already manages.
pub const HOOKS_OFF: (&str, &str) = ("RAWR_HOOKS", "off");

/// Timeout of a control request. Claude Code answers these at once; a model's work is reported in separate lines.
const PATIENCE: Duration = Duration::from_secs(60);

/// Finds the executable: the explicit one, otherwise the first `claude` in the PATH.
///
/// # Errors
///
/// [`HostError::NotAProgram`] if the explicit path is not executable, [`HostError::ClaudeNotFound`] without one.
pub fn find_claude(explicit: Option<&Path>) -> Result<PathBuf, HostError> {
    find(&PROGRAM, explicit)?.ok_or(HostError::ClaudeNotFound)
}

/// The version that `claude --version` prints.
///
/// # Errors
///
/// Fails if the program does not start or prints no version.
pub async fn version(binary: &Path) -> Result<String, HostError> {
    super::find::version(&PROGRAM, binary).await
}

impl ClaudeSettings {
    /// Claude Code with its own settings, in `cwd`.
    pub fn new(binary: PathBuf, cwd: PathBuf) -> Self {
        Self {
            binary,
            cwd,
            model: None,
            permission_mode: None,
            settings: None,
            resume: None,
            own_compaction: OwnCompaction::default(),
            compact_instructions: String::new(),
            environment: Vec::new(),
        }
    }

    fn command(&self, session: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(["-p", "--input-format", "stream-json", "--output-format", "stream-json"]);
        // Without partial messages, neither the usage nor the end of an answer is reported.
        command.args(["--verbose", "--include-partial-messages"]);
        let named = if self.resume.is_some() { "--resume" } else { "--session-id" };
        command.args([named, session]);
        let options = [
            ("--model", &self.model),
            ("--permission-mode", &self.permission_mode),
            ("--settings", &self.settings),
        ];
        for (option, value) in options {
            if let Some(value) = value {
                command.arg(option).arg(value);
            }
        }
        if self.own_compaction == OwnCompaction::EmergencyBrakeOnly {
            command.env("DISABLE_AUTO_COMPACT", "1");
        }
        let (name, value) = HOOKS_OFF;
        command.current_dir(&self.cwd).env(name, value).envs(self.environment.iter().cloned());
        command
    }
}

/// A running Claude Code process with one conversation.
#[derive(Debug)]
pub struct Claude {
    thread: HostThread,
    pipes: ProcessPipes,
    turns: ClaudeTurns,
    settings: ClaudeSettings,
    judgments: Judgments,
    last_id: u64,
    /// Replies to control requests, not yet read.
    replies: Vec<ControlReply>,
    events: VecDeque<HostEvent>,
    /// Why Claude Code ended.
    gone: Option<String>,
}

impl Claude {
    /// Starts the process with a new conversation, or with the stored one that the settings name.
    ///
    /// # Errors
    ///
    /// Fails if the process does not start, does not answer `initialize`, or is not logged in.
    pub async fn start(settings: &ClaudeSettings) -> Result<Self, HostError> {
        let session = settings.resume.clone().unwrap_or_else(fresh_id);
        let pipes = ProcessPipes::start(NAME, settings.command(&session));
        let pipes = pipes
            .map_err(|source| HostError::NotStarted { path: settings.binary.clone(), source })?;
        let thread = HostThread {
            transcript: transcript(settings, &session),
            began_at_ms: None,
            thread_id: session,
            origin: ThreadOrigin::Person,
            cwd: settings.cwd.clone(),
            host: Host {
                name: NAME.to_owned(),
                version: None,
                capabilities: HostCapabilities {
                    inject_turn: true,
                    steer: false,
                    sample: false,
                    // Every input of this conversation comes from the driver, which can hold it.
                    queue: true,
                    queue_in_place: false,
                    queue_above_tokens: None,
                    compact: true,
                    compact_by_person: false,
                    judge: true,
                    mid_turn_compact: false,
                    inject_items: false,
                    cache_seconds: Some(CLAUDE.hints.cache_seconds),
                },
            },
            model: settings.model.clone(),
            context_window: None,
            context_window_assumed: false,
            compacts_above_tokens: None,
            baseline_tokens: 0,
        };
        let mut claude = Self {
            turns: ClaudeTurns::new(thread.cwd.display().to_string()),
            thread,
            pipes,
            settings: settings.clone(),
            judgments: Judgments::default(),
            last_id: 0,
            replies: Vec::new(),
            events: VecDeque::new(),
            gone: None,
        };
        let greeting = claude.request("initialize").await?;
        let greeting: InitializeReply = serde_json::from_value(greeting)
            .map_err(|source| HostError::NotUnderstood { method: "initialize", source })?;
        if greeting.account.is_some_and(|account| account.is_missing()) {
            Box::new(claude).close().await;
            return Err(HostError::ClaudeNotLoggedIn);
        }
        claude.thread.host.version = greeting.claude_code_version;
        Ok(claude)
    }

    /// The process id, while the process runs.
    pub fn process_id(&self) -> Option<u32> {
        self.pipes.process_id()
    }

    /// Sends a control request and waits for its reply. Other lines that arrive meanwhile are processed.
    async fn request(&mut self, subtype: &'static str) -> Result<Value, HostError> {
        self.request_within(PATIENCE, subtype).await
    }

    async fn request_within(
        &mut self,
        limit: Duration,
        subtype: &'static str,
    ) -> Result<Value, HostError> {
        self.last_id += 1;
        let id = format!("rawr-{}", self.last_id);
        let request = json!({"subtype": subtype});
        self.pipes.send(&json!({"type": "control_request", "request_id": id, "request": request}));
        let answer = tokio::time::timeout(limit, async {
            loop {
                if let Some(reply) = self.reply_to(&id) {
                    return match reply {
                        ControlReply::Success { response, .. } => Ok(response),
                        ControlReply::Error { error: message, .. } => {
                            Err(HostError::Refused { method: subtype, message })
                        }
                    };
                }
                if let Some(reason) = self.gone.clone() {
                    return Err(HostError::Gone { reason });
                }
                let received = self.pipes.receive().await;
                self.take(received);
            }
        });
        let silent = HostError::Silent { method: subtype, seconds: limit.as_secs() };
        answer.await.unwrap_or(Err(silent))
    }

    fn reply_to(&mut self, id: &str) -> Option<ControlReply> {
        let at = self.replies.iter().position(|reply| match reply {
            ControlReply::Success { request_id, .. } | ControlReply::Error { request_id, .. } => {
                request_id == id
            }
        })?;
        Some(self.replies.remove(at))
    }

    fn take(&mut self, received: PipeMessage) {
        match received {
            PipeMessage::Message(message) => match serde_json::from_value(message) {
                Ok(line) => self.take_line(line),
                Err(error) => self.events.push_back(HostEvent::Notice(format!(
                    "failed to parse a line from claude: {error}"
                ))),
            },
            PipeMessage::Noise(line) => self
                .events
                .push_back(HostEvent::Notice(format!("unexpected output from claude: {line}"))),
            PipeMessage::End { reason } => self.gone = Some(reason),
        }
    }

    fn take_line(&mut self, line: ClaudeLine) {
        match line {
            ClaudeLine::ControlResponse { response } => self.replies.push(response),
            // Refuse, so that Claude Code does not wait for an answer.
            ClaudeLine::ControlRequest { request_id, request } => {
                let what = request["subtype"].as_str().unwrap_or("that").to_owned();
                let error = format!("rawr does not support {what}");
                let response =
                    json!({"subtype": "error", "request_id": request_id, "error": error});
                self.pipes.send(&json!({"type": "control_response", "response": response}));
            }
            line => {
                self.events.extend(self.turns.read(line));
                if let Some(model) = self.turns.model() {
                    self.thread.model = Some(model.to_owned());
                }
            }
        }
    }

    /// Fails if the host has ended. Called before every request.
    fn ready(&self) -> Result<(), HostError> {
        match &self.gone {
            Some(reason) => Err(HostError::Gone { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    /// Whether a turn runs, or the event of its end is still queued.
    fn is_busy(&self) -> bool {
        let is_end = |event: &HostEvent| matches!(event, HostEvent::TurnCompleted { .. });
        self.turns.is_busy() || self.events.iter().any(is_end)
    }

    fn send(&mut self, kind: TurnKind, items: &[&str]) -> String {
        let turn_id = fresh_id();
        self.turns.promise(&turn_id, kind, items.first().unwrap_or(&""));
        let content: Value =
            items.iter().map(|text| json!({"type": "text", "text": text})).collect();
        let message = json!({"role": "user", "content": content});
        self.pipes.send(&json!({"type": "user", "uuid": turn_id, "message": message}));
        turn_id
    }
}

#[async_trait]
impl AgentHost for Claude {
    fn thread(&self) -> &HostThread {
        &self.thread
    }

    fn access(&mut self) -> HostAccess<'_> {
        HostAccess::Exclusive
    }

    fn resume_withheld_work(&mut self) {}

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        self.ready()?;
        // Claude Code would silently add it to the running turn.
        if self.is_busy() {
            return Err(HostError::Busy);
        }
        Ok(self.send(TurnKind::Asked, items))
    }

    async fn steer(&mut self, _text: &str) -> Result<String, HostError> {
        Err(HostError::Unable { what: "accept a text during a turn" })
    }

    async fn compact(&mut self, order: &CompactionOrder) -> Result<(), HostError> {
        self.ready()?;
        if self.is_busy() {
            return Err(HostError::Busy);
        }
        let command = format!("/compact {}", self.settings.compact_instructions);
        self.send(TurnKind::Compaction, &[command.trim_end()]);
        if order.summary == HostSummary::Omitted {
            let notice = "claude -p always writes a summary; compaction_packet_only is ignored";
            self.events.push_back(HostEvent::Notice(notice.to_owned()));
        }
        if order.tuning != SummaryTuning::default() {
            let notice =
                "claude compacts with the conversation's model; the configured model is ignored";
            self.events.push_back(HostEvent::Notice(notice.to_owned()));
        }
        Ok(())
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        self.ready()?;
        if !self.turns.is_busy() {
            return Err(HostError::NoTurn);
        }
        self.request_within(INTERRUPT_WITHIN, "interrupt").await.map(drop)
    }

    async fn sample(&mut self, _question: ModelQuestion) -> Result<(), HostError> {
        Err(HostError::Unable { what: "sample" })
    }

    async fn judge(&mut self, question: ModelQuestion) -> Result<(), HostError> {
        self.ready()?;
        self.judgments.ask(&self.settings, question);
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
        let Ok(turns) = tokio::task::spawn_blocking(move || claude_turns(&path)).await else {
            return Ok(RecordedOutcome::NotFound);
        };
        Ok(match fate(&turns, asked, !self.is_busy()) {
            // The transcript has other ids for turns.
            RecordedOutcome::Running { .. } => RecordedOutcome::Unclear,
            outcome => outcome,
        })
    }

    async fn next_event(&mut self) -> HostEvent {
        loop {
            if let Some(event) = self.events.pop_front() {
                if let HostEvent::Usage { context_window: Some(window), .. } = &event {
                    self.thread.context_window = Some(*window);
                }
                return event;
            }
            if let Some(reason) = self.gone.clone() {
                return HostEvent::Gone { reason };
            }
            tokio::select! {
                received = self.pipes.receive() => self.take(received),
                answered = self.judgments.answered() => self.events.push_back(answered),
            }
        }
    }

    async fn close(self: Box<Self>) {
        self.pipes.close().await;
    }
}
