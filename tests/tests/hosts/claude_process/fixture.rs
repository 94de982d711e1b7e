//! The fixture: `rawr claude-mod` in a home of its own, and a plugin that posts what a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use rawr_tests::{Repository, TestHome, rawr, wait_until};
use serde_json::{Value, json};

const SESSION: &str = "session-1";
const MODEL: &str = "claude-sonnet-4-5";
const SETTINGS: &str = "[rawr_auto_compaction]\npreset = \"spec\"\nmode = \"suggest\"\n";

pub struct ScriptedPlugin {
    home: TestHome,
    process: Child,
    socket: String,
    _repository: Repository,
}

impl Drop for ScriptedPlugin {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl ScriptedPlugin {
    pub fn start() -> Self {
        let (home, repository) = (TestHome::new(), Repository::new());
        std::fs::write(home.path().join("rawr.toml"), SETTINGS).unwrap();
        let mut command = Command::new(rawr());
        command.arg("claude-mod").current_dir(repository.path());
        command.env("RAWR_HOME", home.path()).env_remove("CODEX_HOME");
        command.env_remove("XDG_RUNTIME_DIR").stderr(Stdio::null());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let session = json!({
            "sessionId": SESSION, "cwd": repository.path(), "transcriptPath": "", "model": MODEL,
            "contextWindow": 200_000, "carriedOut": [],
        });
        process.stdin.take().unwrap().write_all(session.to_string().as_bytes()).unwrap();
        let mut orders = BufReader::new(process.stdout.take().unwrap());
        let socket = loop {
            let mut line = String::new();
            assert!(orders.read_line(&mut line).unwrap() > 0, "rawr ended");
            let order: Value = serde_json::from_str(&line).unwrap();
            if order["order"] == "listen" {
                break order["socket"].as_str().unwrap().to_owned();
            }
        };
        // An order that no one reads would hold the process up.
        std::thread::spawn(move || std::io::copy(&mut orders, &mut std::io::sink()));
        Self { home, process, socket, _repository: repository }
    }

    /// Returns the status of the answer.
    pub fn post_raw(&self, body: &[u8]) -> String {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        let head = format!(
            "POST / HTTP/1.1\r\nHost: rawr\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap().trim_start_matches("HTTP/1.1 ").to_owned()
    }

    #[track_caller]
    pub fn post(&self, event: &Value) {
        assert_eq!(self.post_raw(event.to_string().as_bytes()), "200 OK", "{event}");
    }

    pub fn turn_starts(&self, turn: &str, text: &str) {
        self.post(&json!({"event": "turn_started", "turnId": turn, "text": text}));
    }

    pub fn turn_ends(&self, turn: &str, answer: &str) {
        let reason = "answer";
        self.post(&json!({
            "event": "turn_completed", "turnId": turn, "reason": reason, "answer": answer,
        }));
    }

    pub fn commits(&self, call: &str) {
        self.post(&json!({"event": "tool_started", "callId": call, "tool": "Bash"}));
        self.post(&json!({
            "event": "tool_finished", "callId": call, "tool": "Bash", "bySubAgent": false,
            "input": {"tool": "Bash", "command": "git commit -m x"}, "result": {"interrupted": false},
        }));
    }

    pub fn answers(&self, text: &str, input_tokens: u64) {
        self.post(&json!({
            "event": "answered", "text": text, "model": MODEL, "callsTools": false,
            "usage": {"input_tokens": input_tokens, "output_tokens": 20},
        }));
    }

    /// Waits until the thread has a title.
    pub fn title(&self) -> String {
        let title = || {
            let status = self.says(&["status", SESSION, "--json"]);
            let status: Value = serde_json::from_str(&status).unwrap();
            status["title"].as_str().map(str::to_owned)
        };
        wait_until("a title", || title().is_some());
        title().unwrap()
    }

    fn says(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(rawr());
        command.args(arguments);
        command.env("RAWR_HOME", self.home.path()).env_remove("CODEX_HOME");
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }

    /// Waits until the newest decision has this outcome.
    pub fn decides(&self, outcome: &str) {
        let decisions = || self.says(&["explain", SESSION, "--list", "--json"]);
        let expected = format!(r#""outcome":"{outcome}""#);
        wait_until(outcome, || decisions().contains(&expected));
    }
}
