//! Sessions without a screen, as the desktop app and the extension for VS Code run them: with Anthropic's own client.

mod again;
mod deaths;
mod fixture;
mod handoff;
mod person;
mod refused;
mod unreadable;
mod windows;

pub use deaths::STALL;
use fixture::{App, in_an_app};

use super::fixture::{ModFixture, NEXT, TASK, agent};

#[test]
fn a_confirmed_proposal_is_compacted_before_the_message_in_an_app() {
    let fixture = in_an_app(agent());
    let mut app = App::proposed(&fixture);
    app.says(NEXT);
    fixture.until_asked("AND-NOW");
    app.ends();
    fixture.until_rewritten(1);
    assert_eq!((fixture.asked("AND-NOW"), fixture.rewritten()), (1, 1));
    fixture.handed_over_before(NEXT);
    assert_eq!(fixture.compactions_by("rawr"), 1);
}

#[test]
fn a_person_compacts_a_session_of_an_app_from_a_terminal() {
    let fixture =
        ModFixture::new(agent()).with_variable("CLAUDE_CODE_ENTRYPOINT", "claude-desktop");
    let app = App::proposed(&fixture);
    fixture.says(&["compact", "last"]);
    fixture.until_asked("[rawr:");
    app.ends();
    fixture.until_rewritten(1);
    assert_eq!((fixture.rewritten(), fixture.compactions_by("rawr")), (1, 1));
}

/// Scripts and one-shot commands.
#[test]
fn a_program_that_is_no_app_is_left_alone() {
    let fixture = ModFixture::new(agent()).with_variable("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    let mut app = App::start(&fixture);
    app.says(TASK);
    fixture.until_asked("WRITE-PARSER");
    app.ends();
    assert_eq!(fixture.events(), "");
}
