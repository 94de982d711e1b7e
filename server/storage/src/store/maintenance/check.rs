//! Reads all files of a thread and reports what is wrong. Changes nothing, and may check a running thread.

use super::StoredThreads;
use super::finding::{Finding, FindingKind};
use super::lines::{everything_in, lines};
use crate::redact::is_redacted;
use crate::store::archive::ThreadFolder;
use crate::store::cache::{self, FoldedBy};
use crate::store::held;
use crate::store::{
    BadDecision, DECISIONS, EVENTS, LineError, LogDamage, QUARANTINE, Replay, STATE, StoreError,
    failed, is_unfinished, parse, read_decision, replay,
};
use rawr_core::{Event, Record, Thread};
use serde::Deserialize;
use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// The result of checking one thread.
#[derive(Debug)]
pub struct CheckedThread {
    /// The thread and its folder.
    pub place: ThreadFolder,
    /// The number of readable events.
    pub events: u64,
    /// The number of readable decisions.
    pub decisions: u64,
    /// The size of all files, in bytes.
    pub bytes: u64,
    /// What was found, in the order of the checks.
    pub findings: Vec<Finding>,
    /// The folded state, if all events could be read.
    pub(super) thread: Option<Thread>,
}

impl CheckedThread {
    /// Whether any finding means that something is wrong.
    pub fn is_wrong(&self) -> bool {
        self.findings.iter().any(Finding::is_wrong)
    }
}

impl StoredThreads {
    /// Checks the folders that all threads share.
    pub fn check_folders(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for path in self.store.shared() {
            match path.symlink_metadata() {
                Ok(metadata) => findings.extend(permissions(&path, &metadata)),
                Err(error) => findings.push(unreachable(&failed("look at", &path)(error))),
            }
        }
        match self.store.unexpected_files() {
            Ok(unexpected_files) => findings.extend(unexpected_files.iter().map(|path| {
                Finding::new(
                    FindingKind::OddFile,
                    path,
                    "not a thread; rawr does not create such files and ignores it",
                )
            })),
            Err(error) => findings.push(unreachable(&error)),
        }
        findings
    }

    /// Checks all files of a thread.
    pub fn check(&self, place: &ThreadFolder) -> CheckedThread {
        self.look_through(
            place,
            &[
                ThreadCheck::files,
                ThreadCheck::neighbours,
                ThreadCheck::events,
                ThreadCheck::decisions,
                ThreadCheck::quarantine,
            ],
        )
    }

    /// For a caller that holds the exclusive lock, which would find its own lock otherwise.
    pub(super) fn check_alone(&self, place: &ThreadFolder) -> CheckedThread {
        self.look_through(place, &[ThreadCheck::files, ThreadCheck::events, ThreadCheck::decisions])
    }

    fn look_through(&self, place: &ThreadFolder, steps: &[CheckStep]) -> CheckedThread {
        let mut look = ThreadCheck {
            place: place.clone(),
            checked: CheckedThread {
                place: place.clone(),
                events: 0,
                decisions: 0,
                bytes: 0,
                findings: Vec::new(),
                thread: None,
            },
        };
        for step in steps {
            if let Err(error) = step(&mut look, self) {
                look.report(unreachable(&error));
            }
        }
        look.checked
    }
}

/// One part of a check.
type CheckStep = fn(&mut ThreadCheck, &StoredThreads) -> Result<(), StoreError>;

struct ThreadCheck {
    place: ThreadFolder,
    checked: CheckedThread,
}

impl ThreadCheck {
    fn report(&mut self, finding: Finding) {
        self.checked.findings.push(finding);
    }

    fn files(&mut self, state: &StoredThreads) -> Result<(), StoreError> {
        for (path, metadata) in everything_in(&self.place.folder)? {
            if metadata.is_file() {
                self.checked.bytes += metadata.len();
            }
            if metadata.is_symlink() {
                self.report(Finding::new(
                    FindingKind::OddFile,
                    &path,
                    "a symbolic link; rawr does not create or follow links",
                ));
                continue;
            }
            if let Some(finding) = permissions(&path, &metadata) {
                self.report(finding);
            }
            let is_temporary = is_leftover(&path);
            if is_temporary && state.store.is_in_use(&self.place)? {
                continue;
            }
            if is_temporary {
                self.report(Finding::new(
                    FindingKind::Leftover,
                    &path,
                    "left by a process that died",
                ));
            } else if path.extension().is_some_and(|extension| extension == "bak") {
                self.report(Finding::new(
                    FindingKind::Backup,
                    &path,
                    "kept by an earlier repair; it can be deleted",
                ));
            }
        }
        Ok(())
    }

    fn neighbours(&mut self, state: &StoredThreads) -> Result<(), StoreError> {
        if let Some(holder) = state.store.owner_in(&self.place) {
            let message = format!("owned by {holder}");
            self.report(Finding::new(FindingKind::Owned, &self.place.folder, message));
        } else if state.store.is_in_use(&self.place)? {
            self.report(Finding::new(
                FindingKind::Owned,
                &self.place.folder,
                "open for reading in another process",
            ));
        }
        let twice = self.place.archived && state.store.folder(&self.place.thread).is_dir();
        if twice {
            let message =
                "archived, but a thread of the same name is in use, so this one cannot be restored";
            self.report(Finding::new(FindingKind::ThereTwice, &self.place.folder, message));
        }
        Ok(())
    }

    fn events(&mut self, state: &StoredThreads) -> Result<(), StoreError> {
        let path = self.place.folder.join(EVENTS);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.report(Finding::new(
                    FindingKind::NoEvents,
                    &path,
                    "there is no log, so this is not a thread",
                ));
                return Ok(());
            }
            file => file.map_err(failed("open", &path))?,
        };
        // Load the cache first, because it may cover lines that are appended while the log is read.
        let cached = cache::load(&self.place.folder, &mut file);
        let (mut thread, mut ids) = (Thread::new(self.place.thread.clone()), SeenIds::default());
        let mut doubled = 0_usize;
        let mut fold = |record: Record| {
            if thread.has_folded(record.id) {
                doubled += 1;
                return;
            }
            ids.note(&record.event);
            thread.apply(&record);
        };
        let replayed = replay(&mut file, &path, 0, 1, &mut fold)
            .and_then(|replay| settled(&mut file, &path, replay, &mut fold));
        let (replay, stuck) = match replayed {
            Err(StoreError::NewerFormat { line, found, known, .. }) => {
                let message = format!("format {found}; this release reads up to {known}");
                self.report(Finding::new(FindingKind::NewerFormat, &path, message).at(line));
                return Ok(());
            }
            replayed => replayed?,
        };
        self.checked.events = replay.records;
        if stuck {
            let message = "another process holds this log's lock, so its end cannot be checked";
            self.report(Finding::new(FindingKind::LockStuck, &path, message));
        } else {
            self.damage(&path, &mut file, &replay)?;
        }
        if doubled > 0 {
            let message = format!("lines that are there twice and count once: {doubled}");
            self.report(Finding::new(FindingKind::LineTwice, &path, message));
        }
        for (what, id) in ids.twice {
            let message = format!("duplicate {what} {id}");
            self.report(Finding::new(FindingKind::IdTwice, &path, message));
        }
        self.open_ends(&path, &thread);
        self.held(state, &thread)?;
        self.cache(cached, &mut file, &path, &thread)?;
        self.checked.thread = Some(thread);
        Ok(())
    }

    fn damage(&mut self, path: &Path, file: &mut File, replay: &Replay) -> Result<(), StoreError> {
        for damage in &replay.damage {
            let finding = match damage {
                LogDamage::Unreadable { line, reason, .. } => {
                    Finding::new(FindingKind::UnreadableLine, path, reason.as_str()).at(*line)
                }
                LogDamage::TornTail { line, bytes } => {
                    let mut tail = Vec::new();
                    file.seek(SeekFrom::Start(replay.bytes)).map_err(failed("read", path))?;
                    file.read_to_end(&mut tail).map_err(failed("read", path))?;
                    match parse(&tail) {
                        Ok(_) => Finding::new(
                            FindingKind::TornTail,
                            path,
                            "complete, but the newline is missing",
                        ),
                        Err(LineError::Newer(found)) => {
                            Finding::new(FindingKind::NewerFormat, path, format!("format {found}"))
                        }
                        Err(LineError::Broken(_)) => {
                            let message =
                                format!("incomplete and never acknowledged: {bytes} bytes");
                            Finding::new(FindingKind::TornTail, path, message)
                        }
                    }
                    .at(*line)
                }
            };
            self.report(finding);
        }
        Ok(())
    }

    fn open_ends(&mut self, path: &Path, thread: &Thread) {
        let pending: Vec<_> = thread
            .pending_actions()
            .map(|issued| format!("{} {}", issued.kind.name(), issued.id))
            .collect();
        if !pending.is_empty() {
            let message =
                format!("actions that the host has not reported as done: {}", pending.join(", "));
            self.report(Finding::new(FindingKind::Pending, path, message));
        }
        if !thread.held.is_empty() {
            let message = format!("messages held for delivery: {}", thread.held.len());
            self.report(Finding::new(FindingKind::Waiting, path, message));
        }
    }

    /// A message that was redacted must have a file with its original text while it is held.
    fn held(&mut self, state: &StoredThreads, thread: &Thread) -> Result<(), StoreError> {
        let folder = &self.place.folder;
        let waiting: HashSet<_> = held::of_waiting(thread, folder, is_redacted).collect();
        let files: HashSet<_> = held::files(folder)?.into_iter().collect();
        // The files are written before their messages are recorded and removed after.
        if waiting == files || state.store.is_in_use(&self.place)? {
            return Ok(());
        }
        for file in files.difference(&waiting) {
            let message = "the text of a message that is no longer held";
            self.report(Finding::new(FindingKind::Leftover, file, message));
        }
        for file in waiting.difference(&files) {
            let message = "missing: the held message will be delivered redacted";
            self.report(Finding::new(FindingKind::Waiting, file, message));
        }
        Ok(())
    }

    /// The cache must lead to the same state as the log.
    fn cache(
        &mut self,
        cached: Option<cache::StateCache>,
        file: &mut File,
        log: &Path,
        thread: &Thread,
    ) -> Result<(), StoreError> {
        let path = self.place.folder.join(STATE);
        if let Some(cached) = cached {
            if folded_on(&cached, file, log)? != *thread && self.is_unfit(&cached, file, log)? {
                let message = "it does not match the log, which is right";
                self.report(Finding::new(FindingKind::CacheUnfit, &path, message));
            }
            return Ok(());
        }
        #[derive(Deserialize)]
        struct FileTimes {
            folded_by: Option<FoldedBy>,
        }
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            text => text.map_err(failed("read", &path))?,
        };
        let finding = match serde_json::from_slice::<FileTimes>(&text) {
            Ok(FileTimes { folded_by }) if folded_by != Some(FoldedBy::PRESENT) => {
                let message = "from another build; it is rebuilt when the thread is opened";
                Finding::new(FindingKind::CacheOld, &path, message)
            }
            // Written after the log was read.
            Ok(_) if cache::load(&self.place.folder, file).is_some() => return Ok(()),
            Ok(_) => Finding::new(
                FindingKind::CacheUnfit,
                &path,
                "it belongs to another or a longer log",
            ),
            Err(error) => Finding::new(FindingKind::CacheUnfit, &path, error.to_string()),
        };
        self.report(finding);
        Ok(())
    }

    /// Checks again with the lock, because a process may have written between reading the log and the cache.
    fn is_unfit(
        &self,
        cached: &cache::StateCache,
        file: &mut File,
        log: &Path,
    ) -> Result<bool, StoreError> {
        if !lock_to_read(file, log)? {
            return Ok(false);
        }
        let mut thread = Thread::new(self.place.thread.clone());
        let from_log = replay(file, log, 0, 1, |record| thread.apply(&record));
        let from_cache = folded_on(cached, file, log);
        file.unlock().map_err(failed("unlock", log))?;
        from_log?;
        Ok(from_cache? != thread)
    }

    fn decisions(&mut self, state: &StoredThreads) -> Result<(), StoreError> {
        let path = self.place.folder.join(DECISIONS);
        let mut known = HashSet::new();
        for line in lines(&path)?.into_iter().flatten() {
            let line = line?;
            let finding = match read_decision(&line.bytes) {
                // Decisions are written without a lock: this one may be in progress.
                _ if !line.whole && state.store.is_in_use(&self.place)? => continue,
                Ok(_) if !line.whole => Finding::new(
                    FindingKind::TornTail,
                    &path,
                    "complete, but the newline is missing",
                ),
                Ok(decision) => {
                    self.checked.decisions += 1;
                    if known.insert(decision.id.clone()) {
                        continue;
                    }
                    // The log had lost its end, or the line is there twice.
                    let message = format!("a second record of decision {}", decision.id);
                    Finding::new(FindingKind::LineTwice, &path, message)
                }
                Err(BadDecision::Newer(found)) => {
                    Finding::new(FindingKind::NewerFormat, &path, format!("format {found}"))
                }
                Err(BadDecision::Broken(error)) if line.whole => {
                    Finding::new(FindingKind::UnreadableLine, &path, error.to_string())
                }
                Err(BadDecision::Broken(_)) => {
                    Finding::new(FindingKind::TornTail, &path, "incomplete")
                }
            };
            self.report(finding.at(line.number));
        }
        Ok(())
    }

    fn quarantine(&mut self, _: &StoredThreads) -> Result<(), StoreError> {
        let path = self.place.folder.join(QUARANTINE);
        let mut count = 0_u64;
        for line in lines(&path)?.into_iter().flatten() {
            line?;
            count += 1;
        }
        if count > 0 {
            let message = format!("unreadable lines in quarantine: {count}");
            self.report(Finding::new(FindingKind::Quarantined, &path, message));
        }
        Ok(())
    }
}

/// The state that the cache and the rest of the log lead to.
fn folded_on(
    cached: &cache::StateCache,
    file: &mut File,
    log: &Path,
) -> Result<Thread, StoreError> {
    let mut state = cached.thread.clone();
    replay(file, log, cached.bytes, cached.lines + 1, |record| state.apply(&record))?;
    Ok(state)
}

/// An incomplete last line may be a write in progress, which the lock tells. Returns true if the lock cannot be
/// obtained.
fn settled(
    file: &mut File,
    path: &Path,
    seen: Replay,
    fold: impl FnMut(Record),
) -> Result<(Replay, bool), StoreError> {
    if !matches!(seen.damage.last(), Some(LogDamage::TornTail { .. })) {
        return Ok((seen, false));
    }
    if !lock_to_read(file, path)? {
        return Ok((seen, true));
    }
    let rest = replay(file, path, seen.bytes, seen.lines() + 1, fold);
    file.unlock().map_err(failed("unlock", path))?;
    let rest = rest?;
    let mut damage = seen.damage;
    damage.pop();
    damage.extend(rest.damage);
    Ok((Replay { records: seen.records + rest.records, bytes: rest.bytes, damage }, false))
}

fn lock_to_read(file: &File, path: &Path) -> Result<bool, StoreError> {
    const LOOKS: u32 = 600;
    const ONE_LOOK: Duration = Duration::from_millis(5);
    for _ in 0..LOOKS {
        match file.try_lock_shared() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(ONE_LOOK),
            Err(TryLockError::Error(error)) => return Err(failed("lock", path)(error)),
        }
    }
    Ok(false)
}

/// The ids that rawr assigns.
#[derive(Default)]
struct SeenIds {
    known: HashSet<(&'static str, String)>,
    twice: Vec<(&'static str, String)>,
}

impl SeenIds {
    fn note(&mut self, event: &Event) {
        let (what, id) = match event {
            Event::SequenceStarted(started) => ("sequence", started.sequence.to_string()),
            Event::ActionIssued(issued) => ("action", issued.action.to_string()),
            Event::Assessed(assessed) => ("decision", assessed.decision.to_string()),
            Event::GuardSet(set) => ("guard", set.guard.to_string()),
            _ => return,
        };
        if !self.known.insert((what, id.clone())) {
            self.twice.push((what, id));
        }
    }
}

/// Files and folders are accessible only by their owner.
pub(super) const fn right_mode(is_folder: bool) -> u32 {
    if is_folder { 0o700 } else { 0o600 }
}

fn permissions(path: &Path, metadata: &fs::Metadata) -> Option<Finding> {
    let (mode, right) = (metadata.permissions().mode() & 0o777, right_mode(metadata.is_dir()));
    let message = format!("mode {mode:04o} instead of {right:04o}");
    (mode != right).then(|| Finding::new(FindingKind::Permissions, path, message))
}

/// A temporary file that a crash left.
pub(super) fn is_leftover(path: &Path) -> bool {
    is_unfinished(path) && path.is_file()
}

fn unreachable(error: &StoreError) -> Finding {
    Finding::new(FindingKind::Unreachable, error.path().unwrap_or(Path::new("")), error.to_string())
}
