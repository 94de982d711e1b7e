//! Answers from any client: the first one wins, the owner carries it out, and the others learn who gave it.

use super::{HostProcess, THREAD, client, leave, wait_for_phase, watcher};
use rawr_protocol::methods::{
    DecisionRecorded, GuardClear, GuardSet, SequenceHeadsUp, SequenceRespond, SequenceResponded,
    SignalReport, ThreadChanged, ThreadGet, ThreadOpen,
};
use rawr_protocol::{
    Choice, ErrorCode, GuardClearParams, GuardSetParams, HeadsUp, Phase, Role,
    SequenceRespondParams, SequenceRespondedNotification, Signal, SignalReportParams,
    ThreadGetParams, Until,
};
use rawr_tests::{StandIn, TestHome, TestSidecar};

fn asked(home: &TestHome) -> HostProcess {
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    HostProcess::on(home, THREAD)
}

fn respond(
    sidecar: &mut TestSidecar,
    choice: Choice,
    sequence: Option<&str>,
) -> Result<Phase, (ErrorCode, String)> {
    let params = SequenceRespondParams {
        thread_id: THREAD.to_owned(),
        choice,
        sequence_id: sequence.map(str::to_owned),
        turns: None,
        minutes: None,
        packet: None,
    };
    let answer = sidecar.try_call::<SequenceRespond>(&params);
    answer.map(|result| result.phase).map_err(|failure| (failure.code, failure.message))
}

fn banner(sidecar: &mut TestSidecar) -> String {
    sidecar.allow::<ThreadChanged>();
    sidecar.allow::<DecisionRecorded>();
    sidecar.wait_for::<SequenceHeadsUp>().sequence_id
}

/// The banner for a client that has missed the notification.
fn missed_banner(home: &TestHome, name: &str) -> Option<HeadsUp> {
    let mut late = client(home, name);
    late.call::<ThreadOpen>(&StandIn::new(THREAD).opening(home, Role::Observer));
    let found = late.call::<ThreadGet>(&ThreadGetParams { thread_id: THREAD.to_owned() });
    leave(late);
    found.heads_up
}

#[test]
fn a_snooze_from_one_editor_reaches_the_owner_and_the_other_editor() {
    let home = TestHome::new();
    let mut running = asked(&home);
    let (mut vscode, mut nvim) = (watcher(&home, "vscode"), watcher(&home, "nvim"));
    running.end_a_phase();
    let sequence = banner(&mut vscode);
    assert_eq!(banner(&mut nvim), sequence);
    respond(&mut vscode, Choice::Snooze, Some(&sequence)).unwrap();
    let expected = SequenceRespondedNotification {
        thread_id: THREAD.to_owned(),
        sequence_id: Some(sequence.clone()),
        choice: Choice::Snooze,
        by: Some("vscode".to_owned()),
    };
    for other in [&mut running.sidecar, &mut nvim] {
        other.allow::<ThreadChanged>();
        assert_eq!(other.wait_for::<SequenceResponded>(), expected);
    }
    for client in [&mut running.sidecar, &mut vscode, &mut nvim] {
        let changed = wait_for_phase(client, Phase::Idle);
        assert_eq!(changed.sequence_id, None);
        assert_eq!(changed.guards[0].set_by.as_deref(), Some("vscode"));
    }
    assert_eq!(running.host.performed, Vec::<String>::new());
    let (code, message) = respond(&mut nvim, Choice::Approve, Some(&sequence)).unwrap_err();
    assert_eq!(code, ErrorCode::NotNow);
    assert_eq!(message, format!("{sequence} was already answered: snooze, by vscode"));
    for client in [running.sidecar, vscode, nvim] {
        leave(client);
    }
}

#[test]
fn a_later_client_gets_the_same_banner_and_deadline_until_it_is_answered() {
    let home = TestHome::new();
    let mut running = asked(&home);
    let mut vscode = watcher(&home, "vscode");
    running.end_a_phase();
    vscode.allow::<ThreadChanged>();
    vscode.allow::<DecisionRecorded>();
    let told = vscode.wait_for::<SequenceHeadsUp>();
    assert!(told.deadline_at_ms.is_some(), "{told:?}");
    let found = missed_banner(&home, "nvim").unwrap();
    assert_eq!((&found.title, &found.message), (&told.title, &told.message));
    assert_eq!(
        (&found.sequence_id, found.deadline_at_ms),
        (&told.sequence_id, told.deadline_at_ms)
    );
    assert!(found.choices.iter().map(|offered| offered.choice).eq(told.choices));
    respond(&mut vscode, Choice::Snooze, Some(&told.sequence_id)).unwrap();
    wait_for_phase(&mut vscode, Phase::Idle);
    assert_eq!(missed_banner(&home, "emacs"), None);
    running.sidecar.allow::<SequenceResponded>();
    for client in [running.sidecar, vscode] {
        leave(client);
    }
}

#[test]
fn of_two_simultaneous_answers_the_first_wins() {
    let home = TestHome::new();
    let mut running = asked(&home);
    let (mut vscode, mut nvim) = (watcher(&home, "vscode"), watcher(&home, "nvim"));
    running.end_a_phase();
    let sequence = banner(&mut vscode);
    banner(&mut nvim);
    // No owner acts on either, and neither client knows of the other's answer.
    running.sidecar.kill();
    let first = vscode.ask::<SequenceRespond>(&response(Choice::Approve, &sequence));
    let second = nvim.ask::<SequenceRespond>(&response(Choice::Cancel, &sequence));
    let (first, second) =
        (vscode.answer::<SequenceRespond>(first), nvim.answer::<SequenceRespond>(second));
    let approved = first.is_ok();
    let refused = if approved { second } else { first }.unwrap_err();
    assert!(refused.message.contains("was already answered"), "{refused:?}");
    assert_eq!(home.recorded(THREAD, "responded").len(), 1);
    let mut next = client(&home, "next");
    assert!(running.host.open(&home, &mut next));
    assert!(running.host.run(&mut next));
    let all: &[&str] = &["packet_request", "compact", "handoff"];
    assert_eq!(running.host.performed, if approved { all } else { &[] });
    running.sidecar.take_notes();
    for client in [next, vscode, nvim] {
        leave(client);
    }
}

fn response(choice: Choice, sequence: &str) -> SequenceRespondParams {
    SequenceRespondParams {
        thread_id: THREAD.to_owned(),
        choice,
        sequence_id: Some(sequence.to_owned()),
        turns: None,
        minutes: None,
        packet: None,
    }
}

#[test]
fn an_approval_from_an_editor_starts_the_owner_at_once() {
    let home = TestHome::new();
    let mut running = asked(&home);
    let mut nvim = watcher(&home, "nvim");
    running.end_a_phase();
    let sequence = banner(&mut nvim);
    running.sidecar.take_notes();
    respond(&mut nvim, Choice::Approve, Some(&sequence)).unwrap();
    // Without any request to the owner: it was woken.
    wait_for_phase(&mut running.sidecar, Phase::AwaitingPacket);
    wait_for_phase(&mut nvim, Phase::AwaitingPacket);
    leave(running.sidecar);
    leave(nvim);
}

#[test]
fn a_compaction_requested_by_an_editor_starts_at_once() {
    let home = TestHome::new();
    let mut running = HostProcess::on(&home, THREAD);
    running.host.user_turn();
    assert!(running.host.run(&mut running.sidecar));
    running.sidecar.take_notes();
    let mut nvim = watcher(&home, "nvim");
    respond(&mut nvim, Choice::CompactNow, None).unwrap();
    let changed = wait_for_phase(&mut running.sidecar, Phase::AwaitingPacket);
    assert!(changed.sequence_id.is_some());
    leave(running.sidecar);
    leave(nvim);
}

#[test]
fn a_guard_and_a_pin_from_an_editor_apply_to_the_owner_at_once() {
    let home = TestHome::new();
    let mut running = HostProcess::on(&home, THREAD);
    let mut nvim = watcher(&home, "nvim");
    let mut vscode = watcher(&home, "vscode");
    let guard = GuardSetParams { thread_id: THREAD.to_owned(), until: Until::Released, note: None };
    let guard_id = nvim.call::<GuardSet>(&guard).guard_id;
    for other in [&mut running.sidecar, &mut vscode] {
        let changed = other.wait_for::<ThreadChanged>();
        assert_eq!(changed.guards[0].guard_id, guard_id);
        assert_eq!(changed.guards[0].set_by.as_deref(), Some("nvim"));
    }
    let clear = GuardClearParams { thread_id: THREAD.to_owned(), guard_id: Some(guard_id) };
    vscode.call::<GuardClear>(&clear);
    for other in [&mut running.sidecar, &mut nvim] {
        other.allow::<ThreadChanged>();
        while !other.expect::<ThreadChanged>().guards.is_empty() {}
    }
    let signal = Signal::Directive { text: "Never touch main.".to_owned(), pinned: true };
    let pin =
        SignalReportParams { thread_id: THREAD.to_owned(), turn_id: None, signal_id: None, signal };
    nvim.call::<SignalReport>(&pin);
    running.sidecar.wait_for::<ThreadChanged>();
    running.end_a_phase();
    let events = std::fs::read_to_string(home.events(THREAD)).unwrap();
    let handed_over =
        events.lines().rev().find(|line| line.contains("deliver") || line.contains("handoff"));
    assert!(handed_over.unwrap().contains("Never touch main."), "{events}");
    for client in [running.sidecar, vscode, nvim] {
        leave(client);
    }
}

#[test]
fn a_second_host_gets_the_owners_name_until_the_owner_dies() {
    let home = TestHome::new();
    let mut running = HostProcess::on(&home, THREAD);
    let mut second = client(&home, "second");
    let opening = StandIn::new(THREAD).opening(&home, Role::Owner);
    let failure = second.failure::<ThreadOpen>(&opening);
    assert_eq!(failure.code, ErrorCode::OwnedElsewhere);
    let holder = format!("cli for stand-in (process {})", running.sidecar.process_id());
    assert!(failure.message.contains(&holder), "{}", failure.message);
    running.sidecar.kill();
    assert!(second.call::<ThreadOpen>(&opening).owner);
    running.sidecar.take_notes();
    leave(second);
}
