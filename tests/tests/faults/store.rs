//! The store alone: what a sync that failed means, and many threads that share one.

use crate::played_disk::{EIO, ENOSPC, Fault, Part, PlayedDisk};
use rawr_core::Record;
use rawr_core::event::{BranchChanged, ThreadClosed};
use rawr_core::units::{ThreadId, Timestamp};
use rawr_server::store::{Disk, Fate, Faults, Operation, Store, ThreadLog, commit_all};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tempfile::TempDir;

const THREAD: &str = "stored";

fn said(what: &str) -> Record {
    Record::new(Timestamp(1), BranchChanged { branch: what.to_owned() }.into())
}

/// Opens a thread and stores its first event.
fn open(disk: Disk, home: &TempDir, thread: &str) -> ThreadLog {
    let (mut log, _) = Store::on(disk, home.path()).open(&ThreadId::new(thread)).unwrap();
    push(&mut log, "first", true);
    log.commit().unwrap();
    log
}

fn push(log: &mut ThreadLog, what: &str, durable: bool) {
    log.begin(|_| {}).unwrap();
    log.push(&said(what), durable).unwrap();
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let branch = |line: &[u8]| {
        let line: serde_json::Value = serde_json::from_slice(line).unwrap();
        line["event"]["branch_changed"]["branch"].as_str().unwrap().to_owned()
    };
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(branch).collect()
}

#[test]
fn what_a_failed_sync_threw_away_is_written_again_before_the_next_is_believed() {
    let (disk, home) = (Arc::new(PlayedDisk::default()), TempDir::new().unwrap());
    let faults: Arc<PlayedDisk> = Arc::clone(&disk);
    let mut log = open(Disk::with_faults(faults), &home, THREAD);
    for seen in ["seen 1", "seen 2"] {
        push(&mut log, seen, false);
        log.commit().unwrap();
    }
    push(&mut log, "refused", true);
    // The write comes next, then the sync.
    disk.strike_after(1, Fault::Once(EIO));
    let error = log.commit().unwrap_err();
    assert!(error.to_string().starts_with("cannot sync"), "{error}");
    let path = log.folder().join("events.jsonl");
    // Others may have written behind it.
    let (mut other, _) = Store::new(home.path()).open(&ThreadId::new(THREAD)).unwrap();
    push(&mut other, "another's", false);
    other.commit().unwrap();
    push(&mut log, "last", true);
    log.commit().unwrap();
    let file = lines(&std::fs::read(&path).unwrap());
    assert_eq!(file, ["first", "seen 1", "seen 2", "another's", "last"]);
    let durable = disk.durable(&path);
    let whole = |what: &str| durable.windows(what.len()).any(|part| part == what.as_bytes());
    for what in ["first", "seen 1", "seen 2", "last"] {
        assert!(whole(what), "{what} is not on the disk: {}", String::from_utf8_lossy(&durable));
    }
}

#[test]
fn a_batch_that_cannot_even_be_cut_off_is_nobodys_truth() {
    let (disk, home) = (Arc::new(PlayedDisk::default()), TempDir::new().unwrap());
    let faults: Arc<PlayedDisk> = Arc::clone(&disk);
    let mut log = open(Disk::with_faults(faults), &home, THREAD);
    push(&mut log, "refused", true);
    disk.strike_after(0, Fault::Short(Part::All, ENOSPC));
    disk.strike_after(1, Fault::Once(EIO));
    log.commit().unwrap_err();
    let path = log.folder().join("events.jsonl");
    assert_eq!(lines(&std::fs::read(&path).unwrap()), ["first", "refused"]);
    disk.strike_after(1, Fault::Once(EIO));
    let (_, replay) = log.reread(&ThreadId::new(THREAD)).unwrap();
    assert_eq!(replay.records, 1, "read without what failed");
    push(&mut log, "last", true);
    log.commit().unwrap();
    assert_eq!(lines(&std::fs::read(&path).unwrap()), ["first", "last"]);
}

#[test]
fn a_decision_that_was_not_written_to_its_end_spoils_no_other() {
    let (disk, home) = (Arc::new(PlayedDisk::default()), TempDir::new().unwrap());
    let faults: Arc<PlayedDisk> = Arc::clone(&disk);
    let mut log = open(Disk::with_faults(faults), &home, THREAD);
    log.decisions_mut().append(b"1\n").unwrap();
    disk.strike_after(0, Fault::Short(Part::OneByte, ENOSPC));
    log.decisions_mut().append(b"222\n").unwrap_err();
    log.decisions_mut().append(b"3\n").unwrap();
    log.decisions_mut().append(b"4\n").unwrap();
    assert_eq!(log.decisions().read().unwrap(), b"1\n2\n3\n4\n");
}

/// Lets no sync end before so many have begun.
#[derive(Debug)]
struct AllAtOnce {
    begun: Mutex<usize>,
    changed: Condvar,
    wanted: usize,
}

/// Only a hang takes this long.
const LIMIT: Duration = Duration::from_secs(30);

impl Faults for AllAtOnce {
    fn meet(&self, operation: &Operation<'_>, path: &Path) -> Fate {
        if *operation != Operation::Sync {
            return Fate::Passes;
        }
        let mut begun = self.begun.lock().unwrap();
        *begun += 1;
        self.changed.notify_all();
        let waits = |begun: &mut usize| *begun < self.wanted;
        let (_begun, limit) = self.changed.wait_timeout_while(begun, LIMIT, waits).unwrap();
        assert!(!limit.timed_out(), "nobody else syncs while {} is synced", path.display());
        Fate::Pretended
    }
}

#[test]
fn threads_are_synced_side_by_side_and_only_those_that_need_it() {
    const THREADS: [&str; 5] = ["a", "b", "c", "d", "e"];
    let home = TempDir::new().unwrap();
    let faults = AllAtOnce { begun: Mutex::new(0), changed: Condvar::new(), wanted: 4 };
    let faults = Arc::new(faults);
    let store = Store::on(Disk::with_faults(Arc::clone(&faults) as Arc<dyn Faults>), home.path());
    let mut logs =
        THREADS.map(|thread| store.open(&ThreadId::new(thread)).map(|(log, _)| log).unwrap());
    for (at, log) in logs.iter_mut().enumerate() {
        push(log, "said", at > 0);
    }
    let mut batch: Vec<_> = logs.iter_mut().collect();
    let results = commit_all(&mut batch);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(*faults.begun.lock().unwrap(), 4);
}

#[test]
fn what_one_thread_fails_at_is_its_own() {
    let (disk, home) = (Arc::new(PlayedDisk::default()), TempDir::new().unwrap());
    let faults: Arc<PlayedDisk> = Arc::clone(&disk);
    let faulty = open(Disk::with_faults(faults), &home, "faulty");
    let well = open(Disk::default(), &home, "well");
    let mut logs = [well, faulty];
    for log in &mut logs {
        log.begin(|_| {}).unwrap();
        log.push(&Record::new(Timestamp(2), ThreadClosed {}.into()), true).unwrap();
    }
    disk.strike_after(1, Fault::Once(EIO));
    let results = commit_all(&mut logs.iter_mut().collect::<Vec<_>>());
    assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false]);
    let stored = |log: &ThreadLog| {
        let text = std::fs::read_to_string(log.folder().join("events.jsonl")).unwrap();
        text.lines().count()
    };
    assert_eq!((stored(&logs[0]), stored(&logs[1])), (2, 1));
}
