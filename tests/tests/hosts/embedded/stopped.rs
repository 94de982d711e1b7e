//! A session is stopped with Ctrl-C in the middle of a sequence. Its conversation ends with it: what was not said is shown.

use rawr_tests::mock_chat::{ChatModelReply, ChatPurpose, ChatRequest, ChatScript, reply};
use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::{MockChat, wait_until};

use super::fixture::{EmbeddedFixture, shell};
use crate::fixture::{PACKET, interrupted};

/// Confirms a compaction.
const NEXT: &str = "Thanks, that works. Next, AND-NOW write the user guide.";

/// An agent that commits and concludes under pressure.
fn agent(summary: ChatModelReply, next: ChatModelReply) -> ChatScript {
    let commit = shell("git commit -q --allow-empty -m 'Add the parser'").input_tokens(5_500);
    let done = reply("The parser is written and committed.").input_tokens(5_600);
    ChatScript::default()
        .on_each(ChatPurpose::Judgment, [reply(r#"{"should_compact": true, "reason": "done"}"#)])
        .on_each(ChatPurpose::Summary, [summary])
        .on(":packet_request]", [reply(PACKET).input_tokens(5_700)])
        .on("AND-NOW", [next])
        .on("WRITE-PARSER", [commit, done])
}

/// What a session tells that is stopped when the model is asked for this, and whether the model was sent the held message.
fn stopped(
    script: ChatScript,
    gate: &ReplyGate,
    is_asked_for: impl Fn(&ChatRequest) -> bool,
) -> (String, bool) {
    let model = MockChat::start(script);
    let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
    fixture.configure("[rawr_auto_compaction]\npreset = \"calm\"\n");
    let session = fixture.start(&["WRITE-PARSER please", NEXT, "THIRD thing"]);
    wait_until("the step", || model.requests().iter().any(&is_asked_for));
    let told = interrupted(session).story();
    gate.open();
    // A line of the log has a sequence's id.
    let lines = told.lines().skip_while(|line| *line != "[packet by agent]").skip(1);
    let lines = lines.filter(|line| !line.starts_with("[log: ")).map(|line| format!("{line}\n"));
    let turns = model.requests();
    let mut turns = turns.iter().filter(|request| request.purpose == ChatPurpose::Turn);
    (lines.collect(), turns.any(|turn| turn.transcript().concat().contains("AND-NOW")))
}

#[test]
fn a_stopped_compaction_shows_what_was_not_sent() {
    let gate = ReplyGate::new();
    let script = agent(reply("A SUMMARY.").behind(&gate), reply("Here you are."));
    let (told, is_sent) = stopped(script, &gate, |asked| asked.purpose == ChatPurpose::Summary);
    expect_test::expect![[r#"
        [compaction in_progress]
        [compaction failed]
        turn interrupted
        [not sent: Thanks, that works. Next, AND-NOW write the user guide.]
        [not sent: THIRD thing]
    "#]]
    .assert_eq(&told);
    assert!(!is_sent);
}

#[test]
fn a_stopped_handoff_shows_what_was_not_sent_with_it() {
    let gate = ReplyGate::new();
    let script = agent(reply("A SUMMARY."), reply("Here you are.").behind(&gate));
    let (told, is_sent) = stopped(script, &gate, |asked| {
        asked.purpose == ChatPurpose::Turn && asked.latest().contains("AND-NOW")
    });
    expect_test::expect![[r#"
        [compaction in_progress]
        [compaction completed]
        turn completed
        rawr: handoff
        user: Thanks, that works. Next, AND-NOW write the user guide.
        turn interrupted
        [not sent: THIRD thing]
    "#]]
    .assert_eq(&told);
    assert!(is_sent);
}
