//! The path of the `rawr` under test. Built on first use, unless `RAWR_UNDER_TEST` names one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The binary of the profile that the tests themselves were built in.
pub fn rawr() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("RAWR_UNDER_TEST") {
        Some(path) => PathBuf::from(path),
        None => build(),
    })
}

fn build() -> PathBuf {
    let test =
        std::env::current_exe().unwrap_or_else(|error| panic!("no path of this test: {error}"));
    let profile = test
        .ancestors()
        .nth(2)
        .unwrap_or_else(|| panic!("{} is in no target folder", test.display()));
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "rawr-sidecar", "--bin", "rawr"]);
    if profile.file_name().is_some_and(|name| name == "release") {
        cargo.arg("--release");
    }
    let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status();
    assert!(built.is_ok_and(|status| status.success()), "`cargo build -p rawr-sidecar` failed");
    profile.join(format!("rawr{}", std::env::consts::EXE_SUFFIX))
}
