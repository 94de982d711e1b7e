//! `rawr tune`: a change that reaches a target in recorded sessions, and nothing that is changed.

use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};
use rawr_tests::{err, out};
use serde_json::Value;

use super::CommandFixture;

fn samples() -> [String; 3] {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    ["sessions/claude.jsonl", "rollouts/legacy.jsonl", "rollouts/paginated.jsonl"]
        .map(|name| samples.join(name).display().to_string())
}

/// The arguments, with the samples.
fn on_samples<'s>(arguments: &[&'s str], samples: &'s [String]) -> Vec<&'s str> {
    let samples = samples.iter().map(String::as_str);
    ["tune"].into_iter().chain(arguments.iter().copied()).chain(samples).collect()
}

/// The change that is proposed, applied.
fn check(config: &str, target: &str, reached: bool, expected: Expect) {
    let fixture = CommandFixture::new();
    let file = fixture.path("rawr.toml");
    fs::write(&file, config).unwrap();
    let samples = samples();
    let done = fixture.run(&on_samples(&["--target", target, "--diff"], &samples));
    assert_eq!(done.status.code(), Some(if reached { 0 } else { 1 }), "{}", err(&done));
    assert_eq!(fs::read_to_string(&file).unwrap(), config);
    let diff = out(&done);
    let lines: Vec<_> = diff.lines().skip(2).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_change_is_proposed_that_keeps_the_layout_of_the_file() {
    check(
        "# mine\n[rawr_auto_compaction]\ncooldown_turns = 1 # soon\n",
        "at most 3 per hour",
        true,
        expect![[r#"
            @@ -1,3 +1,15 @@
             # mine
             [rawr_auto_compaction]
             cooldown_turns = 1 # soon
            +
            +[rawr_auto_compaction.policy.early]
            +percent_remaining_lt = 50
            +tokens_used_gt = 150000
            +
            +[rawr_auto_compaction.policy.ready]
            +percent_remaining_lt = 40
            +tokens_used_gt = 200000
            +
            +[rawr_auto_compaction.policy.asap]
            +percent_remaining_lt = 30
            +tokens_used_gt = 250000"#]],
    );
}

#[test]
fn places_are_a_part_of_the_target() {
    check(
        "",
        "at a commit",
        true,
        expect![[r#"
        @@ -0,0 +1,2 @@
        +[rawr_auto_compaction]
        +auto_requires_any_boundary = ["commit"]"#]],
    );
}

#[test]
fn a_configuration_that_reaches_the_target_stays() {
    check("", "at most 60 per hour", true, expect![[r#""#]]);
}

#[test]
fn the_nearest_is_shown_where_none_reaches_the_target() {
    let emergencies = "[rawr_auto_compaction]\nemergency_percent_remaining_lt = 70\n";
    check(emergencies, "at most 0.001 per hour", false, expect![""]);
}

#[test]
fn json_has_both_replays() {
    let fixture = CommandFixture::new();
    let samples = samples();
    let target = ["--target", "at most 3 per hour, at a commit", "--json"];
    let done = fixture.run(&on_samples(&target, &samples));
    assert!(done.status.success(), "{}", err(&done));
    let found: Value = serde_json::from_str(&out(&done)).unwrap();
    assert_eq!(
        found["target"],
        serde_json::json!({ "mostPerHour": 3.0, "boundaries": ["commit"] })
    );
    assert_eq!(found["own"]["totals"]["sessions"], 3);
    assert_eq!(found["proposal"]["totals"]["sessions"], 3);
    assert_eq!(found["own"]["reachesTarget"], false);
    assert_eq!(found["proposal"]["reachesTarget"], true);
    let places = found["proposal"]["totals"]["firesByBoundary"].as_object().unwrap();
    assert!(places.keys().all(|place| place == "commit"), "{places:?}");
}

#[test]
fn what_cannot_be_changed_is_an_error() {
    let fixture = CommandFixture::new();
    let samples = samples();
    let missing = fixture.path("missing.toml").display().to_string();
    let missing = ["--target", "at a commit", "--config", &missing];
    let done = fixture.run(&on_samples(&missing, &samples));
    assert_eq!(done.status.code(), Some(1));
    assert!(err(&done).contains("failed to read"), "{}", err(&done));
    let done = fixture.run(&on_samples(&["--target", "at a commit", "--model", "none"], &samples));
    assert_eq!(done.status.code(), Some(1));
    assert!(err(&done).contains("no session was replayed"), "{}", err(&done));
    fs::write(fixture.path("rawr.toml"), "x = [").unwrap();
    let done = fixture.run(&on_samples(&["--target", "at a commit"], &samples));
    assert_eq!(done.status.code(), Some(1));
    assert!(err(&done).contains("unclosed array"), "{}", err(&done));
    let done = fixture.run(&on_samples(&["--target", "now and then"], &samples));
    assert_eq!(done.status.code(), Some(2));
    assert!(err(&done).contains("is no rate"), "{}", err(&done));
}
