//! The plugin is loaded again in the middle of a sequence.

use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::wait_until;

use super::deaths::{another_rawr, is_delivered_after_the_compaction, rawr};
use super::fixture::{
    HERE, ModFixture, NEXT, PACKET_REQUEST, PROPOSED, agent, held_for_the_packet,
};

const RELOAD: &str = "/reload-plugins";

#[test]
fn a_proposal_and_its_packet_outlive_a_reload_of_the_plugin() {
    let fixture = ModFixture::new(agent()).with_own_plugin();
    let mut terminal = fixture.proposed();
    wait_until("the packet", || fixture.events().contains("Next: write the docs of parser.txt"));
    let before = rawr(&terminal);
    fixture.update_plugin();
    terminal.enter(RELOAD, RELOAD);
    terminal.wait_for(&["Reloaded: 1 plugin"]);
    another_rawr(&terminal, before);
    terminal.wait_for(&[PROPOSED]);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    fixture.handed_over_before(NEXT);
    is_delivered_after_the_compaction(&fixture);
    assert_eq!(fixture.asked(PACKET_REQUEST), 1);
}

/// Claude Code keeps the command until the turn of the message has ended.
#[test]
fn a_reload_while_a_message_waits_comes_after_it() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = held_for_the_packet(&gate);
    terminal.enter(RELOAD, RELOAD);
    terminal.wait_for(&["Press up to edit queued messages"]);
    gate.open();
    terminal.wait_for(&[HERE, "86% left", "Reloaded: 1 plugin"]);
    fixture.handed_over_before(NEXT);
    is_delivered_after_the_compaction(&fixture);
}
