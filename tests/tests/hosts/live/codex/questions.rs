//! Messages typed while a packet is pending: each is answered once, and the answer does not count as the packet.

use rawr_tests::mock_responses::{ReplyGate, TurnScript, reply};
use rawr_tests::wait_until;

use super::deaths::kill_all;
use super::fixture::{GOES_ON, HANDOFF, LiveFixture, TASK, agent, leave, type_text};

const QUESTION: &str = "WHAT-TIME is it";
const ANSWER: &str = "It is ten past nine, and the parser skips comments.";

/// The agent asks the user, and the packet is not written before the gate opens.
fn with_a_question(gate: &ReplyGate) -> TurnScript {
    let answer = reply(ANSWER).input_tokens(145_500);
    agent().on_first("WHAT-TIME", [answer]).behind(":packet_request]", 0, gate)
}

fn packet_is_asked_for(fixture: &LiveFixture) -> bool {
    fixture.requests().iter().any(|request| request.marker.as_deref() == Some(":packet_request]"))
}

/// One compaction, the question once, and what is handed over is the agent's packet.
fn the_question_is_asked_once_and_its_answer_is_no_packet(fixture: &LiveFixture) {
    assert_eq!(fixture.compactions(), 1, "{}", fixture.log());
    let requests = fixture.requests();
    let last = requests.last().unwrap().user_messages();
    let times = |words: &str| last.iter().filter(|text| text.contains(words)).count();
    assert_eq!((times(QUESTION), times(HANDOFF)), (1, 1), "{last:?}\n{}", fixture.log());
    let handoff = last.iter().find(|text| text.contains(HANDOFF)).unwrap();
    assert!(handoff.contains("Goal: a parser with docs"), "{handoff}");
    assert!(!handoff.contains("ten past nine"), "{handoff}");
}

#[test]
fn a_message_typed_during_the_packet_is_answered_once() {
    let gate = ReplyGate::new();
    let fixture = LiveFixture::new(with_a_question(&gate));
    let mut terminal = fixture.on_a_terminal(&[]);
    type_text(&mut terminal, TASK);
    wait_until("a packet being written", || packet_is_asked_for(&fixture));
    type_text(&mut terminal, QUESTION);
    gate.open();
    terminal.wait_for(&[ANSWER, "Context compacted", GOES_ON]);
    the_question_is_asked_once_and_its_answer_is_no_packet(&fixture);
    leave(&mut terminal);
}

/// What was asked of the agent died with its Codex, and is asked again as the person begins to type. Where both come with one
/// request, the scripted model answers the later only.
#[test]
fn a_message_typed_while_a_session_resumes_is_answered_once() {
    let gate = ReplyGate::new();
    let fixture = LiveFixture::new(with_a_question(&gate));
    let mut terminal = fixture.on_a_terminal(&[]);
    let session = terminal.process_id();
    type_text(&mut terminal, TASK);
    wait_until("a packet being written", || packet_is_asked_for(&fixture));
    kill_all(session);
    gate.open();
    let mut terminal = fixture.on_a_terminal(&["resume", "--last"]);
    type_text(&mut terminal, QUESTION);
    terminal.wait_for(&[QUESTION, "Context compacted", GOES_ON]);
    the_question_is_asked_once_and_its_answer_is_no_packet(&fixture);
    leave(&mut terminal);
}
