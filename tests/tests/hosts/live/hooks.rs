//! rawr's hooks in sessions of the real Claude Code that rawr does not run.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod agent;
mod codex;
mod headless;
mod meanwhile;
mod screen;

use agent::answers;
use expect_test::expect;
use rawr_tests::claude::{binary, version};
use rawr_tests::mock_responses::{TurnScript, reply};
use rawr_tests::{ExecOutput, configure_with_spec};
use serde_json::Value;

use crate::fixture::{PACKET, claude_shell as shell};
use crate::hooks::fixture::HooksFixture;

/// One of what the model was told is a handoff, with the packet in it.
fn hands_over_once<T: AsRef<str> + std::fmt::Debug>(told: &[T]) {
    let handoffs: Vec<_> =
        told.iter().map(AsRef::as_ref).filter(|text| text.contains(":handoff]")).collect();
    assert_eq!(handoffs.len(), 1, "{told:#?}");
    assert!(handoffs[0].contains("Next: write the docs of parser.txt"), "{}", handoffs[0]);
}

fn session() -> TurnScript {
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    TurnScript::default()
        .on("packet_request]", [reply(PACKET).input_tokens(106_000)])
        .on("AND-NOW", [reply("The docs are written.").input_tokens(24_000)])
        .on("READ", [reply("All is read.").input_tokens(12_000)])
        .on(
            "WRITE-PARSER",
            [
                shell(commit).input_tokens(104_000),
                reply("The parser is written and committed.").input_tokens(105_000),
            ],
        )
        .on_compaction([reply("<summary>A summary by the model.</summary>").input_tokens(107_000)])
}

/// A user who compacts by hand is told when; rawr keeps no process in between.
#[test]
fn a_session_continues_after_a_compaction_by_hand() {
    let fixture = HooksFixture::new(session());
    fixture.has_hooks_in_every_run();
    let mut claude = fixture.claude();

    let read = claude.ask("READ all of it");
    assert!(answers(&read, "Stop").is_empty());
    let log = fixture.home.path().join("rawr/sidecar.log");
    assert!(!log.exists(), "without pressure no sidecar is started");

    let worked = claude.ask("WRITE-PARSER please");
    let stopped = answers(&worked, "Stop");
    assert_eq!(stopped.len(), 2, "{stopped:?}");
    let asked: Value = serde_json::from_str(&stopped[0]).unwrap();
    assert_eq!(asked["decision"], "block");
    assert!(asked["systemMessage"].as_str().unwrap().contains("a phase ended here (commit)"));
    let saved: Value = serde_json::from_str(&stopped[1]).unwrap();
    assert!(saved.get("decision").is_none());
    assert!(saved["systemMessage"].as_str().unwrap().contains("/compact"));
    assert!(fixture.is_open());
    let status = fixture.says(&["status"]);
    let waits = "Packet ready: type /compact in the agent";
    assert!(status.contains(waits), "{status}");

    let compacted = claude.ask("/compact");
    let handed_back = answers(&compacted, "SessionStart");
    assert_eq!(handed_back.len(), 1);
    assert!(handed_back[0].contains("the continuation packet was returned"), "{handed_back:?}");
    assert!(!fixture.is_open());
    let status = fixture.says(&["status"]);
    assert!(status.contains("run by     its agent, by hooks"), "{status}");
    let after = claude.ask("AND-NOW the docs");
    assert!(answers(&after, "Stop").is_empty());
    claude.leave();

    expect![[r#"
        turn begins
          user: READ all of it
        turn goes on
          assistant: All is read.
          user: WRITE-PARSER please
        turn goes on
          assistant: <Bash>
          tool
        turn goes on
          assistant: The parser is written and committed.
          user: Stop hook blocking error from command: "rawr hook Stop … packet_request]
        compaction goes on
          assistant: <continuation_packet>
          user: CRITICAL: Respond with TEXT ONLY. Do NOT call any tool
        turn begins
          user: This session is being continued from a previous conver
          assistant: <continuation_packet>
          user: <local-command-caveat>The command below was run direct
          and: <command-name>/compact</command-name>
          and: <local-command-stdout>Compacted PreCompact […
          and: AND-NOW the docs
    "#]]
    .assert_eq(&fixture.sent());
    fixture.was_handed_over_before("AND-NOW the docs");
    let events = fixture.events();
    assert!(events.contains(r#""ending":"completed""#), "{events}");
    assert!(events.contains(r#""context":105020"#), "the last request counts: {events}");
    assert_eq!(fixture.log(), "");
}

#[test]
fn continuing_instead_of_compacting_drops_the_packet() {
    let fixture = HooksFixture::new(session());
    fixture.has_hooks_in_every_run();
    let mut claude = fixture.claude();
    claude.ask("WRITE-PARSER please");
    assert!(fixture.is_open());
    claude.ask("AND-NOW the docs");
    assert!(!fixture.is_open());
    let compacted = answers(&claude.ask("/compact"), "SessionStart");
    assert_eq!(compacted.len(), 1, "{}", fixture.events());
    assert!(compacted[0].contains("Built by rawr"), "{compacted:?}");
    assert!(compacted[0].contains("The docs are written."), "{compacted:?}");
    claude.leave();
    let events = fixture.events();
    assert!(events.contains(r#""ending":"cancelled""#), "{events}");
    for status in ["started", "completed"] {
        let reported = format!(r#""status":"{status}","origin":"user""#);
        assert_eq!(events.matches(&reported).count(), 1, "{status}: {events}");
    }
    assert_eq!(fixture.log(), "");
}

/// The agent is told, and rawr writes.
#[test]
fn a_packet_by_rawr_is_delivered_or_dropped() {
    for goes_on in [false, true] {
        let fixture =
            HooksFixture::new(session().on(":heads_up]", [reply("ok").input_tokens(106_000)]));
        let config = "rawr_auto_compaction.packet_author = \"watcher\"";
        std::fs::write(fixture.home.path().join("rawr.toml"), config).unwrap();
        fixture.has_hooks_in_every_run();
        let mut claude = fixture.claude();
        let stopped = answers(&claude.ask("WRITE-PARSER please"), "Stop");
        assert_eq!(stopped.len(), 2, "{stopped:?}");
        assert!(stopped[0].contains(":heads_up]") && stopped[1].contains("/compact"));
        if goes_on {
            claude.ask("AND-NOW the docs");
        }
        let handed_over = answers(&claude.ask("/compact"), "SessionStart");
        claude.leave();
        assert_eq!(handed_over.len(), 1, "{}", fixture.events());
        assert!(handed_over[0].contains("Built by rawr"), "{handed_over:?}");
        // Who goes on gets no packet from before.
        let last = if goes_on { "The docs are written." } else { "The parser is written" };
        assert!(handed_over[0].contains(last), "{handed_over:?}");
        assert_eq!((fixture.is_open(), fixture.log()), (false, String::new()));
    }
}

#[test]
fn hooks_ignore_sessions_that_rawr_runs() {
    let fixture = HooksFixture::new(session());
    configure_with_spec(fixture.home.path(), "");
    fixture.has_hooks_in_every_run();
    let claude = binary().display().to_string();
    let exec = ["exec", "--host", "claude", "--json", "--permission-mode", "bypassPermissions"];
    let done = ExecOutput::of(
        fixture.run(&[&exec[..], &["--claude", &claude, "WRITE-PARSER please"]].concat()),
    );
    done.expect_success();
    assert_eq!(done.all("packet").len(), 1, "{}", done.dump());
    assert_eq!(done.all("injected").len(), 1, "{}", done.dump());
    assert_eq!((fixture.is_open(), fixture.log()), (false, String::new()));
}

/// The hooks stand in the settings, and rawr does not.
#[test]
fn an_agent_continues_without_rawr_installed() {
    let fixture = HooksFixture::new(session());
    fixture.has_hooks_in_every_run();
    let settings = fixture.home.path().join(".claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let rawr = rawr_tests::rawr().display().to_string();
    std::fs::write(&settings, text.replace(&rawr, "/no/such/rawr")).unwrap();
    let mut claude = fixture.claude();
    let worked = claude.ask("WRITE-PARSER please");
    assert!(answers(&worked, "Stop").is_empty());
    assert_eq!(worked.last().unwrap()["is_error"], false);
    claude.leave();
    assert_eq!(fixture.model.requests().len(), 2);
}

#[test]
fn the_doctor_names_the_version_of_claude() {
    let fixture = HooksFixture::new(TurnScript::default());
    let claude = binary().display().to_string();
    let output = fixture.run(&["doctor", "--json", "--claude", &claude, "--codex", "/no/such"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut checks = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found = checks.find(|check| check["name"] == "claude").unwrap();
    assert_eq!(found["status"], "ok", "{found}");
    let pinned = format!("{} in ", version());
    assert!(found["message"].as_str().unwrap().starts_with(&pinned), "{found}");
}
