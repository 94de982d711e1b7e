//! A synchronous client of a real sidecar: typed calls, raw bytes, notifications in order. All waits have a timeout, which
//! reports the messages so far.

mod frames;
mod home;
mod process;

pub use home::TestHome;

use crate::binary::rawr;
use rawr_protocol::methods::{
    ActionPerform, CompactionUpdate, ConfigChanged, DecisionRecorded, Initialize, Initialized,
    PacketChanged, ScratchChanged, SequenceHeadsUp, SequenceResponded, Shutdown, ThreadChanged,
    ThreadListChanged,
};
use rawr_protocol::{
    Empty, ErrorCode, ErrorData, InitializeParams, Notification, PeerInfo, Request,
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Only a hang takes this long.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) fn must<T, E: Display>(result: Result<T, E>, what: &str) -> T {
    result.unwrap_or_else(|error| panic!("cannot {what}: {error}"))
}

/// The standard streams of the child.
#[derive(Debug, Clone, Default)]
pub enum Streams {
    #[default]
    Pipes,
    /// One socket for both, as Node gives its children.
    Socket,
    /// Input from a file, output to a pipe.
    InputFile(PathBuf),
    /// Pipes, and nothing reads the output before [`TestSidecar::read_from_now_on`].
    Unread,
}

/// Options for starting a sidecar.
#[derive(Debug, Clone, Default)]
pub struct LaunchOptions {
    pub streams: Streams,
    pub environment: Vec<(&'static str, OsString)>,
    /// What a shell does before it becomes the sidecar.
    pub prelude: Option<&'static str>,
    /// A user who is not root, where the test is: root ignores permissions.
    pub unprivileged: bool,
}

/// An error answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub code: ErrorCode,
    pub message: String,
    pub data: ErrorData,
}

/// A notification.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    pub method: String,
    pub params: Value,
}

#[derive(Debug)]
pub struct TestSidecar {
    child: Child,
    writer: Option<Writer>,
    arrivals: Receiver<Value>,
    /// Where to send what comes, as long as nothing is read.
    unread: Option<Sender<Value>>,
    /// Answers that came while another was waited for.
    answers: Vec<Value>,
    notes: VecDeque<Note>,
    allowed: Vec<&'static str>,
    last_id: u64,
    /// The newest messages in both directions, for the report of a failure.
    story: VecDeque<String>,
    stderr: PathBuf,
}

#[derive(Debug)]
enum Writer {
    Pipe(std::process::ChildStdin),
    Socket(UnixStream),
}

impl TestSidecar {
    /// Starts a sidecar and completes the handshake.
    pub fn start(home: &TestHome) -> Self {
        Self::launch(home, &LaunchOptions::default())
    }

    pub fn launch(home: &TestHome, launch: &LaunchOptions) -> Self {
        let mut sidecar = Self::spawn(home, launch);
        sidecar.greet("test");
        sidecar
    }

    pub fn greet(&mut self, client: &str) {
        let client_info = Some(PeerInfo { name: client.to_owned(), version: None });
        self.call::<Initialize>(&InitializeParams { client_info, ..InitializeParams::default() });
        self.notify::<Initialized>(&Empty {});
    }

    /// Starts a sidecar without the handshake.
    pub fn spawn(home: &TestHome, launch: &LaunchOptions) -> Self {
        let stderr = home.stderr();
        let mut command = home.command(rawr(), launch);
        command.arg("serve").stderr(must(File::create(&stderr), "create the log"));
        let (sender, arrivals) = channel();
        let mut unread = None;
        let (child, writer) = match &launch.streams {
            Streams::Socket => {
                let (ours, theirs) = must(UnixStream::pair(), "make a socket pair");
                let theirs = OwnedFd::from(theirs);
                let output = must(theirs.try_clone(), "duplicate a socket");
                let child = start(command.stdin(theirs).stdout(output));
                let reader = must(ours.try_clone(), "duplicate a socket");
                thread::spawn(move || frames::read_all(reader, &sender));
                (child, Some(Writer::Socket(ours)))
            }
            streams => {
                let stdin = match streams {
                    Streams::InputFile(path) => {
                        Stdio::from(must(File::open(path), "open the input"))
                    }
                    Streams::Pipes | Streams::Socket | Streams::Unread => Stdio::piped(),
                };
                let mut child = start(command.stdin(stdin).stdout(Stdio::piped()));
                if matches!(streams, Streams::Unread) {
                    unread = Some(sender);
                } else if let Some(stdout) = child.stdout.take() {
                    thread::spawn(move || frames::read_all(stdout, &sender));
                }
                let writer = child.stdin.take().map(Writer::Pipe);
                (child, writer)
            }
        };
        // The command holds the child's ends of a socket: while it lives, the end of input is never seen.
        drop(command);
        Self {
            child,
            writer,
            arrivals,
            unread,
            answers: Vec::new(),
            notes: VecDeque::new(),
            // Where several start at once, one puts the shipped prompts in place, and the others hear of it. Notes and
            // packets are told beside what most tests are about.
            allowed: vec![ConfigChanged::METHOD, ScratchChanged::METHOD, PacketChanged::METHOD],
            last_id: 0,
            story: VecDeque::new(),
            stderr,
        }
    }

    /// Starts reading the output of a sidecar that was started with [`Streams::Unread`].
    pub fn read_from_now_on(&mut self) {
        if let (Some(stdout), Some(sender)) = (self.child.stdout.take(), self.unread.take()) {
            thread::spawn(move || frames::read_all(stdout, &sender));
        }
    }

    /// The answer to a request that must succeed.
    pub fn call<R: Request>(&mut self, params: &R::Params) -> R::Result {
        self.try_call::<R>(params).unwrap_or_else(|failure| {
            panic!("{} failed: {failure:#?}\n{}", R::METHOD, self.told());
        })
    }

    /// The error of a request that must fail.
    pub fn failure<R: Request>(&mut self, params: &R::Params) -> Failure {
        match self.try_call::<R>(params) {
            Ok(_) => panic!("{} succeeded\n{}", R::METHOD, self.told()),
            Err(failure) => *failure,
        }
    }

    pub fn try_call<R: Request>(&mut self, params: &R::Params) -> Result<R::Result, Box<Failure>> {
        let id = self.ask::<R>(params);
        self.answer::<R>(id)
    }

    /// Sends a request to a sidecar that may die; returns no answer then.
    pub fn request(&mut self, method: &str, params: &Value) -> Option<Result<Value, Box<Failure>>> {
        self.last_id += 1;
        let id = json!(self.last_id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = self.find_answer(&id)?;
        Some(match answer.get("error") {
            Some(error) => Err(Box::new(failure(error))),
            None => Ok(answer.get("result").cloned().unwrap_or_default()),
        })
    }

    /// Sends a request and leaves its answer for [`Self::answer`].
    pub fn ask<R: Request>(&mut self, params: &R::Params) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": R::METHOD, "params": params }));
        id
    }

    pub fn answer<R: Request>(&mut self, id: u64) -> Result<R::Result, Box<Failure>> {
        let answer = self.answer_to(&json!(id));
        if let Some(error) = answer.get("error") {
            return Err(Box::new(failure(error)));
        }
        let result = answer.get("result").cloned().unwrap_or_default();
        Ok(must(serde_json::from_value(result), R::METHOD))
    }

    /// The whole answer with this id.
    pub fn answer_to(&mut self, id: &Value) -> Value {
        self.find_answer(id).unwrap_or_else(|| panic!("no answer to {id}\n{}", self.told()))
    }

    fn find_answer(&mut self, id: &Value) -> Option<Value> {
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer.get("id") == Some(id)) {
                return Some(self.answers.remove(at));
            }
            if !self.receive() {
                return None;
            }
        }
    }

    pub fn notify<N: Notification>(&mut self, params: &N::Params) {
        self.send(&json!({ "jsonrpc": "2.0", "method": N::METHOD, "params": params }));
    }

    pub fn send(&mut self, message: &Value) {
        self.send_body(message.to_string().as_bytes());
    }

    /// Sends several messages in one write.
    pub fn send_at_once(&mut self, messages: &[Value]) {
        let frame = |message: &Value| {
            let body = message.to_string();
            format!("Content-Length: {}\r\n\r\n{body}", body.len())
        };
        self.send_raw(messages.iter().map(frame).collect::<String>().as_bytes());
    }

    /// Sends any bytes in a valid frame.
    pub fn send_body(&mut self, body: &[u8]) {
        let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        frame.extend_from_slice(body);
        self.send_raw(&frame);
    }

    /// Sends any bytes. A closed pipe is ignored, because the exit of the sidecar is checked elsewhere.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        self.note_down("→", &String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]));
        let written = match &mut self.writer {
            Some(Writer::Pipe(pipe)) => pipe.write_all(bytes).and_then(|()| pipe.flush()),
            Some(Writer::Socket(socket)) => socket.write_all(bytes),
            None => panic!("the input is closed"),
        };
        drop(written);
    }

    /// The next notification in order, which must be this one.
    pub fn expect<N: Notification>(&mut self) -> N::Params {
        let note = self.next_note();
        assert_eq!(note.method, N::METHOD, "{}\n{}", note.params, self.told());
        must(serde_json::from_value(note.params), N::METHOD)
    }

    /// The next notification of this method. Those before it must be allowed.
    pub fn wait_for<N: Notification>(&mut self) -> N::Params {
        loop {
            let note = self.next_note();
            if note.method == N::METHOD {
                return must(serde_json::from_value(note.params), N::METHOD);
            }
            if !self.allowed.contains(&note.method.as_str()) {
                panic!("{} came before {}\n{}", note.method, N::METHOD, self.told());
            }
        }
    }

    /// The next notification in order, whatever it is.
    pub fn next_note(&mut self) -> Note {
        while self.notes.is_empty() {
            if !self.receive() {
                panic!("no notification came\n{}", self.told());
            }
        }
        self.notes.pop_front().unwrap_or_else(|| panic!("no notification"))
    }

    /// The notifications before the last answer.
    pub fn take_notes(&mut self) -> Vec<Note> {
        self.notes.drain(..).collect()
    }

    /// The notifications of this method before the last answer.
    pub fn take<N: Notification>(&mut self) -> Vec<N::Params> {
        let of_it = |note: &Note| note.method == N::METHOD;
        let (wanted, others): (Vec<_>, Vec<_>) = self.notes.drain(..).partition(of_it);
        self.notes = others.into();
        wanted
            .into_iter()
            .map(|note| must(serde_json::from_value(note.params), N::METHOD))
            .collect()
    }

    /// Ignores the notifications of this method.
    pub fn allow<N: Notification>(&mut self) {
        self.allowed.push(N::METHOD);
    }

    /// Allows what a sidecar tells of other clients' requests.
    pub fn allow_news_of_others(&mut self) {
        self.allow::<ActionPerform>();
        self.allow::<CompactionUpdate>();
        self.allow::<DecisionRecorded>();
        self.allow::<SequenceHeadsUp>();
        self.allow::<SequenceResponded>();
        self.allow::<ThreadChanged>();
        self.allow::<ThreadListChanged>();
    }

    /// Any next message, answer or not.
    pub fn next_answer(&mut self) -> Value {
        while self.answers.is_empty() {
            if !self.receive() {
                panic!("no answer came\n{}", self.told());
            }
        }
        self.answers.remove(0)
    }

    /// False once the output has ended.
    fn receive(&mut self) -> bool {
        let message = match self.arrivals.recv_timeout(LIMIT) {
            Ok(message) => message,
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => panic!("nothing came for {LIMIT:?}\n{}", self.told()),
        };
        let text: String = message.to_string().chars().take(2000).collect();
        self.note_down("←", &text);
        match (message.get("id"), message.get("method").and_then(Value::as_str)) {
            (None, Some(method)) => {
                let params = message.get("params").cloned().unwrap_or_default();
                self.notes.push_back(Note { method: method.to_owned(), params });
            }
            _ => self.answers.push(message),
        }
        true
    }

    fn note_down(&mut self, direction: &str, text: &str) {
        if self.story.len() == 40 {
            self.story.pop_front();
        }
        self.story.push_back(format!("{direction} {text}"));
    }

    /// The messages so far, and the log.
    pub fn told(&self) -> String {
        let story = self.story.iter().cloned().collect::<Vec<_>>().join("\n");
        format!("so far:\n{story}\nlog:\n{}", self.log())
    }

    /// The sidecar's standard error.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.stderr).unwrap_or_default()
    }

    pub fn end_input(&mut self) {
        if let Some(Writer::Socket(socket)) = &self.writer {
            drop(socket.shutdown(std::net::Shutdown::Write));
        }
        self.writer = None;
    }

    /// Waits for the process and the rest of its output.
    pub fn wait(&mut self) -> ExitStatus {
        let give_up = Instant::now() + LIMIT;
        let status = loop {
            match must(self.child.try_wait(), "wait for the sidecar") {
                Some(status) => break status,
                None if Instant::now() > give_up => panic!("it does not end\n{}", self.told()),
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        self.unread = None;
        while self.receive() {}
        status
    }

    /// `shutdown`, `exit`, and the end of the process.
    pub fn leave(mut self) {
        self.end();
    }

    /// Ends it without reading the notifications that have arrived.
    pub fn discard_and_leave(mut self) {
        self.take_notes();
        self.end();
    }

    fn end(&mut self) {
        self.call::<Shutdown>(&Empty {});
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        let status = self.wait();
        assert!(status.success(), "{status}\n{}", self.told());
    }
}

impl Drop for TestSidecar {
    fn drop(&mut self) {
        drop(self.child.kill());
        if thread::panicking() {
            return;
        }
        self.wait();
        assert!(self.answers.is_empty(), "no request asked for {:#?}", self.answers);
        let unread = |note: &&Note| !self.allowed.contains(&note.method.as_str());
        let unread: Vec<_> = self.notes.iter().filter(unread).collect();
        assert!(unread.is_empty(), "unread messages: {unread:#?}");
    }
}

fn start(command: &mut Command) -> Child {
    must(command.spawn(), "start the sidecar")
}

/// An error object, whose code must be one of ours.
pub fn failure(error: &Value) -> Failure {
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let code = code.and_then(ErrorCode::from_code);
    let data = error.get("data").cloned().unwrap_or_default();
    Failure {
        code: code.unwrap_or_else(|| panic!("an unknown code in {error}")),
        message: error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
        data: serde_json::from_value(data).unwrap_or_default(),
    }
}
