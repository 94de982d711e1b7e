//! The real Claude Code with rawr's hooks, and what its scripted model was sent.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rawr_tests::claude::binary;
use rawr_tests::mock_responses::RequestPurpose;
use rawr_tests::{Terminal, rawr, sent};
use serde_json::{Value, json};

use super::hands_over_once;
use crate::hooks::fixture::HooksFixture;

impl HooksFixture {
    /// For the tests whose agent is a `claude -p`.
    pub fn has_hooks_in_every_run(&self) {
        self.says(&["hooks", "install", "--claude", "--headless"]);
    }

    pub fn claude(&self) -> InteractiveClaude {
        let mut command = Command::new(binary());
        command
            .args(["-p", "--input-format", "stream-json", "--output-format", "stream-json"])
            .args(["--verbose", "--include-hook-events"])
            .args(["--permission-mode", "bypassPermissions"])
            .current_dir(self.repository.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        self.home.equip(&mut command);
        command.env("RAWR_HOME", self.home.path());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (line, lines) = channel();
        std::thread::spawn(move || {
            for text in stdout.lines().map_while(Result::ok) {
                drop(line.send(serde_json::from_str(&text).unwrap()));
            }
        });
        let input = child.stdin.take();
        InteractiveClaude { child, input, lines }
    }

    /// A Claude Code with hooks on a screen, ready for a message.
    pub fn on_a_screen(&self) -> Terminal {
        self.home.has_been_used_in(&[self.repository.path()]);
        self.says(&["hooks", "install", "--claude"]);
        let mut claude = Command::new(binary());
        claude.args(["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]);
        claude.current_dir(self.repository.path());
        self.home.equip(&mut claude);
        claude.env("RAWR_HOME", self.home.path()).env("TERM", "xterm-256color");
        let terminal = Terminal::that_answers(&claude, 150, 120);
        terminal.wait_for(&["accept edits on"]);
        terminal
    }

    /// What the model was sent. Where rawr lies differs.
    pub fn sent(&self) -> String {
        let program = rawr().display().to_string();
        let sent = sent(self.model.requests().iter().map(|request| {
            let is_turn = request.purpose == RequestPurpose::Turn;
            let transcript = request.transcript().into_iter();
            let transcript = transcript.map(|line| line.replace(&program, "rawr")).collect();
            (if is_turn { "turn" } else { "compaction" }, transcript)
        }));
        let lines = sent.lines().map(|line| {
            let told = line.split_once("PreCompact [");
            told.map_or(line.to_owned(), |(before, _)| format!("{before}PreCompact […"))
        });
        lines.map(|line| line + "\n").collect()
    }

    /// The packet came back once, with this message.
    pub fn was_handed_over_before(&self, message: &str) {
        let requests = self.model.requests();
        let says = |text: &String| text.contains(message);
        let mut saying = requests.iter().filter(|it| it.user_messages().iter().any(says));
        hands_over_once(&saying.next_back().unwrap().reminders());
    }
}

pub struct InteractiveClaude {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
}

const LIMIT: Duration = Duration::from_secs(120);

impl InteractiveClaude {
    /// Says something, and hears all up to the end of the turn.
    pub fn ask(&mut self, text: &str) -> Vec<Value> {
        let message = json!({"type": "user", "message": {"role": "user", "content": text}});
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
        let mut heard = Vec::new();
        loop {
            let line = self.lines.recv_timeout(LIMIT);
            let line = line.unwrap_or_else(|_| panic!("no end of the turn: {heard:#?}"));
            let is_end = line["type"] == "result";
            heard.push(line);
            if is_end {
                return heard;
            }
        }
    }

    pub fn leave(mut self) {
        drop(self.input.take());
        while self.lines.recv_timeout(LIMIT).is_ok() {}
        self.child.wait().unwrap();
    }
}

impl Drop for InteractiveClaude {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What hooks of one event answered, one text each; the silent ones left out.
pub fn answers(heard: &[Value], event: &str) -> Vec<String> {
    let of = heard
        .iter()
        .filter(|line| line["subtype"] == "hook_response" && line["hook_event"] == event);
    of.filter_map(|line| line["stdout"].as_str())
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect()
}
