//! The `rawr` binary. Everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    rawr_cli::main()
}
