//! `rawr status` and `rawr explain`.

use rawr_protocol::methods::{
    InputSubmit, JudgmentAnswer, SignalReport, ThreadOpen, TurnCompleted, TurnStarted,
};
use rawr_protocol::{
    InputKind, InputSubmitParams, JudgmentAnswerParams, Outcome, Role, Signal, SignalReportParams,
    TurnCompletedParams, TurnOrigin, TurnStartedParams, TurnStatus,
};
use rawr_tests::sidecar::Note;
use rawr_tests::stand_in::PRESSURE;
use rawr_tests::{StandIn, TestHome, TestSidecar, rawr};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

use super::{RunningHost, check, compacted, err, event, events, pressed, refused, run};

#[test]
fn an_empty_home_gets_a_hint_and_stays_empty() {
    let home = TestHome::empty();
    check(&home, &["status"], &["there are no threads in ", "`rawr exec", "`rawr demo`"]);
    assert_eq!(events(&home, &["status"]), Vec::<Value>::new());
    refused(&home, &["status", "last"], 1, &["there are no threads in "]);
    refused(&home, &["guard", "last", "--next-commit"], 1, &["there are no threads in "]);
    assert_eq!(home.path().read_dir().unwrap().count(), 0, "looking leaves no trace");
}

#[test]
fn a_verbose_command_logs_its_requests() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    let status = |level: &str| {
        let mut command = Command::new(rawr());
        command.arg("status").env("RAWR_HOME", home.path()).env_remove("CODEX_HOME");
        err(&command.env("RAWR_LOG", level).current_dir(home.work()).output().unwrap())
    };
    let log = status("debug");
    assert!(log.contains(r#"request{method="rawr/thread/get"}"#), "{log}");
    assert_eq!(status("warn"), "");
}

#[test]
fn status_shows_the_state_of_a_thread() {
    let home = TestHome::new();
    compacted(&home, "alpha");
    run(&home, &["guard", "alpha", "--turns", "3", "--note", "mid\u{1b}[2Jrefactor"]);
    check(
        &home,
        &["status"],
        &[
            "alpha (Write the parser)  93% left · just now",
            "run by     no process",
            "phase      Idle",
            "guards     g1 for 3 turns (mid\u{fffd}[2Jrefactor), set just now by rawr guard",
            "decision   compaction decided: 25% left (asap) at commit, plan step done, plan changed",
            "compacted  143,139 → 13,000 tokens, by rawr (asap, commit, plan step done",
        ],
    );
    let status = event(&home, &["status", "alpha"]);
    for (field, value) in [
        ("event", json!("status")),
        ("threadId", json!("alpha")),
        ("phase", json!("idle")),
        ("percentRemaining", json!(93)),
        ("heldInputs", json!([])),
        ("compactionAskedFor", json!(false)),
    ] {
        assert_eq!(status[field], value, "{field} in {status}");
    }
    assert_eq!(status["lastDecision"]["outcome"], "compact");
    assert_eq!(status["guards"][0]["guardId"], "g1");
    assert_eq!(status["lastCompaction"]["tokensAfter"], 13_000);
    assert_eq!(status.get("owner"), None);
}

#[test]
fn status_shows_the_owner_the_held_messages_and_the_progress() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let mut running = RunningHost::on(&home, "alpha");
    running.turn_with_boundaries();
    running.sidecar.call::<InputSubmit>(&InputSubmitParams {
        thread_id: "alpha".to_owned(),
        input_id: "i1".to_owned(),
        text: "and then".to_owned(),
        kind: InputKind::Message,
    });
    let status = event(&home, &["status", "last"]);
    let sequence = status["sequenceId"].as_str().unwrap();
    let phase = format!("Waiting for your approval, sequence {sequence}");
    check(
        &home,
        &["status", "alpha"],
        &[
            "25% left · asap",
            &format!("run by     {}", running.owner()),
            &phase,
            "waiting    1 message of yours, until the handoff",
            "decision   waiting for your approval: ",
        ],
    );
    assert_eq!(status["owner"], running.owner());
    assert_eq!(status["heldInputs"][0]["inputId"], "i1");
    running.leave();
}

#[test]
fn the_last_used_thread_is_first_and_is_last() {
    let home = TestHome::new();
    for thread in ["alpha", "alphabet", "beta"] {
        pressed(&home, thread);
    }
    run(&home, &["guard", "alpha", "--until-released"]);
    let line = |thread: &str| {
        format!(
            "{thread:<8}   25% left · asap       just now                Go on · work · not running\n"
        )
    };
    let listed = run(&home, &["status"]).stdout;
    let listed = String::from_utf8(listed).unwrap();
    let help = "For one thread: rawr status THREAD\n";
    assert_eq!(listed, ["alpha", "beta", "alphabet"].map(line).concat() + help);
    let name = |wanted: &str| event(&home, &["status", wanted])["threadId"].clone();
    assert_eq!(
        ["last", "alpha", "alphab", "b"].map(name),
        ["alpha", "alpha", "alphabet", "beta"].map(Value::from)
    );
    refused(
        &home,
        &["status", "al"],
        1,
        &["`al` is ambiguous: ", "alphabet", "alpha", "pass more of the id"],
    );
    refused(&home, &["explain", "betta"], 1, &["there is no thread `betta`; similar: beta"]);
    refused(&home, &["explain", "gamma"], 1, &["no thread `gamma`; `rawr status` lists them"]);
    refused(&home, &["pin", "../beta", "x"], 1, &["there is no thread `../beta`"]);

    pressed(&home, "last");
    run(&home, &["guard", "beta", "--until-released"]);
    assert_eq!(name("last"), "last", "a thread's own name goes before the word");
}

#[test]
fn a_stopped_thread_uses_the_tiers_of_its_own_project() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    check(&home, &["status"], &["alpha (Go on)  25% left · asap"]);
    let narrower = "[rawr_auto_compaction.policy.asap]\npercent_remaining_lt = 20\n";
    fs::write(home.work().join(".rawr.toml"), narrower).unwrap();
    check(&home, &["status"], &["alpha (Go on)  25% left · ready"]);
}

#[test]
fn explain_shows_the_failed_gate_and_its_condition() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    let text = check(
        &home,
        &["explain", "last"],
        &[
            "thread alpha (Go on) · d1-",
            "at the end of a turn",
            "No compaction: no boundary in this turn",
            "  ✓ Feature enabled  features.rawr_auto_compaction is on",
            "  ✗ Boundary         no boundary in this turn",
            "  ✓ Mode             auto",
            "The first gate that failed is “Boundary”: no boundary in this turn.",
            "Needed: one of: ",
        ],
    );
    let rows =
        text.lines().filter(|line| ["  ✓", "  ✗", "  –"].iter().any(|mark| line.starts_with(mark)));
    assert_eq!(rows.count(), 16, "{text}");

    let decision = event(&home, &["explain", "last"]);
    assert_eq!((&decision["event"], &decision["outcome"]), (&json!("decision"), &json!("nothing")));
    assert_eq!(decision["threadId"], "alpha");
    assert_eq!(decision["gates"].as_array().unwrap().len(), 16);
}

#[test]
fn explain_shows_the_reason_of_a_compaction() {
    let home = TestHome::new();
    let mut running = RunningHost::on(&home, "alpha");
    run(&home, &["pin", "alpha", "Never touch the main branch."]);
    running.turn_with_boundaries();
    running.leave();
    check(
        &home,
        &["explain", "alpha"],
        &[
            "Compaction decided: 25% left (asap) at commit, plan step done, plan changed",
            "  ✓ Boundary         commit, plan step done, plan changed",
            "  tier       asap: 25% of the context was left",
            "  boundary   commit, plan step done, plan changed",
            "  sequence   s1-",
            "  compaction 143,139 → 13,000 tokens",
            "  packet     by the agent",
            "             added by the check:",
            "             · directive: Never touch the main branch.",
        ],
    );
    let decision = event(&home, &["explain", "alpha"]);
    assert_eq!(decision["compaction"]["status"], "completed");
    assert_eq!(decision["compaction"]["tokensAfter"], 13_000);
}

#[test]
fn past_decisions_are_listed_and_found_by_a_prefix() {
    let home = TestHome::new();
    let mut running = RunningHost::on(&home, "alpha");
    running.turn();
    running.turn();
    running.leave();
    check(&home, &["explain", "alpha", "--list"], &["d2-", "25%  asap", "nothing", "\nd1-"]);
    let listed = events(&home, &["explain", "alpha", "--list"]);
    assert_eq!(listed.len(), 2);
    let first = event(&home, &["explain", "alpha", "--decision", "d1"]);
    assert_eq!(first, listed[1]);
    let hint = "list its decisions with `rawr explain alpha --list`";
    refused(&home, &["explain", "alpha", "--decision", "d9"], 1, &["no decision `d9`", hint]);
    refused(
        &home,
        &["explain", "alpha", "--decision", "d1", "--list"],
        2,
        &["cannot be used with"],
    );
}

#[test]
fn without_a_decision_the_next_one_is_announced() {
    let home = TestHome::new();
    let running = RunningHost::on(&home, "alpha");
    running.leave();
    check(
        &home,
        &["explain", "alpha"],
        &["No decision is recorded for thread alpha", "has not reported how full the context is"],
    );
    let event = event(&home, &["explain", "alpha", "--list"]);
    assert_eq!((&event["event"], &event["threadId"]), (&json!("no_decision"), &json!("alpha")));
    home.configure("[features]\nrawr_auto_compaction = false\n");
    check(&home, &["explain", "alpha"], &["rawr is off here"]);
}

const BUILT_IN: &str = "[features]\nrawr_auto_compaction = false\n[auto_compact]\nenabled = true\n";

// rule: record.built-in
#[test]
fn the_missing_built_in_compaction_is_explained() {
    let home = TestHome::new();
    home.configure(BUILT_IN);
    pressed(&home, "alpha");
    check(
        &home,
        &["explain", "alpha"],
        &["the built-in compaction decides here", "25% of the context is left", "15% is left"],
    );
    home.configure(&format!("{BUILT_IN}threshold_percent = 50\n"));
    run(&home, &["guard", "alpha", "--until-released"]);
    let mut running = RunningHost::after(&home, "alpha", 1);
    running.turn();
    assert_eq!(running.host.count("compact"), 0);
    running.leave();
    check(
        &home,
        &["explain", "alpha"],
        &[
            "by the built-in compaction",
            "No compaction: guard g1",
            "25% left is below 50% (auto_compact)",
            "The first gate that failed is “Guards”",
        ],
    );
}

#[test]
fn an_observed_thread_has_no_owner() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    let mut looker = TestSidecar::start(&home);
    looker.call::<ThreadOpen>(&StandIn::new("alpha").opening(&home, Role::Observer));
    assert_eq!(event(&home, &["status", "alpha"]).get("owner"), None);
    looker.leave();
}

const WITH_A_JUDGE: &str =
    "[rawr_auto_compaction.policy.asap]\ndecision_prompt_path = \"judgment.md\"\n";

#[test]
fn a_judgment_by_rules_is_quoted() {
    let home = TestHome::new();
    home.configure(WITH_A_JUDGE);
    compacted(&home, "alpha");
    check(&home, &["explain", "alpha"], &["judge      yes, by rules without a model: "]);
    assert_eq!(event(&home, &["explain", "alpha"])["judgment"]["source"], "heuristic");
}

#[test]
fn a_hosts_judgment_is_shown_as_pending_and_then_quoted() {
    let home = TestHome::new();
    home.configure(WITH_A_JUDGE);
    let mut sidecar = TestSidecar::start(&home);
    let mut opening = StandIn::new("alpha").opening(&home, Role::Owner);
    opening.host.capabilities.judge = true;
    sidecar.call::<ThreadOpen>(&opening);
    assert_eq!(end_of_a_phase(&mut sidecar), Outcome::Judge);
    check(&home, &["status"], &["phase      Asking the judge", "decision   asking the judge: "]);
    check(&home, &["explain", "alpha"], &["Asking the judge: ", "comes if   the judge says yes"]);

    let request_id = asked(&sidecar.take_notes());
    let answer = JudgmentAnswerParams {
        thread_id: "alpha".to_owned(),
        request_id,
        should_compact: false,
        reason: "two steps are open".to_owned(),
    };
    assert!(sidecar.call::<JudgmentAnswer>(&answer).accepted);
    check(
        &home,
        &["explain", "alpha"],
        &[
            "  ✗ Judge            ",
            "The first gate that failed is “Judge”: ",
            "judge      no, by the host: two steps are open",
        ],
    );
    check(&home, &["status"], &["judge      asked once"]);
    assert_eq!(event(&home, &["status", "alpha"])["judgments"]["calls"], 1);
    sidecar.discard_and_leave();
}

/// A turn with a commit, under pressure.
fn end_of_a_phase(sidecar: &mut TestSidecar) -> Outcome {
    let (thread_id, turn_id) = ("alpha".to_owned(), "t1".to_owned());
    sidecar.call::<TurnStarted>(&TurnStartedParams {
        thread_id: thread_id.clone(),
        turn_id: turn_id.clone(),
        origin: TurnOrigin::User,
        action_id: None,
        text: None,
    });
    sidecar.call::<SignalReport>(&SignalReportParams {
        thread_id: thread_id.clone(),
        turn_id: Some(turn_id.clone()),
        signal_id: None,
        signal: Signal::Commit { hash: None, subject: Some("parser".to_owned()) },
    });
    let ended = sidecar.call::<TurnCompleted>(&TurnCompletedParams {
        thread_id,
        turn_id,
        status: TurnStatus::Completed,
        failure: None,
        last_agent_message: Some("The parser is committed, now the docs.".to_owned()),
        usage: Some(serde_json::from_value(json!({ "contextTokens": PRESSURE })).unwrap()),
        queued_inputs: None,
        review_mode: None,
    });
    ended.verdict.outcome
}

fn asked(notes: &[Note]) -> String {
    let mut actions = notes.iter().map(|note| &note.params["action"]);
    let judge = actions.find(|action| action["kind"] == "judge").unwrap();
    judge["requestId"].as_str().unwrap().to_owned()
}

#[test]
fn a_copied_folder_is_a_separate_thread() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    fs::create_dir(home.thread("beta")).unwrap();
    for file in home.thread("alpha").read_dir().unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), home.thread("beta").join(file.file_name())).unwrap();
    }
    let mut names: Vec<_> =
        events(&home, &["status"]).iter().map(|status| status["threadId"].clone()).collect();
    names.sort_by_key(Value::to_string);
    assert_eq!(names, ["alpha", "beta"]);
}
