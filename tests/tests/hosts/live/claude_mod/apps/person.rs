//! What a person does in an app while a sequence runs, and with the session.

use rawr_tests::mock_responses::{ReplyGate, reply};
use rawr_tests::wait_until;
use serde_json::json;

use super::super::fixture::{HERE, NEXT, PACKET_REQUEST, agent};
use super::super::own_compactions::{
    READING, SEEN, busy_agent, is_asked_with_instructions, is_handed_over_once,
};
use super::super::person::ends;
use super::fixture::{
    AGAIN, App, NOT_AHEAD, held_for_the_compaction, held_for_the_packet, held_with, in_an_app,
};

/// The first waits for the compaction, and the second for the turn of the first.
#[test]
fn messages_during_the_packet_come_once_and_in_order_behind_the_handoff() {
    let gate = ReplyGate::new();
    let script = agent().behind(PACKET_REQUEST, 0, &gate);
    let script = script.on_first("LAST-WORD", [reply("Goodbye.").input_tokens(25_000)]);
    let (fixture, mut app) = held_with(script);
    app.says("LAST-WORD of today");
    assert_eq!((fixture.asked("AND-NOW"), fixture.compactions()), (0, 0));
    gate.open();
    app.wait_for("Goodbye.");
    app.ends();
    let requests = fixture.requests();
    let first = requests.iter().find(|request| request.marker.as_deref() == Some("AND-NOW"));
    let told = first.unwrap().reminders().concat();
    assert_eq!(told.matches(":handoff]").count(), 1, "{told}");
    let said = requests.last().unwrap().user_texts();
    assert_eq!(said[said.len() - 2..], [NEXT, "LAST-WORD of today"]);
    assert_eq!((fixture.asked("AND-NOW"), fixture.asked("LAST-WORD")), (1, 1));
    fixture.until_rewritten(1);
    assert_eq!((fixture.asked(PACKET_REQUEST), fixture.compactions_by("rawr")), (1, 1));
}

/// The message is no part of the conversation then, as without rawr, and the app has it still.
#[test]
fn an_interruption_during_the_packet_takes_the_message_back() {
    let gate = ReplyGate::new();
    let (fixture, mut app) = held_for_the_packet(&gate);
    app.interrupts();
    ends(&fixture, "cancelled");
    gate.open();
    app.until_idle();
    assert_eq!((fixture.compactions(), fixture.asked("AND-NOW")), (0, 0));
    app.says(NEXT);
    app.wait_for(HERE);
    app.ends();
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (0, 1));
    assert_eq!(fixture.heard_with("AND-NOW"), [NEXT]);
}

/// The conversation has the message already, as of a turn that is interrupted.
#[test]
fn an_interruption_during_the_compaction_leaves_the_conversation_as_it_was() {
    let gate = ReplyGate::new();
    let (fixture, mut app) = held_for_the_compaction(&gate);
    app.interrupts();
    ends(&fixture, "failed");
    gate.open();
    app.until_idle();
    app.says(AGAIN);
    app.wait_for(HERE);
    app.ends();
    assert_eq!((fixture.rewritten(), fixture.asked("AND-NOW")), (0, 1));
    let heard = fixture.heard_with("AND-NOW");
    assert_eq!(heard.iter().map(|text| text.trim_end()).collect::<Vec<_>>(), [NEXT, AGAIN]);
}

#[test]
fn a_compaction_by_hand_in_an_app_is_followed_by_a_handoff_with_the_next_message() {
    let fixture = in_an_app(agent());
    let mut app = App::proposed(&fixture);
    app.says("/compact keep the names");
    wait_until("the report of the compaction", || fixture.compactions_by("user") == 1);
    app.until_idle();
    is_asked_with_instructions(&fixture, "keep the names");
    app.says(NEXT);
    app.wait_for(HERE);
    app.ends();
    is_handed_over_once(&fixture, "user");
    assert_eq!(fixture.asked(PACKET_REQUEST), 1);
}

#[test]
fn a_compaction_by_claude_code_in_an_app_has_instructions_and_a_handoff() {
    let fixture = in_an_app(busy_agent());
    let options = json!({"extraArgs": {"autocompact": "100000"}});
    let mut app = App::start_with(&fixture, &options);
    app.says("BIG work");
    app.wait_for(READING);
    app.until_idle();
    app.says("STILL failing in the same place");
    app.wait_for(SEEN);
    is_asked_with_instructions(&fixture, "");
    wait_until("the report of the compaction", || fixture.compactions_by("host") == 1);
    app.until_idle();
    app.says(NEXT);
    app.wait_for(HERE);
    app.ends();
    is_handed_over_once(&fixture, "host");
}

#[test]
fn two_sessions_in_one_repository_are_compacted_at_the_same_time() {
    let gate = ReplyGate::new();
    let script = agent().behind(PACKET_REQUEST, 0, &gate);
    let fixture = in_an_app(script).configured(NOT_AHEAD);
    let messages = [NEXT, "Great, that works. Next: AND-NOW write the tests of the lexer"];
    let apps = messages.map(|message| {
        let mut app = App::proposed(&fixture);
        app.says(message);
        app.wait_for("Compacting soon");
        app
    });
    wait_until("both packets", || fixture.asked(PACKET_REQUEST) == 2);
    assert_eq!(fixture.asked("AND-NOW"), 0);
    gate.open();
    for app in apps {
        app.wait_for(HERE);
        app.ends();
    }
    let requests = fixture.requests();
    let handoffs = messages.map(|message| {
        let of_it = requests.iter().filter(|request| request.user_texts().contains(&message));
        let [request] = of_it.collect::<Vec<_>>()[..] else { panic!("{message} came twice") };
        assert_eq!(request.user_texts().last(), Some(&message));
        let told = request.reminders().concat();
        let [before, _] = told.split(":handoff]").collect::<Vec<_>>()[..] else {
            panic!("not one handoff: {told}")
        };
        before.rsplit_once("[rawr:").unwrap().1.to_owned()
    });
    assert_ne!(handoffs[0], handoffs[1]);
    fixture.until_rewritten(2);
    assert_eq!((fixture.asked("AND-NOW"), fixture.compactions_by("rawr")), (2, 2));
}
