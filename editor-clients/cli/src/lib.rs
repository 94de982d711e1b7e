//! The `rawr` command line: parses arguments, runs the driver of `rawr-host`, and renders its events. It must not decide when
//! to compact.

#[cfg(not(unix))]
compile_error!("rawr runs on Linux and macOS");

mod args;
mod commands;
mod render;

pub use args::visible_command;
pub use commands::main;
