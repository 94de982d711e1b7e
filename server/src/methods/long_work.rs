//! Work that takes long: runs on a thread of its own, one at a time of its kind, reports progress to a client that asked
//! for it, and stops when its request is cancelled. Does not know what the work is.

use crate::outbox::Outbox;
use crate::wire::RpcError;
use rawr_protocol::methods::Progress;
use rawr_protocol::{ErrorCode, ProgressParams, ProgressToken, WorkDoneProgress};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Stops work when it is dropped, as the future of a cancelled request is.
pub struct CancelOnDrop(pub Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What people read about one kind of work.
#[derive(Debug)]
pub struct WorkLabels {
    /// The title of its progress.
    pub title: &'static str,
    /// What is counted.
    pub things: &'static str,
    /// Why a second request is refused.
    pub busy: &'static str,
}

/// One kind of work.
#[derive(Debug, Default)]
pub struct LongWork {
    /// Held by the thread that works, which may outlive its request for a moment.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Whether the newest request has ended. Nothing is left of it if this is gone.
    newest: Mutex<Weak<AtomicBool>>,
}

impl LongWork {
    /// Runs `work` with a flag that says when to stop, and with what to call as items are done. Waits for work whose
    /// request was cancelled, and is refused while other work goes on.
    pub async fn run<R: Send + 'static>(
        &self,
        labels: &'static WorkLabels,
        progress: (&Outbox, Option<ProgressToken>),
        work: impl FnOnce(&AtomicBool, &(dyn Fn(usize, usize) + Sync)) -> Result<R, RpcError>
        + Send
        + 'static,
    ) -> Result<R, RpcError> {
        let stop = self.begin(labels)?;
        let _stops = CancelOnDrop(Arc::clone(&stop));
        let (outbox, token) = progress;
        let progress = WorkProgress::begin(outbox, token, labels);
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let sent = Arc::clone(&progress.0);
        let work = move || {
            let _turn = turn;
            work(&stop, &|done, of| sent.report(done, of))
        };
        let done = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
            Err(RpcError::new(ErrorCode::InternalError, error.to_string(), "retry"))
        });
        progress.0.end(done.as_ref().err().map(|_| "failed"));
        done
    }

    fn begin(&self, labels: &WorkLabels) -> Result<Arc<AtomicBool>, RpcError> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.upgrade().is_some_and(|ended| !ended.load(Ordering::Relaxed)) {
            let hint = "wait for its answer, or cancel it";
            return Err(RpcError::new(ErrorCode::Busy, labels.busy, hint));
        }
        let stop = Arc::default();
        *newest = Arc::downgrade(&stop);
        Ok(stop)
    }
}

/// Ends the progress when the request ends, however it does: a client shows it until then.
struct WorkProgress(Arc<SentProgress>);

impl WorkProgress {
    fn begin(outbox: &Outbox, token: Option<ProgressToken>, labels: &'static WorkLabels) -> Self {
        let (outbox, things) = (outbox.clone(), labels.things);
        let sent = SentProgress { outbox, token, things, last: Mutex::new(LastProgress::Open(0)) };
        let title = labels.title.to_owned();
        let percentage = Some(0);
        sent.order(WorkDoneProgress::Begin { title, cancellable: true, percentage });
        Self(Arc::new(sent))
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        self.0.end(Some("cancelled"));
    }
}

/// What was sent to a client about some work. Without a token, nothing is.
struct SentProgress {
    outbox: Outbox,
    token: Option<ProgressToken>,
    things: &'static str,
    /// Locked while something is sent, so that a slow thread cannot report after the end.
    last: Mutex<LastProgress>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastProgress {
    /// This percentage.
    Open(u8),
    Ended,
}

impl SentProgress {
    /// Sends only whole percents: there may be many thousand items.
    fn report(&self, done: usize, of: usize) {
        let percentage = u8::try_from(done * 100 / of.max(1)).unwrap_or(100).min(100);
        let mut last = self.last();
        match *last {
            LastProgress::Open(before) if percentage > before => {}
            LastProgress::Open(_) | LastProgress::Ended => return,
        }
        *last = LastProgress::Open(percentage);
        let message = Some(format!("{done} of {of} {}", self.things));
        let value = WorkDoneProgress::Report { message, percentage: Some(percentage) };
        if let Some(params) = self.params(value) {
            self.outbox.notify::<Progress>(&params);
        }
    }

    fn end(&self, message: Option<&str>) {
        let mut last = self.last();
        if *last != LastProgress::Ended {
            *last = LastProgress::Ended;
            self.order(WorkDoneProgress::End { message: message.map(str::to_owned) });
        }
    }

    /// Never lost, unlike a report.
    fn order(&self, value: WorkDoneProgress) {
        if let Some(params) = self.params(value) {
            self.outbox.order::<Progress>(&params);
        }
    }

    fn params(&self, value: WorkDoneProgress) -> Option<ProgressParams> {
        self.token.clone().map(|token| ProgressParams { token, value })
    }

    fn last(&self) -> MutexGuard<'_, LastProgress> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
