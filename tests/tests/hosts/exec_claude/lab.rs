//! A session of `rawr exec` on the real Claude Code, and what its model was sent. Holds no case.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use rawr_tests::claude::{ClaudeHome, binary};
use rawr_tests::mock_responses::{Purpose, Reply, Script, call};
use rawr_tests::{MockClaude, Repository, Session, rawr, sent};
use serde_json::json;

pub const PACKET: &str = "<continuation_packet>\nState: working\nGoal: a parser with docs\nDecisions: plain text, no macros\n\
    Next: write the docs of parser.txt\n</continuation_packet>";

pub fn shell(command: &str) -> Reply {
    call("Bash", json!({ "command": command }))
}

pub struct Lab {
    pub claude: PathBuf,
    pub model: MockClaude,
    pub home: ClaudeHome,
    pub repository: Repository,
}

impl Lab {
    pub fn new(script: Script) -> Self {
        let model = MockClaude::start(script);
        let home = ClaudeHome::new(&model);
        Self { claude: binary(), model, home, repository: Repository::new() }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(rawr());
        command
            .args(["exec", "--host", "claude", "--json", "--claude"])
            .arg(&self.claude)
            .arg("--cd")
            .arg(self.repository.path());
        if !arguments.contains(&"--permission-mode") {
            command.args(["--permission-mode", "bypassPermissions"]);
        }
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.home.equip(&mut command);
        command
    }

    pub fn exec(&self, arguments: &[&str]) -> Session {
        Session::of(self.command(arguments).output().unwrap())
    }

    /// What the model was sent.
    pub fn sent(&self) -> String {
        sent(self.model.requests().iter().map(|request| {
            let purpose = match request.purpose {
                Purpose::Turn => "turn",
                Purpose::LocalCompaction | Purpose::RemoteCompaction => "compaction",
            };
            (purpose, request.transcript())
        }))
    }

    /// Waits until the model was asked something with this marker.
    pub fn wait_for(&self, marker: &str) {
        for _ in 0..1200 {
            let requests = self.model.requests();
            if requests.iter().any(|request| request.marker.as_deref() == Some(marker)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("the model was never asked {marker}");
    }
}
