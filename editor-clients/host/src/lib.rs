//! The agent hosts that rawr drives, and the driver between a host and the sidecar. It decides nothing about compaction
//! and shows nothing: it reports what happens as [`event::SessionEvent`]s.
//!
//! Reading order: [`host`] (what a host is, and the three that there are), [`sidecar`] (the client of `rawr serve`),
//! [`drive`] (carries events to the sidecar and its actions to the host), [`event`] (what a session reports), [`relay`]
//! (stands between Codex's screen and its app-server).

#[cfg(not(unix))]
compile_error!("rawr runs on Linux and macOS");

pub mod drive;
pub mod event;
pub mod host;
pub mod presence;
pub mod private_fs;
pub mod relay;
pub mod session_files;
pub mod sidecar;
pub mod stop;
pub mod text;

mod posix;
mod transport;
