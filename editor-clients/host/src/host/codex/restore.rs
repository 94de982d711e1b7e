//! Restores a Codex thread: opens a new thread with an older thread's history up to one of its turns. The older thread is not
//! changed.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use super::connection::CodexConnection;
use super::requests::{self, ForkPoint};
use super::{Codex, CodexSettings, ThreadAnswer};
use crate::host::{AgentHost, HostError};

/// The point to restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestorePoint {
    /// The older thread.
    pub thread_id: String,
    /// The thread's rollout file, in case Codex does not find it by the thread's id.
    pub transcript: Option<PathBuf>,
    /// The last turn to keep.
    pub last_turn_id: Option<String>,
    /// The first message of a new thread, if the history cannot be restored.
    pub message: Option<String>,
}

/// How the new thread is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreTarget {
    /// rawr runs it, with the given settings.
    Work,
    /// Another Codex resumes it.
    Leave,
}

/// How a thread was restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreMethod {
    /// A fork up to the turn.
    Fork,
    /// A fork of the whole thread, with the later turns reverted.
    ForkReverted,
    /// A new thread that starts with a message.
    Message,
}

impl RestoreMethod {
    /// The name in JSON output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::ForkReverted => "fork_reverted",
            Self::Message => "message",
        }
    }
}

/// A restored thread.
#[derive(Debug)]
pub struct RestoredThread {
    /// The new thread.
    pub codex: Codex,
    /// How it was restored.
    pub way: RestoreMethod,
    /// Why better ways failed.
    pub tried: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TurnPage {
    /// The newest first.
    data: Vec<TurnId>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct TurnId {
    id: String,
}

/// A fork, or why there is none.
type ForkAttempt<T> = Result<T, String>;

/// The largest number of pages of turns to read.
const MOST_PAGES: usize = 1000;

impl Codex {
    /// Starts an app-server and opens a new thread in the best way that it supports.
    ///
    /// # Errors
    ///
    /// Fails if the process does not start, or if the history cannot be restored and there is no message.
    pub async fn restore(
        settings: &CodexSettings,
        point: &RestorePoint,
        then: RestoreTarget,
    ) -> Result<RestoredThread, HostError> {
        let thread = match then {
            RestoreTarget::Work => requests::thread_options(settings),
            RestoreTarget::Leave => json!({"cwd": settings.cwd}),
        };
        let mut connection = CodexConnection::open(&settings.binary, settings.command()).await?;
        let mut tried = Vec::new();
        match open_fork(&mut connection, &thread, point).await? {
            Ok((answer, way)) => {
                let codex = Self::on(connection, settings, answer).await?;
                return Ok(RestoredThread { codex, way, tried });
            }
            Err(why) => tried.push(why),
        }
        let Some(message) = &point.message else {
            let message = format!("{}, and no packet was kept", tried.join("; "));
            return Err(HostError::Refused { method: "thread/fork", message });
        };
        let answer: ThreadAnswer = connection.request_as(requests::thread_start(thread)).await?;
        connection.request(requests::inject_message(&answer.thread.id, message)).await?;
        let codex = Self::on(connection, settings, answer).await?;
        Ok(RestoredThread { codex, way: RestoreMethod::Message, tried })
    }

    /// Stops the app-server. The thread is stored and can be resumed.
    pub async fn leave(self) {
        Box::new(self).close().await;
    }
}

async fn open_fork(
    connection: &mut CodexConnection,
    thread: &Value,
    point: &RestorePoint,
) -> Result<ForkAttempt<(ThreadAnswer, RestoreMethod)>, HostError> {
    let Some(last_turn) = &point.last_turn_id else {
        return Ok(Err("no turn had ended before the compaction".to_owned()));
    };
    let by_id = ForkPoint { thread_id: &point.thread_id, last_turn_id: last_turn, path: None };
    let mut forked = fork(connection, thread, by_id).await?;
    if let (Err(_), Some(path)) = (&forked, &point.transcript) {
        let by_path = ForkPoint { path: Some(path), ..by_id };
        forked = fork(connection, thread, by_path).await?.or(forked);
    }
    let answer = match forked {
        Ok(answer) => answer,
        Err(why) => return Ok(Err(why)),
    };
    // A Codex that does not know `lastTurnId` forks the whole thread.
    match turn_after(connection, &answer.thread.id, last_turn).await? {
        Ok(None) => Ok(Ok((answer, RestoreMethod::Fork))),
        Ok(Some(next)) => {
            let reverted =
                connection.ask(requests::thread_revert(&answer.thread.id, &next)).await?;
            Ok(match reverted {
                Ok(_) => Ok((answer, RestoreMethod::ForkReverted)),
                Err(refusal) => Err(format!("thread/revert: {}", refusal.message)),
            })
        }
        Err(why) => Ok(Err(why)),
    }
}

async fn fork(
    connection: &mut CodexConnection,
    thread: &Value,
    point: ForkPoint<'_>,
) -> Result<ForkAttempt<ThreadAnswer>, HostError> {
    Ok(match connection.ask(requests::thread_fork(thread.clone(), point)).await? {
        Ok(answer) => serde_json::from_value(answer)
            .map_err(|error| format!("failed to parse the answer to thread/fork: {error}")),
        Err(refusal) => Err(format!("thread/fork: {}", refusal.message)),
    })
}

/// The turn after this one; `None` if this is the last.
async fn turn_after(
    connection: &mut CodexConnection,
    thread_id: &str,
    turn_id: &str,
) -> Result<ForkAttempt<Option<String>>, HostError> {
    let (mut after, mut cursor) = (None, None::<String>);
    for _ in 0..MOST_PAGES {
        let list = requests::turns_list(thread_id, cursor.as_deref());
        let page = match connection.ask(list).await? {
            Ok(page) => serde_json::from_value::<TurnPage>(page),
            Err(refusal) => return Ok(Err(format!("thread/turns/list: {}", refusal.message))),
        };
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                return Ok(Err(format!(
                    "failed to parse the answer to thread/turns/list: {error}"
                )));
            }
        };
        for TurnId { id } in page.data {
            if id == turn_id {
                return Ok(Ok(after));
            }
            after = Some(id);
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    Ok(Err(format!("the fork has no turn {turn_id}")))
}
