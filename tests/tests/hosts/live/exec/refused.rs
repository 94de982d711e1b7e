//! The model refuses what it is sent after a compaction.

use rawr_tests::ExecOutput;
use rawr_tests::mock_responses::{ScriptedAnswer, TurnReply, http_error, reply};

use super::fixture::{ExecAgent, FIRST, NEXT};
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;

/// A session whose handoff is refused, with the prompt that was held for it.
fn refusing<A: ExecAgent>(refusal: TurnReply) -> ExecOutput {
    let third = reply("Third.").input_tokens(25_000);
    let agent = A::start(A::session().on_first(":handoff]", [refusal]).on_first("THIRD", [third]));
    let done = agent.exec(&[FIRST, NEXT, "THIRD thing"]);
    let end = format!("rawr: handoff\nuser: {NEXT}\nturn failed\n");
    assert!(done.story().contains(&end), "{}", done.story());
    // Both are in the conversation.
    assert_eq!(agent.delivered(), [":handoff]", "AND-NOW", "THIRD"], "{}", done.dump());
    assert_eq!(done.said().last(), Some(&"Third."), "{}", done.dump());
    assert_eq!(done.all("handoff").len(), 1, "{}", done.dump());
    done
}

fn refused_handoff<A: ExecAgent>() {
    let done = refusing::<A>(http_error(400));
    assert!(done.notices().join("\n").contains("scripted error 400"), "{}", done.dump());
    assert_eq!(done.output.status.code(), Some(1), "{}", done.dump());
}

fn too_long<A: ExecAgent>() {
    let message = "prompt is too long: 210000 tokens > 200000 maximum".to_owned();
    let done = refusing::<A>(ScriptedAnswer::Http { status: 400, message }.into());
    let notices = done.notices().join("\n");
    assert!(notices.contains("a compaction was not enough"), "{notices}");
    // One failed prompt is enough, although the next one was answered.
    assert_eq!(done.output.status.code(), Some(1), "{}", done.dump());
}

#[test]
fn a_handoff_that_codexs_model_refuses_is_in_the_conversation_with_its_message() {
    refused_handoff::<CodexExecFixture>();
}

#[test]
fn a_handoff_that_claudes_model_refuses_is_in_the_conversation_with_its_message() {
    refused_handoff::<ClaudeExecFixture>();
}

#[test]
fn a_message_too_long_for_codexs_model_is_in_the_conversation_with_its_handoff() {
    too_long::<CodexExecFixture>();
}

#[test]
fn a_message_too_long_for_claudes_model_is_in_the_conversation_with_its_handoff() {
    too_long::<ClaudeExecFixture>();
}
