//! When a thread's files are handed to a worker, and what becomes of the result. In the meantime whatever concerns the
//! thread waits, and everything else continues.

use super::disk::{failed, take_up};
use super::{NO_REQUEST, OpenThread, RegistryError, ThreadRegistry, Ticket, report_damage};
use crate::store::StoreError;
use crate::workers::{FinishedWork, OpenedThread, ThreadWork, WorkOutcome, WorkerTask};
use rawr_core::machine::Notice;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Effect, Input, Thread};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What workers are doing, and what waits for them.
#[derive(Debug, Default)]
pub(super) struct WorkerProgress {
    /// Work to start.
    pub(super) works: Vec<ThreadWork>,
    /// Threads that are being read and are not open yet.
    opening: HashSet<ThreadId>,
    /// Threads that were read, for the request that is repeated.
    pub(super) opened: HashMap<ThreadId, Result<OpenedThread<Thread>, StoreError>>,
    /// The threads of those requests, opened or given up since. Other work for them comes after these requests.
    read: Vec<ThreadId>,
    /// The threads that the current request waits for.
    pub(super) waits_for: BTreeSet<ThreadId>,
    /// Work without a request, done as soon as the thread's files are back.
    later: Vec<(ThreadId, DeferredInput)>,
    /// Threads that could not be read when a request last asked for them.
    refused: Vec<ThreadId>,
    /// Open threads whose files are with a worker.
    away: HashSet<ThreadId>,
}

#[derive(Debug)]
pub(super) enum DeferredInput {
    Input(Box<Input>),
    /// Other processes may have recorded something.
    CatchUp,
}

impl OpenThread {
    /// Neither a batch nor a worker has anything of it.
    pub(super) fn is_at_rest(&self) -> bool {
        self.tickets.is_empty() && self.log.is_some()
    }

    pub(super) fn is_seen_by(&self, ticket: Ticket) {
        let mut readers = self.readers.borrow_mut();
        if ticket != NO_REQUEST && !self.tickets.is_empty() && readers.last() != Some(&ticket) {
            readers.push(ticket);
        }
    }

    /// Whether the thread is not kept up to date while no request names it.
    pub(super) fn is_behind(&self) -> bool {
        let is_told = self.owner.is_some() || self.watched;
        self.tickets.is_empty() && (self.stale || !is_told)
    }

    /// At the end of a sequence, after many events, and when the thread is removed, so that the next start replays
    /// little.
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
    /// The work to run on any thread. Hand the results to [`Self::worked`].
    pub fn take_works(&mut self) -> Vec<ThreadWork> {
        std::mem::take(&mut self.work.works)
    }

    /// Whether a worker has the thread's files.
    pub fn is_busy(&self, id: &ThreadId) -> bool {
        self.work.opening.contains(id) || self.work.away.contains(id)
    }

    /// Whether a worker has the files of any thread.
    pub fn is_any_busy(&self) -> bool {
        !self.work.away.is_empty() || !self.work.opening.is_empty()
    }

    /// The threads whose files the last request needs. That request has done nothing yet.
    pub fn waits_for(&self) -> Vec<ThreadId> {
        self.work.waits_for.iter().cloned().collect()
    }

    /// Call when the requests that waited have been repeated. Threads that were read for others are dropped, and failed
    /// reads are retried from now on.
    pub fn requests_resumed(&mut self, now: Timestamp) {
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

    /// The requests whose batch is being stored. They must not be answered yet.
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

    /// Waits only for this one of the threads that the request needs: repeating it after each of them would be costly.
    pub(super) fn wait_only_for(&mut self, id: &ThreadId) -> RegistryError {
        self.work.waits_for.clear();
        self.wait_for(id)
    }

    /// Hands a thread that is not open yet to a worker.
    pub(super) fn hand_over(&mut self, id: &ThreadId, task: WorkerTask) -> RegistryError {
        if self.work.opening.insert(id.clone()) {
            self.work.works.push(ThreadWork { thread: id.clone(), task });
        }
        self.wait_for(id)
    }

    fn hand_over_files(
        &mut self,
        id: &ThreadId,
        task: impl FnOnce(Box<crate::store::ThreadLog>) -> WorkerTask,
    ) {
        if let Some(log) = self.threads.get_mut(id).and_then(|open| open.log.take()) {
            self.work.away.insert(id.clone());
            self.work.works.push(ThreadWork { thread: id.clone(), task: task(log) });
        }
    }

    /// Makes sure that this process holds the append lock and memory matches the disk. If that would block, a worker
    /// does it and the caller has to repeat the call.
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
            // What this batch recorded before a panic is valid if it can be stored.
            if !open.tickets.is_empty() {
                self.store_batch(id);
                // If nothing keeps the thread, storing removes it, and no worker will bring it back.
                if !self.threads.contains_key(id) {
                    return Err(unknown());
                }
            }
            self.hand_over_files(id, WorkerTask::Reread);
            return Err(self.wait_for(id));
        }
        match open.log.as_mut().map_or(Ok(()), |log| log.take_lock()) {
            Ok(()) => Ok(()),
            Err(StoreError::Locked { .. }) => {
                self.hand_over_files(id, WorkerTask::Lock);
                Err(self.wait_for(id))
            }
            Err(error) => {
                open.tickets.push(self.ticket);
                self.batch.push(id.clone());
                open.health.mark_failed(&error, &mut open.stale);
                Err(error.into())
            }
        }
    }

    /// [`Self::ready`] for an input, which is decided on: if the thread's files failed, only once the disk is known to
    /// accept writes again.
    pub(super) fn ready_for_input(
        &mut self,
        id: &ThreadId,
        now: Timestamp,
    ) -> Result<(), RegistryError> {
        self.ready(id, now)?;
        let Some(open) = self.threads.get_mut(id) else { return Ok(()) };
        if open.health.is_failing() {
            self.recover(id);
            return Err(self.wait_for(id));
        }
        open.end_recovery(now);
        Ok(())
    }

    pub(super) fn recover(&mut self, id: &ThreadId) {
        self.hand_over_files(id, WorkerTask::Recover);
    }

    /// Stores the batch of one thread. A worker does what waits for the disk.
    pub(super) fn store_batch(&mut self, id: &ThreadId) {
        let Some(open) = self.threads.get_mut(id) else { return };
        // Called again when its files are back.
        let Some(log) = open.log.as_mut() else { return };
        let wants_sync = log.wants_sync();
        let cache = open.is_worth_caching().then(|| Box::new(open.machine.thread().clone()));
        if wants_sync || cache.is_some() || !open.capsules.is_empty() {
            let capsules = std::mem::take(&mut open.capsules);
            self.hand_over_files(id, |log| WorkerTask::Commit { log, capsules, cache });
            return;
        }
        let Some(log) = open.log.as_mut() else { return };
        let committed = log.commit();
        self.stored(id, committed);
    }

    /// Handles an input without a request: now, or as soon as the thread's files are back, even if they cannot be used
    /// now, because it is not reported again. Deadlines are.
    pub(super) fn handle_in_time(
        &mut self,
        id: &ThreadId,
        input: Input,
        now: Timestamp,
    ) -> Result<(), RegistryError> {
        self.ticket = NO_REQUEST;
        let request_waits = self.work.waits_for.contains(id);
        if !self.threads.contains_key(id) {
            return Err(RegistryError::UnknownThread(id.clone()));
        }
        match self.ready_for_input(id, now) {
            Ok(()) => return self.handle(id, input, now).map(drop),
            // No request that is being handled now waits for this thread.
            Err(RegistryError::Busy(_)) if !request_waits => {
                self.work.waits_for.remove(id);
            }
            Err(RegistryError::Busy(_)) => {}
            Err(error) if matches!(input, Input::Tick) => return Err(error),
            Err(error) => tracing::warn!(thread = %id, %error, "deferred an input"),
        }
        self.do_later(id, DeferredInput::Input(Box::new(input)));
        Ok(())
    }

    pub(super) fn do_later(&mut self, id: &ThreadId, later: DeferredInput) {
        let known = |(of, kept): &(ThreadId, DeferredInput)| {
            of == id
                && match (kept, &later) {
                    (DeferredInput::CatchUp, DeferredInput::CatchUp) => true,
                    (DeferredInput::Input(kept), DeferredInput::Input(input)) => {
                        matches!((&**kept, &**input), (Input::Tick, Input::Tick))
                    }
                    _ => false,
                }
        };
        if !self.work.later.iter().any(known) {
            self.work.later.push((id.clone(), later));
        }
    }

    /// Takes a worker's result and continues with the thread.
    pub fn worked(&mut self, worked: FinishedWork, now: Timestamp) {
        self.ticket = NO_REQUEST;
        let FinishedWork { thread: id, outcome } = worked;
        let (log, outcome) = match outcome {
            WorkOutcome::Opened(opened) => {
                self.work.opening.remove(&id);
                self.work.read.push(id.clone());
                self.work.opened.insert(id, opened);
                return;
            }
            WorkOutcome::Followed(followed) => {
                self.work.opening.remove(&id);
                self.finish_follow(&id, followed, now);
                return self.go_on(&id, now);
            }
            WorkOutcome::Locked(log, locked) => (log, ReturnedFiles::Locked(locked)),
            WorkOutcome::Committed(log, committed) => (log, ReturnedFiles::Committed(committed)),
            WorkOutcome::Reread(log, read) => (log, ReturnedFiles::Read(read)),
            WorkOutcome::Recovered(log, read) => (log, ReturnedFiles::Recovered(read)),
        };
        self.work.away.remove(&id);
        let Some(open) = self.threads.get_mut(&id) else { return };
        open.log = Some(log);
        open.health.at = now;
        // Includes effects that were staged meanwhile, and a lock that was not obtained.
        self.batch.push(id.clone());
        match outcome {
            ReturnedFiles::Locked(Ok(())) => {}
            ReturnedFiles::Locked(Err(error)) => {
                open.health.back_off(&error, now);
                failed(&id, open, &error.to_string(), &mut self.tell);
            }
            ReturnedFiles::Committed(committed) => self.stored(&id, committed),
            ReturnedFiles::Read(Ok(read)) => {
                let torn = take_up(open, read);
                report_damage(&mut self.tell, &id, &torn);
            }
            ReturnedFiles::Read(Err(error)) => {
                open.health.refuse(&error);
                self.work.refused.push(id.clone());
                failed(&id, open, &error.to_string(), &mut self.tell);
            }
            ReturnedFiles::Recovered(read) => {
                // A request that waits for it fails.
                if let Err(error) = &read {
                    open.health.refuse(error);
                    self.work.refused.push(id.clone());
                }
                if self.recovered(&id, read, now) {
                    // What a request waits for is not repeated here.
                    self.go_on(&id, now);
                    return self.ask_again(&id);
                }
            }
        }
        self.go_on(&id, now);
    }

    /// Handles what waited for the thread's files without a request.
    fn go_on(&mut self, id: &ThreadId, now: Timestamp) {
        let waited = self.work.later.extract_if(.., |(of, _)| of == id);
        for (id, later) in waited.collect::<Vec<_>>() {
            match later {
                DeferredInput::Input(input) => {
                    if let Err(error) = self.handle_in_time(&id, *input, now) {
                        tracing::error!(thread = %id, %error, "failed to record a deferred input");
                    }
                }
                DeferredInput::CatchUp => self.catch_up_in_time(&id, now),
            }
        }
    }
}

/// What comes back with a thread's files.
enum ReturnedFiles {
    Locked(Result<(), StoreError>),
    Committed(Result<(), StoreError>),
    Read(Result<(Thread, crate::store::Replay), StoreError>),
    Recovered(Result<(Thread, crate::store::Replay), StoreError>),
}

#[cfg(test)]
pub(super) mod tests;
