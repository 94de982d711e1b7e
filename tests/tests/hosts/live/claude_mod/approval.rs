//! Mode `ask`: the band above the input box, its keys, and answers from another terminal.

use rawr_tests::{Terminal, wait_until};

use super::fixture::{GOES_ON, ModFixture, TASK, WRITTEN, agent, input_box};

const ASK: &str = "[rawr_auto_compaction]\npreset = \"spec\"\nmode = \"ask\"\n";

/// The title of the band.
const BAND: &str = "rawr: Waiting for your approval";

/// ctrl+x tab
const FOCUS: &str = "\x18\t";

fn asked() -> (ModFixture, Terminal) {
    let fixture = ModFixture::new(agent()).configured(ASK);
    let mut terminal = fixture.start(&[]);
    terminal.enter(TASK, TASK);
    terminal.wait_for(&[WRITTEN, BAND, "a: Approve", "n: Not now", "s: Skip this one"]);
    (fixture, terminal)
}

/// What became of the sequence.
fn is_answered_with(fixture: &ModFixture, choice: &str) {
    let answered = format!(r#""choice":"{choice}""#);
    assert_eq!(fixture.events().matches(&answered).count(), 1, "{}", fixture.events());
}

#[test]
fn a_key_in_the_band_approves() {
    let (fixture, mut terminal) = asked();
    terminal.press(FOCUS);
    terminal.press("a");
    terminal.wait_for(&[GOES_ON, "88% left"]);
    terminal.wait_until_gone(BAND);
    assert_eq!(fixture.compactions(), 1);
}

#[test]
fn a_key_in_the_band_snoozes() {
    let (fixture, mut terminal) = asked();
    terminal.press(FOCUS);
    terminal.press("n");
    terminal.wait_until_gone(BAND);
    terminal.wait_for(&["40% left · guarded"]);
    is_answered_with(&fixture, "snooze");
    assert_eq!(fixture.compactions(), 0);
}

#[test]
fn a_key_in_the_band_cancels() {
    let (fixture, mut terminal) = asked();
    terminal.press(FOCUS);
    terminal.press("s");
    terminal.wait_until_gone(BAND);
    is_answered_with(&fixture, "cancel");
    assert_eq!(fixture.compactions(), 0);
}

#[test]
fn another_terminal_approves() {
    let (fixture, terminal) = asked();
    fixture.says(&["compact", "last", "--approve"]);
    terminal.wait_for(&[GOES_ON, "88% left"]);
    terminal.wait_until_gone(BAND);
    assert_eq!(fixture.compactions(), 1);
}

/// What is typed goes to the agent instead.
#[test]
fn what_is_typed_into_the_input_box_never_answers() {
    for typed in ["1", "a", "approve"] {
        let (fixture, mut terminal) = asked();
        terminal.press(typed);
        wait_until("what was typed", || input_box(&terminal.wait_for(&[])) == typed);
        assert!(terminal.wait_for(&[]).contains(BAND));
        terminal.press("\r");
        wait_until("the message", || {
            fixture.heard_with(typed).last().is_some_and(|it| it == typed)
        });
        terminal.wait_for(&["● ok"]);
        assert_eq!(fixture.compactions(), 0);
        assert!(!fixture.events().contains(r#""choice""#), "{}", fixture.events());
    }
}
