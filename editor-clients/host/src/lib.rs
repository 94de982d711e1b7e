//! The agent hosts that rawr supports, and the driver that connects a host to the sidecar. This crate must not decide when
//! to compact and must not print: it reports [`event::SessionEvent`]s.
//!
//! Reading order: [`host`] (the trait and its implementations), [`sidecar`] (the client of `rawr serve`), [`drive`]
//! (sends the host's events to the sidecar and the sidecar's actions to the host), [`event`] (what a session reports),
//! [`relay`] (the proxy between Codex's screen and its app-server).

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
