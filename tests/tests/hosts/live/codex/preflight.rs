//! `rawr codex --preflight`: if a compaction must come before the next message, the message is held until the handoff. After
//! any failure it is released.

use rawr_tests::mock_responses::{ReplyGate, TurnScript, call, reply};
use rawr_tests::{Terminal, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::deaths::{close, drivers, leave_nothing, nothing_is_left};
use super::fixture::{
    GOES_ON, HANDOFF, HEADS_UP, LiveFixture, PACKET, TASK, agent, leave, type_text,
};
use crate::processes::{kill, processes};

/// A compaction comes before the next message and at no other time.
pub const BEFORE_THE_NEXT: &str =
    "[rawr_auto_compaction.policy.asap]\nrequires_any_boundary = [\"turn_complete\"]\n";

pub const NEXT: &str = "AND-NOW the docs";

/// A turn has ended, and a compaction is put off until the next message.
fn defer_compaction(script: TurnScript) -> (LiveFixture, Terminal) {
    defer_compaction_with(script, BEFORE_THE_NEXT, &[])
}

fn defer_compaction_with(
    script: TurnScript,
    settings: &str,
    arguments: &[&str],
) -> (LiveFixture, Terminal) {
    let gate = ReplyGate::new();
    let fixture = LiveFixture::new(script.behind("WRITE-PARSER", 0, &gate));
    fixture.set(settings);
    let mut terminal = fixture.with_preflight(arguments);
    type_text(&mut terminal, TASK);
    // Turns that end before rawr has joined are not reported.
    wait_until("rawr at its side", || fixture.log().contains(r#""event":"session""#));
    gate.open();
    terminal.wait_for(&["The parser is written."]);
    wait_until("a compaction put off", || fixture.log().contains(r#""phase":"deferred""#));
    (fixture, terminal)
}

/// The next message is typed, and waits for a packet that is not written before the gate opens.
fn waiting_for_a_packet(gate: &ReplyGate) -> (LiveFixture, Terminal) {
    let (fixture, mut terminal) = defer_compaction(agent().behind(":packet_request]", 0, gate));
    type_text(&mut terminal, NEXT);
    wait_until("a packet being written", || asked_for_a_packet(&fixture));
    (fixture, terminal)
}

fn asked_for_a_packet(fixture: &LiveFixture) -> bool {
    fixture.requests().iter().any(|request| request.marker.as_deref() == Some(":packet_request]"))
}

/// What stands there of the person's words and the handoff, in the model's newest request.
pub fn last_heard(fixture: &LiveFixture) -> Vec<&'static str> {
    let last = fixture.requests().pop().unwrap();
    let messages = last.user_messages();
    messages.iter().filter_map(|text| words_in(text).first().copied()).collect()
}

/// Like [`last_heard`], also where several stand in one message.
pub fn said_in_order(fixture: &LiveFixture) -> Vec<&'static str> {
    let last = fixture.requests().pop().unwrap();
    last.user_messages().iter().flat_map(|text| words_in(text)).collect()
}

fn words_in(text: &str) -> Vec<&'static str> {
    const WORDS: [(&str, &str); 3] =
        [("WRITE-PARSER", "task"), (HANDOFF, "handoff"), (NEXT, "next")];
    let found = WORDS.into_iter().filter(|(word, _)| text.contains(word));
    found.map(|(_, name)| name).collect()
}

/// The processes of the relay: what keeps the socket, and what works on it.
fn relays(session: u32) -> (Vec<Pid>, Vec<Pid>) {
    let workers = processes(session, &[" relay ", "--on-stdin"]);
    let all = processes(session, &[" relay "]);
    (all.into_iter().filter(|process| !workers.contains(process)).collect(), workers)
}

/// A new one works on the socket.
fn worker_other_than(session: u32, dead: Pid) -> Pid {
    let mut found = None;
    wait_until("another worker", || {
        found = relays(session).1.into_iter().find(|process| *process != dead);
        found.is_some()
    });
    found.unwrap()
}

/// To a screen that is finding its way back: what is pressed meanwhile comes all at once, and an Enter among it counts as
/// text.
fn insist_on(terminal: &mut Terminal, text: &str) {
    type_text(terminal, text);
    wait_until("an empty line", || {
        let is_sent = terminal.wait_for(&[]).contains("Ask Codex to do anything");
        if !is_sent {
            terminal.press("\r");
        }
        is_sent
    });
}

fn thread_of(fixture: &LiveFixture) -> String {
    let log = fixture.log();
    let session = log.lines().find(|line| line.contains(r#""event":"session""#)).unwrap();
    let session: Value = serde_json::from_str(session).unwrap();
    session["threadId"].as_str().unwrap().to_owned()
}

#[test]
fn the_next_message_is_held_until_the_handoff() {
    let (fixture, mut terminal) = defer_compaction(agent());
    assert_eq!(fixture.compactions(), 0);
    type_text(&mut terminal, NEXT);
    let screen = terminal.wait_for(&["Here you are."]);
    let mut rest = screen.as_str();
    for words in [
        "The parser is written.",
        HEADS_UP,
        "Goal: a parser with docs",
        "Context compacted",
        NEXT,
        "Here you are.",
    ] {
        let Some((_, after)) = rest.split_once(words) else {
            panic!("{words:?} does not stand where it should:\n{screen}\n{}", fixture.log());
        };
        rest = after;
    }
    assert_eq!(last_heard(&fixture), ["task", "handoff", "next"], "{}", fixture.log());
    assert_eq!(fixture.compactions(), 1);
    leave(&mut terminal);
}

/// The screen says it in the moment in which the turn ends.
#[test]
fn a_message_queued_until_the_end_of_the_turn_is_held_until_the_handoff() {
    let gate = ReplyGate::new();
    let fixture = LiveFixture::new(agent().behind("WRITE-PARSER", 1, &gate));
    fixture.set(BEFORE_THE_NEXT);
    let mut terminal = fixture.with_preflight(&[]);
    type_text(&mut terminal, TASK);
    wait_until("the commit", || fixture.log().contains("tool_finished"));
    terminal.press(NEXT);
    terminal.wait_for(&[NEXT]);
    terminal.press("\t");
    terminal.wait_for(&["Queued follow-up inputs"]);
    gate.open();
    terminal.wait_for(&["Context compacted", "Here you are."]);
    assert_eq!(last_heard(&fixture), ["task", "handoff", "next"], "{}", fixture.log());
    assert_eq!(fixture.compactions(), 1);
    leave(&mut terminal);
}

#[test]
fn without_pressure_messages_pass() {
    let fixture =
        LiveFixture::new(agent().on("AND-THEN", [reply("Then that.").input_tokens(21_500)]));
    fixture.set(BEFORE_THE_NEXT);
    let mut terminal = fixture.with_preflight(&[]);
    for (words, answer) in [("AND-NOW hello", "Here you are."), ("AND-THEN bye", "Then that.")] {
        type_text(&mut terminal, words);
        terminal.wait_for(&[answer]);
    }
    assert!(!fixture.log().contains("input_held"), "{}", fixture.log());
    assert_eq!(fixture.compactions(), 0);
    leave_nothing(&mut terminal);
}

#[test]
fn a_killed_driver_releases_the_message() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = waiting_for_a_packet(&gate);
    let session = terminal.process_id();
    kill(drivers(session)[0]);
    // The screen goes on. The message joins the turn in which the packet is asked for.
    terminal.wait_for(&[HEADS_UP]);
    gate.open();
    terminal.wait_for(&["Here you are."]);
    assert_eq!(last_heard(&fixture), ["task", "next"]);
    assert_eq!(fixture.compactions(), 0);
    leave_nothing(&mut terminal);
}

#[test]
fn an_unresponsive_driver_releases_the_message() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = waiting_for_a_packet(&gate);
    let driver = drivers(terminal.process_id())[0];
    kill_process(driver, Signal::STOP).unwrap();
    terminal.wait_for(&[HEADS_UP]);
    gate.open();
    terminal.wait_for(&["Here you are."]);
    assert_eq!(last_heard(&fixture), ["task", "next"]);
    kill_process(driver, Signal::CONT).unwrap();
    leave(&mut terminal);
}

#[test]
fn a_cancelled_compaction_releases_the_message_unchanged() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = waiting_for_a_packet(&gate);
    let cancelled = fixture.rawr(&["compact", "--cancel", &thread_of(&fixture)]);
    assert!(cancelled.status.success(), "{cancelled:?}");
    gate.open();
    terminal.wait_for(&["Here you are."]);
    assert_eq!(last_heard(&fixture), ["task", "next"], "{}", fixture.log());
    assert_eq!(fixture.compactions(), 0);
    leave(&mut terminal);
}

/// A screen that waits for a held message cannot show the banner.
#[test]
fn a_message_passes_while_the_user_must_approve() {
    let ask = format!("[rawr_auto_compaction]\nmode = \"ask\"\n{BEFORE_THE_NEXT}");
    let (fixture, mut terminal) = defer_compaction_with(agent(), &ask, &[]);
    type_text(&mut terminal, NEXT);
    terminal.wait_for(&["Here you are."]);
    assert_eq!(last_heard(&fixture), ["task", "next"], "{}", fixture.log());
    assert_eq!(fixture.compactions(), 0);
    leave(&mut terminal);
}

/// Nor can it show Codex's own.
#[test]
fn an_approval_request_of_codex_releases_the_message() {
    let outside = json!({
        "cmd": "touch notes",
        "sandbox_permissions": "require_escalated",
        "justification": "to take notes",
    });
    let written = "The parser is written. It reads numbers, strings and nested lists; its docs are missing, and \
        so are the tests of its errors.";
    let script = agent().on_first("WRITE-PARSER", [reply(written).input_tokens(143_000)]).on_first(
        ":packet_request]",
        [call("exec_command", outside).input_tokens(144_000), reply(PACKET).input_tokens(145_000)],
    );
    let cautious = ["-c", "approval_policy=\"on-request\"", "-c", "sandbox_mode=\"read-only\""];
    let (fixture, mut terminal) = defer_compaction_with(script, BEFORE_THE_NEXT, &cautious);
    type_text(&mut terminal, NEXT);
    terminal.wait_for(&["Would you like to run the following command?", "touch notes"]);
    terminal.press("y");
    terminal.wait_for(&["Here you are."]);
    assert!(fixture.log().contains("asks_person"), "{}", fixture.log());
    leave(&mut terminal);
}

/// Codex's screen itself takes care of what it could not say. Without the message that confirmed it, nothing is compacted.
#[test]
fn a_relay_killed_while_holding_a_message_loses_nothing() {
    let gate = ReplyGate::new();
    let (fixture, mut terminal) = waiting_for_a_packet(&gate);
    let session = terminal.process_id();
    let worker = relays(session).1[0];
    kill(worker);
    terminal.wait_for(&["Couldn't confirm whether", NEXT]);
    worker_other_than(session, worker);
    gate.open();
    terminal.wait_for(&["Next: write the docs of parser.txt", "Queued follow-up inputs", NEXT]);
    assert_eq!(fixture.compactions(), 0, "{}", fixture.log());
    assert_eq!(last_heard(&fixture), ["task"], "{}", fixture.log());
    leave_nothing(&mut terminal);
}

#[test]
fn a_relay_killed_between_messages_is_replaced() {
    let (fixture, mut terminal) = defer_compaction(agent());
    let session = terminal.process_id();
    let worker = relays(session).1[0];
    kill(worker);
    worker_other_than(session, worker);
    insist_on(&mut terminal, NEXT);
    terminal.wait_for(&["Context compacted", "Here you are."]);
    assert_eq!(last_heard(&fixture), ["task", "handoff", "next"], "{}", fixture.log());
    leave_nothing(&mut terminal);
}

#[test]
fn a_relay_that_keeps_dying_is_bypassed() {
    let fixture = LiveFixture::new(agent());
    let mut terminal = fixture.with_preflight(&[]);
    let session = terminal.process_id();
    // A screen that has only just begun does not come back.
    type_text(&mut terminal, TASK);
    terminal.wait_for(&[GOES_ON]);
    let (keepers, _) = relays(session);
    assert_eq!(keepers.len(), 1);
    wait_until("the end of the relay", || {
        for worker in relays(session).1 {
            // The worker may have gone since it was looked for.
            let _ = kill_process(worker, Signal::KILL);
        }
        processes(session, &[" relay "]).is_empty()
    });
    insist_on(&mut terminal, "AND-NOW hello");
    terminal.wait_for(&["Here you are."]);
    leave_nothing(&mut terminal);
}

/// What keeps the socket is not what works on it.
#[test]
fn a_relay_without_its_keeper_works_until_codex_ends() {
    let (fixture, mut terminal) = defer_compaction(agent());
    let session = terminal.process_id();
    kill(relays(session).0[0]);
    type_text(&mut terminal, NEXT);
    terminal.wait_for(&["Here you are."]);
    assert_eq!(last_heard(&fixture), ["task", "handoff", "next"], "{}", fixture.log());
    leave_nothing(&mut terminal);
}

/// The screen is gone with the message, which never reached Codex.
#[test]
fn a_message_held_when_the_terminal_closed_is_delivered_on_resume() {
    for end in [close as fn(&mut Terminal), kill_the_screen] {
        let gate = ReplyGate::new();
        let (fixture, mut terminal) = waiting_for_a_packet(&gate);
        let session = terminal.process_id();
        wait_until("a held message", || fixture.log().contains("input_held"));
        end(&mut terminal);
        // An app-server that is to end waits for its turn.
        gate.open();
        nothing_is_left(session);
        let mut terminal = fixture.on_a_terminal(&["resume", "--last"]);
        terminal.wait_for(&["Context compacted", HANDOFF, NEXT]);
        wait_until("the message after its handoff", || {
            said_in_order(&fixture) == ["task", "handoff", "next"]
        });
        leave(&mut terminal);
    }
}

/// The screen reads no key while it waits, so a person ends it from another terminal.
fn kill_the_screen(terminal: &mut Terminal) {
    for screen in processes(terminal.process_id(), &[" --remote "]) {
        // The process that waits for Codex has the same words.
        if screen.as_raw_nonzero().get() != i32::try_from(terminal.process_id()).unwrap() {
            kill(screen);
        }
    }
    terminal.wait_for(&["rawr: a message of yours waits in this session"]);
}

#[test]
fn the_relay_ends_with_the_terminal() {
    let gate = ReplyGate::new();
    let (_lab, mut terminal) = waiting_for_a_packet(&gate);
    let session = terminal.process_id();
    // The shell that waits for Codex cannot tidy up any more.
    terminal.signal(Signal::KILL);
    terminal.hang_up();
    // An app-server that is to end waits for its turn.
    gate.open();
    nothing_is_left(session);
}

/// The process that would have ended the app-server is gone: the relay must not keep it alive.
#[test]
fn the_relay_does_not_keep_the_app_server_alive() {
    let (_lab, mut terminal) = defer_compaction(agent());
    let session = terminal.process_id();
    kill(drivers(session)[0]);
    terminal.signal(Signal::KILL);
    terminal.hang_up();
    nothing_is_left(session);
}

/// In a shared conversation nothing of a person is kept waiting for a turn that does not end.
#[test]
fn a_model_that_never_answers_the_packet_keeps_no_message() {
    let gate = ReplyGate::new();
    let settings =
        format!("{BEFORE_THE_NEXT}[rawr_auto_compaction.deadlines]\npacket_seconds = 2\n");
    let script = agent().behind(":packet_request]", 0, &gate);
    let (fixture, mut terminal) = defer_compaction_with(script, &settings, &[]);
    type_text(&mut terminal, NEXT);
    wait_until("a packet being written", || asked_for_a_packet(&fixture));
    wait_until("the end of the sequence", || fixture.log().contains(r#""status":"called_off""#));
    gate.open();
    terminal.wait_for(&["Here you are."]);
    leave_nothing(&mut terminal);
    assert_eq!((said_in_order(&fixture), fixture.compactions()), (vec!["task", "next"], 0));
}
