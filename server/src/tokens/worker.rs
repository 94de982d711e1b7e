//! A thread with its own state that runs jobs one after the other. Started by the first job; knows nothing about the
//! jobs.

use super::TokenCountError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// The tokenizer builds a table of more than a megabyte on the stack before it moves it to the heap.
const STACK: usize = 8 << 20;

type WorkerJob<S> = Box<dyn FnOnce(&mut S) + Send>;

#[derive(Debug)]
pub struct WorkerThread<S> {
    name: &'static str,
    thread: Mutex<Option<Sender<WorkerJob<S>>>>,
}

impl<S: Default + 'static> WorkerThread<S> {
    pub const fn new(name: &'static str) -> Self {
        Self { name, thread: Mutex::new(None) }
    }

    /// A job that was cancelled before its turn is skipped.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> Result<T, TokenCountError> {
        let (answer, result) = oneshot::channel();
        self.send(Box::new(move |state| {
            if !answer.is_closed() {
                // The caller may have been cancelled in the meantime.
                drop(answer.send(work(state)));
            }
        }))?;
        result.await.map_err(|_| TokenCountError::Failed)
    }

    fn send(&self, work: WorkerJob<S>) -> Result<(), TokenCountError> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match &*thread {
            Some(sender) => sender,
            None => thread.insert(start(self.name)?),
        };
        sender.send(work).map_err(|_| TokenCountError::Failed)
    }
}

fn start<S: Default + 'static>(name: &str) -> Result<Sender<WorkerJob<S>>, TokenCountError> {
    let (sender, receiver) = channel();
    let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK);
    thread.spawn(move || serve(receiver)).map_err(TokenCountError::Start)?;
    Ok(sender)
}

/// Runs until all senders are dropped. A panic ends only the job that caused it: dropping its sender answers it.
fn serve<S: Default>(works: Receiver<WorkerJob<S>>) {
    let mut state = S::default();
    for work in works {
        if catch_unwind(AssertUnwindSafe(|| work(&mut state))).is_err() {
            tracing::error!("counting panicked; dropped the texts that were counted before");
            state = S::default();
        }
    }
}
