//! Errors of the registry and of scratch files as JSON-RPC errors: a code and a hint for the client.

use crate::notes::NotesError;
use crate::registry::RegistryError;
use crate::wire::RpcError;
use rawr_core::Refusal;
use rawr_core::machine::Bound;
use rawr_protocol::ErrorCode;
use rawr_storage::store::StoreError;

impl From<RegistryError> for RpcError {
    fn from(error: RegistryError) -> Self {
        let (code, hint) = advice(&error);
        let mut answer = Self::new(code, error.to_string(), hint);
        match &error {
            RegistryError::UnknownThread(id)
            | RegistryError::NotOwner(id)
            | RegistryError::Busy(id)
            | RegistryError::Refused(id, _)
            | RegistryError::Store(
                StoreError::OwnedElsewhere { thread: id, .. } | StoreError::NoThread { thread: id },
            ) => {
                answer.data.thread_id = Some(id.to_string());
            }
            RegistryError::Store(store) => {
                answer.data.file = store.path().map(|path| path.display().to_string())
            }
        }
        answer
    }
}

const fn advice(error: &RegistryError) -> (ErrorCode, &'static str) {
    match error {
        RegistryError::UnknownThread(_) | RegistryError::Store(StoreError::NoThread { .. }) => {
            (ErrorCode::UnknownThread, "call rawr/thread/open first")
        }
        RegistryError::Busy(_) => (ErrorCode::Busy, "try again in a moment"),
        RegistryError::NotOwner(_) => {
            (ErrorCode::NotOwner, "open the thread with role `owner` in the host that runs it")
        }
        RegistryError::Store(StoreError::OwnedElsewhere { .. }) => (
            ErrorCode::OwnedElsewhere,
            "stop the other host, or open the thread with role `observer`",
        ),
        RegistryError::Store(StoreError::NewerFormat { .. }) => {
            (ErrorCode::StoreFailed, "this thread was written by a newer rawr: update this one")
        }
        RegistryError::Store(StoreError::Locked { .. }) => (
            ErrorCode::StoreFailed,
            "nothing was recorded; stop the process that holds the lock, then retry",
        ),
        RegistryError::Store(StoreError::Io { .. }) => (
            ErrorCode::StoreFailed,
            "nothing was recorded; make the folder writable or free some space, then retry",
        ),
        RegistryError::Refused(_, refusal) => match refusal {
            Refusal::UnknownAction(_) => {
                (ErrorCode::UnknownAction, "report only actions that were asked for")
            }
            Refusal::UnknownGuard(_) => {
                (ErrorCode::UnknownName, "rawr/guard/list shows the active guards")
            }
            Refusal::UnknownInput(_) => {
                (ErrorCode::UnknownName, "rawr/input/queued shows the held messages")
            }
            Refusal::UnknownDirective(_) => {
                (ErrorCode::UnknownName, "rawr/directive/list shows the active directives")
            }
            Refusal::NoSequence | Refusal::OtherSequence(_) => {
                (ErrorCode::NoSequence, "rawr/thread/get shows what is running")
            }
            Refusal::NotNow(_) => (ErrorCode::NotNow, "wait for rawr/thread/changed"),
            Refusal::Answered(_) => {
                (ErrorCode::NotNow, "watch rawr/sequence/responded for answers of other clients")
            }
            Refusal::Full(Bound::Guards) => {
                (ErrorCode::NotNow, "clear some with rawr/guard/clear, then retry")
            }
            Refusal::Full(Bound::Directives) => {
                (ErrorCode::NotNow, "clear some with rawr/directive/clear, then retry")
            }
            Refusal::Full(Bound::HeldMessages) => (
                ErrorCode::NotNow,
                "keep the message and submit it again once others were delivered",
            ),
            Refusal::PacketMissing => {
                (ErrorCode::InvalidParams, "give the packet's text in `packet`")
            }
        },
    }
}

/// The error for a name that does not exist.
pub fn unknown_name(what: &str, name: &str) -> RpcError {
    let message = format!("unknown {what} `{name}`");
    RpcError::new(ErrorCode::UnknownName, message, "list the existing ones first")
}

impl From<NotesError> for RpcError {
    fn from(error: NotesError) -> Self {
        let hint = "check the permissions of the file and its folder";
        let mut answer = Self::new(ErrorCode::StoreFailed, error.to_string(), hint);
        answer.data.file = Some(error.path.display().to_string());
        answer
    }
}
