//! How long after a prompt was saved the sidecar reports that it is in force, compared with a bare watcher in this
//! process that reads a saved file, alternating. The clock starts when the save begins, because the report may arrive
//! before the writer's call returns.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use rawr_core::units::stable_hash;
use serde_json::Value;

use crate::{
    home::{BenchHome, scratch_dir},
    report::{BARE_SAVE, Cells},
    servers::Subject,
    stats::quantile,
};

pub const SERVERS: &[&str] = &[BARE_SAVE, "rawr"];
const TRIAL: u64 = 5;
const PATIENCE: Duration = Duration::from_secs(10);

/// Saves as an editor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    InPlace,
    Renamed,
}

impl Way {
    pub const ALL: [Self; 2] = [Self::InPlace, Self::Renamed];

    pub const fn name(self) -> &'static str {
        match self {
            Self::InPlace => "in place",
            Self::Renamed => "renamed over",
        }
    }

    fn save(self, path: &Path, text: &str) -> Result<()> {
        match self {
            Self::InPlace => fs::write(path, text)?,
            Self::Renamed => {
                let new = path.with_extension("new");
                fs::write(&new, text)?;
                fs::rename(new, path)?;
            }
        }
        Ok(())
    }
}

/// One sample of this many saves.
pub fn saves(subject: &Subject, way: Way, count: u64) -> Result<Vec<Cells>> {
    let home = BenchHome::new()?;
    let file = home.path().join("auto-compact").join("compact.md");
    let mut sidecar = subject.watcher(&home)?;
    let bare = PlainSaves::new()?;
    let body = "Keep what was decided, and why it was decided.\n".repeat(40);
    let mut micros = [Vec::new(), Vec::new()];
    for turn in 0..TRIAL + count {
        // People do not save in step with anything.
        thread::sleep(Duration::from_millis(3 + turn * 7 % 11));
        let text = format!("Summary {turn}.\n{body}");
        let heard = bare.save(way, &text)?;
        let start = Instant::now();
        way.save(&file, &text)?;
        let told: Value = serde_json::from_slice(sidecar.reply()?)?;
        let elapsed = start.elapsed().as_secs_f64() * 1e6;
        let version = format!("{:016x}", stable_hash(&text));
        if told["method"] != "rawr/prompt/changed" || told["params"]["version"] != version {
            bail!("it was told something else: {told}");
        }
        if turn >= TRIAL {
            micros[0].push(heard);
            micros[1].push(elapsed);
        }
    }
    Ok(micros.iter_mut().map(|micros| cells(micros)).collect())
}

fn cells(micros: &mut [f64]) -> Cells {
    vec![("p50Us", quantile(micros, 0.5)), ("p99Us", quantile(micros, 0.99))]
}

struct PlainSaves {
    file: PathBuf,
    heard: Receiver<usize>,
    _watcher: RecommendedWatcher,
    _folder: tempfile::TempDir,
}

impl PlainSaves {
    fn new() -> Result<Self> {
        let folder = scratch_dir()?;
        let file = folder.path().join("bare.md");
        let (sender, heard) = channel();
        let of = file.clone();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let saved =
                    event.is_ok_and(|event| is_save(event.kind) && event.paths.contains(&of));
                if saved && let Ok(text) = fs::read(&of) {
                    // The receiver is gone with the sample.
                    let _ = sender.send(text.len());
                }
            })?;
        watcher.watch(folder.path(), RecursiveMode::NonRecursive)?;
        Ok(Self { file, heard, _watcher: watcher, _folder: folder })
    }

    fn save(&self, way: Way, text: &str) -> Result<f64> {
        let start = Instant::now();
        way.save(&self.file, text)?;
        let length = self.heard.recv_timeout(PATIENCE).context("the bare watcher heard nothing")?;
        let elapsed = start.elapsed().as_secs_f64() * 1e6;
        ensure!(length == text.len(), "the bare watcher read {length} of {} bytes", text.len());
        Ok(elapsed)
    }
}

/// The file is complete, and no other event reports this change.
fn is_save(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Modify(ModifyKind::Name(RenameMode::To))
    )
}
