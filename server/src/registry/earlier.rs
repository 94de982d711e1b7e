//! The newest threads of a home, read from disk: for a conversation that goes on under a new id, and for values that an
//! editor shows.

use super::Opening;
use rawr_core::event::{DirectiveGiven, InputHeld};
use rawr_core::thread::UserDirective;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Input, Thread};
use rawr_settings::problem::FileStamp;
use rawr_storage::redact::is_redacted;
use rawr_storage::store::{EVENTS, Store, StoreError};
use std::collections::HashMap;

/// How many threads are read for a value that the newest one does not have.
const MOST_READ: usize = 5;

/// A conversation that goes on under another id.
#[derive(Debug)]
pub(super) struct EarlierThread {
    pub(super) thread: ThreadId,
    /// Directives and guards.
    pub(super) set_by_people: Vec<Input>,
    /// The newest message that waits there.
    pub(super) held: Option<InputHeld>,
}

fn set_by_people(thread: &Thread, now: Timestamp) -> Vec<Input> {
    let directives = thread.known.directives.iter().map(|directive| {
        let UserDirective { text, pinned, by, .. } = directive.clone();
        Input::Saw(DirectiveGiven { text, pinned, by }.into())
    });
    let guards = thread.active_guards(now).map(|guard| Input::SetGuard {
        until: guard.remaining(thread.turns_ended, now),
        note: guard.note.clone(),
        by: guard.by.clone(),
    });
    directives.chain(guards).collect()
}

/// The thread of a conversation that goes on under the id that is opened. Threads that cannot be read are passed over.
pub(super) fn find(store: &Store, opening: &Opening, now: Timestamp) -> Option<EarlierThread> {
    let began_at = opening.began_at?;
    let is_earlier = |thread: &Thread| {
        thread.id != opening.thread
            && thread.session.began_at == Some(began_at)
            && thread.session.host.name == opening.host.name
            && thread.session.cwd == opening.cwd
    };
    let read = |thread: &Thread| {
        let held = thread.held.back().filter(|held| !is_redacted(&held.text));
        is_earlier(thread).then(|| EarlierThread {
            thread: thread.id.clone(),
            set_by_people: set_by_people(thread, now),
            held: held.map(|held| InputHeld { input: held.id.clone(), text: held.text.clone() }),
        })
    };
    let found = NewestThreads::default().with_newest(store, read, Option::is_some);
    let found = found.inspect_err(|error| {
        tracing::warn!(thread = %opening.thread, %error, "failed to look for its earlier id");
    });
    found.ok().flatten().flatten()
}

/// A message that its host may have dropped when the thread's session ended. One that is known only without its secrets is
/// left where it is.
pub(super) fn held_at_end(store: &Store, thread: &ThreadId) -> Option<InputHeld> {
    let held = store.held_at_end(thread).inspect_err(|error| {
        tracing::warn!(%thread, %error, "failed to look for its last message");
    });
    held.ok().flatten().filter(|held| !is_redacted(&held.text))
}

/// The newest threads as of the last read of their logs.
#[derive(Debug, Default)]
pub(crate) struct NewestThreads {
    known: HashMap<ThreadId, (Option<FileStamp>, Box<Thread>)>,
}

impl NewestThreads {
    /// Reads the newest threads until one has what is wanted, otherwise the newest one. `None` if there is no thread.
    pub(crate) fn with_newest<T>(
        &mut self,
        store: &Store,
        read: impl Fn(&Thread) -> T,
        has_it: impl Fn(&T) -> bool,
    ) -> Result<Option<T>, StoreError> {
        let mut newest = None;
        for id in store.newest(MOST_READ)?.into_iter().take(MOST_READ) {
            let found = read(self.stored(store, id)?);
            if has_it(&found) {
                return Ok(Some(found));
            }
            newest = newest.or(Some(found));
        }
        Ok(newest)
    }

    fn stored(&mut self, store: &Store, id: ThreadId) -> Result<&Thread, StoreError> {
        let stamp = FileStamp::of(&store.folder(&id).join(EVENTS));
        let is_known = self.known.get(&id).is_some_and(|(known, _)| *known == stamp);
        if !is_known {
            let thread = store.glance(&id)?;
            if self.known.len() >= MOST_READ {
                self.known.clear();
            }
            self.known.insert(id.clone(), (stamp, Box::new(thread)));
        }
        match self.known.get(&id) {
            Some((_, thread)) => Ok(thread),
            None => Err(StoreError::NoThread { thread: id }),
        }
    }
}
