//! What a thread's task is asked for, and how each request gets its one answer.

use super::follow::Watch;
use super::{HandledInput, OpenThread, Opening, RegistryError};
use crate::store::StoreError;
use rawr_core::Input;
use tokio::sync::oneshot;

/// The inputs of a request, from the state that they are for.
pub(super) type Inputs = Box<dyn FnOnce(&mut OpenThread) -> Vec<Input> + Send>;

/// What a request is about.
pub(super) enum RequestKind {
    /// Open the thread for a client, or change its role.
    Open(Box<Opening>),
    /// Close it for the client.
    Close,
    /// Only read its state.
    Read,
    /// Decide on these inputs.
    Handle(Inputs),
    /// Decide on inputs that only the thread's host may report.
    HandleAsOwner(Inputs),
}

/// One request of a client for one thread.
pub(super) struct ThreadRequest {
    pub(super) kind: RequestKind,
    pub(super) answer: Box<dyn Answer>,
    /// In which it was sent.
    pub(super) span: tracing::Span,
}

/// A message for the task of one thread.
pub(super) enum ThreadMessage {
    Request(ThreadRequest),
    /// Read the thread if it is not open, and keep it if a client watches it.
    Follow(Watch),
    /// End if no client has the thread open and nothing is going on.
    Release,
    /// The files are gone: end if no client has the thread open.
    Gone,
    /// Store everything and end.
    Leave(oneshot::Sender<()>),
}

/// Makes the answer to a request.
pub(super) trait Answer: Send {
    /// Whether the request was cancelled, so that it must not begin.
    fn is_unwanted(&self) -> bool;

    /// The request cannot be served.
    fn refuse(self: Box<Self>, error: RegistryError);

    /// The request was handled: its answer, to be sent once the batch is stored.
    fn make(self: Box<Self>, open: &mut OpenThread, handled: Vec<HandledInput>) -> Box<dyn Reply>;
}

/// An answer that waits for its batch.
pub(super) trait Reply: Send {
    /// With the error of a batch that could not be stored.
    fn send(self: Box<Self>, failed: Option<StoreError>);
}

pub(super) struct AnswerWith<F, R> {
    pub(super) answer_with: F,
    pub(super) reply: oneshot::Sender<Result<R, RegistryError>>,
}

struct MadeAnswer<R> {
    made: R,
    reply: oneshot::Sender<Result<R, RegistryError>>,
}

impl<R, F> Answer for AnswerWith<F, R>
where
    R: Send + 'static,
    F: FnOnce(&mut OpenThread, Vec<HandledInput>) -> R + Send,
{
    fn is_unwanted(&self) -> bool {
        self.reply.is_closed()
    }

    fn refuse(self: Box<Self>, error: RegistryError) {
        // A cancelled request needs no answer.
        let _ = self.reply.send(Err(error));
    }

    fn make(self: Box<Self>, open: &mut OpenThread, handled: Vec<HandledInput>) -> Box<dyn Reply> {
        let Self { answer_with, reply } = *self;
        Box::new(MadeAnswer { made: answer_with(open, handled), reply })
    }
}

impl<R: Send> Reply for MadeAnswer<R> {
    fn send(self: Box<Self>, failed: Option<StoreError>) {
        let Self { made, reply } = *self;
        let _ = reply.send(failed.map_or(Ok(made), |error| Err(error.into())));
    }
}
