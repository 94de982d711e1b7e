//! Compactions that rawr does not start: the user's `/compact`, and Claude Code's own.

use rawr_tests::mock_responses::{RequestPurpose, TurnScript, reply};
use rawr_tests::wait_until;

use super::fixture::{HERE, ModFixture, NEXT, PACKET_REQUEST, agent, shell};

/// From rawr's prompt for summaries.
const OURS: &str = "so that you can continue the task from the summary alone";

pub const READING: &str = "I am still reading the second file.";
pub const SEEN: &str = "I see it.";

/// An agent whose first turn fills more than a small window.
pub fn busy_agent() -> TurnScript {
    let big = [shell("true").input_tokens(120_000), reply(READING).input_tokens(121_000)];
    let script = agent().on_first("BIG", big);
    script.on_first("STILL", [reply(SEEN).input_tokens(24_000)])
}

/// What asked for the summary has rawr's prompt, and this.
pub fn is_asked_with_instructions(fixture: &ModFixture, more: &str) {
    let all = fixture.requests();
    let asks = all.iter().find(|request| request.purpose != RequestPurpose::Turn).unwrap();
    let asked = *asks.user_texts().last().unwrap();
    assert!(asked.contains(OURS) && asked.contains(more), "{asked}");
}

/// The newest message came once, and the agent has one handoff for the only compaction.
pub fn is_handed_over_once(fixture: &ModFixture, origin: &str) {
    let last = fixture.requests().pop().unwrap();
    let told = last.reminders();
    let handoffs = told.iter().filter(|text| text.contains(":handoff]"));
    assert_eq!(handoffs.count(), 1, "{told:#?}");
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    // No turn began by itself.
    assert_eq!((fixture.asked("[rawr:"), fixture.asked("AND-NOW")), (0, 1));
    // Claude Code writes its transcript behind what it shows.
    fixture.until_rewritten(1);
    assert_eq!((fixture.compactions_by(origin), fixture.rewritten()), (1, 1));
}

#[test]
fn a_compaction_by_hand_is_followed_by_a_handoff_with_the_next_message() {
    let fixture = ModFixture::new(agent());
    let mut terminal = fixture.proposed();
    terminal.enter("/compact keep the names", "/compact keep the names");
    terminal.wait_for(&["Compacted", "98% left"]);
    is_asked_with_instructions(&fixture, "keep the names");
    assert_eq!((fixture.compactions_by("user"), fixture.compactions_by("rawr")), (1, 0));
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    is_handed_over_once(&fixture, "user");
    assert_eq!(fixture.asked(PACKET_REQUEST), 1);
}

#[test]
fn a_compaction_by_claude_code_has_instructions_and_a_handoff() {
    let fixture = ModFixture::new(busy_agent());
    let mut terminal = fixture.start(&["--autocompact", "100000"]);
    terminal.enter("BIG work", "BIG work");
    terminal.wait_for(&[READING]);
    terminal.enter("STILL failing in the same place", "STILL failing in the same place");
    terminal.wait_for(&[SEEN]);
    is_asked_with_instructions(&fixture, "");
    wait_until("the report of the compaction", || fixture.compactions_by("host") == 1);
    // The handoff comes into the turn that was compacted, or with the next message.
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "64% left"]);
    is_handed_over_once(&fixture, "host");
}
