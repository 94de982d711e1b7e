//! The context window is another one than Codex says.

use rawr_tests::mock_responses::{TurnScript, reply, sse_failed};

use super::fixture::{CodexExecFixture, PACKET};

/// Codex believes in 190,000 tokens, and the model refuses far fewer.
#[test]
fn a_message_that_the_model_refuses_as_too_long_is_said_again_after_a_compaction() {
    let words = "This model's maximum context length is 60000 tokens.";
    let script = TurnScript::default()
        .on("packet_request]", [reply(PACKET).input_tokens(50_000)])
        .on(":handoff]", [reply("All of it is done.").input_tokens(20_000)])
        .on("READ-ALL", [reply("All of it is read.").input_tokens(50_000)])
        .on("AND-NOW", [sse_failed("context_length_exceeded", words)])
        .on_compaction([reply("A summary by the model.").input_tokens(50_000)]);
    let fixture = CodexExecFixture::new(script);
    let done = fixture.exec(&["READ-ALL of it", "AND-NOW the docs"]);
    expect_test::expect![[r#"
        user: READ-ALL of it
          agent: All of it is read.
        turn completed
        user: AND-NOW the docs
        turn failed
        [notice: the turn failed: Codex ran out of room in the model's context window. Start a ne…]
        [compact by turn_complete]
        [heads-up will_compact]
        [held: AND-NOW the docs]
        [packet by watcher]
        [compaction in_progress]
        [compaction completed]
        turn completed
        rawr: handoff
        user: AND-NOW the docs
          agent: All of it is done.
        turn completed
    "#]]
    .assert_eq(&done.story());
}
