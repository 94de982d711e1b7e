//! Why the registry cannot do something with a thread.

use crate::store::StoreError;
use rawr_core::Refusal;
use rawr_core::thread::Answered;
use rawr_core::units::ThreadId;

/// Why the registry cannot do something with a thread.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// No client has opened it, or it does not exist.
    #[error("thread {0} is not open here")]
    UnknownThread(ThreadId),
    /// Only its owner may do this.
    #[error("thread {0} is open read-only (role `observer`)")]
    NotOwner(ThreadId),
    /// A worker has its files. Nothing was done; repeat the call when they are back.
    #[error("thread {0} is being read or written")]
    Busy(ThreadId),
    /// Its files could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The core does not allow it now.
    #[error("{}", refusal(.1))]
    Refused(ThreadId, Refusal),
}

fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::UnknownAction(action) => format!("no action {action} was asked for"),
        Refusal::UnknownGuard(guard) => format!("there is no guard {guard}"),
        Refusal::UnknownInput(input) => format!("no message {input} is held"),
        Refusal::UnknownDirective(directive) => format!("there is no directive {directive}"),
        Refusal::NoSequence => "no sequence is running".to_owned(),
        Refusal::NotNow(phase) => {
            format!("the thread is {}, which does not allow it", phase.name())
        }
        Refusal::Answered(Answered { sequence, choice, by }) => {
            let by = by.as_deref().unwrap_or("another client");
            format!("{sequence} was answered already: {}, by {by}", choice.name())
        }
        Refusal::OtherSequence(running) => format!("another sequence is running: {running}"),
        Refusal::PacketMissing => "the edited packet is empty".to_owned(),
        Refusal::Full(bound) => bound.to_string(),
    }
}
