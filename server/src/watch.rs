//! What other processes write, as it happens: which thread's files to look at again. What is in them is not read here.
//!
//! The system tells of changes where it can. Where it cannot (no watches left, a network file system), everything that is
//! watched is looked at from time to time instead; `RAWR_WATCH=poll` asks for that.

use notify::event::{CreateKind, EventKind, ModifyKind};
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

/// Rung by whoever hears of a change, heard by the connection. Ringing twice before it is heard is ringing once.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    rung: Mutex<Rung>,
    heard: Notify,
}

/// Which threads to look at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rung {
    pub threads: BTreeSet<String>,
    /// Changes were missed.
    pub all: bool,
}

impl Bell {
    fn ring(&self, thread: &str) {
        let mut rung = self.state();
        if !rung.threads.contains(thread) {
            rung.threads.insert(thread.to_owned());
        }
        if rung.threads.len() > MOST_NAMES {
            *rung = Rung { threads: BTreeSet::new(), all: true };
        }
        drop(rung);
        self.0.heard.notify_one();
    }

    fn ring_all(&self) {
        self.state().all = true;
        self.0.heard.notify_one();
    }

    /// Resolves once it has been rung since it was last taken.
    pub async fn rung(&self) {
        self.0.heard.notified().await;
    }

    pub fn take(&self) -> Rung {
        std::mem::take(&mut self.state())
    }

    fn state(&self) -> MutexGuard<'_, Rung> {
        self.0.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches under one folder, in which each thread has a folder of its own.
#[derive(Debug)]
pub struct Watcher {
    root: PathBuf,
    bell: Bell,
    source: Source,
    watched: BTreeSet<PathBuf>,
}

#[derive(Debug)]
enum Source {
    /// Nothing is watched yet.
    Idle,
    System(RecommendedWatcher),
    Polling,
}

impl Watcher {
    pub fn new(root: PathBuf, bell: Bell) -> Self {
        Self { root, bell, source: Source::Idle, watched: BTreeSet::new() }
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

    fn start(&self) -> Source {
        if is_remote(&self.root) || std::env::var_os("RAWR_WATCH").is_some_and(|how| how == "poll")
        {
            tracing::info!("changes are not told by the file system: threads are polled");
            return Source::Polling;
        }
        let (root, bell) = (self.root.clone(), self.bell.clone());
        let heard = move |event: notify::Result<notify::Event>| hear(&root, &bell, event);
        match notify::recommended_watcher(heard) {
            Ok(system) => Source::System(system),
            Err(error) => {
                tracing::warn!(%error, "changes are not told by the system: threads are polled");
                Source::Polling
            }
        }
    }

    fn poll(&mut self, why: &str) {
        tracing::warn!(why, "changes are not told by the system: threads are polled");
        self.source = Source::Polling;
        self.bell.ring_all();
    }
}

/// On the watcher's own thread: nothing here may take long.
fn hear(root: &Path, bell: &Bell, event: notify::Result<notify::Event>) {
    let event = match event {
        Ok(event) if event.need_rescan() => return bell.ring_all(),
        Ok(event) => event,
        Err(error) => {
            tracing::warn!(%error, "changes may have been missed");
            return bell.ring_all();
        }
    };
    let matters = matches!(
        event.kind,
        EventKind::Create(CreateKind::Any | CreateKind::File | CreateKind::Folder)
            | EventKind::Modify(ModifyKind::Any | ModifyKind::Data(_) | ModifyKind::Name(_))
            | EventKind::Modify(ModifyKind::Metadata(_))
    );
    if !matters {
        return;
    }
    for path in &event.paths {
        let mut names = path.strip_prefix(root).into_iter().flat_map(Path::iter);
        let Some(thread) = names.next().and_then(|name| name.to_str()) else { continue };
        match names.next().and_then(|file| file.to_str()) {
            // The thread's folder itself has come.
            None => bell.ring(thread),
            Some(file) if FILES.contains(&file) => bell.ring(thread),
            Some(_) => {}
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
