//! Operations on several threads, open or not: lists, the sources of a search, the newest thread, and reports of
//! scratch files.

use super::{OpenThread, Opening, RegistryError, RegistryNotice, ThreadRegistry};
use crate::parallel::on_each;
use crate::problem::FileStamp;
use crate::query::{ThreadOverview, overview};
use crate::recall::RecallSource;
use crate::redact::is_redacted;
use crate::store::{EVENTS, StoreError};
use crate::workspace::ConfigScope;
use rawr_core::event::{DirectiveGiven, InputHeld};
use rawr_core::policy::Policy;
use rawr_core::thread::UserDirective;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Input, Thread};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// How many threads are read for a value that the newest one does not have.
const MOST_READ: usize = 5;

/// The newest threads as of the last read of their logs.
#[derive(Debug, Default)]
pub(super) struct NewestThreads {
    known: HashMap<ThreadId, (Option<FileStamp>, Box<Thread>)>,
}

/// A conversation that goes on under another id.
#[derive(Debug)]
pub(super) struct EarlierThread {
    pub thread: ThreadId,
    /// Directives and guards.
    pub set_by_people: Vec<Input>,
    /// The newest message that waits there.
    pub held: Option<InputHeld>,
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

impl OpenThread {
    /// The overview without the owner, which only the disk knows.
    pub(super) fn overview(&self, now: Timestamp) -> ThreadOverview {
        ThreadOverview { open: self.by_client, ..overview(self.thread(), self.policy(), now) }
    }

    fn source(&self) -> RecallSource {
        source(self.thread(), self.folder(), self.policy())
    }
}

fn source(thread: &Thread, folder: &Path, policy: &Policy) -> RecallSource {
    RecallSource {
        thread: thread.id.clone(),
        folder: folder.to_owned(),
        cwd: PathBuf::from(&thread.session.cwd),
        scratch_file: thread.scratch_file(policy),
        transcript: thread.session.transcript.as_ref().map(PathBuf::from),
    }
}

impl ThreadRegistry {
    /// All threads of this home, the most recently used first. A thread that cannot be read is left out and logged.
    /// Threads that are not open are read when the result is called, which may take long: call it on another thread.
    pub(crate) fn list(
        &self,
        now: Timestamp,
    ) -> impl FnOnce() -> Result<Vec<ThreadOverview>, StoreError> + Send + use<> {
        let (store, reader) = (self.store.clone(), self.workspace.config_reader());
        let known = |open: &OpenThread| (open.overview(now), open.is_behind());
        let open: HashMap<_, _> =
            self.threads.iter().map(|(id, open)| (id.clone(), known(open))).collect();
        move || {
            // Many threads share their policy.
            let policies = Mutex::new(HashMap::new());
            let policy_of = |thread: &Thread| {
                let mut policies = policies.lock().unwrap_or_else(PoisonError::into_inner);
                let known = policies.entry(ConfigScope::recorded(thread));
                Arc::clone(known.or_insert_with_key(|scope| Arc::new(reader.read(scope).0.policy)))
            };
            let read = |id: &ThreadId| {
                let owner = store.owner(id);
                if let Some((known, false)) = open.get(id) {
                    return Some(Box::new(ThreadOverview { owner, ..known.clone() }));
                }
                match store.glance(id) {
                    Ok(thread) => {
                        let open = open.get(id).is_some_and(|(known, _)| known.open);
                        let seen = overview(&thread, &policy_of(&thread), now);
                        Some(Box::new(ThreadOverview { owner, open, ..seen }))
                    }
                    Err(error) => {
                        tracing::warn!(thread = %id, %error, "left out of the list");
                        None
                    }
                }
            };
            let (to_the_end, unseen) = (AtomicBool::new(false), |_, _| ());
            let ids = store.thread_ids()?;
            let listed = on_each(&ids, &to_the_end, &unseen, read, |id| {
                tracing::error!(thread = %id, "a defect left it out of the list");
                None
            });
            let mut overviews: Vec<_> = listed.into_iter().flatten().map(|seen| *seen).collect();
            overviews.sort_by(|one, other| {
                (other.updated_at, &one.thread).cmp(&(one.updated_at, &other.thread))
            });
            Ok(overviews)
        }
    }

    /// An open thread and its owner.
    pub(crate) fn overview_of_open(
        &self,
        id: &ThreadId,
        now: Timestamp,
    ) -> Result<ThreadOverview, RegistryError> {
        let seen = self.open_thread(id)?.overview(now);
        Ok(ThreadOverview { owner: self.store.owner(id), ..seen })
    }

    /// What a search covers: one open thread, or all threads. Threads that are not open are read when the result is called,
    /// which may take long: call it on another thread.
    pub(crate) fn sources(
        &self,
        id: Option<&ThreadId>,
    ) -> Result<impl FnOnce() -> Vec<RecallSource> + Send + use<>, RegistryError> {
        let open = match id {
            Some(id) => vec![self.open_thread(id)?.source()],
            None => self.threads.values().map(OpenThread::source).collect(),
        };
        let mut rest = if id.is_none() { self.store.thread_ids()? } else { Vec::new() };
        rest.retain(|id| !self.threads.contains_key(id));
        let (store, reader) = (self.store.clone(), self.workspace.config_reader());
        let at_rest = move |id: &ThreadId| {
            // A thread that cannot be read does not fail the search.
            let read = store.glance(id).inspect_err(|error| {
                tracing::warn!(thread = %id, %error, "left out of the search");
            });
            let thread = read.ok()?;
            let (config, _) = reader.read(&ConfigScope::recorded(&thread));
            Some(source(&thread, &store.folder(id), &config.policy))
        };
        Ok(move || open.into_iter().chain(rest.iter().filter_map(at_rest)).collect())
    }

    /// Reads the newest threads until one has what is wanted, otherwise the newest one. `None` if there is no thread.
    pub(crate) fn with_newest<T>(
        &mut self,
        read: impl Fn(&Thread, &Policy) -> T,
        has_it: impl Fn(&T) -> bool,
    ) -> Result<Option<T>, RegistryError> {
        let mut newest = None;
        for id in self.store.newest(MOST_READ)?.into_iter().take(MOST_READ) {
            let found = self.with_stored(id, &read)?;
            match found {
                Some(found) if has_it(&found) => return Ok(Some(found)),
                found => newest = newest.or(found),
            }
        }
        Ok(newest)
    }

    /// The thread of a conversation that goes on under a new id. Threads that cannot be read are passed over.
    pub(super) fn earlier(&mut self, opening: &Opening, now: Timestamp) -> Option<EarlierThread> {
        let began_at = opening.began_at?;
        let is_it = |thread: &Thread| {
            thread.id != opening.thread
                && thread.session.began_at == Some(began_at)
                && thread.session.host.name == opening.host.name
                && thread.session.cwd == opening.cwd
        };
        let read = |thread: &Thread, _: &Policy| {
            let set_by_people = || set_by_people(thread, now);
            is_it(thread).then(|| EarlierThread {
                thread: thread.id.clone(),
                set_by_people: set_by_people(),
                held: thread
                    .held
                    .back()
                    .filter(|held| !is_redacted(&held.text))
                    .map(|held| InputHeld { input: held.id.clone(), text: held.text.clone() }),
            })
        };
        let found = self.with_newest(read, Option::is_some).inspect_err(|error| {
            tracing::warn!(thread = %opening.thread, %error, "failed to look for its earlier id");
        });
        found.ok().flatten().flatten()
    }

    /// A message that its host may have dropped when the thread's session ended. One that is known only without its secrets is
    /// left where it is.
    pub(super) fn held_at_end(&self, thread: &ThreadId) -> Option<InputHeld> {
        let held = self.store.held_at_end(thread).inspect_err(|error| {
            tracing::warn!(%thread, %error, "failed to look for its last message");
        });
        held.ok().flatten().filter(|held| !is_redacted(&held.text))
    }

    fn with_stored<T>(
        &mut self,
        id: ThreadId,
        read: impl Fn(&Thread, &Policy) -> T,
    ) -> Result<Option<T>, RegistryError> {
        if let Some(open) = self.threads.get(&id) {
            return Ok(Some(read(open.thread(), open.policy())));
        }
        let stamp = FileStamp::of(&self.store.folder(&id).join(EVENTS));
        let is_known = self.newest.known.get(&id).is_some_and(|(known, _)| *known == stamp);
        if !is_known {
            let thread = self.store.glance(&id)?;
            if self.newest.known.len() >= MOST_READ {
                self.newest.known.clear();
            }
            self.newest.known.insert(id.clone(), (stamp, Box::new(thread)));
        }
        let thread = self.newest.known.get(&id).map(|(_, thread)| thread);
        Ok(thread.map(|thread| {
            let reader = self.workspace.config_reader();
            let (config, _) = reader.read(&ConfigScope::recorded(thread));
            read(thread, &config.policy)
        }))
    }

    /// Starts to notify clients of changes of the thread's scratch file.
    pub(super) fn follow_notes(&mut self, id: &ThreadId) {
        if let Some(open) = self.threads.get(id) {
            self.workspace.watch_notes(open.notes().path());
        }
    }

    /// Reports what this client has appended to a scratch file.
    pub(crate) fn notes_appended(&mut self, path: &Path, by: &str) {
        self.workspace.ignore_own_notes(path);
        self.report_notes(path, Some(by));
    }

    /// Reports a changed scratch file for every thread that uses it. A symbolic link counts as no scratch file.
    pub(super) fn report_notes(&mut self, path: &Path, by: Option<&str>) {
        for (id, open) in self.threads.iter() {
            let notes = open.notes();
            if notes.path() != path {
                continue;
            }
            match notes.length() {
                Ok(bytes) => {
                    (self.tell)(RegistryNotice::Notes {
                        thread: id,
                        file: &notes.file,
                        path,
                        bytes,
                        by,
                    });
                }
                Err(error) => {
                    tracing::warn!(thread = %id, %error, "failed to read the scratch file");
                }
            }
        }
    }
}
