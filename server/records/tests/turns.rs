//! The turns of records, for who takes over from a process that died.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rawr_records::read::{claude_turns, codex_turns};
use rawr_records::turns::{RecordedMessage, RecordedTurn, last_usage, open_turn};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples").join(name)
}

fn event(payload: Value) -> Value {
    json!({"timestamp": "", "type": "event_msg", "payload": payload})
}

fn started(turn: &str) -> Value {
    event(json!({"type": "task_started", "turn_id": turn, "model_context_window": 190_000}))
}

fn count(tokens: u64) -> Value {
    event(json!({"type": "token_count", "info": {
        "total_token_usage": {"total_tokens": 900_000},
        "last_token_usage": {"total_tokens": tokens, "input_tokens": tokens},
        "model_context_window": 190_000,
    }}))
}

fn compacted() -> Value {
    json!({"timestamp": "", "type": "compacted", "payload": {"message": "\"token_count\""}})
}

/// The last line of the file is torn.
fn rollout(lines: &[Value]) -> Vec<RecordedTurn> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(file.path(), text + "{\"type\":\"event_msg\",\"payl").unwrap();
    codex_turns(file.path())
}

#[test]
fn the_last_turn_is_open_until_its_end_is_in_the_file() {
    let check = |lines: &[Value], expected: Option<&str>| {
        let turns = rollout(lines);
        assert_eq!(open_turn(&turns).map(|turn| turn.turn_id.as_str()), expected);
    };
    let over = |turn| event(json!({"type": "task_complete", "turn_id": turn}));
    let aborted = || event(json!({"type": "turn_aborted", "reason": "interrupted"}));
    check(&[], None);
    check(&[started("t1"), over("t1"), started("t2"), count(9)], Some("t2"));
    check(&[started("t1"), started("t2"), over("t1")], Some("t2"));
    check(&[started("t1"), started("t2"), over("t2")], None);
    check(&[started("t1"), aborted()], None);
}

#[test]
fn the_last_usage_is_that_of_the_history_as_it_is() {
    let check = |lines: &[Value], expected: Option<(&str, u64)>| {
        let turns = rollout(lines);
        let last = last_usage(&turns);
        let last = last.map(|(turn, last)| (turn.turn_id.as_str(), last.usage.context_tokens));
        assert_eq!(last, expected, "{lines:?}");
    };
    check(&[], None);
    check(&[started("a"), count(10), started("b"), count(20), count(30)], Some(("b", 30)));
    let empty = event(json!({"type": "token_count", "info": null}));
    check(&[started("a"), count(10), empty], Some(("a", 10)));
    // The usage before a compaction in its turn is that of its own request.
    let before = [started("a"), count(10), started("c"), count(10), count(12), compacted()];
    check(&before, None);
    check(&[&before[..], &[count(4)]].concat(), Some(("c", 4)));
    check(&[&before[..], &[started("d")]].concat(), None);
    // Codex writes a compaction only with its summary, so the file cannot tell a running one from a turn.
    check(&[started("a"), count(10), started("c")], Some(("a", 10)));
    check(&[started("a"), count(10), started("c"), count(10)], Some(("c", 10)));
    let inside = [started("a"), count(10), count(12), compacted(), count(4), count(7)];
    for (until, left) in [(4, None), (5, Some(("a", 4))), (6, Some(("a", 7)))] {
        check(&inside[..until], left);
    }
}

#[test]
fn usage_is_read_from_releases_that_store_no_starts() {
    let turns = rollout(&[event(json!({"type": "user_message", "message": "go"})), count(10)]);
    let last =
        last_usage(&turns).map(|(turn, last)| (turn.turn_id.as_str(), last.usage.context_tokens));
    assert_eq!((last, open_turn(&turns)), (Some(("", 10)), None));
}

#[test]
fn a_missing_file_has_no_turns() {
    assert_eq!(codex_turns(Path::new("/no/such/rollout.jsonl")), []);
    assert_eq!(claude_turns(Path::new("/no/such/transcript.jsonl")), []);
}

#[test]
fn turns_are_read_from_both_formats_of_codex() {
    for name in ["legacy", "paginated"] {
        let turns = codex_turns(&sample(&format!("rollouts/{name}.jsonl")));
        let is_request =
            |sent: &RecordedMessage| sent.text.contains("Reply with one continuation packet");
        let asked = turns.iter().find(|turn| turn.sent.iter().any(is_request));
        let asked = asked.unwrap_or_else(|| panic!("{name}: {turns:?}"));
        assert!(asked.has_ended, "{name}");
        let said = asked.last_agent_message.as_deref().unwrap_or_default();
        assert!(said.starts_with("<continuation_packet>"), "{name}: {said}");
        let compacted = turns.iter().find(|turn| turn.compacted.is_some());
        let compacted = compacted.unwrap_or_else(|| panic!("{name}: {turns:?}"));
        assert!(compacted.began_at_ms > asked.began_at_ms, "{name}");
        let first = turns[0].sent.iter().map(|sent| (sent.is_users, sent.text.as_str()));
        let first: Vec<_> = first.collect();
        assert!(matches!(first[..], [(false, _), (true, "DO-WORK please")]), "{name}: {first:?}");
        let later =
            |turn: &RecordedTurn| turn.sent.iter().all(|sent| sent.at_ms > turn.began_at_ms);
        assert!(turns.iter().all(later), "{name}: {turns:?}");
        assert!(compacted.compacted.as_ref().is_some_and(|it| it.before.is_some()), "{name}");
    }
}

/// A session with a note and a prompt of the plugin, two compactions and a message of the user.
#[test]
fn turns_are_read_from_a_transcript_of_claude_code() {
    let short = |sent: &RecordedMessage| {
        let by = if sent.is_users { "user" } else { "rawr" };
        format!("{by}: {}", sent.text.lines().nth(1).unwrap_or(&sent.text))
    };
    let turns = claude_turns(&sample("claude-mod-session.jsonl"));
    let told: Vec<_> = turns
        .iter()
        .map(|turn| {
            let sent: Vec<_> = turn.sent.iter().map(short).collect();
            let said = turn.last_agent_message.as_deref().unwrap_or("-");
            let compacted = turn.compacted.as_ref().map(|it| (it.before, it.after));
            format!("{sent:?} {said} {} {compacted:?}", turn.has_ended)
        })
        .collect();
    expect_test::expect![[r#"
        ["user: DO-WORK please"] Done: committed. true None
        ["user: NEXT-STEP bare message", "rawr: [rawr] HANDOFF row"] Step 2 done. true None
        [] - true Some((Some(23020), Some(2936)))
        ["rawr: [rawr] This thread was just compacted. framed"] Understood; continuing. true None
        [] - true Some((Some(22020), Some(4)))"#]]
    .assert_eq(&told.join("\n"));
    assert!(turns.windows(2).all(|pair| pair[0].began_at_ms < pair[1].began_at_ms));
}

/// `claude -p` records who sent a message, and not when its turn ended.
#[test]
fn turns_of_a_program_end_with_the_agents_last_message() {
    let row = |source: &str, text: &str| {
        let message = json!({"role": "user", "content": [{"type": "text", "text": text}]});
        json!({"type": "user", "promptSource": source, "uuid": text, "message": message})
    };
    let said = |text: &str, stop_reason: &str| {
        let content = json!([{"type": "text", "text": text}]);
        json!({"type": "assistant", "message": {"content": content, "stop_reason": stop_reason}})
    };
    let rows = [
        row("sdk", "task"),
        said("I begin.", "tool_use"),
        said("Done.", "end_turn"),
        // What Claude Code writes in the user's name.
        row("", "<command-name>/compact</command-name>"),
        row("sdk", "next"),
        said("I begin.", "tool_use"),
        row("", "[Request interrupted by user]"),
    ];
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), rows.map(|row| format!("{row}\n")).concat()).unwrap();
    let turns: Vec<_> = claude_turns(file.path())
        .iter()
        .map(|turn| format!("{} {}", turn.sent[0].text, turn.has_ended))
        .collect();
    assert_eq!(turns, ["task true", "next false"]);
}

/// A record of a host that died: two records on a line, half an emoji, an odd number, a text that is no UTF-8.
#[test]
fn odd_lines_lose_no_turn() {
    let over = |turn: &str, said: &str| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"task_complete","turn_id":"{turn}","last_agent_message":"{said}"}}}}"#
        )
    };
    let mut lines = vec![started("t1").to_string().into_bytes()];
    lines.push(over("t1", r"Done \ud83d").into_bytes());
    lines.push(format!("{}{}", started("t2"), count(7)).into_bytes());
    lines.push([b"{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\",\"turn_id\":\"t2\",\"last_agent_message\":\"a", &b"\xff\"}}"[..]].concat());
    lines.push(started("t3").to_string().into_bytes());
    lines.push(count(5).to_string().replace("\"total_tokens\":5", "\"total_tokens\":\"x\"").into());
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), lines.join(&b'\n')).unwrap();
    let turns = codex_turns(file.path());
    let told: Vec<_> = turns
        .iter()
        .map(|turn| {
            let tokens = turn.last.as_ref().map(|last| last.usage.context_tokens);
            (turn.turn_id.as_str(), turn.last_agent_message.as_deref(), tokens)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("t1", Some("Done \u{fffd}"), None),
            ("t2", Some("a\u{fffd}"), Some(7)),
            ("t3", None, Some(5)),
        ]
    );
}
