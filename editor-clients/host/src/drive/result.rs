//! The result of a session, and why one failed.

use std::io;

use rawr_protocol::{BreakerHold, PacketGetResult};

use crate::host::HostError;
use crate::sidecar::SidecarError;

/// The result of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionResult {
    /// How it ended.
    pub ended: SessionEnd,
    /// Number of completed compactions.
    pub compactions: u32,
    /// The last packet that was handed over.
    pub packet: Option<PacketGetResult>,
    /// Compactions are paused, because the last ones did not help.
    pub paused: Option<BreakerHold>,
    /// Number of user messages that wait in the thread. The next session delivers them.
    pub kept_messages: usize,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SessionEnd {
    /// All work is done.
    #[default]
    Finished,
    /// All work is done, but a turn of the agent failed.
    Unfinished,
    /// The user or the system stopped it.
    Stopped,
}

/// Why a session failed.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The host ended or failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The sidecar could not be restarted, or opening the thread failed.
    #[error(transparent)]
    Sidecar(#[from] SidecarError),
    /// A restarted sidecar ended again within a minute.
    #[error("the sidecar exited again shortly after a restart: {0}")]
    SidecarEndedAgain(SidecarError),
    #[error(
        "failed to deliver a message to the host: {source}; check there before you send it again; it starts with: {text}"
    )]
    /// The host refused a user's message, or did not answer whether it took it.
    NotDelivered {
        /// The beginning of the message.
        text: String,
        /// The cause.
        source: HostError,
    },
    /// The reporter's output is closed or failed.
    #[error("failed to write output: {0}")]
    Output(#[from] io::Error),
}
