//! `rawr claude-mod`, the process beside Claude Code, with a scripted plugin: what no real Claude Code says on demand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod bridge;
mod fixture;
mod random;

use fixture::ScriptedPlugin;
use serde_json::json;

/// JavaScript writes it where it cut an emoji.
const HALF: &str = r"\ud83d";

#[test]
fn half_an_emoji_in_the_agents_answer_loses_no_turn() {
    let plugin = ScriptedPlugin::start();
    plugin.turn_starts("t1", "Please fix it.");
    plugin.commits("c1");
    plugin.answers("All of it is done; the tests pass.", 150_000);
    let end = format!(
        r#"{{"event":"turn_completed","turnId":"t1","reason":"answer","answer":"All of it is done; the tests pass {HALF}."}}"#
    );
    assert_eq!(plugin.post_raw(end.as_bytes()), "200 OK");
    plugin.decides("suggest");
}

#[test]
fn half_an_emoji_in_a_tools_error_loses_no_tool() {
    let plugin = ScriptedPlugin::start();
    plugin.turn_starts("t1", "Please fix it.");
    plugin.post(&json!({"event": "tool_started", "callId": "c0", "tool": "Bash"}));
    let end = format!(
        r#"{{"event":"tool_finished","callId":"c0","tool":"Bash","error":"Exit code 1 {HALF}","bySubAgent":false}}"#
    );
    assert_eq!(plugin.post_raw(end.as_bytes()), "200 OK");
    plugin.commits("c1");
    plugin.answers("All of it is done; the tests pass.", 150_000);
    plugin.turn_ends("t1", "All of it is done; the tests pass.");
    plugin.decides("suggest");
}

/// `/goal` begins a turn with what the command printed, and `/review` with marks of its parts.
// rule: client.title
#[test]
fn the_title_has_a_persons_words_and_none_of_claude_code() {
    let plugin = ScriptedPlugin::start();
    let turn = |id: &str, text: &str| {
        plugin.turn_starts(id, text);
        plugin.answers("The docs are next.", 10_000);
        plugin.turn_ends(id, "The docs are next.");
    };
    let goal = "<local-command-stdout>Goal set: the docs are written</local-command-stdout>";
    turn("t1", goal);
    let review = "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the parser</command-args>";
    turn("t2", review);
    assert_eq!(plugin.title(), "/review the parser");
}

#[test]
fn what_is_no_event_is_refused_and_changes_nothing() {
    let plugin = ScriptedPlugin::start();
    for body in [&b""[..], b"{", b"\xff\xfe", br#"{"event":"of_another_release"}"#] {
        assert_eq!(plugin.post_raw(body), "400 Bad Request", "{body:?}");
    }
    plugin.turn_starts("t1", "Please fix it.");
    plugin.commits("c1");
    plugin.answers("All of it is done; the tests pass.", 150_000);
    plugin.turn_ends("t1", "All of it is done; the tests pass.");
    plugin.decides("suggest");
}

/// `RAWR_PLAYER_SEED` and `RAWR_PLAYER_RUNS` choose other runs.
fn held_messages_keep_their_rules(runs: u64) {
    let number = |name| std::env::var(name).ok().map(|value| value.parse().unwrap());
    let first = number("RAWR_PLAYER_SEED").unwrap_or(1);
    let runs = number("RAWR_PLAYER_RUNS").unwrap_or(runs);
    let failed = random::runs(first, runs, 3);
    let kinds: Vec<_> = failed.iter().filter_map(|failure| failure.lines().next()).collect();
    let one = failed.first().map_or("", String::as_str);
    assert!(
        failed.is_empty(),
        "{} of {runs} runs failed:\n{}\n\n{one}",
        failed.len(),
        kinds.join("\n")
    );
}

#[test]
fn random_sessions_keep_the_rules_of_held_messages() {
    held_messages_keep_their_rules(30);
}

mod long {
    #[test]
    fn hundreds_of_random_sessions_keep_the_rules_of_held_messages() {
        super::held_messages_keep_their_rules(300);
    }
}
