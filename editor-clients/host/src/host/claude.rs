//! The real Claude Code as a host: its own `claude -p` process, spoken to in stream-json. It decides nothing about compaction.

mod calls;
mod message;
mod plan;
mod session;
mod turns;
mod windows;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rawr_protocol::{Host as HostInfo, HostCapabilities, PendingAction};
use serde_json::{Value, json};
use tokio::process::Command;

pub use self::calls::{Call, ended};
pub use self::message::{Block, Message};
use self::message::{ClaudeLine, Greeting, Reply};
pub use self::plan::Plan;
use self::session::{fresh_id, transcript};
use self::turns::Turns;
pub use self::windows::WindowSettings;
use super::find::{Program, find};
use super::pipes::{Pipes, Received};
use super::{
    Access, CompactionOrder, HistoryKeeper, Host, HostError, HostEvent, HostThread, OwnCompaction,
    Question, RecordedOutcome, RequestGate, ThreadLifetime, ThreadOrigin, Tuning, TurnKind,
    WithheldWork,
};

/// How Claude Code is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeSettings {
    pub binary: PathBuf,
    /// Absolute: Claude Code and rawr both resolve paths by it.
    pub cwd: PathBuf,
    /// Claude Code's configured one if absent.
    pub model: Option<String>,
    /// One of Claude Code's own modes; its configured one if absent.
    pub permission_mode: Option<String>,
    pub own_compaction: OwnCompaction,
    /// What its summary is to keep.
    pub compact_instructions: String,
    /// Set beside the environment that rawr itself runs in.
    pub environment: Vec<(OsString, OsString)>,
}

/// What capsules know it by.
pub const NAME: &str = "claude";

/// How it is looked for.
const PROGRAM: Program = Program { name: NAME, option: "--claude" };

/// Tells rawr's hooks in that session that somebody looks after its context already.
pub const HOOKS_OFF: (&str, &str) = ("RAWR_HOOKS", "off");

/// Claude Code answers every request that rawr makes at once; a model's work comes as lines of its own.
const PATIENCE: Duration = Duration::from_secs(60);

/// The binary to run: the one that a person named, else the first `claude` in the PATH.
pub fn find_claude(explicit: Option<&Path>) -> Result<PathBuf, HostError> {
    find(&PROGRAM, explicit)?.ok_or(HostError::ClaudeNotFound)
}

/// What `claude --version` says, without the program's name.
pub async fn version(binary: &Path) -> Result<String, HostError> {
    super::find::version(&PROGRAM, binary).await
}

impl ClaudeSettings {
    /// Claude Code as it is configured, in `cwd`.
    pub fn new(binary: PathBuf, cwd: PathBuf) -> Self {
        Self {
            binary,
            cwd,
            model: None,
            permission_mode: None,
            own_compaction: OwnCompaction::default(),
            compact_instructions: String::new(),
            environment: Vec::new(),
        }
    }

    fn command(&self, session: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(["-p", "--input-format", "stream-json", "--output-format", "stream-json"]);
        // Without partial messages nobody tells how many tokens an answer had, nor when it ended.
        command.args(["--verbose", "--include-partial-messages", "--session-id", session]);
        let options = [("--model", &self.model), ("--permission-mode", &self.permission_mode)];
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

/// A running Claude Code with one conversation.
#[derive(Debug)]
pub struct Claude {
    thread: HostThread,
    pipes: Pipes,
    turns: Turns,
    compact_instructions: String,
    last_id: u64,
    /// Replies that nobody has taken yet.
    replies: Vec<Reply>,
    events: VecDeque<HostEvent>,
    /// Why Claude Code has ended, once it has.
    gone: Option<String>,
}

impl Claude {
    /// Starts the process and a new conversation in it.
    pub async fn start(settings: &ClaudeSettings) -> Result<Self, HostError> {
        let session = fresh_id();
        let pipes = Pipes::start(NAME, settings.command(&session));
        let pipes = pipes
            .map_err(|source| HostError::NotStarted { path: settings.binary.clone(), source })?;
        let thread = HostThread {
            transcript: transcript(settings, &session),
            thread_id: session,
            origin: ThreadOrigin::Person,
            cwd: settings.cwd.clone(),
            host: HostInfo {
                name: NAME.to_owned(),
                version: None,
                capabilities: HostCapabilities {
                    inject_turn: true,
                    steer: false,
                    sample: false,
                    // Every input of this conversation comes from the driver, which can hold it.
                    queue: true,
                    compact: true,
                    compact_by_person: false,
                    judge: false,
                    mid_turn_compact: false,
                    inject_items: false,
                },
            },
            model: settings.model.clone(),
            context_window: None,
            baseline_tokens: 0,
        };
        let mut claude = Self {
            turns: Turns::new(thread.cwd.display().to_string()),
            thread,
            pipes,
            compact_instructions: settings.compact_instructions.clone(),
            last_id: 0,
            replies: Vec::new(),
            events: VecDeque::new(),
            gone: None,
        };
        let greeting = claude.request("initialize").await?;
        let greeting: Greeting = serde_json::from_value(greeting)
            .map_err(|source| HostError::NotUnderstood { method: "initialize", source })?;
        if greeting.account.is_some_and(|account| account.is_missing()) {
            claude.close().await;
            return Err(HostError::ClaudeNotLoggedIn);
        }
        claude.thread.host.version = greeting.claude_code_version;
        Ok(claude)
    }

    /// The process, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.pipes.process_id()
    }

    /// Asks and waits for the answer. What comes meanwhile is kept.
    async fn request(&mut self, subtype: &'static str) -> Result<Value, HostError> {
        self.last_id += 1;
        let id = format!("rawr-{}", self.last_id);
        let request = json!({"subtype": subtype});
        self.pipes.send(&json!({"type": "control_request", "request_id": id, "request": request}));
        let answer = tokio::time::timeout(PATIENCE, async {
            loop {
                if let Some(reply) = self.reply_to(&id) {
                    return match reply {
                        Reply::Success { response, .. } => Ok(response),
                        Reply::Error { error: message, .. } => {
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
        let silent = HostError::Silent { method: subtype, seconds: PATIENCE.as_secs() };
        answer.await.unwrap_or(Err(silent))
    }

    fn reply_to(&mut self, id: &str) -> Option<Reply> {
        let at = self.replies.iter().position(|reply| match reply {
            Reply::Success { request_id, .. } | Reply::Error { request_id, .. } => request_id == id,
        })?;
        Some(self.replies.remove(at))
    }

    fn take(&mut self, received: Received) {
        match received {
            Received::Message(message) => match serde_json::from_value(message) {
                Ok(line) => self.take_line(line),
                Err(error) => self.events.push_back(HostEvent::Notice(format!(
                    "failed to parse a line from claude: {error}"
                ))),
            },
            Received::Noise(line) => self
                .events
                .push_back(HostEvent::Notice(format!("unexpected output from claude: {line}"))),
            Received::End { reason } => self.gone = Some(reason),
        }
    }

    fn take_line(&mut self, line: ClaudeLine) {
        match line {
            ClaudeLine::ControlResponse { response } => self.replies.push(response),
            // It must not wait for what nobody answers.
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

    /// To be called before every request.
    fn ready(&self) -> Result<(), HostError> {
        match &self.gone {
            Some(reason) => Err(HostError::Gone { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    /// A turn that has ended counts until the driver hears of its end: nothing may overtake that.
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

impl Host for Claude {
    fn thread(&self) -> &HostThread {
        &self.thread
    }

    fn access(&mut self) -> Access<'_> {
        Access::Exclusive
    }

    fn request_gate(&mut self) -> Option<&mut dyn RequestGate> {
        None
    }

    fn withheld_work(&mut self) -> Option<&mut dyn WithheldWork> {
        None
    }

    fn history_keeper(&mut self) -> Option<&mut dyn HistoryKeeper> {
        None
    }

    fn lifetime(&self) -> ThreadLifetime {
        ThreadLifetime::Driver
    }

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        self.ready()?;
        // Into a running turn Claude Code would take it without a word.
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
        let command = format!("/compact {}", self.compact_instructions);
        self.send(TurnKind::Compaction, &[command.trim_end()]);
        if order.tuning != Tuning::default() {
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
        self.request("interrupt").await.map(drop)
    }

    async fn sample(&mut self, _question: Question) -> Result<(), HostError> {
        Err(HostError::Unable { what: "sample" })
    }

    async fn judge(&mut self, _question: Question) -> Result<(), HostError> {
        Err(HostError::Unable { what: "judge" })
    }

    /// Each driver starts a conversation that ends with it, so there is never an earlier driver.
    async fn recorded_outcome(
        &mut self,
        _action: &PendingAction,
    ) -> Result<RecordedOutcome, HostError> {
        Ok(RecordedOutcome::NotFound)
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
            let received = self.pipes.receive().await;
            self.take(received);
        }
    }

    async fn close(self) {
        self.pipes.close().await;
    }
}
