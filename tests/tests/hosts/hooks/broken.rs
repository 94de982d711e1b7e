//! Failing hooks do not disturb the agent.

use std::process::Output;

use rawr_tests::mock_responses::TurnScript;
use serde_json::json;

use super::agent::{FULL, HOSTS, MODEL, SAID, WINDOW, claude_turn, codex_turn};
use super::fixture::HooksFixture;

const fn stop(host: &str) -> [&str; 4] {
    ["hook", "Stop", "--host", host]
}

const STOP: [&str; 4] = stop("claude");

/// A transcript under pressure, with a commit.
fn transcript(fixture: &HooksFixture, host: &str) -> String {
    let lines = match host {
        "codex" => codex_turn(FULL, Some(WINDOW)),
        _ => claude_turn(MODEL, FULL),
    };
    let path = fixture.home.path().join("transcript.jsonl");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn stopped(fixture: &HooksFixture, session: &str, transcript: &str) -> String {
    json!({
        "session_id": session, "transcript_path": transcript, "cwd": fixture.repository.path(),
        "hook_event_name": "Stop", "stop_hook_active": false,
        "last_assistant_message": SAID,
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
    for host in HOSTS {
        let fixture = HooksFixture::new(TurnScript::default());
        let path = transcript(&fixture, host);
        let good = stopped(&fixture, "s", &path);
        let gone = stopped(&fixture, "s", "/no/such/transcript.jsonl");
        let escape = stopped(&fixture, "../../s", &path);
        let stop = &stop(host)[..];
        let odd = ["hook", "Odd", "--host", host];
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
        for host in [["someone", "--context-window=1"], [host, "--news"]] {
            let done = fixture.hook(&[&["hook", "Stop", "--host"][..], &host].concat(), &good);
            assert_eq!((done.status.code(), done.stdout.len()), (Some(0), 0), "{host:?}");
            assert!(!done.stderr.is_empty(), "{host:?}");
        }
        assert!(fixture.events().is_empty());
        // What a person types is answered as ever.
        assert_eq!(fixture.run(&["hook"]).status.code(), Some(2));
        assert_eq!(fixture.run(&["status", "--news"]).status.code(), Some(2));
    }
}

#[test]
fn an_unwritable_home_does_not_stop_the_agent() {
    let fixture = HooksFixture::new(TurnScript::default());
    let input = stopped(&fixture, "s", &transcript(&fixture, "claude"));
    std::fs::write(fixture.home.path().join("rawr"), "a file where a folder should be").unwrap();
    check_silent(&fixture.hook(&STOP, &input));
}

#[test]
fn a_thread_owned_by_another_program_is_ignored() {
    let fixture = HooksFixture::new(TurnScript::default());
    let input = stopped(&fixture, "s", &transcript(&fixture, "claude"));
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
        let input = stopped(&fixture, "s", &transcript(&fixture, "claude"));
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
    for (host, (from, to)) in HOSTS.into_iter().flat_map(|host| odd.map(|odd| (host, odd))) {
        let fixture = HooksFixture::new(TurnScript::default());
        let input = stopped(&fixture, "s", &transcript(&fixture, host));
        let (before, after) = input.split_once(from).unwrap();
        let input = [before.as_bytes(), to, after.as_bytes()].concat();
        let asked = String::from_utf8(fixture.hook(&stop(host), &input).stdout).unwrap();
        let is_asked = asked.contains("\"decision\":\"block\"");
        assert!(is_asked, "{host} {to:?}: {asked}{}", fixture.log());
    }
}
