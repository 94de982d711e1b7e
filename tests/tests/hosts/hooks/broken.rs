//! Hooks that cannot do their work: the agent hears nothing of it, and goes on.

use std::io::Write;
use std::process::{Output, Stdio};

use rawr_tests::claude::MODEL;
use rawr_tests::mock_responses::Script;
use serde_json::{Value, json};

use super::lab::{Lab, answers};
use super::session;

fn hook(lab: &Lab, arguments: &[&str], input: &str) -> Output {
    let mut command = lab.rawr(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A hook that does not read is part of the tests.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    child.wait_with_output().unwrap()
}

const STOP: [&str; 4] = ["hook", "Stop", "--host", "claude"];

/// A transcript under pressure, with a commit.
fn transcript(lab: &Lab) -> String {
    let user = |content: Value| {
        json!({"type": "user", "message": {"role": "user", "content": content},
        "toolUseResult": {"stdout": ""}})
    };
    let said = |content: Value| {
        json!({"type": "assistant", "message": {"model": MODEL, "content": [content],
            "usage": {"input_tokens": 70_000, "output_tokens": 20}}})
    };
    let call = json!({"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "git commit -m x"}});
    let result = json!([{"type": "tool_result", "tool_use_id": "a", "content": ""}]);
    let lines = [
        user("Write the parser".into()),
        said(call),
        user(result),
        said(json!({"type": "text", "text": "It is written and committed."})),
    ];
    let path = lab.home.path().join("transcript.jsonl");
    std::fs::write(&path, lines.map(|line| line.to_string()).join("\n") + "\n").unwrap();
    path.display().to_string()
}

fn stopped(lab: &Lab, session: &str, transcript: &str) -> String {
    json!({
        "session_id": session, "transcript_path": transcript, "cwd": lab.repository.path(),
        "hook_event_name": "Stop", "stop_hook_active": false,
        "last_assistant_message": "It is written and committed.",
    })
    .to_string()
}

#[track_caller]
fn check_silent(output: &Output) {
    assert_eq!(output.status.code(), Some(0));
    assert_eq!((&output.stdout[..], &output.stderr[..]), (&b""[..], &b""[..]));
}

#[test]
fn what_cannot_be_done_is_logged_and_nothing_is_said() {
    let lab = Lab::new(Script::default());
    let path = transcript(&lab);
    let good = stopped(&lab, "s", &path);
    let gone = stopped(&lab, "s", "/no/such/transcript.jsonl");
    let escape = stopped(&lab, "../../s", &path);
    let stop = &STOP[..];
    let odd = ["hook", "Odd", "--host", "claude"];
    for (arguments, input, logged) in [
        (stop, "", Some("failed to parse the hook's input")),
        (stop, "{\"session_id\": ", Some("failed to parse the hook's input")),
        (stop, "{}", Some("session_id")),
        // Not written yet, for all that is known.
        (stop, &gone, None),
        (stop, &escape, Some("not a valid file name")),
        (&odd, &good, Some("no hook for Odd")),
    ] {
        let before = lab.log().len();
        check_silent(&hook(&lab, arguments, input));
        match logged {
            Some(words) => assert!(lab.log()[before..].contains(words), "{words}: {}", lab.log()),
            None => assert_eq!(lab.log().len(), before),
        }
    }
    // Of another release: told where an agent does not read it.
    for host in [["someone", "--context-window=1"], ["claude", "--news"]] {
        let done = hook(&lab, &[&["hook", "Stop", "--host"][..], &host].concat(), &good);
        assert_eq!((done.status.code(), done.stdout.len()), (Some(0), 0), "{host:?}");
        assert!(!done.stderr.is_empty(), "{host:?}");
    }
    assert!(lab.events().is_empty());
    // What a person types is answered as ever.
    assert_eq!(lab.run(&["hook"]).status.code(), Some(2));
    assert_eq!(lab.run(&["status", "--news"]).status.code(), Some(2));
}

#[test]
fn a_home_that_cannot_be_written_to_stops_nobody() {
    let lab = Lab::new(Script::default());
    let input = stopped(&lab, "s", &transcript(&lab));
    std::fs::write(lab.home.path().join("rawr"), "a file where a folder should be").unwrap();
    check_silent(&hook(&lab, &STOP, &input));
}

#[test]
fn a_thread_that_another_program_looks_after_is_left_alone() {
    let lab = Lab::new(Script::default());
    let input = stopped(&lab, "s", &transcript(&lab));
    let folder = lab.home.path().join("rawr/auto_compaction/threads/s");
    std::fs::create_dir_all(&folder).unwrap();
    let lock = std::fs::File::create(folder.join("owner.lock")).unwrap();
    lock.lock().unwrap();
    check_silent(&hook(&lab, &STOP, &input));
    assert!(lab.log().contains("is owned by another process"), "{}", lab.log());
    drop(lock);
    let asked = hook(&lab, &STOP, &input);
    assert!(String::from_utf8(asked.stdout).unwrap().contains("\"decision\":\"block\""));
}

/// The hooks stand in the settings, and rawr does not.
#[test]
fn an_agent_whose_rawr_is_gone_goes_on() {
    let lab = Lab::new(session());
    lab.has_hooks_in_every_run();
    let settings = lab.home.path().join(".claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let rawr = rawr_tests::rawr().display().to_string();
    std::fs::write(&settings, text.replace(&rawr, "/no/such/rawr")).unwrap();
    let mut claude = lab.claude();
    let worked = claude.ask("WRITE-PARSER please");
    assert!(answers(&worked, "Stop").is_empty());
    assert_eq!(worked.last().unwrap()["is_error"], false);
    claude.leave();
    assert_eq!(lab.model.requests().len(), 2);
}

#[test]
fn where_rawr_is_off_or_only_suggests_the_agent_is_not_asked() {
    for (config, recorded) in [
        ("features.rawr_auto_compaction = false", false),
        ("rawr_auto_compaction.mode = \"suggest\"", true),
    ] {
        let lab = Lab::new(Script::default());
        std::fs::write(lab.home.path().join("rawr.toml"), config).unwrap();
        let input = stopped(&lab, "s", &transcript(&lab));
        check_silent(&hook(&lab, &STOP, &input));
        assert_eq!((!lab.events().is_empty(), lab.log()), (recorded, String::new()), "{config}");
    }
}
