//! Lists the threads of users and sub-agents at an app-server, now and as they appear. It does not join them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::connection::{CodexConnection, ConnectionMessage};
use super::message::{CodexError, Incoming};
use super::requests::Experimental;
use super::{ThreadAbout, ThreadRead, probe, requests};
use crate::host::HostError;

/// A watch on the threads of an app-server.
#[derive(Debug)]
pub struct ThreadWatch {
    connection: CodexConnection,
    found: VecDeque<String>,
    known: HashSet<String>,
    /// Threads with a pending `thread/read`, by request id.
    asked: HashMap<u64, String>,
}

/// An item of the watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadFeedItem {
    /// The id of a thread. Each is reported once, in any order.
    Thread(String),
    /// The app-server ended. Returned again by every further call.
    Gone {
        /// Why it ended.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoadedThreads {
    data: Vec<String>,
    next_cursor: Option<String>,
}

impl ThreadWatch {
    /// Connects to an app-server and lists its loaded threads.
    ///
    /// # Errors
    ///
    /// Fails if the app-server cannot be reached or does not answer.
    pub async fn reach(socket: &Path) -> Result<Self, HostError> {
        let connection = CodexConnection::reach(socket, Experimental::Wanted).await?;
        let (found, known, asked) = (VecDeque::new(), HashSet::new(), HashMap::new());
        let mut threads = Self { connection, found, known, asked };
        threads.look().await?;
        Ok(threads)
    }

    /// Waits for the next thread. Cancel safe.
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
                ConnectionMessage::Message(Incoming::Notification { method, params }) => {
                    self.heard(&method, params);
                }
                ConnectionMessage::Message(Incoming::Reply { id, answer }) => {
                    self.answered(id, answer)
                }
                ConnectionMessage::End { reason } => return ThreadFeedItem::Gone { reason },
                ConnectionMessage::Message(_) | ConnectionMessage::Noise(_) => {}
            }
        }
    }

    /// Whether Codex's `token_budget` is on, which conflicts with rawr.
    ///
    /// # Errors
    ///
    /// Fails if the app-server does not answer.
    pub async fn has_token_budget(&mut self) -> Result<bool, HostError> {
        probe::has_token_budget(&mut self.connection).await
    }

    /// Whether the app-server has this thread, loaded or stored.
    ///
    /// # Errors
    ///
    /// Fails if the app-server does not answer.
    pub async fn has(&mut self, thread_id: &str) -> Result<bool, HostError> {
        // Codex may fail to read a thread that it has just started to store.
        let is_loaded = self.loaded().await?.iter().any(|loaded| loaded == thread_id);
        Ok(is_loaded || self.connection.ask(requests::thread_read(thread_id)).await?.is_ok())
    }

    /// Reports the thread again when it becomes active again.
    pub fn forget(&mut self, thread_id: &str) {
        self.known.remove(thread_id);
    }

    /// Disconnects.
    pub async fn close(self) {
        self.connection.close().await;
    }

    /// Interrupts the running turns of all threads and disconnects.
    ///
    /// # Errors
    ///
    /// Fails if the app-server does not answer.
    pub async fn interrupt_all(mut self) -> Result<(), HostError> {
        for thread_id in self.loaded().await? {
            let _refused = self.connection.ask(requests::interrupt_running(&thread_id)).await?;
        }
        self.connection.close().await;
        Ok(())
    }

    async fn look(&mut self) -> Result<(), HostError> {
        let loaded = self.loaded().await?;
        loaded.into_iter().for_each(|thread_id| self.ask_about(thread_id));
        Ok(())
    }

    /// The threads that the app-server has loaded.
    async fn loaded(&mut self) -> Result<Vec<String>, HostError> {
        let (mut threads, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let list = requests::loaded_list(cursor.as_deref());
            let loaded: LoadedThreads = self.connection.request_as(list).await?;
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
            // A resumed thread has no `thread/started`.
            ("thread/status/changed", Some(thread_id)) if !self.known.contains(thread_id) => {
                self.ask_about(thread_id.to_owned());
            }
            _ => {}
        }
    }

    fn ask_about(&mut self, thread_id: String) {
        if self.known.insert(thread_id.clone()) {
            let id = self.connection.post(requests::thread_read(&thread_id));
            self.asked.insert(id, thread_id);
        }
    }

    /// Handles the reply to `thread/read`. Codex may fail to read a thread without a turn; joining it later tells its origin.
    fn answered(&mut self, id: u64, answer: Result<Value, CodexError>) {
        let Some(thread_id) = self.asked.remove(&id) else { return };
        let read = answer.ok().and_then(|answer| serde_json::from_value::<ThreadRead>(answer).ok());
        if read.is_none_or(|read| read.thread.origin().is_some()) {
            self.found.push_back(thread_id);
        }
    }

    /// Handles the description in `thread/started`.
    fn is_about(&mut self, about: Option<ThreadAbout>) {
        let Some(about) = about else { return };
        if self.known.insert(about.id.clone()) && about.origin().is_some() {
            self.found.push_back(about.id);
        }
    }
}
