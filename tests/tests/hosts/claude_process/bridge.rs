//! What rawr's plugin and `rawr claude-mod` say to each other, for a scripted Claude Code: the one file of `random` that knows it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use rawr_tests::rawr;
use serde_json::{Value, json};

const MODEL: &str = "claude-sonnet-4-5";

/// How long the plugin waits for an answer. A rawr that takes longer hangs.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// What rawr wants to be done, and when that was read.
#[derive(Debug)]
pub struct Order {
    pub at: Instant,
    pub id: u64,
    pub kind: OrderKind,
}

#[derive(Debug)]
pub enum OrderKind {
    /// Start a turn with this.
    Submit(String),
    /// Add this to the conversation.
    Append(String),
    Compact,
    /// End this turn.
    Abort(String),
    /// Ask the model about the conversation, or without it.
    Sample,
    GiveUp(String),
}

/// What became of an order.
#[derive(Debug, Clone)]
pub enum Outcome {
    Done,
    Text(String),
    Compacted(u64),
    /// The order is in the turn of a message of the person.
    Joined,
    Failed(&'static str),
}

/// A question that rawr has not answered yet.
#[derive(Debug)]
pub struct Question {
    asked: Instant,
    answer: Receiver<Option<Value>>,
}

/// The answer so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    Waiting,
    Hold,
    Pass,
    /// rawr did not answer in time.
    Late,
}

impl Question {
    pub fn reply(&self) -> Reply {
        match self.answer.try_recv() {
            Ok(Some(answer)) if answer["hold"] == true => Reply::Hold,
            Ok(_) | Err(TryRecvError::Disconnected) => Reply::Pass,
            Err(TryRecvError::Empty) if self.asked.elapsed() > PATIENCE => Reply::Late,
            Err(TryRecvError::Empty) => Reply::Waiting,
        }
    }
}

#[derive(Debug)]
pub struct Bridge {
    process: Child,
    socket: PathBuf,
    orders: Receiver<Order>,
}

impl Drop for Bridge {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Bridge {
    /// Starts rawr for a session, and waits until it listens.
    pub fn start(home: &Path, folder: &Path, session: &str) -> Self {
        let mut command = Command::new(rawr());
        command.arg("claude-mod").current_dir(folder);
        command.env("RAWR_HOME", home).env_remove("CODEX_HOME");
        command.env_remove("XDG_RUNTIME_DIR").stderr(Stdio::null());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let session = json!({
            "sessionId": session, "cwd": folder, "transcriptPath": "", "model": MODEL,
            "contextWindow": 200_000, "carriedOut": [],
        });
        process.stdin.take().unwrap().write_all(session.to_string().as_bytes()).unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        let (socket_found, found_socket) = channel();
        let (send, orders) = channel();
        std::thread::spawn(move || read_orders(lines, &socket_found, &send));
        let socket = found_socket.recv_timeout(Duration::from_secs(60)).unwrap();
        Self { process, socket, orders }
    }

    pub fn next_order(&self) -> Option<Order> {
        self.orders.try_recv().ok()
    }

    pub fn next_order_within(&self, time: Duration) -> Option<Order> {
        self.orders.recv_timeout(time).ok()
    }

    /// Whether rawr took it.
    fn post(&self, event: &Value) -> bool {
        exchange(&self.socket, event).is_some()
    }

    fn ask(&self, question: Value) -> Question {
        let (send, answer) = channel();
        let socket = self.socket.clone();
        std::thread::spawn(move || send.send(exchange(&socket, &question)));
        Question { asked: Instant::now(), answer }
    }

    /// The person typed a message that starts a turn.
    pub fn may_pass(&self, message: &str, text: &str, tokens: u64) -> Question {
        self.post(&json!({"event": "measured", "contextWindow": 200_000, "contextTokens": tokens}));
        self.ask(json!({"question": "may_pass", "messageId": message, "text": text}))
    }

    pub fn still_held(&self, message: &str) -> Question {
        self.ask(json!({"question": "still_held", "messageId": message}))
    }

    /// The person took it back.
    pub fn withdrawn(&self, message: &str) -> bool {
        self.post(&json!({"event": "withdrawn", "messageId": message}))
    }

    pub fn turn_starts(&self, turn: &str, text: &str) -> bool {
        self.post(&json!({"event": "turn_started", "turnId": turn, "text": text}))
    }

    pub fn commits(&self, call: &str) -> bool {
        self.post(&json!({"event": "tool_started", "callId": call, "tool": "Bash"}))
            && self.post(&json!({
                "event": "tool_finished", "callId": call, "tool": "Bash", "bySubAgent": false,
                "input": {"tool": "Bash", "command": "git commit -m x"},
                "result": {"interrupted": false},
            }))
    }

    pub fn answers(&self, text: &str, tokens: u64, calls_tools: bool) -> bool {
        self.post(&json!({
            "event": "answered", "text": text, "model": MODEL, "callsTools": calls_tools,
            "usage": {"input_tokens": tokens, "output_tokens": 20},
        }))
    }

    /// `reason` is `answer`, `aborted` or `error`.
    pub fn turn_ends(&self, turn: &str, reason: &str, answer: &str) -> bool {
        self.post(&json!({
            "event": "turn_completed", "turnId": turn, "reason": reason, "answer": answer,
        }))
    }

    /// The person's own `/compact`.
    pub fn compacts_by_hand(&self, tokens_after: u64) -> bool {
        let instructions = self.ask(json!({"question": "summary_instructions"}));
        drop(instructions.answer.recv_timeout(PATIENCE));
        self.post(&json!({"event": "compaction_started", "trigger": "manual"}))
            && self.post(&json!({
                "event": "compaction_ended", "trigger": "manual", "tokensAfter": tokens_after,
            }))
    }

    pub fn done(&self, id: u64, outcome: &Outcome) -> bool {
        let mut event = json!({"event": "done", "id": id});
        match outcome {
            Outcome::Done => {}
            Outcome::Text(text) => event["text"] = text.as_str().into(),
            Outcome::Compacted(tokens) => event["tokensAfter"] = (*tokens).into(),
            Outcome::Joined => event["joined"] = true.into(),
            Outcome::Failed(error) => event["error"] = (*error).into(),
        }
        self.post(&event)
    }

    /// The person goes on in another session. Whether rawr ends then.
    pub fn leave(&mut self) -> bool {
        self.post(&json!({"event": "left"}));
        let end = Instant::now() + 2 * PATIENCE;
        while Instant::now() < end {
            if self.process.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

fn read_orders(lines: impl BufRead, socket: &Sender<PathBuf>, orders: &Sender<Order>) {
    for line in lines.lines() {
        let Ok(line) = line else { return };
        let order: Value = serde_json::from_str(&line).unwrap();
        let text = || order["text"].as_str().unwrap_or_default().to_owned();
        let kind = match order["order"].as_str().unwrap() {
            "listen" => {
                let path = PathBuf::from(order["socket"].as_str().unwrap());
                drop(socket.send(path));
                continue;
            }
            "submit" => OrderKind::Submit(text()),
            "append" => OrderKind::Append(text()),
            "compact" => OrderKind::Compact,
            "abort" => OrderKind::Abort(order["turnId"].as_str().unwrap().to_owned()),
            "fork" | "complete" => OrderKind::Sample,
            "give_up" | "retry" => OrderKind::GiveUp(order.to_string()),
            // What the screen shows.
            _ => continue,
        };
        let id = order["id"].as_u64().unwrap_or_default();
        drop(orders.send(Order { at: Instant::now(), id, kind }));
    }
}

/// One request over the socket, and what came back with 200.
fn exchange(socket: &Path, body: &Value) -> Option<Value> {
    let body = body.to_string();
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(2 * PATIENCE)).ok()?;
    let head = format!(
        "POST / HTTP/1.1\r\nHost: rawr\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.1 200").then(|| serde_json::from_str(body).unwrap_or_default())
}
