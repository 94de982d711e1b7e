//! Half an emoji in what the agent of an app says.

use super::super::fixture::{HERE, NEXT};
use super::super::unreadable::{cutting, nothing_else_is_lost};
use super::fixture::{App, in_an_app};

#[test]
fn half_an_emoji_loses_nothing_of_the_sequence_in_an_app() {
    let fixture = in_an_app(cutting());
    let mut app = App::proposed(&fixture);
    app.says(NEXT);
    app.wait_for(HERE);
    app.ends();
    nothing_else_is_lost(&fixture);
}
