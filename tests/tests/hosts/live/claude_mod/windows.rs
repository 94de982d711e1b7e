//! The context window changes: the person goes on with another model, or no table knows the model.

use rawr_tests::Terminal;
use rawr_tests::claude::MODEL;
use rawr_tests::mock_responses::{TurnScript, reply};

use super::fixture::{COMMIT, HERE, ModFixture, NEXT, PROPOSED, TASK, WRITTEN, agent, shell};

/// The model of the other tests, with a window of a million tokens.
pub const WIDE: &str = "claude-sonnet-4-5[1m]";

pub const UNKNOWN: &str = "acme-large-1";

const YES: &str = r#"{"should_compact": true, "reason": "The work is done."}"#;

pub const DONE: &str = "The lexer is committed, too.";
pub const MORE: &str = "TEST-IT and commit";

/// An agent that leaves half of a usual window, and commits a second time.
pub fn busy() -> TurnScript {
    let first = [shell(COMMIT).input_tokens(90_000), reply(WRITTEN).input_tokens(91_000)];
    let commit = "printf 'lex\\n' > lexer.txt && git add -A && git commit -q -m 'Add the lexer'";
    let more = [shell(commit).input_tokens(94_000), reply(DONE).input_tokens(95_000)];
    agent().on_first("WRITE-PARSER", first).on_first("TEST-IT", more)
}

fn switch(terminal: &mut Terminal, model: &str) {
    let command = format!("/model {model}");
    terminal.enter(&command, &command);
    terminal.wait_for(&["Set model to"]);
}

/// One compaction, with the handoff before the message.
pub fn is_compacted_before_the_message(fixture: &ModFixture) {
    fixture.handed_over_before(NEXT);
    fixture.until_rewritten(1);
    assert_eq!((fixture.compactions_by("rawr"), fixture.asked("AND-NOW")), (1, 1));
}

#[test]
fn with_a_model_of_a_smaller_window_rawr_proposes() {
    let fixture = ModFixture::new(busy()).with_variable("ANTHROPIC_MODEL", WIDE);
    let mut terminal = fixture.start(&[]);
    terminal.enter(TASK, TASK);
    terminal.wait_for(&[WRITTEN, "91% left"]);
    switch(&mut terminal, MODEL);
    terminal.enter(MORE, MORE);
    terminal.wait_for(&[DONE, "43% left", PROPOSED]);
    assert_eq!(fixture.events().matches(r#""defer""#).count(), 1, "{}", fixture.events());
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    is_compacted_before_the_message(&fixture);
}

#[test]
fn with_a_model_of_a_larger_window_rawr_compacts_no_more() {
    let no = r#"{"should_compact": false, "reason": "It asks about the parser."}"#;
    let fixture = ModFixture::new(busy().on_judgment([reply(no), reply(YES)]));
    let mut terminal = fixture.proposed();
    terminal.wait_for(&["45% left"]);
    switch(&mut terminal, WIDE);
    terminal.enter(MORE, MORE);
    terminal.wait_for(&[DONE, "90% left"]);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "98% left"]);
    assert_eq!((fixture.compactions(), fixture.asked("AND-NOW")), (0, 1), "{}", fixture.events());
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
}

#[test]
fn with_a_model_of_a_larger_window_the_next_message_goes_at_once() {
    let fixture = ModFixture::new(busy());
    let mut terminal = fixture.proposed();
    switch(&mut terminal, WIDE);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "98% left"]);
    assert_eq!((fixture.compactions(), fixture.asked("AND-NOW")), (0, 1), "{}", fixture.events());
}

/// Claude Code assumes a large one.
#[test]
fn the_window_of_a_model_that_no_table_knows_is_claude_codes() {
    let fixture = ModFixture::new(agent()).with_variable("ANTHROPIC_MODEL", UNKNOWN);
    let mut terminal = fixture.start(&[]);
    terminal.enter(TASK, TASK);
    terminal.wait_for(&[WRITTEN, "90% left", PROPOSED]);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "98% left"]);
    is_compacted_before_the_message(&fixture);
}

#[test]
fn the_window_of_a_model_that_no_table_knows_is_the_persons() {
    let fixture =
        ModFixture::new(agent()).with_variable("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "200000");
    let mut terminal = fixture.start(&["--model", UNKNOWN]);
    terminal.enter(TASK, TASK);
    terminal.wait_for(&[WRITTEN, "40% left", PROPOSED]);
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&[HERE, "86% left"]);
    is_compacted_before_the_message(&fixture);
}
