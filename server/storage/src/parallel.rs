//! Works on many files at a time. Knows nothing of the files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Called after each item with how many are done, of how many.
pub type ProgressListener<'p> = &'p (dyn Fn(usize, usize) + Sync);

/// Works on all items, in no order, until `stop` is set. A defect that one item brings to light must not cost all
/// others: `instead` makes its result.
pub fn on_each<I: Sync, R: Send>(
    items: &[I],
    stop: &AtomicBool,
    progress: ProgressListener<'_>,
    work: impl Fn(&I) -> R + Sync,
    instead: impl Fn(&I) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let work_on = || {
        while !stop.load(Ordering::Relaxed)
            && let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let result = catch_unwind(AssertUnwindSafe(|| work(item)));
            let result = result.unwrap_or_else(|_| instead(item));
            // Nothing panics while it holds the lock.
            if let Ok(mut results) = results.lock() {
                results.push(result);
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, items.len());
        }
    };
    thread::scope(|scope| {
        // This thread is one of them.
        for _ in 1..workers {
            scope.spawn(work_on);
        }
        work_on();
    });
    results.into_inner().unwrap_or_default()
}
