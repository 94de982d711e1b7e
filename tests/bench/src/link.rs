//! A server under test: its process, its pipes, and the frames that come back. A server that hangs is killed after a
//! while, so that the run does not hang.

use std::{
    ffi::OsString,
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    ops::Range,
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc,
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{Errno, ioctl_fionbio, read, write},
    process::{Pid, Signal, kill_process},
};
use serde_json::{Value, json};

use crate::frame;

const PATIENCE: Duration = Duration::from_secs(120);
const STDERR_TAIL: i64 = 2_000;

/// What to run.
#[derive(Debug, Clone)]
pub struct LaunchCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub env: Vec<(&'static str, OsString)>,
}

/// How the server answers a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The bytes come back as they were.
    Bytes,
    /// Requests are answered, and notifications may stand between the answers.
    JsonRpc,
}

pub struct Link {
    child: Child,
    // Both are `Some` until the link is dropped: the server sees its input end before it is waited for.
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    stderr: File,
    inbox: Inbox,
    dialect: Dialect,
    watchdog: Watchdog,
}

impl Link {
    /// Starts the server; nothing is sent yet.
    pub fn start(launch: &LaunchCommand, dialect: Dialect) -> Result<Self> {
        let stderr = tempfile::tempfile().context("no temporary file for the server's stderr")?;
        let mut child = Command::new(&launch.program)
            .args(&launch.args)
            .envs(launch.env.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr.try_clone()?)
            .spawn()
            .with_context(|| format!("{} does not start", launch.program.display()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let watchdog = Watchdog::over(child.id());
        Ok(Self { child, input, output, stderr, inbox: Inbox::new(), dialect, watchdog })
    }

    /// With a longer time limit.
    pub fn renew_patience(&mut self) {
        self.watchdog = Watchdog::over(self.child.id());
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request and waits for the answer to it; returns its result.
    pub fn call(&mut self, id: u64, method: &str, params: Value) -> Result<Value> {
        self.ask(id, method, params)?;
        let mut answer: Value = serde_json::from_slice(self.reply()?)?;
        if answer["id"] != id {
            bail!("{method}: answered with another id: {answer}");
        }
        if let Some(error) = answer.get("error") {
            bail!("{method}: {error}");
        }
        Ok(answer["result"].take())
    }

    /// Sends a request, whose answer is left to be read.
    pub fn ask(&mut self, id: u64, method: &str, params: Value) -> Result<()> {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&frame::message(&request))
    }

    pub fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.send(&frame::message(&json!({"jsonrpc": "2.0", "method": method, "params": params})))
    }

    /// Sends one frame. The pipe must be in blocking mode, as it is but for [`Link::pump`].
    pub fn send(&mut self, frame: &[u8]) -> Result<()> {
        self.input()?.write_all(frame).map_err(|error| self.blame(error.into()))
    }

    /// The body of the next reply.
    pub fn reply(&mut self) -> Result<&[u8]> {
        let body = loop {
            if let Some(body) = self.inbox.next(self.dialect)? {
                break body;
            }
            self.read_some()?;
        };
        Ok(&self.inbox.bytes[body])
    }

    /// Keeps `window` requests in flight until `count` are answered. `build` appends the frame of the nth request;
    /// `seen` gets each reply. Neither side can block the other: both pipes are polled.
    pub fn pump(
        &mut self,
        (count, window): (u64, u64),
        mut build: impl FnMut(u64, &mut Vec<u8>),
        mut seen: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.set_nonblocking(true)?;
        let (mut outbox, mut sent) = (Vec::new(), 0);
        let (mut built, mut answered) = (0, 0);
        while answered < count {
            if sent == outbox.len() {
                outbox.clear();
                sent = 0;
                while built < count && built - answered < window {
                    build(built, &mut outbox);
                    built += 1;
                }
            }
            let written = self.write_some(&outbox[sent..])?;
            sent += written;
            let before = answered;
            while let Some(body) = self.inbox.next(self.dialect)? {
                seen(&self.inbox.bytes[body])?;
                answered += 1;
            }
            let read = self.read_some()?;
            if written == 0 && read == 0 && answered == before {
                self.wait(sent < outbox.len())?;
            }
        }
        self.set_nonblocking(false)
    }

    fn write_some(&mut self, bytes: &[u8]) -> Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        match write(self.input()?, bytes) {
            Ok(written) => Ok(written),
            Err(Errno::AGAIN) => Ok(0),
            Err(error) => Err(self.blame(error.into())),
        }
    }

    fn read_some(&mut self) -> Result<usize> {
        let output = self.output.as_mut().context("the link is closed")?;
        match self.inbox.fill(output) {
            Ok(0) => Err(self.blame(anyhow!("the server ended its output"))),
            Ok(read) => Ok(read),
            Err(Errno::AGAIN) => Ok(0),
            Err(error) => Err(self.blame(error.into())),
        }
    }

    fn wait(&mut self, wants_to_write: bool) -> Result<()> {
        let output = self.output.as_ref().context("the link is closed")?;
        let input = self.input.as_ref().context("the link is closed")?;
        let mut ends = vec![PollFd::new(output, PollFlags::IN)];
        if wants_to_write {
            ends.push(PollFd::new(input, PollFlags::OUT));
        }
        poll(&mut ends, None)?;
        Ok(())
    }

    fn set_nonblocking(&mut self, on: bool) -> Result<()> {
        ioctl_fionbio(self.input()?, on)?;
        Ok(ioctl_fionbio(self.output()?, on)?)
    }

    fn input(&mut self) -> Result<&mut ChildStdin> {
        self.input.as_mut().context("the link is closed")
    }

    fn output(&mut self) -> Result<&mut ChildStdout> {
        self.output.as_mut().context("the link is closed")
    }

    /// The error with what the server last said on stderr.
    fn blame(&mut self, error: anyhow::Error) -> anyhow::Error {
        let mut said = String::new();
        let tail = self.stderr.seek(SeekFrom::End(0)).map(|end| end.min(STDERR_TAIL as u64));
        if let Ok(tail) = tail
            && self.stderr.seek(SeekFrom::End(-(tail as i64))).is_ok()
        {
            let mut bytes = Vec::new();
            let _ = self.stderr.read_to_end(&mut bytes);
            said = String::from_utf8_lossy(&bytes).trim().to_owned();
        }
        if said.is_empty() { error } else { error.context(said) }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        drop((self.input.take(), self.output.take()));
        // The watchdog still runs: it kills a server that ignores the end of its input.
        let _ = self.child.wait();
    }
}

/// Bytes read and not yet taken.
struct Inbox {
    bytes: Vec<u8>,
    taken: usize,
    end: usize,
}

impl Inbox {
    fn new() -> Self {
        Self { bytes: vec![0; 1 << 18], taken: 0, end: 0 }
    }

    fn fill(&mut self, from: &mut ChildStdout) -> Result<usize, Errno> {
        if self.taken > 0 {
            self.bytes.copy_within(self.taken..self.end, 0);
            self.end -= self.taken;
            self.taken = 0;
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(self.end * 2, 0);
        }
        let got = read(from, &mut self.bytes[self.end..])?;
        self.end += got;
        Ok(got)
    }

    fn next(&mut self, dialect: Dialect) -> Result<Option<Range<usize>>> {
        loop {
            let start = self.taken;
            let Some(body) = frame::split(&self.bytes[start..self.end])? else { return Ok(None) };
            let body = start + body.start..start + body.end;
            self.taken = body.end;
            if dialect == Dialect::Bytes || !frame::is_notification(&self.bytes[body.clone()]) {
                return Ok(Some(body));
            }
        }
    }
}

/// Kills the process unless it is stopped in time.
struct Watchdog {
    call_off: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    fn over(pid: u32) -> Self {
        let (call_off, called_off) = mpsc::channel();
        let thread = thread::spawn(move || {
            if called_off.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout)
                && let Some(pid) = Pid::from_raw(pid.cast_signed())
            {
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        Self { call_off: Some(call_off), thread: Some(thread) }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.call_off.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
