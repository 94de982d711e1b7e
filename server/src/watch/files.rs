//! Watches the files that people edit. Watches their folders instead of the files, because editors replace files by
//! renaming; follows symbolic links and watches the folders of their targets, too.

use super::{ChangeNotifier, is_remote};
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Whether the OS reports that a written file was closed. Only then is the file complete.
pub const TELLS_OF_CLOSING: bool = cfg!(any(target_os = "linux", target_os = "android"));
/// The root of the threads, two folders above it, and the home.
const FOLDERS_ABOVE: usize = 4;
/// How often the folders to watch are looked up, because one may be created before it is watched.
const MOST_ROUNDS: usize = 8;
/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// The changes of files since they were last taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EditedFiles {
    /// By the paths that were passed in.
    pub files: BTreeSet<PathBuf>,
    /// Folders and links on the paths of files that were created, removed or replaced.
    pub ways: BTreeSet<PathBuf>,
}

/// Read by the watcher's thread, written by the connection's.
#[derive(Debug, Default)]
pub(super) struct WatchInterest {
    places: WatchedPaths,
    /// Files that were written to and not closed.
    written: HashSet<PathBuf>,
}

/// The paths for which the OS reports events, with all links resolved.
#[derive(Debug, Default, PartialEq, Eq)]
struct WatchedPaths {
    /// The requested files, by resolved path.
    files: HashMap<PathBuf, BTreeSet<PathBuf>>,
    /// Parent folders and links: if they change, files must be resolved again.
    ways: HashSet<PathBuf>,
    /// Folders to watch. `false`: only because they lead to files.
    folders: BTreeMap<PathBuf, bool>,
}

impl WatchedPaths {
    /// `folder`: one whose replacement is reported, as is that of the folders above it.
    fn of<'f>(files: impl IntoIterator<Item = &'f Path>, folder: Option<&Path>) -> Self {
        let mut places = Self::default();
        for folder in folder.into_iter().flat_map(|folder| folder.ancestors().take(FOLDERS_ABOVE)) {
            places.follow(folder, None, MOST_LINKS);
        }
        for file in files.into_iter().filter(|file| file.is_absolute()) {
            places.follow(file, Some(file), MOST_LINKS);
            if let Some(folder) = file.parent() {
                places.follow(folder, None, MOST_LINKS);
            }
        }
        places
    }

    /// `file`: the requested file that this path belongs to, or `None` for a parent folder.
    fn follow(&mut self, path: &Path, file: Option<&Path>, links: usize) {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
        let Ok(folder) = folder.canonicalize() else {
            // The nearest existing folder reports when the next one is created.
            return self.follow(folder, None, links);
        };
        let place = folder.join(name);
        *self.folders.entry(folder.clone()).or_default() |= file.is_some();
        if links > 0
            && let Ok(target) = place.read_link()
        {
            self.ways.insert(place.clone());
            let target = folder.join(target);
            self.follow(&target, file, links - 1);
            if let (Some(_), Some(folder)) = (file, target.parent()) {
                self.follow(folder, None, links - 1);
            }
        }
        match file {
            Some(file) => drop(self.files.entry(place).or_default().insert(file.to_owned())),
            None => drop(self.ways.insert(place)),
        }
    }
}

/// Distinguishes a folder from another one of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FolderIdentity {
    inode: u64,
    /// Inode numbers are reused.
    created: SystemTime,
}

impl FolderIdentity {
    /// `None` if it is not available.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let found = folder.metadata().ok()?;
        Some(Self { inode: found.ino(), created: found.created().ok()? })
    }
}

/// The registry's part.
#[derive(Debug, Default)]
pub(super) struct FileWatches {
    interest: Arc<Mutex<WatchInterest>>,
    /// Each watched folder with its identity at that time.
    watched: BTreeMap<PathBuf, Option<FolderIdentity>>,
    polled: bool,
}

impl FileWatches {
    pub(super) fn interest(&self) -> Arc<Mutex<WatchInterest>> {
        Arc::clone(&self.interest)
    }

    pub(super) const fn are_polled(&self) -> bool {
        self.polled
    }

    pub(super) fn is_being_written(&self, file: &Path) -> bool {
        lock(&self.interest).written.contains(file)
    }

    pub(super) fn treat_as_complete(&self, file: &Path) {
        lock(&self.interest).written.remove(file);
    }

    /// Folders in `others` are watched for another reason and are skipped.
    pub(super) fn listen<'f>(
        &mut self,
        system: &mut RecommendedWatcher,
        others: &BTreeSet<PathBuf>,
        files: impl IntoIterator<Item = &'f Path>,
        folder: Option<&Path>,
    ) {
        let files: Vec<_> = files.into_iter().collect();
        let mut places = WatchedPaths::of(files.iter().copied(), folder);
        for _ in 0..MOST_ROUNDS {
            self.listen_to(system, others, &places);
            let found = WatchedPaths::of(files.iter().copied(), folder);
            if found == places {
                break;
            }
            places = found;
        }
        let mut interest = lock(&self.interest);
        interest.written.retain(|file| places.files.values().any(|files| files.contains(file)));
        interest.places = places;
    }

    fn listen_to(
        &mut self,
        system: &mut RecommendedWatcher,
        others: &BTreeSet<PathBuf>,
        places: &WatchedPaths,
    ) {
        let gone = self.watched.keys().filter(|folder| !places.folders.contains_key(*folder));
        for folder in gone.cloned().collect::<Vec<_>>() {
            self.unwatch(system, others, &folder);
        }
        self.polled = false;
        for (folder, holds_files) in &places.folders {
            self.polled |= *holds_files && is_remote(folder);
            if self.watched.contains_key(folder) || others.contains(folder) {
                continue;
            }
            let identity = FolderIdentity::of(folder);
            match system.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.watched.insert(folder.clone(), identity)),
                // The event of its parent folder reports its removal.
                Err(_) if !folder.exists() => {}
                Err(error) if *holds_files => {
                    let folder = folder.display();
                    tracing::warn!(%error, %folder, "cannot watch this folder; polling its files");
                    self.polled = true;
                }
                Err(error) => {
                    tracing::debug!(%error, folder = %folder.display(), "cannot watch this folder");
                }
            }
        }
    }

    pub(super) fn distrust(
        &mut self,
        system: &mut RecommendedWatcher,
        others: &BTreeSet<PathBuf>,
        edited: &EditedFiles,
    ) {
        let concerned = |folder: &&PathBuf| edited.ways.iter().any(|way| folder.starts_with(way));
        for folder in self.watched.keys().filter(concerned).cloned().collect::<Vec<_>>() {
            self.unwatch(system, others, &folder);
        }
        lock(&self.interest).written.clear();
    }

    /// Called after changes were missed. Watches that are still valid are kept, because changing many of them is slow.
    pub(super) fn forget_replaced(
        &mut self,
        system: &mut RecommendedWatcher,
        others: &BTreeSet<PathBuf>,
    ) {
        let replaced = self
            .watched
            .iter()
            .filter(|(folder, was)| was.is_none() || FolderIdentity::of(folder) != **was);
        for folder in replaced.map(|(folder, _)| folder.clone()).collect::<Vec<_>>() {
            self.unwatch(system, others, &folder);
        }
        lock(&self.interest).written.clear();
    }

    fn unwatch(
        &mut self,
        system: &mut RecommendedWatcher,
        others: &BTreeSet<PathBuf>,
        folder: &Path,
    ) {
        self.watched.remove(folder);
        if !others.contains(folder)
            // The folder may have been removed already, and its watch with it.
            && let Err(error) = system.unwatch(folder)
        {
            tracing::debug!(%error, path = %folder.display(), "the watch was already gone");
        }
    }
}

fn lock(interest: &Mutex<WatchInterest>) -> MutexGuard<'_, WatchInterest> {
    interest.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an event means for a file.
enum FileEvent {
    /// The file is being written to.
    Begun,
    /// The file is complete or removed.
    Done,
    /// The file may be unchanged, unless it is being written to.
    Touched,
    Nothing,
}

/// Runs on the watcher's own thread and must be fast.
pub(super) fn handle_event(
    interest: &Mutex<WatchInterest>,
    notifier: &ChangeNotifier,
    event: &notify::Event,
) {
    let mut interest = lock(interest);
    for path in &event.paths {
        let moved = !matches!(
            event.kind,
            EventKind::Access(_) | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_))
        );
        let WatchInterest { places, written } = &mut *interest;
        let files = places.files.get(path);
        let became_link = || files.is_some() && path.is_symlink();
        let leads = || places.ways.contains(path) || places.folders.contains_key(path);
        if moved && (leads() || became_link()) {
            notifier.edited(|edited| edited.ways.extend([path.clone()]));
        }
        let Some(files) = files else { continue };
        let news = match heard(event.kind, path) {
            FileEvent::Nothing => false,
            // The end of writing may not be reported, for example after a truncation by path.
            FileEvent::Begun => {
                let before = written.len();
                written.extend(files.iter().cloned());
                written.len() > before
            }
            FileEvent::Touched => !files.iter().any(|file| written.contains(file)),
            FileEvent::Done => {
                written.retain(|file| !files.contains(file));
                true
            }
        };
        if news {
            notifier.edited(|edited| edited.files.extend(files.iter().cloned()));
        }
    }
}

fn heard(kind: EventKind, path: &Path) -> FileEvent {
    match kind {
        _ if !TELLS_OF_CLOSING => match kind {
            EventKind::Access(_) => FileEvent::Nothing,
            _ => FileEvent::Done,
        },
        EventKind::Access(AccessKind::Close(AccessMode::Write)) | EventKind::Remove(_) => {
            FileEvent::Done
        }
        EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::From)) => FileEvent::Done,
        EventKind::Modify(ModifyKind::Metadata(_)) => FileEvent::Touched,
        EventKind::Modify(ModifyKind::Data(_)) => FileEvent::Begun,
        // A newly created file will be written and closed.
        EventKind::Create(_) if is_linked(path) => FileEvent::Done,
        _ => FileEvent::Nothing,
    }
}

/// A symbolic link, or a further hard link to a complete file.
fn is_linked(path: &Path) -> bool {
    let Ok(found) = path.symlink_metadata() else { return false };
    found.is_symlink() || found.is_file() && found.nlink() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which paths are watched for `rules/a.md` in a folder that `prepare` has filled.
    fn check(prepare: fn(&Path), files: &[&str], ways: &[&str], folders: &[&str]) {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        prepare(&root);
        let found = WatchedPaths::of([root.join("rules/a.md").as_path()], None);
        let below = |paths: Vec<&PathBuf>| {
            let mut names: Vec<_> = paths
                .into_iter()
                .map(|path| path.strip_prefix(&root).map_or("..", |path| path.to_str().unwrap()))
                .map(str::to_owned)
                .collect();
            names.sort();
            names
        };
        assert_eq!(below(found.files.keys().collect()), files, "files");
        assert_eq!(below(found.ways.iter().collect()), ways, "ways");
        assert_eq!(below(found.folders.keys().collect()), folders, "folders");
    }

    fn link(root: &Path, target: &str, name: &str) {
        std::os::unix::fs::symlink(target, root.join(name)).unwrap();
    }

    #[test]
    fn a_file_is_watched_in_its_folder_which_may_be_replaced() {
        check(
            |root| std::fs::create_dir(root.join("rules")).unwrap(),
            &["rules/a.md"],
            &["rules"],
            &["", "rules"],
        );
    }

    #[test]
    fn if_the_folder_is_missing_the_nearest_parent_is_watched() {
        check(|_| {}, &[], &["rules"], &[""]);
    }

    #[test]
    fn a_link_and_its_target_are_watched() {
        let prepare = |root: &Path| {
            std::fs::create_dir_all(root.join("dot/files")).unwrap();
            std::fs::create_dir(root.join("rules")).unwrap();
            link(root, "../dot/files/b.md", "rules/a.md");
        };
        check(
            prepare,
            &["dot/files/b.md", "rules/a.md"],
            &["dot/files", "rules", "rules/a.md"],
            &["", "dot", "dot/files", "rules"],
        );
    }

    #[test]
    fn a_linked_folder_is_watched_at_its_target() {
        let prepare = |root: &Path| {
            std::fs::create_dir_all(root.join("dot/files")).unwrap();
            link(root, "dot/files", "rules");
        };
        check(prepare, &["dot/files/a.md"], &["dot/files", "rules"], &["", "dot", "dot/files"]);
    }

    #[test]
    fn link_cycles_terminate() {
        let prepare = |root: &Path| link(root, "rules", "rules");
        check(prepare, &[], &["rules"], &[""]);
    }
}
