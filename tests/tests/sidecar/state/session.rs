//! A session in a real sidecar that records every kind of event. It asserts nothing itself.

use super::THREAD;
use rawr_protocol::Notification;
use rawr_protocol::methods::ActionPerform;
use rawr_tests::{Repository, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::time::Duration;

const CONFIG: &str = r#"
[rawr_auto_compaction]
cooldown_turns = 0
judgment.backend = "host"
policy.asap.decision_prompt_path = "judgment.md"
deadlines.judgment_seconds = 1
"#;
const PACKET: &str = "<continuation_packet>\nState: working\nGoal: write the parser.\n\
    Decisions: no regular expressions.\nNext step: write the docs.\n</continuation_packet>";
/// Used tokens of 190,000: below `early`, in a tier that asks a judge.
const PRESSURE: u64 = 143_139;
const AFTER_COMPACTION: u64 = 12_000;

pub struct SampleSession {
    pub home: TestHome,
    pub repository: Repository,
    sidecar: TestSidecar,
    asked: VecDeque<Value>,
    turns: u32,
}

/// The home of a thread with every kind of event.
pub fn everything() -> (TestHome, Repository) {
    let home = TestHome::new();
    home.configure(CONFIG);
    let sidecar = TestSidecar::start(&home);
    let (repository, asked) = (Repository::new(), VecDeque::new());
    let mut session = SampleSession { home, repository, sidecar, asked, turns: 0 };
    session.open();
    session.work();
    session.compaction_that_no_judge_answered();
    session.compaction_that_a_person_calls_off();
    session.call("rawr/thread/close", json!({}));
    let SampleSession { home, repository, sidecar, .. } = session;
    sidecar.leave();
    (home, repository)
}

impl SampleSession {
    fn open(&mut self) {
        let cwd = self.repository.path().display().to_string();
        self.call(
            "rawr/thread/open",
            json!({
                "transcript": { "path": "/home/somebody/rollout.jsonl" },
                "cwd": cwd, "role": "owner", "contextWindow": 190_000, "model": "model-1",
                "host": { "name": "host", "version": "1.0", "capabilities": {
                    "injectTurn": true, "compact": true, "judge": true } },
            }),
        );
        self.wait_for("repo_observed");
    }

    /// A turn with a signal of every kind.
    fn work(&mut self) {
        self.start("user", None, "Write the parser. Never push to main.");
        let step = |step: &str, status: &str| json!({ "step": step, "status": status });
        let plan = |first: &str, second: &str| {
            json!({ "kind": "plan_updated", "explanation": "two steps",
                "steps": [step("write the parser", first), step("write the docs", second)] })
        };
        for signal in [
            plan("in_progress", "pending"),
            json!({ "kind": "tool_started", "callId": "c1", "name": "shell" }),
            json!({ "kind": "command_finished", "command": "git commit -m parser", "exitCode": 0 }),
            json!({ "kind": "tool_finished", "callId": "c1" }),
            json!({ "kind": "command_finished", "command": ["cargo", "test"], "exitCode": 0 }),
            json!({ "kind": "commit", "hash": "abc1234", "subject": "Add the parser" }),
            json!({ "kind": "pr_checkpoint", "action": "create", "url": "https://example.org/1" }),
            json!({ "kind": "branch_changed", "branch": "parser" }),
            json!({ "kind": "title_changed", "title": "The parser" }),
            json!({ "kind": "phase_boundary", "label": "the parser is done" }),
            json!({ "kind": "user_message", "text": "and its docs, please" }),
            json!({ "kind": "directive", "text": "Keep the tests green.", "pinned": true }),
            json!({ "kind": "directive", "text": "Ask before you delete.", "pinned": false }),
        ] {
            let turn = self.turn();
            self.call("rawr/signal/report", json!({ "turnId": turn, "signal": signal }));
        }
        let listed = self.call("rawr/directive/list", json!({}));
        let last = listed["directives"].as_array().unwrap().last().unwrap();
        let directive = last["directiveId"].clone();
        self.call("rawr/directive/clear", json!({ "directiveId": directive }));
        let until = json!({ "kind": "minutes", "minutes": 5 });
        let set = self.call("rawr/guard/set", json!({ "until": until, "note": "a release" }));
        self.call("rawr/guard/clear", json!({ "guardId": set["guardId"] }));
        let turn = self.turn();
        let usage = json!({ "contextTokens": 20_000, "inputTokens": 19_000,
            "cachedInputTokens": 9000, "outputTokens": 1000, "reasoningTokens": 10 });
        self.call(
            "rawr/turn/usage",
            json!({ "turnId": turn, "usage": usage, "needsFollowUp": true }),
        );
        let plan = plan("completed", "in_progress");
        self.call("rawr/signal/report", json!({ "turnId": turn, "signal": plan }));
    }

    /// The judge is asked and does not answer; messages arrive meanwhile.
    fn compaction_that_no_judge_answered(&mut self) {
        self.end("The parser is written and committed.", PRESSURE);
        assert_eq!(self.next_action()["action"]["kind"], "judge");
        for input in ["i1", "i2"] {
            let text = format!("And the docs, please: {input}");
            let message = json!({ "inputId": input, "text": text, "kind": "message" });
            assert_eq!(self.call("rawr/input/submit", message)["disposition"], "held");
        }
        self.call("rawr/input/cancel", json!({ "inputId": "i2" }));
        self.ahead_of_the_clock();
        self.wait_for("clock_set_back");
        self.wait_for("sequence_started");
        self.until_idle();
    }

    /// Another client whose clock is ahead records something.
    fn ahead_of_the_clock(&self) {
        let last = self.home.lines(THREAD).pop().unwrap();
        let last: Value = serde_json::from_str(&last).unwrap();
        let at = last["at"].as_i64().unwrap() + 600_000;
        let event = r#"{"branch_changed":{"branch":"docs"}}"#;
        let mut log = File::options().append(true).open(self.home.events(THREAD)).unwrap();
        log.lock().unwrap();
        writeln!(log, r#"{{"v":1,"at":{at},"event":{event}}}"#).unwrap();
    }

    /// The judge says yes, and a person no.
    fn compaction_that_a_person_calls_off(&mut self) {
        self.start("user", None, "Now the docs.");
        let turn = self.turn();
        let commit = json!({ "kind": "commit", "hash": "def5678", "subject": "Add the docs" });
        self.call("rawr/signal/report", json!({ "turnId": turn, "signal": commit }));
        self.end("The docs are written and committed.", PRESSURE);
        let asked = self.next_action();
        let request = asked["action"]["requestId"].clone();
        self.call(
            "rawr/judgment/answer",
            json!({ "requestId": request, "shouldCompact": true, "reason": "the docs are done" }),
        );
        self.next_action();
        self.call("rawr/sequence/respond", json!({ "choice": "cancel" }));
    }

    fn call(&mut self, method: &str, mut params: Value) -> Value {
        params["threadId"] = json!(THREAD);
        let answer = self.sidecar.request(method, &params).unwrap();
        let answer = answer.unwrap_or_else(|failure| panic!("{method} {params}: {failure:?}"));
        self.listen();
        answer
    }

    fn listen(&mut self) {
        let notes = self.sidecar.take_notes();
        let asked = notes.into_iter().filter(|note| note.method == ActionPerform::METHOD);
        self.asked.extend(asked.map(|note| note.params));
    }

    fn next_action(&mut self) -> Value {
        self.asked.pop_front().unwrap_or_else(|| panic!("{}", self.sidecar.told()))
    }

    /// Waits until the log contains such an event.
    fn wait_for(&mut self, kind: &str) {
        const LOOKS: u32 = 2000;
        let kind = format!("\"{kind}\"");
        let is_there = |line: &String| line.contains(&kind);
        let mut looks = 0;
        while !self.home.lines(THREAD).iter().any(is_there) {
            looks += 1;
            assert!(looks < LOOKS, "no {kind}: {}", self.home.lines(THREAD).join("\n"));
            std::thread::sleep(Duration::from_millis(10));
            self.call("rawr/thread/get", json!({}));
        }
        self.call("rawr/thread/get", json!({}));
    }

    fn turn(&self) -> String {
        format!("t{}", self.turns)
    }

    fn start(&mut self, origin: &str, action: Option<&str>, text: &str) {
        self.turns += 1;
        let turn = self.turn();
        let mut params = json!({ "turnId": turn, "origin": origin, "text": text });
        if let Some(action) = action {
            params["actionId"] = json!(action);
        }
        self.call("rawr/turn/started", params);
    }

    fn end(&mut self, message: &str, tokens: u64) {
        let turn = self.turn();
        let usage = json!({ "contextTokens": tokens });
        self.call(
            "rawr/turn/completed",
            json!({ "turnId": turn, "status": "completed", "lastAgentMessage": message,
                "usage": usage }),
        );
    }

    /// Performs all pending actions.
    fn until_idle(&mut self) {
        while let Some(asked) = self.asked.pop_front() {
            let id = asked["actionId"].as_str().unwrap().to_owned();
            let report = |status: &str| json!({ "actionId": id, "status": status });
            let action = &asked["action"];
            match action["kind"].as_str().unwrap() {
                "compact" => {
                    self.call("rawr/action/report", report("accepted"));
                    for status in ["started", "completed"] {
                        let params = json!({ "status": status, "origin": "rawr", "actionId": id,
                            "tokensAfter": AFTER_COMPACTION });
                        self.call("rawr/compaction/report", params);
                    }
                    self.call("rawr/action/report", report("completed"));
                }
                "judge" => {}
                _ => {
                    self.call("rawr/action/report", report("accepted"));
                    self.start("synthetic", Some(&id), "what rawr says");
                    let is_packet = action["purpose"] == "packet_request";
                    let (message, tokens) = if is_packet {
                        (PACKET, PRESSURE)
                    } else {
                        ("Understood, going on.", AFTER_COMPACTION + 1000)
                    };
                    self.end(message, tokens);
                }
            }
        }
    }
}
