//! The model refuses the message of an app that comes with its handoff.

use super::super::fixture::{HERE, NEXT};
use super::super::refused::{AGAIN, is_kept, refusing, until_given_up};
use super::fixture::{App, in_an_app};

#[test]
fn a_message_of_an_app_that_is_refused_with_its_handoff_stays_in_the_conversation() {
    let fixture = in_an_app(refusing());
    let mut app = App::proposed(&fixture);
    app.says(NEXT);
    until_given_up(&fixture);
    app.until_idle();
    app.says(AGAIN);
    app.wait_for(HERE);
    app.ends();
    is_kept(&fixture);
}
