//! A rawr home for one measurement: configuration, shipped prompts, and the thread that the sidecar writes. It is
//! removed after the measurement and is not on a memory file system, where syncs cost nothing.

use std::{
    env, fs,
    fs::OpenOptions,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use tempfile::TempDir;

pub const THREAD: &str = "bench";
const PROMPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../prompts");
/// The defaults of a new user.
const CONFIG: &str = "[features]\nrawr_auto_compaction = true\n";

pub struct BenchHome {
    dir: TempDir,
}

impl BenchHome {
    pub fn new() -> Result<Self> {
        let dir = scratch_dir()?;
        fs::write(dir.path().join("rawr.toml"), CONFIG)?;
        let prompts = dir.path().join("auto-compact");
        fs::create_dir(&prompts)?;
        for entry in fs::read_dir(PROMPTS).into_iter().flatten() {
            let path = entry?.path();
            if let (Some("md"), Some(name)) =
                (path.extension().and_then(|it| it.to_str()), path.file_name())
            {
                fs::copy(&path, prompts.join(name))?;
            }
        }
        Ok(Self { dir })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The bytes of the thread's event log so far.
    pub fn events_len(&self) -> Result<u64> {
        Ok(fs::metadata(self.events())?.len())
    }

    /// The lines of the thread's event log so far.
    pub fn events_lines(&self) -> Result<u64> {
        let bytes = fs::read(self.events()).context("the thread has no event log")?;
        Ok(bytes.iter().filter(|byte| **byte == b'\n').count() as u64)
    }

    /// A file beside the thread's own, for writes that are compared with the sidecar's.
    pub fn bare_file(&self) -> Result<fs::File> {
        bare_file(self.path())
    }

    fn events(&self) -> PathBuf {
        self.events_of(THREAD)
    }

    /// The event log of any thread.
    pub fn events_of(&self, thread: &str) -> PathBuf {
        let thread = Path::new("rawr/auto_compaction/threads").join(thread);
        self.path().join(thread).join("events.jsonl")
    }
}

/// A folder next to the running executable, removed on drop. It is on a real disk if the build is.
pub fn scratch_dir() -> Result<TempDir> {
    let exe = env::current_exe()?;
    let beside = exe.parent().context("the executable has no folder")?;
    Ok(tempfile::Builder::new().prefix("rawr-bench-").tempdir_in(beside)?)
}

/// An append-only file in `dir`, as a log without a store around it would be opened.
pub fn bare_file(dir: &Path) -> Result<fs::File> {
    let path = dir.join("bare.jsonl");
    Ok(OpenOptions::new().append(true).create(true).open(path)?)
}
