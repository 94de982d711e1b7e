//! JSON Lines over the pipes of a host's process. All waits are cancel safe: no message is lost.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rawr_protocol::read_json;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use crate::posix::end_with_parent;

/// What arrived from the process.
#[derive(Debug)]
pub(super) enum PipeMessage {
    Message(Value),
    /// A line that is not JSON.
    Noise(String),
    /// The process ended or closed its output. Returned again by every further call.
    End {
        reason: String,
    },
}

pub(super) fn received(text: &[u8]) -> PipeMessage {
    match read_json(text) {
        Ok(message) => PipeMessage::Message(message),
        Err(_) => PipeMessage::Noise(String::from_utf8_lossy(text).into_owned()),
    }
}

/// A running agent program. Dropping it kills the process.
#[derive(Debug)]
pub(super) struct ProcessPipes {
    /// The program's name in messages.
    name: &'static str,
    child: Child,
    exit: Option<ExitStatus>,
    /// `None` once the program no longer reads.
    stdin: Option<ChildStdin>,
    /// Bytes not yet written. Kept here so that a cancelled wait cannot cut a line.
    unsent: Vec<u8>,
    stdout: LineReader<ChildStdout>,
    /// `None` once it is at its end.
    stderr: Option<LineReader<ChildStderr>>,
    /// The last lines of stderr, for the error when the program dies.
    last_words: VecDeque<String>,
}

const LAST_WORDS: usize = 8;

/// How long to read the pipes of an ended process. Its child processes can hold them open.
const AFTER_DEATH: Duration = Duration::from_secs(1);

/// How long the program may take to store its thread after its input is closed.
const ORDERLY_END: Duration = Duration::from_secs(5);

impl ProcessPipes {
    /// Starts the process, without a shell.
    pub(super) fn start(name: &'static str, mut command: Command) -> std::io::Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Ctrl-C must reach only the driver, which then stops the program in an orderly way.
        command.process_group(0);
        end_with_parent(&mut command);
        let mut child = command.spawn()?;
        let missing = || std::io::Error::other("a pipe is missing");
        let stdout = LineReader::new(child.stdout.take().ok_or_else(missing)?);
        let stderr = LineReader::new(child.stderr.take().ok_or_else(missing)?);
        Ok(Self {
            name,
            stdin: Some(child.stdin.take().ok_or_else(missing)?),
            child,
            exit: None,
            unsent: Vec::new(),
            stdout,
            stderr: Some(stderr),
            last_words: VecDeque::new(),
        })
    }

    /// Queues one message. It is written while [`receive`](Self::receive) or [`close`](Self::close) is awaited.
    pub(super) fn send(&mut self, message: &Value) {
        self.unsent.extend_from_slice(message.to_string().as_bytes());
        self.unsent.push(b'\n');
    }

    /// Waits for the next message. Cancel safe.
    pub(super) async fn receive(&mut self) -> PipeMessage {
        while let Some(line) = self.line().await {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            return received(line);
        }
        PipeMessage::End { reason: self.exit_error().await }
    }

    pub(super) fn process_id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Closes the process's input, and kills the process if it does not exit.
    pub(super) async fn close(mut self) {
        let Self { child, stdin, unsent, stdout, stderr, .. } = &mut self;
        let orderly = async {
            let last = async {
                if let Some(mut stdin) = stdin.take() {
                    // If this fails, the process is already ending.
                    let _ = stdin.write_all(unsent).await;
                }
            };
            // Drain the pipes: a full pipe would keep the program from exiting.
            let out = async { while let Ok(Some(_)) = stdout.next().await {} };
            let words = async { while stderr.is_some() && read_some(stderr).await.is_some() {} };
            tokio::join!(last, out, words);
            child.wait().await
        };
        if tokio::time::timeout(ORDERLY_END, orderly).await.is_err() {
            // If this fails, the process has ended.
            let _ = self.child.kill().await;
        }
    }

    /// Reads one line of stdout while stdin is written and stderr is read. `None` at the end.
    async fn line(&mut self) -> Option<Vec<u8>> {
        loop {
            let patience = if self.exit.is_some() { AFTER_DEATH } else { Duration::MAX };
            tokio::select! {
                line = tokio::time::timeout(patience, self.stdout.next()) => return line.ok()?.ok()?,
                taken = write_some(&mut self.stdin, &self.unsent) => match taken {
                    Ok(count) => drop(self.unsent.drain(..count)),
                    Err(_) => self.stdin = None,
                },
                words = read_some(&mut self.stderr) => match words {
                    Some(words) => remember(&mut self.last_words, words),
                    None => self.stderr = None,
                },
                status = self.child.wait(), if self.exit.is_none() => self.exit = status.ok(),
            }
        }
    }

    /// Describes how the process ended.
    async fn exit_error(&mut self) -> String {
        let rest = async {
            while self.stderr.is_some()
                && let Some(words) = read_some(&mut self.stderr).await
            {
                remember(&mut self.last_words, words);
            }
        };
        // A timeout means that another process holds the pipe open.
        let _ = tokio::time::timeout(AFTER_DEATH, rest).await;
        self.stderr = None;
        if self.exit.is_none() {
            self.exit = tokio::time::timeout(AFTER_DEATH, self.child.wait())
                .await
                .ok()
                .and_then(Result::ok);
        }
        let how = match self.exit {
            Some(status) => format!("{} ended ({status})", self.name),
            None => format!("{} closed its output", self.name),
        };
        if self.last_words.is_empty() {
            return how;
        }
        let words: Vec<_> = self.last_words.iter().map(String::as_str).collect();
        format!("{how}; its last words: {}", words.join(" | "))
    }
}

/// Keeps the last lines, without a backtrace: the cause is printed before it.
fn remember(last_words: &mut VecDeque<String>, words: String) {
    let numbered = words.split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    if words.is_empty()
        || numbered
        || words.starts_with("at ")
        || words.eq_ignore_ascii_case("stack backtrace:")
    {
        return;
    }
    if last_words.len() == LAST_WORDS {
        last_words.pop_front();
    }
    last_words.push_back(words);
}

/// Pending if there is nothing to write or stdin is closed.
async fn write_some(stdin: &mut Option<ChildStdin>, unsent: &[u8]) -> std::io::Result<usize> {
    match stdin {
        Some(stdin) if !unsent.is_empty() => stdin.write(unsent).await,
        _ => std::future::pending().await,
    }
}

/// Pending if stderr is closed; `None` at its end.
async fn read_some(stderr: &mut Option<LineReader<ChildStderr>>) -> Option<String> {
    match stderr {
        Some(stderr) => {
            let line = stderr.next().await.ok()??;
            Some(String::from_utf8_lossy(line.trim_ascii()).into_owned())
        }
        None => std::future::pending().await,
    }
}

/// Reads lines as bytes, which need not be UTF-8.
#[derive(Debug)]
struct LineReader<R> {
    reader: BufReader<R>,
    /// The partial line that was read before a wait was cancelled.
    begun: Vec<u8>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    fn new(reader: R) -> Self {
        Self { reader: BufReader::new(reader), begun: Vec::new() }
    }

    async fn next(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let count = self.reader.read_until(b'\n', &mut self.begun).await?;
        if count == 0 && self.begun.is_empty() {
            return Ok(None);
        }
        Ok(Some(std::mem::take(&mut self.begun)))
    }
}
