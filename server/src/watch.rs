//! What others write, as it happens: which thread's files to look at again, and which of the files that people edit. What
//! is in them is not read here.
//!
//! The system tells of changes where it can. Where it cannot (no watches left, a network file system), everything that is
//! watched is looked at from time to time instead; `RAWR_WATCH=poll` asks for that.

mod files;

pub use files::{Edited, TELLS_OF_CLOSING};

use files::Files;
use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// How often everything is looked at where nobody tells of changes.
pub const POLL_EVERY: Duration = Duration::from_millis(500);
/// More threads than that at once are looked at like all.
const MOST_NAMES: usize = 4096;

/// Collects changes on the watcher's thread and wakes the connection, which takes them all at once.
#[derive(Debug, Clone, Default)]
pub struct ChangeNotifier(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    changes: Mutex<ChangeSet>,
    heard: Notify,
}

/// What to look at again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeSet {
    /// Names of thread folders.
    pub threads: BTreeSet<String>,
    /// Names of thread folders whose lock was closed by a process that held it.
    pub closed: BTreeSet<String>,
    /// Names of thread folders that were removed.
    pub removed: BTreeSet<String>,
    /// Some changes were missed: look at every thread and every file.
    pub all: bool,
    /// Prompt and configuration files.
    pub edited: Edited,
}

impl ChangeNotifier {
    fn thread(&self, thread: &str) {
        let mut changes = self.state();
        if !changes.threads.contains(thread) {
            changes.threads.insert(thread.to_owned());
        }
        if changes.threads.len() > MOST_NAMES {
            changes.threads.clear();
            changes.all = true;
        }
        drop(changes);
        self.0.heard.notify_one();
    }

    fn closed(&self, thread: &str) {
        self.state().closed.insert(thread.to_owned());
        self.0.heard.notify_one();
    }

    fn removed(&self, thread: &str) {
        self.state().removed.insert(thread.to_owned());
        self.0.heard.notify_one();
    }

    fn edited(&self, note: impl FnOnce(&mut Edited)) {
        note(&mut self.state().edited);
        self.0.heard.notify_one();
    }

    fn everything(&self) {
        self.state().all = true;
        self.0.heard.notify_one();
    }

    /// Resolves once something has changed since [`Self::take`].
    pub async fn changed(&self) {
        self.0.heard.notified().await;
    }

    pub fn take(&self) -> ChangeSet {
        std::mem::take(&mut self.state())
    }

    fn state(&self) -> MutexGuard<'_, ChangeSet> {
        self.0.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches under one folder, in which each thread has a folder of its own; and files anywhere.
#[derive(Debug)]
pub struct Watcher {
    root: PathBuf,
    notifier: ChangeNotifier,
    source: Source,
    watched: BTreeSet<PathBuf>,
    files: Files,
}

#[derive(Debug)]
enum Source {
    /// Nothing is watched yet.
    Idle,
    System(RecommendedWatcher),
    Polling,
}

impl Watcher {
    pub fn new(root: PathBuf, notifier: ChangeNotifier) -> Self {
        let (source, watched, files) = (Source::Idle, BTreeSet::new(), Files::default());
        Self { root, notifier, source, watched, files }
    }

    /// Whether changes must be looked for, because nobody tells of them.
    pub const fn polls(&self) -> bool {
        matches!(self.source, Source::Polling)
    }

    /// Every thread, also those to come. The folder must be there.
    pub fn watch_all(&mut self) {
        self.watch(self.root.clone(), RecursiveMode::Recursive);
    }

    /// Everything in one folder or file under the root.
    pub fn watch_one(&mut self, path: &Path) {
        self.watch(path.to_owned(), RecursiveMode::NonRecursive);
    }

    fn watch(&mut self, path: PathBuf, mode: RecursiveMode) {
        if matches!(self.source, Source::Idle) {
            self.source = self.start();
        }
        let Source::System(system) = &mut self.source else { return };
        if !self.watched.contains(&path) {
            match system.watch(&path, mode) {
                Ok(()) => drop(self.watched.insert(path)),
                Err(error) => self.poll(&error.to_string()),
            }
        }
    }

    pub fn unwatch(&mut self, path: &Path) {
        if let Source::System(system) = &mut self.source
            && self.watched.remove(path)
            // It may be gone already, and its watch with it.
            && let Err(error) = system.unwatch(path)
        {
            tracing::debug!(%error, path = %path.display(), "a watch was gone already");
        }
    }

    pub fn unwatch_all(&mut self) {
        self.unwatch(&self.root.clone());
    }

    /// From now on these files are listened for, and no others. Where the system tells of them is found out anew: links
    /// may lead elsewhere than they did.
    pub fn watch_files<'f>(&mut self, files: impl IntoIterator<Item = &'f Path>) {
        if matches!(self.source, Source::Idle) {
            self.source = self.start();
        }
        let Source::System(system) = &mut self.source else { return };
        self.files.listen(system, &self.watched, files);
    }

    /// What came of these folders is no longer known: they are watched anew with the next [`Self::watch_files`].
    pub fn distrust_folders(&mut self, edited: &Edited) {
        if let Source::System(system) = &mut self.source {
            self.files.distrust(system, &self.watched, edited);
        }
    }

    /// Changes were missed: the folders that are others than they were are watched anew with the next
    /// [`Self::watch_files`].
    pub fn distrust_replaced_folders(&mut self) {
        if let Source::System(system) = &mut self.source {
            self.files.distrust_replaced(system, &self.watched);
        }
    }

    /// Whether some of the files must be looked at from time to time, because nobody tells of them.
    pub const fn polls_files(&self) -> bool {
        self.polls() || self.files.are_polled()
    }

    /// Somebody has it open and has written to it: mostly, the end is told.
    pub fn is_being_written(&self, file: &Path) -> bool {
        self.files.is_being_written(file)
    }

    /// Until it is written to once more.
    pub fn waits_for_no_end(&self, file: &Path) {
        self.files.waits_for_no_end(file);
    }

    fn start(&self) -> Source {
        if is_remote(&self.root) || std::env::var_os("RAWR_WATCH").is_some_and(|how| how == "poll")
        {
            tracing::info!("changes are not told by the file system: it is polled");
            return Source::Polling;
        }
        let (root, notifier, files) =
            (self.root.clone(), self.notifier.clone(), self.files.interest());
        let heard = move |event: notify::Result<notify::Event>| {
            if let Some(event) = whole(&notifier, event) {
                hear(&root, &notifier, &event);
                files::hear(&files, &notifier, &event);
            }
        };
        match notify::recommended_watcher(heard) {
            Ok(system) => Source::System(system),
            Err(error) => {
                tracing::warn!(%error, "changes are not told by the system: it is polled");
                Source::Polling
            }
        }
    }

    fn poll(&mut self, why: &str) {
        tracing::warn!(why, "changes are not told by the system: it is polled");
        self.source = Source::Polling;
        self.notifier.everything();
    }
}

/// An event that says what happened, and where.
fn whole(notifier: &ChangeNotifier, event: notify::Result<notify::Event>) -> Option<notify::Event> {
    match event {
        Ok(event) if !event.need_rescan() => return Some(event),
        Ok(_) => tracing::info!("changes were missed: everything is looked at"),
        Err(error) => tracing::warn!(%error, "changes may have been missed"),
    }
    notifier.everything();
    None
}

/// On the watcher's own thread: nothing here may take long.
fn hear(root: &Path, notifier: &ChangeNotifier, event: &notify::Event) {
    let written = matches!(
        event.kind,
        EventKind::Create(CreateKind::Any | CreateKind::File | CreateKind::Folder)
            | EventKind::Modify(ModifyKind::Any | ModifyKind::Data(_) | ModifyKind::Name(_))
            | EventKind::Modify(ModifyKind::Metadata(_))
    );
    // A process that ends, however it ends, closes the lock of the threads that it ran.
    let closed = matches!(event.kind, EventKind::Access(AccessKind::Close(AccessMode::Write)));
    let removed = matches!(
        event.kind,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
    );
    for path in &event.paths {
        let mut names = path.strip_prefix(root).into_iter().flat_map(Path::iter);
        let Some(thread) = names.next().and_then(|name| name.to_str()) else { continue };
        match names.next().and_then(|file| file.to_str()) {
            None if removed => notifier.removed(thread),
            // The thread's folder itself has come.
            None if written => notifier.thread(thread),
            Some(file) if written && FILES.contains(&file) => notifier.thread(thread),
            Some(crate::store::OWNER) if closed => notifier.closed(thread),
            None | Some(_) => {}
        }
    }
}

const FILES: [&str; 3] = [crate::store::EVENTS, crate::store::DECISIONS, crate::store::OWNER];

/// Network file systems tell only of what this machine writes.
#[cfg(target_os = "linux")]
fn is_remote(path: &Path) -> bool {
    const REMOTE: [u64; 9] = [
        0x6969,      // NFS
        0x517b,      // SMB
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB2
        0x6573_5546, // FUSE
        0x0102_1997, // 9P
        0x7375_7245, // Coda
        0x5346_414f, // AFS
        0x00c3_6400, // Ceph
    ];
    let kind = path.ancestors().find_map(|path| rustix::fs::statfs(path).ok());
    let kind = kind.and_then(|kind| u64::try_from(kind.f_type).ok());
    kind.is_some_and(|kind| REMOTE.contains(&kind))
}

#[cfg(not(target_os = "linux"))]
const fn is_remote(_: &Path) -> bool {
    false
}
