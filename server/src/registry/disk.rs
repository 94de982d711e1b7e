//! How the registry uses the disk: it stores batches and then sends their effects. If a thread's files fail, the thread
//! stops acting and releases held messages to its host. The registry retries and continues from what the disk holds.

use super::held::with_original;
use super::notice::publish;
use super::{
    NO_REQUEST, OpenThread, RegistryError, RegistryNotice, ThreadRegistry, Ticket, outside,
    report_damage,
};
use crate::store::{LogDamage, OwnerLock, Replay, StoreError};
use crate::workspace::within;
use rawr_core::event::ThreadClosed;
use rawr_core::units::{InputId, ThreadId, Timestamp};
use rawr_core::{Effect, Input, Machine, Thread};

/// How long to wait before a disk that failed is tried again, in milliseconds.
const TRY_AGAIN_AFTER_MS: u64 = 1000;
/// How long a host may take to report which released messages it delivered, in milliseconds. Then they count as held.
const HOST_MAY_TAKE_MS: u64 = 5000;
/// Due whatever the clock says.
const AT_ONCE: Timestamp = Timestamp(0);

/// The state of a thread's files.
#[derive(Debug)]
pub(super) struct ThreadHealth {
    course: DiskRecovery,
    /// When the thread was last used.
    pub(super) at: Timestamp,
    refused: Option<DiskRefusal>,
    /// A failure from before the commit. The commit reports it.
    error: Option<String>,
    /// The held messages that were not sent, as of the last commit.
    waiting: Vec<InputId>,
}

/// The thread's files cannot be used. Requests for them fail at once.
#[derive(Debug)]
struct DiskRefusal {
    error: StoreError,
    /// No retry before this time. `None`: the next request retries.
    until: Option<Timestamp>,
}

/// What follows from a failed disk. The host delivers `released` messages, and reports it with `input/cancel` once that
/// can be stored.
#[derive(Debug, Default)]
enum DiskRecovery {
    #[default]
    Good,
    Failing {
        released: Vec<InputId>,
        retry_at: Timestamp,
    },
    /// The disk works again. Until the host has reported its deliveries, inputs are recorded without decisions.
    Returning {
        released: Vec<InputId>,
        until: Timestamp,
    },
}

impl Default for ThreadHealth {
    fn default() -> Self {
        let (course, waiting) = Default::default();
        Self { course, at: AT_ONCE, refused: None, error: None, waiting }
    }
}

impl ThreadHealth {
    /// Whether inputs are decided on.
    pub(super) const fn is_good(&self) -> bool {
        matches!(self.course, DiskRecovery::Good)
    }

    pub(super) const fn is_failing(&self) -> bool {
        matches!(self.course, DiskRecovery::Failing { .. })
    }

    /// Notes that the thread could not be read or locked. The next commit reports it, and memory may be ahead of the
    /// disk.
    pub(super) fn mark_failed(&mut self, error: &StoreError, stale: &mut bool) {
        *stale = true;
        self.error = Some(error.to_string());
    }

    pub(super) fn refuse(&mut self, error: &StoreError) {
        self.refused = Some(DiskRefusal { error: error.told_again(), until: None });
    }

    /// Another process holds the lock for longer than is worth waiting.
    pub(super) fn back_off(&mut self, error: &StoreError, now: Timestamp) {
        let until = Some(now.plus_millis(TRY_AGAIN_AFTER_MS));
        self.refused = Some(DiskRefusal { error: error.told_again(), until });
    }

    pub(super) fn try_once_more(&mut self) {
        self.refused.take_if(|refused| refused.until.is_none());
    }

    pub(super) fn refusal(&mut self, now: Timestamp) -> Option<StoreError> {
        let is_over = |until: Timestamp| within(until, TRY_AGAIN_AFTER_MS, now) <= now;
        self.refused.take_if(|refused| refused.until.is_some_and(is_over));
        self.refused.as_ref().map(|refused| refused.error.told_again())
    }

    fn stored(&mut self, thread: &Thread) {
        let waiting = thread.held.iter().filter(|held| held.action.is_none());
        self.waiting.clear();
        self.waiting.extend(waiting.map(|held| held.id.clone()));
    }
}

impl OpenThread {
    /// Decides on inputs again, once the host has reported its deliveries or took too long.
    pub(super) fn end_recovery(&mut self, now: Timestamp) {
        let is_returning = matches!(self.health.course, DiskRecovery::Returning { .. });
        if is_returning && due(self, now).is_some_and(|at| at <= now) {
            self.health.course = DiskRecovery::Good;
        }
    }
}

impl ThreadRegistry {
    /// Closes a thread for its host. The state is stored if possible; the owner lock is released in any case.
    pub fn close(&mut self, id: &ThreadId, now: Timestamp) -> Result<(), RegistryError> {
        let said = match self.open_thread(id)?.owner {
            Some(_) => self.handle(id, Input::Saw(ThreadClosed {}.into()), now).map(drop),
            None => Ok(()),
        };
        if let Err(RegistryError::Busy(_)) = said {
            return said;
        }
        if let Some(open) = self.threads.get_mut(id) {
            open.closing = true;
        }
        // Immediately, so that a request that follows finds it closed or waits until it is.
        self.store_batch(id);
        said
    }

    /// Stores everything at the end of the process. No worker may be running.
    pub fn leave(&mut self, now: Timestamp) {
        self.settle(now);
        self.threads.values_mut().for_each(save_cache);
    }

    /// Stores everything synchronously, for callers with nothing else to do.
    pub fn settle(&mut self, now: Timestamp) {
        loop {
            self.store_batches();
            let works = self.take_works();
            if works.is_empty() {
                return;
            }
            works.into_iter().for_each(|work| self.worked(work.run(), now));
        }
    }

    /// Begins to store what was decided since the last commit: one write and at most one sync per thread. Effects are
    /// sent when their records are stored. Returns the requests that had no effect because their thread's files failed.
    pub fn commit(&mut self) -> Vec<(Vec<Ticket>, RegistryError)> {
        self.store_batches();
        std::mem::take(&mut self.failures)
    }

    fn store_batches(&mut self) {
        for id in std::mem::take(&mut self.batch) {
            self.store_batch(&id);
        }
    }

    pub(super) fn stored(&mut self, id: &ThreadId, stored: Result<(), StoreError>) {
        let Some(open) = self.threads.get_mut(id) else { return };
        let mut tickets = std::mem::take(&mut open.tickets);
        tickets.append(open.readers.get_mut());
        let before = open.health.error.take();
        match stored {
            Ok(()) if !open.stale => open.health.stored(open.machine.thread()),
            Ok(()) => {
                if let Some(error) = before {
                    failed(id, open, &error, &mut self.tell);
                }
            }
            Err(error) => {
                open.staged.clear();
                failed(id, open, &error.to_string(), &mut self.tell);
                if tickets.contains(&NO_REQUEST) {
                    tracing::error!(thread = %id, %error, "failed to record an event without a request");
                }
                self.failures.push((tickets, error.into()));
            }
        }
        call_owner(id, open);
        for staged in std::mem::take(&mut open.staged) {
            let asked = staged.effects.iter().filter_map(|effect| match effect {
                Effect::Perform(issued) => Some(issued.as_ref()),
                _ => None,
            });
            self.jobs.extend(outside::questions(open, id, asked));
            publish(open, &mut self.tell, staged.effects, staged.now);
        }
        let is_wanted = open.by_client || open.watched;
        if open.closing || !is_wanted {
            self.release(id);
        }
    }

    /// Called when the client closed or no longer watches the thread. It stays open while it is watched.
    fn release(&mut self, id: &ThreadId) {
        let Some(open) = self.threads.get_mut(id) else { return };
        if open.owner.take().is_some() {
            self.workspace.watcher_mut().unwatch(&self.store.wake_file(id));
        }
        (open.by_client, open.closing, open.health) = (false, false, ThreadHealth::default());
        if !open.watched {
            self.threads.remove(id);
            self.workspace.forget_files();
        }
    }

    /// When [`Self::tick`] must be called next.
    pub fn next_deadline(&mut self, now: Timestamp) -> Option<Timestamp> {
        let due = self.threads.next_due(now);
        due.into_iter().chain(self.next_look(now)).chain(self.workspace.next_edit(now)).min()
    }

    pub(super) fn owns_any(&self) -> bool {
        self.threads.values().any(|open| open.owner.is_some())
    }

    /// Handles every deadline that has passed at `now`.
    pub fn tick(&mut self, now: Timestamp) {
        self.look_around(now);
        self.take_up_edits(now);
        let due = self.threads.due(now);
        for id in due {
            if let Err(error) = self.look_after(&id, now) {
                tracing::error!(thread = %id, %error, "failed to handle a deadline");
            }
        }
    }

    fn look_after(&mut self, id: &ThreadId, now: Timestamp) -> Result<(), RegistryError> {
        let open =
            self.threads.get_mut(id).ok_or_else(|| RegistryError::UnknownThread(id.clone()))?;
        if open.stale || matches!(open.health.course, DiskRecovery::Failing { .. }) {
            open.health.at = now;
            self.recover(id);
            return Ok(());
        }
        open.end_recovery(now);
        self.handle_in_time(id, Input::Tick, now)
    }

    /// Repeats the actions that the host has not reported, because a report may have been lost while nothing could be
    /// stored. Returns whether the sidecar must repeat its own questions, too.
    pub(super) fn recovered(
        &mut self,
        id: &ThreadId,
        read: Result<(Thread, Replay), StoreError>,
        now: Timestamp,
    ) -> bool {
        let Some(open) = self.threads.get_mut(id) else { return false };
        let damage = match read {
            Ok(read) => take_up(open, read),
            Err(error) => {
                failed(id, open, &error.to_string(), &mut self.tell);
                return false;
            }
        };
        report_damage(&mut self.tell, id, &damage);
        let course = std::mem::take(&mut open.health.course);
        let DiskRecovery::Failing { released, .. } = course else { return false };
        open.health.course =
            DiskRecovery::Returning { released, until: now.plus_millis(HOST_MAY_TAKE_MS) };
        (self.tell)(RegistryNotice::StoreRecovered { thread: id });
        let thread = open.machine.thread();
        for issued in thread.pending_actions() {
            let issued = with_original(&open.folder, issued.clone());
            (self.tell)(RegistryNotice::Perform { thread, issued: &issued });
        }
        true
    }

    pub(super) fn ask_again(&mut self, id: &ThreadId) {
        if let Some(open) = self.threads.get(id) {
            let pending = open.machine.thread().pending_actions();
            self.jobs.extend(outside::questions(open, id, pending));
        }
    }
}

/// Wakes the owner of the thread in another process if this batch holds records for it.
fn call_owner(id: &ThreadId, open: &mut OpenThread) {
    if std::mem::take(&mut open.calls_owner)
        && !open.stale
        && let Err(error) = OwnerLock::ring(&open.folder)
    {
        tracing::warn!(thread = %id, %error, "failed to wake the owner; it reads this at its next input");
    }
}

pub(super) fn due(open: &OpenThread, now: Timestamp) -> Option<Timestamp> {
    // If a worker has its files, it continues when they are back.
    open.owner.as_ref().and(open.log.as_ref())?;
    let waits = |input: &InputId| {
        open.machine.thread().held.iter().any(|held| held.id == *input && held.action.is_none())
    };
    match &open.health.course {
        DiskRecovery::Failing { retry_at, .. } => Some(within(*retry_at, TRY_AGAIN_AFTER_MS, now)),
        _ if open.stale => Some(AT_ONCE),
        DiskRecovery::Returning { released, until } => {
            let until = within(*until, HOST_MAY_TAKE_MS, now);
            Some(if released.iter().any(waits) { until } else { AT_ONCE })
        }
        DiskRecovery::Good => open.machine.wakes_at(&open.config.policy, now),
    }
}

/// Memory is ahead of the disk, and the disk is right. The host is notified once per streak of failures, and again only
/// if more messages are held.
pub(super) fn failed(
    id: &ThreadId,
    open: &mut OpenThread,
    error: &str,
    tell: &mut super::NoticeListener,
) {
    open.stale = true;
    if open.owner.is_none() {
        return;
    }
    let retry_at = open.health.at.plus_millis(TRY_AGAIN_AFTER_MS);
    let (mut released, is_told) = match std::mem::take(&mut open.health.course) {
        DiskRecovery::Failing { released, .. } => (released, true),
        DiskRecovery::Returning { released, .. } => (released, false),
        DiskRecovery::Good => (Vec::new(), false),
    };
    let held = &open.machine.thread().held;
    let mut news = open.health.waiting.clone();
    // A message may have been cancelled since.
    news.retain(|input| held.iter().any(|held| held.id == *input) && !released.contains(input));
    if !is_told || !news.is_empty() {
        tell(RegistryNotice::StoreFailed { thread: id, error, held: &news });
    }
    released.append(&mut news);
    open.health.course = DiskRecovery::Failing { released, retry_at };
}

/// Takes the state from the disk. Unreadable lines were reported when they were first read.
pub(super) fn take_up(
    open: &mut OpenThread,
    (thread, mut replay): (Thread, Replay),
) -> Vec<LogDamage> {
    open.machine = Machine::new(thread);
    open.last_decision = None;
    open.stale = false;
    open.originals.forget();
    open.health.refused = None;
    open.health.stored(open.machine.thread());
    replay.damage.retain(|damage| matches!(damage, LogDamage::TornTail { .. }));
    replay.damage
}

fn save_cache(open: &mut OpenThread) {
    let Some(log) = open.log.as_mut().filter(|_| !open.stale) else { return };
    if let Err(error) = log.save_cache(open.machine.thread()) {
        tracing::warn!(%error, "failed to cache the state; the next start replays the log");
    }
}
