//! rawr's plugin in a user's own Claude Code: the real program on a terminal with a scripted model.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod absent;
mod again;
mod approval;
mod apps;
mod beside_hooks;
mod deaths;
pub mod fixture;
mod handoff;
mod judged;
mod own_compactions;
mod person;
mod races;
mod refused;
mod silent;
mod unreadable;
mod windows;

use fixture::{
    AT_ONCE, BEFORE_THE_NEXT, GOES_ON, HERE, ModFixture, NEXT, PACKET_REQUEST, TASK, WRITTEN,
    agent, input_box, paste_and_send,
};
use rawr_tests::claude::binary_before;

fn a_confirmed_proposal_is_compacted_before_the_message_in(fixture: &ModFixture) {
    let mut terminal = fixture.proposed();
    // The packet is asked for as soon as a compaction is proposed.
    fixture.until_asked(PACKET_REQUEST);
    assert_eq!(fixture.compactions(), 0);
    terminal.enter(NEXT, NEXT);
    let screen = terminal.wait_for(&[HERE, "86% left"]);
    assert_eq!(input_box(&screen), "", "{screen}");
    assert_eq!((fixture.compactions(), fixture.asked(PACKET_REQUEST)), (1, 1));
    fixture.handed_over_before(NEXT);
    let decisions = fixture.says(&["explain", "--list", "last"]);
    assert!(decisions.contains("the next message opens something new"), "{decisions}");
    assert!(decisions.contains("carried out"), "{decisions}");
    assert_eq!(fixture.compactions_by("rawr"), 1);
}

#[test]
fn a_confirmed_proposal_is_compacted_before_the_message() {
    a_confirmed_proposal_is_compacted_before_the_message_in(&ModFixture::new(agent()));
}

#[test]
fn the_previous_release_of_claude_code_does_the_same() {
    let fixture = ModFixture::new(agent()).on(binary_before());
    a_confirmed_proposal_is_compacted_before_the_message_in(&fixture);
}

#[test]
fn without_a_confirmation_the_agent_continues_by_itself() {
    let fixture = ModFixture::new(agent()).configured(AT_ONCE);
    let mut terminal = fixture.start(&[]);
    terminal.enter(TASK, TASK);
    let screen = terminal.wait_for(&[WRITTEN, GOES_ON, "88% left"]);
    assert_eq!(input_box(&screen), "", "{screen}");
    assert_eq!((fixture.compactions(), fixture.asked(PACKET_REQUEST)), (1, 1));
    assert_eq!(fixture.asked("[rawr:"), 1);
}

/// Claude Code puts what was pasted into a tag with a random id.
fn without_ids(texts: &[String]) -> Vec<String> {
    let is_id = |part: &&str| part.len() == 4 && part.chars().all(|c| c.is_ascii_hexdigit());
    let parts = texts.iter().map(|text| text.split('"').filter(|part| !is_id(part)));
    parts.map(|parts| parts.collect::<Vec<_>>().join("\"")).collect()
}

/// What a held message becomes is what Claude Code itself makes of it.
fn is_delivered_as_by_claude_code(message: &str) {
    let said = || {
        let fixture = ModFixture::new(agent()).configured(BEFORE_THE_NEXT);
        (fixture.start(&[]), fixture)
    };
    let (mut terminal, passing) = said();
    paste_and_send(&mut terminal, message);
    passing.until_asked("AND-NOW");
    let expected = passing.heard_with("AND-NOW");

    let (mut terminal, holding) = said();
    terminal.enter(TASK, TASK);
    terminal.wait_for(&[WRITTEN, "Compacting before your next message"]);
    paste_and_send(&mut terminal, message);
    holding.until_asked("AND-NOW");
    let screen = terminal.wait_for(&[HERE, "86% left"]);
    assert_eq!(input_box(&screen), "", "{screen}");
    assert_eq!(without_ids(&holding.heard_with("AND-NOW")), without_ids(&expected));
    assert_eq!(holding.asked("AND-NOW"), 1);
    assert_eq!(holding.compactions(), 1);
    assert_eq!(expected.len(), 1);
}

#[test]
fn a_held_message_of_many_kinds_of_characters_is_delivered_unchanged() {
    is_delivered_as_by_claude_code(
        "AND-NOW «größe» 日本語 👩‍👩‍👧 \u{202e}abc\u{202c} e\u{301} \\n $HOME `x` <b>",
    );
}

#[test]
fn a_held_message_of_several_lines_is_delivered_unchanged() {
    is_delivered_as_by_claude_code("AND-NOW\n\n  - one\n\t- two\n\n\nend");
}

#[test]
fn a_held_message_keeps_its_spaces() {
    is_delivered_as_by_claude_code("   AND-NOW the docs   ");
}

#[test]
fn a_held_message_of_20_kb_is_delivered_unchanged() {
    let lines: Vec<_> = (0..400).map(|at| format!("{at}: {}", "word ".repeat(10))).collect();
    is_delivered_as_by_claude_code(&format!("AND-NOW {}", lines.join("\n")));
}
