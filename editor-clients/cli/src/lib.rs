//! The `rawr` command line: it parses arguments, starts the driver of `rawr-host`, and renders. It decides nothing about
//! compaction.

#[cfg(not(unix))]
compile_error!("rawr runs on Linux and macOS");

mod args;
mod commands;
mod render;

pub use commands::main;
