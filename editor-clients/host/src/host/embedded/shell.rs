//! Runs the agent's shell commands with limits on time and output.

use std::collections::VecDeque;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until};

use super::EmbeddedSettings;
use crate::posix::{end_with_parent, in_own_session};

/// The result of a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommandResult {
    pub(super) exit_code: i64,
    pub(super) output: String,
}

/// The largest output in bytes. The middle of a longer output is left out.
const OUTPUT_BYTES: usize = 16 * 1024;

/// A shell's exit code for a missing program.
const NOT_FOUND: i64 = 127;

/// The exit code of `timeout` for a program that it stopped.
const OUT_OF_TIME: i64 = 124;

const TIME_LIMIT: Duration = Duration::from_secs(120);
const LONGEST: u64 = 3600;

/// How long to read output after the command ended. Another process may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs one command line. Dropping the future kills the command and its descendants.
pub(super) async fn run(
    settings: &EmbeddedSettings,
    line: &str,
    timeout_seconds: Option<u64>,
) -> CommandResult {
    if let Some(program) = settings.pretended
        && line.split([' ', ';', '&', '|', '\n']).any(|word| word == program)
    {
        return CommandResult { exit_code: 0, output: format!("({program} is not run here)") };
    }
    let limit = timeout_seconds.map_or(TIME_LIMIT, |it| Duration::from_secs(it.min(LONGEST)));
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).current_dir(&settings.cwd);
    // A prompt for a user name or password would never be answered.
    command.env("GIT_TERMINAL_PROMPT", "0");
    command.envs(settings.environment.iter().cloned());
    for name in &settings.hidden {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    in_own_session(&mut command);
    end_with_parent(&mut command);
    match command.spawn() {
        Ok(child) => watch(child, limit).await,
        Err(error) => CommandResult { exit_code: NOT_FOUND, output: format!("sh: {error}") },
    }
}

async fn watch(mut child: Child, limit: Duration) -> CommandResult {
    let group = ProcessGroup::of(&child);
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let mut clip = OutputTail::default();
    let deadline = Instant::now() + limit;
    let exit_code = loop {
        tokio::select! {
            piece = piece_of(&mut out), if out.is_some() => clip.push(&piece),
            piece = piece_of(&mut err), if err.is_some() => clip.push(&piece),
            // A command that was ended by a signal has no exit code.
            status = child.wait() => {
                break status.ok().and_then(|status| status.code()).map_or(-1, i64::from);
            }
            () = sleep_until(deadline) => {
                clip.note = Some(format!("(stopped after {} s)", limit.as_secs()));
                break OUT_OF_TIME;
            }
        }
    };
    drop(group);
    let deadline = Instant::now() + LAST_WORDS;
    while out.is_some() || err.is_some() {
        tokio::select! {
            piece = piece_of(&mut out), if out.is_some() => clip.push(&piece),
            piece = piece_of(&mut err), if err.is_some() => clip.push(&piece),
            () = sleep_until(deadline) => break,
        }
    }
    CommandResult { exit_code, output: clip.text() }
}

/// Reads a piece. At the end of the pipe it is empty, and the pipe becomes `None`.
async fn piece_of(pipe: &mut Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut piece = Vec::with_capacity(8 * 1024);
    let read = match pipe {
        Some(reader) => reader.read_buf(&mut piece).await,
        None => Ok(0),
    };
    if !read.is_ok_and(|read| read > 0) {
        *pipe = None;
    }
    piece
}

/// The process group of a command. Dropping it kills the group.
struct ProcessGroup {
    leader: Option<rustix::process::Pid>,
}

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(rustix::process::Pid::from_raw) }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            // Usually the group has already ended.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Keeps the beginning and the end of an output.
#[derive(Default)]
struct OutputTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
    note: Option<String>,
}

impl OutputTail {
    fn push(&mut self, bytes: &[u8]) {
        let room = (OUTPUT_BYTES / 2).saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(OUTPUT_BYTES / 2);
        self.tail.drain(..over);
        self.left_out += over;
    }

    fn text(self) -> String {
        let mut bytes = self.head;
        if self.left_out > 0 {
            bytes.extend(format!("\n… {} bytes left out …\n", self.left_out).bytes());
        }
        bytes.extend(self.tail);
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(note) = self.note {
            text.push_str(&note);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&str], expected: &str) {
        let mut clip = OutputTail::default();
        for piece in pieces {
            clip.push(piece.as_bytes());
        }
        assert_eq!(clip.text(), expected);
    }

    #[test]
    fn a_long_output_keeps_its_beginning_and_end() {
        let half = OUTPUT_BYTES / 2;
        let (first, last) = ("a".repeat(half), "z".repeat(half));
        check(&["short ", "output"], "short output");
        check(&[&first, &last], &format!("{first}{last}"));
        check(&[&first, "left", " out", &last], &format!("{first}\n… 8 bytes left out …\n{last}"));
    }
}
