//! What hooks read of a turn, in transcripts of other releases and with settings of other kinds.

use rawr_tests::mock_responses::TurnScript;
use serde_json::{Value, json};

use super::agent::{MODEL, SAID, assistant, claude_turn as turn, user};
use super::fixture::HooksFixture;

/// Whether the agent is asked for a packet at the end of its turn.
fn is_asked(fixture: &HooksFixture, host: &str, transcript: &str, said: &str) -> bool {
    let path = fixture.home.path().join("transcript.jsonl");
    std::fs::write(&path, transcript).unwrap();
    let input = json!({
        "session_id": "s", "transcript_path": path, "cwd": fixture.repository.path(),
        "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": said,
    });
    let output = fixture.hook(&["hook", "Stop", "--host", host], input.to_string());
    assert_eq!(fixture.log(), "");
    String::from_utf8(output.stdout).unwrap().contains("\"decision\":\"block\"")
}

fn lines(entries: &[Value]) -> String {
    entries.iter().map(|entry| format!("{entry}\n")).collect()
}

fn with_config(config: &str) -> HooksFixture {
    let fixture = HooksFixture::new(TurnScript::default());
    std::fs::write(fixture.home.path().join("rawr.toml"), config).unwrap();
    fixture
}

#[test]
fn a_tier_that_holds_by_tokens_alone_asks_for_a_packet() {
    let tiers = ["early", "ready", "asap"].map(|tier| {
        format!(
            "[rawr_auto_compaction.policy.{tier}]\npercent_remaining_lt = 5\ntokens_used_gt = 100000\n"
        )
    });
    let fixture =
        with_config(&format!("[rawr_auto_compaction]\npreset = \"spec\"\n{}", tiers.concat()));
    let asked =
        |tokens| is_asked(&fixture, "claude", &lines(&turn("claude-opus-5-5", tokens)), SAID);
    assert!(!asked(90_000));
    assert!(asked(300_000));
}

#[test]
fn a_turn_of_an_image_does_not_repeat_the_commit_before_it() {
    let fixture = with_config("[rawr_auto_compaction]\npreset = \"spec\"\nmode = \"tag\"\n");
    let mut entries = turn(MODEL, 150_000);
    is_asked(&fixture, "claude", &lines(&entries), SAID);
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}});
    entries.push(user(json!([image])));
    entries.push(assistant(MODEL, 152_000, json!({"type": "text", "text": "Two files are left."})));
    is_asked(&fixture, "claude", &lines(&entries), "Two files are left.");
    let events = fixture.events();
    assert_eq!(events.matches("git commit").count(), 1, "{events}");
    assert_eq!(events.matches("\"turn_completed\"").count(), 2, "{events}");
}

#[test]
fn a_commit_in_a_legacy_rollout_asks_for_a_packet() {
    let fixture = with_config("[rawr_auto_compaction]\npreset = \"spec\"\n");
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/rollouts/legacy.jsonl");
    let rollout = std::fs::read_to_string(sample).unwrap();
    // The plan ends a phase, too.
    let is_plan = |line: &&str| line.contains("update_plan");
    let turn = rollout.lines().take(36).filter(|line| !is_plan(line));
    let turn: String = turn.map(|line| format!("{line}\n")).collect();
    assert!(is_asked(&fixture, "codex", &turn, "Done: file written and committed."));
}
