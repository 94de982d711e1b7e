//! Where the desk meets the disk: batches are stored and told, and where a thread's files fail it stops acting, gives the
//! messages that wait back to its host, tries again, and goes on from what the disk has. Nothing is decided here.

use super::notice::publish;
use super::{Desk, DeskError, Notice, Open, Ticket, outside, save_cache, tell_damage};
use crate::store::{Damage, OwnerLock, Replay, StoreError, ThreadLog, commit_all};
use rawr_core::event::ThreadClosed;
use rawr_core::units::{InputId, ThreadId, Timestamp};
use rawr_core::{Effect, Input, Machine, Thread};

/// How long a disk that failed is left alone.
const TRY_AGAIN_AFTER: u64 = 1;
/// How long a host may take to say which messages it delivered itself. Then they count as still waiting.
const HOST_MAY_TAKE: u64 = 5;
/// Due before every clock.
const AT_ONCE: Timestamp = Timestamp(0);

/// How a thread's files fare.
#[derive(Debug)]
pub(super) struct Health {
    course: Course,
    /// When the thread was last worked at.
    at: Timestamp,
    /// A failure that came before its commit, which tells of it.
    error: Option<String>,
    /// The messages that wait and were not sent off, as the last commit left them.
    waiting: Vec<InputId>,
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
        Self { course: Course::Good, at: AT_ONCE, error: None, waiting: Vec::new() }
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

    fn stored(&mut self, thread: &Thread) {
        let waiting = thread.held.iter().filter(|held| held.action.is_none());
        self.waiting.clear();
        self.waiting.extend(waiting.map(|held| held.id.clone()));
    }
}

impl Desk {
    /// The last word of a thread's host. Its state is kept; the owner's lock is given back, whatever becomes of the word.
    pub fn close(&mut self, id: &ThreadId, now: Timestamp) -> Result<(), DeskError> {
        let said = match self.open_thread(id)?.owner {
            Some(_) => self.handle(id, Input::Saw(ThreadClosed {}.into()), now).map(drop),
            None => Ok(()),
        };
        if let Some(open) = self.threads.get_mut(id) {
            open.closing = true;
        }
        said
    }

    /// At the end of the process.
    pub fn leave(&mut self) {
        for (_, error) in self.commit() {
            tracing::error!(%error, "the last words could not be recorded");
        }
        for open in self.threads.values_mut().filter(|open| !open.stale) {
            save_cache(open);
        }
    }

    /// Stores what was decided since the last commit, a write and at most one sync a thread, and lets the world hear
    /// of it. Where a thread's files fail, nothing of its batch has happened: the requests it concerns are named.
    pub fn commit(&mut self) -> Vec<(Vec<Ticket>, DeskError)> {
        let mut failures = std::mem::take(&mut self.failures);
        let batches = self.threads.iter_mut().filter(|(_, open)| !open.tickets.is_empty());
        let mut batches: Vec<(&ThreadId, &mut Open)> = batches.collect();
        let mut logs: Vec<&mut ThreadLog> =
            batches.iter_mut().map(|(_, open)| &mut open.log).collect();
        let results = commit_all(&mut logs);
        for ((id, open), result) in batches.into_iter().zip(results) {
            let tickets = std::mem::take(&mut open.tickets);
            let before = open.health.error.take();
            match result {
                Ok(()) if !open.stale => open.health.stored(open.machine.thread()),
                Ok(()) => {
                    if let Some(error) = before {
                        failed(id, open, &error, &mut self.tell);
                    }
                }
                Err(error) => {
                    self.staged.retain(|staged| staged.thread != *id);
                    failed(id, open, &error.to_string(), &mut self.tell);
                    failures.push((tickets, error.into()));
                }
            }
            call_owner(id, open);
        }
        for staged in std::mem::take(&mut self.staged) {
            if let Some(open) = self.threads.get_mut(&staged.thread) {
                let asked = staged.effects.iter().filter_map(|effect| match effect {
                    Effect::Perform(issued) => Some(issued),
                    _ => None,
                });
                self.jobs.extend(outside::questions(open, &staged.thread, asked));
                publish(open, &mut self.tell, staged.effects, staged.now);
            }
        }
        self.let_go();
        failures
    }

    /// Of the threads that their client has closed, those that are watched stay.
    fn let_go(&mut self) {
        for (id, open) in self.threads.iter_mut().filter(|(_, open)| open.closing) {
            if !open.stale {
                save_cache(open);
            }
            if open.owner.take().is_some() {
                self.watcher.unwatch(&self.store.bell(id));
            }
            (open.by_client, open.closing, open.health) = (false, false, Health::default());
        }
        let before = self.threads.len();
        self.threads.retain(|_, open| open.by_client || open.watched);
        if self.threads.len() < before {
            self.forget_files();
        }
    }

    /// When some thread wants to be looked at again.
    pub fn next_deadline(&self, now: Timestamp) -> Option<Timestamp> {
        let due = self.threads.values().filter_map(|open| due(open, now));
        due.chain(self.next_look()).chain(self.next_edit()).min()
    }

    pub(super) fn owns_any(&self) -> bool {
        self.threads.values().any(|open| open.owner.is_some())
    }

    pub fn tick(&mut self, now: Timestamp) {
        self.look_around(now);
        self.take_up_edits(now);
        let due =
            self.threads.iter().filter(|(_, open)| due(open, now).is_some_and(|at| at <= now));
        let due: Vec<_> = due.map(|(id, _)| id.clone()).collect();
        for id in due {
            if let Err(error) = self.look_after(&id, now) {
                tracing::error!(thread = %id, %error, "a deadline could not be dealt with");
            }
        }
        for (_, error) in self.commit() {
            tracing::error!(%error, "a deadline could not be dealt with");
        }
    }

    fn look_after(&mut self, id: &ThreadId, now: Timestamp) -> Result<(), DeskError> {
        let open = self.threads.get_mut(id).ok_or_else(|| DeskError::UnknownThread(id.clone()))?;
        if open.stale || matches!(open.health.course, Course::Failing { .. }) {
            self.try_again(id, now);
            return Ok(());
        }
        open.health.course = Course::Good;
        self.handle(id, Input::Tick, now).map(drop)
    }

    /// What the host was asked for and has not reported is asked for again: its report may have come while nothing
    /// could be stored.
    fn try_again(&mut self, id: &ThreadId, now: Timestamp) {
        let Some(open) = self.threads.get_mut(id) else { return };
        open.health.at = now;
        let damage = match open.log.recover(id) {
            Ok(read) => take_up(open, read),
            Err(error) => return failed(id, open, &error.to_string(), &mut self.tell),
        };
        tell_damage(&mut self.tell, id, &damage);
        let course = std::mem::take(&mut open.health.course);
        let Course::Failing { released, .. } = course else { return };
        open.health.course = Course::Returning { released, until: now.plus_seconds(HOST_MAY_TAKE) };
        (self.tell)(Notice::StoreRecovered { thread: id });
        let thread = open.machine.thread();
        for issued in thread.pending_actions() {
            (self.tell)(Notice::Perform { thread, issued });
        }
        self.jobs.extend(outside::questions(open, id, thread.pending_actions()));
    }
}

/// Somebody else's thread: its owner is to hear of what was recorded in it.
fn call_owner(id: &ThreadId, open: &mut Open) {
    if std::mem::take(&mut open.calls_owner)
        && !open.stale
        && let Err(error) = OwnerLock::ring(open.log.folder())
    {
        tracing::warn!(thread = %id, %error, "the owner hears of it at its next input only");
    }
}

fn due(open: &Open, now: Timestamp) -> Option<Timestamp> {
    open.owner.as_ref()?;
    let waits = |input: &InputId| {
        open.machine.thread().held.iter().any(|held| held.id == *input && held.action.is_none())
    };
    match &open.health.course {
        Course::Failing { retry_at, .. } => Some(*retry_at),
        _ if open.stale => Some(AT_ONCE),
        Course::Returning { released, until } => {
            Some(if released.iter().any(waits) { *until } else { AT_ONCE })
        }
        Course::Good => open.machine.wakes_at(&open.config.policy, now),
    }
}

/// Memory is ahead of the disk, and the disk is right. The owner's host hears of it once a streak, and again only where
/// more messages wait: one came through in between.
fn failed(id: &ThreadId, open: &mut Open, error: &str, tell: &mut super::Listener) {
    open.stale = true;
    if open.owner.is_none() {
        return;
    }
    let retry_at = open.health.at.plus_seconds(TRY_AGAIN_AFTER);
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

/// Memory is what the disk has again, where it is not to be believed.
pub(super) fn refresh(
    id: &ThreadId,
    open: &mut Open,
    now: Timestamp,
) -> Result<Vec<Damage>, StoreError> {
    open.health.at = now;
    if !open.stale {
        return Ok(Vec::new());
    }
    match open.log.reread(id) {
        Ok(read) => Ok(take_up(open, read)),
        Err(error) => {
            open.health.could_not(&error, &mut open.stale);
            Err(error)
        }
    }
}

/// What is unreadable was told when it was first met.
fn take_up(open: &mut Open, (thread, mut replay): (Thread, Replay)) -> Vec<Damage> {
    open.machine = Machine::new(thread);
    open.last_decision = None;
    open.stale = false;
    open.health.stored(open.machine.thread());
    replay.damage.retain(|damage| matches!(damage, Damage::TornTail { .. }));
    replay.damage
}
