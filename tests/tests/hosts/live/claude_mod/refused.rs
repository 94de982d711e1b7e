//! The model refuses the message that comes with its handoff.

use rawr_tests::mock_responses::{ScriptedAnswer, TurnScript, reply};
use rawr_tests::wait_until;

use super::fixture::{HERE, ModFixture, NEXT, agent};

pub const AGAIN: &str = "TRY-AGAIN, please";

/// A model that refuses the message whatever comes with it.
pub fn refusing() -> TurnScript {
    let too_long = ScriptedAnswer::Http {
        status: 400,
        message: "prompt is too long: 250000 tokens > 200000 maximum".to_owned(),
    };
    let script = agent().on_first("AND-NOW", [too_long.into()]);
    script.on_first("TRY-AGAIN", [reply(HERE).input_tokens(24_000)])
}

/// Claude Code has compacted by itself and tried once more.
pub fn until_given_up(fixture: &ModFixture) {
    wait_until("the end of the turn", || {
        fixture.events().contains(r#""status":"failed""#) && fixture.asked("AND-NOW") == 2
    });
}

/// The message is in the conversation once, and the agent has the handoff of each compaction.
pub fn is_kept(fixture: &ModFixture) {
    let last = fixture.requests().pop().unwrap();
    let said = last.user_texts();
    let times = said.iter().filter(|text| text.trim_end() == NEXT).count();
    assert_eq!((times, said.last()), (1, Some(&AGAIN)), "{said:#?}");
    assert_eq!((fixture.compactions_by("rawr"), fixture.compactions_by("host")), (1, 1));
    let told = last.reminders().concat();
    assert_eq!(told.matches(":handoff]").count(), 2, "{told}");
    assert!(told.contains("Next: write the docs of parser.txt"), "{told}");
}

#[test]
fn a_message_that_is_refused_with_its_handoff_stays_in_the_conversation() {
    let fixture = ModFixture::new(refusing());
    let mut terminal = fixture.proposed();
    terminal.enter(NEXT, NEXT);
    terminal.wait_for(&["Context limit reached"]);
    until_given_up(&fixture);
    terminal.enter(AGAIN, AGAIN);
    terminal.wait_for(&[HERE, "86% left"]);
    is_kept(&fixture);
}
