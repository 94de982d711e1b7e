//! What a client says of a thread when it takes it up.

use rawr_core::event::HostInfo;
use rawr_core::machine::Role;
use rawr_core::units::{ThreadId, Tokens, TurnId};

/// Who takes a thread up, and as what.
#[derive(Debug, Clone)]
pub struct Opening {
    pub thread: ThreadId,
    pub cwd: String,
    pub role: Role,
    pub host: HostInfo,
    pub model: Option<String>,
    pub window: Option<Tokens>,
    pub window_is_assumed: bool,
    pub baseline: Tokens,
    pub agent: Option<String>,
    /// Where the host keeps its own record of the conversation.
    pub transcript: Option<String>,
    pub running_turn: Option<TurnId>,
    /// Who to name where another asks for the thread.
    pub holder: String,
}

impl Opening {
    /// Only what a client must say.
    pub fn new(thread: ThreadId, cwd: String, role: Role, host: HostInfo) -> Self {
        Self {
            thread,
            cwd,
            role,
            holder: host.name.clone(),
            host,
            model: None,
            window: None,
            window_is_assumed: false,
            baseline: Tokens(0),
            agent: None,
            transcript: None,
            running_turn: None,
        }
    }
}
