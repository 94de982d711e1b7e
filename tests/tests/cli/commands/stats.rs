//! `rawr stats`: how compaction went in stored threads. tests/samples/stats/README.md says why each figure is as it is.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use rawr_tests::{err, out};
use serde_json::{Value, json};

use super::CommandFixture;

fn sample(name: &str) -> Vec<u8> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    fs::read(samples.join(name)).unwrap()
}

/// Stores a thread's log.
fn store(fixture: &CommandFixture, thread: &str, log: &[u8]) -> PathBuf {
    let folder = fixture.path("rawr/auto_compaction/threads").join(thread);
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("events.jsonl");
    fs::write(&file, log).unwrap();
    file
}

fn with_sample() -> CommandFixture {
    let fixture = CommandFixture::new();
    store(&fixture, "stats-sample", &sample("stats/events.jsonl"));
    fixture
}

fn text(fixture: &CommandFixture, arguments: &[&str]) -> String {
    let done = fixture.run(arguments);
    assert!(done.status.success(), "{}", err(&done));
    out(&done)
}

fn json_of(fixture: &CommandFixture, arguments: &[&str]) -> Value {
    serde_json::from_str(&text(fixture, arguments)).unwrap()
}

fn check(fixture: &CommandFixture, arguments: &[&str], expected: Expect) {
    // The columns are as wide as the widest value.
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: Vec<_> = text(fixture, arguments).lines().map(line).collect();
    expected.assert_eq(&text.join("\n"));
}

#[test]
fn the_sums_of_the_sample_are_as_by_hand() {
    check(
        &with_sample(),
        &["stats"],
        expect![[r#"
        1 thread, 14 turns

        compactions 4
        at a confirmed end 1
        confirmed by the next message 1
        confirmed by silence 0
        confirmed by a person 0
        at a boundary, without a proposal 0
        in an emergency 1
        asked for by a person 1
        by the host itself 1
        tier asap 1
        tier emergency 1
        inside a turn 2
        proposals 5
        confirmed 3
        dropped by the next message 1
        stopped by a person 1
        approved 2
        snoozed ("Not now") 2
        skipped ("Skip this one") 1
        asked for at once 1
        packets edited 1
        vetoes of the judge 1
        questions to it 1
        packets 5
        by the agent 2
        by rawr 2
        by a person 1
        facts that agents named 5 of 6 (83%)
        after rawr's additions 6 of 6 (100%)
        standing instructions in packets 8 of 10 (80%)
        after rawr's additions 9 of 10 (90%)
        tokens before → after, median 142,000 → 23,000
        freed in sum 478,000
        estimated by the host 1
        requests until work went on, median 1
        commands run again soon after 1 of 2
        files read again not recorded
        time of each phase, median (p90)
        your approval 30.0 s (30.0 s)
        packet 15.0 s (5 min)
        compaction 40.0 s (1 min)
        handoff 1.5 s (2.0 s)
        sequences not completed 3
        cancelled 1
        cancelled: the turn was interrupted 1
        failed: the compaction failed: overloaded 1
        sequences without an end 1"#]],
    );
}

#[test]
fn each_sequence_of_the_sample_has_its_line() {
    let lines = text(&with_sample(), &["stats", "stats", "--each", "--since", "2025-06-02"]);
    // The first column is an age.
    let line = |line: &str| line.trim_start().split_once("  ").map(|(_, rest)| rest.to_owned());
    let lines: Vec<_> = lines.lines().take(7).filter_map(line).collect();
    expect![[r#"
        codex, 6 turns, /code/parser
        asap, confirmed by silence; packet by rawr, 3 of 3 facts named; failed: the compaction failed: overloaded
        in an emergency, inside a turn: 178,000 → 30,000 tokens; packet by a person, 2 of 3 facts named; work went on with request 1
        by the host itself, inside a turn: 190,000 → 40,000 tokens; packet by rawr, 3 of 3 facts named; work went on with request 1
        confirmed by a person; cancelled
        asap, at a boundary, without a proposal; cancelled: the turn was interrupted
        asked for by a person: 101,000 → 11,000 tokens (host's estimate); packet by the agent, 3 of 3 facts named; not ended"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn only_what_happened_since_is_counted() {
    let fixture = with_sample();
    let totals = |arguments: &[&str]| {
        let stats = json_of(&fixture, arguments);
        let count = |path: &str| stats.pointer(&format!("/totals/{path}")).unwrap().clone();
        let paths = ["turns", "compactions", "proposals/made", "answers/snoozed", "judge/vetoes"];
        Value::from(paths.map(count).to_vec())
    };
    assert_eq!(totals(&["stats", "--json"]), json!([14, 4, 5, 2, 1]));
    assert_eq!(totals(&["stats", "--json", "--since", "2025-06-02"]), json!([6, 3, 2, 0, 0]));
    let done = fixture.run(&["stats", "--since", "2025-06-03"]);
    assert_eq!((done.status.code(), out(&done).as_str()), (Some(1), ""));
    assert_eq!(err(&done), "rawr: nothing was recorded since then\n");
}

/// Only the times differ from one demo to the next.
#[test]
fn the_demo_is_counted_as_it_is_told() {
    let fixture = CommandFixture::new();
    let kept = fixture.temporary.path().join("kept");
    let demo = fixture.run(&["demo", "--json", "--keep", kept.to_str().unwrap()]);
    assert!(demo.status.success(), "{}", err(&demo));
    let told = super::events(&out(&demo));
    let told = |name: &str| told.iter().rfind(|event| event["event"] == name).unwrap().clone();
    let home = kept.join("home");
    let stats = json_of(&fixture, &["stats", "--json", "--home", home.to_str().unwrap()]);
    let mut run = stats["threads"][0]["runs"][0].clone();
    assert_eq!(run["sequence"], told("compaction")["sequenceId"]);
    assert_eq!(run["compaction"]["before"], told("compaction")["tokensBefore"]);
    for time in run["phases"].as_array_mut().unwrap() {
        assert!(time["ms"].take().is_u64());
    }
    // How many files rawr knows of depends on when it looks at the repository. The packet lacks only the branch.
    let facts = run["packet"]["facts"].take();
    let count = |key: &str| facts[key].as_u64().unwrap();
    assert_eq!((count("known") - count("named"), count("known") - count("kept")), (1, 0));
    for key in ["at", "sequence"] {
        run[key].take();
    }
    // After the compaction the first of three commands is one that ran before.
    expect![[r#"
        {
          "at": null,
          "commands": {
            "again": 1,
            "ran": 3
          },
          "compaction": {
            "after": 576,
            "before": 5952,
            "by": "rawr",
            "isMeasured": true
          },
          "endings": [
            {
              "ending": "completed",
              "reason": "handed over"
            }
          ],
          "handedOver": true,
          "insideTurn": false,
          "packet": {
            "author": "agent",
            "directives": {
              "kept": 0,
              "known": 0,
              "named": 0
            },
            "facts": null
          },
          "phases": [
            {
              "ms": null,
              "phase": "awaiting_packet"
            },
            {
              "ms": null,
              "phase": "compacting"
            },
            {
              "ms": null,
              "phase": "awaiting_handoff"
            }
          ],
          "requestsUntilWork": 1,
          "sequence": null,
          "start": "message",
          "tier": "ready"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&run).unwrap());
    assert_eq!(stats["totals"]["turns"], 3);
    assert_eq!(stats["totals"]["proposals"]["byMessage"], 1);
}

#[test]
fn a_home_without_threads_has_no_statistics() {
    let fixture = CommandFixture::new();
    let done = fixture.run(&["stats"]);
    assert_eq!((done.status.code(), out(&done).as_str()), (Some(1), ""));
    assert!(err(&done).contains("there are no threads in"), "{}", err(&done));
    assert!(super::names(fixture.home.path()).is_empty());
}

#[test]
fn a_thread_is_named_by_the_beginning_of_its_id_and_may_be_archived() {
    let fixture = with_sample();
    store(&fixture, "other", &sample("format-2/events.jsonl"));
    let archive = fixture.path("rawr/auto_compaction/archive");
    fs::create_dir(&archive).unwrap();
    let threads = fixture.path("rawr/auto_compaction/threads");
    fs::rename(threads.join("stats-sample"), archive.join("stats-sample")).unwrap();
    let names = |arguments: &[&str]| {
        let stats = json_of(&fixture, arguments);
        let threads = stats["threads"].as_array().unwrap().clone();
        threads.iter().map(|it| it["thread"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["stats", "--json"]), ["other", "stats-sample"]);
    assert_eq!(names(&["stats", "--json", "sta", "stats"]), ["stats-sample"]);
    assert_eq!(names(&["stats", "--json", "last"]), ["other"]);
    let done = fixture.run(&["stats", "nope"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(err(&done).contains("there is no thread `nope`"), "{}", err(&done));
}

#[test]
fn damaged_lines_are_counted_and_the_rest_is_read() {
    let fixture = CommandFixture::new();
    let whole = sample("stats/events.jsonl");
    let lines: Vec<_> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let unknown = b"{\"v\":2,\"at\":1748822400000,\"event\":{\"from_the_future\":{}}}\n".as_slice();
    // The proposal of the first sequence, or the decision that confirms it.
    let without = |decision: &str| {
        let name = format!("\"decision\":\"{decision}\"");
        let is_it = |line: &&[u8]| String::from_utf8_lossy(line).contains(&name);
        let others: Vec<_> = lines.iter().copied().filter(|line| !is_it(line)).collect();
        assert_eq!(others.len() + 1, lines.len());
        others.concat()
    };
    let torn = &lines[lines.len() - 1][..40];
    store(&fixture, "a", &[without("d3").as_slice(), b"no json\n", unknown, torn].concat());
    store(&fixture, "b", &without("d4"));
    store(&fixture, "binary", b"\0\xff\n\x01");
    let stats = json_of(&fixture, &["stats", "--json"]);
    assert_eq!(
        stats["totals"]["lines"],
        json!({ "lines": lines.len() * 2 + 1, "unknown": 1, "malformed": 2, "oversized": 0 })
    );
    let threads = stats["threads"].as_array().unwrap();
    let first: Vec<_> = threads.iter().map(|thread| &thread["runs"][0]["start"]).collect();
    assert_eq!(first, ["not_recorded", "not_recorded"]);
    assert_eq!(stats["totals"]["compactions"], 8);
    assert!(text(&fixture, &["stats"]).contains("1 are of an unknown kind, 2 malformed"));
}

#[test]
fn a_thread_that_cannot_be_read_is_named_and_in_no_figure() {
    let fixture = with_sample();
    store(
        &fixture,
        "newer",
        &[sample("stats/events.jsonl"), sample("future/newer-known-kind.jsonl")].concat(),
    );
    let odd = store(&fixture, "odd", b"");
    fs::remove_file(&odd).unwrap();
    fs::create_dir(&odd).unwrap();
    let stats = json_of(&fixture, &["stats", "--json"]);
    let unread: Vec<_> =
        stats["unread"].as_array().unwrap().iter().map(|it| &it["error"]).collect();
    assert!(unread[0].as_str().unwrap().ends_with("this release reads up to 2: update rawr"));
    assert_eq!(unread[1], "failed to read events.jsonl: not a regular file");
    assert_eq!(stats["totals"]["compactions"], 4);
    let shown = text(&fixture, &["stats"]);
    assert!(shown.contains("\nnewer: line ") && shown.contains("\nodd: failed"), "{shown}");
    let done = fixture.run(&["stats", "newer", "odd"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(err(&done).contains("no thread was read"), "{}", err(&done));
}

#[test]
fn nothing_is_changed() {
    let fixture = with_sample();
    text(&fixture, &["stats", "--each"]);
    let threads = fixture.path("rawr/auto_compaction/threads");
    assert_eq!(super::names(&threads.join("stats-sample")), ["events.jsonl"]);
    assert_eq!(
        fs::read(threads.join("stats-sample/events.jsonl")).unwrap(),
        sample("stats/events.jsonl")
    );
    assert_eq!(super::names(fixture.home.path()), ["rawr"]);
}
