//! Compactions that rawr does not start: the user's `/compact`, and Claude Code's own.

use rawr_tests::mock_responses::{RequestPurpose, reply};
use rawr_tests::wait_until;

use super::fixture::{HERE, ModFixture, NEXT, PACKET_REQUEST, agent, shell};

/// From rawr's prompt for summaries.
const OURS: &str = "so that you can continue the task from the summary alone";

/// What asked for the summary.
fn summary_request(fixture: &ModFixture) -> String {
    let all = fixture.requests();
    let asks = all.iter().find(|request| request.purpose != RequestPurpose::Turn).unwrap();
    (*asks.user_texts().last().unwrap()).to_owned()
}

#[test]
fn a_compaction_by_hand_is_followed_by_a_handoff_with_the_next_message() {
    let fixture = ModFixture::new(agent());
    let mut terminal = fixture.proposed();
    terminal.enter("/compact keep the names", "/compact keep the names");
    terminal.wait_for(&["Compacted", "98% left"]);
    let asked = summary_request(&fixture);
    assert!(asked.contains(OURS) && asked.contains("keep the names"), "{asked}");
    assert_eq!((fixture.compactions_by("user"), fixture.compactions_by("rawr")), (1, 0));
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    let last = fixture.requests().pop().unwrap();
    let told = last.reminders();
    let handoffs: Vec<_> = told.iter().filter(|text| text.contains(":handoff]")).collect();
    assert_eq!(handoffs.len(), 1, "{told:#?}");
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    // No turn began by itself.
    assert_eq!((fixture.asked("[rawr:"), fixture.asked(PACKET_REQUEST)), (0, 1));
    fixture.until_rewritten(1);
    assert_eq!((fixture.asked("AND-NOW"), fixture.rewritten()), (1, 1));
}

#[test]
fn a_compaction_by_claude_code_has_instructions_and_a_handoff() {
    let reading = "I am still reading the second file.";
    let big = [shell("true").input_tokens(120_000), reply(reading).input_tokens(121_000)];
    let script = agent().on_first("BIG", big);
    let script = script.on_first("STILL", [reply("I see it.").input_tokens(24_000)]);
    let fixture = ModFixture::new(script);
    let mut terminal = fixture.start(&["--autocompact", "100000"]);
    terminal.enter("BIG work", "BIG work");
    terminal.wait_for(&[reading]);
    terminal.enter("STILL failing in the same place", "STILL failing in the same place");
    terminal.wait_for(&["I see it."]);
    let asked = summary_request(&fixture);
    assert!(asked.contains(OURS), "{asked}");
    wait_until("the report of the compaction", || fixture.compactions_by("host") == 1);
    // The handoff comes into the turn that was compacted, or with the next message.
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "64% left"]);
    let last = fixture.requests().pop().unwrap();
    let told = last.reminders();
    assert_eq!(told.iter().filter(|text| text.contains(":handoff]")).count(), 1, "{told:#?}");
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    assert_eq!(fixture.asked("[rawr:"), 0);
    // Claude Code writes its transcript behind what it shows.
    fixture.until_rewritten(1);
    assert_eq!((fixture.compactions_by("host"), fixture.rewritten()), (1, 1));
}
