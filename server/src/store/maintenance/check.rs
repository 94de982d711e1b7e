//! Reads everything of a thread and says what is wrong with it. Changes nothing, and may look at a thread that is running.

use super::StoredThreads;
use super::finding::{Finding, Kind};
use super::lines::{everything_in, lines};
use crate::redact::is_redacted;
use crate::store::archive::ThreadFolder;
use crate::store::cache::{self, FoldedBy};
use crate::store::held;
use crate::store::{
    BadDecision, DECISIONS, Damage, EVENTS, QUARANTINE, Replay, STATE, StoreError, Unreadable,
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

/// One thread, looked through.
#[derive(Debug)]
pub struct Checked {
    pub place: ThreadFolder,
    pub events: u64,
    pub decisions: u64,
    pub bytes: u64,
    pub findings: Vec<Finding>,
    /// What the events come to, where all of them could be read.
    pub(super) thread: Option<Thread>,
}

impl Checked {
    pub fn is_wrong(&self) -> bool {
        self.findings.iter().any(Finding::is_wrong)
    }
}

impl StoredThreads {
    /// What all threads share: the folders above them.
    pub fn check_folders(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for path in self.store.shared() {
            match path.symlink_metadata() {
                Ok(metadata) => findings.extend(permissions(&path, &metadata)),
                Err(error) => findings.push(unreachable(&failed("look at", &path)(error))),
            }
        }
        match self.store.strangers() {
            Ok(strangers) => findings.extend(strangers.iter().map(|path| {
                Finding::new(Kind::OddFile, path, "no thread; rawr makes none, and leaves it alone")
            })),
            Err(error) => findings.push(unreachable(&error)),
        }
        findings
    }

    pub fn check(&self, place: &ThreadFolder) -> Checked {
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

    /// For who holds the thread alone, and would only find himself.
    pub(super) fn check_alone(&self, place: &ThreadFolder) -> Checked {
        self.look_through(place, &[ThreadCheck::files, ThreadCheck::events, ThreadCheck::decisions])
    }

    fn look_through(&self, place: &ThreadFolder, steps: &[Step]) -> Checked {
        let mut look = ThreadCheck {
            place: place.clone(),
            checked: Checked {
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
                look.tell(unreachable(&error));
            }
        }
        look.checked
    }
}

/// One part of a check.
type Step = fn(&mut ThreadCheck, &StoredThreads) -> Result<(), StoreError>;

struct ThreadCheck {
    place: ThreadFolder,
    checked: Checked,
}

impl ThreadCheck {
    fn tell(&mut self, finding: Finding) {
        self.checked.findings.push(finding);
    }

    fn files(&mut self, state: &StoredThreads) -> Result<(), StoreError> {
        for (path, metadata) in everything_in(&self.place.folder)? {
            if metadata.is_file() {
                self.checked.bytes += metadata.len();
            }
            if metadata.is_symlink() {
                self.tell(Finding::new(
                    Kind::OddFile,
                    &path,
                    "a link; rawr makes none, and does not follow it",
                ));
                continue;
            }
            if let Some(finding) = permissions(&path, &metadata) {
                self.tell(finding);
            }
            let is_temporary = is_leftover(&path);
            if is_temporary && state.store.is_in_use(&self.place)? {
                continue;
            }
            if is_temporary {
                self.tell(Finding::new(
                    Kind::Leftover,
                    &path,
                    "left behind by a process that died",
                ));
            } else if path.extension().is_some_and(|extension| extension == "bak") {
                self.tell(Finding::new(
                    Kind::Backup,
                    &path,
                    "kept by an earlier repair; delete it when you like",
                ));
            }
        }
        Ok(())
    }

    fn neighbours(&mut self, state: &StoredThreads) -> Result<(), StoreError> {
        if let Some(holder) = state.store.owner_in(&self.place) {
            let message = format!("owned by {holder}");
            self.tell(Finding::new(Kind::Owned, &self.place.folder, message));
        } else if state.store.is_in_use(&self.place)? {
            self.tell(Finding::new(
                Kind::Owned,
                &self.place.folder,
                "open in another process, to look on",
            ));
        }
        let twice = self.place.archived && state.store.folder(&self.place.thread).is_dir();
        if twice {
            let message =
                "archived, and a thread of the same name is in use: this one cannot come back";
            self.tell(Finding::new(Kind::ThereTwice, &self.place.folder, message));
        }
        Ok(())
    }

    fn events(&mut self, state: &StoredThreads) -> Result<(), StoreError> {
        let path = self.place.folder.join(EVENTS);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.tell(Finding::new(
                    Kind::NoEvents,
                    &path,
                    "there is no log, so this is no thread",
                ));
                return Ok(());
            }
            file => file.map_err(failed("open", &path))?,
        };
        // The cache first: it may cover a part of the log that comes to be while the log is read.
        let cached = cache::load(&self.place.folder, &mut file);
        let (mut thread, mut ids) = (Thread::new(self.place.thread.clone()), Ids::default());
        let mut fold = |record: Record| {
            ids.note(&record.event);
            thread.apply(&record);
        };
        let replayed = replay(&mut file, &path, 0, 1, &mut fold)
            .and_then(|replay| settled(&mut file, &path, replay, &mut fold));
        let (replay, stuck) = match replayed {
            Err(StoreError::NewerFormat { line, found, known, .. }) => {
                let message = format!("format {found}; this release reads up to {known}");
                self.tell(Finding::new(Kind::NewerFormat, &path, message).at(line));
                return Ok(());
            }
            replayed => replayed?,
        };
        self.checked.events = replay.records;
        if stuck {
            let message = "another process has held this log's lock for too long, so its end cannot be checked";
            self.tell(Finding::new(Kind::LockStuck, &path, message));
        } else {
            self.damage(&path, &mut file, &replay)?;
        }
        for (what, id) in ids.twice {
            let message = format!("{what} {id} is given twice");
            self.tell(Finding::new(Kind::IdTwice, &path, message));
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
                Damage::Unreadable { line, reason, .. } => {
                    Finding::new(Kind::UnreadableLine, path, reason.as_str()).at(*line)
                }
                Damage::TornTail { line, bytes } => {
                    let mut tail = Vec::new();
                    file.seek(SeekFrom::Start(replay.bytes)).map_err(failed("read", path))?;
                    file.read_to_end(&mut tail).map_err(failed("read", path))?;
                    match parse(&tail) {
                        Ok(_) => Finding::new(
                            Kind::TornTail,
                            path,
                            "whole, but its end of line is missing",
                        ),
                        Err(Unreadable::Newer(found)) => {
                            Finding::new(Kind::NewerFormat, path, format!("format {found}"))
                        }
                        Err(Unreadable::Broken(_)) => {
                            let message = format!(
                                "not written to its end, never acknowledged: {bytes} bytes"
                            );
                            Finding::new(Kind::TornTail, path, message)
                        }
                    }
                    .at(*line)
                }
            };
            self.tell(finding);
        }
        Ok(())
    }

    fn open_ends(&mut self, path: &Path, thread: &Thread) {
        let pending: Vec<_> = thread
            .pending_actions()
            .map(|issued| format!("{} {}", issued.kind.name(), issued.id))
            .collect();
        if !pending.is_empty() {
            let message = format!("asked for and not reported as done: {}", pending.join(", "));
            self.tell(Finding::new(Kind::Pending, path, message));
        }
        if !thread.held.is_empty() {
            let message = format!("messages that wait for delivery: {}", thread.held.len());
            self.tell(Finding::new(Kind::Waiting, path, message));
        }
    }

    /// A message that lost its secrets has a file with its text for as long as it waits.
    fn held(&mut self, state: &StoredThreads, thread: &Thread) -> Result<(), StoreError> {
        let folder = &self.place.folder;
        let waiting: HashSet<_> = held::of_waiting(thread, folder, is_redacted).collect();
        let files: HashSet<_> = held::files(folder)?.into_iter().collect();
        // They come before their messages and go after them.
        if waiting == files || state.store.is_in_use(&self.place)? {
            return Ok(());
        }
        for file in files.difference(&waiting) {
            let message = "the text of a message that waits no longer";
            self.tell(Finding::new(Kind::Leftover, file, message));
        }
        for file in waiting.difference(&files) {
            let message = "gone: the message that waits is delivered without its secrets";
            self.tell(Finding::new(Kind::Waiting, file, message));
        }
        Ok(())
    }

    /// The cache must lead to the state that the log leads to.
    fn cache(
        &mut self,
        cached: Option<cache::Cache>,
        file: &mut File,
        log: &Path,
        thread: &Thread,
    ) -> Result<(), StoreError> {
        let path = self.place.folder.join(STATE);
        if let Some(cached) = cached {
            if folded_on(&cached, file, log)? != *thread && self.is_unfit(&cached, file, log)? {
                let message = "it says other than the log, which is right";
                self.tell(Finding::new(Kind::CacheUnfit, &path, message));
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
                let message = "of another build; it is written again when the thread is opened";
                Finding::new(Kind::CacheOld, &path, message)
            }
            // Written since the log was read.
            Ok(_) if cache::load(&self.place.folder, file).is_some() => return Ok(()),
            Ok(_) => {
                Finding::new(Kind::CacheUnfit, &path, "it is of another log, or of a longer one")
            }
            Err(error) => Finding::new(Kind::CacheUnfit, &path, error.to_string()),
        };
        self.tell(finding);
        Ok(())
    }

    /// Somebody may have written between two looks: with the lock nobody does.
    fn is_unfit(
        &self,
        cached: &cache::Cache,
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
                // Decisions are written without a lock: this one may be under way.
                _ if !line.whole && state.store.is_in_use(&self.place)? => continue,
                Ok(_) if !line.whole => {
                    Finding::new(Kind::TornTail, &path, "whole, but its end of line is missing")
                }
                Ok(decision) => {
                    self.checked.decisions += 1;
                    if known.insert(decision.id.clone()) {
                        continue;
                    }
                    let message = format!("decision {} is given twice", decision.id);
                    Finding::new(Kind::IdTwice, &path, message)
                }
                Err(BadDecision::Newer(found)) => {
                    Finding::new(Kind::NewerFormat, &path, format!("format {found}"))
                }
                Err(BadDecision::Broken(error)) if line.whole => {
                    Finding::new(Kind::UnreadableLine, &path, error.to_string())
                }
                Err(BadDecision::Broken(_)) => {
                    Finding::new(Kind::TornTail, &path, "not written to its end")
                }
            };
            self.tell(finding.at(line.number));
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
            let message = format!("unreadable lines that were set aside: {count}");
            self.tell(Finding::new(Kind::Quarantined, &path, message));
        }
        Ok(())
    }
}

/// The state that the cache leads to.
fn folded_on(cached: &cache::Cache, file: &mut File, log: &Path) -> Result<Thread, StoreError> {
    let mut state = cached.thread.clone();
    replay(file, log, cached.bytes, cached.lines + 1, |record| state.apply(&record))?;
    Ok(state)
}

/// A log that seems torn may be one that somebody is writing. Then its lock tells; true where it cannot be had.
fn settled(
    file: &mut File,
    path: &Path,
    seen: Replay,
    fold: impl FnMut(Record),
) -> Result<(Replay, bool), StoreError> {
    if !matches!(seen.damage.last(), Some(Damage::TornTail { .. })) {
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

/// The ids that rawr gives.
#[derive(Default)]
struct Ids {
    known: HashSet<(&'static str, String)>,
    twice: Vec<(&'static str, String)>,
}

impl Ids {
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

/// Files and folders are their owner's alone.
pub(super) const fn right_mode(is_folder: bool) -> u32 {
    if is_folder { 0o700 } else { 0o600 }
}

fn permissions(path: &Path, metadata: &fs::Metadata) -> Option<Finding> {
    let (mode, right) = (metadata.permissions().mode() & 0o777, right_mode(metadata.is_dir()));
    let message = format!("mode {mode:04o} instead of {right:04o}");
    (mode != right).then(|| Finding::new(Kind::Permissions, path, message))
}

/// What a crash left that should have taken another file's place.
pub(super) fn is_leftover(path: &Path) -> bool {
    is_unfinished(path) && path.is_file()
}

fn unreachable(error: &StoreError) -> Finding {
    Finding::new(Kind::Unreachable, error.path().unwrap_or(Path::new("")), error.to_string())
}
