//! A disk that fails on demand and knows what of its files would outlive the machine: what was synced, and what a folder
//! that was synced leads to. A sync that fails throws away what it was for, and the files show it all the same.

use rawr_server::store::{Fate, Faults, Operation};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub const ENOSPC: i32 = 28;
pub const EROFS: i32 = 30;
pub const EIO: i32 = 5;
pub const EACCES: i32 = 13;

/// Long enough for a visitor whom nothing keeps from it.
const DELAY: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It takes its time, which somebody else has something to do in.
    Delay,
    /// This one operation.
    Once(i32),
    /// So much of what was to be written gets down first.
    Short(Part, i32),
    /// This one and all that such a disk refuses, until it is healed.
    Lasting(i32),
    /// The process is no more; the machine and its page cache are.
    Crash(Part),
    /// The machine is no more.
    PowerCut(Part),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Nothing,
    OneByte,
    Half,
    AllButOne,
    All,
}

impl Part {
    const fn of(self, whole: usize) -> usize {
        match self {
            Self::Nothing => 0,
            Self::OneByte => {
                if whole > 0 {
                    1
                } else {
                    0
                }
            }
            Self::Half => whole / 2,
            Self::AllButOne => whole.saturating_sub(1),
            Self::All => whole,
        }
    }
}

#[derive(Debug, Default)]
pub struct PlayedDisk {
    state: Mutex<State>,
    visitor: Mutex<Option<Visitor>>,
}

/// Somebody who is called when an operation is delayed, and says when he is done.
#[derive(Debug)]
pub struct Visitor {
    pub call: Sender<()>,
    pub done: Receiver<()>,
}

#[derive(Debug, Default)]
struct State {
    met: usize,
    plan: BTreeMap<usize, Fault>,
    /// What was struck, in order.
    struck: Vec<String>,
    lasting: Option<i32>,
    dead: bool,
    power_cut: bool,
    files: BTreeMap<PathBuf, File>,
    /// Files and folders that their folder has not been synced with.
    loose: BTreeSet<PathBuf>,
    /// What is to take a file's place, and whether it was synced.
    prepared: BTreeMap<PathBuf, (Vec<u8>, bool)>,
}

#[derive(Debug, Default)]
struct File {
    durable: Vec<u8>,
    later: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Bytes { at: usize, bytes: Vec<u8> },
    Length(usize),
}

impl PlayedDisk {
    /// Strikes at the operations of these numbers, counted from 0.
    pub fn striking(plan: impl IntoIterator<Item = (usize, Fault)>) -> Self {
        let plan = plan.into_iter().collect();
        Self { state: Mutex::new(State { plan, ..State::default() }), ..Self::default() }
    }

    pub fn will_delay(&self) -> bool {
        self.state().plan.values().any(|fault| *fault == Fault::Delay)
    }

    pub fn expect(&self, visitor: Visitor) {
        *self.visitor.lock().unwrap_or_else(PoisonError::into_inner) = Some(visitor);
    }

    /// He may have to wait for a lock that the delayed operation is done under: then he goes on after it.
    fn delay(&self) {
        let visitor = self.visitor.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Visitor { call, done }) = visitor
            && call.send(()).is_ok()
        {
            let _ = done.recv_timeout(DELAY);
        }
    }

    pub fn operations(&self) -> usize {
        self.state().met
    }

    /// At the operation that comes after so many more.
    pub fn strike_after(&self, more: usize, fault: Fault) {
        let mut state = self.state();
        let at = state.met + more;
        state.plan.insert(at, fault);
    }

    pub fn struck(&self) -> Vec<String> {
        self.state().struck.clone()
    }

    pub fn is_failing(&self) -> bool {
        self.state().lasting.is_some()
    }

    pub fn heal(&self) {
        self.state().lasting = None;
    }

    pub fn is_dead(&self) -> bool {
        self.state().dead
    }

    /// After a crash; after a power cut the files are what was durable.
    pub fn revive(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.power_cut) {
            state.lose_what_is_not_durable();
        }
        state.dead = false;
    }

    /// What a power cut would leave of a file.
    pub fn durable(&self, path: &Path) -> Vec<u8> {
        let state = self.state();
        if path.ancestors().any(|part| state.loose.contains(part)) {
            return Vec::new();
        }
        state.files.get(path).map(|file| file.durable.clone()).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Faults for PlayedDisk {
    fn meet(&self, operation: &Operation<'_>, path: &Path) -> Fate {
        let fault = self.state().count(operation, path);
        if fault == Some(Fault::Delay) {
            self.delay();
        }
        self.state().meet(operation, path, fault)
    }
}

impl State {
    /// What strikes the operation that comes now.
    fn count(&mut self, operation: &Operation<'_>, path: &Path) -> Option<Fault> {
        if self.dead {
            return None;
        }
        let number = self.met;
        self.met += 1;
        let fault = self.plan.remove(&number);
        if let Some(fault) = fault {
            let file = path.file_name().unwrap_or_default().display();
            self.struck
                .push(format!("{fault:?} at operation {number}, {} {file}", name(operation)));
        }
        fault
    }

    fn meet(&mut self, operation: &Operation<'_>, path: &Path, fault: Option<Fault>) -> Fate {
        if self.dead {
            return Fate::Fails { after: 0, errno: EIO };
        }
        let whole = operation.bytes().len();
        let fate = match fault {
            Some(Fault::Once(errno)) => Some((0, errno)),
            Some(Fault::Short(part, errno)) => Some((part.of(whole), errno)),
            Some(Fault::Crash(part)) => {
                self.dead = true;
                Some((part.of(whole), EIO))
            }
            Some(Fault::PowerCut(part)) => {
                (self.dead, self.power_cut) = (true, true);
                Some((part.of(whole), EIO))
            }
            Some(Fault::Lasting(errno)) => {
                self.lasting = Some(errno);
                refuses(errno, operation, path).then_some((0, errno))
            }
            Some(Fault::Delay) | None => {
                self.lasting.filter(|errno| refuses(*errno, operation, path)).map(|e| (0, e))
            }
        };
        self.take_note(operation, path, fate);
        match (fate, operation) {
            (Some((after, errno)), _) => Fate::Fails { after, errno },
            (None, Operation::Sync | Operation::SyncFolder) => Fate::Pretended,
            (None, _) => Fate::Passes,
        }
    }

    fn take_note(&mut self, operation: &Operation<'_>, path: &Path, failed: Option<(usize, i32)>) {
        let whole = operation.bytes().len();
        let got_down = failed.map_or(whole, |(after, _)| after);
        let is_done = failed.is_none();
        match operation {
            Operation::CreateFolder if is_done => {
                let missing = path.ancestors().take_while(|part| !part.exists());
                self.loose.extend(missing.map(Path::to_owned));
            }
            Operation::Open if is_done && !path.exists() => {
                self.loose.insert(path.to_owned());
            }
            Operation::Append(bytes) if got_down > 0 => {
                let at = fs::metadata(path).map_or(0, |file| file.len() as usize);
                self.change(path, Change::Bytes { at, bytes: bytes[..got_down].to_owned() });
            }
            Operation::Rewrite { at, bytes } if got_down > 0 => {
                let bytes = bytes[..got_down].to_owned();
                self.change(path, Change::Bytes { at: *at as usize, bytes });
            }
            Operation::SetLength(length) if is_done => {
                self.change(path, Change::Length(*length as usize));
            }
            Operation::Prepare(bytes) if is_done => {
                self.prepared.insert(path.to_owned(), (bytes.to_vec(), false));
            }
            Operation::Sync if self.prepared.contains_key(path) => {
                self.prepared.entry(path.to_owned()).and_modify(|(_, synced)| *synced = is_done);
            }
            // One that was never begun throws nothing away.
            Operation::Sync if !self.dead => {
                self.files.entry(path.to_owned()).or_default().synced(is_done);
            }
            Operation::SyncFolder if is_done => {
                self.loose.retain(|part| part.parent() != Some(path));
            }
            Operation::Rename if is_done => {
                let prepared = self.prepared.remove(path).filter(|(_, synced)| *synced);
                let durable = prepared.map(|(bytes, _)| bytes).unwrap_or_default();
                self.files.insert(path.to_owned(), File { durable, later: Vec::new() });
            }
            Operation::Remove if is_done => drop(self.files.remove(path)),
            _ => {}
        }
    }

    fn change(&mut self, path: &Path, change: Change) {
        self.files.entry(path.to_owned()).or_default().later.push(change);
    }

    fn lose_what_is_not_durable(&mut self) {
        for (path, file) in &mut self.files {
            file.later.clear();
            if path.exists() {
                fs::write(path, &file.durable).unwrap();
            }
        }
        let loose = std::mem::take(&mut self.loose);
        // The innermost first.
        for path in loose.iter().rev() {
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else if path.exists() {
                fs::remove_file(path).unwrap();
            }
            self.files.retain(|file, _| !file.starts_with(path));
        }
    }
}

impl File {
    fn synced(&mut self, well: bool) {
        for change in std::mem::take(&mut self.later) {
            match change {
                Change::Length(length) => self.durable.resize(length, 0),
                Change::Bytes { at, bytes } => {
                    let end = at + bytes.len();
                    self.durable.resize(self.durable.len().max(end), 0);
                    // Thrown away, and never tried again.
                    if well {
                        self.durable[at..end].copy_from_slice(&bytes);
                    }
                }
            }
        }
    }
}

/// What a disk in this state refuses.
fn refuses(errno: i32, operation: &Operation<'_>, path: &Path) -> bool {
    use Operation::{
        Append, CreateFolder, Lock, Open, Prepare, Remove, Rename, Rewrite, SetLength, Sync,
        SyncFolder, Unlock,
    };
    match (errno, operation) {
        (_, Lock | Unlock) => false,
        (EIO, _) | (ENOSPC, Append(_) | Prepare(_) | CreateFolder) => true,
        (ENOSPC, Open) => !path.exists(),
        (EROFS, Sync | SyncFolder) => false,
        (EROFS, _) | (EACCES, Open | CreateFolder | Prepare(_) | Rename | Remove) => true,
        (_, Append(_) | Rewrite { .. } | SetLength(_) | Sync | SyncFolder | Rename | Remove) => {
            false
        }
        (_, Open | CreateFolder | Prepare(_)) => false,
    }
}

const fn name(operation: &Operation<'_>) -> &'static str {
    match operation {
        Operation::CreateFolder => "making",
        Operation::Open => "opening",
        Operation::Lock => "locking",
        Operation::Unlock => "unlocking",
        Operation::Append(_) => "appending to",
        Operation::Rewrite { .. } => "rewriting",
        Operation::SetLength(_) => "cutting",
        Operation::Sync => "syncing",
        Operation::SyncFolder => "syncing the folder",
        Operation::Prepare(_) => "preparing",
        Operation::Rename => "renaming",
        Operation::Remove => "removing",
    }
}
