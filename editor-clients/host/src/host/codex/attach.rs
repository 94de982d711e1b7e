//! A thread that a person's own Codex works on, joined by rawr as a second client. It answers nobody's questions.

use std::path::PathBuf;
use std::time::Duration;

use rawr_protocol::{Host as HostInfo, HostCapabilities};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::connection::{Arrived, Connection, Experimental};
use super::message::{Incoming, Status};
use super::paused::Paused;
use super::rollout::LastUsage;
use super::turns::{ThreadAccess, Turns};
use super::{BASELINE_TOKENS, Codex, NAME, ThreadAnswer, goal, probe, rollout};
use crate::host::{HostError, HostEvent, HostThread, ThreadOrigin};

/// Which thread to join, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Where the app-server listens.
    pub socket: PathBuf,
    pub thread_id: String,
    /// rawr's own.
    pub home: PathBuf,
    pub experimental: Experimental,
    pub typed: Typed,
    /// Since when somebody stands here who wants to hear of all turns. Of those that began before, nothing is told.
    pub since_ms: i64,
}

/// What becomes of what people type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    GoesToCodex,
    /// Somebody in between puts it to the driver first.
    MayBeHeld,
}

/// A thread without a turn cannot be joined. It is tried again when something happens to it, and from time to time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

impl Codex {
    /// Joins the thread as soon as there is something to join: before its first turn nothing of it is stored. `None`
    /// for a helper of Codex's.
    pub async fn attach(attachment: &Attachment) -> Result<Option<Self>, HostError> {
        let Attachment { socket, thread_id, home, experimental, typed, since_ms } = attachment;
        let mut connection = Connection::reach(socket, *experimental).await?;
        let answer = resume(&mut connection, thread_id).await?;
        let Some(origin) = answer.thread.origin() else { return Ok(None) };
        let sample = probe::knows_sample(&mut connection).await?;
        let status = answer.thread.status.unwrap_or(Status::Other);
        let turns = Turns::beside_people(thread_id.clone());
        let preview = answer.thread.preview.clone();
        let thread = about(answer, origin, sample, *typed);
        let mut codex = Self::with(thread, connection, turns, ThreadAccess::Shared);
        let turns = codex.seed(status, *since_ms).await?;
        let is_first = status == Status::Active && turns <= 1;
        // Codex writes it down a moment after the turn has begun.
        if let Some(first) = preview.filter(|first| is_first && !first.is_empty()) {
            codex.turns.began_with(first);
        }
        let params = json!({"threadId": thread_id});
        // A Codex that knows no goals has none.
        if let Ok(about) = codex.connection.ask("thread/goal/get", params).await? {
            codex.paused = Paused::of(home, thread_id);
            codex.take_up_goal(about);
        }
        Ok(Some(codex))
    }

    pub(super) async fn pause_goal(&mut self) -> Result<(), HostError> {
        if self.goal.is_active() {
            let params = json!({"threadId": self.thread_id(), "status": goal::PAUSED});
            let answer = self.connection.ask("thread/goal/set", params).await?;
            // What came before the answer is of a goal that was not paused yet.
            self.catch_up();
            if let Ok(about) = answer {
                self.goal.paused();
                let noted = self.paused.as_ref().map_or(Ok(()), |paused| paused.write(&about));
                self.tell_if_failed(noted);
            }
        }
        Ok(())
    }

    pub(super) fn resume_goal(&mut self) {
        if self.goal.resume() {
            let params = json!({"threadId": self.thread_id(), "status": goal::ACTIVE});
            self.connection.post("thread/goal/set", params);
        }
    }

    /// One that a rawr before this one has paused and not set going again is set going by this one.
    fn take_up_goal(&mut self, about: Value) {
        if self.paused.as_ref().is_some_and(|paused| paused.is_of(&about)) {
            self.goal.found_paused();
        }
        self.heard_of_goal(about);
    }

    /// A goal that goes on, or that somebody has touched, is not owed any more.
    pub(super) fn heard_of_goal(&mut self, about: Value) {
        self.goal.told(about);
        if !self.goal.is_owed() {
            let forgotten = self.paused.as_ref().map_or(Ok(()), Paused::forget);
            self.tell_if_failed(forgotten);
        }
    }

    fn tell_if_failed(&mut self, noted: std::io::Result<()>) {
        if let Err(error) = noted {
            let notice = format!(
                "home cannot take a note of the goal that is paused ({error}): should rawr end early, resume it yourself"
            );
            self.events.push_back(HostEvent::Notice(notice));
        }
    }

    /// Codex tells how full the window is with the next sampling request only; what it told last stands in its file.
    /// So does the turn that runs. Returns how many turns do.
    async fn seed(&mut self, status: Status, since_ms: i64) -> Result<usize, HostError> {
        let path = self.thread.transcript.clone();
        let stored = tokio::task::spawn_blocking(move || path.map(|path| rollout::stored(&path)));
        let stored = stored.await.ok().flatten().unwrap_or_default();
        self.tell_of_missed(&stored, status, since_ms).await?;
        self.turns.joined_at(status);
        if let Some(turn_id) = stored.open_turn().filter(|_| status == Status::Active) {
            self.turns.came_into(turn_id);
        }
        if let Some(last) = stored.last {
            self.thread.context_window = last.context_window;
            let usage = HostEvent::from(last);
            if !self.events.contains(&usage) {
                self.events.extend(self.turns.found(usage));
            }
        }
        Ok(stored.turns.len())
    }
}

impl From<LastUsage> for HostEvent {
    fn from(last: LastUsage) -> Self {
        Self::Usage {
            turn_id: last.turn_id,
            usage: last.usage,
            context_window: last.context_window,
            needs_follow_up: false,
        }
    }
}

async fn resume(connection: &mut Connection, thread_id: &str) -> Result<ThreadAnswer, HostError> {
    let mut pause = FIRST_PAUSE;
    loop {
        let params = json!({"threadId": thread_id, "excludeTurns": true});
        match connection.ask("thread/resume", params).await? {
            Ok(answer) => {
                let method = "thread/resume";
                return serde_json::from_value(answer)
                    .map_err(|source| HostError::NotUnderstood { method, source });
            }
            Err(_) => pause = wait(connection, thread_id, pause).await?,
        }
    }
}

/// Until something happens to the thread, or it has been long enough. Returns how long it may be next time.
async fn wait(
    connection: &mut Connection,
    thread_id: &str,
    pause: Duration,
) -> Result<Duration, HostError> {
    let until = Instant::now() + pause;
    loop {
        let arrived = match connection.take_unread() {
            Some(arrived) => arrived,
            None => match timeout_at(until, connection.arrive()).await {
                Ok(arrived) => arrived,
                Err(_) => return Ok((pause * 2).min(LONGEST_PAUSE)),
            },
        };
        match arrived {
            Arrived::End { reason } => return Err(HostError::Gone { reason }),
            Arrived::Message(Incoming::Notification { method, params })
                if params["threadId"] == thread_id =>
            {
                if method == "thread/closed" {
                    let reason = "codex closed the thread".to_owned();
                    return Err(HostError::Gone { reason });
                }
                // The thread is about to be stored.
                tokio::time::sleep(FIRST_PAUSE).await;
                return Ok(FIRST_PAUSE);
            }
            Arrived::Message(_) | Arrived::Noise(_) => {}
        }
    }
}

fn about(answer: ThreadAnswer, origin: ThreadOrigin, sample: bool, typed: Typed) -> HostThread {
    // A parent that asks for its sub-agent's answer is given what the last turn said: a packet after one of rawr's, and
    // nothing at all after a compaction.
    let is_persons = origin == ThreadOrigin::Person;
    let capabilities = HostCapabilities {
        inject_turn: is_persons,
        steer: is_persons,
        sample,
        queue: is_persons && typed == Typed::MayBeHeld,
        compact: is_persons,
        compact_by_person: false,
        judge: true,
        // Codex compacts inside a turn only when it wants to.
        mid_turn_compact: false,
        inject_items: false,
    };
    HostThread {
        thread_id: answer.thread.id,
        origin,
        cwd: answer.thread.cwd.unwrap_or_default(),
        host: HostInfo { name: NAME.to_owned(), version: answer.thread.cli_version, capabilities },
        model: answer.model,
        context_window: None,
        baseline_tokens: BASELINE_TOKENS,
        transcript: answer.thread.path,
    }
}
