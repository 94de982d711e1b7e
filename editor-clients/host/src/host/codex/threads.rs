//! Which threads of people and of sub-agents are at an app-server: those that are there, and those that come. It joins none of them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::connection::{Arrived, Connection, Experimental};
use super::message::{Incoming, Refusal};
use super::{ThreadAbout, ThreadRead, probe};
use crate::host::HostError;

/// A look at an app-server that other clients use.
#[derive(Debug)]
pub struct Threads {
    connection: Connection,
    found: VecDeque<String>,
    known: HashSet<String>,
    /// Threads that were heard of, by the request that asks what they are.
    asked: HashMap<u64, String>,
}

/// What was seen there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadFeedItem {
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
        let (found, known, asked) = (VecDeque::new(), HashSet::new(), HashMap::new());
        let mut threads = Self { connection, found, known, asked };
        threads.look().await?;
        Ok(threads)
    }

    /// The next one. May be cancelled at any time.
    pub async fn next(&mut self) -> ThreadFeedItem {
        loop {
            if let Some(thread_id) = self.found.pop_front() {
                return ThreadFeedItem::Thread(thread_id);
            }
            let arrived = match self.connection.take_unread() {
                Some(arrived) => arrived,
                None => self.connection.arrive().await,
            };
            match arrived {
                Arrived::Message(Incoming::Notification { method, params }) => {
                    self.heard(&method, params);
                }
                Arrived::Message(Incoming::Reply { id, answer }) => self.answered(id, answer),
                Arrived::End { reason } => return ThreadFeedItem::Gone { reason },
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

    /// Interrupts whatever runs in any thread.
    pub async fn interrupt_all(mut self) -> Result<(), HostError> {
        for thread_id in self.loaded().await? {
            // Without a turn's id it is the one that runs. Refused where none does.
            let params = json!({"threadId": thread_id, "turnId": ""});
            let _refused = self.connection.ask("turn/interrupt", params).await?;
        }
        self.connection.close().await;
        Ok(())
    }

    async fn look(&mut self) -> Result<(), HostError> {
        let loaded = self.loaded().await?;
        loaded.into_iter().for_each(|thread_id| self.ask_about(thread_id));
        Ok(())
    }

    /// The threads that the app-server has in memory.
    async fn loaded(&mut self) -> Result<Vec<String>, HostError> {
        let (mut threads, mut cursor) = (Vec::new(), None);
        loop {
            let params = json!({ "cursor": cursor });
            let loaded: Loaded = self.connection.request_as("thread/loaded/list", params).await?;
            threads.extend(loaded.data);
            cursor = loaded.next_cursor;
            if cursor.is_none() {
                return Ok(threads);
            }
        }
    }

    fn heard(&mut self, method: &str, mut params: Value) {
        match (method, params["threadId"].as_str()) {
            ("thread/started", _) => {
                let about = serde_json::from_value::<ThreadAbout>(params["thread"].take());
                self.is_about(about.ok());
            }
            ("thread/closed", Some(thread_id)) => drop(self.known.remove(thread_id)),
            // A stored thread that is taken up again is not announced.
            ("thread/status/changed", Some(thread_id)) if !self.known.contains(thread_id) => {
                self.ask_about(thread_id.to_owned());
            }
            _ => {}
        }
    }

    fn ask_about(&mut self, thread_id: String) {
        if self.known.insert(thread_id.clone()) {
            let params = json!({"threadId": thread_id, "includeTurns": false});
            self.asked.insert(self.connection.post("thread/read", params), thread_id);
        }
    }

    /// Codex cannot always read a thread that has had no turn; what it is shows when it is joined.
    fn answered(&mut self, id: u64, answer: Result<Value, Refusal>) {
        let Some(thread_id) = self.asked.remove(&id) else { return };
        let read = answer.ok().and_then(|answer| serde_json::from_value::<ThreadRead>(answer).ok());
        if read.is_none_or(|read| read.thread.origin().is_some()) {
            self.found.push_back(thread_id);
        }
    }

    /// Whoever announces a thread says what it is.
    fn is_about(&mut self, about: Option<ThreadAbout>) {
        let Some(about) = about else { return };
        if self.known.insert(about.id.clone()) && about.origin().is_some() {
            self.found.push_back(about.id);
        }
    }
}
