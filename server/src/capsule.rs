//! Capsules on disk: what is kept of a thread before a compaction, so that a person can go back to it. This room reads
//! and writes files; what goes into one is for the registry to say.
//!
//! `<thread>/capsules/<capsule>.json` is one capsule, and `<capsule>.history.jsonl` beside it the history of a host that
//! keeps none itself, one item a line. The newest [`KEPT`] stay.

use crate::store::{Disk, StoreError, failed, is_unfinished};
use rawr_core::event::{HostInfo, Packet, Repo, Trigger};
use rawr_core::signal::plan::PlanStep;
use rawr_core::thread::Directive;
use rawr_core::units::{InputId, SequenceId, ThreadId, Timestamp, Tokens, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// How many a thread keeps.
pub const KEPT: usize = 20;

/// Raised when an older release could no longer read what a newer one writes.
const FORMAT: u16 = 1;

/// A capsule as it is stored: a change here is a change of the format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capsule {
    v: u16,
    pub id: String,
    pub thread: ThreadId,
    pub at: Timestamp,
    #[serde(flatten)]
    pub kept: Kept,
}

/// What a capsule holds of its thread. What looks like a key or a token has been taken out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub trigger: Trigger,
    /// `None`: the host compacted by itself.
    pub sequence: Option<SequenceId>,
    pub host: HostInfo,
    pub cwd: String,
    pub model: Option<String>,
    pub window: Option<Tokens>,
    /// Tokens in the context.
    pub context: Option<Tokens>,
    pub transcript: Option<Transcript>,
    /// The newest turn that had ended.
    pub last_turn: Option<TurnId>,
    /// The turn that ran.
    pub inside_turn: Option<TurnId>,
    pub turns_ended: u32,
    pub packet: Option<Packet>,
    pub scratch: Option<Scratch>,
    #[serde(default)]
    pub plan: Vec<PlanStep>,
    #[serde(default)]
    pub directives: Vec<Directive>,
    pub repo: Option<Repo>,
    pub repo_seen_at: Option<Timestamp>,
    #[serde(default)]
    pub held: Vec<Held>,
}

/// The host's own record, and how far it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    pub path: String,
    /// `None`: it was not there.
    pub bytes: Option<u64>,
}

/// The agent's notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scratch {
    /// Relative to the thread's folder.
    pub file: String,
    pub hash: String,
    /// `None`: they are long.
    pub content: Option<String>,
}

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub id: InputId,
    pub text: String,
}

impl Capsule {
    pub fn new(id: String, thread: ThreadId, at: Timestamp, kept: Kept) -> Self {
        Self { v: FORMAT, id, thread, at, kept }
    }
}

/// One item of a host's history, in the host's own shape.
pub type Item = Map<String, Value>;

/// What is in the folder: the readable ones, and why others are not.
#[derive(Debug, Default)]
pub struct Listed {
    /// The newest first.
    pub capsules: Vec<Capsule>,
    pub unread: Vec<StoreError>,
}

/// The capsules of one thread.
#[derive(Debug)]
pub struct Capsules {
    folder: PathBuf,
    disk: Disk,
}

impl Capsules {
    pub fn of(thread_folder: &Path) -> Self {
        Self::on(Disk::default(), thread_folder)
    }

    pub fn on(disk: Disk, thread_folder: &Path) -> Self {
        Self { folder: thread_folder.join("capsules"), disk }
    }

    pub fn has(&self, id: &str) -> bool {
        self.file(id).is_file()
    }

    pub fn has_history(&self, id: &str) -> bool {
        self.history_file(id).is_file()
    }

    /// On the disk itself when this returns; one of this id is replaced.
    pub fn write(&self, capsule: &Capsule) -> Result<(), StoreError> {
        let path = self.file(&capsule.id);
        let mut bytes = serde_json::to_vec_pretty(capsule)
            .map_err(|error| failed("write", &path)(error.into()))?;
        bytes.push(b'\n');
        self.put(&path, &bytes)
    }

    /// Puts a history beside its capsule.
    pub fn attach(&self, id: &str, history: &[Item]) -> Result<(), StoreError> {
        let (path, mut bytes) = (self.history_file(id), Vec::new());
        for item in history {
            serde_json::to_writer(&mut bytes, item)
                .map_err(|error| failed("write", &path)(error.into()))?;
            bytes.push(b'\n');
        }
        self.put(&path, &bytes)
    }

    /// `None` where there is no such capsule.
    pub fn read(&self, id: &str) -> Result<Option<Capsule>, StoreError> {
        let path = self.file(id);
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &path)(error)),
            Ok(bytes) => parse(&path, &bytes).map(Some),
        }
    }

    /// Empty where no history was kept.
    pub fn history(&self, id: &str) -> Result<Vec<Item>, StoreError> {
        let path = self.history_file(id);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file.map_err(failed("read", &path))?,
        };
        let lines = BufReader::new(file).lines();
        let item = |line: io::Result<String>| Ok(serde_json::from_str(&line?)?);
        lines.map(item).collect::<io::Result<_>>().map_err(failed("read", &path))
    }

    /// The files of histories, each with the capsule's id.
    pub fn histories(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut files = self.files()?;
        files.retain(|path| name(path).ends_with(HISTORY));
        Ok(files)
    }

    pub fn list(&self) -> Result<Listed, StoreError> {
        let mut listed = Listed::default();
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

    /// Removes the oldest beyond [`KEPT`], and what a crash left half written. `latest` stays, whatever the clock says.
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

    /// All of a file or nothing of it.
    fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
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

fn parse(path: &Path, bytes: &[u8]) -> Result<Capsule, StoreError> {
    #[derive(Deserialize)]
    struct Version {
        v: u16,
    }
    serde_json::from_slice::<Version>(bytes)
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
