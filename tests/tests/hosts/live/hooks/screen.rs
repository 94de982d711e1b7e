//! rawr's hooks in Claude Code on a screen.

use super::session;
use crate::hooks::fixture::HooksFixture;

#[test]
fn the_user_is_told_when_to_compact_and_the_packet_is_returned() {
    let fixture = HooksFixture::new(session());
    let mut terminal = fixture.on_a_screen();
    terminal.enter("WRITE-PARSER please", "WRITE-PARSER please");
    terminal.wait_for(&["Type /compact now"]);
    terminal.enter("/compact", "Free up context by summarizing");
    terminal.wait_for(&["Compacted"]);
    terminal.enter("AND-NOW the docs", "AND-NOW the docs");
    terminal.wait_for(&["The docs are written."]);
    fixture.was_handed_over_before("AND-NOW the docs");
    assert_eq!((fixture.is_open(), fixture.log()), (false, String::new()));
}
