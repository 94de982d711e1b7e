//! How long Claude Code waits for rawr: an event that its plugin posts, and the question whether a typed message may go to
//! the agent, compared with a bare server on a Unix socket that answers at once.

use std::{
    io::{BufRead, BufReader, Read as _, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    home::{BenchHome, scratch_dir},
    report::{BARE_SOCKET, Cells},
    servers::Subject,
    stats::quantile,
};

pub const SERVERS: &[&str] = &[BARE_SOCKET, "event", "typed message"];
const TRIAL: u64 = 10;

/// One sample of `turns` turns, each of one message, two requests and a tool call.
pub fn turns(subject: &Subject, turns: u64) -> Result<Vec<Cells>> {
    let home = BenchHome::new()?;
    let mut session = ModSession::open(subject.program(), &home)?;
    let bare = BareServer::start()?;
    let mut micros = [Vec::new(), Vec::new(), Vec::new()];
    for turn in 0..TRIAL + turns {
        let id = format!("turn-{turn}");
        let mut times = [bare.ask()?, 0.0, 0.0];
        let question =
            json!({"question": "may_pass", "messageId": &id, "text": "now do the next part of it"});
        times[2] = session.post(&question)?;
        let usage = json!({"input_tokens": 20_000 + turn, "output_tokens": 10});
        let events = [
            json!({"event": "turn_started", "turnId": id, "text": "now do the next part of it"}),
            json!({"event": "answered", "text": "Looking.", "model": "m", "usage": usage, "callsTools": true}),
            json!({"event": "tool_started", "callId": id, "tool": "Bash"}),
            json!({"event": "tool_finished", "callId": id, "tool": "Bash",
                "input": {"command": "cargo check"}, "result": {"interrupted": false}}),
            json!({"event": "answered", "text": "Done.", "model": "m", "usage": usage, "callsTools": false}),
            json!({"event": "turn_completed", "turnId": id, "reason": "answer", "answer": "Done."}),
        ];
        for event in &events {
            times[1] = session.post(event)?.max(times[1]);
        }
        if turn >= TRIAL {
            micros.iter_mut().zip(times).for_each(|(micros, time)| micros.push(time));
        }
    }
    Ok(micros.iter_mut().map(|micros| cells(micros)).collect())
}

fn cells(micros: &mut [f64]) -> Cells {
    vec![("p50Us", quantile(micros, 0.5)), ("p99Us", quantile(micros, 0.99))]
}

/// Sends one request over a connection of its own and reads the answer. Returns the time in microseconds.
fn ask(socket: &Path, body: &str) -> Result<f64> {
    let start = Instant::now();
    let mut stream = UnixStream::connect(socket)?;
    let length = body.len();
    // In one write, because the bare server reads once.
    let request = format!(
        "POST / HTTP/1.1\r\nhost: rawr\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let elapsed = start.elapsed().as_secs_f64() * 1e6;
    ensure!(answer.starts_with("HTTP/1.1 200"), "it answered {answer:?}");
    Ok(elapsed)
}

/// rawr beside one session of Claude Code, started as the plugin starts it.
struct ModSession {
    rawr: Child,
    socket: PathBuf,
}

impl ModSession {
    fn open(program: &Path, home: &BenchHome) -> Result<Self> {
        let mut rawr = Command::new(program)
            .arg("claude-mod")
            .arg("--home")
            .arg(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let session = json!({
            "sessionId": "bench", "cwd": home.path(), "model": "claude-sonnet-4-5", "contextWindow": 200_000,
        });
        let mut input = rawr.stdin.take().context("no stdin")?;
        input.write_all(session.to_string().as_bytes())?;
        drop(input);
        let mut orders = BufReader::new(rawr.stdout.take().context("no stdout")?).lines();
        let first: Value = serde_json::from_str(&orders.next().context("no order")??)?;
        let socket = first["socket"].as_str().context("the first order names no socket")?.into();
        // The orders for the screen must not fill the pipe.
        thread::spawn(move || orders.for_each(drop));
        Ok(Self { rawr, socket })
    }

    fn post(&mut self, body: &Value) -> Result<f64> {
        ask(&self.socket, &body.to_string())
    }
}

impl Drop for ModSession {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.rawr.kill();
        let _ = self.rawr.wait();
    }
}

/// Answers each request with an empty object.
struct BareServer {
    socket: PathBuf,
    _folder: TempDir,
}

impl BareServer {
    fn start() -> Result<Self> {
        let folder = scratch_dir()?;
        let socket = folder.path().join("socket");
        let listener = UnixListener::bind(&socket)?;
        // Ends with the process, or with the listener.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut request = [0; 4096];
                let _ = stream.read(&mut request);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
            }
        });
        Ok(Self { socket, _folder: folder })
    }

    fn ask(&self) -> Result<f64> {
        ask(&self.socket, "{}")
    }
}
