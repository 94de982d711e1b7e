//! A conversation that outlives its drivers, and real sidecars in this process.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use futures::future::BoxFuture;
use rawr_protocol::{
    CompactionOrigin, Host, HostCapabilities, PendingAction, TokenUsage, TurnStatus,
};
use serde_json::Map;
use tokio::task::{JoinHandle, yield_now};

use super::*;
use crate::host::record::fate;
use crate::host::{
    CompactionOrder, HandedOverBefore, HostAccess, HostThread, InProcessAgent, LeftMessage,
    ModelQuestion, NextRequest, RecordedOutcome, SharedThread, TurnKind,
};
use rawr_records::turns::{RecordedCompaction, RecordedMessage, RecordedTurn};

const WINDOW: u64 = 100_000;
const FULL: u64 = 70_000;
const EMPTY: u64 = 5_000;
const PACKET: &str = "<continuation_packet>State: working\nGoal: the parser\nDecisions: none\nNext: the docs</continuation_packet>";

/// The conversation. It carries out requests at once.
#[derive(Default)]
pub struct World {
    pub turns: Vec<RecordedTurn>,
    /// The events for the current driver.
    pub untold: VecDeque<HostEvent>,
    /// Carries out requests but does not answer.
    pub is_silent: bool,
    /// The first turn with these words runs until it is interrupted.
    pub hangs_on: Option<&'static str>,
    /// The first compaction runs until it is interrupted.
    pub hangs_in_compaction: bool,
    /// What is to be reported when the hanging turn or compaction is interrupted.
    pub interrupted: Vec<HostEvent>,
    /// A turn with these words fails.
    pub fails_on: Option<&'static str>,
    /// The conversation ends with its driver.
    pub ends_with_driver: bool,
    /// People use the host as well.
    pub is_shared: bool,
}

impl World {
    fn next_turn(&mut self) -> String {
        format!("turn-{}", self.turns.len() + 1)
    }

    pub fn takes(&mut self, sent: &[&str]) -> String {
        let turn_id = self.next_turn();
        let text = sent.concat();
        let hangs = self.hangs_on.take_if(|words| text.contains(*words)).is_some();
        let fails = self.fails_on.is_some_and(|words| text.contains(words));
        let is_compacted = self.turns.iter().any(|turn| turn.compacted.is_some());
        let used = if is_compacted { EMPTY } else { FULL };
        let answer = if text.contains(":packet_request]") { PACKET } else { "That is done now." };
        self.turns.push(RecordedTurn {
            turn_id: turn_id.clone(),
            began_at_ms: Some(now_ms()),
            sent: sent.iter().map(|text| said(text)).collect(),
            has_ended: !hangs,
            last_agent_message: (!hangs).then(|| answer.to_owned()),
            ..RecordedTurn::default()
        });
        let id = || turn_id.clone();
        let ends = |status, error: Option<&str>| HostEvent::TurnCompleted {
            turn_id: turn_id.clone(),
            status,
            last_agent_message: error.is_none().then(|| answer.to_owned()),
            error: error.map(str::to_owned),
            overflow: None,
        };
        self.untold.push_back(HostEvent::TurnStarted { turn_id: id(), kind: TurnKind::Asked });
        if hangs {
            self.interrupted.push(HostEvent::TurnCompleted {
                turn_id: id(),
                status: TurnStatus::Interrupted,
                last_agent_message: None,
                error: None,
                overflow: None,
            });
            return turn_id;
        }
        if fails {
            self.untold.push_back(ends(TurnStatus::Failed, Some("scripted 500")));
            return turn_id;
        }
        if !text.contains("[rawr:") {
            self.untold.push_back(HostEvent::CommandFinished {
                turn_id: id(),
                call_id: "commit".to_owned(),
                command: "git commit -m parser".to_owned(),
                exit_code: 0,
                cwd: "/".to_owned(),
            });
        }
        let usage = TokenUsage {
            context_tokens: used,
            input_tokens: None,
            cached_input_tokens: None,
            output_tokens: None,
            reasoning_tokens: None,
            cache_seconds: None,
        };
        self.untold.extend([
            HostEvent::AgentMessage { turn_id: id(), text: answer.to_owned() },
            HostEvent::Usage {
                turn_id: id(),
                usage,
                context_window: Some(WINDOW),
                needs_follow_up: false,
            },
            ends(TurnStatus::Completed, None),
        ]);
        turn_id
    }

    fn compacts(&mut self) {
        let turn_id = self.next_turn();
        let hangs = std::mem::take(&mut self.hangs_in_compaction);
        let compaction = RecordedCompaction { before: Some(FULL), after: Some(EMPTY) };
        self.turns.push(RecordedTurn {
            turn_id: turn_id.clone(),
            began_at_ms: Some(now_ms()),
            has_ended: !hangs,
            compacted: (!hangs).then_some(compaction),
            ..RecordedTurn::default()
        });
        let (id, origin) = (|| turn_id.clone(), CompactionOrigin::Rawr);
        let ends = |status| HostEvent::TurnCompleted {
            turn_id: turn_id.clone(),
            status,
            last_agent_message: None,
            error: None,
            overflow: None,
        };
        self.untold.extend([
            HostEvent::TurnStarted { turn_id: id(), kind: TurnKind::Compaction },
            HostEvent::CompactionStarted { turn_id: id(), origin },
        ]);
        if hangs {
            let error = "it was interrupted".to_owned();
            self.interrupted.extend([
                HostEvent::CompactionFailed { turn_id: id(), origin, error },
                ends(TurnStatus::Interrupted),
            ]);
            return;
        }
        self.untold.extend([
            HostEvent::CompactionCompleted { turn_id: id(), origin, tokens_after: Some(EMPTY) },
            ends(TurnStatus::Completed),
        ]);
    }

    /// How often it received a text with these words.
    pub fn heard(&self, words: &str) -> usize {
        let sent = self.turns.iter().flat_map(|turn| &turn.sent);
        sent.filter(|sent| sent.text.contains(words)).count()
    }

    pub fn compactions(&self) -> usize {
        self.turns.iter().filter(|turn| turn.compacted.is_some()).count()
    }

    /// What it received and did, one line a turn.
    pub fn story(&self) -> String {
        let line = |turn: &RecordedTurn| {
            let sent: Vec<_> = turn.sent.iter().map(|sent| short(&sent.text)).collect();
            let what = if sent.is_empty() { "compaction".to_owned() } else { sent.join(" + ") };
            format!("{what}{}\n", if turn.has_ended { "" } else { " (interrupted)" })
        };
        self.turns.iter().map(line).collect()
    }
}

/// A text of rawr by its purpose.
fn short(text: &str) -> String {
    let marker = text.trim_end().lines().last().filter(|line| line.starts_with("[rawr:"));
    let purpose = marker.and_then(|marker| marker.trim_end_matches(']').rsplit(':').next());
    purpose.map_or_else(|| text.to_owned(), |purpose| format!("[{purpose}]"))
}

pub fn said(text: &str) -> RecordedMessage {
    message_at(now_ms(), text)
}

pub fn message_at(at_ms: i64, text: &str) -> RecordedMessage {
    RecordedMessage { text: text.to_owned(), at_ms: Some(at_ms), is_users: true }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// A driver's connection to it.
pub struct Lasting {
    world: Arc<Mutex<World>>,
    thread: HostThread,
}

impl Lasting {
    /// Unread events of an earlier driver are lost.
    pub fn join(world: &Arc<Mutex<World>>, cwd: PathBuf) -> Self {
        world.lock().unwrap().untold.clear();
        let capabilities = HostCapabilities {
            inject_turn: true,
            compact: true,
            queue: true,
            ..HostCapabilities::default()
        };
        let host = Host { name: "lasting".to_owned(), version: None, capabilities };
        let thread = HostThread {
            thread_id: "t".to_owned(),
            origin: ThreadOrigin::Person,
            cwd,
            host,
            model: None,
            context_window: Some(WINDOW),
            context_window_assumed: false,
            compacts_above_tokens: None,
            baseline_tokens: 0,
            transcript: None,
            began_at_ms: None,
        };
        Self { world: Arc::clone(world), thread }
    }
}

#[async_trait]
impl AgentHost for Lasting {
    fn thread(&self) -> &HostThread {
        &self.thread
    }

    fn access(&mut self) -> HostAccess<'_> {
        let (is_shared, ends_with_driver) = {
            let world = self.world.lock().unwrap();
            (world.is_shared, world.ends_with_driver)
        };
        match (is_shared, ends_with_driver) {
            (true, _) => HostAccess::Shared(self),
            (false, true) => HostAccess::InProcess(self),
            (false, false) => HostAccess::Exclusive,
        }
    }

    fn resume_withheld_work(&mut self) {}

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        let turn_id = self.world.lock().unwrap().takes(items);
        // The driver may die here.
        yield_now().await;
        match self.world.lock().unwrap().is_silent {
            true => Err(HostError::Silent { method: "turn/start", seconds: 60 }),
            false => Ok(turn_id),
        }
    }

    async fn steer(&mut self, _text: &str) -> Result<String, HostError> {
        Err(HostError::NoTurn)
    }

    async fn compact(&mut self, _order: &CompactionOrder) -> Result<(), HostError> {
        self.world.lock().unwrap().compacts();
        yield_now().await;
        Ok(())
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        let mut world = self.world.lock().unwrap();
        let interrupted = std::mem::take(&mut world.interrupted);
        let result = if interrupted.is_empty() { Err(HostError::NoTurn) } else { Ok(()) };
        world.untold.extend(interrupted);
        result
    }

    async fn sample(&mut self, _question: ModelQuestion) -> Result<(), HostError> {
        Err(HostError::Unable { what: "sample" })
    }

    async fn judge(&mut self, _question: ModelQuestion) -> Result<(), HostError> {
        Err(HostError::Unable { what: "judge" })
    }

    async fn recorded_outcome(
        &mut self,
        asked: &PendingAction,
    ) -> Result<RecordedOutcome, HostError> {
        Ok(fate(&self.world.lock().unwrap().turns, asked, true))
    }

    async fn next_event(&mut self) -> HostEvent {
        let event = self.world.lock().unwrap().untold.pop_front();
        match event {
            Some(event) => event,
            // All that happens is asked for.
            None => std::future::pending().await,
        }
    }

    async fn close(self: Box<Self>) {}
}

impl InProcessAgent for Lasting {
    fn resume_turn(&mut self, _turn_id: &str, _next: NextRequest) -> Result<(), HostError> {
        Ok(())
    }

    fn history(&mut self) -> BoxFuture<'_, Result<Vec<Map<String, Value>>, HostError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

impl SharedThread for Lasting {
    fn running_turn(&self) -> Option<&str> {
        None
    }

    fn drain_events(&mut self) -> BoxFuture<'_, Result<(), HostError>> {
        Box::pin(async { Ok(()) })
    }

    fn prepare_handoff(&mut self, _text: String, _before_message: bool) {}

    fn hand_over_before_held<'h>(
        &'h mut self,
        handoff: &'h str,
    ) -> BoxFuture<'h, Result<HandedOverBefore, HostError>> {
        Box::pin(async move { Ok(HandedOverBefore::InTurn(self.start_turn(&[handoff]).await?)) })
    }

    fn give_back<'h>(
        &'h mut self,
        _text: &'h str,
        _since_ms: Option<i64>,
    ) -> BoxFuture<'h, Result<LeftMessage, HostError>> {
        Box::pin(async { Ok(LeftMessage::Passed) })
    }

    fn wait_until_recorded<'h>(
        &'h mut self,
        _turn_id: &'h str,
    ) -> BoxFuture<'h, Result<(), HostError>> {
        Box::pin(async { Ok(()) })
    }
}

/// Real sidecars in this process, one after the other.
#[derive(Clone)]
pub struct Real {
    home: PathBuf,
    last: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Real {
    pub fn at(home: &Path) -> Self {
        Self { home: home.to_owned(), last: Arc::default() }
    }
}

#[async_trait]
impl Launch for Real {
    async fn launch(&self) -> Result<SidecarClient, SidecarError> {
        // The sidecar before this one owns the thread until it notices the end of its client.
        let before = self.last.lock().unwrap().take();
        if let Some(before) = before {
            before.await.unwrap();
        }
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let (input, output) = tokio::io::split(theirs);
        let serves = tokio::task::spawn_local(async {
            drop(rawr_server::serve_on(input, output, None).await);
        });
        *self.last.lock().unwrap() = Some(serves);
        let (reader, writer) = tokio::io::split(ours);
        let mut sidecar = SidecarClient::over(reader, writer);
        sidecar.greet("rawr exec", Some(&self.home), &Map::new()).await?;
        Ok(sidecar)
    }
}
