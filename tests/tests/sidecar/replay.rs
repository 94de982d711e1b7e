//! `rawr/replay/run`: the figures of `rawr replay`, over the protocol, with progress, cancellation, and one at a time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use crate::fixture::command;
use expect_test::{Expect, expect};
use rawr_protocol::methods::{CancelRequest, Progress, ReplayRun, ThreadList};
use rawr_protocol::{
    CancelParams, ErrorCode, Preset, ProgressToken, ReplayConfiguration, ReplayDetailName,
    ReplayOrder, ReplayRunParams, ReplayRunResult, ReplaySums, RequestId, ThreadListParams,
    WorkDoneProgress,
};
use rawr_tests::root;
use rawr_tests::{LaunchOptions, TestHome, TestSidecar, out};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn sample(name: &str) -> PathBuf {
    root().join("tests/samples").join(name)
}

fn text(path: impl AsRef<Path>) -> String {
    path.as_ref().display().to_string()
}

fn of(path: impl AsRef<Path>) -> ReplayRunParams {
    ReplayRunParams { paths: vec![text(path)], ..ReplayRunParams::default() }
}

fn preset(preset: Preset) -> ReplayConfiguration {
    ReplayConfiguration::Preset { preset }
}

/// The figures that tell whether a replay was run as it was asked for.
fn figures(result: &ReplayRunResult) -> String {
    let names = result.configurations.iter().zip(&result.totals);
    let row = |(name, sums): (&String, &ReplaySums)| {
        let ReplaySums { sessions, proposals, fires, .. } = sums;
        format!("{name}: {sessions} sessions, {proposals} proposals, {fires} compactions\n")
    };
    names.map(row).collect()
}

/// A folder with so many sessions that a replay of it under all these configurations takes many seconds.
fn endless(home: &TestHome) -> ReplayRunParams {
    let folder = home.work().join("endless");
    fs::create_dir(&folder).unwrap();
    let session = folder.join("0.jsonl");
    fs::copy(sample("rollouts/paginated.jsonl"), &session).unwrap();
    for number in 1..3000 {
        fs::hard_link(&session, folder.join(format!("{number}.jsonl"))).unwrap();
    }
    ReplayRunParams {
        configurations: vec![preset(Preset::Spec); 8],
        work_done_token: Some(ProgressToken::Text("endless".to_owned())),
        ..of(folder)
    }
}

fn cancel(sidecar: &mut TestSidecar, id: u64) -> ErrorCode {
    let id_of_it = RequestId::Number(i64::try_from(id).unwrap());
    sidecar.notify::<CancelRequest>(&CancelParams { id: id_of_it });
    sidecar.answer::<ReplayRun>(id).unwrap_err().code
}

/// Waits for the end of a progress, and returns its message.
fn end_of_progress(sidecar: &mut TestSidecar) -> Option<String> {
    loop {
        if let WorkDoneProgress::End { message } = sidecar.expect::<Progress>().value {
            return message;
        }
    }
}

#[test]
fn the_result_is_what_rawr_replay_prints() {
    let home = TestHome::new();
    let other = home.work().join("calm.toml");
    fs::write(&other, "[rawr_auto_compaction]\npreset = \"calm\"\n").unwrap();
    let stray = home.work().join("stray.jsonl");
    fs::write(&stray, "{\"no\": \"session\"}\n").unwrap();
    let paths = [sample("sessions/claude.jsonl"), sample("rollouts"), stray].map(text);
    for (order, option) in
        [(ReplayOrder::Second, None), (ReplayOrder::First, Some("--first-order"))]
    {
        let mut arguments = vec!["replay", "--json", "--against", other.to_str().unwrap()];
        arguments.extend(option);
        arguments.extend(paths.iter().map(String::as_str));
        let printed = out(&command(&home.path(), &arguments).output().unwrap());
        let printed: Value = serde_json::from_str(&printed).unwrap();

        let mut sidecar = TestSidecar::start(&home);
        let file = text(&other);
        let params = ReplayRunParams {
            paths: paths.to_vec(),
            configurations: vec![ReplayConfiguration::Own, ReplayConfiguration::File { file }],
            order: Some(order),
            detail: Some(ReplayDetailName::Whole),
            ..ReplayRunParams::default()
        };
        let params = serde_json::to_value(params).unwrap();
        let answered = sidecar.request("rawr/replay/run", &params).unwrap().unwrap();
        sidecar.leave();
        assert_eq!(answered, printed, "{order}");
        assert_ne!(printed["totals"][0], printed["totals"][1], "the configurations differ");
        assert_eq!(printed["others"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn the_detail_is_chosen() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let mut parts = |detail| {
        let params = ReplayRunParams { detail, ..of(sample("sessions/claude.jsonl")) };
        let result = sidecar.call::<ReplayRun>(&params);
        let report = &result.files[0].reports[0];
        let lengths = [report.ended.len(), report.decisions.len(), report.context.len()];
        (lengths.map(|length| length > 0), report.turns, report.recorded.len())
    };
    assert_eq!(parts(None), ([false, false, false], 4, 1));
    assert_eq!(parts(Some(ReplayDetailName::Sums)), ([false, false, false], 4, 1));
    assert_eq!(parts(Some(ReplayDetailName::Decisions)), ([true, true, false], 4, 1));
    assert_eq!(parts(Some(ReplayDetailName::Whole)), ([true, true, true], 4, 1));
    sidecar.leave();
}

#[test]
fn without_paths_the_users_own_sessions_are_replayed_and_filtered() {
    let home = TestHome::new();
    let [codex, claude] = ["codex", "claude"].map(|name| home.work().join(name));
    let [archived, project] = [codex.join("archived_sessions"), claude.join("projects/p")];
    for folder in [&archived, &project] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::copy(sample("rollouts/legacy.jsonl"), archived.join("rollout.jsonl")).unwrap();
    fs::copy(sample("sessions/claude.jsonl"), project.join("session.jsonl")).unwrap();
    let launch = LaunchOptions {
        environment: vec![
            ("CODEX_HOME", codex.clone().into()),
            ("CLAUDE_CONFIG_DIR", claude.clone().into()),
        ],
        ..LaunchOptions::default()
    };
    let mut sidecar = TestSidecar::launch(&home, &launch);
    let all = sidecar.call::<ReplayRun>(&ReplayRunParams::default());
    let files: Vec<_> = all.files.iter().map(|file| PathBuf::from(&file.file)).collect();
    assert_eq!(files, [project.join("session.jsonl"), archived.join("rollout.jsonl")]);

    let model = Some("OPUS".to_owned());
    let of_model = sidecar.call::<ReplayRun>(&ReplayRunParams { model, ..Default::default() });
    assert_eq!((of_model.files.len(), of_model.totals[0].sessions), (1, 1));

    // No file is that new.
    let since = Some(4_000_000_000_000);
    let failure = sidecar.failure::<ReplayRun>(&ReplayRunParams { since, ..Default::default() });
    assert!(failure.message.starts_with("no recorded sessions in "), "{}", failure.message);
    let since = Some(0);
    let old = sidecar.call::<ReplayRun>(&ReplayRunParams { since, ..Default::default() });
    assert_eq!(old, all);
    sidecar.leave();
}

#[test]
fn configurations_and_the_window_decide() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let mut check = |window, expected: Expect| {
        let configurations = [Preset::Calm, Preset::Spec].map(preset).into_iter().collect();
        let params =
            ReplayRunParams { configurations, window, ..of(sample("sessions/claude.jsonl")) };
        expected.assert_eq(&figures(&sidecar.call::<ReplayRun>(&params)));
    };
    check(
        None,
        expect![[r#"
            preset calm: 1 sessions, 2 proposals, 1 compactions
            preset spec: 1 sessions, 0 proposals, 1 compactions
        "#]],
    );
    check(
        Some(1_000_000),
        expect![[r#"
            preset calm: 1 sessions, 0 proposals, 0 compactions
            preset spec: 1 sessions, 0 proposals, 0 compactions
        "#]],
    );
    sidecar.leave();
}

// rule: client.work-done-progress
#[test]
fn progress_is_reported_to_who_asks_for_it_before_the_answer() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let folder = sample("rollouts");
    // Without a token, `leave` would find unread notifications.
    let silent = sidecar.call::<ReplayRun>(&of(&folder));
    assert_eq!(sidecar.take_notes(), []);

    let token = ProgressToken::Number(17);
    let params = ReplayRunParams { work_done_token: Some(token.clone()), ..of(&folder) };
    assert_eq!(sidecar.call::<ReplayRun>(&params), silent);
    let told = sidecar.take::<Progress>();
    assert!(told.iter().all(|progress| progress.token == token), "{told:?}");
    let values: Vec<_> = told.into_iter().map(|progress| progress.value).collect();
    let [begin, reports @ .., end] = values.as_slice() else { panic!("{values:?}") };
    let title = "Replaying sessions".to_owned();
    let begun = WorkDoneProgress::Begin { title, cancellable: true, percentage: Some(0) };
    assert_eq!((begin, end), (&begun, &WorkDoneProgress::End { message: None }));
    // Where two are done at the same time, only the later one may be reported.
    let message = Some("2 of 2 sessions".to_owned());
    let last = WorkDoneProgress::Report { message, percentage: Some(100) };
    assert_eq!(reports.last(), Some(&last));
    let message = Some("1 of 2 sessions".to_owned());
    let first = WorkDoneProgress::Report { message, percentage: Some(50) };
    assert!(reports == [first, last.clone()] || reports == [last], "{reports:?}");
    sidecar.leave();
}

// rule: client.others-answered
// rule: client.one-replay
#[test]
fn others_are_answered_while_one_replay_runs_and_another_is_refused() {
    let home = TestHome::new();
    let params = endless(&home);
    let mut sidecar = TestSidecar::start(&home);
    let id = sidecar.ask::<ReplayRun>(&params);
    assert_eq!(sidecar.call::<ThreadList>(&ThreadListParams {}).threads, []);
    let refused = sidecar.failure::<ReplayRun>(&of(sample("sessions/claude.jsonl")));
    assert_eq!(refused.code, ErrorCode::Busy);
    expect!["a replay is already running; wait for its answer, or cancel it"]
        .assert_eq(&format!("{}; {}", refused.message, refused.data.hint));
    assert_eq!(cancel(&mut sidecar, id), ErrorCode::RequestCancelled);
    sidecar.allow::<Progress>();
    sidecar.leave();
}

// rule: client.cancel-ends-work
#[test]
fn a_cancelled_replay_stops_and_makes_room_for_the_next() {
    let home = TestHome::new();
    let params = endless(&home);
    let mut sidecar = TestSidecar::start(&home);
    let id = sidecar.ask::<ReplayRun>(&params);
    // The replay is at work.
    while !matches!(sidecar.expect::<Progress>().value, WorkDoneProgress::Report { .. }) {}
    assert_eq!(cancel(&mut sidecar, id), ErrorCode::RequestCancelled);
    let next = sidecar.call::<ReplayRun>(&of(sample("sessions/claude.jsonl")));
    assert_eq!(next.totals[0].sessions, 1);
    assert_eq!(end_of_progress(&mut sidecar).as_deref(), Some("cancelled"));
    sidecar.leave();
}

#[test]
fn a_sidecar_leaves_while_a_replay_runs() {
    let home = TestHome::new();
    let params = endless(&home);
    let mut sidecar = TestSidecar::start(&home);
    sidecar.ask::<ReplayRun>(&params);
    sidecar.wait_for::<Progress>();
    sidecar.allow::<Progress>();
    // If it waited for the replay, the answer would be one that the test does not read.
    sidecar.leave();
}

#[test]
fn wrong_params_are_refused() {
    let home = TestHome::new();
    let wrong = home.work().join("wrong.toml");
    fs::write(&wrong, "[rawr_auto_compaction]\npreset = \"loud\"\n").unwrap();
    let missing = home.work().join("missing");
    let folder = home.work().join("empty");
    fs::create_dir(&folder).unwrap();
    let mut sidecar = TestSidecar::start(&home);
    let session = of(sample("sessions/claude.jsonl"));
    let file = |file: &Path| vec![ReplayConfiguration::File { file: text(file) }];
    let with = |configurations| ReplayRunParams { configurations, ..session.clone() };
    let all = [
        of("sessions"),
        of(&missing),
        of(&folder),
        with(file(Path::new("rawr.toml"))),
        with(file(&missing)),
        with(file(&wrong)),
        with(vec![ReplayConfiguration::Own; 9]),
        ReplayRunParams { window: Some(0), ..session.clone() },
        ReplayRunParams { since: Some(-1), ..session.clone() },
    ];
    let mut told = String::new();
    for params in all {
        let failure = sidecar.failure::<ReplayRun>(&params);
        assert_eq!(failure.code, ErrorCode::InvalidParams, "{}", failure.message);
        let field = failure.data.field.unwrap_or_default();
        told.push_str(&format!("{field}: {}\n", failure.message));
    }
    let told = told.replace(&text(home.work()), "W");
    expect![[r#"
        paths: `sessions` is not an absolute path
        paths: failed to read W/missing: No such file or directory (os error 2)
        paths: no recorded sessions in W/empty; pass the path of a file or folder
        configurations: `rawr.toml` is not an absolute path
        configurations: failed to read W/missing: No such file or directory (os error 2)
        configurations: W/wrong.toml: `rawr_auto_compaction.preset` cannot be `loud`; `rawr config check` shows where
        configurations: 9 configurations, and at most 8
        window: a window has at least 1 token
        since: -1 is no time in Unix milliseconds
    "#]].assert_eq(&told);
    let params = serde_json::json!({ "configurations": [{ "kind": "preset", "preset": "loud" }] });
    let unknown = sidecar.request("rawr/replay/run", &params).unwrap().unwrap_err();
    assert_eq!(unknown.code, ErrorCode::InvalidParams);
    assert!(unknown.message.contains("expected `calm` or `spec`"), "{}", unknown.message);
    sidecar.leave();
}

#[test]
fn a_result_that_is_too_large_is_refused_with_what_to_do() {
    let home = TestHome::new();
    let folder = home.work().join("large");
    fs::create_dir(&folder).unwrap();
    // Every report names the working directory: 8 reports of 5 files are more than one answer holds.
    let session = fs::read_to_string(sample("sessions/claude.jsonl")).unwrap();
    let session = session.replace("\"/w\"", &format!("\"/{}\"", "w".repeat(1 << 20)));
    for number in 0..5 {
        fs::write(folder.join(format!("{number}.jsonl")), &session).unwrap();
    }
    let mut sidecar = TestSidecar::start(&home);
    let run =
        |path: &Path| ReplayRunParams { configurations: vec![preset(Preset::Spec); 8], ..of(path) };
    let failure = sidecar.failure::<ReplayRun>(&run(&folder));
    assert_eq!(failure.code, ErrorCode::InvalidParams);
    assert_eq!(failure.data.field.as_deref(), Some("detail"));
    expect![
        "the result is larger than 33554432 bytes; ask for less `detail`, or for fewer `paths`"
    ]
    .assert_eq(&format!("{}; {}", failure.message, failure.data.hint));
    let one = sidecar.call::<ReplayRun>(&run(&folder.join("0.jsonl")));
    assert_eq!(one.files[0].reports.len(), 8);
    sidecar.leave();
}
