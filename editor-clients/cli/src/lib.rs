//! The `rawr` command line: a client of the sidecar, and the hosts that it drives. It decides nothing about compaction.

pub mod host;

mod args;
mod commands;
mod drive;
#[cfg(unix)]
mod posix;
mod presence;
mod private;
#[cfg(unix)]
mod relay;
mod render;
mod saved;
mod sidecar;
mod stop;
mod transport;

pub use commands::main;
