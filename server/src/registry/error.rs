//! Errors of the registry.

use rawr_core::Refusal;
use rawr_core::thread::Answered;
use rawr_core::units::ThreadId;
use rawr_storage::store::StoreError;

/// Why the registry cannot perform a request.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The thread does not exist, or no client has opened it.
    #[error("thread {0} is not open here")]
    UnknownThread(ThreadId),
    /// Only the thread's owner may do this.
    #[error("thread {0} is open read-only (role `observer`)")]
    NotOwner(ThreadId),
    /// Too many requests wait for the thread. Nothing was done.
    #[error("too many requests wait for thread {0}")]
    Busy(ThreadId),
    /// The thread's files could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The core does not allow it in the thread's current state.
    #[error("{}", refusal(.1))]
    Refused(ThreadId, Refusal),
}

fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::UnknownAction(action) => format!("unknown action {action}"),
        Refusal::UnknownGuard(guard) => format!("unknown guard {guard}"),
        Refusal::UnknownInput(input) => format!("message {input} is not held"),
        Refusal::UnknownDirective(directive) => format!("unknown directive {directive}"),
        Refusal::NoSequence => "no sequence is running".to_owned(),
        Refusal::NotNow(phase) => {
            format!("the thread is {}, which does not allow it", phase.name())
        }
        Refusal::Answered(Answered { sequence, choice, by }) => {
            let by = by.as_deref().unwrap_or("another client");
            format!("{sequence} was already answered: {}, by {by}", choice.name())
        }
        Refusal::OtherSequence(running) => format!("another sequence is running: {running}"),
        Refusal::PacketMissing => "the edited packet is empty".to_owned(),
        Refusal::Full(bound) => bound.to_string(),
    }
}
