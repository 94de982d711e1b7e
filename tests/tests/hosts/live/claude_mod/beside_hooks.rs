//! rawr's hooks and rawr's plugin in the same Claude Code: only the plugin acts.

use super::fixture::{HERE, ModFixture, NEXT, PACKET_REQUEST, agent};

#[test]
fn hooks_leave_a_session_with_the_plugin_alone() {
    let fixture = ModFixture::new(agent());
    fixture.says(&["hooks", "install", "--claude"]);
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    assert_eq!((fixture.asked(PACKET_REQUEST), fixture.compactions()), (1, 1));
    fixture.handed_over_before(NEXT);
    let log = fixture.home.path().join("rawr/hooks.log");
    assert_eq!(std::fs::read_to_string(log).unwrap_or_default(), "");
}
