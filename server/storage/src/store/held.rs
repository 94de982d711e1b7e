//! The original texts of held messages. The log has them redacted, but they must be delivered unchanged, also by
//! another process. Until then, each text is in a file of its own.

use super::backwards::ReverseLines;
use super::disk::Disk;
use super::{StoreError, failed, parse};
use rawr_core::event::InputHeld;
use rawr_core::units::{InputId, Timestamp, stable_hash};
use rawr_core::{Event, Thread};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const FOLDER: &str = "held";
const FORMAT: u16 = 1;

/// A session takes no longer to end.
const ENDING_SECONDS: u64 = 5;
/// So many lines are read for the message's text.
const MOST_LINES: usize = 1000;

pub(super) fn at_end(log: &Path) -> Result<Option<InputHeld>, StoreError> {
    let file = File::open(log).map_err(failed("open", log))?;
    let mut lines = ReverseLines::new(file).map_err(failed("read", log))?;
    let (mut end, mut cancelled): (Option<Timestamp>, Option<InputId>) = (None, None);
    for line in lines.by_ref().take(MOST_LINES) {
        // A damaged line is no matter here.
        let Ok(record) = parse(&line.map_err(failed("read", log))?) else { continue };
        let end = *end.get_or_insert(record.at);
        match (record.event, &cancelled) {
            (Event::InputHeld(held), Some(input)) if held.input == *input => {
                return Ok(Some(*held));
            }
            (Event::InputCancelled(of), None) => cancelled = Some(of.input),
            (_, None) if end.seconds_since(record.at) > ENDING_SECONDS => break,
            _ => {}
        }
    }
    Ok(None)
}

/// The original text of a message.
#[derive(Debug, Serialize, Deserialize)]
pub struct OriginalText {
    v: u16,
    input: InputId,
    /// The redacted text, because an id may be reused for another message.
    logged: String,
    text: String,
}

impl OriginalText {
    /// `logged` is the redacted form of `text`.
    pub fn new(input: InputId, logged: String, text: String) -> Self {
        Self { v: FORMAT, input, logged, text }
    }

    /// The path of its file in the thread's folder.
    pub fn file(&self, thread_folder: &Path) -> PathBuf {
        file(thread_folder, &self.input, &self.logged)
    }

    /// Durable when this returns.
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

/// The file of a message's text, whether it exists or not. Its name is a hash, because ids may be reused and may be too
/// long.
pub fn file(thread_folder: &Path, input: &InputId, logged: &str) -> PathBuf {
    let name = format!("{:016x}.json", stable_hash(&format!("{input}\n{logged}")));
    thread_folder.join(FOLDER).join(name)
}

pub(crate) fn is_original(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|folder| folder == FOLDER)
        && path.extension().is_some_and(|extension| extension == "json")
}

/// The files that must exist: one for each held message that was redacted in the log.
pub fn of_waiting(
    thread: &Thread,
    thread_folder: &Path,
    is_redacted: fn(&str) -> bool,
) -> impl Iterator<Item = PathBuf> {
    let redacted = thread.undelivered().filter(move |(_, text)| is_redacted(text));
    redacted.map(move |(input, text)| file(thread_folder, input, text))
}

/// The original text of a message whose redacted text is `logged`.
pub fn read(thread_folder: &Path, input: &InputId, logged: &str) -> Result<String, StoreError> {
    let path = file(thread_folder, input, logged);
    let read = || {
        let original: OriginalText = serde_json::from_slice(&fs::read(&path)?)?;
        let fits = original.v <= FORMAT && original.input == *input && original.logged == *logged;
        fits.then_some(original.text)
            .ok_or_else(|| io::Error::other("it belongs to another message"))
    };
    read().map_err(failed("read", &path))
}

/// All such files of a thread.
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

/// What a batch changes in these files.
#[derive(Debug, Default)]
pub(super) struct HeldChanges {
    kept: Vec<OriginalText>,
    /// Files of messages that are no longer held.
    settled: Vec<PathBuf>,
    /// Settled files of earlier batches that could not be removed. Retried with the next batch.
    stuck: Vec<PathBuf>,
}

impl HeldChanges {
    pub(super) const fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.settled.is_empty()
    }

    pub(super) fn keep(&mut self, original: OriginalText, thread_folder: &Path) {
        let file = original.file(thread_folder);
        self.settled.retain(|settled| *settled != file);
        self.stuck.retain(|stuck| *stuck != file);
        self.kept.push(original);
    }

    pub(super) fn settle(&mut self, file: PathBuf) {
        self.settled.push(file);
    }

    /// Called before the log says that the messages are held, so that each can be delivered unchanged.
    pub(super) fn write(&self, disk: &Disk, thread_folder: &Path) -> Result<(), StoreError> {
        self.kept.iter().try_for_each(|original| original.write(disk, thread_folder))
    }

    /// Called after the log says that they are no longer held.
    pub(super) fn stored(&mut self, disk: &Disk) {
        self.kept.clear();
        self.stuck.append(&mut self.settled);
        self.stuck.retain(|path| match disk.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let path = path.display();
                tracing::warn!(%error, %path, "failed to remove the text of a message that is no longer held");
                true
            }
            _ => false,
        });
    }
}
