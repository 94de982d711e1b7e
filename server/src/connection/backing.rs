//! What the loop of a connection needs of the rest, beside the router.

use crate::jobs::{Done, Job};
use crate::workers::{Work, Worked};
use jsonrpsee::types::ErrorObjectOwned;
use rawr_core::units::ThreadId;
use std::time::Duration;

/// Names a request within this connection.
pub type Ticket = u64;

/// What became of requests whose records are to last before they are answered.
#[derive(Debug, Default)]
pub struct Commit {
    /// Their answers become errors.
    pub failed: Vec<(Ticket, ErrorObjectOwned)>,
    /// They are being stored: their answers wait.
    pub unsettled: Vec<Ticket>,
}

/// What the loop needs of the rest beside the router. None of it waits: what may is handed out as [`Work`].
pub trait Backing {
    /// Whether it matters now which thread a request names.
    fn reads_threads(&self) -> bool {
        false
    }
    /// A worker has the thread's files: requests that name it wait.
    fn is_busy(&self, _thread: &ThreadId) -> bool {
        false
    }
    /// The next dispatch belongs to this request, which names this thread, where that matters.
    fn begins(&self, ticket: Ticket, thread: Option<&ThreadId>);
    /// The threads without whose files the last request could not begin. It is dispatched again when they are back.
    fn waits_for(&self) -> Vec<ThreadId> {
        Vec::new()
    }
    /// All requests that could go on have been dispatched again.
    fn went_on(&self) {}
    /// Begins to make everything since the last commit lasting. Answers leave only when that is done.
    fn commit(&self) -> Commit;
    /// Work that may wait for the disk, since the last time it was asked. It is finished, whatever ends.
    fn works(&self) -> Vec<Work> {
        Vec::new()
    }
    /// What came of it.
    fn worked(&self, _worked: Worked) {}
    /// A request that is to be answered, whatever ends, is being read for.
    fn is_reading(&self) -> bool {
        false
    }
    /// How long until something is due; `None` while nothing is.
    fn due_in(&self) -> Option<Duration>;
    /// The next tick is the first: it is not before the client has its first answers.
    fn is_idle_for_the_first_time(&self) -> bool {
        false
    }
    fn tick(&self);
    /// Somebody rang: other processes have written something.
    fn rung(&self);
    /// Work that is to be done outside, since the last time it was asked. It ends with the connection.
    fn jobs(&self) -> Vec<Job>;
    /// What came of it.
    fn done(&self, done: Done);
    /// The client tells something; false where nobody knows what.
    fn notified(&self, _method: &str, _params: Option<&str>) -> bool {
        false
    }
    /// The client answers what it was asked under this id: its result, or its error.
    fn answered(&self, _id: &str, _outcome: Result<&str, &str>) {}
}
