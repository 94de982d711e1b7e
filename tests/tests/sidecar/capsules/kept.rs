//! The contents, permissions and number of capsules. A sequence continues if a capsule cannot be written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rawr_protocol::methods::{
    CapsuleAttach, CapsuleGet, CompactionReport, InputSubmit, ScratchAppend, SignalReport,
    ThreadOpen, TurnCompleted,
};
use rawr_protocol::{
    CapsuleAttachParams, CapsuleGetParams, CompactionOrigin, CompactionReportParams,
    CompactionReportStatus, CompactionTrigger, ErrorCode, InputKind, InputSubmitParams,
    PacketAuthor, Request, Role, ScratchAppendParams, Signal, SignalReportParams, StepStatus,
    ThreadOpenParams, Transcript,
};
use rawr_tests::sidecar::LaunchOptions;
use rawr_tests::stand_in::PRESSURE;
use rawr_tests::{StandIn, TestHome, TestSidecar};
use serde_json::json;

use super::{get, list};

const THREAD: &str = "kept";
const SECRET: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

fn folder(home: &TestHome) -> PathBuf {
    home.thread(THREAD).join("capsules")
}

/// An active thread whose host stores a transcript.
fn begin(home: &TestHome, launch: &LaunchOptions) -> (TestSidecar, StandIn) {
    let (mut sidecar, host) = (TestSidecar::launch(home, launch), StandIn::new(THREAD));
    let transcript = home.work().join("transcript.jsonl");
    fs::write(&transcript, "12345\n").unwrap();
    let path = transcript.display().to_string();
    let opening = ThreadOpenParams {
        transcript: Some(Transcript { path }),
        model: Some("m".to_owned()),
        ..host.opening(home, Role::Owner)
    };
    sidecar.call::<ThreadOpen>(&opening);
    (sidecar, host)
}

fn compaction(status: CompactionReportStatus) -> CompactionReportParams {
    CompactionReportParams {
        thread_id: THREAD.to_owned(),
        status,
        origin: CompactionOrigin::Host,
        action_id: None,
        tokens_before: None,
        tokens_after: Some(9_000),
        error: None,
    }
}

// rule: capsule.contents
#[test]
fn a_capsule_holds_the_state_before_the_compaction() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = begin(&home, &LaunchOptions::default());
    let text = format!("Retries are three. token={SECRET}");
    let notes = ScratchAppendParams { thread_id: THREAD.to_owned(), text };
    sidecar.call::<ScratchAppend>(&notes);
    let signal = Signal::Directive { text: "Never on main.".to_owned(), pinned: true };
    let (thread_id, turn_id) = (THREAD.to_owned(), None);
    sidecar.call::<SignalReport>(&SignalReportParams {
        thread_id,
        turn_id,
        signal_id: None,
        signal,
    });
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    assert_eq!(host.performed, ["packet_request", "compact", "handoff"]);

    let listed = list(&mut sidecar, THREAD);
    assert_eq!((listed.capsules.len(), listed.unread.len()), (1, 0), "{listed:?}");
    let summary = &listed.capsules[0];
    assert!(summary.capsule_id.starts_with("s1-") && !summary.has_history, "{summary:?}");
    let CompactionTrigger::Rawr { sequence_id, .. } = &summary.trigger else {
        panic!("{summary:?}")
    };
    assert_eq!(*sequence_id, summary.capsule_id);
    let got = get(&mut sidecar, THREAD, &summary.capsule_id);
    let capsule = &got.capsule;
    assert_eq!(capsule.summary, *summary);
    assert_eq!(capsule.summary.tokens_before, Some(PRESSURE));
    assert_eq!((capsule.host.name.as_str(), capsule.model.as_deref()), ("stand-in", Some("m")));
    assert_eq!(capsule.cwd, home.work().display().to_string());
    // The user's turn is t1, the packet's turn is t2.
    assert_eq!(
        (capsule.last_turn_id.as_deref(), capsule.inside_turn_id.as_ref()),
        (Some("t2"), None)
    );
    let transcript = capsule.transcript.as_ref().unwrap();
    assert!(transcript.path.ends_with("transcript.jsonl"), "{transcript:?}");
    assert_eq!(transcript.bytes, Some(6));
    let packet = capsule.packet.as_ref().unwrap();
    assert_eq!(packet.author, PacketAuthor::Agent);
    assert!(packet.text.contains("Next step: write the docs."), "{packet:?}");
    assert_eq!(capsule.plan[0].status, StepStatus::Completed);
    assert_eq!(capsule.directives[0].text, "Never on main.");
    let scratch = capsule.scratch.as_ref().unwrap();
    let content = scratch.content.as_deref().unwrap();
    assert!(content.contains("Retries are three. token=[redacted:"), "{content}");
    assert_eq!(scratch.content_hash.len(), 16);
    assert!(got.history.is_empty(), "{:?}", got.history);
    sidecar.take_notes();
}

#[test]
fn capsules_are_private_and_contain_no_secret() {
    let home = TestHome::new();
    home.configure(
        "[rawr_auto_compaction]\nauto_requires_any_boundary = [\"turn_complete\"]\n\
        [rawr_auto_compaction.policy.asap]\nrequires_any_boundary = [\"turn_complete\"]\n",
    );
    let (mut sidecar, mut host) = begin(&home, &LaunchOptions::default());
    host.user_turn();
    assert!(host.run(&mut sidecar));
    let submitted = InputSubmitParams {
        thread_id: THREAD.to_owned(),
        input_id: "i1".to_owned(),
        text: format!("use {SECRET} for it"),
        kind: InputKind::Message,
    };
    sidecar.call::<InputSubmit>(&submitted);
    assert!(host.run(&mut sidecar));
    assert_eq!(host.count("compact"), 1, "{:?}", host.performed);
    let capsule = list(&mut sidecar, THREAD).capsules.remove(0).capsule_id;
    let history = vec![
        serde_json::from_value(json!({"kind": "user", "text": SECRET, "calls": [{"a": SECRET}]}))
            .unwrap(),
    ];
    let params =
        CapsuleAttachParams { thread_id: THREAD.to_owned(), capsule_id: capsule.clone(), history };
    assert_eq!(sidecar.call::<CapsuleAttach>(&params).redactions, 2);
    let got = get(&mut sidecar, THREAD, &capsule);
    assert!(got.capsule.summary.has_history);
    assert_eq!(got.history[0]["calls"][0]["a"], "[redacted:github-token]");
    assert_eq!(got.capsule.held_inputs[0].text, "use [redacted:github-token] for it");

    assert_eq!(fs::metadata(folder(&home)).unwrap().permissions().mode() & 0o777, 0o700);
    let files: Vec<_> =
        folder(&home).read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 2, "{files:?}");
    for file in files {
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(SECRET), "{text}");
    }
    sidecar.take_notes();
}

#[test]
fn a_compaction_by_the_host_gets_one_capsule() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = begin(&home, &LaunchOptions::default());
    for round in 1..=2_u64 {
        host.user_turn();
        assert!(host.run(&mut sidecar));
        sidecar.call::<CompactionReport>(&compaction(CompactionReportStatus::Started));
        sidecar.call::<CompactionReport>(&compaction(CompactionReportStatus::Completed));
        let listed = list(&mut sidecar, THREAD).capsules;
        assert_eq!(listed.len() as u64, round, "{listed:?}");
        assert_eq!(listed[0].trigger, CompactionTrigger::Host);
        assert_eq!(listed[0].tokens_before, Some(PRESSURE));
        let last = get(&mut sidecar, THREAD, &listed[0].capsule_id).capsule.last_turn_id;
        let newest = host.acknowledged.iter().rfind(|told| told.0 == TurnCompleted::METHOD);
        assert_eq!(last, newest.map(|told| told.1.clone()));
    }
    // A host that reports its compaction only after it.
    sidecar.call::<CompactionReport>(&compaction(CompactionReportStatus::Completed));
    assert_eq!(list(&mut sidecar, THREAD).capsules.len(), 3);
    sidecar.take_notes();
}

#[test]
fn the_newest_twenty_stay() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = begin(&home, &LaunchOptions::default());
    let mut ids = Vec::new();
    for round in 0..25 {
        host.user_turn();
        assert!(host.run(&mut sidecar));
        sidecar.call::<CompactionReport>(&compaction(CompactionReportStatus::Started));
        let capsule = list(&mut sidecar, THREAD).capsules.remove(0).capsule_id;
        let (thread_id, capsule_id) = (THREAD.to_owned(), capsule.clone());
        let attach = CapsuleAttachParams { thread_id, capsule_id, history: Vec::new() };
        sidecar.call::<CapsuleAttach>(&attach);
        sidecar.call::<CompactionReport>(&compaction(CompactionReportStatus::Completed));
        ids.push(capsule);
        assert_eq!(list(&mut sidecar, THREAD).capsules.len(), (round + 1).min(20));
    }
    let kept: Vec<_> =
        list(&mut sidecar, THREAD).capsules.into_iter().map(|kept| kept.capsule_id).collect();
    assert_eq!(kept, ids.iter().rev().take(20).cloned().collect::<Vec<_>>());
    // Including their histories.
    assert_eq!(folder(&home).read_dir().unwrap().count(), 40);
    sidecar.take_notes();
}

#[test]
fn a_sequence_continues_without_a_capsule() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = begin(&home, &LaunchOptions::default());
    // A file in place of the folder.
    fs::write(folder(&home), "").unwrap();
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    assert_eq!(host.performed, ["packet_request", "compact", "handoff"]);
    assert!(sidecar.told().contains("failed to write the capsule"), "{}", sidecar.told());
    sidecar.take_notes();
}

#[test]
fn missing_and_newer_capsules_are_reported_and_ids_are_no_paths() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = begin(&home, &LaunchOptions::default());
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));
    let ask = |capsule: &str| CapsuleGetParams {
        thread_id: THREAD.to_owned(),
        capsule_id: capsule.to_owned(),
        with_history: false,
    };
    assert_eq!(sidecar.failure::<CapsuleGet>(&ask("s9")).code, ErrorCode::UnknownName);
    let outside = sidecar.failure::<CapsuleGet>(&ask("../events"));
    assert_eq!(outside.code, ErrorCode::InvalidParams);
    let params = |capsule: &str| CapsuleAttachParams {
        thread_id: THREAD.to_owned(),
        capsule_id: capsule.to_owned(),
        history: Vec::new(),
    };
    assert_eq!(sidecar.failure::<CapsuleAttach>(&params("s9")).code, ErrorCode::UnknownName);

    fs::write(folder(&home).join("s9.json"), r#"{"v": 9, "id": "s9"}"#).unwrap();
    let newer = sidecar.failure::<CapsuleGet>(&ask("s9"));
    assert_eq!(newer.code, ErrorCode::StoreFailed);
    assert!(newer.message.contains("has format 9"), "{}", newer.message);
    let listed = list(&mut sidecar, THREAD);
    assert_eq!((listed.capsules.len(), listed.unread.len()), (1, 1), "{listed:?}");
    // An observer may read, but not attach.
    let mut observer = TestSidecar::start(&home);
    observer.call::<ThreadOpen>(&host.opening(&home, Role::Observer));
    let capsule = listed.capsules[0].capsule_id.clone();
    assert_eq!(get(&mut observer, THREAD, &capsule).capsule.summary, listed.capsules[0]);
    let refused = observer.failure::<CapsuleAttach>(&params(&capsule));
    assert_eq!(refused.code, ErrorCode::NotOwner);
    observer.take_notes();
    sidecar.take_notes();
}
