//! Half an emoji, which JavaScript writes where it cut one, in what the real agent says.

use rawr_tests::mock_responses::{HALF_AN_EMOJI, TurnScript, reply};

use super::fixture::{
    COMMIT, HERE, ModFixture, NEXT, PACKET, PACKET_REQUEST, WRITTEN, agent, shell,
};

/// An agent whose answer and packet hold one.
pub fn cutting() -> TurnScript {
    let written = format!("{WRITTEN} {HALF_AN_EMOJI}");
    let turn = [shell(COMMIT).input_tokens(100_000), reply(&written).input_tokens(101_000)];
    let packet = PACKET.replace("plain text", &format!("plain {HALF_AN_EMOJI} text"));
    let script = agent().on_first("WRITE-PARSER", turn);
    script.on_first(PACKET_REQUEST, [reply(&packet).input_tokens(102_000)])
}

/// The whole sequence takes place, and of the packet only this character is another.
pub fn nothing_else_is_lost(fixture: &ModFixture) {
    fixture.handed_over_before(NEXT);
    let told = fixture.requests().pop().unwrap().reminders().concat();
    assert!(told.contains("Decisions: plain \u{fffd} text, no macros"), "{told}");
    fixture.until_rewritten(1);
    assert_eq!((fixture.compactions_by("rawr"), fixture.asked(PACKET_REQUEST)), (1, 1));
    assert_eq!(fixture.asked("AND-NOW"), 1);
}

#[test]
fn half_an_emoji_loses_nothing_of_the_sequence() {
    let fixture = ModFixture::new(cutting());
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    nothing_else_is_lost(&fixture);
}
