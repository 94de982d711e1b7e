//! The death of rawr and an interruption at the handoff of an app's session: the agent has it, and has not answered yet.

use rawr_tests::mock_responses::ReplyGate;

use super::super::fixture::{HERE, ModFixture, NEXT};
use super::super::handoff::{GOODBYE, LATER, came_once, waiting_at};
use super::deaths::{RAWR, SIDECAR, another, process};
use super::fixture::{App, in_an_app};
use crate::processes::kill;

fn handed_over(gate: &ReplyGate) -> (ModFixture, App) {
    let fixture = in_an_app(waiting_at("AND-NOW", gate));
    let mut app = App::proposed(&fixture);
    app.says(NEXT);
    fixture.until_asked("AND-NOW");
    (fixture, app)
}

fn goes_on(fixture: &ModFixture, mut app: App) {
    app.wait_for(HERE);
    app.until_idle();
    app.says(LATER);
    app.wait_for(GOODBYE);
    app.until_idle();
    came_once(fixture);
    app.ends();
}

#[test]
fn rawr_killed_at_the_handoff_of_an_app_hands_nothing_over_twice() {
    let gate = ReplyGate::new();
    let (fixture, app) = handed_over(&gate);
    let dead = process(&app, RAWR);
    kill(dead);
    another(&app, dead);
    gate.open();
    goes_on(&fixture, app);
}

#[test]
fn a_sidecar_killed_at_the_handoff_of_an_app_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, app) = handed_over(&gate);
    kill(process(&app, SIDECAR));
    gate.open();
    goes_on(&fixture, app);
}

#[test]
fn an_interruption_at_the_handoff_leaves_the_message_and_the_handoff_in_the_conversation() {
    let gate = ReplyGate::new();
    let (fixture, mut app) = handed_over(&gate);
    app.interrupts();
    app.until_idle();
    gate.open();
    app.says(LATER);
    app.wait_for(GOODBYE);
    came_once(&fixture);
    app.ends();
}
