//! Held messages that contain a secret: they are delivered unchanged, and until then exactly one file contains the
//! secret.

use super::secrets::{SECRETS, said};
use super::{THREAD, get, mode};
use rawr_protocol::methods::{
    ActionPerform, InputCancel, InputSubmit, SequenceRespond, StoreFailed, StoreRecovered,
    ThreadOpen,
};
use rawr_protocol::{
    Choice, Disposition, ErrorCode, InputCancelParams, InputKind, InputSubmitParams, Notification,
    Role, SequenceRespondParams,
};
use rawr_tests::sidecar::Failure;
use rawr_tests::{StandIn, TestHome, TestSidecar};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A sequence that waits for approval, so that every message is held.
fn asked() -> (TestHome, TestSidecar, StandIn) {
    let home = TestHome::new();
    let (sidecar, host) = StandIn::asked(THREAD, &home);
    (home, sidecar, host)
}

fn try_submit(sidecar: &mut TestSidecar, input: &str) -> Result<Disposition, Box<Failure>> {
    let (thread_id, input_id) = (THREAD.to_owned(), input.to_owned());
    let (text, kind) = (format!("{} ({input})", said()), InputKind::Message);
    let params = InputSubmitParams { thread_id, input_id, text, kind };
    sidecar.try_call::<InputSubmit>(&params).map(|submitted| submitted.disposition)
}

fn submit(sidecar: &mut TestSidecar, input: &str) {
    assert_eq!(try_submit(sidecar, input).unwrap(), Disposition::Held);
}

fn cancel(sidecar: &mut TestSidecar, input: &str) {
    let (thread_id, input_id) = (THREAD.to_owned(), input.to_owned());
    assert!(sidecar.call::<InputCancel>(&InputCancelParams { thread_id, input_id }).cancelled);
}

fn approve(sidecar: &mut TestSidecar) {
    sidecar.call::<SequenceRespond>(&SequenceRespondParams {
        thread_id: THREAD.to_owned(),
        choice: Choice::Approve,
        sequence_id: None,
        turns: None,
        minutes: None,
        packet: None,
    });
}

/// All files below the folder that contain a secret.
fn files_with_secrets(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with_secrets(&path));
        } else if let Ok(bytes) = fs::read(&path) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if SECRETS.iter().any(|secret| text.contains(secret)) {
                found.push(path);
            }
        }
    }
    found
}

#[track_caller]
fn no_file_holds_a_secret(home: &TestHome) {
    assert_eq!(files_with_secrets(&home.path()), Vec::<PathBuf>::new());
}

/// The one file with the original text of the held message.
fn original(home: &TestHome) -> PathBuf {
    let files = files_with_secrets(&home.path());
    let [file] = files.as_slice() else { panic!("{files:?}") };
    assert_eq!(file.parent(), Some(home.thread(THREAD).join("held").as_path()));
    file.clone()
}

#[test]
fn a_held_message_is_in_one_file_and_after_its_delivery_in_none() {
    let (home, mut sidecar, mut host) = asked();
    submit(&mut sidecar, "i1");
    submit(&mut sidecar, "i1");
    let file = original(&home);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    approve(&mut sidecar);
    assert!(host.run(&mut sidecar));
    assert_eq!(host.delivered, [format!("{} (i1)", said())]);
    no_file_holds_a_secret(&home);
    submit(&mut sidecar, "i1");
    assert!(host.run(&mut sidecar));
    assert_eq!(
        host.delivered.len(),
        1,
        "a delivered message is recognized when it is submitted again"
    );
    sidecar.leave();
    no_file_holds_a_secret(&home);
}

#[test]
fn a_message_without_a_secret_has_no_file() {
    let (home, mut sidecar, _) = asked();
    let (thread_id, input_id) = (THREAD.to_owned(), "i1".to_owned());
    let (text, kind) = ("go on".to_owned(), InputKind::Message);
    let params = InputSubmitParams { thread_id, input_id, text, kind };
    assert_eq!(sidecar.call::<InputSubmit>(&params).disposition, Disposition::Held);
    assert!(!home.thread(THREAD).join("held").exists());
    sidecar.discard_and_leave();
}

// rule: delivery.once-in-order-unchanged
#[test]
fn a_held_message_is_delivered_unchanged_after_a_crash() {
    let (home, mut sidecar, mut host) = asked();
    submit(&mut sidecar, "i1");
    sidecar.kill();
    let mut sidecar = TestSidecar::start(&home);
    host.open(&home, &mut sidecar);
    original(&home);
    approve(&mut sidecar);
    assert!(host.run(&mut sidecar));
    assert_eq!(host.delivered, [format!("{} (i1)", said())]);
    no_file_holds_a_secret(&home);
    sidecar.leave();
}

/// A driver that reopens the thread looks for the original message in the host's transcript.
#[test]
fn a_pending_delivery_has_the_original_message() {
    let (home, mut sidecar, mut host) = asked();
    submit(&mut sidecar, "i1");
    approve(&mut sidecar);
    let process = sidecar.process_id().to_string();
    let is_done = host.run_and(&mut sidecar, |note| {
        if note.method == ActionPerform::METHOD && note.params.to_string().contains("deliver_input")
        {
            assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
        }
    });
    assert!(!is_done);
    sidecar.kill();
    original(&home);
    host.driver_dies();
    let mut sidecar = TestSidecar::start(&home);
    host.open(&home, &mut sidecar);
    assert!(host.run(&mut sidecar));
    assert_eq!(host.delivered, [format!("{} (i1)", said())], "once");
    no_file_holds_a_secret(&home);
    sidecar.leave();
}

#[test]
fn a_cancelled_message_leaves_no_text() {
    let (home, mut sidecar, _) = asked();
    submit(&mut sidecar, "i1");
    cancel(&mut sidecar, "i1");
    no_file_holds_a_secret(&home);
    submit(&mut sidecar, "i2");
    let mut other = TestSidecar::start(&home);
    other.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Observer));
    cancel(&mut other, "i2");
    no_file_holds_a_secret(&home);
    for mut sidecar in [other, sidecar] {
        sidecar.take_notes();
        sidecar.kill();
    }
}

#[test]
fn a_lost_or_damaged_text_is_reported_and_delivered_redacted() {
    let spoil: [fn(&Path); 2] = [
        |file| fs::remove_file(file).unwrap(),
        |file| fs::write(file, &fs::read(file).unwrap()[..40]).unwrap(),
    ];
    for spoil in spoil {
        let (home, mut sidecar, mut host) = asked();
        submit(&mut sidecar, "i1");
        spoil(&original(&home));
        approve(&mut sidecar);
        assert!(host.run(&mut sidecar));
        let [delivered] = host.delivered.as_slice() else { panic!("{:?}", host.delivered) };
        assert!(delivered.starts_with("use [redacted:github-token] for it"), "{delivered}");
        let log = sidecar.log();
        assert!(
            log.contains("failed to read the original message; delivering it redacted"),
            "{log}"
        );
        assert_eq!(fs::read_dir(home.thread(THREAD).join("held")).unwrap().count(), 0);
        sidecar.leave();
    }
}

#[test]
fn a_text_without_a_held_message_is_removed_when_the_thread_is_opened() {
    let (home, mut sidecar, mut host) = asked();
    submit(&mut sidecar, "i1");
    sidecar.kill();
    let waits = original(&home);
    let left = waits.with_file_name("0123456789abcdef.json");
    fs::copy(&waits, &left).unwrap();
    let mut sidecar = TestSidecar::start(&home);
    host.open(&home, &mut sidecar);
    assert_eq!((waits.exists(), left.exists()), (true, false));
    sidecar.take_notes();
    sidecar.kill();
}

#[test]
fn a_message_whose_text_cannot_be_stored_is_not_held() {
    let (home, mut sidecar, mut host) = asked();
    let folder = home.thread(THREAD).join("held");
    fs::write(&folder, "in the way").unwrap();
    let failure = try_submit(&mut sidecar, "i1").unwrap_err();
    assert_eq!(failure.code, ErrorCode::StoreFailed, "{failure:?}");
    assert_eq!(sidecar.wait_for::<StoreFailed>().held_inputs, [""; 0]);
    assert_eq!(get(&mut sidecar, THREAD)["heldInputs"].as_array().map(Vec::len), Some(0));
    fs::remove_file(&folder).unwrap();
    assert_eq!(sidecar.wait_for::<StoreRecovered>().thread_id, THREAD);
    submit(&mut sidecar, "i1");
    approve(&mut sidecar);
    assert!(host.run(&mut sidecar));
    assert_eq!(host.delivered, [format!("{} (i1)", said())]);
    sidecar.leave();
}
