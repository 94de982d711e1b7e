//! The parameters of opening a thread.

use rawr_core::event::HostInfo;
use rawr_core::machine::ProcessRole;
use rawr_core::units::{ThreadId, Timestamp, Tokens, TurnId};

/// Who opens a thread, and as what.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The id that the host gave to the thread.
    pub thread: ThreadId,
    /// The thread's working folder.
    pub cwd: String,
    /// Owner or observer.
    pub role: ProcessRole,
    /// The host and its capabilities.
    pub host: HostInfo,
    /// The model, if known.
    pub model: Option<String>,
    /// The size of the context window in tokens, if known.
    pub window: Option<Tokens>,
    /// Whether the host only assumes this size.
    pub window_is_assumed: bool,
    /// The host compacts by itself above this many tokens, if it does and they are known.
    pub compacts_above: Option<Tokens>,
    /// Tokens that no compaction can free.
    pub baseline: Tokens,
    /// The agent's name, for its scratch file.
    pub agent: Option<String>,
    /// Where the host keeps its own transcript of the conversation.
    pub transcript: Option<String>,
    /// When the host began the conversation, if known.
    pub began_at: Option<Timestamp>,
    /// The turn that is running, if any.
    pub running_turn: Option<TurnId>,
    /// The name of the owner that other clients are shown.
    pub holder: String,
}

impl Opening {
    /// Only the required parameters.
    pub fn new(thread: ThreadId, cwd: String, role: ProcessRole, host: HostInfo) -> Self {
        Self {
            thread,
            cwd,
            role,
            holder: host.name.clone(),
            host,
            model: None,
            window: None,
            window_is_assumed: false,
            compacts_above: None,
            baseline: Tokens(0),
            agent: None,
            transcript: None,
            began_at: None,
            running_turn: None,
        }
    }
}
