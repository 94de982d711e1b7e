//! The six paths of a compaction, each as the session's output and as the model's requests.

use expect_test::{Expect, expect};
use rawr_tests::mock_chat::{ChatPurpose, ChatRequest, ChatScript, reply, stall};
use rawr_tests::{MockChat, sent};

use super::fixture::{EmbeddedFixture, shell};

/// An agent that commits and concludes under the pressure of the tier `ready`, and one that fills its window. Its packet
/// is asked for by every path that wants one.
fn agent() -> ChatScript {
    let commit = shell("git commit -q --allow-empty -m 'Add the parser'");
    ChatScript::default()
        .on_each(ChatPurpose::Summary, [reply("A SUMMARY.")])
        .on(":packet_request]", [reply(&packet()).input_tokens(3_200)])
        .on(":heads_up]", [reply("ok").input_tokens(3_200)])
        .on(":handoff]", [shell("echo docs > docs.txt"), reply("The docs are written.")])
        .on("A SUMMARY.", [reply("I go on after the summary.")])
        .on("fits hardly", [reply("It did fit.")])
        .on(
            "the parser",
            [
                commit.input_tokens(3_000),
                reply("The parser is written and committed.").input_tokens(3_100),
            ],
        )
        .on(
            "fill the window",
            [shell("true").input_tokens(9_000), reply("All is read.").input_tokens(9_100)],
        )
        .on("hello", [reply("Hello.").input_tokens(7_500)])
        .on("talk on", [stall(&"And so on and on. ".repeat(2_200))])
        .on("", [reply("Here you are.").input_tokens(1_000)])
}

const NOTES: &str =
    "State: working\nGoal: a parser with docs\nDecisions: plain text\nNext: write the docs";

fn packet() -> String {
    format!("<continuation_packet>\n{NOTES}\n</continuation_packet>")
}

fn check(config: &str, prompts: &[&str], told: Expect, seen: Expect) -> Vec<ChatRequest> {
    let model = MockChat::start(agent());
    let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
    fixture.configure(config);
    let done = fixture.exec(prompts);
    done.expect_success();
    told.assert_eq(&done.story());
    let requests = model.requests();
    seen.assert_eq(&sent(requests.iter().map(|request| {
        let purpose = if request.purpose == ChatPurpose::Turn { "turn" } else { "compaction" };
        // The first is the agent's instructions.
        (purpose, request.transcript().into_iter().skip(1).collect())
    })));
    requests
}

#[test]
fn path_1_suggest_recommends_and_does_nothing() {
    check(
        "[rawr_auto_compaction]\nmode = \"suggest\"\n",
        &["the parser", "thanks"],
        expect![[r#"
            user: the parser
              ran git commit -q --allow-empty -m 'Add the parser'
              agent: The parser is written and committed.
            turn completed
            [suggest by turn_complete]
            [heads-up recommended]
            user: thanks
              agent: Here you are.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: the parser
            turn goes on
              assistant: <shell>
              tool: exit code 0
            turn goes on
              assistant: The parser is written and committed.
              user: thanks
        "#]],
    );
}

#[test]
fn path_2_auto_with_a_packet_by_rawr() {
    let config = "[rawr_auto_compaction]\npacket_author = \"watcher\"\n";
    let requests = check(
        config,
        &["the parser", "thanks"],
        expect![[r#"
            user: the parser
              ran git commit -q --allow-empty -m 'Add the parser'
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
              ran echo docs > docs.txt
              agent: The docs are written.
            turn completed
            user: thanks
              agent: Here you are.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: the parser
            turn goes on
              assistant: <shell>
              tool: exit code 0
            turn goes on
              assistant: The parser is written and committed.
              user: [rawr] This thread's context will be compacted next, b … heads_up]
            compaction goes on
              assistant: ok
              user: Summarize this conversation so that you can continue t
            turn begins
              user: the parser
              user: The conversation before this point was compacted. You
              user: [rawr] The compaction is done. Heads-ups, packet reque … handoff]
            turn goes on
              assistant: <shell>
              tool: exit code 0
            turn goes on
              assistant: The docs are written.
              user: thanks
        "#]],
    );
    let handoff = requests[4].latest();
    for expected in ["It was written by rawr", "(Built by rawr from what it saw", "Add the parser"]
    {
        assert!(handoff.contains(expected), "{expected}: {handoff}");
    }
}

#[test]
fn path_3_auto_with_a_packet_by_the_agent() {
    check(
        "",
        &["the parser", "thanks"],
        expect![[r#"
            user: the parser
              ran git commit -q --allow-empty -m 'Add the parser'
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
              ran echo docs > docs.txt
              agent: The docs are written.
            turn completed
            user: thanks
              agent: Here you are.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: the parser
            turn goes on
              assistant: <shell>
              tool: exit code 0
            turn goes on
              assistant: The parser is written and committed.
              user: [rawr] This thread's context will be compacted next, b … packet_request]
            compaction goes on
              assistant: <continuation_packet>
              user: Summarize this conversation so that you can continue t
            turn begins
              user: the parser
              user: The conversation before this point was compacted. You
              user: [rawr] The compaction is done. Heads-ups, packet reque … handoff]
            turn goes on
              assistant: <shell>
              tool: exit code 0
            turn goes on
              assistant: The docs are written.
              user: thanks
        "#]],
    );
}

#[test]
fn path_4_preflight_waits_for_the_next_message_and_delivers_it_after_the_handoff() {
    let config =
        "[rawr_auto_compaction.policy.ready]\nrequires_any_boundary = [\"turn_complete\"]\n";
    check(
        config,
        &["the parser", "now the docs"],
        expect![[r#"
            user: the parser
              ran git commit -q --allow-empty -m 'Add the parser'
              agent: The parser is written and committed.
            turn completed
            [defer by preflight]
            [heads-up deferred]
            [compact by preflight]
            [heads-up will_compact]
            [held: now the docs]
            rawr: packet_request
              agent: <continuation_packet>
            turn completed
            [packet by agent]
            [compaction in_progress]
            [compaction completed]
            turn completed
            rawr: handoff
            user: now the docs
              agent: Here you are.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: the parser
            turn goes on
              assistant: <shell>
              tool: exit code 0
            turn goes on
              assistant: The parser is written and committed.
              user: [rawr] This thread's context will be compacted next, b … packet_request]
            compaction goes on
              assistant: <continuation_packet>
              user: Summarize this conversation so that you can continue t
            turn begins
              user: the parser
              user: The conversation before this point was compacted. You
              user: [rawr] The compaction is done. Heads-ups, packet reque … handoff]
              user: now the docs
        "#]],
    );
}

#[test]
fn path_5_mid_turn_compacts_between_two_requests() {
    check(
        "",
        &["fill the window"],
        expect![[r#"
            user: fill the window
              ran true
            [compact by mid_turn]
            [heads-up will_compact]
            rawr: packet_request
              agent: <continuation_packet>
            [packet by agent]
            [compaction in_progress]
            [compaction completed]
            rawr: handoff
              ran echo docs > docs.txt
              agent: The docs are written.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: fill the window
            turn goes on
              assistant: <shell>
              tool: exit code 0
              user: [rawr] This thread's context will be compacted next, b … packet_request]
            compaction goes on
              assistant: <continuation_packet>
              user: Summarize this conversation so that you can continue t
            turn begins
              user: fill the window
              user: The conversation before this point was compacted. You
              user: [rawr] The compaction is done. Heads-ups, packet reque … handoff]
            turn goes on
              assistant: <shell>
              tool: exit code 0
        "#]],
    );
}

#[test]
fn path_5_mid_turn_by_policy_at_a_boundary() {
    let config = "[rawr_auto_compaction]\nmid_turn = \"policy\"\n";
    check(
        config,
        &["the parser"],
        expect![[r#"
            user: the parser
              ran git commit -q --allow-empty -m 'Add the parser'
            [compact by mid_turn]
            [heads-up will_compact]
            rawr: packet_request
              agent: <continuation_packet>
            [packet by agent]
            [compaction in_progress]
            [compaction completed]
            rawr: handoff
              ran echo docs > docs.txt
              agent: The docs are written.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: the parser
            turn goes on
              assistant: <shell>
              tool: exit code 0
              user: [rawr] This thread's context will be compacted next, b … packet_request]
            compaction goes on
              assistant: <continuation_packet>
              user: Summarize this conversation so that you can continue t
            turn begins
              user: the parser
              user: The conversation before this point was compacted. You
              user: [rawr] The compaction is done. Heads-ups, packet reque … handoff]
            turn goes on
              assistant: <shell>
              tool: exit code 0
        "#]],
    );
}

const INLINE: &str = "[features]\nrawr_auto_compaction = false\n[auto_compact]\nenabled = true\n";

// rule: host.summary-is-last-message
// rule: built-in.one-summary
// rule: built-in.next-request
#[test]
fn path_6_inline_compacts_inside_the_turn_without_packet_and_handoff() {
    check(
        INLINE,
        &["fill the window"],
        expect![[r#"
            user: fill the window
              ran true
            [compact by inline]
            [compaction in_progress]
            [compaction completed]
              agent: I go on after the summary.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: fill the window
            compaction goes on
              assistant: <shell>
              tool: exit code 0
              user: Summarize this conversation so that you can continue t
            turn begins
              user: The conversation before this point was compacted. You
        "#]],
    );
}

#[test]
fn path_6_inline_compacts_before_a_message_that_would_not_fit() {
    let message = format!("fits hardly: {}", "word ".repeat(1400));
    check(
        INLINE,
        &["hello", &message],
        expect![[r#"
        user: hello
          agent: Hello.
        turn completed
        [compact by inline]
        [held: fits hardly: word word word word word word word word word word word word word wo…]
        [compaction in_progress]
        [compaction completed]
        turn completed
        user: fits hardly: word word word word word word word word word word word word word wo…
          agent: It did fit.
        turn completed
    "#]],
        expect![[r#"
            turn begins
              user: hello
            compaction goes on
              assistant: Hello.
              user: Summarize this conversation so that you can continue t
            turn begins
              user: The conversation before this point was compacted. You
              user: fits hardly: word word word word word word word word w
        "#]],
    );
}

// rule: built-in.interrupts
// rule: built-in.continues-after-interrupt
#[test]
fn path_6_inline_aborts_an_answer_if_allowed() {
    let config = format!("{INLINE}interrupt_mid_turn = true\n");
    check(
        &config,
        &["talk on"],
        expect![[r#"
        user: talk on
        [compact by inline]
          agent: And so on and on. And so on and on. And so on and on. And so on and on. And so o…
        [compaction in_progress]
        [compaction completed]
          agent: I go on after the summary.
        turn completed
    "#]],
        expect![[r#"
            turn begins
              user: talk on
            compaction goes on
              assistant: And so on and on. And so on and on. And so on and
              user: Summarize this conversation so that you can continue t
            turn begins
              user: The conversation before this point was compacted. You
        "#]],
    );
}

/// Notice and packet request by the user, packet by the agent, compaction, packet back by the user, and the agent goes on
/// with its work; each as the model itself gets it.
// rule: sequence.order
// rule: handoff.sufficient
#[test]
fn the_model_sees_the_golden_path() {
    let model = MockChat::start(agent());
    let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
    let session = fixture.exec(&["the parser"]);
    session.expect_success();
    let requests = model.requests();
    let (notice, handoff) = (requests[2].latest(), requests[4].latest());
    let sequence = session.one("handoff", |_| true)["sequenceId"].as_str().unwrap();
    for (text, expected) in [
        (notice, "will be compacted next, because a phase ended here (commit"),
        (notice, "Write the continuation packet"),
        (notice, &format!("[rawr:{sequence}:packet_request]")),
        (handoff, NOTES),
        (handoff, "The compaction is done."),
        (handoff, "Continue now with its next step."),
        (handoff, &format!("[rawr:{sequence}:handoff]")),
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
        assert!(!text.contains('%'), "the agent is never told how full its window is: {text}");
    }
    assert_eq!(session.said().last(), Some(&"The docs are written."));
    assert_eq!(fixture.file("docs.txt"), "docs\n");
}

#[test]
fn a_disabled_rawr_does_nothing() {
    let config = "[features]\nrawr_auto_compaction = false\n";
    check(
        config,
        &["fill the window", "the parser"],
        expect![[r#"
            user: fill the window
              ran true
              agent: All is read.
            turn completed
            user: the parser
              ran git commit -q --allow-empty -m 'Add the parser'
              agent: The parser is written and committed.
            turn completed
        "#]],
        expect![[r#"
            turn begins
              user: fill the window
            turn goes on
              assistant: <shell>
              tool: exit code 0
            turn goes on
              assistant: All is read.
              user: the parser
            turn goes on
              assistant: <shell>
              tool: exit code 0
        "#]],
    );
}
