//! Watches files that other processes and people write: which threads and which edited files to read again. Does not
//! read them.
//!
//! Uses notifications of the operating system if possible. Otherwise (no watches left, a network file system),
//! everything is polled; `RAWR_WATCH=poll` forces that.

mod files;

pub use files::{EditedFiles, TELLS_OF_CLOSING};

use files::{FileWatches, FolderIdentity};
use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _, WatcherKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The polling interval.
pub const POLL_EVERY: Duration = Duration::from_millis(500);
/// With more changed threads than that, all threads are read.
const MOST_NAMES: usize = 4096;

/// Collects changes on the watcher's thread and wakes the registry, which takes them all at once and passes those of edited
/// files on.
#[derive(Debug, Clone, Default)]
pub struct ChangeNotifier(Arc<NotifierState>);

#[derive(Debug, Default)]
struct NotifierState {
    changes: Mutex<ChangeSet>,
    heard: Notify,
}

/// What to read again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeSet {
    /// Names of thread folders.
    pub threads: BTreeSet<String>,
    /// Names of thread folders whose lock was closed by a process that held it.
    pub closed: BTreeSet<String>,
    /// Names of thread folders that were removed.
    pub removed: BTreeSet<String>,
    /// Some changes were missed: read every thread and every file.
    pub all: bool,
    /// Prompt and configuration files.
    pub edited: EditedFiles,
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

    fn edited(&self, note: impl FnOnce(&mut EditedFiles)) {
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

/// Watches one folder with a sub-folder for each thread, and files anywhere.
#[derive(Debug)]
pub struct Watcher {
    root: PathBuf,
    notifier: ChangeNotifier,
    source: WatchBackend,
    watched: BTreeSet<PathBuf>,
    files: FileWatches,
    /// All threads are watched: the root as it was when its watch began.
    threads: Option<WatchedRoot>,
}

/// The root and the folders above it up to the home may be moved away and made again.
#[derive(Debug)]
struct WatchedRoot {
    identity: Option<FolderIdentity>,
}

#[derive(Debug)]
enum WatchBackend {
    /// Nothing is watched yet.
    Idle,
    System(RecommendedWatcher),
    Polling,
}

impl Watcher {
    pub fn new(root: PathBuf, notifier: ChangeNotifier) -> Self {
        let (source, watched, files) =
            (WatchBackend::Idle, BTreeSet::new(), FileWatches::default());
        Self { root, notifier, source, watched, files, threads: None }
    }

    /// Whether threads are polled, because notifications are not available.
    pub const fn polls(&self) -> bool {
        matches!(self.source, WatchBackend::Polling)
    }

    /// Watches every thread, including future ones. The folder must exist. If it is replaced later, the next
    /// [`Self::watch_files`] watches the new one.
    pub fn watch_all(&mut self) {
        if self.threads.is_none() {
            self.threads = Some(WatchedRoot { identity: FolderIdentity::of(&self.root) });
        }
        self.watch(self.root.clone(), RecursiveMode::Recursive);
    }

    /// Watches a thread's folder before it is read. The watcher's own thread would do so, too, but only some time after the
    /// folder was created, and what is written in between raises no event.
    pub fn watch_thread(&mut self, folder: &Path) {
        let WatchBackend::System(system) = &mut self.source else { return };
        let in_time = RecommendedWatcher::kind() != WatcherKind::Inotify;
        if in_time || !self.watched.contains(&self.root) || self.watched.contains(folder) {
            return;
        }
        match system.watch(folder, RecursiveMode::NonRecursive) {
            // The event of the root reports a folder that is gone, and one that comes back.
            Ok(()) => {}
            Err(_) if !folder.exists() => {}
            Err(error) => self.poll(&error.to_string()),
        }
    }

    /// Watches one folder or file below the root, recursively.
    pub fn watch_one(&mut self, path: &Path) {
        self.watch(path.to_owned(), RecursiveMode::NonRecursive);
    }

    fn watch(&mut self, path: PathBuf, mode: RecursiveMode) {
        if matches!(self.source, WatchBackend::Idle) {
            self.source = self.start();
        }
        let WatchBackend::System(system) = &mut self.source else { return };
        if !self.watched.contains(&path) {
            match system.watch(&path, mode) {
                Ok(()) => drop(self.watched.insert(path)),
                Err(error) => self.poll(&error.to_string()),
            }
        }
    }

    pub fn unwatch(&mut self, path: &Path) {
        if let WatchBackend::System(system) = &mut self.source
            && self.watched.remove(path)
            // The path may have been removed already, and its watch with it.
            && let Err(error) = system.unwatch(path)
        {
            tracing::debug!(%error, path = %path.display(), "the watch was already gone");
        }
    }

    pub fn unwatch_all(&mut self) {
        self.threads = None;
        self.unwatch(&self.root.clone());
    }

    /// Watches exactly these files from now on. Resolves symbolic links again, because they may have changed.
    pub fn watch_files<'f>(&mut self, files: impl IntoIterator<Item = &'f Path>) {
        if matches!(self.source, WatchBackend::Idle) {
            self.source = self.start();
        }
        let WatchBackend::System(system) = &mut self.source else { return };
        let root = self.threads.is_some().then_some(self.root.as_path());
        self.files.listen(system, &self.watched, files, root);
        self.watch_new_root();
    }

    /// Everything is read after a new root is watched, because something may have been written before.
    fn watch_new_root(&mut self) {
        let Some(threads) = &mut self.threads else { return };
        if self.watched.contains(&self.root) || !self.root.is_dir() {
            return;
        }
        threads.identity = FolderIdentity::of(&self.root);
        self.watch(self.root.clone(), RecursiveMode::Recursive);
        self.notifier.everything();
    }

    /// Ends the watch of a root that was moved away or replaced.
    fn forget_replaced_root(&mut self) {
        let is_replaced = |threads: &WatchedRoot| {
            threads.identity.is_none() || FolderIdentity::of(&self.root) != threads.identity
        };
        if self.watched.contains(&self.root) && self.threads.as_ref().is_some_and(is_replaced) {
            self.unwatch(&self.root.clone());
            self.notifier.everything();
        }
    }

    /// Forgets the state of these folders, so that the next [`Self::watch_files`] watches them again.
    pub fn forget_folders(&mut self, edited: &EditedFiles) {
        self.forget_replaced_root();
        if let WatchBackend::System(system) = &mut self.source {
            self.files.distrust(system, &self.watched, edited);
        }
    }

    /// Called after changes were missed: folders that were replaced are watched again with the next
    /// [`Self::watch_files`].
    pub fn forget_replaced_folders(&mut self) {
        self.forget_replaced_root();
        if let WatchBackend::System(system) = &mut self.source {
            self.files.forget_replaced(system, &self.watched);
        }
    }

    /// Whether some of the files are polled, because notifications are not available.
    pub const fn polls_files(&self) -> bool {
        self.polls() || self.files.are_polled()
    }

    /// Whether a process has written to it and not closed it. Usually, the end is reported.
    pub fn is_being_written(&self, file: &Path) -> bool {
        self.files.is_being_written(file)
    }

    /// Treats the file as complete until it is written to again.
    pub fn treat_as_complete(&self, file: &Path) {
        self.files.treat_as_complete(file);
    }

    fn start(&self) -> WatchBackend {
        if is_remote(&self.root) || std::env::var_os("RAWR_WATCH").is_some_and(|how| how == "poll")
        {
            tracing::info!("the file system does not report changes; polling");
            return WatchBackend::Polling;
        }
        let (root, notifier, files) =
            (self.root.clone(), self.notifier.clone(), self.files.interest());
        let heard = move |event: notify::Result<notify::Event>| {
            if let Some(event) = whole(&notifier, event)
                && !is_only_read(event.kind)
            {
                handle_event(&root, &notifier, &event);
                files::handle_event(&files, &notifier, &event);
            }
        };
        match notify::recommended_watcher(heard) {
            Ok(system) => WatchBackend::System(system),
            Err(error) => {
                tracing::warn!(%error, "the operating system does not report changes; polling");
                WatchBackend::Polling
            }
        }
    }

    fn poll(&mut self, why: &str) {
        tracing::warn!(why, "the operating system does not report changes; polling");
        self.source = WatchBackend::Polling;
        self.notifier.everything();
    }
}

/// The event, if it is complete. Otherwise, everything is marked as changed.
fn whole(notifier: &ChangeNotifier, event: notify::Result<notify::Event>) -> Option<notify::Event> {
    match event {
        Ok(event) if !event.need_rescan() => return Some(event),
        Ok(_) => tracing::info!("missed changes; reading all files"),
        Err(error) => tracing::warn!(%error, "changes may have been missed"),
    }
    notifier.everything();
    None
}

/// Reading a file, too, is an event, and this process reads many.
const fn is_only_read(kind: EventKind) -> bool {
    use AccessMode::Write;
    matches!(kind, EventKind::Access(kind) if !matches!(kind, AccessKind::Close(Write)))
}

/// Runs on the watcher's own thread and must be fast.
fn handle_event(root: &Path, notifier: &ChangeNotifier, event: &notify::Event) {
    let written = matches!(
        event.kind,
        EventKind::Create(CreateKind::Any | CreateKind::File | CreateKind::Folder)
            | EventKind::Modify(ModifyKind::Any | ModifyKind::Data(_) | ModifyKind::Name(_))
            | EventKind::Modify(ModifyKind::Metadata(_))
    );
    // When a process ends in any way, the locks of its threads are closed.
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
            // The thread's folder was created.
            None if written => notifier.thread(thread),
            Some(file) if written && FILES.contains(&file) => notifier.thread(thread),
            Some(rawr_storage::store::OWNER) if closed => notifier.closed(thread),
            None | Some(_) => {}
        }
    }
}

const FILES: [&str; 3] =
    [rawr_storage::store::EVENTS, rawr_storage::store::DECISIONS, rawr_storage::store::OWNER];

/// Network file systems report only changes by this machine.
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
