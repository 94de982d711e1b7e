//! The fixture: a user's own Claude Code with rawr's plugin on a terminal, and its scripted model.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use rawr_tests::claude::{ClaudeHome, binary};
use rawr_tests::mock_anthropic::AnthropicRequest;
use rawr_tests::mock_responses::{ReplyGate, RequestPurpose, TurnReply, TurnScript, reply};
use rawr_tests::{MockClaude, Repository, Terminal, rawr, wait_until};
use serde_json::Value;
use tempfile::TempDir;

pub use crate::fixture::{PACKET, claude_shell as shell};

/// The repository's plugin.
const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../editor-clients/claude-code");

/// How the request for a packet begins, which is in no transcript.
pub const PACKET_REQUEST: &str = "Write the continuation packet";
pub const TASK: &str = "WRITE-PARSER please";
pub const WRITTEN: &str = "The parser is written and committed.";
/// Opens something new, so that it confirms a proposal.
pub const NEXT: &str = "Great, that works. Next: AND-NOW write the docs of the lexer";
pub const HERE: &str = "Here are the docs.";
pub const GOES_ON: &str = "Writing the docs now.";
pub const PROPOSED: &str = "a compaction is proposed";

/// A compaction needs no second message.
pub const AT_ONCE: &str = "[rawr_auto_compaction]\npreset = \"spec\"\n";

/// The end of a turn puts a compaction off until the next message, whatever it says.
pub const BEFORE_THE_NEXT: &str = "[rawr_auto_compaction]\npreset = \"spec\"\n\
    [rawr_auto_compaction.policy.asap]\nrequires_any_boundary = [\"turn_complete\"]\n";

pub const COMMIT: &str =
    "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";

/// An agent that commits under pressure, writes its packet, and continues.
pub fn agent() -> TurnScript {
    TurnScript::default()
        .on("AND-NOW", [reply(HERE).input_tokens(24_000)])
        .on(PACKET_REQUEST, [reply(PACKET).input_tokens(102_000)])
        .on("[rawr:", [reply(GOES_ON).input_tokens(20_000)])
        .on(
            "WRITE-PARSER",
            [shell(COMMIT).input_tokens(100_000), reply(WRITTEN).input_tokens(101_000)],
        )
        .on_compaction([summary()])
}

pub fn summary() -> TurnReply {
    reply("<summary>A summary by the model.</summary>").input_tokens(103_000)
}

pub struct ModFixture {
    pub model: MockClaude,
    pub home: ClaudeHome,
    pub repository: Repository,
    /// Holds `rawr`, and leads the `PATH`.
    programs: TempDir,
    claude: PathBuf,
    plugin: PathBuf,
    variable: Option<(&'static str, &'static str)>,
}

impl ModFixture {
    pub fn new(script: TurnScript) -> Self {
        let fixture = Self::without_rawr(script);
        symlink(rawr(), fixture.programs.path().join("rawr")).unwrap();
        fixture
    }

    /// No `rawr` is in the `PATH`.
    pub fn without_rawr(script: TurnScript) -> Self {
        let model = MockClaude::start(script);
        let (home, repository) = (ClaudeHome::new(&model), Repository::new());
        home.has_been_used_in(&[repository.path()]);
        let programs = TempDir::new().unwrap();
        let plugin = PLUGIN.into();
        Self { model, home, repository, programs, claude: binary(), plugin, variable: None }
    }

    /// Runs another release of Claude Code.
    pub fn on(mut self, claude: PathBuf) -> Self {
        self.claude = claude;
        self
    }

    /// Runs a copy of the plugin, which can be updated.
    pub fn with_own_plugin(mut self) -> Self {
        let copy = self.home.path().join("plugin");
        assert!(
            Command::new("cp").arg("-R").args([&self.plugin, &copy]).status().unwrap().success()
        );
        self.plugin = copy;
        self
    }

    /// Only a plugin that has changed is loaded again.
    pub fn update_plugin(&self) {
        let path = self.plugin.join("hooks/register.tsx");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text + "// Another version.\n").unwrap();
    }

    pub fn with_variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.variable = Some((name, value));
        self
    }

    /// Uses this text as rawr's configuration.
    pub fn configured(self, settings: &str) -> Self {
        std::fs::write(self.home.path().join("rawr.toml"), settings).unwrap();
        self
    }

    /// Puts a shell script in the place of `rawr`.
    pub fn with_program(self, script: &str) -> Self {
        let path = self.programs.path().join("rawr");
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn in_place(&self, command: &mut Command) {
        command.current_dir(self.repository.path());
        self.home.equip(command);
        command.env("RAWR_HOME", self.home.path()).env("PATH", self.search_path());
        command.env("TERM", "xterm-256color").env_remove("XDG_RUNTIME_DIR");
    }

    /// The `PATH` without every other `rawr`.
    fn search_path(&self) -> OsString {
        let all = std::env::var_os("PATH").unwrap_or_default();
        let others = std::env::split_paths(&all).filter(|folder| !folder.join("rawr").exists());
        let folders = std::iter::once(self.programs.path().to_owned()).chain(others);
        std::env::join_paths(folders).unwrap()
    }

    pub fn rawr(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(rawr());
        self.in_place(command.args(arguments));
        command.output().unwrap()
    }

    /// What a rawr started beside the plugin's prints for this session.
    pub fn claude_mod(&self, session: &Value) -> String {
        let mut command = Command::new(rawr());
        self.in_place(command.arg("claude-mod"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(session.to_string().as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    /// What a command prints that must succeed.
    pub fn says(&self, arguments: &[&str]) -> String {
        let output = self.rawr(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.claude);
        command.arg("--plugin-dir").arg(&self.plugin);
        command.args(["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]);
        self.in_place(command.args(arguments));
        command.envs(self.variable);
        command
    }

    /// A session of the client that apps run Claude Code with, with more options of that client. Its standard input takes
    /// messages as lines.
    pub fn sdk_command(&self, options: &Value) -> Command {
        let session = concat!(env!("CARGO_MANIFEST_DIR"), "/claude/sdk/session.mjs");
        let mut command = Command::new("node");
        command.arg(session).arg(&self.claude).arg(&self.plugin).arg(options.to_string());
        self.in_place(&mut command);
        command.envs(self.variable);
        command
    }

    /// Without the plugin and the options of a session.
    pub fn bare_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.claude);
        self.in_place(command.args(arguments));
        command
    }

    /// Starts Claude Code and waits until rawr has joined. The screen is high enough to hold the whole session.
    pub fn start(&self, arguments: &[&str]) -> Terminal {
        let terminal = self.start_alone(arguments);
        terminal.wait_for(&["rawr: watching"]);
        terminal
    }

    /// Does not wait for rawr.
    pub fn start_alone(&self, arguments: &[&str]) -> Terminal {
        let terminal = Terminal::that_answers(&self.command(arguments), 150, 120);
        terminal.wait_for(&["accept edits on"]);
        terminal
    }

    /// The agent has committed, and rawr proposes a compaction.
    pub fn proposed(&self) -> Terminal {
        let mut terminal = self.start(&[]);
        terminal.enter(TASK, TASK);
        terminal.wait_for(&[WRITTEN, PROPOSED]);
        terminal
    }

    /// The requests of the conversation.
    pub fn requests(&self) -> Vec<Arc<AnthropicRequest>> {
        self.model.requests()
    }

    pub fn compactions(&self) -> usize {
        self.requests().iter().filter(|request| request.purpose != RequestPurpose::Turn).count()
    }

    /// How many compactions rawr has recorded as completed and started by this one.
    pub fn compactions_by(&self, origin: &str) -> usize {
        let completed = format!(r#""status":"completed","origin":"{origin}""#);
        self.events().matches(&completed).count()
    }

    /// What rawr has recorded of all threads.
    pub fn events(&self) -> String {
        let threads = self.home.path().join("rawr/auto_compaction/threads");
        let Ok(threads) = std::fs::read_dir(threads) else { return String::new() };
        let files = threads.map(|thread| thread.unwrap().path().join("events.jsonl"));
        files.map(|file| std::fs::read_to_string(file).unwrap_or_default()).collect()
    }

    /// Claude Code's transcripts.
    fn transcripts(&self) -> Vec<PathBuf> {
        let projects = std::fs::read_dir(self.home.path().join(".claude/projects"));
        let files = projects.into_iter().flatten().flat_map(|it| it.unwrap().path().read_dir());
        let files = files.flatten().map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect()
    }

    /// The id of the only session.
    pub fn session_id(&self) -> String {
        let transcripts = self.transcripts();
        assert_eq!(transcripts.len(), 1, "{transcripts:?}");
        transcripts[0].file_stem().unwrap().to_str().unwrap().to_owned()
    }

    /// Waits until Claude Code has this message of the user in its transcript, which it writes with a delay.
    pub fn until_recorded(&self, message: &str) {
        let is_it = |line: &str| line.contains(r#""type":"user""#) && line.contains(message);
        wait_until("the message in the transcript", || {
            let files = self.transcripts();
            files.iter().any(|path| std::fs::read_to_string(path).unwrap().lines().any(is_it))
        });
    }

    /// How often the history was rewritten.
    pub fn rewritten(&self) -> usize {
        let texts =
            self.transcripts().into_iter().map(|path| std::fs::read_to_string(path).unwrap());
        texts.map(|text| text.matches(r#""subtype":"compact_boundary""#).count()).sum()
    }

    /// Claude Code writes its transcript with a delay.
    pub fn until_rewritten(&self, times: usize) {
        wait_until("the compaction in the transcript", || self.rewritten() == times);
    }

    /// How many requests a marker of the script chose.
    pub fn asked(&self, marker: &str) -> usize {
        let all = self.requests();
        all.iter().filter(|request| request.marker.as_deref() == Some(marker)).count()
    }

    pub fn until_asked(&self, marker: &str) {
        wait_until(marker, || self.asked(marker) > 0);
    }

    pub fn until_compacting(&self) {
        wait_until("a compaction", || self.compactions() > 0);
    }

    /// The texts of the user that hold this, in the newest request that has one.
    pub fn heard_with(&self, words: &str) -> Vec<String> {
        let heard = |request: &Arc<AnthropicRequest>| -> Vec<String> {
            let texts = request.user_texts().into_iter().filter(|text| text.contains(words));
            texts.map(str::to_owned).collect()
        };
        self.requests().iter().rev().map(heard).find(|texts| !texts.is_empty()).unwrap_or_default()
    }

    /// The newest request holds one handoff with the agent's packet, and then exactly this message of the user.
    pub fn handed_over_before(&self, message: &str) {
        let last = self.requests().pop().unwrap();
        let told = last.reminders();
        let handoffs: Vec<_> = told.iter().filter(|text| text.contains(":handoff]")).collect();
        assert_eq!(handoffs.len(), 1, "{told:#?}");
        assert!(handoffs[0].contains("Next: write the docs of parser.txt"), "{}", handoffs[0]);
        let said = last.user_texts();
        assert_eq!(said.iter().filter(|text| **text == message).count(), 1, "{said:#?}");
        assert_eq!(said.last(), Some(&message), "{said:#?}");
    }
}

/// A message is held, and the packet is being written.
pub fn held_for_the_packet(gate: &ReplyGate) -> (ModFixture, Terminal) {
    let fixture = ModFixture::new(agent().behind(PACKET_REQUEST, 0, gate));
    let mut terminal = fixture.proposed();
    fixture.until_asked(PACKET_REQUEST);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&["Compacting soon"]);
    (fixture, terminal)
}

/// What stands in Claude Code's input box, which lies between two lines.
/// Sends the message of a session that ended while it waited. Claude Code may have it in its transcript already.
pub fn send_what_waited(terminal: &mut Terminal) {
    terminal.wait_for(&[NEXT, "% left"]);
    if input_box(&terminal.wait_for(&[])) == NEXT {
        terminal.press("\r");
    } else {
        terminal.enter("AND-NOW, please", "AND-NOW, please");
    }
}

pub fn input_box(screen: &str) -> String {
    let lines: Vec<_> = screen.lines().collect();
    let is_border = |line: &&str| line.starts_with("────");
    let borders: Vec<_> = (0..lines.len()).filter(|at| is_border(&lines[*at])).collect();
    let [.., top, bottom] = borders[..] else { return String::new() };
    let text = lines[top + 1..bottom].join("\n");
    text.trim_start_matches('❯').trim().to_owned()
}

/// Pastes a message, and presses Enter until Claude Code takes it: right after a paste it does not.
pub fn paste_and_send(terminal: &mut Terminal, text: &str) {
    terminal.press(&format!("\x1b[200~{text}\x1b[201~"));
    wait_until("the pasted message", || !input_box(&terminal.wait_for(&[])).is_empty());
    wait_until("an empty input box", || {
        terminal.press("\r");
        std::thread::sleep(std::time::Duration::from_millis(300));
        input_box(&terminal.wait_for(&[])).is_empty()
    });
}
