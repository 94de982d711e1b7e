//! The fixture: a home, a repository, a scripted model, and Codex on a terminal.

use std::process::{Command, Output};

use rawr_tests::codex::{CodexHome, CodexTestConfig, binary};
use rawr_tests::mock_responses::{
    RequestPurpose, ResponsesRequest, TITLE_PROMPT, TurnScript, reply,
};
use rawr_tests::{MockModel, Repository, Terminal, configure_with_spec, rawr};

pub use crate::fixture::{PACKET, codex_shell as shell};

pub const TASK: &str = "WRITE-PARSER please";
pub const HEADS_UP: &str = "This thread's context will be compacted next";
pub const HANDOFF: &str = "The compaction is done.";
pub const GOES_ON: &str = "Writing the docs now.";

/// An agent that commits under pressure, writes its packet, and goes on.
pub fn agent() -> TurnScript {
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    TurnScript::default()
        .on(TITLE_PROMPT, [reply("Write a parser")])
        .on(":packet_request]", [reply(PACKET).input_tokens(145_000)])
        .on(":handoff]", [reply(GOES_ON).input_tokens(20_000)])
        .on("AND-NOW", [reply("Here you are.").input_tokens(21_000)])
        .on(
            "WRITE-PARSER",
            [
                shell(commit).input_tokens(131_000),
                reply("The parser is written.").input_tokens(143_000),
            ],
        )
        .on_compaction([reply("A summary by the model.").input_tokens(146_000)])
}

pub struct LiveFixture {
    pub model: MockModel,
    pub home: CodexHome,
    pub repository: Repository,
}

impl LiveFixture {
    pub fn new(script: TurnScript) -> Self {
        Self::configured(script, "")
    }

    /// With more in Codex's own configuration.
    pub fn configured(script: TurnScript, more: &str) -> Self {
        Self::of(script, |config| config.tables.push_str(more))
    }

    pub fn of(script: TurnScript, change: impl FnOnce(&mut CodexTestConfig)) -> Self {
        let (model, repository) = (MockModel::start(script), Repository::new());
        let mut config = CodexTestConfig::for_a_screen(repository.path());
        change(&mut config);
        let home = CodexHome::new(&model, &config);
        Self { model, home, repository }
    }

    /// In this home and repository.
    pub fn in_place(&self, command: &mut Command) {
        command.current_dir(self.repository.path()).envs(self.home.environment());
        command.env_remove("RAWR_HOME").env_remove("XDG_RUNTIME_DIR").env("TERM", "xterm-256color");
    }

    pub fn rawr(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(rawr());
        self.in_place(command.args(arguments));
        command.output().unwrap()
    }

    pub fn rawr_codex(&self, arguments: &[&str]) -> Command {
        self.rawr_codex_with(&[], arguments)
    }

    /// With options of rawr's.
    pub fn rawr_codex_with(&self, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = Command::new(rawr());
        command.arg("codex").args(options).arg("--codex").arg(binary()).arg("--").args(arguments);
        self.in_place(&mut command);
        command
    }

    /// As high as a screen must be to hold all that is said.
    pub fn on_a_terminal(&self, arguments: &[&str]) -> Terminal {
        at_its_prompt(&self.rawr_codex(arguments))
    }

    /// By `nohup`, say.
    pub fn on_a_terminal_that_ignores_hang_ups(&self) -> Terminal {
        let codex = self.rawr_codex(&[]);
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]);
        command.arg(codex.get_program()).args(codex.get_args());
        self.in_place(&mut command);
        at_its_prompt(&command)
    }

    /// Where messages may be held back.
    pub fn with_preflight(&self, arguments: &[&str]) -> Terminal {
        at_its_prompt(&self.rawr_codex_with(&["--preflight"], arguments))
    }

    /// In rawr's own configuration.
    pub fn set(&self, settings: &str) {
        configure_with_spec(self.home.path(), settings);
    }

    /// What the person's own thread sent to the model.
    pub fn requests(&self) -> Vec<ResponsesRequest> {
        let all = self.model.requests();
        let own = all.iter().filter(|request| !request.asks_for_title());
        own.map(|request| (**request).clone()).collect()
    }

    pub fn compactions(&self) -> usize {
        self.requests().iter().filter(|request| request.purpose != RequestPurpose::Turn).count()
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("rawr/codex.log")).unwrap_or_default()
    }
}

/// Says what rawr did in a test that fails.
impl Drop for LiveFixture {
    #[expect(clippy::print_stderr, reason = "the output of a failed test")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let requests = self.model.requests().len();
            eprintln!("{requests} requests to the model; rawr's log:\n{}", self.log());
        }
    }
}

fn at_its_prompt(command: &Command) -> Terminal {
    let terminal = Terminal::that_answers(command, 150, 120);
    terminal.wait_for(&["Ask Codex to do anything"]);
    terminal
}

/// Types a message as a person does: an Enter that comes with the text would be taken for a part of it.
pub fn type_text(terminal: &mut Terminal, text: &str) {
    terminal.enter(text, text);
}

/// Leaves Codex as a person does.
pub fn leave(terminal: &mut Terminal) {
    terminal.enter("/quit", "/quit");
    let status = terminal.wait_for_the_end();
    assert!(status.success(), "{status}");
}
