//! `rawr guard`, `pin`, `mark`, `snooze` and `compact`: records, effects, errors.

use rawr_protocol::methods::{SignalReport, TurnStarted};
use rawr_protocol::{CommandLine, Signal, SignalReportParams, TurnOrigin, TurnStartedParams};
use rawr_tests::TestHome;
use serde_json::json;

use super::{NOT_RUNNING, RunningHost, check, event, events, pressed, refused};

#[test]
fn every_guard_can_be_set_listed_and_cleared() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    for (arguments, words, kind) in [
        (&["--turns", "1"][..], "no compaction for 1 turn,", "turns"),
        (&["--minutes", "20"], "no compaction for 20 minutes,", "minutes"),
        (&["--next-commit"], "no compaction until the next commit,", "next_commit"),
        (&["--tests-pass"], "no compaction until the tests pass,", "tests_pass"),
        (&["--until-released"], "no compaction until it is cleared,", "released"),
    ] {
        let arguments = [&["guard", "alpha"], arguments].concat();
        check(&home, &arguments, &["Guard g", words, "except in an emergency.", NOT_RUNNING]);
        let set = event(&home, &[&arguments[..], &["--note", "why"]].concat());
        assert_eq!((&set["event"], &set["until"]["kind"]), (&json!("guard_set"), &json!(kind)));
        assert_eq!((&set["note"], &set["setBy"]), (&json!("why"), &json!("rawr guard")));
    }
    assert_eq!(events(&home, &["guard", "alpha", "--list"]).len(), 10);
    check(
        &home,
        &["guard", "alpha", "--list"],
        &["g1 for 1 turn, set just now by rawr guard", "g10 until"],
    );
    check(&home, &["guard", "alpha", "--clear", "g1"], &["1 guard is cleared.", NOT_RUNNING]);
    let cleared = event(&home, &["guard", "alpha", "--clear", "--all"]);
    assert_eq!((&cleared["event"], &cleared["cleared"]), (&json!("guard_cleared"), &json!(9)));
    check(&home, &["guard", "alpha", "--list"], &["Thread alpha has no active guard."]);
    check(&home, &["guard", "alpha", "--clear", "--all"], &["No guard was active."]);
}

#[test]
fn an_invalid_guard_is_refused() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    refused(&home, &["guard", "alpha"], 2, &["--turns", "--until-released"]);
    refused(&home, &["guard", "alpha", "--turns", "0"], 2, &["0 is not in 1.."]);
    refused(
        &home,
        &["guard", "alpha", "--turns", "1", "--next-commit"],
        2,
        &["cannot be used with"],
    );
    refused(&home, &["guard", "alpha", "--list", "--note", "x"], 2, &["--turns"]);
    refused(&home, &["guard", "alpha", "--clear"], 1, &["--clear ID", "--clear --all"]);
    let hint = "list its guards with `rawr guard alpha --list`";
    refused(&home, &["guard", "alpha", "--clear", "g9"], 1, &["has no guard `g9`", hint]);
}

#[test]
fn a_guard_applies_at_the_next_turn_of_a_running_session() {
    let home = TestHome::new();
    let mut running = RunningHost::on(&home, "alpha");
    let takes_up = format!("The session that runs this thread ({}) applies it", running.owner());
    check(&home, &["guard", "last", "--next-commit"], &["Guard g1", &takes_up]);
    assert_eq!(event(&home, &["guard", "last", "--turns", "2"])["owner"], running.owner());
    running.turn();
    assert_eq!(running.last_reason(), "guard g1 set by rawr guard is active");
    running.leave();
}

#[test]
fn a_pinned_text_is_kept_verbatim() {
    let home = TestHome::new();
    let mut running = RunningHost::on(&home, "alpha");
    let text = "Never touch  the main branch.\nNot even for a fix.";
    check(&home, &["pin", "alpha", text], &["p1 is pinned", "applies it now"]);
    let pinned = event(&home, &["pin", "alpha", "Use tabs."]);
    assert_eq!(
        (&pinned["event"], &pinned["text"]),
        (&json!("directive_given"), &json!("Use tabs."))
    );
    assert_eq!((&pinned["directiveId"], &pinned["pinned"]), (&json!("p2"), &json!(true)));

    let mut handoff = String::new();
    running.host.user_turn_with_boundaries();
    assert!(running.host.run_and(&mut running.sidecar, |note| {
        if note.params["action"]["purpose"] == "handoff" {
            handoff = note.params["action"]["text"].as_str().unwrap().to_owned();
        }
    }));
    assert!(handoff.contains(text) && handoff.contains("Use tabs."), "{handoff}");
    let listed =
        check(&home, &["pin", "alpha", "--list"], &["p1  pinned", "p2  pinned", "    Use tabs."]);
    assert!(
        listed.contains("    Never touch  the main branch.\n    Not even for a fix.\n"),
        "{listed}"
    );
    assert_eq!(events(&home, &["pin", "alpha", "--list"])[0]["text"], text);
    running.leave();
}

#[test]
fn an_empty_pin_is_refused_and_a_secret_is_redacted() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    check(&home, &["pin", "alpha", "--list"], &["Thread alpha has no kept instructions."]);
    refused(&home, &["pin", "alpha"], 2, &["rawr pin <THREAD> <TEXT>"]);
    refused(&home, &["pin", "alpha", " "], 1, &["empty text"]);
    refused(&home, &["pin", "alpha", "x", "--list"], 2, &["cannot be used with"]);
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let text = check(
        &home,
        &["pin", "alpha", &format!("Push with {secret}")],
        &["p1 is pinned", "A possible secret was redacted: Push with ", NOT_RUNNING],
    );
    assert!(!text.contains(secret), "{text}");
}

#[test]
fn a_mark_is_a_boundary_with_its_label() {
    let home = TestHome::new();
    let mut running = RunningHost::on(&home, "alpha");
    running.turn();
    assert!(running.host.performed.is_empty());
    check(
        &home,
        &["mark", " the parser is done "],
        &["Marked on thread alpha: the parser is done ends here.", "applies it now"],
    );
    running.turn();
    assert_eq!(running.host.performed, ["packet_request", "compact", "handoff"]);
    let decisions = events(&home, &["explain", "alpha", "--list"]);
    let compacts = decisions.iter().find(|decision| decision["outcome"] == "compact").unwrap();
    let gates = compacts["gates"].as_array().unwrap();
    let boundary = gates.iter().find(|gate| gate["gate"] == "boundary").unwrap();
    assert_eq!(boundary["evidence"], "phase ended (the parser is done)");
    assert_eq!(compacts["requests"], json!(["heads_up", "packet_request"]));
    let explained = check(
        &home,
        &["explain", "alpha", "--decision", compacts["decisionId"].as_str().unwrap()],
        &[],
    );
    assert!(explained.contains("asks for   heads-up: answered"), "{explained}");
    assert!(explained.contains("asks for   packet: answered, a packet of "), "{explained}");
    running.leave();
}

#[test]
fn a_mark_needs_a_label_and_applies_to_the_named_thread() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    pressed(&home, "beta");
    check(&home, &["mark", "tests"], &["Marked on thread beta: tests ends here.", NOT_RUNNING]);
    check(&home, &["status", "beta"], &["phase end", "tests (phase ended, by rawr mark)"]);
    let marked = event(&home, &["mark", "research", "--thread", "al"]);
    assert_eq!(
        (&marked["event"], &marked["threadId"], &marked["label"], &marked["boundaries"]),
        (&json!("phase_marked"), &json!("alpha"), &json!("research"), &json!(["phase_ended"]))
    );
    refused(&home, &["mark", " "], 1, &["empty label"]);
    refused(&home, &["mark", "x", "--thread", "gamma"], 1, &["gamma"]);
}

#[test]
fn a_snooze_cancels_the_running_sequence_and_applies() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let mut running = RunningHost::on(&home, "alpha");
    running.turn_with_boundaries();
    check(&home, &["snooze", "last"], &["Snoozed: no compaction for 1 turn,", "applies it now"]);
    running.turn();
    assert_eq!(running.host.performed, Vec::<String>::new());
    let snoozed = event(&home, &["snooze", "last", "--minutes", "30"]);
    assert_eq!((&snoozed["event"], &snoozed["choice"]), (&json!("responded"), &json!("snooze")));
    assert_eq!(snoozed["until"], json!({ "kind": "minutes", "minutes": 30 }));
    assert_eq!(snoozed["owner"], running.owner());
    check(
        &home,
        &["guard", "last", "--list"],
        &["for 1 turn (snoozed)", "for 30 minutes (snoozed)"],
    );
    refused(
        &home,
        &["snooze", "last", "--turns", "1", "--minutes", "1"],
        2,
        &["cannot be used with"],
    );
    running.leave();
}

#[test]
fn a_pending_approval_is_answered() {
    for (answer, performed) in
        [("--approve", &["packet_request", "compact", "handoff"][..]), ("--cancel", &[])]
    {
        let home = TestHome::new();
        home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
        let mut running = RunningHost::on(&home, "alpha");
        running.turn_with_boundaries();
        let said = check(&home, &["compact", "last", answer], &["applies it now"]);
        assert!(said.starts_with("Approved: ") || said.starts_with("Canceled: "), "{said}");
        running.turn();
        assert_eq!(running.host.performed, performed, "{answer}");
        running.leave();
    }
}

#[test]
fn a_requested_compaction_happens_when_the_thread_runs_again() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    check(&home, &["compact", "alpha"], &["Requested: a compaction", NOT_RUNNING]);
    check(&home, &["status", "alpha"], &["requested  a compaction, as soon as the agent is idle"]);
    let asked = event(&home, &["compact", "alpha", "--now"]);
    assert_eq!((&asked["choice"], &asked["phase"]), (&json!("compact_now"), &json!("idle")));
    let mut running = RunningHost::after(&home, "alpha", 1);
    assert!(running.host.run(&mut running.sidecar));
    assert_eq!(running.host.performed, ["packet_request", "compact", "handoff"]);
    assert_eq!(event(&home, &["status", "alpha"])["compactionAskedFor"], false);
    running.leave();
}

#[test]
fn all_idle_threads_are_asked_and_the_others_named_with_the_reason() {
    let home = TestHome::new();
    check(&home, &["compact", "--all-idle"], &["there are no threads", "rawr demo"]);
    pressed(&home, "left");
    check(&home, &["compact", "--all-idle"], &["No thread is running.", "`rawr compact THREAD`"]);
    assert_eq!(events(&home, &["compact", "--all-idle"]), Vec::<serde_json::Value>::new());

    let mut idle = RunningHost::on(&home, "idle");
    idle.turn();
    let mut busy = RunningHost::on(&home, "busy");
    let started = TurnStartedParams {
        thread_id: "busy".to_owned(),
        turn_id: "t1".to_owned(),
        origin: TurnOrigin::User,
        action_id: None,
        text: Some("Write the parser".to_owned()),
    };
    busy.sidecar.call::<TurnStarted>(&started);

    let text = check(&home, &["compact", "--all-idle"], &[]);
    assert!(text.contains(&format!("asked    idle of {}\n", idle.owner())), "{text}");
    assert!(text.contains("skipped  busy: a turn is running\n"), "{text}");
    assert_eq!(text.lines().count(), 2, "a thread that does not run is not named: {text}");
    idle.turn();
    assert_eq!(idle.host.performed, ["packet_request", "compact", "handoff"]);
    idle.leave();
    let asked = events(&home, &["compact", "--all-idle"]);
    let reason = json!("a turn is running");
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!((&asked[0]["event"], &asked[0]["reason"]), (&json!("skipped"), &reason));
    assert_eq!((&asked[0]["threadId"], &asked[0]["owner"]), (&json!("busy"), &json!(busy.owner())));
    busy.leave();
}

#[test]
fn all_idle_takes_no_thread_and_no_answer() {
    let home = TestHome::new();
    refused(&home, &["compact", "alpha", "--all-idle"], 2, &["cannot be used with"]);
    refused(&home, &["compact", "--all-idle", "--cancel"], 2, &["cannot be used with"]);
    refused(&home, &["compact"], 2, &["rawr compact <THREAD>", "--all-idle"]);
}

#[test]
fn an_answer_without_a_question_is_refused_with_a_hint() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    let hint = "request one with `rawr compact alpha`";
    refused(
        &home,
        &["compact", "alpha", "--approve"],
        1,
        &["no compaction is waiting for an answer", hint],
    );
    refused(&home, &["compact", "alpha", "--cancel"], 1, &["no compaction in progress"]);
    refused(&home, &["compact", "alpha", "--cancel", "--now"], 2, &["cannot be used with"]);
}

#[test]
fn a_pin_can_be_removed() {
    let home = TestHome::new();
    pressed(&home, "alpha");
    for text in ["Use tabs.", "Use spaces."] {
        check(&home, &["pin", "alpha", text], &[" is pinned", NOT_RUNNING]);
    }
    check(&home, &["pin", "alpha", "--list"], &["p1  pinned, given by rawr pin just now"]);
    check(&home, &["pin", "alpha", "--remove", "p1"], &["p1 is removed.", NOT_RUNNING]);
    let hint = "list its instructions with `rawr pin alpha --list`";
    refused(&home, &["pin", "alpha", "--remove", "p1"], 1, &["has no instruction `p1`", hint]);
    let removed = event(&home, &["pin", "alpha", "--remove", "p2"]);
    assert_eq!(
        (&removed["event"], &removed["cleared"]),
        (&json!("directive_cleared"), &json!(true))
    );
    assert_eq!(events(&home, &["pin", "alpha", "--list"]), Vec::<serde_json::Value>::new());
}

#[test]
fn a_guard_until_the_tests_pass_ends_when_they_do() {
    let home = TestHome::new();
    let mut running = RunningHost::on(&home, "alpha");
    check(&home, &["guard", "alpha", "--tests-pass"], &["no compaction until the tests pass,"]);
    for (exit_code, guards) in [(101, 1), (0, 0)] {
        let signal = Signal::CommandFinished {
            command: CommandLine::Line("cargo test".to_owned()),
            exit_code,
            cwd: None,
        };
        let thread_id = "alpha".to_owned();
        let report = SignalReportParams { thread_id, turn_id: None, signal_id: None, signal };
        running.sidecar.call::<SignalReport>(&report);
        assert_eq!(events(&home, &["guard", "alpha", "--list"]).len(), guards, "{exit_code}");
    }
    running.leave();
}
