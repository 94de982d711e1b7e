//! Recall in stored rollouts of both formats, and in unreadable files.

use std::fs;
use std::path::{Path, PathBuf};

use rawr_protocol::methods::{RecallSearch, ScratchAppend, ThreadOpen};
use rawr_protocol::{
    ErrorCode, RecallKind, RecallSearchParams, RecallSearchResult, Role, ScratchAppendParams,
    ThreadOpenParams, Transcript,
};
use rawr_tests::{StandIn, TestHome, TestSidecar};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::{out, run};

const THREAD: &str = "recalled";

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/rollouts").join(name)
}

/// A thread whose host stores this transcript.
fn on(home: &TestHome, thread: &str, transcript: &Path) -> (TestSidecar, StandIn) {
    let (mut sidecar, host) = (TestSidecar::start(home), StandIn::new(thread));
    let transcript = Some(Transcript { path: transcript.display().to_string() });
    sidecar.call::<ThreadOpen>(&ThreadOpenParams { transcript, ..host.opening(home, Role::Owner) });
    (sidecar, host)
}

fn search(sidecar: &mut TestSidecar, words: &[&str], limit: Option<u64>) -> RecallSearchResult {
    sidecar.call::<RecallSearch>(&RecallSearchParams {
        words: words.iter().map(|&word| word.to_owned()).collect(),
        thread_id: Some(THREAD.to_owned()),
        limit,
    })
}

fn check(rollout: &str, words: &[&str], expected: &[(RecallKind, u64, &str)]) {
    let home = TestHome::new();
    let (mut sidecar, _) = on(&home, THREAD, &sample(rollout));
    let found = search(&mut sidecar, words, None);
    let places: Vec<_> =
        found.places.iter().map(|place| (place.kind, place.line, place.snippet.as_str())).collect();
    assert_eq!(places, expected, "{rollout} {words:?}");
    assert!(found.places.iter().all(|place| place.at_ms.is_some()));
    assert_eq!((found.more, found.unread), (0, Vec::new()));
    sidecar.take_notes();
}

#[test]
fn rollouts_of_both_formats_are_searched_without_duplicates_newest_first() {
    use RecallKind::{AgentMessage, ToolCall, UserMessage};
    for (rollout, user, agent) in [("paginated.jsonl", 8, 37), ("legacy.jsonl", 8, 33)] {
        check(rollout, &["do-work"], &[(UserMessage, user, "DO-WORK please")]);
        check(
            rollout,
            &["FILE", "done:"],
            &[(AgentMessage, agent, "Done: file written and committed.")],
        );
    }
    check(
        "paginated.jsonl",
        &["git", "commit", "add"],
        &[(
            ToolCall,
            27,
            r#"{"cmd": "git add -A && git commit -q -m 'lab: add a.txt' && git log --oneline | head -1"}"#,
        )],
    );
    // Texts that Codex generates, and repeats of messages for display.
    check("paginated.jsonl", &["environment_context"], &[]);
    check("paginated.jsonl", &["task_started"], &[]);
    check("paginated.jsonl", &["personality", "vivid"], &[]);
}

#[test]
fn packets_summaries_notes_and_instructions_are_found_with_their_lines() {
    let home = TestHome::new();
    let (mut sidecar, mut host) = on(&home, THREAD, &sample("paginated.jsonl"));
    let notes = ScratchAppendParams {
        thread_id: THREAD.to_owned(),
        text: "First.\n\nThe retry budget\nis three.".to_owned(),
    };
    sidecar.call::<ScratchAppend>(&notes);
    host.user_turn_with_boundaries();
    assert!(host.run(&mut sidecar));

    let found = search(&mut sidecar, &["retry", "three"], None);
    let [place] = found.places.as_slice() else { panic!("{found:?}") };
    assert_eq!((place.kind, place.line), (RecallKind::Scratch, 5));
    assert_eq!(place.snippet, "The retry budget is three.");
    let found = search(&mut sidecar, &["expressions"], None);
    let kinds: Vec<_> = found.places.iter().map(|place| place.kind).collect();
    // The handoff with the same text is not listed again.
    assert_eq!(kinds, [RecallKind::Packet]);
    let found = search(&mut sidecar, &["another", "language", "model"], None);
    let kinds: Vec<_> = found.places.iter().map(|place| (place.kind, place.line)).collect();
    assert_eq!(kinds, [(RecallKind::Summary, 55)]);
    // Messages to the stand-in are in the transcript, if anywhere.
    assert_eq!(search(&mut sidecar, &["Understood", "going"], None).places, []);
    sidecar.take_notes();
}

#[test]
fn hits_over_the_limit_are_only_counted() {
    let home = TestHome::new();
    let transcript = home.work().join("transcript.jsonl");
    let line = |number: u32| {
        format!(
            "{{\"timestamp\":\"2026-11-21T22:00:{number:02}.000Z\",\"role\":\"user\",\"content\":\"needle {number}\"}}\n"
        )
    };
    // Not in chronological order.
    fs::write(&transcript, [30, 10, 50, 20, 40].map(line).concat()).unwrap();
    let (mut sidecar, _) = on(&home, THREAD, &transcript);
    let found = search(&mut sidecar, &["needle"], Some(2));
    let places: Vec<_> =
        found.places.iter().map(|place| (place.snippet.as_str(), place.line)).collect();
    assert_eq!(places, [("needle 50", 3), ("needle 40", 5)]);
    assert_eq!(found.more, 3);
    sidecar.take_notes();
}

#[test]
fn a_compressed_transcript_is_found() {
    let home = TestHome::new();
    let line =
        "{\"timestamp\":\"2026-11-21T22:00:00Z\",\"role\":\"user\",\"content\":\"needle\"}\n";
    let packed = compress_to_vec(line.as_bytes(), CompressionLevel::Fastest);
    let archive = home.work().join("archived_sessions");
    fs::create_dir(&archive).unwrap();
    fs::write(archive.join("rollout.jsonl.zst"), &packed).unwrap();
    let transcript = home.work().join("sessions/2026/11/21/rollout.jsonl");
    let (mut sidecar, _) = on(&home, THREAD, &transcript);
    let found = search(&mut sidecar, &["needle"], None);
    assert_eq!(found.unread, []);
    assert_eq!(found.places.iter().map(|place| place.line).collect::<Vec<_>>(), [1]);
    assert!(found.places[0].file.ends_with("rollout.jsonl.zst"), "{found:?}");

    fs::write(archive.join("rollout.jsonl.zst"), &packed[..packed.len() / 2]).unwrap();
    let found = search(&mut sidecar, &["needle"], None);
    assert_eq!((found.places.len(), found.unread.len()), (0, 1), "{found:?}");
    sidecar.take_notes();
}

#[test]
fn unreadable_files_are_reported_and_the_rest_is_searched() {
    let home = TestHome::new();
    let transcript = home.work().join("transcript.jsonl");
    let long = format!("{{\"role\":\"user\",\"content\":\"needle {}\"}}\n", "x".repeat(33 << 20));
    let text = format!(
        "not JSON with a needle\n{long}{{\"role\":\"user\",\"content\":\"needle\"}}\n{{\"role\":\"user\",\"content\":\"needle half"
    );
    fs::write(&transcript, text).unwrap();
    let (mut sidecar, _) = on(&home, THREAD, &transcript);
    let found = search(&mut sidecar, &["needle"], None);
    assert_eq!(found.places.iter().map(|place| place.line).collect::<Vec<_>>(), [3]);
    assert_eq!(found.unread.len(), 1, "{found:?}");
    assert!(found.unread[0].error.contains("2 lines"), "{found:?}");

    // A pipe would never end, and a link could lead anywhere.
    fs::remove_file(&transcript).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &transcript,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let outside = home.path().join("outside.md");
    fs::write(&outside, "the needle of another user").unwrap();
    let notes = ScratchAppendParams { thread_id: THREAD.to_owned(), text: "a note".to_owned() };
    let file = sidecar.call::<ScratchAppend>(&notes).scratch_file;
    fs::remove_file(home.work().join(&file)).unwrap();
    std::os::unix::fs::symlink(&outside, home.work().join(&file)).unwrap();
    let found = search(&mut sidecar, &["needle"], None);
    assert_eq!(found.places, []);
    let errors: Vec<_> = found.unread.iter().map(|unread| unread.error.as_str()).collect();
    assert_eq!(errors, ["not a regular file", "outside of the thread's folder"]);
    let words = RecallSearchParams { words: vec![" ".to_owned()], thread_id: None, limit: None };
    assert_eq!(sidecar.failure::<RecallSearch>(&words).code, ErrorCode::InvalidParams);
    sidecar.take_notes();
}

#[test]
fn all_threads_are_searched_on_request() {
    let home = TestHome::new();
    for thread in [THREAD, "another"] {
        let (mut sidecar, mut host) =
            on(&home, thread, &home.work().join(format!("{thread}.jsonl")));
        host.user_turn_with_boundaries();
        assert!(host.run(&mut sidecar));
        sidecar.discard_and_leave();
    }
    let words = ["regular", "expressions"];
    let one = run(&home.path(), &[&["recall", "--thread", THREAD], &words[..]].concat());
    assert_eq!(out(&one).matches("packet").count(), 1, "{}", out(&one));
    let all = out(&run(&home.path(), &[&["recall", "--all"], &words[..]].concat()));
    assert!(all.contains("· thread another") && all.contains("· thread recalled"), "{all}");
    assert!(!all.contains('\u{1b}'), "{all}");
}
