//! The fixture: `rawr exec` with the real Claude Code, and the requests to its model.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use rawr_tests::claude::{ClaudeHome, binary};
use rawr_tests::mock_responses::TurnScript;
use rawr_tests::{ExecOutput, MockClaude, Repository, rawr, sent};

use crate::fixture::purpose;
pub use crate::fixture::{PACKET, claude_shell as shell};

pub struct ClaudeExecFixture {
    pub claude: PathBuf,
    pub model: MockClaude,
    pub home: ClaudeHome,
    pub repository: Repository,
}

impl ClaudeExecFixture {
    pub fn new(script: TurnScript) -> Self {
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

    pub fn exec(&self, arguments: &[&str]) -> ExecOutput {
        ExecOutput::of(self.command(arguments).output().unwrap())
    }

    /// What the model was sent.
    pub fn sent(&self) -> String {
        sent(
            self.model
                .requests()
                .iter()
                .map(|request| (purpose(request.purpose), request.transcript())),
        )
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
