//! What other processes record. A thread that is owned here continues from it; of a thread that is watched here,
//! clients are notified.

use super::notice::publish;
use super::work::DeferredInput;
use super::{NO_REQUEST, OpenThread, RegistryError, RegistryNotice, ThreadRegistry, report_damage};
use crate::config::is_within;
use crate::query::ThreadOverview;
use crate::store::{LogDamage, StoreError, StoredDecision};
use crate::watch::{ChangeSet, POLL_EVERY, TELLS_OF_CLOSING};
use crate::workers::{FollowedThread, OpenedThread, WorkerTask};
use crate::workspace::{ConfigScope, within};
use rawr_core::machine;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Effect, Input, Thread};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The number of idle threads that the answer of a watch lists, besides the running ones.
const NEWEST: usize = 32;
/// A new folder is read once more, because files that were written before it was watched raise no event.
const LOOK_AGAIN_AFTER_MS: u64 = 100;
/// How long until a thread is read again whose files another process holds for longer than is worth waiting, or whose
/// owner may not have ended yet.
const TRY_AGAIN_AFTER_MS: u64 = 1_000;
/// How long a watch that waits keeps the threads that it found.
const LISTED_FOR_MS: u64 = 1_000;
/// The most threads that are kept in memory only because they are watched.
const MOST_KEPT: usize = 256;

/// What a client wants to be notified of. Without a thread or a folder: everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WatchFilter {
    pub thread: Option<ThreadId>,
    /// Threads whose working folder is this one or below it.
    pub folder: Option<PathBuf>,
}

impl WatchFilter {
    /// For a thread of which only the id is known any more.
    fn may_be_for(&self, id: &ThreadId) -> bool {
        self.thread.as_ref().is_none_or(|wanted| wanted == id)
    }

    fn is_for(&self, thread: &Thread) -> bool {
        self.thread.as_ref().is_none_or(|wanted| *wanted == thread.id)
            && self
                .folder
                .as_ref()
                .is_none_or(|folder| is_within(folder, Path::new(&thread.session.cwd)))
    }
}

#[derive(Debug, Default)]
pub(super) struct WatchState {
    filters: Vec<WatchFilter>,
    /// Earlier records are not reported.
    since: Timestamp,
    /// Threads that were read and do not match.
    passed_over: HashSet<ThreadId>,
    /// Threads that are read at the start of a watch and listed in its answer.
    asked_for: HashSet<ThreadId>,
    /// Who runs each thread, as it was last reported.
    runners: HashMap<ThreadId, Runner>,
    /// Found by a watch that waits for some of them to be read, and when.
    listed: Option<(Timestamp, Vec<ThreadId>)>,
    again: Vec<LookAgain>,
    polled_at: Timestamp,
}

/// Who runs a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Runner {
    owner: Option<String>,
    is_running: bool,
}

/// A thread to read again although no change was reported.
#[derive(Debug)]
struct LookAgain {
    at: Timestamp,
    /// The wait at the beginning: the clock may be set back.
    within_ms: u64,
    thread: ThreadId,
}

impl Runner {
    fn of(overview: &ThreadOverview) -> Self {
        Self { owner: overview.owner.clone(), is_running: overview.is_running() }
    }
}

impl LookAgain {
    fn due(&self, now: Timestamp) -> Timestamp {
        within(self.at, self.within_ms, now)
    }
}

impl WatchState {
    fn look_again(&mut self, thread: &ThreadId, after_ms: u64, now: Timestamp) {
        let (at, thread) = (now.plus_millis(after_ms), thread.clone());
        self.again.push(LookAgain { at, within_ms: after_ms, thread });
    }

    fn wants(&self, thread: &Thread) -> bool {
        self.filters.iter().any(|filter| filter.is_for(thread))
    }

    pub(super) fn choose(&self, open: &mut OpenThread) {
        open.watched = self.wants(open.machine.thread());
        if open.watched
            && let Err(error) = open.decisions.look()
        {
            tracing::warn!(%error, "failed to watch the decisions of other processes");
        }
    }
}

impl ThreadRegistry {
    /// Starts to notify this client of what others record in matching threads. Returns the matching threads of now.
    pub(crate) fn watch(
        &mut self,
        filter: WatchFilter,
        now: Timestamp,
    ) -> Result<Vec<ThreadOverview>, RegistryError> {
        self.store.create()?;
        match filter.thread.as_ref().filter(|id| self.store.exists(id)) {
            Some(id) => self.workspace.watcher_mut().watch_one(&self.store.folder(id)),
            None => self.workspace.watch_threads(),
        }
        if !self.watching.filters.contains(&filter) {
            self.watching.filters.push(filter.clone());
            self.watching.since = now;
            self.watching.passed_over.clear();
            self.choose_watched();
        }
        let mut summaries = Vec::new();
        let ids = match &filter.thread {
            Some(id) => vec![id.clone()],
            None => self.newest_listed(now)?,
        };
        // All threads are read in parallel, and mostly in this order.
        let mut reads = None;
        for id in &ids {
            match self.summary_of_watched(id, &filter, now) {
                Ok(summary) => summaries.extend(summary),
                Err(RegistryError::Busy(id)) => reads = Some(id),
                Err(error) => tracing::warn!(thread = %id, %error, "left out of the watch"),
            }
        }
        summaries.sort_by_key(|summary| std::cmp::Reverse(summary.updated_at));
        match reads {
            None => Ok(summaries),
            Some(last) => {
                self.watching.listed = Some((now, ids));
                Err(self.wait_only_for(&last))
            }
        }
    }

    /// Looking at the folders of all threads takes long among many, and a watch that has to wait repeats its call.
    fn newest_listed(&mut self, now: Timestamp) -> Result<Vec<ThreadId>, StoreError> {
        match self.watching.listed.take() {
            Some((at, ids)) if at <= now && now <= at.plus_millis(LISTED_FOR_MS) => Ok(ids),
            _ => self.store.newest(NEWEST),
        }
    }

    fn summary_of_watched(
        &mut self,
        id: &ThreadId,
        filter: &WatchFilter,
        now: Timestamp,
    ) -> Result<Option<ThreadOverview>, RegistryError> {
        if !self.threads.contains_key(id) {
            self.watching.asked_for.insert(id.clone());
            self.take_up(id, now)?;
        }
        self.watching.asked_for.remove(id);
        match self.threads.get(id).filter(|open| filter.is_for(open.machine.thread())) {
            Some(_) => {
                let overview = self.overview_of_open(id, now)?;
                self.watching.runners.insert(id.clone(), Runner::of(&overview));
                Ok(Some(overview))
            }
            None => Ok(None),
        }
    }

    pub(crate) fn unwatch(&mut self, filter: &WatchFilter) {
        self.watching.filters.retain(|kept| kept != filter);
        if let Some(id) = &filter.thread {
            self.workspace.watcher_mut().unwatch(&self.store.folder(id));
        }
        let of_one =
            |filter: &WatchFilter| filter.thread.as_ref().is_some_and(|id| self.store.exists(id));
        if self.watching.filters.iter().all(of_one) {
            self.workspace.watcher_mut().unwatch_all();
        }
        self.watching.passed_over.clear();
        self.choose_watched();
        // The others are removed when the records that requests caused are stored.
        self.threads.retain(|open| open.by_client || open.watched || !open.is_at_rest());
    }

    fn choose_watched(&mut self) {
        self.threads.values_mut().for_each(|open| self.watching.choose(open));
    }

    /// Handles changed files of threads: owned threads continue from them, watched threads are reported.
    pub(crate) fn follow(&mut self, changes: ChangeSet, now: Timestamp) {
        self.ticket = NO_REQUEST;
        let mut removed: HashSet<_> = changes.removed.into_iter().map(ThreadId::new).collect();
        if changes.all {
            removed.extend(self.threads.keys().chain(self.watching.runners.keys()).cloned());
        }
        for id in removed {
            if !self.store.exists(&id) {
                self.watching.runners.remove(&id);
                if self.threads.get(&id).is_some_and(|open| open.watched && !open.by_client) {
                    self.threads.remove(&id);
                }
                if self.watching.filters.iter().any(|filter| filter.may_be_for(&id)) {
                    (self.tell)(RegistryNotice::Gone { thread: &id });
                }
            }
        }
        // The operating system releases the lock a moment after its file is closed.
        for id in changes.closed.into_iter().map(ThreadId::new) {
            if self.store.exists(&id) {
                self.watching.look_again(&id, LOOK_AGAIN_AFTER_MS, now);
                self.watching.look_again(&id, TRY_AGAIN_AFTER_MS, now);
            }
        }
        let ids = if changes.all {
            self.watching.passed_over.clear();
            self.everything()
        } else {
            changes.threads.into_iter().map(ThreadId::new).collect()
        };
        for id in ids {
            self.catch_up_in_time(&id, now);
        }
    }

    /// Reads what others have recorded, now or as soon as the thread's files are back.
    pub(super) fn catch_up_in_time(&mut self, id: &ThreadId, now: Timestamp) {
        match self.catch_up(id, now) {
            Ok(()) => {}
            Err(RegistryError::Busy(_)) => self.do_later(id, DeferredInput::CatchUp),
            Err(error) => {
                tracing::warn!(thread = %id, %error, "failed to read the records of another process");
                if matches!(error, RegistryError::Store(StoreError::Locked { .. })) {
                    self.watching.look_again(id, TRY_AGAIN_AFTER_MS, now);
                }
            }
        }
    }

    /// Reports a watched thread that is new or has another owner than before, and takes down a banner to which no process
    /// would react.
    pub(super) fn report_owner(&mut self, id: &ThreadId, now: Timestamp) {
        // Without its first event, nothing is known of a thread.
        let is_known = |open: &OpenThread| open.machine.thread().updated_at > Timestamp::default();
        let wanted = |open: &&mut OpenThread| open.watched && is_known(open);
        let Some(open) = self.threads.get_mut(id).filter(wanted) else { return };
        let overview = ThreadOverview { owner: self.store.owner(id), ..open.overview(now) };
        if let Some(until) = overview.hooks_until {
            let wait = u64::try_from(until.0 - now.0).unwrap_or_default();
            let is_short = |look: &LookAgain| look.within_ms <= TRY_AGAIN_AFTER_MS;
            self.watching.again.retain(|look| look.thread != *id || is_short(look));
            self.watching.look_again(id, wait, now);
        }
        let runner = Runner::of(&overview);
        let before = self.watching.runners.insert(id.clone(), runner.clone());
        let is_news = before.as_ref() != Some(&runner) && !self.watching.asked_for.contains(id);
        if is_news {
            (self.tell)(RegistryNotice::Listed { overview: &overview });
        }
        // The banner is shown only while a client runs the thread. Its owner may have ended since it was reported.
        if is_news && before.is_some() || open.banner_told && open.heads_up().is_none() {
            let changed = vec![Effect::Tell(machine::Notice::Changed)];
            publish(open, &mut self.tell, changed, now);
        }
    }

    fn everything(&self) -> Vec<ThreadId> {
        let open = self.threads.keys().cloned();
        if self.watching.filters.is_empty() {
            return open.collect();
        }
        let stored = self.store.newest(NEWEST).unwrap_or_default();
        let closed = stored.into_iter().filter(|id| !self.threads.contains_key(id));
        open.chain(closed).collect()
    }

    pub(super) fn catch_up(&mut self, id: &ThreadId, now: Timestamp) -> Result<(), RegistryError> {
        self.catch_up_with_files(id, now)?;
        self.report_owner(id, now);
        Ok(())
    }

    fn catch_up_with_files(&mut self, id: &ThreadId, now: Timestamp) -> Result<(), RegistryError> {
        let Some(open) = self.threads.get_mut(id) else { return self.take_up(id, now) };
        if open.owner.is_some() {
            let log = open.log.as_ref().ok_or_else(|| RegistryError::Busy(id.clone()))?;
            return if log.has_news()? {
                self.handle_in_time(id, Input::Tick, now)
            } else {
                Ok(())
            };
        }
        self.look(id, now)?;
        self.report_decisions(id)
    }

    /// Reads new records of a thread that is open here and not owned.
    pub(super) fn look(&mut self, id: &ThreadId, now: Timestamp) -> Result<(), RegistryError> {
        let Some(open) = self.threads.get_mut(id) else { return Ok(()) };
        let is_news = open.log.as_ref().map(|log| log.has_news()).transpose()?;
        if is_news == Some(false) && !open.stale {
            return Ok(());
        }
        self.ready(id, now)?;
        let Some(open) = self.threads.get_mut(id) else { return Ok(()) };
        let (damage, told) = fold_news(id, open)?;
        report_damage(&mut self.tell, id, &damage);
        publish(open, &mut self.tell, told, now);
        self.follow_host(id);
        // Releases the lock.
        self.store_batch(id);
        Ok(())
    }

    /// Other processes decide on their own and store decisions in the thread's folder.
    fn report_decisions(&mut self, id: &ThreadId) -> Result<(), RegistryError> {
        let Some(open) = self.threads.get_mut(id).filter(|open| open.watched) else {
            return Ok(());
        };
        let lines = open.decisions.look()?;
        for decision in StoredDecision::read(&lines) {
            (self.tell)(RegistryNotice::Decided {
                thread: open.machine.thread(),
                decision: &decision,
            });
            open.last_decision = Some(decision);
        }
        Ok(())
    }

    /// Opens a thread that is not open here, and reports what was recorded since the watch began.
    fn take_up(&mut self, id: &ThreadId, now: Timestamp) -> Result<(), RegistryError> {
        let wanted = !self.watching.filters.is_empty() && !self.watching.passed_over.contains(id);
        if !wanted {
            return Ok(());
        }
        if !self.store.exists(id) {
            self.watching.look_again(id, LOOK_AGAIN_AFTER_MS, now);
            return Ok(());
        }
        Err(self.hand_over(id, WorkerTask::Follow(self.store.clone(), self.watching.since)))
    }

    /// Takes a thread that a worker has read, and follows it if a client watches it.
    pub(super) fn finish_follow(
        &mut self,
        id: &ThreadId,
        read: Result<OpenedThread<FollowedThread>, StoreError>,
        now: Timestamp,
    ) {
        let known = match read {
            // The thread was removed in the meantime and may come back.
            Err(StoreError::NoThread { .. }) => {
                return self.watching.look_again(id, LOOK_AGAIN_AFTER_MS, now);
            }
            Err(StoreError::Locked { .. }) => {
                return self.watching.look_again(id, TRY_AGAIN_AFTER_MS, now);
            }
            read => read.map_err(RegistryError::from).and_then(|read| self.show(id, read, now)),
        };
        if let Err(error) = known {
            tracing::warn!(thread = %id, %error, "failed to read the records of another process");
            self.watching.passed_over.insert(id.clone());
        }
    }

    fn show(
        &mut self,
        id: &ThreadId,
        read: OpenedThread<FollowedThread>,
        now: Timestamp,
    ) -> Result<(), RegistryError> {
        let OpenedThread { log, state: FollowedThread { before: machine, news, since }, replay } =
            read;
        let mut now_there = machine.clone();
        news.iter().for_each(|record| now_there.apply(record));
        if !self.watching.wants(now_there.thread()) {
            // The first event, which names the folder, may not be written yet.
            if now_there.thread().updated_at > Timestamp::default() {
                self.watching.passed_over.insert(id.clone());
            }
            return Ok(());
        }
        report_damage(&mut self.tell, id, &replay.damage);
        let scope = ConfigScope::recorded(now_there.thread());
        let settings = self.shared_config(&scope);
        let mut decisions = self.store.decisions(id);
        decisions.look()?;
        let mut open = OpenThread {
            watched: true,
            ..OpenThread::new(machine, log, decisions, scope, settings)
        };
        let policy = &open.config.policy;
        let mut told: Vec<_> =
            news.iter().flat_map(|record| open.machine.follow(record, policy)).collect();
        open.unheard_of = now_there.thread().updated_at == Timestamp::default();
        if !news.is_empty() {
            told.push(machine::Notice::Changed);
        }
        publish(&mut open, &mut self.tell, told.into_iter().map(Effect::Tell).collect(), now);
        let mut newest = open.decisions.newest_first()?;
        open.last_decision = newest.next();
        let later = open.last_decision.iter().cloned().chain(newest);
        let later: Vec<_> = later.take_while(|decision| decision.at >= since).collect();
        for decision in later.iter().rev() {
            (self.tell)(RegistryNotice::Decided { thread: open.machine.thread(), decision });
        }
        self.watching.look_again(id, LOOK_AGAIN_AFTER_MS, now);
        self.make_room();
        self.threads.insert(id.clone(), open);
        self.report_owner(id, now);
        self.follow_notes(id);
        Ok(())
    }

    fn make_room(&mut self) {
        let kept = |open: &&OpenThread| open.watched && !open.by_client;
        let mut idle: Vec<_> = self
            .threads
            .iter()
            .filter(|(_, open)| {
                kept(open) && open.is_at_rest() && open.machine.thread().sequence().is_none()
            })
            .map(|(id, open)| (open.machine.thread().updated_at, id.clone()))
            .collect();
        if idle.len() >= MOST_KEPT {
            idle.sort();
            for (_, id) in idle.into_iter().take(MOST_KEPT / 4) {
                self.threads.remove(&id);
            }
        }
    }

    /// When files must be read although no change was reported.
    pub(super) fn next_look(&self, now: Timestamp) -> Option<Timestamp> {
        let again = self.watching.again.iter().map(|look| look.due(now)).min();
        let follows = || !self.watching.filters.is_empty() || self.owns_any();
        let every = POLL_EVERY.as_millis() as u64;
        let is_owned = |runner: &Runner| runner.owner.is_some();
        let runs = || !TELLS_OF_CLOSING && self.watching.runners.values().any(is_owned);
        let polls = (self.workspace.watcher().polls() && follows() || runs())
            .then(|| within(self.watching.polled_at.plus_millis(every), every, now));
        again.into_iter().chain(polls).min()
    }

    pub(super) fn look_around(&mut self, now: Timestamp) {
        if self.next_look(now).is_none_or(|at| at > now) {
            return;
        }
        let mut changes = ChangeSet::default();
        let due = self.watching.again.extract_if(.., |look| look.due(now) <= now);
        changes.threads.extend(due.map(|look| look.thread.to_string()));
        if self.workspace.watcher().polls() {
            changes.all = true;
            self.watching.polled_at = now;
        } else if !TELLS_OF_CLOSING {
            let run = self.watching.runners.iter().filter(|(_, runner)| runner.owner.is_some());
            changes.threads.extend(run.map(|(id, _)| id.to_string()));
            self.watching.polled_at = now;
        }
        self.follow(changes, now);
    }
}

/// Takes the append lock and folds the records of other processes. Returns what to report if a client watches.
pub(super) fn fold_news(
    id: &ThreadId,
    open: &mut OpenThread,
) -> Result<(Vec<LogDamage>, Vec<Effect>), RegistryError> {
    let OpenThread { machine, log, config, .. } = open;
    let log = log.as_mut().ok_or_else(|| RegistryError::Busy(id.clone()))?;
    let policy = &config.policy;
    let before = machine.visible_state(policy);
    let mut told = Vec::new();
    let begun = log.begin(|record| told.extend(machine.follow(&record, policy)));
    let damage = begun.inspect_err(|error| open.health.mark_failed(error, &mut open.stale))?;
    machine.skip_lines(log.lines);
    let news = machine.visible_state(policy) != before;
    if news || std::mem::take(&mut open.unheard_of) {
        told.push(machine::Notice::Changed);
    }
    if open.owner.is_none() && !open.watched {
        told.clear();
    }
    Ok((damage, told.into_iter().map(Effect::Tell).collect()))
}
