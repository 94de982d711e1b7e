//! A temporary home and environment for sidecars.

use super::{LaunchOptions, must};
use crate::compact_at_turn_end;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// An unprivileged user id; any other than root's will do.
const UNPRIVILEGED: u32 = 65534;

#[derive(Debug)]
pub struct TestHome {
    folder: TempDir,
    started: AtomicU32,
}

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHome {
    /// With the preset `spec`.
    pub fn new() -> Self {
        let home = Self::empty();
        compact_at_turn_end(&home.path());
        home
    }

    /// Without any file.
    pub fn empty() -> Self {
        let folder = must(TempDir::new(), "make a home");
        let home = Self { folder, started: AtomicU32::new(0) };
        for part in [home.path(), home.work()] {
            must(fs::create_dir(&part), "make a home");
            // Sidecars that are not root's work here too.
            must(fs::set_permissions(part, fs::Permissions::from_mode(0o777)), "open a home");
        }
        let open = fs::Permissions::from_mode(0o755);
        must(fs::set_permissions(home.folder.path(), open), "open a home");
        home
    }

    /// `RAWR_HOME`.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The threads' working directory.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub fn thread(&self, thread: &str) -> PathBuf {
        self.path().join("rawr/auto_compaction/threads").join(thread)
    }

    pub fn events(&self, thread: &str) -> PathBuf {
        self.thread(thread).join("events.jsonl")
    }

    /// The lines of a thread's log.
    pub fn lines(&self, thread: &str) -> Vec<String> {
        let text = must(fs::read_to_string(self.events(thread)), "read a thread's log");
        text.lines().map(str::to_owned).collect()
    }

    /// The events of this kind in a thread's log, oldest first.
    pub fn recorded(&self, thread: &str, kind: &str) -> Vec<Value> {
        let record = |line: &String| must(serde_json::from_str::<Value>(line), "read a record");
        let lines = self.lines(thread);
        let events = lines.iter().map(record);
        events.filter_map(|record| record["event"].get(kind).cloned()).collect()
    }

    pub fn configure(&self, toml: &str) {
        must(fs::write(self.path().join("rawr.toml"), toml), "write rawr.toml");
    }

    /// Each sidecar's own.
    pub(super) fn stderr(&self) -> PathBuf {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        self.folder.path().join(format!("stderr-{number}"))
    }

    /// A command with this home and without the developer's environment.
    pub(super) fn command(&self, program: &Path, launch: &LaunchOptions) -> Command {
        let mut command = match launch.prelude {
            Some(prelude) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("{prelude}; exec \"$@\""), "sh"]).arg(program);
                shell
            }
            None => Command::new(program),
        };
        command.current_dir(self.work()).env_clear();
        command.env("RAWR_HOME", self.path()).env("HOME", self.folder.path());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
        if launch.unprivileged && is_root() {
            command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        command
    }
}

fn is_root() -> bool {
    let status = must(fs::read_to_string("/proc/self/status"), "read this process's status");
    status.lines().any(|line| {
        line.strip_prefix("Uid:").is_some_and(|ids| ids.trim_start().starts_with("0\t"))
    })
}
