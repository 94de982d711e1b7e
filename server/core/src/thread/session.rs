//! What the host said about a thread when it opened it.

use crate::event::HostInfo;
use crate::units::Timestamp;
use serde::{Deserialize, Serialize};

/// The host's session that a thread belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Session {
    /// The folder that the agent works in.
    pub cwd: String,
    /// The host that runs it.
    pub host: HostInfo,
    /// The model in use, by the host's name for it.
    pub model: Option<String>,
    /// The sub-agent's name; absent for a main thread.
    pub agent: Option<String>,
    /// Where the host keeps its own record.
    pub transcript: Option<String>,
    /// When the host began the conversation; one that goes on under another id keeps it.
    pub began_at: Option<Timestamp>,
    /// The host is in review mode, where nothing is compacted.
    pub review_mode: bool,
}
