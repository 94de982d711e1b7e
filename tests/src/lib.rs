//! Shared fixtures of the tests: scripted models, the real Codex and Claude Code, temporary homes and repositories.

pub mod binary;
pub mod claude;
pub mod codex;
pub mod config_keys;
pub mod dice;
pub mod mock_anthropic;
pub mod mock_chat;
pub mod mock_endpoint;
pub mod mock_responses;
pub mod output;
pub mod pinned;
pub mod preset;
pub mod repository;
pub mod sent;
pub mod session;
pub mod sidecar;
pub mod stand_in;
pub mod terminal;
pub mod wait;

pub use binary::rawr;
pub use dice::Dice;
pub use mock_anthropic::MockClaude;
pub use mock_chat::MockChat;
pub use mock_responses::MockModel;
pub use output::{err, out};
pub use pinned::pinned_version;
pub use preset::{compact_at_turn_end, configure_with_spec};
pub use repository::Repository;
pub use sent::sent;
pub use session::ExecOutput;
pub use sidecar::{LaunchOptions, TestHome, TestSidecar};
pub use stand_in::StandIn;
pub use terminal::Terminal;
pub use wait::wait_until;
