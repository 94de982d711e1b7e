//! The pipes of a host's process: JSON lines out and in. Knows no message, and loses none when a wait is cancelled.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use crate::posix::end_with_parent;

/// What came from the other side.
#[derive(Debug)]
pub(super) enum Received {
    Message(Value),
    /// Something that is not JSON.
    Noise(String),
    /// The other side has ended, or hung up. Told again at every further call.
    End {
        reason: String,
    },
}

pub(super) fn received(text: &[u8]) -> Received {
    match serde_json::from_slice(text) {
        Ok(message) => Received::Message(message),
        Err(_) => Received::Noise(String::from_utf8_lossy(text).into_owned()),
    }
}

/// A running agent program. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Pipes {
    /// What a person calls it.
    name: &'static str,
    child: Child,
    exit: Option<ExitStatus>,
    /// Gone once the program no longer reads.
    stdin: Option<ChildStdin>,
    /// What the program has not taken yet. Kept here so that a cancelled wait cannot tear a line.
    unsent: Vec<u8>,
    stdout: LineReader<ChildStdout>,
    /// Gone once it is at its end.
    stderr: Option<LineReader<ChildStderr>>,
    /// The latest lines of stderr: when Codex dies, they say why.
    last_words: VecDeque<String>,
}

const LAST_WORDS: usize = 8;

/// How long a dead process's pipes may stay open: a program that it started can hold them.
const AFTER_DEATH: Duration = Duration::from_secs(1);

/// How long the program may take to store its thread after its input has ended.
const ORDERLY_END: Duration = Duration::from_secs(5);

impl Pipes {
    /// Starts the process, without a shell.
    pub(super) fn start(name: &'static str, mut command: Command) -> std::io::Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Ctrl-C in a terminal is for the driver, which then ends the program in order.
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

    /// Queues one message. It is on its way while [`receive`](Self::receive) or [`close`](Self::close) is awaited.
    pub(super) fn send(&mut self, message: &Value) {
        self.unsent.extend_from_slice(message.to_string().as_bytes());
        self.unsent.push(b'\n');
    }

    /// The next message. May be cancelled at any time.
    pub(super) async fn receive(&mut self) -> Received {
        while let Some(line) = self.line().await {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            return received(line);
        }
        Received::End { reason: self.exit_error().await }
    }

    pub(super) fn process_id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Ends the process's input, and the process itself if it does not take that as its end.
    pub(super) async fn close(mut self) {
        let Self { child, stdin, unsent, stdout, stderr, .. } = &mut self;
        let orderly = async {
            let last = async {
                if let Some(mut stdin) = stdin.take() {
                    // One that reads no more is on its way out by itself.
                    let _ = stdin.write_all(unsent).await;
                }
            };
            // Nobody reads this any more, but a full pipe would keep the program from ending.
            let out = async { while let Ok(Some(_)) = stdout.next().await {} };
            let words = async { while stderr.is_some() && read_some(stderr).await.is_some() {} };
            tokio::join!(last, out, words);
            child.wait().await
        };
        if tokio::time::timeout(ORDERLY_END, orderly).await.is_err() {
            // Failing means that it has ended after all.
            let _ = self.child.kill().await;
        }
    }

    /// One line of stdout, while stdin and stderr are kept moving. `None` at the end.
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

    /// Why there is nothing more to read.
    async fn exit_error(&mut self) -> String {
        let rest = async {
            while self.stderr.is_some()
                && let Some(words) = read_some(&mut self.stderr).await
            {
                remember(&mut self.last_words, words);
            }
        };
        // Running out of time only means that somebody else holds the pipe.
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

/// Keeps the latest lines, but none of a backtrace: what a person needs to know stands before it.
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

/// Waits for ever when there is nothing to write, or nowhere to.
async fn write_some(stdin: &mut Option<ChildStdin>, unsent: &[u8]) -> std::io::Result<usize> {
    match stdin {
        Some(stdin) if !unsent.is_empty() => stdin.write(unsent).await,
        _ => std::future::pending().await,
    }
}

/// Waits for ever when there is nothing to read from; `None` at the end.
async fn read_some(stderr: &mut Option<LineReader<ChildStderr>>) -> Option<String> {
    match stderr {
        Some(stderr) => {
            let line = stderr.next().await.ok()??;
            Some(String::from_utf8_lossy(line.trim_ascii()).into_owned())
        }
        None => std::future::pending().await,
    }
}

/// Lines as bytes, whatever they hold.
#[derive(Debug)]
struct LineReader<R> {
    reader: BufReader<R>,
    /// The part of a line that was read before a wait was cancelled.
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
