//! Work that may wait: when a thread's files go to a worker, and what becomes of the result. While
//! they are away, what concerns the thread waits; everything else goes on.

use super::disk::{failed, take_up};
use super::{NOBODYS, OpenThread, RegistryError, ThreadRegistry, Ticket, tell_damage};
use crate::store::StoreError;
use crate::workers::{Opened, Outcome, Task, Work, Worked};
use rawr_core::machine::Notice;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Effect, Input, Thread};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is with workers, and what waits for it.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// To be started.
    pub(super) works: Vec<Work>,
    /// Threads that are not open yet.
    opening: HashSet<ThreadId>,
    /// Read, for the request that asks again.
    pub(super) opened: HashMap<ThreadId, Result<Opened<Thread>, StoreError>>,
    /// The threads of those requests, opened or given up since: what waits for them beside requests comes after these.
    read: Vec<ThreadId>,
    /// What the request that is handled now waits for.
    pub(super) waits_for: BTreeSet<ThreadId>,
    /// Not a client's: done as soon as the thread's files are back.
    later: Vec<(ThreadId, Later)>,
    /// Threads that could not be read when a request last asked for it.
    refused: Vec<ThreadId>,
    /// OpenThread threads whose files are with a worker.
    away: HashSet<ThreadId>,
}

#[derive(Debug)]
pub(super) enum Later {
    Input(Box<Input>),
    /// Others may have recorded something.
    CatchUp,
}

impl OpenThread {
    /// Neither a batch of requests nor a worker has anything of it.
    pub(super) fn is_at_rest(&self) -> bool {
        self.tickets.is_empty() && self.log.is_some()
    }

    pub(super) fn is_seen_by(&self, ticket: Ticket) {
        let mut readers = self.readers.borrow_mut();
        if ticket != NOBODYS && !self.tickets.is_empty() && readers.last() != Some(&ticket) {
            readers.push(ticket);
        }
    }

    /// It is not kept up to date while nothing asks for it.
    pub(super) fn is_behind(&self) -> bool {
        let is_told = self.owner.is_some() || self.watched;
        self.tickets.is_empty() && (self.stale || !is_told)
    }

    /// At the end of a sequence, after many events, and when it goes: so that the next start has little to replay.
    fn is_worth_caching(&self) -> bool {
        let Some(log) = self.log.as_ref().filter(|_| !self.stale) else { return false };
        let goes = self.closing || !(self.by_client || self.watched);
        let ends_a_sequence = || {
            let mut effects = self.staged.iter().flat_map(|staged| &staged.effects);
            effects.any(|effect| matches!(effect, Effect::Tell(Notice::SequenceEnded(_))))
        };
        let is_due = || self.owner.is_some() && (log.wants_caching() || ends_a_sequence());
        log.is_uncached() && (goes || is_due())
    }
}

impl ThreadRegistry {
    /// To be run where it may take its time. What comes of it goes to [`Self::worked`].
    pub fn take_works(&mut self) -> Vec<Work> {
        std::mem::take(&mut self.work.works)
    }

    pub fn is_busy(&self, id: &ThreadId) -> bool {
        self.work.opening.contains(id) || self.work.away.contains(id)
    }

    pub fn is_any_busy(&self) -> bool {
        !self.work.away.is_empty() || !self.work.opening.is_empty()
    }

    /// The threads whose files the last request needs. It has done nothing yet.
    pub fn waits_for(&self) -> Vec<ThreadId> {
        self.work.waits_for.iter().cloned().collect()
    }

    /// The requests that waited have asked again. What was read for those that have not is given up, and who asks from now
    /// on tries once more what failed.
    pub fn requests_went_on(&mut self, now: Timestamp) {
        self.work.opened.clear();
        for id in std::mem::take(&mut self.work.read) {
            self.go_on(&id, now);
        }
        for id in std::mem::take(&mut self.work.refused) {
            if let Some(open) = self.threads.get_mut(&id) {
                open.health.try_once_more();
            }
        }
    }

    /// Of requests whose batch is being stored: they must not be answered yet.
    pub fn unsettled(&self) -> Vec<Ticket> {
        let away = self.work.away.iter().filter_map(|id| self.threads.get(id));
        away.flat_map(|open| {
            let readers = open.readers.borrow();
            open.tickets.iter().chain(readers.iter()).copied().collect::<Vec<_>>()
        })
        .collect()
    }

    fn wait_for(&mut self, id: &ThreadId) -> RegistryError {
        self.work.waits_for.insert(id.clone());
        RegistryError::Busy(id.clone())
    }

    /// For a thread that is not open yet.
    pub(super) fn hand_over(&mut self, id: &ThreadId, task: Task) -> RegistryError {
        if self.work.opening.insert(id.clone()) {
            self.work.works.push(Work { thread: id.clone(), task });
        }
        self.wait_for(id)
    }

    fn hand_over_files(
        &mut self,
        id: &ThreadId,
        task: impl FnOnce(Box<crate::store::ThreadLog>) -> Task,
    ) {
        if let Some(log) = self.threads.get_mut(id).and_then(|open| open.log.take()) {
            self.work.away.insert(id.clone());
            self.work.works.push(Work { thread: id.clone(), task: task(log) });
        }
    }

    /// The append lock is ours, and memory is what the disk has. What has to wait for that is handed to a worker, and its
    /// caller comes again.
    pub(super) fn ready(&mut self, id: &ThreadId, now: Timestamp) -> Result<(), RegistryError> {
        let unknown = || RegistryError::UnknownThread(id.clone());
        let open = self.threads.get_mut(id).ok_or_else(unknown)?;
        open.health.at = now;
        if open.log.is_none() {
            return Err(self.wait_for(id));
        }
        if let Some(error) = open.health.refusal(now) {
            return Err(error.into());
        }
        if open.stale {
            // What this batch had come to before a panic is still good, if it can be stored.
            if !open.tickets.is_empty() {
                self.store_batch(id);
                // One that nobody keeps goes with that, and no worker will bring it back.
                if !self.threads.contains_key(id) {
                    return Err(unknown());
                }
            }
            self.hand_over_files(id, Task::Reread);
            return Err(self.wait_for(id));
        }
        match open.log.as_mut().map_or(Ok(()), |log| log.take_lock()) {
            Ok(()) => Ok(()),
            Err(StoreError::Locked { .. }) => {
                self.hand_over_files(id, Task::Lock);
                Err(self.wait_for(id))
            }
            Err(error) => {
                open.tickets.push(self.ticket);
                self.batch.push(id.clone());
                open.health.could_not(&error, &mut open.stale);
                Err(error.into())
            }
        }
    }

    pub(super) fn recover(&mut self, id: &ThreadId) {
        self.hand_over_files(id, Task::Recover);
    }

    /// One thread's part of a commit. What waits for the disk is a worker's.
    pub(super) fn store_batch(&mut self, id: &ThreadId) {
        let Some(open) = self.threads.get_mut(id) else { return };
        // It comes here again when its files are back.
        let Some(log) = open.log.as_mut() else { return };
        let wants_sync = log.wants_sync();
        let cache = open.is_worth_caching().then(|| Box::new(open.machine.thread().clone()));
        if wants_sync || cache.is_some() || !open.capsules.is_empty() {
            let capsules = std::mem::take(&mut open.capsules);
            self.hand_over_files(id, |log| Task::Commit { log, capsules, cache });
            return;
        }
        let Some(log) = open.log.as_mut() else { return };
        let committed = log.commit();
        self.stored(id, committed);
    }

    /// Not asked for by a request: done now, or as soon as the thread's files are back, also where they cannot be used at the
    /// moment: it is not told again. A deadline is.
    pub(super) fn handle_in_time(
        &mut self,
        id: &ThreadId,
        input: Input,
        now: Timestamp,
    ) -> Result<(), RegistryError> {
        self.ticket = NOBODYS;
        let request_waits = self.work.waits_for.contains(id);
        if !self.threads.contains_key(id) {
            return Err(RegistryError::UnknownThread(id.clone()));
        }
        match self.ready(id, now) {
            Ok(()) => return self.handle(id, input, now).map(drop),
            // A request in the middle of which this comes does not wait for it.
            Err(RegistryError::Busy(_)) if !request_waits => {
                self.work.waits_for.remove(id);
            }
            Err(RegistryError::Busy(_)) => {}
            Err(error) if matches!(input, Input::Tick) => return Err(error),
            Err(error) => tracing::warn!(thread = %id, %error, "what was found out waits"),
        }
        self.do_later(id, Later::Input(Box::new(input)));
        Ok(())
    }

    pub(super) fn do_later(&mut self, id: &ThreadId, later: Later) {
        let known = |(of, kept): &(ThreadId, Later)| {
            of == id
                && match (kept, &later) {
                    (Later::CatchUp, Later::CatchUp) => true,
                    (Later::Input(kept), Later::Input(input)) => {
                        matches!((&**kept, &**input), (Input::Tick, Input::Tick))
                    }
                    _ => false,
                }
        };
        if !self.work.later.iter().any(known) {
            self.work.later.push((id.clone(), later));
        }
    }

    /// A worker is done: the thread goes on.
    pub fn worked(&mut self, worked: Worked, now: Timestamp) {
        self.ticket = NOBODYS;
        let Worked { thread: id, outcome } = worked;
        let (log, outcome) = match outcome {
            Outcome::Opened(opened) => {
                self.work.opening.remove(&id);
                self.work.read.push(id.clone());
                self.work.opened.insert(id, opened);
                return;
            }
            Outcome::Followed(followed) => {
                self.work.opening.remove(&id);
                self.took_up(&id, followed, now);
                return self.go_on(&id, now);
            }
            Outcome::Locked(log, locked) => (log, Back::Locked(locked)),
            Outcome::Committed(log, committed) => (log, Back::Committed(committed)),
            Outcome::Reread(log, read) => (log, Back::Read(read)),
            Outcome::Recovered(log, read) => (log, Back::Recovered(read)),
        };
        self.work.away.remove(&id);
        let Some(open) = self.threads.get_mut(&id) else { return };
        open.log = Some(log);
        open.health.at = now;
        // Whatever was staged meanwhile, and a lock that was waited for in vain.
        self.batch.push(id.clone());
        match outcome {
            Back::Locked(Ok(())) => {}
            Back::Locked(Err(error)) => {
                open.health.leave_alone(&error, now);
                failed(&id, open, &error.to_string(), &mut self.tell);
            }
            Back::Committed(committed) => self.stored(&id, committed),
            Back::Read(Ok(read)) => {
                let torn = take_up(open, read);
                tell_damage(&mut self.tell, &id, &torn);
            }
            Back::Read(Err(error)) => {
                open.health.refuse(&error);
                self.work.refused.push(id.clone());
                failed(&id, open, &error.to_string(), &mut self.tell);
            }
            Back::Recovered(read) => {
                if self.recovered(&id, read, now) {
                    // What an answer waits for is not asked again.
                    self.go_on(&id, now);
                    return self.ask_again(&id);
                }
            }
        }
        self.go_on(&id, now);
    }

    /// What waited for the thread's files beside requests.
    fn go_on(&mut self, id: &ThreadId, now: Timestamp) {
        let waited = self.work.later.extract_if(.., |(of, _)| of == id);
        for (id, later) in waited.collect::<Vec<_>>() {
            let done = match later {
                Later::Input(input) => self.handle_in_time(&id, *input, now),
                Later::CatchUp => self.catch_up(&id, now),
            };
            if let Err(error) = done {
                tracing::error!(thread = %id, %error, "what waited for the thread's files could not be recorded");
            }
        }
    }
}

/// With what a thread's files come back.
enum Back {
    Locked(Result<(), StoreError>),
    Committed(Result<(), StoreError>),
    Read(Result<(Thread, crate::store::Replay), StoreError>),
    Recovered(Result<(Thread, crate::store::Replay), StoreError>),
}

#[cfg(test)]
pub(super) mod tests;
