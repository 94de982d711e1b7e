//! A person asks for a compaction with `rawr compact` in another terminal while the agent works.

use expect_test::expect;
use rawr_tests::mock_responses::{ReplyGate, reply};
use rawr_tests::{ExecOutput, wait_until};

use super::fixture::{ExecAgent, NEXT, STEPS};
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;

fn by_hand<A: ExecAgent>() {
    let gate = ReplyGate::new();
    // Without any pressure: rawr by itself would not compact.
    let hello = reply("Hello to you, too.").input_tokens(20_000).behind(&gate);
    let script = A::session().on("HELLO", [hello]);
    let agent = A::start(script.on_first("AND-NOW", [reply("Here you are.").input_tokens(24_000)]));
    let session = agent.command(&["HELLO there", NEXT]).spawn().unwrap();
    wait_until("the question", || agent.asked().len() == 1);
    let asked = agent.rawr(&["compact", "last"]);
    assert!(asked.status.success(), "{asked:?}");
    gate.open();
    let done = ExecOutput::of(session.wait_with_output().unwrap());
    done.expect_success();
    for step in STEPS {
        assert_eq!(agent.times(step), 1, "{step:?}: {}", done.dump());
    }
    assert_eq!(agent.delivered(), [":handoff]", "AND-NOW"], "{}", done.dump());
    expect![[r#"
        user: HELLO there
          agent: Hello to you, too.
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
          agent: Writing the docs now.
        turn completed
        user: Thanks, that works. Next, AND-NOW write the user guide.
          agent: Here you are.
        turn completed
    "#]]
    .assert_eq(&done.story());
}

#[test]
fn a_session_of_codex_is_compacted_after_its_turn() {
    by_hand::<CodexExecFixture>();
}

#[test]
fn a_session_of_claude_is_compacted_after_its_turn() {
    by_hand::<ClaudeExecFixture>();
}
