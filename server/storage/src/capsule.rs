//! Capsules on disk: the state of a thread before a compaction, so that a person can go back to it. This module reads
//! and writes files; the registry decides what goes into them.
//!
//! `<thread>/capsules/<capsule>.json` is one capsule. `<capsule>.history.jsonl` holds the conversation, one item per
//! line, if the host stores none itself. The newest [`KEPT`] capsules are kept.

use crate::store::{Disk, StoreError, failed, is_unfinished};
use rawr_core::event::{HostInfo, Packet, Repo, Trigger};
use rawr_core::signal::plan::PlanItem;
use rawr_core::thread::UserDirective;
use rawr_core::units::{InputId, SequenceId, ThreadId, Timestamp, Tokens, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The number of capsules that a thread keeps.
pub const KEPT: usize = 20;

/// Increment when older releases could no longer read what a newer one writes.
const FORMAT: u16 = 1;

/// A capsule as it is stored. A change here changes the format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCapsule {
    v: u16,
    /// Unique in its thread, and the name of its file.
    pub id: String,
    /// The thread that it belongs to.
    pub thread: ThreadId,
    /// When it was written.
    pub at: Timestamp,
    /// The kept state.
    #[serde(flatten)]
    pub kept: CapsuleState,
}

/// The state of the thread. Secrets are redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapsuleState {
    /// Why the history is compacted.
    pub trigger: Trigger,
    /// `None` if the host compacted on its own.
    pub sequence: Option<SequenceId>,
    /// The host and its capabilities.
    pub host: HostInfo,
    /// The thread's working folder.
    pub cwd: String,
    /// The model, as the host last reported it.
    pub model: Option<String>,
    /// The size of the context window in tokens, if known.
    pub window: Option<Tokens>,
    /// Tokens in the context.
    pub context: Option<Tokens>,
    /// The host's own transcript, if it has one.
    pub transcript: Option<CapsuleTranscript>,
    /// The newest turn that had ended.
    pub last_turn: Option<TurnId>,
    /// The turn that was running.
    pub inside_turn: Option<TurnId>,
    /// The number of turns that had ended.
    pub turns_ended: u32,
    /// The packet, if one was taken.
    pub packet: Option<Packet>,
    /// The agent's notes, if it has any.
    pub scratch: Option<CapsuleNotes>,
    /// The steps of the agent's plan.
    #[serde(default)]
    pub plan: Vec<PlanItem>,
    /// The active standing instructions.
    #[serde(default)]
    pub directives: Vec<UserDirective>,
    /// The state of the repository, if it was inspected.
    pub repo: Option<Repo>,
    /// When the repository was inspected.
    pub repo_seen_at: Option<Timestamp>,
    /// The messages that were held at that time.
    #[serde(default)]
    pub held: Vec<CapsuleMessage>,
}

/// The host's own transcript, and its length at that time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapsuleTranscript {
    /// The path, as the host reported it.
    pub path: String,
    /// `None` if the file did not exist.
    pub bytes: Option<u64>,
}

/// The agent's notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapsuleNotes {
    /// Relative to the thread's folder.
    pub file: String,
    /// A hash of the contents.
    pub hash: String,
    /// `None` if they are too long to keep.
    pub content: Option<String>,
}

/// A message that waited for delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapsuleMessage {
    /// The id that the host gave to the message.
    pub id: InputId,
    /// The redacted text.
    pub text: String,
}

impl StoredCapsule {
    /// A capsule of the current format.
    pub fn new(id: String, thread: ThreadId, at: Timestamp, kept: CapsuleState) -> Self {
        Self { v: FORMAT, id, thread, at, kept }
    }
}

/// One item of a host's history, in the host's own format.
pub type CapsuleHistoryItem = Map<String, Value>;

/// The capsules of a folder, and the errors of those that cannot be read.
#[derive(Debug, Default)]
pub struct CapsuleList {
    /// Newest first.
    pub capsules: Vec<StoredCapsule>,
    /// Errors of the unreadable ones.
    pub unread: Vec<StoreError>,
}

/// The capsules of one thread.
#[derive(Debug)]
pub struct CapsuleStore {
    folder: PathBuf,
    disk: Disk,
}

impl CapsuleStore {
    /// The capsules in a thread's folder.
    pub fn of(thread_folder: &Path) -> Self {
        Self::on(Disk::default(), thread_folder)
    }

    /// Like [`Self::of`], on the given disk.
    pub fn on(disk: Disk, thread_folder: &Path) -> Self {
        Self { folder: thread_folder.join("capsules"), disk }
    }

    /// Whether there is a capsule with this id.
    pub fn has(&self, id: &str) -> bool {
        self.file(id).is_file()
    }

    /// Whether a history is stored for this id.
    pub fn has_history(&self, id: &str) -> bool {
        self.history_file(id).is_file()
    }

    /// Writes a capsule durably. Replaces one with the same id.
    pub fn write(&self, capsule: &StoredCapsule) -> Result<(), StoreError> {
        let path = self.file(&capsule.id);
        let mut bytes = serde_json::to_vec_pretty(capsule)
            .map_err(|error| failed("write", &path)(error.into()))?;
        bytes.push(b'\n');
        self.replace_file(&path, &bytes)
    }

    /// Stores a capsule's history.
    pub fn attach(&self, id: &str, history: &[CapsuleHistoryItem]) -> Result<(), StoreError> {
        let (path, mut bytes) = (self.history_file(id), Vec::new());
        for item in history {
            serde_json::to_writer(&mut bytes, item)
                .map_err(|error| failed("write", &path)(error.into()))?;
            bytes.push(b'\n');
        }
        self.replace_file(&path, &bytes)
    }

    /// `None` if there is no such capsule.
    pub fn read(&self, id: &str) -> Result<Option<StoredCapsule>, StoreError> {
        let path = self.file(id);
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &path)(error)),
            Ok(bytes) => parse(&path, &bytes).map(Some),
        }
    }

    /// Empty if no history was stored.
    pub fn history(&self, id: &str) -> Result<Vec<CapsuleHistoryItem>, StoreError> {
        let path = self.history_file(id);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file.map_err(failed("read", &path))?,
        };
        let lines = BufReader::new(file).lines();
        let item = |line: io::Result<String>| Ok(serde_json::from_str(&line?)?);
        lines.map(item).collect::<io::Result<_>>().map_err(failed("read", &path))
    }

    /// The history files. Their names begin with the capsule's id.
    pub fn histories(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut files = self.files()?;
        files.retain(|path| name(path).ends_with(HISTORY));
        Ok(files)
    }

    /// Reads all capsules. Fails only if the folder cannot be listed.
    pub fn list(&self) -> Result<CapsuleList, StoreError> {
        let mut listed = CapsuleList::default();
        for path in self.files()? {
            let Some(id) = name(&path).strip_suffix(CAPSULE) else { continue };
            match self.read(id) {
                Ok(capsule) => listed.capsules.extend(capsule),
                Err(error) => listed.unread.push(error),
            }
        }
        listed.capsules.sort_by(|one, other| other.at.cmp(&one.at).then(other.id.cmp(&one.id)));
        Ok(listed)
    }

    /// Removes the oldest capsules beyond [`KEPT`] and files that a crash left incomplete. `latest` is kept whatever
    /// the clock says.
    pub fn prune(&self, latest: &str) -> Result<(), StoreError> {
        for path in self.files()? {
            if is_unfinished(&path) {
                self.disk.remove(&path).map_err(failed("remove", &path))?;
            }
        }
        let mut capsules = self.list()?.capsules;
        capsules.sort_by_key(|capsule| Reverse((capsule.id == latest, capsule.at)));
        for capsule in capsules.iter().skip(KEPT) {
            for path in [self.history_file(&capsule.id), self.file(&capsule.id)] {
                match self.disk.remove(&path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    removed => removed.map_err(failed("remove", &path))?,
                }
            }
        }
        Ok(())
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}{CAPSULE}"))
    }

    fn history_file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}{HISTORY}"))
    }

    fn files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed("list", &self.folder))?,
        };
        let path = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.path());
        entries.map(path).collect::<io::Result<_>>().map_err(failed("list", &self.folder))
    }

    /// Replaces a file atomically.
    fn replace_file(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let put = || {
            self.disk.create_folder(&self.folder)?;
            self.disk.replace_durably(&self.folder, path, bytes)
        };
        put().map_err(failed("write", path))
    }
}

const CAPSULE: &str = ".json";
const HISTORY: &str = ".history.jsonl";

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn parse(path: &Path, bytes: &[u8]) -> Result<StoredCapsule, StoreError> {
    #[derive(Deserialize)]
    struct CapsuleVersion {
        v: u16,
    }
    serde_json::from_slice::<CapsuleVersion>(bytes)
        .and_then(|version| match version.v {
            0..=FORMAT => serde_json::from_slice(bytes).map(Ok),
            found => Ok(Err(StoreError::NewerFormat {
                path: path.to_owned(),
                line: 1,
                found,
                known: FORMAT,
            })),
        })
        .map_err(|error| failed("read", path)(error.into()))?
}
