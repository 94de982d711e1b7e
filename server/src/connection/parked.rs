//! Messages that wait because a worker has the files of their thread. They keep their order and can be cancelled,
//! because their work has not begun. When the thread is back, they are dispatched like new ones.

use super::JsonRpcId;
use rawr_core::units::ThreadId;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Above this size, nothing more is read until some messages are handled.
const MOST_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Parked {
    messages: Vec<ParkedMessage>,
    ids: HashSet<JsonRpcId>,
    bytes: usize,
    /// The number of waiting messages of each thread.
    threads: HashMap<ThreadId, usize>,
}

#[derive(Debug)]
struct ParkedMessage {
    body: Box<[u8]>,
    id: JsonRpcId,
    threads: Vec<ThreadId>,
}

impl Parked {
    pub(super) fn push(&mut self, body: Box<[u8]>, id: JsonRpcId, threads: Vec<ThreadId>) {
        self.bytes += body.len();
        for thread in &threads {
            *self.threads.entry(thread.clone()).or_default() += 1;
        }
        self.ids.insert(id.clone());
        self.messages.push(ParkedMessage { body, id, threads });
    }

    /// Removes and returns the messages that wait for this thread, in order.
    pub(super) fn take(&mut self, thread: &ThreadId) -> Vec<Box<[u8]>> {
        if !self.holds(thread) {
            return Vec::new();
        }
        let waits = |message: &mut ParkedMessage| message.threads.contains(thread);
        let taken: Vec<_> = self.messages.extract_if(.., waits).collect();
        taken.iter().for_each(|message| self.forget(message));
        taken.into_iter().map(|message| message.body).collect()
    }

    fn forget(&mut self, message: &ParkedMessage) {
        self.bytes -= message.body.len();
        self.ids.remove(&message.id);
        for thread in &message.threads {
            if let Some(waiting) = self.threads.get_mut(thread) {
                *waiting -= 1;
                if *waiting == 0 {
                    self.threads.remove(thread);
                }
            }
        }
    }

    /// Removes a request. Returns whether it was there.
    pub(super) fn remove(&mut self, id: &JsonRpcId) -> bool {
        if !self.contains(id) {
            return false;
        }
        let Some(at) = self.messages.iter().position(|message| message.id == *id) else {
            return false;
        };
        let message = self.messages.remove(at);
        self.forget(&message);
        true
    }

    /// The ids of all messages, in order.
    pub(super) fn ids(&self) -> impl Iterator<Item = JsonRpcId> {
        self.messages.iter().map(|message| message.id.clone())
    }

    pub(super) fn contains(&self, id: &JsonRpcId) -> bool {
        self.ids.contains(id)
    }

    /// Whether messages wait for this thread, so that new ones must wait behind them.
    pub(super) fn holds(&self, thread: &ThreadId) -> bool {
        self.threads.contains_key(thread)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes > MOST_BYTES
    }
}

/// The thread that a request names.
pub(super) fn thread_in(params: Option<&str>) -> Option<ThreadId> {
    #[derive(Deserialize)]
    struct ThreadParam<'p> {
        #[serde(borrow, rename = "threadId")]
        thread: Option<Cow<'p, str>>,
    }
    let named: ThreadParam<'_> = serde_json::from_str(params?).ok()?;
    named.thread.map(|thread| ThreadId::new(thread.into_owned()))
}
