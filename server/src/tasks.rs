//! What all tasks do: wait for a time that may not come, and for the answer of another task.

use rawr_core::units::Timestamp;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::oneshot;

/// Waits until this time of the wall clock. Forever without one.
pub async fn until(due: Option<Timestamp>, now: Timestamp) {
    let Some(due) = due else { return std::future::pending().await };
    let milliseconds = u64::try_from(due.0.saturating_sub(now.0)).unwrap_or(0);
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

/// The answer of another task, to be awaited. A panic of the task that owes it ends the request, too. If it is dropped, the
/// request is cancelled.
#[must_use = "a request is cancelled if its answer is not awaited"]
pub struct Answer<T>(oneshot::Receiver<T>);

/// Both ends of an answer.
pub fn answer<T>() -> (oneshot::Sender<T>, Answer<T>) {
    let (reply, answered) = oneshot::channel();
    (reply, Answer(answered))
}

impl<T> Future for Answer<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(context).map(|answer| {
            answer.unwrap_or_else(|_| resume_unwind(Box::new("the task that owed it panicked")))
        })
    }
}
