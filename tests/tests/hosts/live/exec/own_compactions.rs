//! Compactions that rawr does not start: those of the agent itself, and a person's `/compact`.

use expect_test::expect;
use rawr_tests::mock_responses::{ReplyGate, reply};
use rawr_tests::{ExecOutput, wait_until};

use super::fixture::{ExecAgent, FIRST, NEXT};
use crate::fixture::claude_shell;
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;

const PIN: &str = "Never touch the lexer.";

fn pin(agent: &impl ExecAgent) {
    let pinned = agent.rawr(&["pin", "last", PIN]);
    assert!(pinned.status.success(), "{pinned:?}");
}

/// The agent has one handoff with what was pinned for the only compaction.
fn is_handed_over(agent: &impl ExecAgent, session: &ExecOutput, origin: &str) {
    let compacted = session.one("compaction", |event| event["status"] == "completed");
    assert_eq!(compacted["origin"], origin, "{}", session.dump());
    let handoff = session.one("handoff", |_| true);
    assert!(handoff["text"].as_str().unwrap().contains(PIN), "{handoff}");
    let heard = agent.asked().pop().unwrap().messages.join("\n");
    assert_eq!((heard.matches(":handoff]").count(), heard.matches(PIN).count()), (1, 1), "{heard}");
}

/// Codex compacts before it asks a model that holds less than the one before.
#[test]
fn a_compaction_by_codex_for_another_model_is_followed_by_a_handoff() {
    let work = [reply("The parser is written.").input_tokens(98_000)];
    let agent = CodexExecFixture::start(
        CodexExecFixture::session()
            .on_first(":handoff]", [reply("Writing the docs now.").input_tokens(20_000)])
            .on_first("AND-NOW", [reply("Here you are.").input_tokens(21_000)])
            .on_first("WRITE-PARSER", work),
    );
    let large = ["--model", "gpt-6.1-terra", "--codex-config", "model_context_window=500000"];
    agent.exec(&[&large[..], &[FIRST]].concat()).expect_success();
    pin(&agent);
    let small = ["--resume", "last", "--model", "gpt-5.5"];
    let session = agent.exec(&[&small[..], &["AND-NOW the docs", "THIRD thing"]].concat());
    session.expect_success();
    expect![[r#"
        [notice: This session was recorded with model `gpt-6.1-terra` but is resuming with `gpt-5…]
        user: AND-NOW the docs
        [compaction in_progress]
        [compaction completed]
        rawr: handoff
          agent: The parser is written.
        turn completed
        user: THIRD thing
          agent: ok
        turn completed
    "#]]
    .assert_eq(&session.story());
    is_handed_over(&agent, &session, "host");
}

/// Claude Code compacts by itself only where rawr does not.
#[test]
fn a_compaction_by_claude_is_recorded_as_its_own() {
    let off = ["-c", "features.rawr_auto_compaction=false"];
    for (options, expected) in [(&off[..], vec!["host"]), (&[], vec![])] {
        let reading = reply("I am still reading the second file.").input_tokens(121_000);
        let script = ClaudeExecFixture::session()
            .on_first("STILL", [reply("I see it.").input_tokens(24_000)])
            .on_first("BIG", [claude_shell("true").input_tokens(120_000), reading]);
        let agent = ClaudeExecFixture::start(script);
        let prompts = ["BIG work", "STILL failing in the same place"];
        let mut session = agent.command(&[options, &prompts].concat());
        session.env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000");
        let session = ExecOutput::of(session.output().unwrap());
        session.expect_success();
        let compacted = session.all("compaction").into_iter();
        let compacted = compacted.filter(|event| event["status"] == "completed");
        let origins: Vec<_> = compacted.map(|event| event["origin"].as_str().unwrap()).collect();
        assert_eq!(origins, expected, "{}", session.dump());
    }
}

#[test]
fn a_compaction_that_is_a_prompt_is_followed_by_a_handoff_with_the_next_prompt() {
    let gate = ReplyGate::new();
    let hello = reply("Hello to you, too.").input_tokens(20_000).behind(&gate);
    let agent = ClaudeExecFixture::start(ClaudeExecFixture::session().on("HELLO", [hello]));
    let mut session = agent.command(&["HELLO there", "/compact keep the names", NEXT]);
    let session = session.spawn().unwrap();
    wait_until("the question", || agent.asked().len() == 1);
    pin(&agent);
    gate.open();
    let session = ExecOutput::of(session.wait_with_output().unwrap());
    session.expect_success();
    expect![[r#"
        user: HELLO there
          agent: Hello to you, too.
        turn completed
        user: /compact keep the names
        [compaction in_progress]
        [compaction completed]
        turn completed
        [held: Thanks, that works. Next, AND-NOW write the user guide.]
        rawr: handoff
        user: Thanks, that works. Next, AND-NOW write the user guide.
          agent: Writing the docs now.
        turn completed
    "#]]
    .assert_eq(&session.story());
    is_handed_over(&agent, &session, "user");
}
