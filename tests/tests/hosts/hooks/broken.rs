//! Failing hooks do not disturb the agent.

use std::process::Output;

use rawr_tests::claude::MODEL;
use rawr_tests::mock_responses::TurnScript;
use serde_json::{Value, json};

use super::fixture::HooksFixture;

const STOP: [&str; 4] = ["hook", "Stop", "--host", "claude"];

/// A transcript under pressure, with a commit.
fn transcript(fixture: &HooksFixture) -> String {
    let user = |content: Value| {
        json!({"type": "user", "message": {"role": "user", "content": content},
        "toolUseResult": {"stdout": ""}})
    };
    let said = |content: Value| {
        json!({"type": "assistant", "message": {"model": MODEL, "content": [content],
            "usage": {"input_tokens": 120_000, "output_tokens": 20}}})
    };
    let call = json!({"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "git commit -m x"}});
    let result = json!([{"type": "tool_result", "tool_use_id": "a", "content": ""}]);
    let lines = [
        user("Write the parser".into()),
        said(call),
        user(result),
        said(json!({"type": "text", "text": "It is written and committed."})),
    ];
    let path = fixture.home.path().join("transcript.jsonl");
    std::fs::write(&path, lines.map(|line| line.to_string()).join("\n") + "\n").unwrap();
    path.display().to_string()
}

fn stopped(fixture: &HooksFixture, session: &str, transcript: &str) -> String {
    json!({
        "session_id": session, "transcript_path": transcript, "cwd": fixture.repository.path(),
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
fn failures_are_logged_and_not_shown() {
    let fixture = HooksFixture::new(TurnScript::default());
    let path = transcript(&fixture);
    let good = stopped(&fixture, "s", &path);
    let gone = stopped(&fixture, "s", "/no/such/transcript.jsonl");
    let escape = stopped(&fixture, "../../s", &path);
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
        let before = fixture.log().len();
        check_silent(&fixture.hook(arguments, input));
        match logged {
            Some(words) => {
                assert!(fixture.log()[before..].contains(words), "{words}: {}", fixture.log())
            }
            None => assert_eq!(fixture.log().len(), before),
        }
    }
    // Arguments of another release: told where an agent does not read it.
    for host in [["someone", "--context-window=1"], ["claude", "--news"]] {
        let done = fixture.hook(&[&["hook", "Stop", "--host"][..], &host].concat(), &good);
        assert_eq!((done.status.code(), done.stdout.len()), (Some(0), 0), "{host:?}");
        assert!(!done.stderr.is_empty(), "{host:?}");
    }
    assert!(fixture.events().is_empty());
    // What a person types is answered as ever.
    assert_eq!(fixture.run(&["hook"]).status.code(), Some(2));
    assert_eq!(fixture.run(&["status", "--news"]).status.code(), Some(2));
}

#[test]
fn an_unwritable_home_does_not_stop_the_agent() {
    let fixture = HooksFixture::new(TurnScript::default());
    let input = stopped(&fixture, "s", &transcript(&fixture));
    std::fs::write(fixture.home.path().join("rawr"), "a file where a folder should be").unwrap();
    check_silent(&fixture.hook(&STOP, &input));
}

#[test]
fn a_thread_owned_by_another_program_is_ignored() {
    let fixture = HooksFixture::new(TurnScript::default());
    let input = stopped(&fixture, "s", &transcript(&fixture));
    let folder = fixture.home.path().join("rawr/auto_compaction/threads/s");
    std::fs::create_dir_all(&folder).unwrap();
    let lock = std::fs::File::create(folder.join("owner.lock")).unwrap();
    lock.lock().unwrap();
    check_silent(&fixture.hook(&STOP, &input));
    assert_eq!(fixture.log(), "");
    drop(lock);
    let asked = fixture.hook(&STOP, &input);
    assert!(String::from_utf8(asked.stdout).unwrap().contains("\"decision\":\"block\""));
}

#[test]
fn in_modes_off_and_suggest_the_agent_is_not_asked() {
    for (config, recorded) in [
        ("features.rawr_auto_compaction = false", false),
        ("rawr_auto_compaction.mode = \"suggest\"", true),
    ] {
        let fixture = HooksFixture::new(TurnScript::default());
        std::fs::write(fixture.home.path().join("rawr.toml"), config).unwrap();
        let input = stopped(&fixture, "s", &transcript(&fixture));
        check_silent(&fixture.hook(&STOP, &input));
        assert_eq!(
            (!fixture.events().is_empty(), fixture.log()),
            (recorded, String::new()),
            "{config}"
        );
    }
}

/// JavaScript and other releases write these.
#[test]
fn odd_values_lose_no_turn() {
    let odd: [(&str, &[u8]); 5] = [
        ("committed.\"", br#"committed. \ud83d""#),
        ("committed.\"", b"committed. \xff\""),
        (r#""stop_hook_active":false"#, br#""stop_hook_active":null"#),
        (r#""stop_hook_active":false"#, br#""model":{"id":"m"}"#),
        ("", "\u{feff}".as_bytes()),
    ];
    for (from, to) in odd {
        let fixture = HooksFixture::new(TurnScript::default());
        let input = stopped(&fixture, "s", &transcript(&fixture));
        let (before, after) = input.split_once(from).unwrap();
        let input = [before.as_bytes(), to, after.as_bytes()].concat();
        let asked = String::from_utf8(fixture.hook(&STOP, &input).stdout).unwrap();
        assert!(asked.contains("\"decision\":\"block\""), "{to:?}: {asked}{}", fixture.log());
    }
}
