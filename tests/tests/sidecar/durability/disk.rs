//! A full, read-only or unreadable disk, and the permissions of files.

use super::{THREAD, get, lived_in, look, set_guard};
use rawr_protocol::methods::{
    GuardSet, InputCancel, InputSubmit, SequenceRespond, StoreFailed, StoreRecovered, ThreadList,
    ThreadOpen,
};
use rawr_protocol::{
    Choice, Disposition, ErrorCode, GuardSetParams, InputCancelParams, InputKind,
    InputSubmitParams, Role, SequenceRespondParams, ThreadListParams, Until,
};
use rawr_tests::sidecar::Failure;
use rawr_tests::{LaunchOptions, StandIn, TestHome, TestSidecar, wait_until};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const HINT: &str = "nothing was recorded; make the folder writable or free some space, then retry";

fn assert_store_failed(failure: &Failure, message: &str, file: &Path) {
    let file = file.display().to_string();
    assert_eq!(failure.code, ErrorCode::StoreFailed, "{failure:?}");
    assert!(failure.message.starts_with(&message.replace("FILE", &file)), "{failure:?}");
    assert_eq!((failure.data.file.as_ref(), failure.data.hint.as_str()), (Some(&file), HINT));
}

fn guard(note: &str) -> GuardSetParams {
    let thread_id = THREAD.to_owned();
    GuardSetParams { thread_id, until: Until::Released, note: Some(note.to_owned()) }
}

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_fails_the_request_and_loses_nothing() {
    let home = TestHome::new();
    let launch = LaunchOptions { prelude: Some("trap '' XFSZ"), ..LaunchOptions::default() };
    let mut sidecar = TestSidecar::launch(&home, &launch);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Owner));
    set_guard(&mut sidecar, "kept");
    let before = fs::read(home.events(THREAD)).unwrap();
    // Half of the last write succeeds.
    sidecar.limit_files(Some(before.len() as u64 + 40));
    for _ in 0..3 {
        let failure = sidecar.failure::<GuardSet>(&guard("lost"));
        assert_store_failed(&failure, "cannot write FILE: File too large", &home.events(THREAD));
        assert_eq!(fs::read(home.events(THREAD)).unwrap(), before);
        let seen = get(&mut sidecar, THREAD);
        assert_eq!(
            seen["guards"].as_array().map(Vec::len),
            Some(1),
            "failed records are not shown"
        );
    }
    let told = sidecar.take::<StoreFailed>();
    assert_eq!(told.len(), 1, "only once: {told:?}");
    assert!(told[0].error.contains("File too large"), "{told:?}");
    assert!(
        told[0].error.contains("free some space, and rawr continues automatically"),
        "{told:?}"
    );
    sidecar.limit_files(None);
    set_guard(&mut sidecar, "after");
    let seen = get(&mut sidecar, THREAD);
    let notes: Vec<_> =
        seen["guards"].as_array().unwrap().iter().map(|guard| &guard["note"]).collect();
    assert_eq!(notes, ["kept", "after"]);
    wait_until("the recovery", || {
        get(&mut sidecar, THREAD);
        !sidecar.take::<StoreRecovered>().is_empty()
    });
    let changed = sidecar.take_notes();
    assert_eq!(changed.len(), 2, "only stored records are reported: {changed:#?}");
    sidecar.leave();
    assert_eq!(home.lines(THREAD).len(), 3);
}

/// No request arrives while the disk is full or when it works again.
#[cfg(target_os = "linux")]
#[test]
fn on_a_full_disk_a_sequence_stops_releases_messages_and_resumes_automatically() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let launch = LaunchOptions { prelude: Some("trap '' XFSZ"), ..LaunchOptions::default() };
    let mut sidecar = TestSidecar::launch(&home, &launch);
    let mut host = StandIn::new(THREAD);
    host.open(&home, &mut sidecar);
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    let thread_id = THREAD.to_owned();
    let submit = |sidecar: &mut TestSidecar, input_id: &str| {
        let (thread_id, text) = (thread_id.clone(), format!("text of {input_id}"));
        let (input_id, kind) = (input_id.to_owned(), InputKind::Message);
        sidecar.try_call::<InputSubmit>(&InputSubmitParams { thread_id, input_id, text, kind })
    };
    for input in ["i1", "i2"] {
        assert_eq!(submit(&mut sidecar, input).unwrap().disposition, Disposition::Held);
    }
    sidecar.take_notes();
    sidecar.limit_files(Some(fs::metadata(home.events(THREAD)).unwrap().len() + 40));
    let failure = submit(&mut sidecar, "i3").unwrap_err();
    assert_store_failed(&failure, "cannot write FILE: File too large", &home.events(THREAD));
    assert_eq!(sidecar.wait_for::<StoreFailed>().held_inputs, ["i1", "i2"]);
    sidecar.limit_files(None);
    assert_eq!(sidecar.wait_for::<StoreRecovered>().thread_id, THREAD);
    for (input, waits) in [("i1", true), ("i2", true), ("i3", false)] {
        let params = InputCancelParams { thread_id: thread_id.clone(), input_id: input.to_owned() };
        assert_eq!(sidecar.call::<InputCancel>(&params).cancelled, waits, "{input}");
    }
    sidecar.call::<SequenceRespond>(&SequenceRespondParams {
        thread_id: thread_id.clone(),
        choice: Choice::Approve,
        sequence_id: None,
        turns: None,
        minutes: None,
        packet: None,
    });
    wait_until("the handoff", || host.run(&mut sidecar) && host.count("handoff") == 1);
    assert_eq!(host.performed, ["packet_request", "compact", "handoff"]);
    sidecar.discard_and_leave();
}

/// Starts a sidecar whose disk becomes full when a thread has been opened. The disk has room again on return.
#[cfg(target_os = "linux")]
fn after_a_full_disk(home: &TestHome, host: &mut StandIn) -> TestSidecar {
    let launch = LaunchOptions { prelude: Some("trap '' XFSZ"), ..LaunchOptions::default() };
    let mut sidecar = TestSidecar::launch(home, &launch);
    host.open(home, &mut sidecar);
    sidecar.limit_files(Some(fs::metadata(home.events(THREAD)).unwrap().len() + 40));
    for _ in 0..2 {
        let failure = sidecar.failure::<GuardSet>(&guard("lost"));
        assert_store_failed(&failure, "cannot write FILE: File too large", &home.events(THREAD));
    }
    sidecar.limit_files(None);
    sidecar
}

// rule: recovery.decides-after-failure
#[cfg(target_os = "linux")]
#[test]
fn a_turn_that_ends_directly_after_a_full_disk_is_answered_with_its_decision() {
    let home = TestHome::new();
    let mut host = StandIn::new(THREAD);
    let mut sidecar = after_a_full_disk(&home, &mut host);
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    assert_eq!(host.verdicts[0]["outcome"], "compact", "{}", host.verdicts[0]);
    wait_until("the handoff", || host.run(&mut sidecar) && host.count("handoff") == 1);
    assert_eq!(host.performed, ["packet_request", "compact", "handoff"]);
    sidecar.discard_and_leave();
}

/// A message that the host delivered itself is not reported yet, so it may be delivered again by what is decided now.
#[cfg(target_os = "linux")]
#[test]
fn a_turn_that_ends_before_deliveries_are_reported_is_assessed_after_them() {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let launch = LaunchOptions { prelude: Some("trap '' XFSZ"), ..LaunchOptions::default() };
    let mut sidecar = TestSidecar::launch(&home, &launch);
    let mut host = StandIn::new(THREAD);
    host.open(&home, &mut sidecar);
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    let (thread_id, input_id) = (THREAD.to_owned(), "i1".to_owned());
    let (text, kind) = ("Go on.".to_owned(), InputKind::Message);
    let message = InputSubmitParams { thread_id, input_id, text, kind };
    assert_eq!(sidecar.call::<InputSubmit>(&message).disposition, Disposition::Held);
    sidecar.limit_files(Some(fs::metadata(home.events(THREAD)).unwrap().len() + 40));
    sidecar.failure::<GuardSet>(&guard("lost"));
    assert_eq!(sidecar.wait_for::<StoreFailed>().held_inputs, ["i1"]);
    sidecar.limit_files(None);
    let mut say = |method: &str, mut params: Value| {
        params["threadId"] = json!(THREAD);
        sidecar.request(method, &params).unwrap().unwrap()
    };
    say("rawr/turn/started", json!({ "turnId": "t9", "origin": "user", "text": "Go on." }));
    let end = json!({ "turnId": "t9", "status": "completed", "lastAgentMessage": "All is done." });
    let verdict = |answer: Value| answer["verdict"].clone();
    let waits = verdict(say("rawr/turn/completed", end.clone()));
    assert_eq!((&waits["decisionId"], &waits["outcome"]), (&Value::Null, &json!("nothing")));
    assert!(waits["reason"].as_str().unwrap().starts_with("not assessed yet"), "{waits}");
    assert_eq!(say("rawr/input/cancel", json!({ "inputId": "i1" }))["cancelled"], true);
    let decided = verdict(say("rawr/turn/completed", end));
    assert_ne!(decided["decisionId"], Value::Null, "{decided}");
    sidecar.discard_and_leave();
}

#[cfg(target_os = "linux")]
#[test]
fn a_thread_cannot_be_opened_on_a_full_disk_until_there_is_room() {
    let home = TestHome::new();
    let launch = LaunchOptions { prelude: Some("trap '' XFSZ"), ..LaunchOptions::default() };
    let mut sidecar = TestSidecar::launch(&home, &launch);
    sidecar.limit_files(Some(0));
    let failure = sidecar.failure::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Owner));
    assert_store_failed(&failure, "cannot write FILE: ", &home.thread(THREAD).join("owner.lock"));
    sidecar.limit_files(None);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Owner));
    set_guard(&mut sidecar, "after");
    sidecar.discard_and_leave();
}

/// A home that is broken before the sidecar starts, and repaired later.
fn check_permissions(
    spoilt: impl Fn(&TestHome) -> (std::path::PathBuf, u32, u32),
    message: &str,
    file: &str,
) {
    let home = TestHome::new();
    let (path, broken, whole) = spoilt(&home);
    permit(&path, broken);
    let launch = LaunchOptions { unprivileged: true, ..LaunchOptions::default() };
    let mut sidecar = TestSidecar::launch(&home, &launch);
    let opening = StandIn::new(THREAD).opening(&home, Role::Owner);
    let failure = sidecar.failure::<ThreadOpen>(&opening);
    assert_store_failed(&failure, message, &home.path().join(file));
    sidecar.call::<ThreadList>(&ThreadListParams {});
    permit(&path, whole);
    sidecar.call::<ThreadOpen>(&opening);
    set_guard(&mut sidecar, "after");
    sidecar.discard_and_leave();
}

#[test]
fn a_home_that_cannot_be_written_fails_the_request_until_it_can() {
    check_permissions(
        |home| (home.path(), 0o555, 0o777),
        "cannot create FILE: Permission denied",
        "rawr/auto_compaction/threads",
    );
    check_permissions(
        |home| {
            let threads = home.path().join("rawr/auto_compaction/threads");
            fs::create_dir_all(&threads).unwrap();
            (threads, 0o555, 0o777)
        },
        "cannot create FILE: Permission denied",
        "rawr/auto_compaction/threads/t",
    );
}

#[test]
fn a_home_that_cannot_be_entered_fails_the_request_until_it_can() {
    let home = TestHome::new();
    permit(&home.path(), 0o000);
    let launch = LaunchOptions { unprivileged: true, ..LaunchOptions::default() };
    let mut sidecar = TestSidecar::launch(&home, &launch);
    let opening = StandIn::new(THREAD).opening(&home, Role::Owner);
    let threads = home.thread(THREAD).parent().unwrap().to_owned();
    let failure = sidecar.failure::<ThreadOpen>(&opening);
    assert_store_failed(&failure, "cannot create FILE: Permission denied", &threads);
    let failure = sidecar.failure::<ThreadList>(&ThreadListParams {});
    assert_eq!(failure.code, ErrorCode::StoreFailed);
    permit(&home.path(), 0o777);
    sidecar.call::<ThreadOpen>(&opening);
    sidecar.discard_and_leave();
}

#[test]
fn stored_files_are_private_with_any_umask() {
    let home = TestHome::new();
    let launch = LaunchOptions { prelude: Some("umask 0"), ..LaunchOptions::default() };
    let mut sidecar = TestSidecar::launch(&home, &launch);
    let mut host = StandIn::new(THREAD);
    host.open(&home, &mut sidecar);
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    sidecar.discard_and_leave();
    let mut found = Vec::new();
    modes(&home.path().join("rawr"), &mut found);
    found.sort();
    let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "auto_compaction",
            "capsules",
            "decisions.jsonl",
            "events.jsonl",
            "owner.lock",
            "retention.stamp",
            "s1-860202a3.json",
            "state.json",
            "t",
            "threads"
        ]
    );
    for (name, mode) in found {
        let expected = if name.contains('.') { 0o600 } else { 0o700 };
        assert_eq!(mode, expected, "{name} has mode {mode:o}");
    }
}

fn modes(folder: &Path, found: &mut Vec<(String, u32)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        found.push((name, metadata.permissions().mode() & 0o777));
        if metadata.is_dir() {
            modes(&entry.path(), found);
        }
    }
}

#[test]
fn an_old_log_with_wide_permissions_still_works() {
    let home = lived_in();
    let log = home.events(THREAD);
    let (seen, _) = look(&home, THREAD);
    permit(&log, 0o644);
    let before = fs::read(&log).unwrap();
    let mut sidecar = TestSidecar::start(&home);
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Observer));
    assert_eq!(get(&mut sidecar, THREAD), seen);
    set_guard(&mut sidecar, "after the release");
    sidecar.discard_and_leave();
    let after = fs::read(&log).unwrap();
    assert!(after.len() > before.len() && after.starts_with(&before));
    // Existing permissions are the choice of the file's owner.
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o644);
}
