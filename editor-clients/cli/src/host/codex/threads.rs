//! Which threads people talk in at an app-server: those that are there, and those that come. It joins none of them.

use std::collections::{HashSet, VecDeque};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::connection::{Arrived, Connection, Experimental};
use super::message::Incoming;
use super::{ThreadAbout, ThreadRead, probe};
use crate::host::HostError;

/// A look at an app-server that other clients use.
#[derive(Debug)]
pub struct Threads {
    connection: Connection,
    found: VecDeque<String>,
    known: HashSet<String>,
}

/// What was seen there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Each once, in no order that matters.
    Thread(String),
    /// The app-server has ended. Told again at every further call.
    Gone { reason: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Loaded {
    data: Vec<String>,
    next_cursor: Option<String>,
}

impl Threads {
    pub async fn reach(socket: &Path) -> Result<Self, HostError> {
        let connection = Connection::reach(socket, Experimental::Wanted).await?;
        let mut threads = Self { connection, found: VecDeque::new(), known: HashSet::new() };
        threads.look().await?;
        Ok(threads)
    }

    /// The next one. May be cancelled at any time.
    pub async fn next(&mut self) -> Found {
        loop {
            if let Some(thread_id) = self.found.pop_front() {
                return Found::Thread(thread_id);
            }
            let arrived = match self.connection.take_unread() {
                Some(arrived) => arrived,
                None => self.connection.arrive().await,
            };
            match arrived {
                Arrived::Message(Incoming::Notification { method, params })
                    if method == "thread/started" =>
                {
                    self.started(params);
                }
                Arrived::End { reason } => return Found::Gone { reason },
                Arrived::Message(_) | Arrived::Noise(_) => {}
            }
        }
    }

    /// Whether Codex warns and resets by itself, which works against rawr.
    pub async fn has_token_budget(&mut self) -> Result<bool, HostError> {
        probe::has_token_budget(&mut self.connection).await
    }

    /// Whoever has left a thread hears of it again, should somebody take it up again.
    pub fn forget(&mut self, thread_id: &str) {
        self.known.remove(thread_id);
    }

    pub async fn close(self) {
        self.connection.close().await;
    }

    async fn look(&mut self) -> Result<(), HostError> {
        let mut cursor = None;
        loop {
            let params = json!({ "cursor": cursor });
            let loaded: Loaded = self.connection.request_as("thread/loaded/list", params).await?;
            for thread_id in loaded.data {
                self.look_at(thread_id).await?;
            }
            cursor = loaded.next_cursor;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Codex cannot always read a thread that has had no turn; what it is shows when it is joined.
    async fn look_at(&mut self, thread_id: String) -> Result<(), HostError> {
        let params = json!({"threadId": thread_id, "includeTurns": false});
        let answer = self.connection.ask("thread/read", params).await?;
        let read = answer.ok().and_then(|answer| serde_json::from_value::<ThreadRead>(answer).ok());
        if read.is_none_or(|read| read.thread.is_peoples()) {
            self.add(thread_id);
        }
        Ok(())
    }

    fn started(&mut self, mut params: Value) {
        let about = serde_json::from_value::<ThreadAbout>(params["thread"].take());
        if let Some(about) = about.ok().filter(ThreadAbout::is_peoples) {
            self.add(about.id);
        }
    }

    fn add(&mut self, thread_id: String) {
        if self.known.insert(thread_id.clone()) {
            self.found.push_back(thread_id);
        }
    }
}
