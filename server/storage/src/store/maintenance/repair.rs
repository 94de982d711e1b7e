//! Fixes the findings of a check, if that loses no readable line. Of a thread that a process has open, and of one with
//! a newer format, only permissions are fixed.

use super::StoredThreads;
use super::check::{is_leftover, right_mode};
use super::finding::{Finding, FindingKind};
use super::lines::{everything_in, lines};
use crate::store::archive::{ExclusiveAccess, ThreadFolder};
use crate::store::held;
use crate::store::{
    BadDecision, DECISION_FORMAT, DECISIONS, Disk, EVENTS, LineError, LogDamage, STATE, StoreError,
    ThreadLog, failed, parse, read_decision, sync_folder, unfinished,
};
use rawr_core::event::FORMAT;
use serde::Serialize;
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The result for one thread.
#[derive(Debug)]
pub struct RepairReport {
    /// What was fixed.
    pub done: Vec<RepairAction>,
    /// The process that has the thread open, if that prevented the repair.
    pub taken_by: Option<String>,
    /// The findings that remain.
    pub left: Vec<Finding>,
}

/// One thing that was fixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepairAction {
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The file or folder.
    pub file: PathBuf,
    /// What was done, for people.
    pub message: String,
}

impl RepairAction {
    fn new(kind: FindingKind, file: &Path, message: impl Into<String>) -> Self {
        Self { kind, file: file.to_owned(), message: message.into() }
    }
}

impl StoredThreads {
    /// Fixes the permissions of the folders that all threads share.
    pub fn repair_folders(&self) -> Result<Vec<RepairAction>, StoreError> {
        let mut done = Vec::new();
        for folder in self.store.shared() {
            let metadata = folder.symlink_metadata().map_err(failed("look at", &folder))?;
            done.extend(make_private(&folder, &metadata)?);
        }
        Ok(done)
    }

    /// Fixes what can be fixed of a thread. `now` names the backups.
    pub fn repair(
        &self,
        place: &ThreadFolder,
        now: SystemTime,
    ) -> Result<RepairReport, StoreError> {
        let mut done = Vec::new();
        for (path, metadata) in everything_in(&place.folder)? {
            done.extend(make_private(&path, &metadata)?);
        }
        let found = self.check(place);
        let is_newer =
            found.findings.iter().any(|finding| finding.kind == FindingKind::NewerFormat);
        let to_do = |finding: &Finding| finding.kind.is_repairable();
        if is_newer || !found.findings.iter().any(to_do) {
            return Ok(RepairReport { done, taken_by: None, left: found.findings });
        }
        let alone = match self.store.alone(place)? {
            ExclusiveAccess::Alone(alone) => alone,
            ExclusiveAccess::Taken { by } => {
                return Ok(RepairReport { done, taken_by: Some(by), left: found.findings });
            }
        };
        done.extend(remove_unfit(place, &found.findings)?);
        done.extend(repair_events(&place.folder, now)?);
        done.extend(repair_decisions(&place.folder, now)?);
        let is_empty = found.findings.iter().any(|finding| finding.kind == FindingKind::NoEvents)
            && self.store.remove_empty(place)?;
        drop(alone);
        if is_empty {
            done.push(RepairAction::new(
                FindingKind::NoEvents,
                &place.folder,
                "removed because it was empty",
            ));
            return Ok(RepairReport { done, taken_by: None, left: Vec::new() });
        }
        Ok(RepairReport { done, taken_by: None, left: self.check(place).findings })
    }
}

fn make_private(path: &Path, metadata: &fs::Metadata) -> Result<Option<RepairAction>, StoreError> {
    let (mode, right) = (metadata.permissions().mode() & 0o777, right_mode(metadata.is_dir()));
    // The target of a link is not ours to change.
    if metadata.is_symlink() || mode == right {
        return Ok(None);
    }
    fs::set_permissions(path, Permissions::from_mode(right)).map_err(failed("protect", path))?;
    let message = format!("mode {mode:04o} is {right:04o} now");
    Ok(Some(RepairAction::new(FindingKind::Permissions, path, message)))
}

/// Removes caches that do not match and files that dead processes left.
fn remove_unfit(
    place: &ThreadFolder,
    findings: &[Finding],
) -> Result<Vec<RepairAction>, StoreError> {
    let mut done = Vec::new();
    for finding in findings {
        let path = &finding.file;
        let is_left = || is_leftover(path) || held::is_original(path);
        if finding.kind == FindingKind::CacheUnfit
            || (finding.kind == FindingKind::Leftover && is_left())
        {
            remove(path)?;
            done.push(RepairAction::new(finding.kind, path, "removed"));
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

/// What to do with one line.
enum LineFate {
    Keep,
    /// Incomplete, and the last line.
    Cut,
    SetAside(String),
    Newer {
        found: u16,
        known: u16,
    },
}

fn repair_events(folder: &Path, now: SystemTime) -> Result<Vec<RepairAction>, StoreError> {
    let path = folder.join(EVENTS);
    let fate = |bytes: &[u8], whole: bool| match parse(bytes) {
        Ok(_) => LineFate::Keep,
        Err(LineError::Newer(found)) => LineFate::Newer { found, known: FORMAT },
        Err(LineError::Broken(_)) if !whole => LineFate::Cut,
        Err(LineError::Broken(reason)) => LineFate::SetAside(reason),
    };
    let Some(sorted) = SortedLines::of(&path, fate)? else { return Ok(Vec::new()) };
    // The cache must not outlive a change of the log.
    if !sorted.aside.is_empty() {
        ThreadLog::quarantine(&Disk::default(), folder, &sorted.aside)?;
        remove(&folder.join(STATE))?;
    }
    sorted.repair(now)
}

fn repair_decisions(folder: &Path, now: SystemTime) -> Result<Vec<RepairAction>, StoreError> {
    let path = folder.join(DECISIONS);
    let fate = |bytes: &[u8], whole: bool| match read_decision(bytes) {
        Ok(_) => LineFate::Keep,
        Err(BadDecision::Newer(found)) => LineFate::Newer { found, known: DECISION_FORMAT },
        Err(BadDecision::Broken(_)) if !whole => LineFate::Cut,
        Err(BadDecision::Broken(error)) => LineFate::SetAside(error.to_string()),
    };
    SortedLines::of(&path, fate)?.map_or_else(|| Ok(Vec::new()), |sorted| sorted.repair(now))
}

/// The lines of a file, sorted by what to do with them.
struct SortedLines {
    path: PathBuf,
    kept: u64,
    aside: Vec<LogDamage>,
    /// The last line, if it lacks its newline: the number of bytes before it, and whether it is kept.
    tail: Option<(u64, bool)>,
}

impl SortedLines {
    fn of(path: &Path, fate: impl Fn(&[u8], bool) -> LineFate) -> Result<Option<Self>, StoreError> {
        let Some(lines) = lines(path)? else { return Ok(None) };
        let mut sorted = Self { path: path.to_owned(), kept: 0, aside: Vec::new(), tail: None };
        let mut before = 0;
        for line in lines {
            let line = line?;
            let fate = fate(&line.bytes, line.whole);
            if !line.whole {
                sorted.tail = Some((before, matches!(fate, LineFate::Keep)));
            }
            before += line.bytes.len() as u64 + 1;
            match fate {
                LineFate::Keep => sorted.kept += 1,
                LineFate::Cut => {}
                LineFate::SetAside(reason) => sorted.aside.push(LogDamage::Unreadable {
                    line: line.number,
                    reason,
                    text: String::from_utf8_lossy(&line.bytes).into_owned(),
                }),
                // Written after the check, which has seen no such line.
                LineFate::Newer { found, known } => {
                    let (path, line) = (path.to_owned(), line.number);
                    return Err(StoreError::NewerFormat { path, line, found, known });
                }
            }
        }
        Ok(Some(sorted))
    }

    fn repair(&self, now: SystemTime) -> Result<Vec<RepairAction>, StoreError> {
        let mut done = Vec::new();
        if !self.aside.is_empty() {
            let kept = self.without_unreadable(now)?;
            let message = format!(
                "removed {} unreadable lines, kept {}; the original is {}",
                self.aside.len(),
                self.kept,
                kept.file_name().unwrap_or_default().display()
            );
            done.push(RepairAction::new(FindingKind::UnreadableLine, &self.path, message));
        } else if let Some((before, is_kept)) = self.tail {
            self.fix_tail(before, is_kept)?;
        }
        done.extend(self.tail.map(|(_, is_kept)| {
            let what = if is_kept { "added the newline" } else { "cut off" };
            RepairAction::new(FindingKind::TornTail, &self.path, format!("last line: {what}"))
        }));
        Ok(done)
    }

    /// Does what opening the thread would do.
    fn fix_tail(&self, before: u64, is_kept: bool) -> Result<(), StoreError> {
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

    /// The new file is complete and synced before it replaces the old one, of which a copy is kept. A crash leaves one
    /// or the other.
    fn without_unreadable(&self, now: SystemTime) -> Result<PathBuf, StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let unreadable: HashSet<u64> = self
            .aside
            .iter()
            .filter_map(|damage| match damage {
                LogDamage::Unreadable { line, .. } => Some(*line),
                LogDamage::TornTail { .. } => None,
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
            let error = io::Error::other("it changed during the repair");
            return Err(failed("repair", &self.path)(error));
        }
        new.as_file().sync_all().map_err(failed("sync beside", &self.path))?;
        let kept = keep_copy(&self.path, now)?;
        new.persist(&self.path).map_err(|error| failed("replace", &self.path)(error.error))?;
        sync_folder(folder)?;
        Ok(kept)
    }
}

/// Copies to `events.jsonl.<Unix milliseconds>.bak` and never overwrites a copy.
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
