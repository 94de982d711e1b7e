//! The context window of an app's session changes.

use rawr_tests::claude::MODEL;
use serde_json::json;

use super::super::fixture::{HERE, NEXT, PROPOSED, TASK, agent};
use super::super::windows::{DONE, MORE, UNKNOWN, WIDE, busy, is_compacted_before_the_message};
use super::fixture::{App, in_an_app};

#[test]
fn with_a_model_of_a_smaller_window_rawr_proposes_in_an_app() {
    let fixture = in_an_app(busy());
    let mut app = App::start_with(&fixture, &json!({ "model": WIDE }));
    app.says(TASK);
    app.wait_for("91% left");
    app.until_idle();
    app.goes_on_with(MODEL);
    app.says(MORE);
    app.wait_for(DONE);
    app.wait_for(PROPOSED);
    app.until_idle();
    assert_eq!(fixture.events().matches(r#""defer""#).count(), 1, "{}", fixture.events());
    app.says(NEXT);
    app.wait_for(HERE);
    app.wait_for("86% left");
    app.ends();
    is_compacted_before_the_message(&fixture);
}

#[test]
fn a_session_that_goes_on_with_a_model_of_a_larger_window_is_not_compacted_in_an_app() {
    let fixture = in_an_app(busy());
    let app = App::proposed(&fixture);
    let session_id = fixture.session_id();
    app.ends();
    let mut app = App::start_with(&fixture, &json!({ "resume": session_id, "model": WIDE }));
    app.wait_for("% left");
    app.says(NEXT);
    app.wait_for(HERE);
    app.wait_for("98% left");
    app.ends();
    assert_eq!((fixture.compactions(), fixture.asked("AND-NOW")), (0, 1), "{}", fixture.events());
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
}

#[test]
fn the_window_of_a_model_that_no_table_knows_is_claude_codes_in_an_app() {
    let fixture = in_an_app(agent());
    let mut app = App::start_with(&fixture, &json!({ "model": UNKNOWN }));
    app.says(TASK);
    app.wait_for("90% left");
    app.wait_for(PROPOSED);
    app.until_idle();
    app.says(NEXT);
    app.wait_for(HERE);
    app.wait_for("98% left");
    app.ends();
    is_compacted_before_the_message(&fixture);
}
