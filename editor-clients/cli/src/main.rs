//! The `rawr` binary. Everything is in the library.

use std::process::ExitCode;

/// The C library of static binaries has a slow one.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    rawr_cli::main()
}
