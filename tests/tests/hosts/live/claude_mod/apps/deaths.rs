//! The death or stall of any process of an app's session: no message is lost or delivered twice, and the history is rewritten at
//! most once.

use std::time::Duration;

use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::super::deaths::{is_delivered_after_the_compaction, passes_uncompacted};
use super::super::fixture::{HERE, ModFixture, NEXT};
use super::fixture::{AGAIN, App, held_for_the_compaction, held_for_the_packet};
use crate::processes::kill;

pub const RAWR: &str = "rawr claude-mod";
pub const SIDECAR: &str = "rawr serve";
pub const CLAUDE: &str = "--plugin-dir";
/// Longer than rawr keeps a message that Claude Code does not ask about.
pub const STALL: Duration = Duration::from_secs(15);

pub fn process(app: &App, words: &str) -> Pid {
    app.processes(words)[0]
}

pub fn another(app: &App, dead: Pid) {
    wait_until("another rawr", || app.processes(RAWR).iter().any(|pid| *pid != dead));
}

#[test]
fn a_message_of_an_app_passes_if_rawr_is_killed_during_the_packet() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_packet(&gate);
    let dead = process(&app, RAWR);
    kill(dead);
    another(&app, dead);
    app.wait_for(HERE);
    gate.open();
    passes_uncompacted(&fixture);
    app.ends();
}

#[test]
fn rawr_killed_during_the_compaction_of_an_app_is_started_again() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_compaction(&gate);
    kill(process(&app, RAWR));
    gate.open();
    app.wait_for(HERE);
    is_delivered_after_the_compaction(&fixture);
    app.ends();
}

#[test]
fn a_sidecar_killed_during_the_packet_of_an_app_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_packet(&gate);
    kill(process(&app, SIDECAR));
    gate.open();
    app.wait_for(HERE);
    fixture.handed_over_before(NEXT);
    is_delivered_after_the_compaction(&fixture);
    app.ends();
}

#[test]
fn a_sidecar_killed_during_the_compaction_of_an_app_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_compaction(&gate);
    kill(process(&app, SIDECAR));
    gate.open();
    app.wait_for(HERE);
    is_delivered_after_the_compaction(&fixture);
    app.ends();
}

fn dies_and_is_resumed(fixture: &ModFixture, app: App) -> App {
    let session_id = fixture.session_id();
    kill(process(&app, CLAUDE));
    app.has_ended();
    App::start_with(fixture, &json!({ "resume": session_id }))
}

/// The app has the message still, and nothing of it is in the conversation.
#[test]
fn a_message_of_an_app_that_waited_is_never_said_without_the_person() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_packet(&gate);
    gate.open();
    let mut app = dies_and_is_resumed(&fixture, app);
    app.wait_for("waited when Claude Code ended");
    app.says(NEXT);
    app.wait_for(HERE);
    app.ends();
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
    assert_eq!((fixture.asked("AND-NOW"), fixture.compactions()), (1, 0));
}

/// What is in the conversation and not answered is not compacted away.
#[test]
fn a_message_of_an_app_is_read_as_it_was_with_claude_code_killed_during_the_compaction() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_compaction(&gate);
    fixture.until_recorded(NEXT);
    let mut app = dies_and_is_resumed(&fixture, app);
    gate.open();
    app.wait_for("% left");
    app.says(AGAIN);
    app.wait_for(HERE);
    app.ends();
    let heard = fixture.heard_with("AND-NOW");
    assert_eq!(heard.iter().map(|text| text.trim_end()).collect::<Vec<_>>(), [NEXT, AGAIN]);
    assert_eq!((fixture.rewritten(), fixture.asked("[rawr:")), (0, 0));
}

/// rawr does not wait for an answer that may never come, and the message is still Claude Code's.
#[test]
fn a_sequence_ends_while_claude_code_is_stalled_during_the_packet_of_an_app() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_packet(&gate);
    let stalled = process(&app, CLAUDE);
    kill_process(stalled, Signal::STOP).unwrap();
    wait_until("the end of the sequence", || fixture.events().contains(r#""ending":"cancelled""#));
    kill_process(stalled, Signal::CONT).unwrap();
    gate.open();
    app.wait_for(HERE);
    passes_uncompacted(&fixture);
    app.ends();
}

#[test]
fn a_message_of_an_app_comes_once_if_claude_code_is_stalled_during_the_compaction() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_compaction(&gate);
    let stalled = process(&app, CLAUDE);
    kill_process(stalled, Signal::STOP).unwrap();
    gate.open();
    std::thread::sleep(STALL);
    kill_process(stalled, Signal::CONT).unwrap();
    app.wait_for(HERE);
    is_delivered_after_the_compaction(&fixture);
    app.ends();
}

#[test]
fn a_message_of_an_app_passes_if_all_of_rawr_is_stalled_during_the_packet() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_packet(&gate);
    let stalled = [process(&app, RAWR), process(&app, SIDECAR)];
    for process in stalled {
        kill_process(process, Signal::STOP).unwrap();
    }
    app.wait_for(HERE);
    assert_eq!((fixture.asked("AND-NOW"), fixture.rewritten()), (1, 0));
    for process in stalled {
        // The process may have been killed.
        let _ = kill_process(process, Signal::CONT);
    }
    gate.open();
    passes_uncompacted(&fixture);
    app.ends();
}

#[test]
fn rawr_stalled_during_the_compaction_of_an_app_is_replaced() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_compaction(&gate);
    let stalled = process(&app, RAWR);
    kill_process(stalled, Signal::STOP).unwrap();
    gate.open();
    app.wait_for(HERE);
    is_delivered_after_the_compaction(&fixture);
    another(&app, stalled);
    app.ends();
}

/// An app has no input box that rawr could put it in.
#[test]
fn an_app_is_told_what_waited_when_claude_code_was_killed_during_the_packet() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_packet(&gate);
    gate.open();
    let app = dies_and_is_resumed(&fixture, app);
    app.wait_for("waited when Claude Code ended");
    app.wait_for(NEXT);
    app.ends();
}

/// Without that, a later compaction would wait for the end of a turn that is over.
#[test]
fn the_turn_of_a_message_that_passed_because_rawr_was_killed_is_recorded_as_completed() {
    let gate = ReplyGate::new();
    let (fixture, app) = held_for_the_packet(&gate);
    kill(process(&app, RAWR));
    app.wait_for(HERE);
    gate.open();
    let completed = || fixture.events().matches(r#""turn_completed""#).count();
    wait_until("the end of its turn", || completed() > 1);
    app.ends();
    let events = fixture.events();
    assert_eq!(completed(), 2, "{events}");
    assert!(!events.contains(r#""status":"interrupted""#), "{events}");
}
