//! Before a message that waits, a small model on the person's own login is asked whether it leaves the work.

use rawr_tests::mock_responses::{TurnReply, http_error, reply, stall};

use super::fixture::{GOES_ON, HERE, ModFixture, NEXT, PACKET_REQUEST, agent};

/// Asks the agent to put away what it has made.
const CLOSE: &str = "Great. PUSH-IT: commit the rest and push, please";
const PUSHED: &str = "Everything is committed and pushed.";

#[test]
fn a_no_lets_the_message_go_at_once() {
    let no = r#"{"should_compact": false, "reason": "It asks about the parser."}"#;
    let fixture = ModFixture::new(agent().on_judgment([reply(no)]));
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE]);
    let questions = fixture.model.judgments();
    assert_eq!((questions.len(), fixture.compactions()), (1, 0), "{}", fixture.events());
    let asked = questions[0].user_messages().pop().unwrap();
    assert!(asked.contains(NEXT) && asked.contains("committed"), "{asked}");
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    let decisions = fixture.says(&["explain", "last"]);
    assert!(decisions.contains("It asks about the parser."), "{decisions}");
    // Nothing of the question is in the conversation.
    for request in fixture.requests() {
        let text = request.body.to_string();
        assert!(!text.contains("next_message_of_the_user"), "{text}");
    }
}

/// The words of the message decide, and it is delivered after the compaction.
fn a_judge_that_answers(reply: TurnReply) {
    let fixture = ModFixture::new(agent().on_judgment([reply]));
    let mut terminal = fixture.proposed();
    fixture.until_asked(PACKET_REQUEST);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    assert!(!fixture.model.judgments().is_empty());
    fixture.handed_over_before(NEXT);
    assert_eq!((fixture.compactions(), fixture.compactions_by("rawr")), (1, 1));
}

#[test]
fn a_judge_that_never_answers_leaves_the_word_to_the_message() {
    a_judge_that_answers(stall());
}

#[test]
fn a_judge_that_is_rate_limited_leaves_the_word_to_the_message() {
    a_judge_that_answers(http_error(429));
}

#[test]
fn a_judge_that_refuses_leaves_the_word_to_the_message() {
    a_judge_that_answers(http_error(403));
}

#[test]
fn a_judge_that_answers_nonsense_leaves_the_word_to_the_message() {
    a_judge_that_answers(reply("I would rather talk about the weather."));
}

#[test]
fn a_message_that_closes_is_carried_out_before_the_compaction() {
    let pushed = [reply(PUSHED).input_tokens(104_000)];
    let fixture = ModFixture::new(agent().on_first("PUSH-IT", pushed));
    let mut terminal = fixture.proposed();
    terminal.enter(CLOSE, CLOSE);
    terminal.wait_for(&[PUSHED, GOES_ON]);
    let order: Vec<_> = fixture.requests().iter().map(|request| request.marker.clone()).collect();
    let at = |marker: &str| order.iter().position(|it| it.as_deref() == Some(marker));
    assert!(at("PUSH-IT") < order.iter().position(Option::is_none), "{order:?}");
    assert_eq!((fixture.compactions(), fixture.compactions_by("rawr")), (1, 1));
    assert_eq!(fixture.heard_with("PUSH-IT"), [CLOSE]);
}
