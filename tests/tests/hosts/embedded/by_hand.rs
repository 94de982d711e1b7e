//! A person asks for a compaction with `rawr compact` in another terminal while the agent works.

use expect_test::expect;
use rawr_tests::mock_chat::{ChatPurpose, ChatScript, reply};
use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::{ExecOutput, MockChat};

use super::fixture::EmbeddedFixture;
use crate::fixture::PACKET;

const PIN: &str = "Never touch the lexer.";

#[test]
fn a_session_is_compacted_after_its_turn_and_keeps_what_was_pinned() {
    let gate = ReplyGate::new();
    // Without any pressure: rawr by itself would not compact.
    let hello = reply("Hello to you, too.").input_tokens(2_000).behind(&gate);
    let script = ChatScript::default()
        .on_each(ChatPurpose::Summary, [reply("A SUMMARY.")])
        .on(":packet_request]", [reply(PACKET).input_tokens(2_100)])
        .on(":handoff]", [reply("Writing the docs now.").input_tokens(1_000)])
        .on("HELLO", [hello])
        .on("AND-NOW", [reply("Here you are.").input_tokens(1_100)]);
    let model = MockChat::start(script);
    let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
    fixture.configure("[rawr_auto_compaction]\npreset = \"calm\"\n");
    let session = fixture.start(&["HELLO there", "AND-NOW the docs"]);
    model.wait_for("HELLO");
    fixture.rawr(&["pin", "last", PIN]);
    fixture.rawr(&["compact", "last"]);
    gate.open();
    let done = ExecOutput::of(session.wait_with_output().unwrap());
    done.expect_success();
    let compacted = done.one("compaction", |event| event["status"] == "completed");
    assert_eq!(compacted["trigger"]["kind"], "user", "{}", done.dump());
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
        user: AND-NOW the docs
          agent: Here you are.
        turn completed
    "#]]
    .assert_eq(&done.story());
    let heard = model.requests().pop().unwrap().transcript().join("\n");
    assert_eq!((heard.matches(":handoff]").count(), heard.matches(PIN).count()), (1, 1), "{heard}");
}
