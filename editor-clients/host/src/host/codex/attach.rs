//! Joins a thread of a user's own Codex as a second client. It must not answer the app-server's questions to the user.

use std::path::PathBuf;
use std::time::Duration;

use rawr_protocol::{Host, HostCapabilities};
use rawr_records::profile::CODEX;
use rawr_records::read::codex_turns;
use rawr_records::turns::{RecordedTurn, RecordedUsage, last_usage, open_turn};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::connection::{CodexConnection, ConnectionMessage};
use super::message::{CodexThreadStatus, Incoming};
use super::missed::MissedTurns;
use super::own_limit::OwnLimit;
use super::paused::PausedGoalRecord;
use super::requests::Experimental;
use super::turns::{CodexTurns, ThreadAccess};
use super::{Codex, NAME, ThreadAnswer, probe, requests};
use crate::host::{HostError, HostEvent, HostThread, ThreadOrigin};

/// The thread to join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The app-server's socket.
    pub socket: PathBuf,
    /// The thread's id.
    pub thread_id: String,
    /// rawr's home.
    pub home: PathBuf,
    /// Whether to use Codex's experimental methods.
    pub experimental: Experimental,
    /// Whether user messages pass through the relay.
    pub typed: UserMessageRoute,
    /// The turns that this process has to report.
    pub missed: MissedTurns,
}

/// How user messages reach Codex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserMessageRoute {
    /// Directly.
    GoesToCodex,
    /// Through the relay, which may hold them.
    MayBeHeld,
}

/// Waits between attempts to join. A thread without a turn cannot be joined yet; a notification about it ends the wait.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

impl Codex {
    /// Joins the thread as soon as Codex has stored its first turn. `None` for an internal thread of Codex.
    ///
    /// # Errors
    ///
    /// Fails if the app-server cannot be reached, or if it or the thread closes.
    pub async fn attach(attachment: &Attachment) -> Result<Option<Self>, HostError> {
        let Attachment { socket, thread_id, home, experimental, typed, missed } = attachment;
        let mut connection = CodexConnection::reach(socket, *experimental).await?;
        let answer = resume(&mut connection, thread_id).await?;
        let Some(origin) = answer.thread.origin() else { return Ok(None) };
        let sample = probe::knows_sample(&mut connection).await?;
        let status = answer.thread.status.unwrap_or(CodexThreadStatus::Other);
        let turns = CodexTurns::beside_people(thread_id.clone());
        let preview = answer.thread.preview.clone();
        let title = answer.thread.name.clone();
        let thread = about(answer, origin, sample, *typed);
        let own_limit = OwnLimit::ask(&mut connection, &thread.cwd).await?;
        let codex = Self::with(thread, connection, turns, ThreadAccess::Shared, title);
        let mut codex = Self { own_limit, ..codex };
        let turns = codex.seed(status, missed).await?;
        let is_first = status == CodexThreadStatus::Active && turns <= 1;
        // Codex stores it shortly after the turn started.
        if let Some(first) = preview.filter(|first| is_first && !first.is_empty()) {
            codex.turns.began_with(first);
        }
        // A Codex without goals refuses the request.
        if let Ok(about) = codex.connection.ask(requests::goal_get(thread_id)).await? {
            codex.paused = PausedGoalRecord::of(home, thread_id);
            codex.take_up_goal(about);
        }
        Ok(Some(codex))
    }

    /// Whether Codex has stored the thread, and it is a user's.
    ///
    /// # Errors
    ///
    /// Fails if the app-server cannot be reached.
    pub async fn can_be_resumed(attachment: &Attachment) -> Result<bool, HostError> {
        let Attachment { socket, thread_id, experimental, .. } = attachment;
        let mut connection = CodexConnection::reach(socket, *experimental).await?;
        let answer = try_resume(&mut connection, thread_id).await?;
        Ok(answer.is_some_and(|answer| answer.thread.origin() == Some(ThreadOrigin::Person)))
    }

    pub(super) async fn pause_goal(&mut self) -> Result<(), HostError> {
        if self.goal.is_active() {
            let pause = requests::goal_pause(self.thread_id());
            let answer = self.connection.ask(pause).await?;
            // Notifications before the answer are about a goal that was not paused yet.
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
            let resume = requests::goal_resume(self.thread_id());
            self.connection.post(resume);
        }
    }

    /// Adopts a goal that an earlier driver paused and did not resume.
    fn take_up_goal(&mut self, about: Value) {
        if self.paused.as_ref().is_some_and(|paused| paused.is_of(&about)) {
            self.goal.found_paused();
        }
        self.heard_of_goal(about);
    }

    /// Handles a notification about the goal. Deletes the record if rawr no longer has to resume the goal.
    pub(super) fn heard_of_goal(&mut self, about: Value) {
        self.goal.told(about);
        if !self.goal.is_owed() {
            let forgotten = self.paused.as_ref().map_or(Ok(()), PausedGoalRecord::forget);
            self.tell_if_failed(forgotten);
        }
    }

    fn tell_if_failed(&mut self, noted: std::io::Result<()>) {
        if let Err(error) = noted {
            let notice = format!(
                "failed to record the paused goal ({error}); if rawr ends early, resume the goal yourself"
            );
            self.events.push_back(HostEvent::Notice(notice));
        }
    }

    /// Reads the last usage and the running turn from the thread's file, because Codex reports usage only after the next
    /// sampling request. Returns the number of turns.
    pub(super) async fn seed(
        &mut self,
        status: CodexThreadStatus,
        missed: &MissedTurns,
    ) -> Result<usize, HostError> {
        let path = self.thread.transcript.clone();
        let recorded = tokio::task::spawn_blocking(move || path.map(|path| codex_turns(&path)));
        let recorded = recorded.await.ok().flatten().unwrap_or_default();
        self.tell_of_missed(&recorded, status, missed).await?;
        self.turns.joined_at(status);
        if let Some(turn) = open_turn(&recorded).filter(|_| status == CodexThreadStatus::Active) {
            self.turns.came_into(turn.turn_id.clone());
        }
        if let Some((turn, last)) = last_usage(&recorded) {
            if let Some(window) = last.context_window {
                self.has_window(window);
            }
            let usage = usage(turn, last);
            if !self.missed.contains(&usage) {
                self.events.extend(self.turns.found(usage));
            }
        }
        Ok(recorded.iter().filter(|turn| !turn.turn_id.is_empty()).count())
    }
}

pub(super) fn usage(turn: &RecordedTurn, last: &RecordedUsage) -> HostEvent {
    HostEvent::Usage {
        turn_id: turn.turn_id.clone(),
        usage: last.usage.clone(),
        context_window: last.context_window,
        needs_follow_up: false,
    }
}

async fn resume(
    connection: &mut CodexConnection,
    thread_id: &str,
) -> Result<ThreadAnswer, HostError> {
    let mut pause = FIRST_PAUSE;
    loop {
        match try_resume(connection, thread_id).await? {
            Some(answer) => return Ok(answer),
            None => pause = wait(connection, thread_id, pause).await?,
        }
    }
}

/// `None` if Codex refuses, as it does until it has stored the thread's first turn.
async fn try_resume(
    connection: &mut CodexConnection,
    thread_id: &str,
) -> Result<Option<ThreadAnswer>, HostError> {
    let Ok(answer) = connection.ask(requests::thread_resume(json!({}), thread_id)).await? else {
        return Ok(None);
    };
    let method = "thread/resume";
    serde_json::from_value(answer)
        .map(Some)
        .map_err(|source| HostError::NotUnderstood { method, source })
}

/// Waits for a notification about the thread, at most `pause`. Returns the next pause.
async fn wait(
    connection: &mut CodexConnection,
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
            ConnectionMessage::End { reason } => return Err(HostError::Gone { reason }),
            ConnectionMessage::Message(Incoming::Notification { method, params })
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
            ConnectionMessage::Message(_) | ConnectionMessage::Noise(_) => {}
        }
    }
}

/// What a thread is to the sidecar that Codex has opened.
pub(super) fn about(
    answer: ThreadAnswer,
    origin: ThreadOrigin,
    sample: bool,
    typed: UserMessageRoute,
) -> HostThread {
    // A parent reads the last message of its sub-agent's last turn. rawr must not add turns or compact there: the message
    // would be a packet, or missing.
    let is_persons = origin == ThreadOrigin::Person;
    let capabilities = HostCapabilities {
        inject_turn: is_persons,
        steer: is_persons,
        sample,
        queue: is_persons && typed == UserMessageRoute::MayBeHeld,
        queue_in_place: false,
        queue_above_tokens: None,
        compact: is_persons,
        compact_by_person: false,
        judge: true,
        // Codex offers no request for a compaction inside a turn.
        mid_turn_compact: false,
        inject_items: false,
        cache_seconds: Some(CODEX.hints.cache_seconds),
    };
    HostThread {
        thread_id: answer.thread.id,
        origin,
        cwd: answer.thread.cwd.unwrap_or_default(),
        host: Host { name: NAME.to_owned(), version: answer.thread.cli_version, capabilities },
        model: answer.model,
        context_window: None,
        context_window_assumed: false,
        compacts_above_tokens: None,
        baseline_tokens: CODEX.hints.baseline,
        transcript: answer.thread.path,
        began_at_ms: None,
    }
}
