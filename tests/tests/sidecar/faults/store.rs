//! The store alone: failed syncs and incomplete lines.

use crate::faults::played_disk::{EIO, ENOSPC, SimulatedDisk, SimulatedFault, WrittenPart};
use rawr_core::Record;
use rawr_core::event::{BranchChanged, FORMAT};
use rawr_core::units::{ThreadId, Timestamp};
use rawr_storage::store::{Disk, Store, ThreadLog};
use std::sync::Arc;
use tempfile::TempDir;

const THREAD: &str = "stored";

fn said(what: &str) -> Record {
    let event = BranchChanged {
        branch: what.to_owned(),
        boundaries: rawr_core::boundary::Boundaries::NONE,
    }
    .into();
    Record { v: FORMAT, id: None, thread: None, at: Timestamp(1), event }
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
fn data_of_a_failed_sync_is_written_again_before_the_next_sync() {
    let (disk, home) = (Arc::new(SimulatedDisk::default()), TempDir::new().unwrap());
    let faults: Arc<SimulatedDisk> = Arc::clone(&disk);
    let mut log = open(Disk::with_faults(faults), &home, THREAD);
    for seen in ["seen 1", "seen 2"] {
        push(&mut log, seen, false);
        log.commit().unwrap();
    }
    push(&mut log, "refused", true);
    // The write comes next, then the sync.
    disk.strike_after(1, SimulatedFault::Once(EIO));
    let error = log.commit().unwrap_err();
    assert!(error.to_string().starts_with("cannot sync"), "{error}");
    let path = log.folder().join("events.jsonl");
    // Other processes may have appended behind it.
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
fn a_failed_batch_that_cannot_be_removed_is_ignored() {
    let (disk, home) = (Arc::new(SimulatedDisk::default()), TempDir::new().unwrap());
    let faults: Arc<SimulatedDisk> = Arc::clone(&disk);
    let mut log = open(Disk::with_faults(faults), &home, THREAD);
    push(&mut log, "refused", true);
    disk.strike_after(0, SimulatedFault::Short(WrittenPart::All, ENOSPC));
    disk.strike_after(1, SimulatedFault::Once(EIO));
    log.commit().unwrap_err();
    let path = log.folder().join("events.jsonl");
    assert_eq!(lines(&std::fs::read(&path).unwrap()), ["first", "refused"]);
    disk.strike_after(1, SimulatedFault::Once(EIO));
    let (_, replay) = log.reread(&ThreadId::new(THREAD)).unwrap();
    assert_eq!(replay.records, 1, "read without the failed batch");
    push(&mut log, "last", true);
    log.commit().unwrap();
    assert_eq!(lines(&std::fs::read(&path).unwrap()), ["first", "last"]);
}

#[test]
fn an_incomplete_decision_does_not_affect_others() {
    let (disk, home) = (Arc::new(SimulatedDisk::default()), TempDir::new().unwrap());
    let faults: Arc<SimulatedDisk> = Arc::clone(&disk);
    let store = Store::on(Disk::with_faults(faults), home.path());
    store.open(&ThreadId::new(THREAD)).unwrap();
    let mut decisions = store.decisions(&ThreadId::new(THREAD));
    decisions.append(b"1\n").unwrap();
    disk.strike_after(0, SimulatedFault::Short(WrittenPart::OneByte, ENOSPC));
    decisions.append(b"222\n").unwrap_err();
    decisions.append(b"3\n").unwrap();
    decisions.append(b"4\n").unwrap();
    let file = store.folder(&ThreadId::new(THREAD)).join("decisions.jsonl");
    assert_eq!(std::fs::read(file).unwrap(), b"1\n2\n3\n4\n");
}

/// After a crash, the cache would not match the log.
#[test]
fn a_state_ahead_of_the_log_is_not_cached() {
    let home = TempDir::new().unwrap();
    let (mut log, (mut thread, _)) = Store::new(home.path()).open(&ThreadId::new(THREAD)).unwrap();
    push(&mut log, "first", true);
    thread.apply(&said("first"));
    log.commit().unwrap();
    push(&mut log, "second", true);
    thread.apply(&said("second"));
    let cache = log.folder().join("state.json");
    log.save_cache(&thread).unwrap();
    assert!(!cache.exists(), "the batch is not stored yet");
    log.commit().unwrap();
    log.save_cache(&thread).unwrap();
    assert!(cache.exists());
}

#[test]
fn a_list_reads_without_a_lock_and_caches_long_replays() {
    let home = TempDir::new().unwrap();
    let store = Store::new(home.path());
    let id = ThreadId::new(THREAD);
    let (mut log, _) = store.open(&id).unwrap();
    for _ in 0..4200 {
        push(&mut log, "again", false);
    }
    log.commit().unwrap();
    // Another process is writing a batch.
    log.begin(|_| {}).unwrap();
    let cache = log.folder().join("state.json");
    assert!(!cache.exists());
    let read = store.glance(&id).unwrap();
    assert!(cache.exists());
    assert_eq!(store.glance(&id).unwrap(), read, "from the cache");
    drop(log);
    assert_eq!(store.open(&id).unwrap().1.0, read);
}
