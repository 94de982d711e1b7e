//! Why something cannot be done at the desk.

use crate::store::StoreError;
use rawr_core::Refusal;
use rawr_core::thread::Answered;
use rawr_core::units::ThreadId;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    #[error("thread {0} is not open here")]
    UnknownThread(ThreadId),
    #[error("thread {0} is open here for looking only")]
    NotOwner(ThreadId),
    /// Its files are with a worker. What was asked for has not begun, and is asked for again when they are back.
    #[error("thread {0} is being read or written")]
    Busy(ThreadId),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}", refusal(.1))]
    Refused(ThreadId, Refusal),
    #[error("there is no {what} `{name}`")]
    UnknownName { what: &'static str, name: String },
    #[error("no packet is known of {0}")]
    NoPacket(ThreadId),
    #[error("cannot {verb} {path}: {source}", path = path.display())]
    Notes { verb: &'static str, path: PathBuf, source: io::Error },
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
