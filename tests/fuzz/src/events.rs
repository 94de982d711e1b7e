//! A thread's log: every line is a record, is reported, or ends the reading. The records fold to the same state each
//! time and are read again as they were written.

use rawr_core::Thread;
use rawr_core::event::Record;
use rawr_core::units::ThreadId;
use rawr_storage::store::{LogDamage, StoreError, replay};
use std::io::Write;
use std::path::Path;

pub fn run(data: &[u8]) {
    let whole = data.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let Some(records) = read(data, whole) else { return };
    let fold = || {
        let mut thread = Thread::new(ThreadId::new("t"));
        records.iter().for_each(|record| thread.apply(record));
        thread
    };
    let thread = fold();
    assert_eq!(thread, fold(), "folded twice");
    let cached = serde_json::to_vec(&thread).unwrap();
    let from_cache: Thread = serde_json::from_slice(&cached).unwrap();
    assert_eq!(from_cache, thread, "from the cache");
    let mut written = Vec::new();
    for record in &records {
        serde_json::to_writer(&mut written, record).unwrap();
        written.push(b'\n');
    }
    assert_eq!(read(&written, written.len()), Some(records), "written again");
}

/// `None` where a newer release has written.
fn read(data: &[u8], whole: usize) -> Option<Vec<Record>> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(data).unwrap();
    let mut records = Vec::new();
    let found = match replay(&mut file, Path::new("log"), 0, 1, |record| records.push(record)) {
        Ok(found) => found,
        Err(StoreError::NewerFormat { .. }) => return None,
        Err(error) => panic!("{error}"),
    };
    let lines = data[..whole].iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!(found.lines(), lines, "a line was passed over");
    assert_eq!(found.records, records.len() as u64);
    assert_eq!(found.bytes, whole as u64);
    let torn = found.damage.iter().any(|damage| matches!(damage, LogDamage::TornTail { .. }));
    assert_eq!(torn, whole < data.len(), "the torn end");
    Some(records)
}
