//! Many threads' batches at once: all are written, then those that need it are synced side by side. What one of them
//! fails at is its own.

use super::StoreError;
use super::log::{ThreadLog, Written};
use std::panic::resume_unwind;
use std::thread;

/// How many syncs the system is asked for at once; it shares its own work among them.
const AT_ONCE: usize = 16;

/// One result for each log, in their order. When it returns, every batch that is `Ok` is stored as it asked.
pub fn commit_all(logs: &mut [&mut ThreadLog]) -> Vec<Result<(), StoreError>> {
    let written: Vec<_> = logs.iter_mut().map(|log| log.write()).collect();
    let waits = |written: &Result<Written, StoreError>| matches!(written, Ok(Written::ToSync));
    let waiting: Vec<&ThreadLog> = logs
        .iter()
        .zip(&written)
        .filter(|(_, written)| waits(written))
        .map(|(log, _)| &**log)
        .collect();
    let mut synced = sync_all(&waiting).into_iter();
    let finish = |(log, written): (&mut &mut ThreadLog, _)| {
        let synced = if waits(&written) { synced.next() } else { None };
        log.finish(written, synced.unwrap_or(Ok(())))
    };
    logs.iter_mut().zip(written).map(finish).collect()
}

fn sync_all(logs: &[&ThreadLog]) -> Vec<Result<(), StoreError>> {
    let share = logs.len().div_ceil(AT_ONCE).max(1);
    thread::scope(|scope| {
        let mut shares = logs.chunks(share);
        let ours = shares.next().unwrap_or_default();
        let others: Vec<_> = shares
            .map(|logs| {
                (logs, thread::Builder::new().spawn_scoped(scope, || sync_one_by_one(logs)))
            })
            .collect();
        let mut synced = sync_one_by_one(ours);
        for (logs, thread) in others {
            synced.extend(match thread.map(thread::ScopedJoinHandle::join) {
                Ok(joined) => joined.unwrap_or_else(|panic| resume_unwind(panic)),
                // The system has no thread to spare.
                Err(_) => sync_one_by_one(logs),
            });
        }
        synced
    })
}

fn sync_one_by_one(logs: &[&ThreadLog]) -> Vec<Result<(), StoreError>> {
    logs.iter().map(|log| log.sync()).collect()
}
