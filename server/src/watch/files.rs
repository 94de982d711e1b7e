//! The files that people edit: in which folders to listen for them, and what an event says of them. Folders are watched and
//! not files, because editors rename over files; links are followed, and their own folders are watched, too.

use super::{ChangeNotifier, is_remote};
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Whether the system says that a file was closed after it was written to. A file is whole then, and not before.
pub const TELLS_OF_CLOSING: bool = cfg!(any(target_os = "linux", target_os = "android"));
/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// What was heard of files since it was last asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edited {
    /// As they were asked for.
    pub files: BTreeSet<PathBuf>,
    /// Folders and links on the way to files that came, went or were replaced.
    pub ways: BTreeSet<PathBuf>,
}

/// Read by the system's thread, written by the connection's.
#[derive(Debug, Default)]
pub(super) struct Interest {
    places: Places,
    /// Files that somebody has written to and not closed.
    written: HashSet<PathBuf>,
}

/// Where the system will tell of files, with every link on the way followed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Places {
    /// Which files a place is the place of, as they were asked for.
    files: HashMap<PathBuf, BTreeSet<PathBuf>>,
    /// Folders that lead to files, and links: what becomes of them changes where to listen.
    ways: HashSet<PathBuf>,
    /// To be watched. `false`: only for what leads to files.
    folders: BTreeMap<PathBuf, bool>,
}

impl Places {
    fn of<'f>(files: impl IntoIterator<Item = &'f Path>) -> Self {
        let mut places = Self::default();
        for file in files.into_iter().filter(|file| file.is_absolute()) {
            places.follow(file, Some(file), MOST_LINKS);
            if let Some(folder) = file.parent() {
                places.follow(folder, None, MOST_LINKS);
            }
        }
        places
    }

    /// `file`: whose place it is; `None` for a folder on the way to one.
    fn follow(&mut self, path: &Path, file: Option<&Path>, links: usize) {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
        let Ok(folder) = folder.canonicalize() else {
            // The nearest folder that is there tells when the next one comes.
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

/// Tells a folder from another of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    inode: u64,
    /// A number is used again once its folder is gone.
    created: SystemTime,
}

impl Identity {
    /// `None` where it cannot be told.
    fn of(folder: &Path) -> Option<Self> {
        let found = folder.metadata().ok()?;
        Some(Self { inode: found.ino(), created: found.created().ok()? })
    }
}

/// The registry's side.
#[derive(Debug, Default)]
pub(super) struct Files {
    interest: Arc<Mutex<Interest>>,
    /// With what each folder was when it began to be watched.
    watched: BTreeMap<PathBuf, Option<Identity>>,
    polled: bool,
}

impl Files {
    pub(super) fn interest(&self) -> Arc<Mutex<Interest>> {
        Arc::clone(&self.interest)
    }

    pub(super) const fn are_polled(&self) -> bool {
        self.polled
    }

    pub(super) fn is_being_written(&self, file: &Path) -> bool {
        lock(&self.interest).written.contains(file)
    }

    pub(super) fn waits_for_no_end(&self, file: &Path) {
        lock(&self.interest).written.remove(file);
    }

    /// Folders that are watched for another reason as well, `others`, are left to that.
    pub(super) fn listen<'f>(
        &mut self,
        system: &mut RecommendedWatcher,
        others: &BTreeSet<PathBuf>,
        files: impl IntoIterator<Item = &'f Path>,
    ) {
        let places = Places::of(files);
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
            let identity = Identity::of(folder);
            match system.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.watched.insert(folder.clone(), identity)),
                // Whoever made it go is heard of by its own folder.
                Err(_) if !folder.exists() => {}
                Err(error) if *holds_files => {
                    let folder = folder.display();
                    tracing::warn!(%error, %folder, "changes are not told here: files are polled");
                    self.polled = true;
                }
                Err(error) => {
                    tracing::debug!(%error, folder = %folder.display(), "not watched");
                }
            }
        }
        let mut interest = lock(&self.interest);
        interest.written.retain(|file| places.files.values().any(|files| files.contains(file)));
        interest.places = places;
    }

    pub(super) fn distrust(
        &mut self,
        system: &mut RecommendedWatcher,
        others: &BTreeSet<PathBuf>,
        edited: &Edited,
    ) {
        let concerned = |folder: &&PathBuf| edited.ways.iter().any(|way| folder.starts_with(way));
        for folder in self.watched.keys().filter(concerned).cloned().collect::<Vec<_>>() {
            self.unwatch(system, others, &folder);
        }
        lock(&self.interest).written.clear();
    }

    /// After changes were missed. Those that are what they were go on being watched: whoever has too much to tell makes
    /// us wait for each that is not.
    pub(super) fn distrust_replaced(
        &mut self,
        system: &mut RecommendedWatcher,
        others: &BTreeSet<PathBuf>,
    ) {
        let replaced = self
            .watched
            .iter()
            .filter(|(folder, was)| was.is_none() || Identity::of(folder) != **was);
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
            // It may be gone already, and its watch with it.
            && let Err(error) = system.unwatch(folder)
        {
            tracing::debug!(%error, path = %folder.display(), "a watch was gone already");
        }
    }
}

fn lock(interest: &Mutex<Interest>) -> MutexGuard<'_, Interest> {
    interest.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an event says of a file.
enum Heard {
    /// It is being written to.
    Begun,
    /// It is what it is to be, or gone.
    Done,
    /// It may be what it was, unless somebody is at it.
    Touched,
    Nothing,
}

/// On the watcher's own thread: nothing here may take long.
pub(super) fn hear(interest: &Mutex<Interest>, notifier: &ChangeNotifier, event: &notify::Event) {
    let mut interest = lock(interest);
    for path in &event.paths {
        let moved = !matches!(
            event.kind,
            EventKind::Access(_) | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_))
        );
        let Interest { places, written } = &mut *interest;
        let files = places.files.get(path);
        let became_link = || files.is_some() && path.is_symlink();
        let leads = || places.ways.contains(path) || places.folders.contains_key(path);
        if moved && (leads() || became_link()) {
            notifier.edited(|edited| edited.ways.extend([path.clone()]));
        }
        let Some(files) = files else { continue };
        let news = match heard(event.kind, path) {
            Heard::Nothing => false,
            // Its end may never be told, as where a file is cut off by its name.
            Heard::Begun => {
                let before = written.len();
                written.extend(files.iter().cloned());
                written.len() > before
            }
            Heard::Touched => !files.iter().any(|file| written.contains(file)),
            Heard::Done => {
                written.retain(|file| !files.contains(file));
                true
            }
        };
        if news {
            notifier.edited(|edited| edited.files.extend(files.iter().cloned()));
        }
    }
}

fn heard(kind: EventKind, path: &Path) -> Heard {
    match kind {
        _ if !TELLS_OF_CLOSING => match kind {
            EventKind::Access(_) => Heard::Nothing,
            _ => Heard::Done,
        },
        EventKind::Access(AccessKind::Close(AccessMode::Write)) | EventKind::Remove(_) => {
            Heard::Done
        }
        EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::From)) => Heard::Done,
        EventKind::Modify(ModifyKind::Metadata(_)) => Heard::Touched,
        EventKind::Modify(ModifyKind::Data(_)) => Heard::Begun,
        // Whoever made a file of its own goes on to write to it and to close it.
        EventKind::Create(_) if is_linked(path) => Heard::Done,
        _ => Heard::Nothing,
    }
}

/// A link, or a further name of a file that is whole.
fn is_linked(path: &Path) -> bool {
    let Ok(found) = path.symlink_metadata() else { return false };
    found.is_symlink() || found.is_file() && found.nlink() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which places lead to `rules/a.md` in a folder that `prepare` has filled.
    fn check(prepare: fn(&Path), files: &[&str], ways: &[&str], folders: &[&str]) {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        prepare(&root);
        let found = Places::of([root.join("rules/a.md").as_path()]);
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
    fn a_file_is_listened_for_in_its_folder_which_may_be_replaced() {
        check(
            |root| std::fs::create_dir(root.join("rules")).unwrap(),
            &["rules/a.md"],
            &["rules"],
            &["", "rules"],
        );
    }

    #[test]
    fn where_the_folder_is_missing_the_nearest_one_tells_of_it() {
        check(|_| {}, &[], &["rules"], &[""]);
    }

    #[test]
    fn a_link_is_listened_for_and_what_it_leads_to() {
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
    fn a_folder_that_is_a_link_is_watched_where_it_leads_to() {
        let prepare = |root: &Path| {
            std::fs::create_dir_all(root.join("dot/files")).unwrap();
            link(root, "dot/files", "rules");
        };
        check(prepare, &["dot/files/a.md"], &["dot/files", "rules"], &["", "dot", "dot/files"]);
    }

    #[test]
    fn links_in_a_circle_come_to_an_end() {
        let prepare = |root: &Path| link(root, "rules", "rules");
        check(prepare, &[], &["rules"], &[""]);
    }
}
