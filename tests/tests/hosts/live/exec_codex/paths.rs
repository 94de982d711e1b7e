//! The paths of a compaction with the real Codex, each as the session's output and as the model's requests.

use expect_test::{Expect, expect};
use rawr_tests::ExecOutput;
use rawr_tests::codex::CodexTestConfig;
use rawr_tests::mock_responses::{RequestPurpose, ResponsesRequest, TurnScript, reply, stall};

use super::fixture::{CodexExecFixture, PACKET, shell};

/// An agent that commits and concludes under the pressure of the tier `ready`, and one that fills its window.
fn agent() -> TurnScript {
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    TurnScript::default()
        .on("packet_request]", [reply(PACKET).input_tokens(66_000)])
        .on(":heads_up]", [reply("ok").input_tokens(66_000)])
        .on("AND-NOW", [reply("Here you are.").input_tokens(14_000)])
        .on(
            ":handoff]",
            [
                shell("git commit -q --allow-empty -m 'Write the docs'").input_tokens(13_000),
                reply("The docs are written.").input_tokens(14_000),
            ],
        )
        .on(
            "WRITE-PARSER",
            [
                shell(commit).input_tokens(64_000),
                reply("The parser is written and committed.").input_tokens(65_000),
            ],
        )
        .on(
            "READ-ALL",
            [shell("true").input_tokens(175_000), reply("All is read.").input_tokens(176_000)],
        )
        .on("READ-MOST", [reply("Much is read.").input_tokens(150_000)])
        // This turn never ends.
        .on("READ-ON", [shell("true").input_tokens(175_000), stall()])
        .on_compaction([reply("A SUMMARY.").input_tokens(66_000)])
}

fn check(
    config: &str,
    prompts: &[&str],
    told: Expect,
    seen: Expect,
) -> (CodexExecFixture, ExecOutput) {
    check_but(config, prompts, |_| true, told, seen)
}

fn check_but(
    config: &str,
    prompts: &[&str],
    counts: impl Fn(&ResponsesRequest) -> bool,
    told: Expect,
    seen: Expect,
) -> (CodexExecFixture, ExecOutput) {
    let fixture = CodexExecFixture::new(agent());
    fixture.configure(config);
    let session = fixture.exec(prompts);
    session.expect_success();
    told.assert_eq(&session.story());
    seen.assert_eq(&fixture.sent(counts));
    (fixture, session)
}

#[test]
fn path_1_suggest_recommends_and_does_nothing() {
    check(
        "[rawr_auto_compaction]\nmode = \"suggest\"\n",
        &["WRITE-PARSER please", "AND-NOW the docs"],
        expect![[r#"
            user: WRITE-PARSER please
              ran printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser…
              agent: The parser is written and committed.
            turn completed
            [suggest by turn_complete]
            [heads-up recommended]
            user: AND-NOW the docs
              agent: Here you are.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: WRITE-PARSER please
            turn goes on
              assistant: <exec_command>
              tool
            turn goes on
              assistant: The parser is written and committed.
              user: AND-NOW the docs
        "#]],
    );
}

#[test]
fn path_2_auto_with_a_packet_by_rawr() {
    let (fixture, session) = check(
        "[rawr_auto_compaction]\npacket_author = \"watcher\"\n",
        &["WRITE-PARSER please", "AND-NOW the docs"],
        expect![[r#"
            user: WRITE-PARSER please
              ran printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser…
              agent: The parser is written and committed.
            turn completed
            [compact by turn_complete]
            [heads-up will_compact]
            rawr: heads_up
              agent: ok
            turn completed
            [packet by watcher]
            [compaction in_progress]
            [compaction completed]
            turn completed
            rawr: handoff
              ran git commit -q --allow-empty -m 'Write the docs'
              agent: The docs are written.
            turn completed
            user: AND-NOW the docs
              agent: Here you are.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: WRITE-PARSER please
            turn goes on
              assistant: <exec_command>
              tool
            turn goes on
              assistant: The parser is written and committed.
              user: [rawr] This thread's context will be compacted next, b … heads_up]
            compaction goes on
              assistant: ok
              user: You are performing a CONTEXT CHECKPOINT COMPACTION. Cr
            turn begins
              user: WRITE-PARSER please
              user: [rawr] This thread's context will be compacted next, b … heads_up]
              user: Another language model started to solve this problem a
              user: [rawr] The compaction is done. Heads-ups, packet reque … handoff]
            turn goes on
              assistant: <exec_command>
              tool
            turn goes on
              assistant: The docs are written.
              user: AND-NOW the docs
        "#]],
    );
    let handoff = handed_over(&fixture);
    for expected in ["It was written by rawr", "(Built by rawr from what it saw", "Add the parser"]
    {
        assert!(handoff.contains(expected), "{expected}: {handoff}");
    }
    assert_eq!(session.one("packet", |_| true)["author"], "watcher");
}

/// What the model is given back first after its compaction.
fn handed_over(fixture: &CodexExecFixture) -> String {
    let requests = fixture.model.requests();
    let compaction =
        requests.iter().position(|request| request.purpose != RequestPurpose::Turn).unwrap();
    requests[compaction + 1].user_messages().pop().unwrap()
}

#[test]
fn path_3_auto_with_a_packet_by_the_agent() {
    check(
        "",
        &["WRITE-PARSER please", "AND-NOW the docs"],
        expect![[r#"
            user: WRITE-PARSER please
              ran printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser…
              agent: The parser is written and committed.
            turn completed
            [compact by turn_complete]
            [heads-up will_compact]
            rawr: packet_request
              agent: <continuation_packet>
            turn completed
            [packet by agent]
            [compaction in_progress]
            [compaction completed]
            turn completed
            rawr: handoff
              ran git commit -q --allow-empty -m 'Write the docs'
              agent: The docs are written.
            turn completed
            user: AND-NOW the docs
              agent: Here you are.
            turn completed
        "#]],
        expect![[r#"
        turn begins
          user: WRITE-PARSER please
        turn goes on
          assistant: <exec_command>
          tool
        turn goes on
          assistant: The parser is written and committed.
          user: [rawr] This thread's context will be compacted next, b … packet_request]
        compaction goes on
          assistant: <continuation_packet>
          user: You are performing a CONTEXT CHECKPOINT COMPACTION. Cr
        turn begins
          user: WRITE-PARSER please
          user: [rawr] This thread's context will be compacted next, b … packet_request]
          user: Another language model started to solve this problem a
          user: [rawr] The compaction is done. Heads-ups, packet reque … handoff]
        turn goes on
          assistant: <exec_command>
          tool
        turn goes on
          assistant: The docs are written.
          user: AND-NOW the docs
    "#]],
    );
}

#[test]
fn path_4_preflight_waits_for_the_next_message_and_delivers_it_after_the_handoff() {
    check(
        "[rawr_auto_compaction.policy.ready]\nrequires_any_boundary = [\"turn_complete\"]\n",
        &["WRITE-PARSER please", "AND-NOW the docs"],
        expect![[r#"
            user: WRITE-PARSER please
              ran printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser…
              agent: The parser is written and committed.
            turn completed
            [defer by preflight]
            [heads-up deferred]
            [compact by preflight]
            [heads-up will_compact]
            [held: AND-NOW the docs]
            rawr: packet_request
              agent: <continuation_packet>
            turn completed
            [packet by agent]
            [compaction in_progress]
            [compaction completed]
            turn completed
            rawr: handoff
            user: AND-NOW the docs
              agent: Here you are.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: WRITE-PARSER please
            turn goes on
              assistant: <exec_command>
              tool
            turn goes on
              assistant: The parser is written and committed.
              user: [rawr] This thread's context will be compacted next, b … packet_request]
            compaction goes on
              assistant: <continuation_packet>
              user: You are performing a CONTEXT CHECKPOINT COMPACTION. Cr
            turn begins
              user: WRITE-PARSER please
              user: [rawr] This thread's context will be compacted next, b … packet_request]
              user: Another language model started to solve this problem a
              user: [rawr] The compaction is done. Heads-ups, packet reque … handoff]
              and: AND-NOW the docs
        "#]],
    );
}

#[test]
fn path_5_mid_turn_asks_inside_the_turn_and_compacts_after_it() {
    // The request that the packet request comes into may have left or not.
    let counts = |request: &ResponsesRequest| {
        request.marker.as_deref() != Some("READ-ON") || request.step == 0
    };
    check_but(
        "",
        &["READ-ON until the window is full"],
        counts,
        expect![[r#"
            user: READ-ON until the window is full
              ran true
            [compact by mid_turn]
            [heads-up will_compact]
            rawr: packet_request
              agent: <continuation_packet>
            turn completed
            [packet by agent]
            [compaction in_progress]
            [compaction completed]
            turn completed
            rawr: handoff
              ran git commit -q --allow-empty -m 'Write the docs'
              agent: The docs are written.
            turn completed
        "#]],
        expect![[r#"
        turn begins
          user: READ-ON until the window is full
        turn goes on
          assistant: <exec_command>
          tool
          user: [rawr] This thread's context will be compacted next, b … packet_request]
        compaction goes on
          assistant: <continuation_packet>
          user: You are performing a CONTEXT CHECKPOINT COMPACTION. Cr
        turn begins
          user: READ-ON until the window is full
          user: [rawr] This thread's context will be compacted next, b … packet_request]
          user: Another language model started to solve this problem a
          user: [rawr] The compaction is done. Heads-ups, packet reque … handoff]
        turn goes on
          assistant: <exec_command>
          tool
    "#]],
    );
}

const INLINE: &str = "[features]\nrawr_auto_compaction = false\n[auto_compact]\nenabled = true\n";

// rule: built-in.cannot-interrupt
#[test]
fn path_6_inline_compacts_after_the_turn_without_packet_and_handoff() {
    check(
        INLINE,
        &["READ-ALL of it", "AND-NOW the docs"],
        expect![[r#"
        user: READ-ALL of it
          ran true
          agent: All is read.
        turn completed
        [compact by inline]
        [compaction in_progress]
        [compaction completed]
        turn completed
        user: AND-NOW the docs
          agent: Here you are.
        turn completed
    "#]],
        expect![[r#"
        turn begins
          user: READ-ALL of it
        turn goes on
          assistant: <exec_command>
          tool
        compaction goes on
          assistant: All is read.
          user: You are performing a CONTEXT CHECKPOINT COMPACTION. Cr
        turn begins
          user: READ-ALL of it
          user: Another language model started to solve this problem a
          user: AND-NOW the docs
    "#]],
    );
}

#[test]
fn path_6_inline_compacts_before_a_message_that_would_not_fit() {
    let message = format!("AND-NOW the docs: {}", "word ".repeat(14_000));
    check(
        INLINE,
        &["READ-MOST of it", &message],
        expect![[r#"
        user: READ-MOST of it
          agent: Much is read.
        turn completed
        [compact by inline]
        [held: AND-NOW the docs: word word word word word word word word word word word word wo…]
        [compaction in_progress]
        [compaction completed]
        turn completed
        user: AND-NOW the docs: word word word word word word word word word word word word wo…
          agent: Here you are.
        turn completed
    "#]],
        expect![[r#"
        turn begins
          user: READ-MOST of it
        compaction goes on
          assistant: Much is read.
          user: You are performing a CONTEXT CHECKPOINT COMPACTION. Cr
        turn begins
          user: READ-MOST of it
          user: Another language model started to solve this problem a
          user: AND-NOW the docs: word word word word word word word w
    "#]],
    );
}

/// Notice and packet request by the user, packet by the agent, compaction, packet back by the user, and the agent goes on
/// with its work; each as the model itself gets it.
// rule: sequence.order
#[test]
fn the_model_sees_the_golden_path() {
    let fixture = CodexExecFixture::new(agent());
    let session = fixture.exec(&["WRITE-PARSER please"]);
    session.expect_success();
    let requests = fixture.model.requests();
    let asked =
        requests.iter().find(|request| request.marker.as_deref() == Some("packet_request]"));
    let asked = asked.unwrap().user_messages();
    assert_eq!(asked.len(), 2, "notice and packet request are one turn: {asked:?}");
    let (notice, handoff) = (&asked[1], handed_over(&fixture));
    let sequence = session.one("handoff", |_| true)["sequenceId"].as_str().unwrap();
    for (text, expected) in [
        (notice, "will be compacted next, because a phase ended here (commit"),
        (notice, "Write the continuation packet"),
        (notice, &format!("[rawr:{sequence}:packet_request]")),
        (
            &handoff,
            PACKET
                .trim_start_matches("<continuation_packet>")
                .trim_end_matches("</continuation_packet>"),
        ),
        (&handoff, "The compaction is done."),
        (&handoff, "Continue now with its next step."),
        (&handoff, &format!("[rawr:{sequence}:handoff]")),
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
        assert!(!text.contains('%'), "the agent is never told how full its window is: {text}");
    }
    assert_eq!(requests[4].messages("assistant"), Vec::<String>::new());
    assert_eq!(session.said().last(), Some(&"The docs are written."));
    assert_eq!(fixture.repository.subjects()[0], "Write the docs");
}

#[test]
fn with_rawr_off_codex_compacts_as_configured() {
    let off = "[features]\nrawr_auto_compaction = false\n";
    // Codex by itself compacts from 90% of its window on, and with rawr at its side when it is full.
    for (config, expected) in [(off, 1), ("", 0), (INLINE, 0)] {
        let work = [shell("true").input_tokens(18_500), reply("done").input_tokens(8_000)];
        let config_of_codex =
            CodexTestConfig { context_window: 20_000, ..CodexTestConfig::default() };
        let fixture =
            CodexExecFixture::configured(TurnScript::default().on("WORK", work), &config_of_codex);
        fixture.configure(&format!("{config}[rawr_auto_compaction]\nmid_turn = \"off\"\n"));
        let session = fixture.exec(&["WORK"]);
        session.expect_success();
        let completed = session
            .events
            .iter()
            .filter(|event| event["event"] == "compaction" && event["status"] == "completed");
        assert_eq!(completed.count(), expected, "{}", session.dump());
    }
}
