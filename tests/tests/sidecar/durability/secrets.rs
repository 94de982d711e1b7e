//! What must not reach the disk or leave the home: keys and tokens, and ids that are paths.

use super::{SECRET, THREAD};
use rawr_protocol::methods::{ActionPerform, ThreadOpen};
use rawr_protocol::{Action, ErrorCode, Role};
use rawr_tests::{LaunchOptions, StandIn, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Detected by their shape, by the name that they are assigned to, and by an option.
pub const SECRETS: [&str; 3] = [SECRET, "q7Zt3vXk9LpW2mRb8NcY5sHd4JfG6aTe", "hunter2-9Xq4"];

pub fn said() -> String {
    let [shaped, named, password] = SECRETS;
    format!("use {shaped} for it, API_KEY={named} and run --password {password} x")
}

/// Every text that a host or a person can send.
fn sayings() -> Vec<(&'static str, Value)> {
    let [shaped, named, password] = SECRETS;
    let text = said();
    let turn = |id: &str| json!({ "threadId": THREAD, "turnId": id });
    let with = |mut params: Value, fields: Value| {
        params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        params
    };
    let signal =
        |signal: Value| ("rawr/signal/report", with(turn("t1"), json!({ "signal": signal })));
    vec![
        ("rawr/turn/started", with(turn("t1"), json!({ "origin": "user", "text": text }))),
        signal(json!({ "kind": "plan_updated", "explanation": text,
            "steps": [{ "step": text, "status": "pending" }] })),
        signal(
            json!({ "kind": "command_finished", "command": format!("git push https://x:{shaped}@h/r"),
            "exitCode": 0 }),
        ),
        signal(
            json!({ "kind": "command_finished", "command": ["git", "commit", "-m", text], "exitCode": 0 }),
        ),
        signal(json!({ "kind": "command_finished", "exitCode": 0,
            "command": ["curl", "-H", "X-Api-Key:", named, "-u", format!("app:{password}")] })),
        signal(json!({ "kind": "commit", "subject": text })),
        signal(
            json!({ "kind": "pr_checkpoint", "action": text, "url": format!("https://h/?token={shaped}") }),
        ),
        signal(json!({ "kind": "branch_changed", "branch": text })),
        signal(json!({ "kind": "tool_started", "callId": "c1", "name": text })),
        signal(json!({ "kind": "tool_finished", "callId": "c1" })),
        signal(json!({ "kind": "phase_boundary", "label": text })),
        signal(json!({ "kind": "user_message", "text": text })),
        signal(json!({ "kind": "directive", "text": text, "pinned": true })),
        (
            "rawr/guard/set",
            json!({ "threadId": THREAD, "until": { "kind": "turns", "turns": 0 }, "note": text }),
        ),
        ("rawr/scratch/append", json!({ "threadId": THREAD, "text": text })),
        (
            "rawr/compaction/report",
            json!({ "threadId": THREAD, "status": "failed", "origin": "user", "error": text }),
        ),
        (
            "rawr/turn/usage",
            with(
                turn("t1"),
                json!({ "usage": { "contextTokens": 143_139 }, "lastAgentMessage": text }),
            ),
        ),
        (
            "rawr/turn/completed",
            with(turn("t1"), json!({ "status": "completed", "lastAgentMessage": text })),
        ),
        (
            "rawr/sequence/respond",
            json!({ "threadId": THREAD, "choice": "edit_packet",
            "packet": format!("State: working. Goal: the parser. {text}") }),
        ),
    ]
}

#[test]
fn no_secret_reaches_the_disk() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::spawn(&home, &LaunchOptions::default());
    sidecar.greet(&said());
    sidecar.call::<ThreadOpen>(&StandIn::new(THREAD).opening(&home, Role::Owner));
    let mut say = |method: &str, params: Value| {
        let answer = sidecar.request(method, &params).unwrap();
        answer.unwrap_or_else(|failure| panic!("{method} {params}: {failure:?}"));
    };
    for (method, params) in sayings() {
        say(method, params);
    }
    let text = said();
    let turn = json!({ "threadId": THREAD, "turnId": "t2", "status": "completed",
        "usage": { "contextTokens": 190_000 }, "lastAgentMessage": text });
    say("rawr/turn/completed", turn);
    let asked: Vec<_> = sidecar.take::<ActionPerform>();
    assert!(!asked.is_empty(), "{}", sidecar.told());
    for action in asked {
        for status in ["completed", "failed"] {
            let report = json!({ "threadId": THREAD, "actionId": action.action_id, "status": status,
                "text": text, "error": text });
            let answer = sidecar.request("rawr/action/report", &report).unwrap();
            answer.unwrap_or_else(|failure| panic!("{report}: {failure:?}"));
        }
    }
    sidecar.discard_and_leave();
    for root in [home.path(), home.work()] {
        assert_clean(&root);
    }
}

#[test]
fn a_judges_reason_is_stored_redacted() {
    let home = TestHome::new();
    home.configure(
        "[rawr_auto_compaction]\npolicy.ready.decision_prompt_path = \"judgment.md\"\njudgment.backend = \"host\"\n",
    );
    let mut sidecar = TestSidecar::start(&home);
    let mut opening = StandIn::new(THREAD).opening(&home, Role::Owner);
    opening.host.capabilities.judge = true;
    sidecar.call::<ThreadOpen>(&opening);
    let mut say = |method: &str, params: Value| {
        let answer = sidecar.request(method, &params).unwrap();
        answer.unwrap_or_else(|failure| panic!("{method} {params}: {failure:?}"))
    };
    let turn = json!({ "threadId": THREAD, "turnId": "t1" });
    let with = |fields: Value| {
        let mut params = turn.clone();
        params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        params
    };
    say("rawr/turn/started", with(json!({ "origin": "user" })));
    say("rawr/signal/report", with(json!({ "signal": { "kind": "commit" } })));
    let end = json!({ "status": "completed", "usage": { "contextTokens": 57_000 },
        "lastAgentMessage": "The parser is written; the docs come next." });
    say("rawr/turn/completed", with(end));
    let asked = sidecar.take::<ActionPerform>();
    let Some(Action::Judge { request_id, .. }) = asked.first().map(|asked| &asked.action) else {
        panic!("{asked:?}\n{}", sidecar.told())
    };
    let answer = json!({ "threadId": THREAD, "requestId": request_id, "shouldCompact": false,
        "reason": said() });
    let taken = sidecar.request("rawr/judgment/answer", &answer).unwrap().unwrap();
    assert_eq!(taken["accepted"], true, "{taken}");
    sidecar.discard_and_leave();
    let log = fs::read_to_string(home.events(THREAD)).unwrap();
    assert!(log.contains("[redacted:github-token]"), "{log}");
    assert_clean(&home.path());
}

fn assert_clean(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_clean(&path);
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let line = text.lines().find(|line| SECRETS.iter().any(|secret| line.contains(secret)));
        assert_eq!(line, None, "{}", path.display());
    }
}

// rule: recovery.ids-are-no-paths
#[test]
fn a_thread_id_is_never_a_path() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let long = "x".repeat(300);
    for (id, problem) in [
        ("../x", "begins with a dot"),
        ("..", "begins with a dot"),
        ("a/b", "holds the character '/' at byte 1"),
        ("/etc", "holds the character '/' at byte 0"),
        ("a\\b", "holds the character '\\\\' at byte 1"),
        ("a\nb", "holds the character '\\n' at byte 1"),
        ("a\0b", "holds the character '\\0' at byte 1"),
        ("", "is empty"),
        (long.as_str(), "is 300 bytes long, 200 are allowed"),
        ("CON", "is the name of a device on Windows (CON)"),
        ("a ", "ends with a dot or a space"),
    ] {
        for role in [Role::Owner, Role::Observer] {
            let failure = sidecar.failure::<ThreadOpen>(&StandIn::new(id).opening(&home, role));
            assert_eq!(failure.code, ErrorCode::InvalidParams, "{id:?}");
            assert_eq!(failure.message, format!("threadId {problem}"));
            assert_eq!(failure.data.field.as_deref(), Some("threadId"));
        }
        let answer = sidecar.request("rawr/thread/get", &json!({ "threadId": id })).unwrap();
        assert_eq!(answer.unwrap_err().code, ErrorCode::InvalidParams, "{id:?}");
    }
    sidecar.leave();
    assert!(!home.path().join("rawr").exists(), "a folder was created for a refused id");
}
