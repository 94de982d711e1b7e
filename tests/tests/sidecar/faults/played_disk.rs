//! A simulated disk that fails on demand and tracks what would survive a power cut: synced files in synced folders. A
//! failed sync discards its data, although reads still return it.

use rawr_storage::store::{DiskFaults, DiskOperation, OperationOutcome};
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

/// Long enough for another client's request.
const DELAY: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatedFault {
    /// The operation is slow, and another client sends a request meanwhile.
    Delay,
    /// Only this operation fails.
    Once(i32),
    /// A part of the data is written before it fails.
    Short(WrittenPart, i32),
    /// This and later operations fail, until the disk works again.
    Lasting(i32),
    /// The process dies; the machine and its page cache live on.
    Crash(WrittenPart),
    /// The machine loses power.
    PowerCut(WrittenPart),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenPart {
    Nothing,
    OneByte,
    Half,
    AllButOne,
    All,
}

impl WrittenPart {
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
pub struct SimulatedDisk {
    state: Mutex<SimulatedDiskState>,
    visitor: Mutex<Option<Visitor>>,
}

/// A callback for delayed operations, which signals when it is done.
#[derive(Debug)]
pub struct Visitor {
    pub call: Sender<()>,
    pub done: Receiver<()>,
}

#[derive(Debug, Default)]
struct SimulatedDiskState {
    met: usize,
    plan: BTreeMap<usize, SimulatedFault>,
    /// The operations that were struck, in order.
    struck: Vec<String>,
    lasting: Option<i32>,
    dead: bool,
    power_cut: bool,
    files: BTreeMap<PathBuf, SimulatedFile>,
    /// Files and folders whose folder was not synced since they were created.
    loose: BTreeSet<PathBuf>,
    /// Prepared files, and whether each was synced.
    prepared: BTreeMap<PathBuf, (Vec<u8>, bool)>,
}

#[derive(Debug, Default)]
struct SimulatedFile {
    durable: Vec<u8>,
    later: Vec<SimulatedChange>,
}

#[derive(Debug)]
enum SimulatedChange {
    Bytes { at: usize, bytes: Vec<u8> },
    Length(usize),
}

impl SimulatedDisk {
    /// Strikes at the operations with these numbers, counted from 0.
    pub fn striking(plan: impl IntoIterator<Item = (usize, SimulatedFault)>) -> Self {
        let plan = plan.into_iter().collect();
        Self {
            state: Mutex::new(SimulatedDiskState { plan, ..SimulatedDiskState::default() }),
            ..Self::default()
        }
    }

    pub fn will_delay(&self) -> bool {
        self.state().plan.values().any(|fault| *fault == SimulatedFault::Delay)
    }

    pub fn expect(&self, visitor: Visitor) {
        *self.visitor.lock().unwrap_or_else(PoisonError::into_inner) = Some(visitor);
    }

    /// The visitor may wait for a lock that the delayed operation holds, and continues after it.
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

    /// Strikes after this many more operations.
    pub fn strike_after(&self, more: usize, fault: SimulatedFault) {
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

    /// Starts again after a crash. After a power cut, the files contain only what was durable.
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

    fn state(&self) -> MutexGuard<'_, SimulatedDiskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskFaults for SimulatedDisk {
    fn meet(&self, operation: &DiskOperation<'_>, path: &Path) -> OperationOutcome {
        let fault = self.state().count(operation, path);
        if fault == Some(SimulatedFault::Delay) {
            self.delay();
        }
        self.state().meet(operation, path, fault)
    }
}

impl SimulatedDiskState {
    /// The fault of the next operation.
    fn count(&mut self, operation: &DiskOperation<'_>, path: &Path) -> Option<SimulatedFault> {
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

    fn meet(
        &mut self,
        operation: &DiskOperation<'_>,
        path: &Path,
        fault: Option<SimulatedFault>,
    ) -> OperationOutcome {
        if self.dead {
            return OperationOutcome::Fails { after: 0, errno: EIO };
        }
        let whole = operation.bytes().len();
        let fate = match fault {
            Some(SimulatedFault::Once(errno)) => Some((0, errno)),
            Some(SimulatedFault::Short(part, errno)) => Some((part.of(whole), errno)),
            Some(SimulatedFault::Crash(part)) => {
                self.dead = true;
                Some((part.of(whole), EIO))
            }
            Some(SimulatedFault::PowerCut(part)) => {
                (self.dead, self.power_cut) = (true, true);
                Some((part.of(whole), EIO))
            }
            Some(SimulatedFault::Lasting(errno)) => {
                self.lasting = Some(errno);
                refuses(errno, operation, path).then_some((0, errno))
            }
            Some(SimulatedFault::Delay) | None => {
                self.lasting.filter(|errno| refuses(*errno, operation, path)).map(|e| (0, e))
            }
        };
        self.take_note(operation, path, fate);
        match (fate, operation) {
            (Some((after, errno)), _) => OperationOutcome::Fails { after, errno },
            (None, DiskOperation::Sync | DiskOperation::SyncFolder) => OperationOutcome::Pretended,
            (None, _) => OperationOutcome::Passes,
        }
    }

    fn take_note(
        &mut self,
        operation: &DiskOperation<'_>,
        path: &Path,
        failed: Option<(usize, i32)>,
    ) {
        let whole = operation.bytes().len();
        let got_down = failed.map_or(whole, |(after, _)| after);
        let is_done = failed.is_none();
        match operation {
            DiskOperation::CreateFolder if is_done => {
                let missing = path.ancestors().take_while(|part| !part.exists());
                self.loose.extend(missing.map(Path::to_owned));
            }
            DiskOperation::Open if is_done && !path.exists() => {
                self.loose.insert(path.to_owned());
            }
            DiskOperation::Append(bytes) if got_down > 0 => {
                let at = fs::metadata(path).map_or(0, |file| file.len() as usize);
                self.change(
                    path,
                    SimulatedChange::Bytes { at, bytes: bytes[..got_down].to_owned() },
                );
            }
            DiskOperation::Rewrite { at, bytes } if got_down > 0 => {
                let bytes = bytes[..got_down].to_owned();
                self.change(path, SimulatedChange::Bytes { at: *at as usize, bytes });
            }
            DiskOperation::SetLength(length) if is_done => {
                self.change(path, SimulatedChange::Length(*length as usize));
            }
            DiskOperation::Prepare(bytes) if is_done => {
                self.prepared.insert(path.to_owned(), (bytes.to_vec(), false));
            }
            DiskOperation::Sync if self.prepared.contains_key(path) => {
                self.prepared.entry(path.to_owned()).and_modify(|(_, synced)| *synced = is_done);
            }
            // A sync that was never started discards nothing.
            DiskOperation::Sync if !self.dead => {
                self.files.entry(path.to_owned()).or_default().synced(is_done);
            }
            DiskOperation::SyncFolder if is_done => {
                self.loose.retain(|part| part.parent() != Some(path));
            }
            DiskOperation::Rename if is_done => {
                let prepared = self.prepared.remove(path).filter(|(_, synced)| *synced);
                let durable = prepared.map(|(bytes, _)| bytes).unwrap_or_default();
                self.files.insert(path.to_owned(), SimulatedFile { durable, later: Vec::new() });
            }
            DiskOperation::Remove if is_done => drop(self.files.remove(path)),
            _ => {}
        }
    }

    fn change(&mut self, path: &Path, change: SimulatedChange) {
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
        // Innermost first.
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

impl SimulatedFile {
    fn synced(&mut self, well: bool) {
        for change in std::mem::take(&mut self.later) {
            match change {
                SimulatedChange::Length(length) => self.durable.resize(length, 0),
                SimulatedChange::Bytes { at, bytes } => {
                    let end = at + bytes.len();
                    self.durable.resize(self.durable.len().max(end), 0);
                    // Discarded and never written again.
                    if well {
                        self.durable[at..end].copy_from_slice(&bytes);
                    }
                }
            }
        }
    }
}

/// Whether a disk in this state refuses the operation.
fn refuses(errno: i32, operation: &DiskOperation<'_>, path: &Path) -> bool {
    use DiskOperation::{
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

const fn name(operation: &DiskOperation<'_>) -> &'static str {
    match operation {
        DiskOperation::CreateFolder => "making",
        DiskOperation::Open => "opening",
        DiskOperation::Lock => "locking",
        DiskOperation::Unlock => "unlocking",
        DiskOperation::Append(_) => "appending to",
        DiskOperation::Rewrite { .. } => "rewriting",
        DiskOperation::SetLength(_) => "cutting",
        DiskOperation::Sync => "syncing",
        DiskOperation::SyncFolder => "syncing the folder",
        DiskOperation::Prepare(_) => "preparing",
        DiskOperation::Rename => "renaming",
        DiskOperation::Remove => "removing",
    }
}
