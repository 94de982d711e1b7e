//! The fixture: an app's session of Claude Code with rawr's plugin.

use std::fs::File;
use std::io::Write;
use std::process::{Child, Stdio};

use rawr_tests::mock_responses::{ReplyGate, TurnScript};
use rawr_tests::wait_until;
use rustix::process::Pid;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::super::deaths::behind_summary;
use super::super::fixture::{ModFixture, NEXT, PACKET_REQUEST, PROPOSED, TASK, agent};
use crate::processes::with_environment;

/// The packet is asked for when a message waits. Claude Code takes no message while it is asked for in the end of a turn.
pub const NOT_AHEAD: &str = "[rawr_auto_compaction]\npacket_ahead = false\n";

/// A second message.
pub const AGAIN: &str = "AND-NOW once more";

/// What an app sends to interrupt the turn.
const CTRL_C: &str = "\x03";

pub fn in_an_app(script: TurnScript) -> ModFixture {
    ModFixture::new(script).with_variable("CLAUDE_CODE_ENTRYPOINT", "claude-vscode")
}

pub struct App {
    client: Child,
    /// What Claude Code sends the app.
    stdout: NamedTempFile,
    home: String,
}

impl App {
    pub fn start(fixture: &ModFixture) -> Self {
        Self::start_with(fixture, &json!({}))
    }

    /// More options of the client.
    pub fn start_with(fixture: &ModFixture, options: &Value) -> Self {
        let file = NamedTempFile::new().unwrap();
        let mut command = fixture.sdk_command(options);
        // Claude Code tells when a turn has ended and nothing is left to do.
        command.env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
        let stdout = File::options().append(true).open(file.path()).unwrap();
        command.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::null());
        let home = fixture.home.path().display().to_string();
        Self { client: command.spawn().unwrap(), stdout: file, home }
    }

    /// The agent has committed, and rawr proposes a compaction.
    pub fn proposed(fixture: &ModFixture) -> Self {
        let mut app = Self::start(fixture);
        app.says(TASK);
        app.wait_for(PROPOSED);
        app.until_idle();
        app
    }

    pub fn says(&mut self, text: &str) {
        writeln!(self.client.stdin.as_mut().unwrap(), "{text}").unwrap();
    }

    pub fn interrupts(&mut self) {
        self.says(CTRL_C);
    }

    /// Another model from the next turn on.
    pub fn goes_on_with(&mut self, model: &str) {
        self.says(&format!("\t{model}"));
    }

    fn output(&self) -> String {
        std::fs::read_to_string(self.stdout.path()).unwrap()
    }

    pub fn wait_for(&self, words: &str) {
        wait_until(words, || self.output().contains(words));
    }

    /// Before that, Claude Code queues what is said.
    pub fn until_idle(&self) {
        wait_until("the end of the turn", || {
            let output = self.output();
            let last = |state: &str| output.rfind(&format!(r#""state":"{state}""#));
            last("idle") > last("running")
        });
    }

    /// The processes of all sessions in this home whose command line holds this.
    pub fn processes(&self, words: &str) -> Vec<Pid> {
        let all = with_environment(&self.home).into_iter();
        all.filter(|(_, line)| line.contains(words)).map(|(process, _)| process).collect()
    }

    /// The person closes the session.
    pub fn ends(mut self) {
        drop(self.client.stdin.take());
        assert!(self.client.wait().unwrap().success());
    }

    /// Everything ends because Claude Code has ended.
    pub fn has_ended(mut self) {
        assert!(!self.client.wait().unwrap().success());
        wait_until("the end of all", || self.processes("rawr").is_empty());
    }
}

/// A message is held, and the packet is being written.
pub fn held_for_the_packet(gate: &ReplyGate) -> (ModFixture, App) {
    held_with(agent().behind(PACKET_REQUEST, 0, gate))
}

pub fn held_with(script: TurnScript) -> (ModFixture, App) {
    let fixture = in_an_app(script).configured(NOT_AHEAD);
    let mut app = App::proposed(&fixture);
    app.says(NEXT);
    fixture.until_asked(PACKET_REQUEST);
    (fixture, app)
}

/// A message is held, and the compaction runs.
pub fn held_for_the_compaction(gate: &ReplyGate) -> (ModFixture, App) {
    let fixture = in_an_app(behind_summary(gate));
    let mut app = App::proposed(&fixture);
    app.says(NEXT);
    fixture.until_compacting();
    (fixture, app)
}
