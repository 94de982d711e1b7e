//! Puts right what a check found, where that can be done without losing a readable line. A thread that anybody has open
//! only gets its permissions back, and one of a newer format only those, too.

use super::StoredThreads;
use super::check::{is_leftover, right_mode};
use super::finding::{Finding, Kind};
use super::lines::{everything_in, lines};
use crate::store::archive::{Hold, ThreadFolder};
use crate::store::held;
use crate::store::{
    BadDecision, DECISION_FORMAT, DECISIONS, Damage, Disk, EVENTS, STATE, StoreError, ThreadLog,
    Unreadable, failed, parse, read_decision, sync_folder, unfinished,
};
use rawr_core::event::FORMAT;
use serde::Serialize;
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What became of one thread.
#[derive(Debug)]
pub struct Repaired {
    pub done: Vec<Done>,
    /// Who has the thread open, where that was in the way.
    pub taken_by: Option<String>,
    /// What is still to be said of it.
    pub left: Vec<Finding>,
}

/// One thing that was put right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Done {
    pub kind: Kind,
    pub file: PathBuf,
    pub message: String,
}

impl Done {
    fn new(kind: Kind, file: &Path, message: impl Into<String>) -> Self {
        Self { kind, file: file.to_owned(), message: message.into() }
    }
}

impl StoredThreads {
    pub fn repair_folders(&self) -> Result<Vec<Done>, StoreError> {
        let mut done = Vec::new();
        for folder in self.store.shared() {
            let metadata = folder.symlink_metadata().map_err(failed("look at", &folder))?;
            done.extend(make_private(&folder, &metadata)?);
        }
        Ok(done)
    }

    pub fn repair(&self, place: &ThreadFolder, now: SystemTime) -> Result<Repaired, StoreError> {
        let mut done = Vec::new();
        for (path, metadata) in everything_in(&place.folder)? {
            done.extend(make_private(&path, &metadata)?);
        }
        let found = self.check(place);
        let is_newer = found.findings.iter().any(|finding| finding.kind == Kind::NewerFormat);
        let to_do = |finding: &Finding| finding.kind.is_repairable();
        if is_newer || !found.findings.iter().any(to_do) {
            return Ok(Repaired { done, taken_by: None, left: found.findings });
        }
        let alone = match self.store.alone(place)? {
            Hold::Alone(alone) => alone,
            Hold::Taken { by } => {
                return Ok(Repaired { done, taken_by: Some(by), left: found.findings });
            }
        };
        done.extend(remove_unfit(place, &found.findings)?);
        done.extend(repair_events(&place.folder, now)?);
        done.extend(repair_decisions(&place.folder, now)?);
        let is_empty = found.findings.iter().any(|finding| finding.kind == Kind::NoEvents)
            && self.store.remove_empty(place)?;
        drop(alone);
        if is_empty {
            done.push(Done::new(Kind::NoEvents, &place.folder, "removed: it was empty"));
            return Ok(Repaired { done, taken_by: None, left: Vec::new() });
        }
        Ok(Repaired { done, taken_by: None, left: self.check(place).findings })
    }
}

fn make_private(path: &Path, metadata: &fs::Metadata) -> Result<Option<Done>, StoreError> {
    let (mode, right) = (metadata.permissions().mode() & 0o777, right_mode(metadata.is_dir()));
    // What a link leads to is not ours.
    if metadata.is_symlink() || mode == right {
        return Ok(None);
    }
    fs::set_permissions(path, Permissions::from_mode(right)).map_err(failed("protect", path))?;
    let message = format!("mode {mode:04o} is {right:04o} now");
    Ok(Some(Done::new(Kind::Permissions, path, message)))
}

/// Caches that do not fit, and what dead processes left behind.
fn remove_unfit(place: &ThreadFolder, findings: &[Finding]) -> Result<Vec<Done>, StoreError> {
    let mut done = Vec::new();
    for finding in findings {
        let path = &finding.file;
        let is_left = || is_leftover(path) || held::is_original(path);
        if finding.kind == Kind::CacheUnfit || (finding.kind == Kind::Leftover && is_left()) {
            remove(path)?;
            done.push(Done::new(finding.kind, path, "removed"));
        }
    }
    if !done.is_empty() {
        sync_folder(&place.folder)?;
    }
    Ok(done)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(failed("remove", path)),
    }
}

/// What is to become of one line.
enum Fate {
    Keep,
    /// It is the last one, and was never written to its end.
    Cut,
    SetAside(String),
    Newer {
        found: u16,
        known: u16,
    },
}

fn repair_events(folder: &Path, now: SystemTime) -> Result<Vec<Done>, StoreError> {
    let path = folder.join(EVENTS);
    let fate = |bytes: &[u8], whole: bool| match parse(bytes) {
        Ok(_) => Fate::Keep,
        Err(Unreadable::Newer(found)) => Fate::Newer { found, known: FORMAT },
        Err(Unreadable::Broken(_)) if !whole => Fate::Cut,
        Err(Unreadable::Broken(reason)) => Fate::SetAside(reason),
    };
    let Some(sorted) = Sorted::of(&path, fate)? else { return Ok(Vec::new()) };
    // Whatever becomes of the log, its cache may not outlive it.
    if !sorted.aside.is_empty() {
        ThreadLog::quarantine(&Disk::default(), folder, &sorted.aside)?;
        remove(&folder.join(STATE))?;
    }
    sorted.repair(now)
}

fn repair_decisions(folder: &Path, now: SystemTime) -> Result<Vec<Done>, StoreError> {
    let path = folder.join(DECISIONS);
    let fate = |bytes: &[u8], whole: bool| match read_decision(bytes) {
        Ok(_) => Fate::Keep,
        Err(BadDecision::Newer(found)) => Fate::Newer { found, known: DECISION_FORMAT },
        Err(BadDecision::Broken(_)) if !whole => Fate::Cut,
        Err(BadDecision::Broken(error)) => Fate::SetAside(error.to_string()),
    };
    Sorted::of(&path, fate)?.map_or_else(|| Ok(Vec::new()), |sorted| sorted.repair(now))
}

/// A file of lines, with what is to become of them.
struct Sorted {
    path: PathBuf,
    kept: u64,
    aside: Vec<Damage>,
    /// The last line, where it lacks its end: how many bytes before it, and whether it is kept.
    tail: Option<(u64, bool)>,
}

impl Sorted {
    fn of(path: &Path, fate: impl Fn(&[u8], bool) -> Fate) -> Result<Option<Self>, StoreError> {
        let Some(lines) = lines(path)? else { return Ok(None) };
        let mut sorted = Self { path: path.to_owned(), kept: 0, aside: Vec::new(), tail: None };
        let mut before = 0;
        for line in lines {
            let line = line?;
            let fate = fate(&line.bytes, line.whole);
            if !line.whole {
                sorted.tail = Some((before, matches!(fate, Fate::Keep)));
            }
            before += line.bytes.len() as u64 + 1;
            match fate {
                Fate::Keep => sorted.kept += 1,
                Fate::Cut => {}
                Fate::SetAside(reason) => sorted.aside.push(Damage::Unreadable {
                    line: line.number,
                    reason,
                    text: String::from_utf8_lossy(&line.bytes).into_owned(),
                }),
                // Whoever checked has seen none: somebody wrote it since.
                Fate::Newer { found, known } => {
                    let (path, line) = (path.to_owned(), line.number);
                    return Err(StoreError::NewerFormat { path, line, found, known });
                }
            }
        }
        Ok(Some(sorted))
    }

    fn repair(&self, now: SystemTime) -> Result<Vec<Done>, StoreError> {
        let mut done = Vec::new();
        if !self.aside.is_empty() {
            let kept = self.without_unreadable(now)?;
            let message = format!(
                "{} unreadable lines were taken out, {} kept; as it was, it is {}",
                self.aside.len(),
                self.kept,
                kept.file_name().unwrap_or_default().display()
            );
            done.push(Done::new(Kind::UnreadableLine, &self.path, message));
        } else if let Some((before, is_kept)) = self.tail {
            self.mend_tail(before, is_kept)?;
        }
        done.extend(self.tail.map(|(_, is_kept)| {
            let what = if is_kept { "its end of line was added" } else { "cut off" };
            Done::new(Kind::TornTail, &self.path, format!("the last line: {what}"))
        }));
        Ok(done)
    }

    /// As opening the thread would.
    fn mend_tail(&self, before: u64, is_kept: bool) -> Result<(), StoreError> {
        let mend = || {
            let mut file = OpenOptions::new().write(true).open(&self.path)?;
            if is_kept {
                file.seek(SeekFrom::End(0))?;
                file.write_all(b"\n")?;
            } else {
                file.set_len(before)?;
            }
            file.sync_all()
        };
        mend().map_err(failed("repair", &self.path))
    }

    /// The new file is whole and synced before it takes the place of the old one, of which a copy is kept. A crash leaves
    /// the one or the other.
    fn without_unreadable(&self, now: SystemTime) -> Result<PathBuf, StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let unreadable: HashSet<u64> = self
            .aside
            .iter()
            .filter_map(|damage| match damage {
                Damage::Unreadable { line, .. } => Some(*line),
                Damage::TornTail { .. } => None,
            })
            .collect();
        let mut new = unfinished(folder).map_err(failed("write beside", &self.path))?;
        let mut written = 0;
        for line in lines(&self.path)?.into_iter().flatten() {
            let line = line?;
            let is_cut = !line.whole && self.tail.is_some_and(|(_, is_kept)| !is_kept);
            if !is_cut && !unreadable.contains(&line.number) {
                new.write_all(&line.bytes)
                    .and_then(|()| new.write_all(b"\n"))
                    .map_err(failed("write beside", &self.path))?;
                written += 1;
            }
        }
        if written != self.kept {
            let error = io::Error::other("it changed while it was being read");
            return Err(failed("repair", &self.path)(error));
        }
        new.as_file().sync_all().map_err(failed("sync beside", &self.path))?;
        let kept = keep_copy(&self.path, now)?;
        new.persist(&self.path).map_err(|error| failed("replace", &self.path)(error.error))?;
        sync_folder(folder)?;
        Ok(kept)
    }
}

/// `events.jsonl.<Unix milliseconds>.bak`, never over another.
fn keep_copy(path: &Path, now: SystemTime) -> Result<PathBuf, StoreError> {
    let time = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{time}.bak"));
    let kept = PathBuf::from(name);
    let copy = || {
        let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&kept)?;
        io::copy(&mut File::open(path)?, &mut copy)?;
        copy.sync_all()
    };
    copy().map_err(failed("write", &kept))?;
    Ok(kept)
}
