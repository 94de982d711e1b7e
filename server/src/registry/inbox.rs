//! What a thread's task is asked for, and how each request gets its one answer.

use super::follow::Watch;
use super::{HandledInput, OpenThread, Opening, RegistryError};
use rawr_core::Input;
use tokio::sync::oneshot;

/// The inputs of a request, from the state that they are for.
pub(super) type Inputs = Box<dyn FnOnce(&mut OpenThread) -> Vec<Input> + Send>;

/// Who may report an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputSource {
    Anyone,
    /// Only the thread's host.
    Owner,
}

/// What a request is about.
pub(super) enum RequestKind {
    /// Open the thread for a client, or change its role.
    Open(Box<Opening>),
    /// Close it for the client.
    Close,
    /// Only read its state.
    Read,
    /// Decide on these inputs.
    Handle(InputSource, Inputs),
}

/// One request of a client for one thread.
pub(super) struct ThreadRequest {
    pub(super) kind: RequestKind,
    pub(super) reply: Box<dyn Reply>,
    /// In which it was sent.
    pub(super) span: tracing::Span,
}

/// A message for the task of one thread. Small, because each inbox has room for some of them from the start.
pub(super) enum ThreadMessage {
    Request(Box<ThreadRequest>),
    /// Read the thread if it is not open, and keep it if a client watches it.
    Follow(Watch),
    /// End if no client has the thread open and nothing is going on.
    Release,
    /// The files are gone: end if no client has the thread open.
    Gone,
    /// Store everything and end.
    Leave(oneshot::Sender<()>),
}

/// The answer to one request.
pub(super) trait Reply: Send {
    /// Whether the request was cancelled, so that it must not begin.
    fn is_unwanted(&self) -> bool;

    /// The request was handled: makes the answer, which is sent once the batch is stored.
    fn make(&mut self, open: &mut OpenThread, handled: Vec<HandledInput>);

    /// Sends the answer that was made.
    fn send(self: Box<Self>);

    /// Sends this error instead.
    fn refuse(self: Box<Self>, error: RegistryError);
}

/// An answer that is made by a function.
pub(super) struct ReplyWith<F, R> {
    answer: Option<F>,
    made: Option<R>,
    reply: oneshot::Sender<Result<R, RegistryError>>,
}

impl<F, R> ReplyWith<F, R> {
    pub(super) const fn new(answer: F, reply: oneshot::Sender<Result<R, RegistryError>>) -> Self {
        Self { answer: Some(answer), made: None, reply }
    }
}

impl<R, F> Reply for ReplyWith<F, R>
where
    R: Send + 'static,
    F: FnOnce(&mut OpenThread, Vec<HandledInput>) -> R + Send,
{
    fn is_unwanted(&self) -> bool {
        self.reply.is_closed()
    }

    fn make(&mut self, open: &mut OpenThread, handled: Vec<HandledInput>) {
        self.made = self.answer.take().map(|answer| answer(open, handled));
    }

    fn send(self: Box<Self>) {
        if let Some(made) = self.made {
            // A cancelled request needs no answer.
            let _ = self.reply.send(Ok(made));
        }
    }

    fn refuse(self: Box<Self>, error: RegistryError) {
        let _ = self.reply.send(Err(error));
    }
}
