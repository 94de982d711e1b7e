//! The fixture: a home, a repository and options for `rawr exec` with the embedded host.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use rawr_tests::mock_chat::{ChatModelReply, call};
use rawr_tests::{ExecOutput, MockChat, Repository, compact_at_turn_end, rawr};
use serde_json::json;
use tempfile::TempDir;

/// A call of the shell tool.
pub fn shell(command: &str) -> ChatModelReply {
    call("shell", json!({ "command": command }))
}

/// A home, a repository to work in, and the options of every session.
pub struct EmbeddedFixture {
    pub home: TempDir,
    pub repository: Repository,
    options: Vec<String>,
}

impl EmbeddedFixture {
    /// On a model behind an endpoint that holds so many tokens.
    pub fn on_endpoint(model: &MockChat, context_window: u64) -> Self {
        let options = [
            "--model",
            "scripted-1",
            "--base-url",
            &model.base_url(),
            "--context-window",
            &context_window.to_string(),
        ];
        let options = options.map(str::to_owned).to_vec();
        let home = TempDir::new().unwrap();
        compact_at_turn_end(home.path());
        Self { home, repository: Repository::new(), options }
    }

    pub fn configure(&self, text: &str) {
        std::fs::write(self.home.path().join("rawr.toml"), text).unwrap();
    }

    pub fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(rawr());
        command
            .args(["exec", "--host", "embedded", "--json", "--cd"])
            .arg(self.repository.path())
            .args(&self.options)
            .args(more)
            .env("RAWR_HOME", self.home.path())
            .env("OPENAI_API_KEY", "sk-secret-of-the-test")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for proxy in
            ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        {
            command.env_remove(proxy);
        }
        command
    }

    pub fn exec(&self, prompts: &[&str]) -> ExecOutput {
        ExecOutput::of(self.command(prompts).output().unwrap())
    }

    /// What another command says of it.
    pub fn rawr(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(rawr());
        let output = command.args(arguments).env("RAWR_HOME", self.home.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn start(&self, prompts: &[&str]) -> Child {
        self.command(prompts).spawn().unwrap()
    }

    pub fn file(&self, name: &str) -> String {
        let file = self.repository.path().join(name);
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every file of the one thread of this home, as one text.
    pub fn stored(&self) -> String {
        let threads = self.home.path().join("rawr/auto_compaction/threads");
        let thread = threads.read_dir().unwrap().next().unwrap().unwrap().path();
        let read = |file: &Path| std::fs::read_to_string(file).unwrap_or_default();
        thread.read_dir().unwrap().map(|file| read(&file.unwrap().path())).collect()
    }
}
