//! Edited files, saved in every way that editors do, with a real sidecar: each save is one complete reload and one
//! notification.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod config;
mod places;
mod polled;
mod saves;
mod sequence;
mod storm;

use rawr_protocol::methods::{ConfigGet, PromptChanged, PromptGet};
use rawr_protocol::{ConfigGetParams, PromptGetParams, PromptGetResult};
use rawr_tests::sidecar::LaunchOptions;
use rawr_tests::{TestHome, TestSidecar};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The prompt that tests edit. It needs no placeholder.
const NAME: &str = "compact";
/// Longer than a file may be missing before it counts as deleted.
const ANY_LATE_NEWS: Duration = Duration::from_millis(300);

fn folder(home: &TestHome) -> PathBuf {
    home.path().join("auto-compact")
}

fn file(home: &TestHome) -> PathBuf {
    folder(home).join("compact.md")
}

fn prompt(sidecar: &mut TestSidecar) -> PromptGetResult {
    sidecar.call::<PromptGet>(&PromptGetParams { name: NAME.to_owned() })
}

fn text(sidecar: &mut TestSidecar) -> String {
    prompt(sidecar).text
}

/// Started and watching, so that later saves are reported as changes.
fn start(home: &TestHome) -> TestSidecar {
    let mut sidecar = TestSidecar::start(home);
    write(&folder(home).join("summary-prefix.md"), "Another prompt.\n");
    assert_eq!(sidecar.expect::<PromptChanged>().name, "summary-prefix");
    sidecar
}

/// The next notification must be that the prompt has this text.
fn expect_text(sidecar: &mut TestSidecar, wanted: &str) {
    let changed = sidecar.expect::<PromptChanged>();
    assert_eq!(changed.name, NAME);
    let found = prompt(sidecar);
    assert_eq!(found.text, wanted, "{}", sidecar.told());
    assert_eq!(found.version, changed.version);
    assert_eq!(changed.problems, []);
}

/// There must be no more notifications, even after a while.
fn expect_silence(sidecar: &mut TestSidecar) {
    std::thread::sleep(ANY_LATE_NEWS);
    text(sidecar);
    assert_eq!(sidecar.take_notes(), [], "{}", sidecar.told());
}

/// The current value of a key, without any thread.
fn effective(sidecar: &mut TestSidecar, key: &str) -> Value {
    let found = sidecar.call::<ConfigGet>(&ConfigGetParams { thread_id: None });
    found.effective[key]["value"].clone()
}

fn polling() -> LaunchOptions {
    LaunchOptions {
        environment: vec![("RAWR_WATCH", OsString::from("poll"))],
        ..LaunchOptions::default()
    }
}

/// Runs a script in the folder.
fn shell(folder: &Path, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir(folder);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}
