//! The fixture: a home of Claude Code, a repository, and a scripted model.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use rawr_tests::claude::ClaudeHome;
use rawr_tests::mock_responses::TurnScript;
use rawr_tests::{MockClaude, Repository, rawr};

pub struct HooksFixture {
    pub model: MockClaude,
    pub home: ClaudeHome,
    pub repository: Repository,
}

impl HooksFixture {
    pub fn new(script: TurnScript) -> Self {
        let model = MockClaude::start(script);
        let home = ClaudeHome::new(&model);
        Self { model, home, repository: Repository::new() }
    }

    pub fn rawr(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(rawr());
        command.args(arguments).current_dir(self.repository.path());
        self.home.equip(&mut command);
        command.env("RAWR_HOME", self.home.path());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.rawr(arguments).output().unwrap()
    }

    /// What a hook answers to this input.
    pub fn hook(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
        Self::fed(&mut self.rawr(arguments), input)
    }

    /// What a command says that reads this.
    pub fn fed(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A hook that does not read is part of the tests.
        drop(child.stdin.take().unwrap().write_all(input.as_ref()));
        child.wait_with_output().unwrap()
    }

    /// What a command says that must succeed.
    pub fn says(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What went wrong in hooks.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("rawr/hooks.log")).unwrap_or_default()
    }

    /// Whether a hook waits for something of the agent or the person. The end of the turn after a compaction is none of it.
    pub fn is_open(&self) -> bool {
        let files = std::fs::read_dir(self.home.path().join("rawr/hooks")).into_iter().flatten();
        let text = |file: std::io::Result<std::fs::DirEntry>| {
            std::fs::read_to_string(file.ok()?.path()).ok()
        };
        files.filter_map(text).any(|text| !text.contains("measurement"))
    }

    /// The events of the only thread.
    pub fn events(&self) -> String {
        let threads = self.home.path().join("rawr/auto_compaction/threads");
        let Ok(mut threads) = std::fs::read_dir(threads) else { return String::new() };
        let thread = threads.next().unwrap().unwrap().path();
        std::fs::read_to_string(thread.join("events.jsonl")).unwrap()
    }

    /// The events of a session, or nothing if rawr does not know it.
    pub fn events_of(&self, session: &str) -> String {
        let thread = self.home.path().join("rawr/auto_compaction/threads").join(session);
        std::fs::read_to_string(thread.join("events.jsonl")).unwrap_or_default()
    }
}
