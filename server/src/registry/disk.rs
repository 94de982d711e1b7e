//! Where the registry meets the disk: batches are stored and told, and where a thread's files fail it stops acting, gives the
//! messages that wait back to its host, tries again, and goes on from what the disk has. Nothing is decided here.

use super::held::with_original;
use super::notice::publish;
use super::{
    NOBODYS, Notice, OpenThread, RegistryError, ThreadRegistry, Ticket, outside, tell_damage,
};
use crate::store::{Damage, OwnerLock, Replay, StoreError};
use crate::workspace::within;
use rawr_core::event::ThreadClosed;
use rawr_core::units::{InputId, ThreadId, Timestamp};
use rawr_core::{Effect, Input, Machine, Thread};

/// How long a disk that failed is left alone.
const TRY_AGAIN_AFTER_MS: u64 = 1000;
/// How long a host may take to say which messages it delivered itself. Then they count as still waiting.
const HOST_MAY_TAKE_MS: u64 = 5000;
/// Due before every clock.
const AT_ONCE: Timestamp = Timestamp(0);

/// How a thread's files fare.
#[derive(Debug)]
pub(super) struct Health {
    course: Course,
    /// When the thread was last worked at.
    pub(super) at: Timestamp,
    refused: Option<Refused>,
    /// A failure that came before its commit, which tells of it.
    error: Option<String>,
    /// The messages that wait and were not sent off, as the last commit left them.
    waiting: Vec<InputId>,
}

/// Its files could not be had: who asks for them hears so at once.
#[derive(Debug)]
struct Refused {
    error: StoreError,
    /// Before that nothing is tried again. `None`: the next request tries.
    until: Option<Timestamp>,
}

/// Messages that are `released` are the host's: it delivers them, and says so by `input/cancel` once that can be stored.
#[derive(Debug, Default)]
enum Course {
    #[default]
    Good,
    Failing {
        released: Vec<InputId>,
        retry_at: Timestamp,
    },
    /// The disk is back; until the host has had its say, inputs are only taken note of.
    Returning {
        released: Vec<InputId>,
        until: Timestamp,
    },
}

impl Default for Health {
    fn default() -> Self {
        let (course, waiting) = Default::default();
        Self { course, at: AT_ONCE, refused: None, error: None, waiting }
    }
}

impl Health {
    /// Only then what follows from an input is decided.
    pub(super) const fn is_good(&self) -> bool {
        matches!(self.course, Course::Good)
    }

    /// The thread could not be read or locked: the next commit tells of it, and memory may be ahead of the disk.
    pub(super) fn could_not(&mut self, error: &StoreError, stale: &mut bool) {
        *stale = true;
        self.error = Some(error.to_string());
    }

    pub(super) fn refuse(&mut self, error: &StoreError) {
        self.refused = Some(Refused { error: error.told_again(), until: None });
    }

    /// Another process holds the lock, for longer than anything is waited for.
    pub(super) fn leave_alone(&mut self, error: &StoreError, now: Timestamp) {
        let until = Some(now.plus_millis(TRY_AGAIN_AFTER_MS));
        self.refused = Some(Refused { error: error.told_again(), until });
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

impl ThreadRegistry {
    /// The last word of a thread's host. Its state is kept; the owner's lock is given back, whatever becomes of the word.
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
        // At once: a request that follows finds it closed, or waits until it is.
        self.store_batch(id);
        said
    }

    /// At the end of the process, when no worker is under way.
    pub fn leave(&mut self, now: Timestamp) {
        self.settle(now);
        self.threads.values_mut().for_each(save_cache);
    }

    /// Stores everything here and now, for whoever has nothing else to do meanwhile.
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

    /// Begins to store what was decided since the last commit: a write and at most one sync a thread. The world hears of
    /// it when it is stored. Names the requests of which nothing has happened, because their thread's files failed.
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
                if tickets.contains(&NOBODYS) {
                    tracing::error!(thread = %id, %error, "what no request asked for could not be recorded");
                }
                self.failures.push((tickets, error.into()));
            }
        }
        call_owner(id, open);
        for staged in std::mem::take(&mut open.staged) {
            let asked = staged.effects.iter().filter_map(|effect| match effect {
                Effect::Perform(issued) => Some(issued),
                _ => None,
            });
            self.jobs.extend(outside::questions(open, id, asked));
            publish(open, &mut self.tell, staged.effects, staged.now);
        }
        let is_wanted = open.by_client || open.watched;
        if open.closing || !is_wanted {
            self.let_go(id);
        }
    }

    /// Its client has closed it, or watches it no longer; it stays where it is watched.
    fn let_go(&mut self, id: &ThreadId) {
        let Some(open) = self.threads.get_mut(id) else { return };
        if open.owner.take().is_some() {
            self.workspace.watcher_mut().unwatch(&self.store.wake_file(id));
        }
        (open.by_client, open.closing, open.health) = (false, false, Health::default());
        if !open.watched {
            self.threads.remove(id);
            self.workspace.forget_files();
        }
    }

    /// When some thread wants to be looked at again.
    pub fn next_deadline(&mut self, now: Timestamp) -> Option<Timestamp> {
        let due = self.threads.next_due(now);
        due.into_iter().chain(self.next_look(now)).chain(self.workspace.next_edit(now)).min()
    }

    pub(super) fn owns_any(&self) -> bool {
        self.threads.values().any(|open| open.owner.is_some())
    }

    pub fn tick(&mut self, now: Timestamp) {
        self.look_around(now);
        self.take_up_edits(now);
        let due = self.threads.due(now);
        for id in due {
            if let Err(error) = self.look_after(&id, now) {
                tracing::error!(thread = %id, %error, "a deadline could not be dealt with");
            }
        }
    }

    fn look_after(&mut self, id: &ThreadId, now: Timestamp) -> Result<(), RegistryError> {
        let open =
            self.threads.get_mut(id).ok_or_else(|| RegistryError::UnknownThread(id.clone()))?;
        if open.stale || matches!(open.health.course, Course::Failing { .. }) {
            open.health.at = now;
            self.recover(id);
            return Ok(());
        }
        open.health.course = Course::Good;
        self.handle_in_time(id, Input::Tick, now)
    }

    /// What the host was asked for and has not reported is asked for again: its report may have come while nothing
    /// could be stored. True where the sidecar's own questions are to be put again, too.
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
        tell_damage(&mut self.tell, id, &damage);
        let course = std::mem::take(&mut open.health.course);
        let Course::Failing { released, .. } = course else { return false };
        open.health.course =
            Course::Returning { released, until: now.plus_millis(HOST_MAY_TAKE_MS) };
        (self.tell)(Notice::StoreRecovered { thread: id });
        let thread = open.machine.thread();
        for issued in thread.pending_actions() {
            let issued = with_original(&open.folder, issued.clone());
            (self.tell)(Notice::Perform { thread, issued: &issued });
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

/// Somebody else's thread: its owner is to hear of what was recorded in it.
fn call_owner(id: &ThreadId, open: &mut OpenThread) {
    if std::mem::take(&mut open.calls_owner)
        && !open.stale
        && let Err(error) = OwnerLock::ring(&open.folder)
    {
        tracing::warn!(thread = %id, %error, "the owner hears of it at its next input only");
    }
}

pub(super) fn due(open: &OpenThread, now: Timestamp) -> Option<Timestamp> {
    // One whose files are with a worker goes on when they are back.
    open.owner.as_ref().and(open.log.as_ref())?;
    let waits = |input: &InputId| {
        open.machine.thread().held.iter().any(|held| held.id == *input && held.action.is_none())
    };
    match &open.health.course {
        Course::Failing { retry_at, .. } => Some(within(*retry_at, TRY_AGAIN_AFTER_MS, now)),
        _ if open.stale => Some(AT_ONCE),
        Course::Returning { released, until } => {
            let until = within(*until, HOST_MAY_TAKE_MS, now);
            Some(if released.iter().any(waits) { until } else { AT_ONCE })
        }
        Course::Good => open.machine.wakes_at(&open.config.policy, now),
    }
}

/// Memory is ahead of the disk, and the disk is right. The owner's host hears of it once a streak, and again only where
/// more messages wait: one came through in between.
pub(super) fn failed(
    id: &ThreadId,
    open: &mut OpenThread,
    error: &str,
    tell: &mut super::Listener,
) {
    open.stale = true;
    if open.owner.is_none() {
        return;
    }
    let retry_at = open.health.at.plus_millis(TRY_AGAIN_AFTER_MS);
    let (mut released, is_told) = match std::mem::take(&mut open.health.course) {
        Course::Failing { released, .. } => (released, true),
        Course::Returning { released, .. } => (released, false),
        Course::Good => (Vec::new(), false),
    };
    let held = &open.machine.thread().held;
    let mut news = open.health.waiting.clone();
    // Somebody may have taken one back since.
    news.retain(|input| held.iter().any(|held| held.id == *input) && !released.contains(input));
    if !is_told || !news.is_empty() {
        tell(Notice::StoreFailed { thread: id, error, held: &news });
    }
    released.append(&mut news);
    open.health.course = Course::Failing { released, retry_at };
}

/// What is unreadable was told when it was first met.
pub(super) fn take_up(
    open: &mut OpenThread,
    (thread, mut replay): (Thread, Replay),
) -> Vec<Damage> {
    open.machine = Machine::new(thread);
    open.last_decision = None;
    open.stale = false;
    open.originals.forget();
    open.health.refused = None;
    open.health.stored(open.machine.thread());
    replay.damage.retain(|damage| matches!(damage, Damage::TornTail { .. }));
    replay.damage
}

fn save_cache(open: &mut OpenThread) {
    let Some(log) = open.log.as_mut().filter(|_| !open.stale) else { return };
    if let Err(error) = log.save_cache(open.machine.thread()) {
        tracing::warn!(%error, "failed to cache the state; the next start replays the log");
    }
}
