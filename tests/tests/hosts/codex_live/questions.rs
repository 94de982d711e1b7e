//! What a person types on the screen while a packet is owed: it is answered, once, and the answer is not taken for the packet.

use rawr_tests::mock_responses::{Gate, Script, say};

use super::deaths::{kill_all, wait_until};
use super::lab::{GOES_ON, HANDOFF, Lab, TASK, agent, leave, say_to};

const QUESTION: &str = "WHAT-TIME is it";
const ANSWER: &str = "It is ten past nine, and the parser skips comments.";

/// Somebody asks something, and the packet is not written before the gate opens.
fn with_a_question(gate: &Gate) -> Script {
    let answer = say(ANSWER).input_tokens(145_500);
    agent().on_first("WHAT-TIME", [answer]).behind(":packet_request]", 0, gate)
}

fn packet_is_asked_for(lab: &Lab) -> bool {
    lab.requests().iter().any(|request| request.marker.as_deref() == Some(":packet_request]"))
}

/// One compaction, the question once, and what is handed over is the agent's packet.
fn the_question_is_asked_once_and_its_answer_is_no_packet(lab: &Lab) {
    assert_eq!(lab.compactions(), 1, "{}", lab.log());
    let requests = lab.requests();
    let last = requests.last().unwrap().user_messages();
    let times = |words: &str| last.iter().filter(|text| text.contains(words)).count();
    assert_eq!((times(QUESTION), times(HANDOFF)), (1, 1), "{last:?}\n{}", lab.log());
    let handoff = last.iter().find(|text| text.contains(HANDOFF)).unwrap();
    assert!(handoff.contains("Goal: a parser with docs"), "{handoff}");
    assert!(!handoff.contains("ten past nine"), "{handoff}");
}

#[test]
fn a_question_typed_while_the_packet_is_written_is_answered_and_asked_once() {
    let gate = Gate::new();
    let lab = Lab::new(with_a_question(&gate));
    let mut terminal = lab.on_a_terminal(&[]);
    say_to(&mut terminal, TASK);
    wait_until("a packet being written", || packet_is_asked_for(&lab));
    say_to(&mut terminal, QUESTION);
    gate.open();
    terminal.wait_for(&[ANSWER, "Context compacted", GOES_ON]);
    the_question_is_asked_once_and_its_answer_is_no_packet(&lab);
    leave(&mut terminal);
}

/// What was asked of the agent died with its Codex, and is asked again as the person begins to type. Where both come with one
/// request, the scripted model answers the later only.
#[test]
fn a_question_typed_as_a_session_is_taken_up_is_asked_once() {
    let gate = Gate::new();
    let lab = Lab::new(with_a_question(&gate));
    let mut terminal = lab.on_a_terminal(&[]);
    let session = terminal.process_id();
    say_to(&mut terminal, TASK);
    wait_until("a packet being written", || packet_is_asked_for(&lab));
    kill_all(session);
    gate.open();
    let mut terminal = lab.on_a_terminal(&["resume", "--last"]);
    say_to(&mut terminal, QUESTION);
    terminal.wait_for(&[QUESTION, "Context compacted", GOES_ON]);
    the_question_is_asked_once_and_its_answer_is_no_packet(&lab);
    leave(&mut terminal);
}
