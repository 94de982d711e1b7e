//! `rawr replay`: recorded sessions under a configuration. tests/samples/sessions/README.md says why each row is as it is.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use expect_test::{Expect, expect};
use rawr_tests::{err, out};
use serde_json::{Value, json};

use super::CommandFixture;

fn sample(name: &str) -> String {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    samples.join(name).display().to_string()
}

/// The decisions of a replay that printed `--json`.
fn decisions(text: &str) -> Vec<Value> {
    let whole: Value = serde_json::from_str(text).unwrap();
    whole["files"][0]["reports"][0]["decisions"].as_array().unwrap().clone()
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The columns that the README explains.
fn table(rows: &[Value]) -> String {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or("-").to_owned();
    let row = |row: &Value| {
        format!(
            "{} {} {} {}% {} tokens, {}\n",
            row["turn"],
            text(row, "outcome"),
            text(row, "tier"),
            row["percent"],
            row["tokens"],
            text(row, "stoppedBy")
        )
    };
    rows.iter().filter(|row| row["entrance"] != "mid_turn").map(row).collect()
}

fn check_table(file: &str, expected: Expect) {
    let fixture = CommandFixture::new();
    let done = fixture.run(&["replay", &sample(file), "--json"]);
    assert!(done.status.success(), "{}", err(&done));
    expected.assert_eq(&table(&decisions(&out(&done))));
}

#[test]
fn a_session_of_claude_code_is_decided_as_by_hand() {
    check_table(
        "sessions/claude.jsonl",
        expect![[r#"
            1 defer early 57% 71000 tokens, -
            1 nothing early 57% 71000 tokens, -
            2 defer early 54% 76000 tokens, -
            2 defer early 54% 76000 tokens, -
            3 compact early 53% 79000 tokens, -
            4 nothing - 78% 36000 tokens, -
        "#]],
    );
}

#[test]
fn both_formats_of_codex_are_read() {
    check_table(
        "rollouts/legacy.jsonl",
        expect![[r#"
            3 nothing - 68% 69530 tokens, -
        "#]],
    );
    check_table(
        "rollouts/paginated.jsonl",
        expect![[r#"
            1 defer asap 26% 143139 tokens, -
            1 compact asap 26% 143139 tokens, -
            2 nothing - 93% 23718 tokens, -
            3 nothing - 100% 11839 tokens, -
        "#]],
    );
}

#[test]
fn the_sums_are_printed_beside_those_of_another_configuration() {
    let fixture = CommandFixture::new();
    let other = fixture.home.path().join("spec.toml");
    fs::write(&other, "[rawr_auto_compaction]\npreset = \"spec\"\n").unwrap();
    let done = fixture.run(&[
        "replay",
        &sample("sessions/claude.jsonl"),
        "--against",
        other.to_str().unwrap(),
        "--each",
    ]);
    let text = out(&done).replace(&sample(""), "").replace(other.to_str().unwrap(), "spec.toml");
    // The column is as wide as the path.
    let text: Vec<_> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    expect![[r#"
        sessions/claude.jsonl Claude Code, 4 turns: 1 against 1 compactions, 1 by the host itself

        1 session, 4 turns, 0.5 hours of work

        your configuration spec.toml
        compactions 1 1
        in an hour of work 2.22 2.22
        inside a turn 0 0
        at early 1 0
        at asap 0 1
        after agent done 1 1
        after commit 1 0
        after tests pass again 0 1
        proposals 2 0
        confirmed 0 0
        dropped by the next message 1 0
        only failed gate: Boundary 0 2
        compactions of the host by itself 1 1
        inside a turn 1 1
        before any compaction of rawr 0 0
        compactions that a person asked for 0 0
        files read again after these 1 1
        tokens read by requests 1.0 M 0.8 M
        as recorded 1.0 M 1.0 M

        2 turns at which only one of the two compacts:
        sessions/claude.jsonl, turn 1: only spec.toml: 57% left (asap) at tests pass again, agent done
        sessions/claude.jsonl, turn 3: only your configuration: 53% left (early) at commit, agent done; confirmed by a message that closed the work, which is carried out

        Second order: after a compaction, 12% of the window counts as used, so that the next one comes later.
        Of 32 lines, 0 are of an unknown kind, 1 malformed, 0 too long."#]].assert_eq(&text.join("\n"));
}

#[test]
fn a_plot_names_its_axes_and_the_tiers() {
    let fixture = CommandFixture::new();
    let done = fixture.run(&["replay", &sample("stats/events.jsonl"), "--plot"]);
    let text = out(&done);
    // The plot is indented as a whole.
    let plot = text.lines().skip(1).take_while(|line| !line.is_empty()).map(|line| &line[2..]);
    expect![[r#"
        context left
                 █
         80%     █          ████
                 ██         ██████
         60% █   ██████     ██████
             ███┄█████████┄┄█████████ early below 60%
         40% ████████████████████████ ready below 50%
             ████████████████████████ asap below 35%
         20% ████████████████████████
             ████████████████████████ emergency below 15%
          0% ████████████████████████
              ·  ▲     ·▲     ✕   · ·
             24 requests from left to right
             ▲ rawr compacts   · proposes   ✕ the host compacted by itself, or a person"#]]
    .assert_eq(&plot.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_file_of_a_sessions_project_narrows_the_configuration() {
    let fixture = CommandFixture::new();
    let project = fixture.path("project");
    fs::create_dir(&project).unwrap();
    let record = fs::read_to_string(sample("sessions/claude.jsonl")).unwrap();
    let in_project = record.replace("\"cwd\": \"/w\"", &format!("\"cwd\": {project:?}"));
    assert_ne!(in_project, record);
    let file = fixture.path("session.jsonl");
    fs::write(&file, in_project).unwrap();
    let fires = || {
        let done = fixture.run(&["replay", &file.display().to_string(), "--json"]);
        assert!(done.status.success(), "{}", err(&done));
        let whole: Value = serde_json::from_str(&out(&done)).unwrap();
        whole["totals"][0]["fires"].clone()
    };
    assert_eq!(fires(), 1);
    let never = "[rawr_auto_compaction]\nconfirm_percent = 100\n";
    fs::write(project.join(".rawr.toml"), never).unwrap();
    assert_eq!(fires(), 0);
}

/// tests/samples/sessions/README.md has the sums.
#[test]
fn tokens_are_summed_and_cost_what_the_user_wrote_down() {
    let fixture = CommandFixture::new();
    let replay = || {
        let done = fixture.run(&["replay", &sample("sessions/claude.jsonl"), "--json"]);
        assert!(done.status.success(), "{}", err(&done));
        serde_json::from_str::<Value>(&out(&done)).unwrap()
    };
    let shown = |tokens: &Value| {
        let keys = ["requests", "input", "cached", "written", "writtenForHour", "output"];
        keys.map(|key| tokens["claude-opus-4-6"][key].as_u64().unwrap())
    };
    let whole = replay();
    let totals = &whole["totals"][0];
    assert_eq!(shown(&totals["tokens"]), [15, 60, 949_845, 65_895, 0, 4_200]);
    assert_eq!(shown(&totals["recordedTokens"]), [13, 60, 1_010_740, 12_000, 0, 2_200]);
    assert!(whole.get("costs").is_none(), "{whole}");

    let prices = fixture.home.path().join("prices.toml");
    let price = "[\"claude-*\"]\ninput = 5\noutput = 25\ncached = 0.5\nwritten = 6.25\n";
    fs::write(&prices, price).unwrap();
    assert_eq!(replay()["costs"], json!([{ "cents": 99, "recordedCents": 64 }]));

    // Those of another file, which knows other models.
    let others = fixture.path("others.toml");
    fs::write(&others, "[\"gpt-*\"]\ninput = 5\noutput = 25\n").unwrap();
    let named = |file: &Path| {
        let sample = sample("sessions/claude.jsonl");
        fixture.run(&["replay", &sample, "--prices", file.to_str().unwrap()])
    };
    let text = out(&named(&others));
    assert!(text.contains("  without a price, and not in it: claude-opus-4-6\n"), "{text}");
    fs::write(&others, "[\"gpt-*\"]\ninput = 5\n").unwrap();
    let done = named(&others);
    assert!(!done.status.success() && err(&done).contains("missing field `output`"));
}

#[test]
fn first_order_counts_without_compacting() {
    let fixture = CommandFixture::new();
    let done =
        fixture.run(&["replay", &sample("sessions/claude.jsonl"), "--json", "--first-order"]);
    let used = |turn: u64| {
        let rows = decisions(&out(&done));
        let row = rows.iter().rfind(|row| row["turn"] == turn).unwrap().clone();
        row["tokens"].clone()
    };
    // As recorded, because nothing was compacted after turn 2.
    assert_eq!((used(2), used(3)), (76_000.into(), 79_000.into()));
}

#[test]
fn each_turn_is_a_flat_row() {
    let fixture = CommandFixture::new();
    let done = fixture.run(&["replay", &sample("sessions/claude.jsonl"), "--jsonl"]);
    let rows = rows(&out(&done));
    let names = "turn ending requests commands failedCommands tokens proposed compactions \
                 hostCompactions filesReadAgain";
    let mut table = format!("{names}\n");
    for row in &rows {
        assert!(row.as_object().unwrap().values().all(|it| !it.is_object() && !it.is_array()));
        let cells: Vec<_> = names.split(' ').map(|name| row[name].to_string()).collect();
        table.push_str(&format!("{}\n", cells.join(" ")));
    }
    expect![[r#"
        turn ending requests commands failedCommands tokens proposed compactions hostCompactions filesReadAgain
        1 "completed" 4 2 1 71000 true 0 0 0
        2 "completed" 2 1 0 76000 true 0 0 0
        3 "completed" 2 1 0 79000 false 1 0 0
        4 "completed" 4 0 0 36000 false 0 1 1
    "#]].assert_eq(&table);
    // The schema names each column, and no other.
    let schema: Value = serde_json::from_str(rawr_protocol::TURN_ROW_SCHEMA).unwrap();
    let columns: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    let mut written: Vec<_> = rows[0].as_object().unwrap().keys().collect();
    written.sort();
    assert_eq!(written, columns);
    for (name, value) in rows.iter().flat_map(|row| row.as_object().unwrap()) {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "integer",
            _ => "string",
        };
        let types = &schema["properties"][name]["type"];
        let allowed = types.as_array().map_or(vec![types], |types| types.iter().collect());
        assert!(allowed.contains(&&json!(kind)), "{name} is {value}, allowed is {types}");
    }
}

#[test]
fn labels_score_each_configuration_and_the_presets() {
    let fixture = CommandFixture::new();
    let labels = fixture.home.path().join("labels.jsonl");
    let rows = rows(&out(&fixture.run(&["replay", &sample("sessions/claude.jsonl"), "--jsonl"])));
    let session = rows[0]["session"].as_str().unwrap();
    let label = |turn: u32, end: &str| {
        format!("{{\"session\":\"{session}\",\"turn\":{turn},\"end\":\"{end}\"}}\n")
    };
    // The newest label of a turn counts; one of another session counts for nothing.
    let other = "{\"session\":\"other\",\"turn\":1,\"end\":\"no\"}\n".to_owned();
    let text = [label(1, "no"), label(2, "no"), label(2, "yes"), label(4, "weak"), other].concat();
    fs::write(&labels, text).unwrap();
    let replay = |format: &[&str]| {
        let sample = sample("sessions/claude.jsonl");
        let fixed = ["replay", &sample, "--labels", labels.to_str().unwrap()];
        fixture.run(&[&fixed, format].concat())
    };
    let text = out(&replay(&[]));
    let (_, score) = text.split_once("\n\n3 labeled turn ends\n\n").unwrap();
    let score: Vec<_> =
        score.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        score,
        [
            "begun true weak false found",
            "your configuration 1 100% 0% 0% 1 of 1",
            "preset calm 1 100% 0% 0% 1 of 1",
            "preset spec 1 0% 0% 100% 0 of 1",
        ]
    );
    let whole: Value = serde_json::from_str(&out(&replay(&["--json"]))).unwrap();
    assert_eq!(whole["labels"]["labels"], 3);
    assert_eq!(whole["labels"]["counts"][0]["begunAtYes"], 1);

    fs::write(&labels, "{\"turn\":1}").unwrap();
    let done = replay(&[]);
    assert!(!done.status.success());
    assert!(err(&done).contains("labels.jsonl line 1: missing field"), "{}", err(&done));
}

#[test]
fn a_session_from_standard_input_is_decided_as_from_its_file() {
    let fixture = CommandFixture::new();
    let from_file = fixture.run(&["replay", &sample("rollouts/paginated.jsonl"), "--jsonl"]);
    let mut child = fixture
        .command(&["replay", "-", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let bytes = fs::read(sample("rollouts/paginated.jsonl")).unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let done = child.wait_with_output().unwrap();
    let named = out(&from_file).replace(&sample("rollouts/paginated.jsonl"), "-");
    assert_eq!(out(&done), named);
    assert!(!named.is_empty());
}

#[test]
fn damaged_files_are_counted_and_the_rest_is_replayed() {
    let fixture = CommandFixture::new();
    let folder = fixture.temporary.path().join("sessions");
    fs::create_dir(&folder).unwrap();
    let whole = fs::read(sample("sessions/claude.jsonl")).unwrap();
    fs::write(folder.join("whole.jsonl"), &whole).unwrap();
    fs::write(folder.join("cut.jsonl"), &whole[..whole.len() / 2]).unwrap();
    fs::write(folder.join("empty.jsonl"), "").unwrap();
    fs::write(folder.join("binary.jsonl"), b"\0\xff\n\x01\n{").unwrap();
    fs::write(folder.join("broken.jsonl.zst"), "no frame").unwrap();
    let mixed = [b"no json\n".as_slice(), &fs::read(sample("rollouts/legacy.jsonl")).unwrap()];
    fs::write(folder.join("mixed.jsonl"), mixed.concat()).unwrap();
    fs::write(folder.join("notes.txt"), "no session").unwrap();
    let done = fixture.run(&["replay", folder.to_str().unwrap(), "--json"]);
    assert!(done.status.success(), "{}", err(&done));
    let whole: Value = serde_json::from_str(&out(&done)).unwrap();
    let name = |file: &Value| {
        let path = PathBuf::from(file["file"].as_str().unwrap());
        path.file_name().unwrap().to_str().unwrap().to_owned()
    };
    let files = whole["files"].as_array().unwrap();
    let read: Vec<_> = files
        .iter()
        .map(|file| format!("{} {}", name(file), file["reports"][0]["lines"]["malformed"]))
        .collect();
    assert_eq!(read, ["broken.jsonl.zst 0", "cut.jsonl 1", "mixed.jsonl 1", "whole.jsonl 1"]);
    let failed: Vec<_> = files.iter().filter(|file| file["error"].is_string()).map(name).collect();
    assert_eq!(failed, ["broken.jsonl.zst"]);
    let others: Vec<_> = whole["others"].as_array().unwrap().iter().map(name).collect();
    assert_eq!(others, ["binary.jsonl", "empty.jsonl"]);
    assert_eq!(whole["totals"][0]["sessions"], 3);
}

#[test]
fn what_cannot_be_replayed_is_named() {
    let fixture = CommandFixture::new();
    let check = |arguments: &[&str], expected: &str| {
        let done = fixture.run(arguments);
        assert!(!done.status.success() && out(&done).is_empty(), "{arguments:?}");
        assert!(err(&done).contains(expected), "{}", err(&done));
    };
    check(&["replay", "/nowhere"], "rawr: failed to read /nowhere: No such file or directory");
    check(&["replay", "-", "x.jsonl"], "`-` stands alone");
    check(&["replay", "--since", "soon"], "expected a number with h, d or w");
    check(&["replay", &sample("sessions"), "--config", "/none.toml"], "failed to read /none.toml");
    let empty = fixture.temporary.path().to_str().unwrap();
    check(&["replay", empty], "no recorded sessions in");
}

#[test]
fn a_replay_of_no_session_fails() {
    let fixture = CommandFixture::new();
    let empty = fixture.temporary.path().join("empty.jsonl");
    fs::write(&empty, "").unwrap();
    let session = sample("sessions/claude.jsonl");
    let check = |arguments: &[&str]| {
        let done = fixture.run(arguments);
        assert_eq!(done.status.code(), Some(1), "{arguments:?}");
        assert!(err(&done).contains("no session was replayed"), "{}", err(&done));
    };
    check(&["replay", empty.to_str().unwrap()]);
    check(&["replay", "-"]);
    check(&["replay", &session, "--model", "another"]);
    assert!(fixture.run(&["replay", &session, "--model", "OPUS"]).status.success());
    let wrong = fixture.home.path().join("wrong.toml");
    fs::write(&wrong, "[rawr_auto_compaction\n").unwrap();
    let done = fixture.run(&["replay", &session, "--against", wrong.to_str().unwrap()]);
    assert!(!done.status.success() && err(&done).contains("wrong.toml"), "{}", err(&done));
}

#[test]
fn a_file_counts_once_and_its_name_need_not_be_text() {
    use std::os::unix::ffi::OsStringExt;
    let fixture = CommandFixture::new();
    let name = std::ffi::OsString::from_vec(b"\xff\xfe.jsonl".to_vec());
    let odd = fixture.temporary.path().join(name);
    fs::copy(sample("sessions/claude.jsonl"), &odd).unwrap();
    std::os::unix::fs::symlink(&odd, fixture.temporary.path().join("link.jsonl")).unwrap();
    for format in ["--json", "--jsonl"] {
        let mut command = fixture.command(&["replay", format]);
        let done = command.arg(fixture.temporary.path()).arg(&odd).output().unwrap();
        assert!(done.status.success(), "{}", err(&done));
        if format == "--json" {
            let whole: Value = serde_json::from_str(&out(&done)).unwrap();
            assert_eq!(whole["totals"][0]["sessions"], 1);
        }
    }
}

/// The events of the thread are read as those of any host, and decided again.
#[test]
fn a_thread_of_rawr_is_decided_again_as_it_was() {
    let fixture = CommandFixture::new();
    let kept = fixture.temporary.path().join("kept");
    let demo = fixture.run(&["demo", "--keep", kept.to_str().unwrap()]);
    assert!(demo.status.success(), "{}", err(&demo));
    let home = kept.join("home");
    let threads = home.join("rawr/auto_compaction/threads");
    let thread = threads.read_dir().unwrap().next().unwrap().unwrap().path();
    let events = thread.join("events.jsonl");
    let done = fixture.run(&[
        "replay",
        "--home",
        home.to_str().unwrap(),
        events.to_str().unwrap(),
        "--json",
    ]);
    let said = |row: &Value| {
        ["entrance", "outcome", "tier", "percent", "tokens", "boundaries", "reason"]
            .map(|key| row[key].clone())
    };
    let live = fs::read_to_string(thread.join("decisions.jsonl")).unwrap();
    let live: Vec<_> = rows(&live).iter().map(|row| said(&row["decision"])).collect();
    let again: Vec<_> = decisions(&out(&done)).iter().map(said).collect();
    assert!(live.len() >= 5);
    assert_eq!(again, live);
}

fn chromium() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join("chromium")).find(|file| file.exists())
}

/// Without a browser it tests nothing; `tests/run` names that.
#[test]
fn the_page_is_drawn_in_a_browser_without_an_error_in_both_themes() {
    let Some(chromium) = chromium() else {
        assert!(std::env::var_os("CI").is_none(), "chromium is missing");
        return;
    };
    let fixture = CommandFixture::new();
    let page = fixture.temporary.path().join("report.html");
    let done = fixture.run(&[
        "replay",
        &sample("sessions/claude.jsonl"),
        &sample("rollouts/paginated.jsonl"),
        "--html",
        page.to_str().unwrap(),
    ]);
    assert!(done.status.success() && out(&done).is_empty(), "{}", err(&done));
    let drawn = |hash: &str, theme: &str| {
        let drawn = std::process::Command::new(&chromium)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .args(["--enable-logging=stderr", "--v=0", "--disable-dev-shm-usage"])
            .arg(format!("--blink-settings=preferredColorScheme={theme}"))
            .arg(format!("--user-data-dir={}", fixture.home.path().join("browser").display()))
            .arg(format!("file://{}{hash}", page.display()))
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&drawn.stderr).into_owned();
        assert!(!log.contains("CONSOLE"), "{log}");
        let text = String::from_utf8_lossy(&drawn.stdout).into_owned();
        let (before, _) = text.split_once("<noscript>").expect("no page");
        before.to_owned()
    };
    for theme in ["0", "1"] {
        let summary = drawn("", theme);
        assert!(summary.contains("2 sessions, 8 turns"), "{summary}");
        assert!(summary.contains("claude.jsonl") && !summary.contains("<svg"), "{summary}");
        let session = drawn("#2", theme);
        assert!(session.contains("Session 2 of 2"), "{session}");
        assert!(session.contains("<svg") && session.contains("class=\"fire\""), "{session}");
        assert!(session.contains("compacted by host"), "{session}");
    }
}
