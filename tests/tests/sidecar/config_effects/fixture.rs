//! A sidecar, a home and a host that plays a script and records what it receives.

use super::KeyCase;
use super::script::{AwaitedSign, CaseStep, Runs, ShownState};
use super::story::{Story, one_line};
use crate::fixture::THREAD;
use rawr_protocol::methods::{
    ActionPerform, ActionReport, CompactionReport, CompactionRewrite, Initialize, Initialized,
    JudgmentAnswer, JudgmentEvaluate, PacketGet, PromptGet, SignalReport, ThreadChanged, ThreadGet,
    ThreadList, ThreadOpen, TurnCompleted, TurnStarted,
};
use rawr_protocol::{
    Action, ActionPerformNotification, Empty, Notification, Purpose, Request, ThreadListParams,
};
use rawr_tests::mock_endpoint::Mock;
use rawr_tests::{LaunchOptions, Repository, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

const WINDOW: u64 = 100_000;
/// The tier is `ready`, where a commit counts.
const BEFORE_COMPACTION: u64 = 30_000;
const AFTER_COMPACTION: u64 = 12_000;
const PACKET: &str =
    "<continuation_packet>\nState: working\nGoal: parser\nNext: docs\n</continuation_packet>";

/// Short texts in place of the shipped prompts, and others that keys name, so that the output does not depend on their
/// wording.
const PROMPTS: [(&str, &str); 10] = [
    ("auto-compact", "WRITE-PACKET"),
    ("heads-up", "HEADS-UP {reason}"),
    ("scratch-write", "SCRATCH {scratchFile}"),
    ("judgment", "JUDGE"),
    ("judgment-context", "CASE {tier}"),
    ("watcher-packet", "BY-RAWR goal={goal} last={lastAgentMessage}"),
    ("handoff", "HANDOFF {packet} {directives}"),
    ("compact", "SUMMARISE"),
    ("called-off", "CALLED OFF"),
    ("summary-prefix", "SUMMARY:"),
];

pub struct ConfigEffectsFixture {
    home: TestHome,
    repository: Option<Repository>,
    endpoint: Option<Mock>,
    sidecar: TestSidecar,
    /// Whether this run has the key.
    with: bool,
    turns: u32,
    asked: VecDeque<ActionPerformNotification>,
    story: Story,
}

impl ConfigEffectsFixture {
    pub fn open(case: &KeyCase, with: bool) -> Self {
        let home = TestHome::new();
        let endpoint =
            (!case.endpoint.is_empty()).then(|| Mock::start_apart(case.endpoint.clone()));
        let origin = endpoint.as_ref().map_or("", Mock::origin);
        home.configure(&case.config(with).replace("{endpoint}", origin));
        write_prompts(&home);
        let repository = case.gt.map(|_| repository_with_a_stack());
        let environment = environment(&home, case.gt);
        let launch = LaunchOptions { environment, ..LaunchOptions::default() };
        let mut sidecar = TestSidecar::spawn(&home, &launch);
        // At the end of the story, changes by other processes may still be reported.
        sidecar.allow::<ThreadChanged>();
        let mut lab = Self {
            sidecar,
            home,
            repository,
            endpoint,
            with,
            turns: 0,
            asked: VecDeque::new(),
            story: Story::default(),
        };
        lab.call::<Initialize>(json!({}));
        lab.sidecar.notify::<Initialized>(&Empty {});
        lab.problems();
        lab.open_thread();
        lab.listen();
        lab
    }

    /// Problems of the configuration; those of the short prompts are skipped.
    fn problems(&mut self) {
        for note in self.sidecar.take_notes() {
            let message = note.params["message"].as_str().unwrap_or_default();
            if let Some((_, problem)) = message.split_once("rawr.toml:") {
                self.story.record(format!("problem at {problem}"));
            }
        }
    }

    fn open_thread(&mut self) {
        let cwd = self
            .repository
            .as_ref()
            .map_or_else(|| self.home.work(), |repository| repository.path().to_owned());
        self.call::<ThreadOpen>(json!({
            "threadId": THREAD,
            "cwd": cwd,
            "role": "owner",
            "host": {"name": "lab", "capabilities": {
                "injectTurn": true, "compact": true, "judge": true,
            }},
            "contextWindow": WINDOW,
        }));
    }

    pub fn play(mut self, script: &[CaseStep]) -> Vec<String> {
        for step in script {
            self.step(*step);
            self.listen();
        }
        self.sidecar.leave();
        self.story.lines
    }

    fn call<R: Request>(&mut self, params: Value) -> R::Result {
        let params = serde_json::from_value(params).unwrap();
        self.sidecar.call::<R>(&params)
    }

    fn listen(&mut self) {
        for note in self.sidecar.take_notes() {
            self.story.note(&note);
            if note.method == ActionPerform::METHOD {
                self.asked.push_back(serde_json::from_value(note.params).unwrap());
            }
        }
    }

    fn turn(&self) -> String {
        format!("t{}", self.turns)
    }

    fn step(&mut self, step: CaseStep) {
        match step {
            CaseStep::Commit => self.commit(),
            CaseStep::Do => self.perform_next(),
            CaseStep::Rested(days) => self.rested(days),
            CaseStep::Await(sign, runs) => {
                let run = if self.with { Runs::With } else { Runs::Without };
                if runs == run || runs == Runs::Both {
                    self.wait_for(sign);
                }
            }
            CaseStep::Show(show) => self.show(show),
        }
    }

    fn commit(&mut self) {
        self.start("user", None, "Write the parser");
        self.call::<SignalReport>(json!({
            "threadId": THREAD,
            "turnId": self.turn(),
            "signal": {"kind": "commit", "subject": "parser"},
        }));
        self.end(Some(BEFORE_COMPACTION), "I put the parser into a commit of its own.");
    }

    fn start(&mut self, origin: &str, action: Option<&str>, text: &str) {
        self.turns += 1;
        self.call::<TurnStarted>(json!({
            "threadId": THREAD,
            "turnId": self.turn(),
            "origin": origin,
            "actionId": action,
            "text": text,
        }));
    }

    /// A turn of rawr's reports no usage.
    fn end(&mut self, context: Option<u64>, message: &str) {
        self.call::<TurnCompleted>(json!({
            "threadId": THREAD,
            "turnId": self.turn(),
            "status": "completed",
            "lastAgentMessage": message,
            "usage": context.map(|context| json!({"contextTokens": context})),
        }));
    }

    fn next_action(&mut self) -> ActionPerformNotification {
        self.asked
            .pop_front()
            .unwrap_or_else(|| panic!("no action is pending:\n{}", self.story.lines.join("\n")))
    }

    fn report(&mut self, action: &str, mut report: Value) {
        report["threadId"] = json!(THREAD);
        report["actionId"] = json!(action);
        self.call::<ActionReport>(report);
    }

    fn perform_next(&mut self) {
        let asked = self.next_action();
        let id = asked.action_id.as_str();
        match asked.action {
            Action::InjectTurn { purpose, text, .. } => {
                self.start("synthetic", Some(id), &text);
                self.report(id, json!({"status": "accepted", "turnId": self.turn()}));
                let is_packet = purpose == Purpose::PacketRequest;
                self.end(None, if is_packet { PACKET } else { "Understood, going on." });
            }
            Action::Compact { .. } => {
                self.report(id, json!({"status": "accepted"}));
                let report = |status, tokens: Option<u64>| {
                    json!({
                        "threadId": THREAD, "actionId": id, "origin": "rawr",
                        "status": status, "tokensAfter": tokens,
                    })
                };
                self.call::<CompactionReport>(report("started", None));
                self.call::<CompactionReport>(report("completed", Some(AFTER_COMPACTION)));
                self.report(id, json!({"status": "completed"}));
            }
            Action::Judge { request_id, .. } => {
                self.call::<JudgmentAnswer>(json!({
                    "threadId": THREAD, "requestId": request_id,
                    "shouldCompact": true, "reason": "yes",
                }));
            }
            other => panic!("unexpected action {other:?}"),
        }
    }

    /// Only a hang takes the whole time.
    fn wait_for(&mut self, sign: AwaitedSign) {
        for _ in 0..6000 {
            self.call::<ThreadGet>(json!({"threadId": THREAD}));
            self.listen();
            let came = match sign {
                AwaitedSign::Repository => !self.repositories_seen().is_empty(),
                AwaitedSign::Judged => self.story.is_judged,
            };
            if came {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("{sign:?} never came:\n{}", self.story.lines.join("\n"));
    }

    fn repositories_seen(&self) -> Vec<Value> {
        let record = |line: &String| serde_json::from_str::<Value>(line).unwrap();
        let lines = self.home.lines(THREAD);
        let seen = |record: Value| record["event"].get("repo_observed")?.get("repo").cloned();
        lines.iter().map(record).filter_map(seen).collect()
    }

    fn show(&mut self, show: ShownState) {
        let shown = match show {
            ShownState::Packet => {
                let packet = self.call::<PacketGet>(json!({"threadId": THREAD}));
                packet.packet.lines().map(str::to_owned).collect()
            }
            ShownState::Prompt(name) => vec![self.call::<PromptGet>(json!({"name": name})).text],
            ShownState::Rewritten => {
                let items = json!([{"role": "user", "text": "Write the parser"}]);
                let history = json!({"items": items, "summary": "The parser is written."});
                let rewritten = self.call::<CompactionRewrite>(history);
                rewritten.items.into_iter().map(|item| item.text).collect()
            }
            ShownState::Judgment => self.judgment(),
            ShownState::Repository => {
                self.repositories_seen().iter().map(|repo| repo["stack"].to_string()).collect()
            }
            ShownState::Endpoint => self.requests(),
            ShownState::Threads => self.threads(),
        };
        for line in shown {
            self.story.record(format!("shown {}", one_line(&line)));
        }
    }

    fn rested(&self, days: u64) {
        let (folder, log) = (self.home.thread("rested"), self.home.events("rested"));
        fs::create_dir(folder).unwrap();
        let opened = self.home.lines(THREAD).remove(0);
        fs::write(&log, opened + "\n").unwrap();
        let at = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
        fs::File::options().append(true).open(log).unwrap().set_modified(at).unwrap();
    }

    fn threads(&self) -> Vec<String> {
        let leaves = TestSidecar::start(&self.home);
        leaves.discard_and_leave();
        let mut sidecar = TestSidecar::start(&self.home);
        let listed = sidecar.call::<ThreadList>(&ThreadListParams {});
        sidecar.discard_and_leave();
        listed.threads.into_iter().map(|thread| thread.thread_id).collect()
    }

    /// The host answers as it would in a sequence.
    fn judgment(&mut self) -> Vec<String> {
        let case = json!({"threadId": THREAD, "tier": "ready", "percentRemaining": 70});
        let case = serde_json::from_value(case).unwrap();
        let asked = self.sidecar.ask::<JudgmentEvaluate>(&case);
        while self.asked.is_empty() {
            self.call::<ThreadGet>(json!({"threadId": THREAD}));
            self.listen();
        }
        self.perform_next();
        vec![self.sidecar.answer::<JudgmentEvaluate>(asked).unwrap().reason]
    }

    fn requests(&self) -> Vec<String> {
        let seen = self.endpoint.as_ref().map(Mock::seen).unwrap_or_default();
        let told = |seen: rawr_tests::mock_endpoint::EndpointRequest| {
            let key = seen.authorization.unwrap_or_else(|| "no key".to_owned());
            let [model, effort] = ["model", "reasoning_effort"].map(|of| seen.body[of].to_string());
            [seen.line, key, format!("model {model}"), format!("effort {effort}")]
        };
        seen.into_iter().flat_map(told).collect()
    }
}

fn repository_with_a_stack() -> Repository {
    let repository = Repository::new();
    fs::write(repository.path().join(".git/.graphite_repo_config"), "{}").unwrap();
    repository
}

fn write_prompts(home: &TestHome) {
    let folder = home.path().join("auto-compact");
    fs::create_dir(&folder).unwrap();
    for (name, text) in PROMPTS {
        fs::write(folder.join(format!("{name}.md")), text).unwrap();
        fs::write(folder.join(format!("my-{name}.md")), format!("MY-{text}")).unwrap();
    }
}

/// API keys for endpoints, and a `gt` that comes first in `PATH`.
fn environment(home: &TestHome, gt: Option<&str>) -> Vec<(&'static str, OsString)> {
    let folder = home.path().join("bin");
    fs::create_dir(&folder).unwrap();
    if let Some(script) = gt {
        fs::write(folder.join("gt"), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(folder.join("gt"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut path = folder.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    vec![("PATH", path), ("OPENAI_API_KEY", "usual".into()), ("MY_KEY", "mine".into())]
}
