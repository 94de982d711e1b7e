//! What the desk refuses, as the wire has it: a code, and what the client can do.

use crate::desk::DeskError;
use crate::store::StoreError;
use crate::wire::RpcError;
use rawr_core::Refusal;
use rawr_core::machine::Bound;
use rawr_protocol::ErrorCode;

impl From<DeskError> for RpcError {
    fn from(error: DeskError) -> Self {
        let (code, hint) = advice(&error);
        let mut answer = Self::new(code, error.to_string(), hint);
        match &error {
            DeskError::UnknownThread(id)
            | DeskError::NotOwner(id)
            | DeskError::Busy(id)
            | DeskError::Refused(id, _)
            | DeskError::NoPacket(id)
            | DeskError::Store(
                StoreError::OwnedElsewhere { thread: id, .. } | StoreError::NoThread { thread: id },
            ) => {
                answer.data.thread_id = Some(id.to_string());
            }
            DeskError::Store(store) => {
                answer.data.file = store.path().map(|path| path.display().to_string())
            }
            DeskError::Notes { path, .. } => answer.data.file = Some(path.display().to_string()),
            DeskError::UnknownName { .. } => {}
        }
        answer
    }
}

const fn advice(error: &DeskError) -> (ErrorCode, &'static str) {
    match error {
        DeskError::UnknownThread(_) | DeskError::Store(StoreError::NoThread { .. }) => {
            (ErrorCode::UnknownThread, "call rawr/thread/open first")
        }
        DeskError::Busy(_) => (ErrorCode::Busy, "try again in a moment"),
        DeskError::NotOwner(_) => {
            (ErrorCode::NotOwner, "open the thread with role `owner`, in the host that runs it")
        }
        DeskError::Store(StoreError::OwnedElsewhere { .. }) => (
            ErrorCode::OwnedElsewhere,
            "end the other host, or open the thread with role `observer`",
        ),
        DeskError::Store(StoreError::NewerFormat { .. }) => {
            (ErrorCode::StoreFailed, "a newer rawr wrote this thread: update this one")
        }
        DeskError::Store(StoreError::Locked { .. }) => (
            ErrorCode::StoreFailed,
            "nothing was recorded; end the process that holds the lock, then repeat",
        ),
        DeskError::Store(StoreError::Io { .. }) => (
            ErrorCode::StoreFailed,
            "nothing was recorded; make the folder writable or free some space, then repeat",
        ),
        DeskError::Refused(_, refusal) => match refusal {
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
                (ErrorCode::UnknownName, "rawr/directive/list shows what is in force")
            }
            Refusal::NoSequence | Refusal::OtherSequence(_) => {
                (ErrorCode::NoSequence, "rawr/thread/get shows what is running")
            }
            Refusal::NotNow(_) => (ErrorCode::NotNow, "wait for rawr/thread/changed"),
            Refusal::Answered(_) => {
                (ErrorCode::NotNow, "rawr/sequence/responded tells of answers given elsewhere")
            }
            Refusal::Full(Bound::Guards) => {
                (ErrorCode::NotNow, "clear some with rawr/guard/clear, then repeat")
            }
            Refusal::Full(Bound::Directives) => {
                (ErrorCode::NotNow, "clear some with rawr/directive/clear, then repeat")
            }
            Refusal::Full(Bound::HeldMessages) => (
                ErrorCode::NotNow,
                "keep the message and submit it again once others were delivered",
            ),
            Refusal::PacketMissing => {
                (ErrorCode::InvalidParams, "give the packet's text in `packet`")
            }
        },
        DeskError::UnknownName { .. } => (ErrorCode::UnknownName, "list what there is first"),
        DeskError::NoPacket(_) => {
            (ErrorCode::NoSequence, "a packet exists once a sequence has taken one")
        }
        DeskError::Notes { .. } => (ErrorCode::StoreFailed, "look at the file and its folder"),
    }
}
