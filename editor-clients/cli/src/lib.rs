//! The `rawr` command line: a client of the sidecar, and the hosts that it drives. It decides nothing about compaction.

#[cfg(not(unix))]
compile_error!("rawr runs on Linux and macOS");

pub mod host;

mod args;
mod commands;
mod drive;
mod posix;
mod presence;
mod private;
mod relay;
mod render;
mod saved;
mod sidecar;
mod stop;
mod transport;

pub use commands::main;
