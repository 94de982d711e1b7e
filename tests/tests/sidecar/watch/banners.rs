//! The banner as a client shows it: each state of a thread, in the sidecar's words, and the possible answers.

use super::{HostProcess, THREAD, leave, watcher};
use expect_test::{Expect, expect};
use rawr_protocol::methods::{SequenceRespond, ThreadChanged, ThreadGet};
use rawr_protocol::{
    Choice, HeadsUp, Notification, SequenceRespondParams, ThreadChangedNotification,
    ThreadGetParams,
};
use rawr_tests::TestHome;
use rawr_tests::sidecar::Note;

fn banner_of(note: &Note) -> Option<Option<HeadsUp>> {
    let changed = (note.method == ThreadChanged::METHOD).then(|| note.params.clone())?;
    Some(serde_json::from_value::<ThreadChangedNotification>(changed).unwrap().heads_up)
}

fn drawn(banner: Option<&HeadsUp>) -> String {
    let Some(banner) = banner else { return "none".to_owned() };
    let choices: Vec<_> = banner.choices.iter().map(|offered| offered.label.as_str()).collect();
    let deadline = banner.deadline_label.as_ref();
    let deadline = deadline.map(|label| format!(" ({label} …)")).unwrap_or_default();
    format!("{}: {} [{}]{deadline}", banner.title, banner.message, choices.join(", "))
}

/// The successive banners of a client, without repeats.
fn story(notes: &[Note]) -> String {
    let mut lines: Vec<_> =
        notes.iter().filter_map(banner_of).map(|banner| drawn(banner.as_ref())).collect();
    lines.dedup();
    lines.join("\n") + "\n"
}

/// A phase ends under pressure, a person answers with `answer` if it is set, and the user continues with another turn.
fn check(config: &str, answer: Option<Choice>, expected: Expect) {
    let home = TestHome::new();
    home.configure(config);
    let mut running = HostProcess::on(&home, THREAD);
    let mut notes = Vec::new();
    running.host.user_turn_with_boundaries();
    assert!(running.host.run_and(&mut running.sidecar, |note| notes.push(note.clone())));
    if let Some(choice) = answer {
        let params = SequenceRespondParams {
            thread_id: THREAD.to_owned(),
            choice,
            sequence_id: None,
            turns: None,
            minutes: None,
            packet: None,
        };
        running.sidecar.call::<SequenceRespond>(&params);
        let params = ThreadGetParams { thread_id: THREAD.to_owned() };
        let found = running.sidecar.call::<ThreadGet>(&params).heads_up;
        assert_eq!(found.is_none(), choice == Choice::Snooze, "{found:?}");
    }
    running.host.user_turn();
    assert!(running.host.run_and(&mut running.sidecar, |note| notes.push(note.clone())));
    let params = ThreadGetParams { thread_id: THREAD.to_owned() };
    let found = running.sidecar.call::<ThreadGet>(&params).heads_up;
    notes.extend(running.sidecar.take_notes());
    let last = notes.iter().filter_map(banner_of).next_back().flatten();
    assert_eq!(found, last, "a request returns the last notification");
    expected.assert_eq(&story(&notes));
    leave(running.sidecar);
}

#[test]
fn a_sequence_is_announced_and_can_be_stopped_until_the_history_is_compacted() {
    check(
        "",
        None,
        expect![[r#"
        Compacting soon: The agent writes a packet, the history is compacted, and work continues from the packet. [Not now, Skip this one, Edit the packet] (Continues on its own in …)
        Compacting: The history is being compacted. This cannot be stopped. []
        Handing the packet back: The history is compacted. The agent gets the packet next. []
        none
    "#]],
    );
}

// rule: client.allowed-answers
#[test]
fn after_an_approval_the_banner_has_no_approval() {
    let config = "[rawr_auto_compaction]\nmode = \"ask\"\n";
    check(
        config,
        Some(Choice::Approve),
        expect![[r#"
        Waiting for your approval: If you approve, the agent writes a packet, the history is compacted, and work continues from the packet. [Approve, Not now, Skip this one, Edit the packet] (Canceled without an answer in …)
        Compacting soon: The agent writes a packet, the history is compacted, and work continues from the packet. [Not now, Skip this one, Edit the packet] (Continues on its own in …)
        Compacting: The history is being compacted. This cannot be stopped. []
        Handing the packet back: The history is compacted. The agent gets the packet next. []
        none
    "#]],
    );
}

#[test]
fn a_snoozed_sequence_has_no_banner() {
    let config = "[rawr_auto_compaction]\nmode = \"ask\"\n";
    check(
        config,
        Some(Choice::Snooze),
        expect![[r#"
        Waiting for your approval: If you approve, the agent writes a packet, the history is compacted, and work continues from the packet. [Approve, Not now, Skip this one, Edit the packet] (Canceled without an answer in …)
        none
    "#]],
    );
}

#[test]
fn a_recommendation_stays_until_the_next_turn() {
    check(
        "[rawr_auto_compaction]\nmode = \"suggest\"\n",
        None,
        expect![[r#"
        Compaction recommended: Waiting for you to compact (`mode = "suggest"`). [Compact now, Not now]
        none
    "#]],
    );
}

#[test]
fn a_snoozed_recommendation_is_removed() {
    let config = "[rawr_auto_compaction]\nmode = \"suggest\"\n";
    check(
        config,
        Some(Choice::Snooze),
        expect![[r#"
        Compaction recommended: Waiting for you to compact (`mode = "suggest"`). [Compact now, Not now]
        none
    "#]],
    );
}

#[test]
fn a_logged_decision_is_shown_until_the_next_turn() {
    check(
        "[rawr_auto_compaction]\nmode = \"tag\"\n",
        None,
        expect![[r#"
        Would compact here: Logged only (`mode = "tag"`). [Compact now, Not now]
        none
    "#]],
    );
}

#[test]
fn a_deferred_compaction_is_announced_until_a_person_declines_it() {
    let home = TestHome::new();
    home.configure(
        "[rawr_auto_compaction.policy.asap]\nrequires_any_boundary = [\"turn_complete\"]\n",
    );
    let mut running = HostProcess::on(&home, THREAD);
    running.end_a_phase();
    let get = ThreadGetParams { thread_id: THREAD.to_owned() };
    let found = running.sidecar.call::<ThreadGet>(&get).heads_up;
    expect![[r#"Compacting before your next message: Your next message waits until the history is compacted and the packet is handed back. [Compact now, Not now, Skip this one]"#]]
        .assert_eq(&drawn(found.as_ref()));
    let params = SequenceRespondParams {
        thread_id: THREAD.to_owned(),
        choice: Choice::Cancel,
        sequence_id: None,
        turns: None,
        minutes: None,
        packet: None,
    };
    running.sidecar.call::<SequenceRespond>(&params);
    assert_eq!(running.sidecar.call::<ThreadGet>(&get).heads_up, None);
    leave(running.sidecar);
}

#[test]
fn a_thread_that_no_process_runs_has_no_banner() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let mut running = HostProcess::on(&home, THREAD);
    let mut nvim = watcher(&home, "nvim");
    running.end_a_phase();
    let params = ThreadGetParams { thread_id: THREAD.to_owned() };
    while nvim.next_note().method != rawr_protocol::methods::SequenceHeadsUp::METHOD {}
    assert!(nvim.call::<ThreadGet>(&params).heads_up.is_some());
    leave(running.sidecar);
    assert_eq!(nvim.call::<ThreadGet>(&params).heads_up, None);
    leave(nvim);
}
