//! Messages that wait for their thread, because a worker has its files. They keep their order; what they have asked for has
//! not begun, so that they can be cancelled, and are dispatched like new ones when the thread is back.

use super::RequestId;
use rawr_core::units::ThreadId;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Beyond this nothing more is read until some of it is done.
const MOST_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Parked {
    messages: Vec<Message>,
    ids: HashSet<RequestId>,
    bytes: usize,
    /// How many messages wait for each.
    threads: HashMap<ThreadId, usize>,
}

#[derive(Debug)]
struct Message {
    body: Box<[u8]>,
    id: RequestId,
    threads: Vec<ThreadId>,
}

impl Parked {
    pub(super) fn push(&mut self, body: Box<[u8]>, id: RequestId, threads: Vec<ThreadId>) {
        self.bytes += body.len();
        for thread in &threads {
            *self.threads.entry(thread.clone()).or_default() += 1;
        }
        self.ids.insert(id.clone());
        self.messages.push(Message { body, id, threads });
    }

    /// Those that wait for this thread, in their order, for a new try.
    pub(super) fn take(&mut self, thread: &ThreadId) -> Vec<Box<[u8]>> {
        if !self.holds(thread) {
            return Vec::new();
        }
        let waits = |message: &mut Message| message.threads.contains(thread);
        let taken: Vec<_> = self.messages.extract_if(.., waits).collect();
        taken.iter().for_each(|message| self.forget(message));
        taken.into_iter().map(|message| message.body).collect()
    }

    fn forget(&mut self, message: &Message) {
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

    /// Whether there was such a request.
    pub(super) fn remove(&mut self, id: &RequestId) -> bool {
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

    /// Of all messages, in their order.
    pub(super) fn ids(&self) -> impl Iterator<Item = RequestId> {
        self.messages.iter().map(|message| message.id.clone())
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.ids.contains(id)
    }

    /// Whoever names this thread waits behind others.
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
    struct Named<'p> {
        #[serde(borrow, rename = "threadId")]
        thread: Option<Cow<'p, str>>,
    }
    let named: Named<'_> = serde_json::from_str(params?).ok()?;
    named.thread.map(|thread| ThreadId::new(thread.into_owned()))
}
