//! A thread that does work for others one after the other, with a state of its own. It is started by the first work, and
//! knows nothing of what the work is.

use super::TokensError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// The tokenizer fills a table of more than a megabyte on the stack before it is moved to the heap.
const STACK: usize = 8 << 20;

type Work<S> = Box<dyn FnOnce(&mut S) + Send>;

#[derive(Debug)]
pub struct Worker<S> {
    name: &'static str,
    thread: Mutex<Option<Sender<Work<S>>>>,
}

impl<S: Default + 'static> Worker<S> {
    pub const fn new(name: &'static str) -> Self {
        Self { name, thread: Mutex::new(None) }
    }

    /// Work that nobody waits for any more when its turn comes is left undone.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> Result<T, TokensError> {
        let (answer, result) = oneshot::channel();
        self.send(Box::new(move |state| {
            if !answer.is_closed() {
                // Whoever waited may have gone in the meantime.
                drop(answer.send(work(state)));
            }
        }))?;
        result.await.map_err(|_| TokensError::Failed)
    }

    fn send(&self, work: Work<S>) -> Result<(), TokensError> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match &*thread {
            Some(sender) => sender,
            None => thread.insert(start(self.name)?),
        };
        sender.send(work).map_err(|_| TokensError::Failed)
    }
}

fn start<S: Default + 'static>(name: &str) -> Result<Sender<Work<S>>, TokensError> {
    let (sender, receiver) = channel();
    let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK);
    thread.spawn(move || serve(receiver)).map_err(TokensError::Start)?;
    Ok(sender)
}

/// Until nobody can send any more. A panic ends the work that caused it: its sender is dropped, which is an answer.
fn serve<S: Default>(works: Receiver<Work<S>>) {
    let mut state = S::default();
    for work in works {
        if catch_unwind(AssertUnwindSafe(|| work(&mut state))).is_err() {
            tracing::error!("a count failed; what was kept of earlier ones is dropped");
            state = S::default();
        }
    }
}
