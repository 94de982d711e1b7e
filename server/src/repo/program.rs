//! Runs one program and captures its output: no shell, no input, a time-out and a limit of output. When it is
//! cancelled, it and all its child processes are killed.

use rustix::process::{Pid, Signal, kill_process_group};
use std::path::Path;
use std::process::Stdio;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout_at};

/// Git sets these variables for hooks. They would redirect git to another repository.
const OF_ANOTHER_REPOSITORY: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

const ENVIRONMENT: [(&str, &str); 6] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    // A partial clone would fetch missing objects. Older git versions know only the second variable.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("NO_COLOR", "1"),
];

pub(super) struct Program {
    command: Command,
    deadline: Instant,
}

#[derive(Debug)]
pub(super) struct ProgramOutput {
    pub bytes: Vec<u8>,
    pub success: bool,
    /// The output exceeded the limit.
    pub cut: bool,
}

impl Program {
    pub(super) fn new(program: &Path, cwd: &Path, deadline: Instant) -> Self {
        let mut command = Command::new(program);
        command
            .current_dir(cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .envs(ENVIRONMENT);
        for name in OF_ANOTHER_REPOSITORY {
            command.env_remove(name);
        }
        Self { command, deadline }
    }

    pub(super) fn arguments(&mut self, arguments: &[impl AsRef<std::ffi::OsStr>]) -> &mut Self {
        self.command.args(arguments);
        self
    }

    #[cfg(test)]
    pub(super) fn environment(&self) -> Vec<(String, Option<String>)> {
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        self.command
            .as_std()
            .get_envs()
            .map(|(name, value)| (text(name), value.map(text)))
            .collect()
    }

    /// `None` if it cannot be started or times out.
    pub(super) async fn run(mut self, limit: usize) -> Option<ProgramOutput> {
        let program = self.command.as_std().get_program().to_owned();
        let started = self.command.spawn().inspect_err(|error| {
            tracing::debug!(?program, %error, "failed to start a program");
        });
        let mut group = ProgramGroup(started.ok()?);
        let result = timeout_at(self.deadline, group.output(limit)).await;
        match result {
            Ok(output) => {
                let success = output.as_ref().is_some_and(|output| output.success);
                tracing::trace!(?program, success, "a program ended");
                output
            }
            Err(_) => {
                tracing::debug!(?program, "a program timed out");
                None
            }
        }
    }
}

/// A child process that leads its own process group.
struct ProgramGroup(Child);

impl ProgramGroup {
    async fn output(&mut self, limit: usize) -> Option<ProgramOutput> {
        let mut bytes = Vec::new();
        let stdout = self.0.stdout.take()?;
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        stdout.take(most).read_to_end(&mut bytes).await.ok()?;
        if bytes.len() > limit {
            bytes.truncate(limit);
            return Some(ProgramOutput { bytes, success: false, cut: true });
        }
        let status = self.0.wait().await.ok()?;
        Some(ProgramOutput { bytes, success: status.success(), cut: false })
    }
}

impl Drop for ProgramGroup {
    fn drop(&mut self) {
        // The id is valid only until the process has been waited for.
        let leader = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(leader) = leader {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl ProgramOutput {
    /// The parts that are terminated by NUL. A truncated last part is skipped.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let whole = self.bytes.iter().rposition(|byte| *byte == 0).unwrap_or(0);
        self.bytes[..whole].split(|byte| *byte == 0).filter(|part| !part.is_empty())
    }
}
