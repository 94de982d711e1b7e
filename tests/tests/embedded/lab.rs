//! A session of `rawr exec` on the embedded host, and what is told of it.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rawr_tests::{MockChat, Repository, rawr};
use serde_json::Value;
use tempfile::TempDir;

/// A home, a repository to work in, and the options of every session.
pub struct Lab {
    pub home: TempDir,
    pub repository: Repository,
    options: Vec<String>,
}

impl Lab {
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
        Self::new(&options)
    }

    /// On a script, in TOML.
    pub fn on_script(script: &str) -> Self {
        let mut lab = Self::new(&[]);
        let file = lab.home.path().join("script.toml");
        std::fs::write(&file, script).unwrap();
        lab.options.extend(["--script".to_owned(), file.display().to_string()]);
        lab
    }

    fn new(options: &[&str]) -> Self {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        Self { home: TempDir::new().unwrap(), repository: Repository::new(), options }
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

    pub fn exec(&self, prompts: &[&str]) -> Done {
        Done::of(self.command(prompts).output().unwrap())
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

/// A session that is over.
pub struct Done {
    pub output: Output,
    pub events: Vec<Value>,
}

impl Done {
    pub fn of(output: Output) -> Self {
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { output, events }
    }

    pub fn all(&self, name: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["event"] == name).collect()
    }

    pub fn said(&self) -> Vec<&str> {
        self.all("agent_message").iter().filter_map(|event| event["text"].as_str()).collect()
    }

    pub fn notices(&self) -> Vec<&str> {
        self.all("notice").iter().filter_map(|event| event["message"].as_str()).collect()
    }

    pub fn dump(&self) -> String {
        let lines: Vec<_> = self.events.iter().map(ToString::to_string).collect();
        format!("{}\n{}", lines.join("\n"), String::from_utf8_lossy(&self.output.stderr))
    }

    pub fn expect_success(&self) {
        assert!(self.output.status.success(), "{}", self.dump());
    }

    /// The session as a person would tell it: a line for whatever matters for a compaction, without ids and numbers.
    pub fn story(&self) -> String {
        let lines: Vec<_> = self.events.iter().filter_map(line).collect();
        lines.join("\n") + "\n"
    }
}

fn line(event: &Value) -> Option<String> {
    let word = |field: &str| event[field].as_str().unwrap_or("?");
    let first = |field: &str| shortened(word(field).lines().next().unwrap_or_default());
    Some(match word("event") {
        "user_message" => format!("user: {}", first("text")),
        "turn_completed" => format!("turn {}", word("status")),
        "agent_message" => format!("  agent: {}", first("text")),
        "command_finished" => format!("  ran {}", first("command")),
        "verdict" if event["outcome"] == "nothing" => return None,
        "verdict" => format!("[{} by {}]", word("outcome"), word("entrance")),
        "heads_up" => format!("[heads-up {}]", word("stage")),
        "input_held" => format!("[held: {}]", first("text")),
        "injected" => format!("rawr: {}", word("purpose")),
        "handoff" => "rawr: handoff".to_owned(),
        "packet" => format!("[packet by {}]", word("author")),
        "compaction" => format!("[compaction {}]", word("status")),
        "notice" => format!("[notice: {}]", first("message")),
        "log" => format!("[log: {}]", first("message")),
        _ => return None,
    })
}

/// Of a long line its beginning: how long it got may hang on the moment at which it was cut off.
fn shortened(line: &str) -> String {
    const LETTERS: usize = 80;
    match line.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
