//! The agents of `rawr exec` behind one interface. The agent commits under pressure, and its next prompt is held for the compaction.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rawr_tests::mock_responses::{
    ReplyGate, RequestPurpose, ResponsesRequest, TurnReply, TurnScript, reply,
};
use rawr_tests::{ExecOutput, rawr, wait_until};
use rustix::process::Pid;

use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::{CodexExecFixture, PACKET};
use crate::live::{exec_claude, exec_codex};
use crate::processes::with_environment;

pub const FIRST: &str = "WRITE-PARSER please";
/// Confirms a compaction.
pub const NEXT: &str = "Thanks, that works. Next, AND-NOW write the user guide.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Packet,
    Compaction,
    Handoff,
}

pub const STEPS: [Step; 3] = [Step::Packet, Step::Compaction, Step::Handoff];

/// What the model was asked, and the messages of the person and of rawr that it was sent.
pub struct Asked {
    purpose: RequestPurpose,
    marker: Option<String>,
    pub messages: Vec<String>,
}

impl Asked {
    fn is_for(&self, step: Step) -> bool {
        match (step, self.marker.as_deref()) {
            (Step::Compaction, _) => self.purpose == RequestPurpose::LocalCompaction,
            (Step::Packet, marker) => marker == Some("packet_request]"),
            (Step::Handoff, marker) => marker == Some(":handoff]"),
        }
    }
}

pub trait ExecAgent: Sized {
    /// What only its own command line holds.
    const PROCESS: &'static str;
    /// As the model of this agent writes it.
    const SUMMARY: &'static str;

    fn session() -> TurnScript;
    fn start(script: TurnScript) -> Self;
    fn command(&self, arguments: &[&str]) -> Command;
    /// In this home and repository, and by the model of another.
    fn command_by(&self, other: &Self, arguments: &[&str]) -> Command;
    fn home(&self) -> &Path;
    /// For a command that starts no agent.
    fn equip(&self, command: &mut Command);
    fn asked(&self) -> Vec<Asked>;

    /// An agent that keeps this step waiting.
    fn waiting(step: Step, gate: &ReplyGate) -> Self {
        let script = Self::session()
            .on("THIRD", [reply("Third.").input_tokens(25_000)])
            .on("FOURTH", [reply("Fourth.").input_tokens(26_000)]);
        Self::start(match step {
            Step::Packet => script.behind("packet_request]", 0, gate),
            Step::Compaction => script.on_compaction([Self::summary().behind(gate)]),
            Step::Handoff => script.behind(":handoff]", 0, gate),
        })
    }

    fn summary() -> TurnReply {
        reply(Self::SUMMARY).input_tokens(107_000)
    }

    fn exec(&self, arguments: &[&str]) -> ExecOutput {
        ExecOutput::of(self.command(arguments).output().unwrap())
    }

    fn rawr(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(rawr());
        self.equip(command.args(arguments).stdin(Stdio::null()));
        command.output().unwrap()
    }

    /// How often the model was asked for it.
    fn times(&self, step: Step) -> usize {
        self.asked().iter().filter(|asked| asked.is_for(step)).count()
    }

    /// Starts a session and waits until the model is asked for this.
    fn begin(&self, step: Step, arguments: &[&str]) -> Child {
        let session = self.command(arguments).spawn().unwrap();
        wait_until("the step", || self.times(step) == 1);
        session
    }

    /// Everything that was started in this home and runs.
    fn processes(&self) -> Vec<(Pid, String)> {
        with_environment(&format!("HOME={}", self.home().display()))
    }

    fn process(&self, words: &str) -> Pid {
        let all = self.processes();
        all.iter().find(|(_, line)| line.contains(words)).unwrap_or_else(|| panic!("{all:?}")).0
    }

    /// What the model was sent in the end of the handoff and of what came after it, by name.
    fn delivered(&self) -> Vec<&'static str> {
        let words = [":packet_request]", ":handoff]", "AND-NOW", "THIRD", "FOURTH"];
        let last = self.asked().pop().unwrap().messages;
        // A handoff may quote the others.
        let named = last.iter().filter_map(|text| words.into_iter().find(|it| text.contains(it)));
        named.filter(|word| *word != ":packet_request]").collect()
    }
}

impl ExecAgent for CodexExecFixture {
    const PROCESS: &'static str = "app-server";
    const SUMMARY: &'static str = "A summary by the model.";

    fn session() -> TurnScript {
        exec_codex::session(PACKET)
    }

    fn start(script: TurnScript) -> Self {
        let fixture = Self::new(script);
        fixture.configure("[rawr_auto_compaction]\npreset = \"calm\"\n");
        fixture
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.command(arguments)
    }

    fn command_by(&self, other: &Self, arguments: &[&str]) -> Command {
        let url = format!("model_providers.mock.base_url={:?}", other.model.base_url());
        self.command(&[&["--codex-config", &url], arguments].concat())
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn equip(&self, command: &mut Command) {
        command.envs(self.home.environment()).env_remove("RAWR_HOME");
    }

    fn asked(&self) -> Vec<Asked> {
        let requests = self.model.requests();
        let asked = requests.iter().map(|request| Asked {
            purpose: request.purpose,
            marker: request.marker.clone(),
            messages: texts(request),
        });
        asked.collect()
    }
}

impl ExecAgent for ClaudeExecFixture {
    const PROCESS: &'static str = "--input-format stream-json";
    const SUMMARY: &'static str = "<summary>A summary by the model.</summary>";

    fn session() -> TurnScript {
        exec_claude::session()
    }

    fn start(script: TurnScript) -> Self {
        Self::new(script)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.command(arguments)
    }

    fn command_by(&self, other: &Self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.env("ANTHROPIC_BASE_URL", other.model.base_url());
        command
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn equip(&self, command: &mut Command) {
        self.home.equip(command);
    }

    fn asked(&self) -> Vec<Asked> {
        let requests = self.model.requests();
        let asked = requests.iter().map(|request| Asked {
            purpose: request.purpose,
            marker: request.marker.clone(),
            messages: request.user_texts().into_iter().map(str::to_owned).collect(),
        });
        asked.collect()
    }
}

/// Each text for itself where one message of the person holds several.
fn texts(request: &ResponsesRequest) -> Vec<String> {
    let messages = request.input().iter().filter(|item| item["role"] == "user");
    let parts = messages.filter_map(|message| message["content"].as_array()).flatten();
    parts.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
}
