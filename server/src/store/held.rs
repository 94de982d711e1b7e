//! Messages of a person's that wait, word for word. The log has them without their secrets, and they must be delivered
//! unchanged, also by another process: until then the text lies in a file of its own beside the log.

use super::disk::Disk;
use super::{StoreError, failed};
use rawr_core::Thread;
use rawr_core::units::{InputId, stable_hash};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const FOLDER: &str = "held";
const FORMAT: u16 = 1;

/// A message as it was written.
#[derive(Debug, Serialize, Deserialize)]
pub struct Original {
    v: u16,
    input: InputId,
    /// As the log has it: an id may name another message later.
    logged: String,
    text: String,
}

impl Original {
    pub fn new(input: InputId, logged: String, text: String) -> Self {
        Self { v: FORMAT, input, logged, text }
    }

    pub fn file(&self, thread_folder: &Path) -> PathBuf {
        file(thread_folder, &self.input, &self.logged)
    }

    /// On the disk itself when this returns.
    fn write(&self, disk: &Disk, thread_folder: &Path) -> Result<(), StoreError> {
        let path = self.file(thread_folder);
        let put = || {
            let folder = thread_folder.join(FOLDER);
            let bytes = serde_json::to_vec(self)?;
            if !folder.is_dir() {
                disk.create_folder(&folder)?;
                disk.sync_folder(thread_folder)?;
            }
            disk.replace_durably(&folder, &path, &bytes)
        };
        put().map_err(failed("write", &path))
    }
}

/// Where the text of a message lies, there or not. Ids may be reused, and are too long for a name.
pub fn file(thread_folder: &Path, input: &InputId, logged: &str) -> PathBuf {
    let name = format!("{:016x}.json", stable_hash(&format!("{input}\n{logged}")));
    thread_folder.join(FOLDER).join(name)
}

pub(crate) fn is_original(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|folder| folder == FOLDER)
        && path.extension().is_some_and(|extension| extension == "json")
}

/// The files that there must be: of messages that wait and lost their secrets in the log.
pub fn of_waiting(
    thread: &Thread,
    thread_folder: &Path,
    is_redacted: fn(&str) -> bool,
) -> impl Iterator<Item = PathBuf> {
    let redacted = thread.undelivered().filter(move |(_, text)| is_redacted(text));
    redacted.map(move |(input, text)| file(thread_folder, input, text))
}

/// The text of a message that the log has as `logged`.
pub fn read(thread_folder: &Path, input: &InputId, logged: &str) -> Result<String, StoreError> {
    let path = file(thread_folder, input, logged);
    let read = || {
        let original: Original = serde_json::from_slice(&fs::read(&path)?)?;
        let fits = original.v <= FORMAT && original.input == *input && original.logged == *logged;
        fits.then_some(original.text).ok_or_else(|| io::Error::other("it is of another message"))
    };
    read().map_err(failed("read", &path))
}

pub fn files(thread_folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let folder = thread_folder.join(FOLDER);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed("list", &folder))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed("list", &folder))?.path();
        if is_original(&path) {
            files.push(path);
        }
    }
    Ok(files)
}

/// What a batch changes of them.
#[derive(Debug, Default)]
pub(super) struct Changes {
    kept: Vec<Original>,
    /// Of messages that do not wait any more.
    settled: Vec<PathBuf>,
    /// The same of earlier batches, where removing failed: tried again with the next one, and no reason for one.
    stuck: Vec<PathBuf>,
}

impl Changes {
    pub(super) const fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.settled.is_empty()
    }

    pub(super) fn keep(&mut self, original: Original, thread_folder: &Path) {
        let file = original.file(thread_folder);
        self.settled.retain(|settled| *settled != file);
        self.stuck.retain(|stuck| *stuck != file);
        self.kept.push(original);
    }

    pub(super) fn settle(&mut self, file: PathBuf) {
        self.settled.push(file);
    }

    /// Before the log says that the messages wait: none stands in it that could not be delivered as it was written.
    pub(super) fn write(&self, disk: &Disk, thread_folder: &Path) -> Result<(), StoreError> {
        self.kept.iter().try_for_each(|original| original.write(disk, thread_folder))
    }

    /// After the log says that they do not.
    pub(super) fn stored(&mut self, disk: &Disk) {
        self.kept.clear();
        self.stuck.append(&mut self.settled);
        self.stuck.retain(|path| match disk.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let path = path.display();
                tracing::warn!(%error, %path, "the text of a message stays, though it waits no longer");
                true
            }
            _ => false,
        });
    }
}
