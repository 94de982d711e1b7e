//! The fixture: `rawr exec` with the real Codex, and the requests to its model.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use rawr_tests::codex::{CodexHome, CodexTestConfig, binary};
use rawr_tests::mock_responses::{ResponsesRequest, TurnScript};
use rawr_tests::{ExecOutput, MockModel, Repository, configure_with_spec, rawr, sent};

use crate::fixture::purpose;
pub use crate::fixture::{PACKET, codex_shell as shell};

pub struct CodexExecFixture {
    pub codex: PathBuf,
    pub model: MockModel,
    pub home: CodexHome,
    pub repository: Repository,
}

impl CodexExecFixture {
    pub fn new(script: TurnScript) -> Self {
        Self::configured(script, &CodexTestConfig::default())
    }

    pub fn configured(script: TurnScript, config: &CodexTestConfig) -> Self {
        let model = MockModel::start(script);
        let home = CodexHome::new(&model, config);
        Self { codex: binary(), model, home, repository: Repository::new() }
    }

    /// What rawr is told in its own file.
    pub fn configure(&self, text: &str) {
        configure_with_spec(self.home.path(), text);
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(rawr());
        command
            .args(["exec", "--host", "codex", "--json", "--codex"])
            .arg(&self.codex)
            .arg("--cd")
            .arg(self.repository.path())
            .args(arguments)
            .envs(self.home.environment())
            .env_remove("RAWR_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn exec(&self, arguments: &[&str]) -> ExecOutput {
        ExecOutput::of(self.command(arguments).output().unwrap())
    }

    /// What the model was sent, without the requests that do not count.
    pub fn sent(&self, counts: impl Fn(&ResponsesRequest) -> bool) -> String {
        let requests = self.model.requests();
        sent(
            requests
                .iter()
                .filter(|request| counts(request))
                .map(|request| (purpose(request.purpose), request.transcript())),
        )
    }
}
