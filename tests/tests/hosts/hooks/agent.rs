//! An agent that a test plays: it keeps a transcript, calls rawr's hooks, and hears what they answer.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::fixture::HooksFixture;

/// The model of the turns whose model does not matter.
pub const MODEL: &str = "claude-sonnet-4-5";

/// The tokens of a full context: most of the window of both agents.
pub const FULL: u64 = 150_000;

/// The window that Codex records.
pub const WINDOW: u64 = 200_000;

/// What the agent says at the end of its work.
pub const SAID: &str = "It is written and committed.";

pub const HOSTS: [&str; 2] = ["claude", "codex"];

pub fn user(content: Value) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": content},
        "toolUseResult": {"stdout": ""}})
}

pub fn assistant(model: &str, tokens: u64, block: Value) -> Value {
    json!({"type": "assistant", "message": {"model": model, "content": [block],
        "usage": {"input_tokens": tokens, "output_tokens": 20}}})
}

/// A turn with a commit in a transcript of Claude Code.
pub fn claude_turn(model: &str, tokens: u64) -> Vec<Value> {
    let call = json!({"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "git commit -m x"}});
    let result = json!([{"type": "tool_result", "tool_use_id": "a", "content": ""}]);
    vec![
        user("Write the parser".into()),
        assistant(model, tokens, call),
        user(result),
        assistant(model, tokens, json!({"type": "text", "text": SAID})),
    ]
}

fn event(payload: Value) -> Value {
    json!({"type": "event_msg", "payload": payload})
}

fn codex_usage(tokens: u64, window: Option<u64>) -> Value {
    let info = json!({"last_token_usage": {"input_tokens": tokens, "output_tokens": 20,
        "total_tokens": tokens}, "model_context_window": window});
    event(json!({"type": "token_count", "info": info}))
}

/// A turn with a commit in a rollout of Codex.
pub fn codex_turn(tokens: u64, window: Option<u64>) -> Vec<Value> {
    let arguments = json!({"cmd": "git commit -m x"}).to_string();
    let item = |payload: Value| json!({"type": "response_item", "payload": payload});
    vec![
        event(json!({"type": "task_started", "turn_id": "t"})),
        event(json!({"type": "user_message", "message": "Write the parser"})),
        item(json!({"type": "function_call", "name": "exec_command", "arguments": arguments,
            "call_id": "c"})),
        item(json!({"type": "function_call_output", "call_id": "c",
            "output": "Process exited with code 0\nOutput:\n"})),
        event(json!({"type": "agent_message", "message": SAID})),
        codex_usage(tokens, window),
    ]
}

pub struct PlayedAgent<'f> {
    pub fixture: &'f HooksFixture,
    pub host: &'static str,
    pub session: &'static str,
    /// Further arguments of the hooks.
    pub options: Vec<&'static str>,
    transcript: Vec<Value>,
}

impl<'f> PlayedAgent<'f> {
    pub fn new(fixture: &'f HooksFixture, host: &'static str, session: &'static str) -> Self {
        Self { fixture, host, session, options: Vec::new(), transcript: Vec::new() }
    }

    fn path(&self) -> PathBuf {
        self.fixture.home.path().join(format!("{}-{}.jsonl", self.host, self.session))
    }

    pub fn writes(&mut self, lines: impl IntoIterator<Item = Value>) {
        self.transcript.extend(lines);
        let text: String = self.transcript.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(self.path(), text).unwrap();
    }

    /// Does a turn's work in a full context.
    pub fn works(&mut self) {
        self.works_in(FULL);
    }

    /// Does a turn's work in a context of so many tokens.
    pub fn works_in(&mut self, tokens: u64) {
        let done = event(json!({"type": "task_complete"}));
        match self.host {
            "codex" => self.writes(std::iter::once(done).chain(codex_turn(tokens, Some(WINDOW)))),
            _ => self.writes(claude_turn(MODEL, tokens)),
        }
    }

    fn speaks(&mut self, text: &str) {
        match self.host {
            "codex" => self.writes([
                event(json!({"type": "agent_message", "message": text})),
                codex_usage(FULL, Some(WINDOW)),
            ]),
            _ => self.writes([assistant(MODEL, FULL, json!({"type": "text", "text": text}))]),
        }
    }

    /// The command of a hook.
    pub fn command(&self, event: &str) -> Command {
        let mut command = self.fixture.rawr(&["hook", event, "--host", self.host]);
        command.args(&self.options);
        command
    }

    /// The input of a hook.
    pub fn input(&self, event: &str, more: Value) -> String {
        let mut input = json!({
            "session_id": self.session, "transcript_path": self.path(),
            "cwd": self.fixture.repository.path(), "hook_event_name": event,
        });
        let more = more.as_object().unwrap().clone();
        input.as_object_mut().unwrap().extend(more);
        input.to_string()
    }

    /// What a hook answers; null if it is silent.
    fn hook(&self, event: &str, more: Value) -> Value {
        let output = HooksFixture::fed(&mut self.command(event), self.input(event, more));
        assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
        match &output.stdout[..] {
            b"" => Value::Null,
            text => serde_json::from_slice(text).unwrap(),
        }
    }

    /// The agent ends its turn.
    pub fn stops(&self) -> Value {
        self.hook("Stop", ended(false, SAID))
    }

    /// The agent answers a text of a hook.
    pub fn answers(&mut self, text: &str) -> Value {
        self.speaks(text);
        self.hook("Stop", ended(true, text))
    }

    /// The user sends a message, and no hook keeps it from the agent.
    pub fn is_told(&self, text: &str) {
        assert_eq!(self.hook("UserPromptSubmit", json!({ "prompt": text })), Value::Null);
    }

    /// The agent compacts, up to its first hook after that.
    pub fn begins_to_compact(&mut self, trigger: &str) {
        assert_eq!(self.hook("PreCompact", json!({ "trigger": trigger })), Value::Null);
        self.writes([match self.host {
            "codex" => json!({"type": "compacted", "payload": {"message": ""}}),
            _ => json!({"type": "system", "subtype": "compact_boundary"}),
        }]);
    }

    pub fn starts(&self, source: &str) -> Value {
        self.hook("SessionStart", json!({ "source": source }))
    }

    pub fn compacts(&mut self, trigger: &str) -> Value {
        self.begins_to_compact(trigger);
        self.starts("compact")
    }

    pub fn events(&self) -> String {
        self.fixture.events_of(self.session)
    }

    /// What hooks have left for the next one of this session, but for the end of the turn after a compaction.
    pub fn left(&self) -> Value {
        let file = format!("rawr/hooks/{}.json", self.session);
        let text = std::fs::read(self.fixture.home.path().join(file));
        let left = text.map_or(Value::Null, |text| serde_json::from_slice(&text).unwrap());
        if left["awaits"] == "measurement" { Value::Null } else { left }
    }

    /// Works until it is asked for its packet, writes it, compacts as it is told, and gets it back.
    #[track_caller]
    pub fn is_compacted_once(&mut self, packet: &str) {
        self.is_told("Write the parser");
        self.works();
        let asked = self.stops();
        assert!(asks_for_packet(&asked), "{}: {asked}\n{}", self.host, self.events());
        let told = self.answers(packet);
        assert!(tells_to_compact(&told), "{}: {told}\n{}", self.host, self.events());
        let handoff = self.compacts("manual");
        assert!(hands_over(&handoff, packet), "{}: {handoff}\n{}", self.host, self.events());
        assert_eq!(self.left(), Value::Null);
    }
}

/// The part of a `Stop` hook's input that tells how the turn ended.
pub fn ended(is_continued: bool, said: &str) -> Value {
    json!({"stop_hook_active": is_continued, "last_assistant_message": said})
}

/// A packet whose next step is this.
pub fn packet(next: &str) -> String {
    format!(
        "<continuation_packet>\nState: working\nGoal: a parser with docs\nNext: {next}\n</continuation_packet>"
    )
}

pub fn asks_for_packet(answer: &Value) -> bool {
    let asks = |text: &str| text.contains(":packet_request]");
    answer["decision"] == "block" && answer["reason"].as_str().is_some_and(asks)
}

pub fn tells_to_compact(answer: &Value) -> bool {
    let tells = |text: &str| text.contains("Type /compact now");
    answer["decision"].is_null() && answer["systemMessage"].as_str().is_some_and(tells)
}

/// What a handoff says.
pub fn handoff(answer: &Value) -> Option<&str> {
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
    text.filter(|text| text.contains(":handoff]"))
}

pub fn hands_over(answer: &Value, packet: &str) -> bool {
    let next = packet.lines().find(|line| line.starts_with("Next: ")).unwrap();
    handoff(answer).is_some_and(|text| text.contains(next))
}

/// How often this stands in the events.
pub fn count(events: &str, words: &str) -> usize {
    events.matches(words).count()
}
