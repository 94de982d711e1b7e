//! Going back: a new Codex thread whose history is what an older thread's was after one of its turns. The older thread stays as it is.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use super::connection::Connection;
use super::{Codex, CodexSettings, ThreadAnswer};
use crate::host::{Host, HostError};

/// Where to go back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub thread_id: String,
    /// The thread's rollout, for where Codex does not find it by the thread's id.
    pub transcript: Option<PathBuf>,
    /// The last turn that is to be there.
    pub last_turn_id: Option<String>,
    /// What a new thread is told where the history cannot be had.
    pub message: Option<String>,
}

/// What becomes of the new thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// rawr runs it, by its own settings.
    Work,
    /// Somebody else resumes it.
    Leave,
}

/// How it was gone back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A fork up to the turn.
    Fork,
    /// A fork of the whole thread, from which the turns after it were taken.
    ForkReverted,
    /// A new thread that was given a message.
    Message,
}

impl Way {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::ForkReverted => "fork_reverted",
            Self::Message => "message",
        }
    }
}

/// A thread that was gone back to.
#[derive(Debug)]
pub struct Restored {
    pub codex: Codex,
    pub way: Way,
    /// Why not in a better way.
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
type Tried<T> = Result<T, String>;

/// Nobody talks for longer: a list that goes on beyond it is not believed.
const MOST_PAGES: usize = 1000;

impl Codex {
    /// Starts the process and opens a new thread in it, in the best way that this Codex offers.
    pub async fn restore(
        settings: &CodexSettings,
        point: &Point,
        then: Then,
    ) -> Result<Restored, HostError> {
        let thread = match then {
            Then::Work => settings.thread(),
            Then::Leave => json!({"cwd": settings.cwd}),
        };
        let mut connection = Connection::open(&settings.binary, settings.command()).await?;
        let mut tried = Vec::new();
        match open_fork(&mut connection, &thread, point).await? {
            Ok((answer, way)) => {
                let codex = Self::on(connection, settings, answer).await?;
                return Ok(Restored { codex, way, tried });
            }
            Err(why) => tried.push(why),
        }
        let Some(message) = &point.message else {
            let message = format!("{}, and no packet was kept", tried.join("; "));
            return Err(HostError::Refused { method: "thread/fork", message });
        };
        let answer: ThreadAnswer = connection.request_as("thread/start", thread).await?;
        let text = json!([{"type": "input_text", "text": message}]);
        let item = json!({"type": "message", "role": "user", "content": text});
        let params = json!({"threadId": answer.thread.id, "items": [item]});
        connection.request("thread/inject_items", params).await?;
        let codex = Self::on(connection, settings, answer).await?;
        Ok(Restored { codex, way: Way::Message, tried })
    }

    /// Ends the process. The thread stays, for whoever resumes it.
    pub async fn leave(self) {
        self.close().await;
    }
}

async fn open_fork(
    connection: &mut Connection,
    thread: &Value,
    point: &Point,
) -> Result<Tried<(ThreadAnswer, Way)>, HostError> {
    let Some(last_turn) = &point.last_turn_id else {
        return Ok(Err("no turn had ended before the compaction".to_owned()));
    };
    let mut params = thread.clone();
    params["threadId"] = point.thread_id.as_str().into();
    params["lastTurnId"] = last_turn.as_str().into();
    params["excludeTurns"] = true.into();
    let mut forked = fork(connection, params.clone()).await?;
    if let (Err(_), Some(path)) = (&forked, &point.transcript) {
        params["path"] = path.display().to_string().into();
        forked = fork(connection, params).await?.or(forked);
    }
    let answer = match forked {
        Ok(answer) => answer,
        Err(why) => return Ok(Err(why)),
    };
    // A Codex that does not know the field forks all of it.
    match turn_after(connection, &answer.thread.id, last_turn).await? {
        Ok(None) => Ok(Ok((answer, Way::Fork))),
        Ok(Some(next)) => {
            let params = json!({"threadId": answer.thread.id, "beforeTurnId": next});
            let reverted = connection.ask("thread/revert", params).await?;
            Ok(match reverted {
                Ok(_) => Ok((answer, Way::ForkReverted)),
                Err(refusal) => Err(format!("thread/revert: {}", refusal.message)),
            })
        }
        Err(why) => Ok(Err(why)),
    }
}

async fn fork(
    connection: &mut Connection,
    params: Value,
) -> Result<Tried<ThreadAnswer>, HostError> {
    Ok(match connection.ask("thread/fork", params).await? {
        Ok(answer) => serde_json::from_value(answer)
            .map_err(|error| format!("failed to parse the answer to thread/fork: {error}")),
        Err(refusal) => Err(format!("thread/fork: {}", refusal.message)),
    })
}

/// The first turn of a thread after this one; `None` where this is the last.
async fn turn_after(
    connection: &mut Connection,
    thread_id: &str,
    turn_id: &str,
) -> Result<Tried<Option<String>>, HostError> {
    let (mut after, mut cursor) = (None, None);
    for _ in 0..MOST_PAGES {
        let mut params = json!({"threadId": thread_id, "limit": 50, "sortDirection": "desc"});
        if let Some(cursor) = &cursor {
            params["cursor"] = Value::clone(cursor);
        }
        let page = match connection.ask("thread/turns/list", params).await? {
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
            Some(next) => cursor = Some(Value::from(next)),
            None => break,
        }
    }
    Ok(Err(format!("the fork has no turn {turn_id}")))
}
