//! The open threads and their deadlines. The cost of a request does not grow with their number: only threads that
//! changed are asked again.

use super::OpenThread;
use super::disk::due;
use rawr_core::steps;
use rawr_core::units::{ThreadId, Timestamp};
use std::collections::{BTreeSet, HashMap, HashSet};

#[derive(Debug, Default)]
pub(super) struct OpenThreads {
    open: HashMap<ThreadId, OpenThread>,
    /// Threads that may have changed since their deadline was computed.
    touched: HashSet<ThreadId>,
    due: BTreeSet<(Timestamp, ThreadId)>,
    /// The deadline of each thread.
    due_at: HashMap<ThreadId, Timestamp>,
    /// Threads that must be read before a request that names them.
    behind: HashSet<ThreadId>,
    asked_at: Timestamp,
}

impl OpenThreads {
    pub(super) fn get(&self, id: &ThreadId) -> Option<&OpenThread> {
        self.open.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &ThreadId) -> Option<&mut OpenThread> {
        let open = self.open.get_mut(id)?;
        if !self.touched.contains(id) {
            self.touched.insert(id.clone());
        }
        Some(open)
    }

    pub(super) fn contains_key(&self, id: &ThreadId) -> bool {
        self.open.contains_key(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&ThreadId, &OpenThread)> {
        counted(self.open.iter())
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &ThreadId> {
        counted(self.open.keys())
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &OpenThread> {
        counted(self.open.values())
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut OpenThread> {
        self.touched.extend(self.open.keys().cloned());
        counted(self.open.values_mut())
    }

    pub(super) fn insert(&mut self, id: ThreadId, open: OpenThread) {
        self.touched.insert(id.clone());
        self.open.insert(id, open);
    }

    pub(super) fn remove(&mut self, id: &ThreadId) {
        self.touched.insert(id.clone());
        self.open.remove(id);
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&OpenThread) -> bool) {
        self.touched.extend(self.open.keys().cloned());
        self.open.retain(|_, open| {
            steps::add(1);
            keep(open)
        });
    }

    /// The earliest deadline.
    pub(super) fn next_due(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.ask_again(now);
        self.due.first().map(|(at, _)| *at)
    }

    pub(super) fn due(&mut self, now: Timestamp) -> Vec<ThreadId> {
        self.ask_again(now);
        let due = self.due.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, id)| id.clone()).collect()
    }

    pub(super) fn is_any_behind(&mut self, now: Timestamp) -> bool {
        self.ask_again(now);
        !self.behind.is_empty()
    }

    fn ask_again(&mut self, now: Timestamp) {
        // Deadlines are relative to the clock, which may have been set back.
        if now < self.asked_at {
            self.touched.extend(self.open.keys().cloned());
        }
        self.asked_at = now;
        for id in counted(std::mem::take(&mut self.touched).into_iter()) {
            let open = self.open.get(&id);
            let (at, is_behind) =
                (open.and_then(|open| due(open, now)), open.is_some_and(OpenThread::is_behind));
            if let Some(before) = self.due_at.remove(&id) {
                self.due.remove(&(before, id.clone()));
            }
            if let Some(at) = at {
                self.due.insert((at, id.clone()));
                self.due_at.insert(id.clone(), at);
            }
            if is_behind {
                self.behind.insert(id);
            } else {
                self.behind.remove(&id);
            }
        }
    }
}

/// Counts each visit of a thread, so that a test can measure what grows with their number.
fn counted<T>(threads: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    threads.inspect(|_| steps::add(1))
}

#[cfg(test)]
mod tests;
