//! External text cannot control the terminal of a person who runs rawr's commands.

use crate::fixture::command;
use rawr_protocol::{CommandLine, PlanStep, Signal, StepStatus};
use rawr_tests::mock_chat::{ChatScript, http, reply};
use rawr_tests::{LaunchOptions, MockChat, StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::process::Output;

/// Clears the screen, renames the window, sets colors with one and two bytes, moves the cursor back, and reverses the
/// text direction.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{8}\r\u{202e}evil";

fn run(home: &TestHome, arguments: &[&str]) -> Output {
    let mut command = command(&home.path(), arguments);
    command.env("RAWR_LOG", "debug").current_dir(home.work()).output().unwrap()
}

/// Checks the output for control characters. Returns whether it contains the external text, which is allowed.
fn check_tame(arguments: &[&str], output: &Output) -> bool {
    let mut evil = false;
    for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let turns = |letter| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let steers = |letter: char| letter.is_control() && letter != '\n' || turns(letter);
        let line = text.lines().find(|line| line.contains(steers));
        assert_eq!(line, None, "{stream} of {arguments:?}");
        evil |= text.contains("evil");
    }
    evil
}

fn tame_and_shown(home: &TestHome, arguments: &[&str]) {
    let output = run(home, arguments);
    check_tame(arguments, &output);
    let shows = output.status.success() && !output.stdout.is_empty();
    assert!(shows, "{arguments:?} shows nothing: {output:?}");
}

fn tame_and_said(home: &TestHome, arguments: &[&str]) {
    let output = run(home, arguments);
    let said = check_tame(arguments, &output);
    assert!(said, "{arguments:?} shows nothing that could steer: {output:?}");
}

fn signals() -> [Signal; 5] {
    let step = PlanStep { step: EVIL.to_owned(), status: StepStatus::InProgress };
    [
        Signal::PlanUpdated { steps: vec![step], explanation: Some(EVIL.to_owned()) },
        Signal::BranchChanged { branch: EVIL.to_owned() },
        Signal::Directive { text: EVIL.to_owned(), pinned: true },
        Signal::PhaseBoundary { label: EVIL.to_owned() },
        Signal::CommandFinished {
            command: CommandLine::Line(format!("git commit -m '{EVIL}'")),
            exit_code: 0,
            cwd: None,
        },
    ]
}

/// A thread that was compacted, with hostile text everywhere that external text can occur.
fn haunted() -> TestHome {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::spawn(&home, &LaunchOptions::default());
    sidecar.greet(EVIL);
    let mut host = StandIn::new("t1");
    assert!(host.open(&home, &mut sidecar));
    let mut ask = |method: &str, params: Value| {
        let answer = sidecar.request(method, &params).unwrap();
        answer.unwrap_or_else(|failure| panic!("{method} {params}: {failure:?}"));
    };
    ask(
        "rawr/turn/started",
        json!({"threadId": "t1", "turnId": "e", "origin": "user", "text": EVIL}),
    );
    for signal in signals() {
        ask("rawr/signal/report", json!({"threadId": "t1", "turnId": "e", "signal": signal}));
    }
    let end =
        json!({"threadId": "t1", "turnId": "e", "status": "completed", "lastAgentMessage": EVIL});
    ask("rawr/turn/completed", end);
    ask("rawr/scratch/append", json!({"threadId": "t1", "text": EVIL}));
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    assert_eq!(host.count("compact"), 1);
    let guard = json!({"threadId": "t1", "until": {"kind": "released"}, "note": EVIL});
    let set = sidecar.request("rawr/guard/set", &guard).unwrap();
    set.unwrap_or_else(|failure| panic!("{failure:?}"));
    sidecar.take_notes();
    drop(sidecar);
    home
}

#[test]
fn texts_of_a_thread_do_not_control_the_terminal() {
    let home = haunted();
    for arguments in [
        &["status"][..],
        &["explain", "t1"],
        &["explain", "t1", "--list"],
        &["capsules", "t1"],
        &["capsules"],
        &["compact", "t1"],
    ] {
        tame_and_shown(&home, arguments);
    }
    for arguments in [
        &["status", "t1"][..],
        &["guard", "t1", "--list"],
        &["pin", "t1", "--list"],
        &["recall", "evil"],
    ] {
        tame_and_said(&home, arguments);
    }
}

#[test]
fn names_in_errors_do_not_control_the_terminal() {
    let home = haunted();
    for arguments in [
        &["status", EVIL][..],
        &["explain", "t1", "--decision", EVIL],
        &["restore", EVIL, "--dry-run"],
        &["pin", "t1", "--remove", EVIL],
        &["guard", "t1", "--clear", EVIL],
        &["exec", "--host", "embedded", "--cd", EVIL, "x"],
    ] {
        tame_and_said(&home, arguments);
    }
}

#[test]
fn project_and_user_files_do_not_control_the_terminal() {
    let home = TestHome::new();
    let toml = format!(
        "[rawr_auto_compaction]\n\"{}\" = 1\nmode = '{}'\n",
        escaped(),
        "\u{9b}31m\u{202e}evil"
    );
    std::fs::write(home.work().join(".rawr.toml"), &toml).unwrap();
    home.configure(&toml);
    let prompts = home.path().join("auto-compact");
    std::fs::create_dir_all(&prompts).unwrap();
    let prompt = format!("---\n\"{}\": 1\n---\n{EVIL} {{evil}} {EVIL}", escaped());
    std::fs::write(prompts.join("heads-up.md"), prompt).unwrap();
    tame_and_said(&home, &["doctor"]);
    tame_and_said(&home, &["doctor", "--verbose"]);
}

/// As an escaped string of TOML and YAML.
fn escaped() -> &'static str {
    "\\u001b[2J\\u0007\\u009b31m\\u202eevil"
}

#[test]
fn model_answers_and_errors_do_not_control_the_terminal() {
    for reply in [reply(EVIL), http(400, EVIL), http(418, EVIL)] {
        let home = TestHome::new();
        let model = MockChat::start(ChatScript::default().first([reply]));
        let base_url = model.base_url();
        let arguments = [
            "exec",
            "--host",
            "embedded",
            "--model",
            "m",
            "--base-url",
            &base_url,
            "--context-window",
            "32768",
            "hello",
        ];
        tame_and_said(&home, &arguments);
    }
}
