//! `[rawr_auto_compaction.models."…"]` applies to threads with such a model, and to no others.

use super::*;
use rawr_core::policy::{MidTurn, PacketAuthor};

const COOLDOWN: &str = "rawr_auto_compaction.cooldown_turns";

const LAYERED: &str = r#"
[rawr_auto_compaction]
mode = "ask"
cooldown_turns = 2
early_percent_remaining_lt = 82
[rawr_auto_compaction.models."*"]
cooldown_turns = 3
[rawr_auto_compaction.models."gpt-5*"]
cooldown_turns = 4
mode = "suggest"
[rawr_auto_compaction.models."gpt-5*".policy.early]
percent_remaining_lt = 78
[rawr_auto_compaction.models."gpt-5.2"]
cooldown_turns = 5
early_percent_remaining_lt = 60
ready_percent_remaining_lt = 50
asap_percent_remaining_lt = 40
"#;

fn of_model(rawr: &'static str, model: &'static str) -> Files {
    Files { rawr, model: Some(model), ..Files::default() }
}

#[test]
fn a_models_table_applies_to_threads_with_that_model() {
    for (model, cooldown, mode, early) in [
        (None, (3, "rawr.toml, model *"), ("ask", "rawr.toml"), (82, "rawr.toml")),
        (Some("o3"), (3, "rawr.toml, model *"), ("ask", "rawr.toml"), (82, "rawr.toml")),
        (
            Some("gpt-5.1"),
            (4, "rawr.toml, model gpt-5*"),
            ("suggest", "rawr.toml, model gpt-5*"),
            (78, "rawr.toml, model gpt-5*"),
        ),
        (
            Some("gpt-5.2"),
            (5, "rawr.toml, model gpt-5.2"),
            ("suggest", "rawr.toml, model gpt-5*"),
            (60, "rawr.toml, model gpt-5.2"),
        ),
    ] {
        let (config, _) = Files { rawr: LAYERED, model, ..Files::default() }.load();
        for (key, (expected, layer)) in [
            (COOLDOWN, (json!(cooldown.0), cooldown.1)),
            (MODE, (json!(mode.0), mode.1)),
            (EARLY, (json!(early.0), early.1)),
        ] {
            assert_eq!(value(&config, key), (expected, layer.to_owned()), "{model:?}: {key}");
        }
    }
}

#[test]
fn the_layers_name_the_tables_that_apply() {
    let (config, _) = of_model(LAYERED, "gpt-5.2").load();
    let layers: Vec<_> =
        config.layers().map(|layer| layer.rsplit('/').next().unwrap().to_owned()).collect();
    assert_eq!(
        layers,
        [
            "rawr.toml, model gpt-5.2",
            "rawr.toml, model gpt-5*",
            "rawr.toml, model *",
            "rawr.toml",
            "built-in"
        ]
    );
}

#[test]
fn a_tier_names_the_override_that_set_its_threshold() {
    let set_by = |files: Files| {
        let tiers = files.load().0.policy.tiers;
        Tier::ALL.map(|tier| tiers.rule(tier).set_by.clone().unwrap_or_default())
    };
    assert_eq!(set_by(Files { rawr: LAYERED, ..Files::default() }), ["", "", "", ""]);
    let named = "model \"gpt-5.2\"";
    assert_eq!(set_by(of_model(LAYERED, "gpt-5.2")), [named, named, named, ""]);
    let project = r#"
[rawr_auto_compaction]
asap_percent_remaining_lt = 30
[rawr_auto_compaction.models."gpt*"]
emergency_percent_remaining_lt = 10
"#;
    assert_eq!(
        set_by(Files { project, ..of_model(LAYERED, "gpt-5.2") }),
        [named, named, "project", "project, model \"gpt*\""]
    );
}

#[test]
fn the_more_specific_table_wins_in_any_file() {
    let files = Files {
        codex: "[rawr_auto_compaction.models.o3]\ncooldown_turns = 7",
        client: Some(json!({"rawr_auto_compaction": {
            "cooldown_turns": 1,
            "models": {"o*": {"cooldown_turns": 8, "mode": "tag"}},
        }})),
        ..of_model("[rawr_auto_compaction.models.\"o*\"]\nmode = \"ask\"", "o3")
    };
    check_value(&files, COOLDOWN, &json!(7), "config.toml, model o3");
    check_value(&files, MODE, &json!("tag"), "client, model o*");
}

#[test]
fn front_matter_and_mid_turn_depend_on_the_model() {
    let front_matter = PacketFrontMatter { early: Some(81), ..PacketFrontMatter::default() };
    let text = "[rawr_auto_compaction.models.a]\nturn_based_handoff = false\nearly_percent_remaining_lt = 80";
    let files = Files { front_matter, ..of_model(text, "a") };
    let (config, _) = files.load();
    assert_eq!(config.policy.mid_turn, MidTurn::Policy);
    assert_eq!(config.policy.tiers.early.percent_remaining_lt, 80);
    let (config, _) = Files { model: Some("b"), ..files }.load();
    assert_eq!(config.policy.mid_turn, MidTurn::Emergency);
    assert_eq!(config.policy.tiers.early.percent_remaining_lt, 81);
}

#[test]
fn every_policy_key_can_be_set_per_model() {
    let text = r#"
[rawr_auto_compaction.models.a]
mode = "tag"
packet_author = "watcher"
mid_turn = "policy"
turn_based_handoff = false
cooldown_seconds = 9
rearm_tokens = 9
breaker_strikes = 9
breaker_land_at_percent = 9
packet_max_tail_chars = 9
scratch_write_enabled = true
auto_requires_any_boundary = ["commit"]
compaction_model = "b"
compaction_reasoning_effort = "low"
compaction_verbosity = "low"
deadlines.packet_seconds = 9
judgment.model = "c"
policy.asap.requires_any_boundary = ["agent_done"]
policy.asap.plan_boundaries_require_semantic_break = true
policy.asap.decision_prompt_path = "asap.md"
"#;
    let config = check_problems(&of_model(text, "a"), expect![[""]]);
    let policy = &config.policy;
    assert_eq!((policy.packet_author, policy.deadlines.packet), (PacketAuthor::Watcher, 9));
    assert_eq!(policy.compaction.model.as_deref(), Some("b"));
    assert_eq!(policy.tiers.ready.required, Some(Boundaries::of(&[Boundary::Commit])));
    assert_eq!(config.judgment.model.as_deref(), Some("c"));
    let (other, _) = of_model(text, "b").load();
    let prompts: Vec<_> = other.decision_prompts().collect();
    assert_eq!(
        prompts,
        ["asap.md", "judgment.md"],
        "they are loaded before such a thread is opened"
    );
    assert_eq!(other.policy, Config::default().policy);
}

#[test]
fn invalid_keys_of_a_models_table_are_reported_with_their_position() {
    check_problems(
        &rawr(
            r#"
[rawr_auto_compaction.models]
"gpt*" = 1
[rawr_auto_compaction.models.a]
mdoe = "tag"
mode = "autp"
percent_remaining_lt = 45
prompts = {}
semantic_signals = {}
judgment.base_url = "https://example.org"
requires_any_boundary = ["commit"]
threshold_percent = 10
policy.eary.percent_remaining_lt = 55
policy.early.percent_remaining_lt = 101
[rawr_auto_compaction.models.a.models.b]
mode = "tag"
[rawr_auto_compaction.models.gpt-5.2]
mode = "tag"
"#,
        ),
        expect![[r#"
            error[wrong-type] rawr.toml at "1": `rawr_auto_compaction.models."gpt*"` must be a table, but is a whole number
            warning[unknown-key] rawr.toml at "mdoe": unknown key `mdoe` in `[rawr_auto_compaction.models."a"]`; did you mean `mode`?
            error[unknown-value] rawr.toml at "\"autp\"": `rawr_auto_compaction.models."a".mode` cannot be `autp`; did you mean `auto`?
            warning[unknown-key] rawr.toml at "percent_remaining_lt": unknown key `percent_remaining_lt` in `[rawr_auto_compaction.models."a"]`; use `ready_percent_remaining_lt`
            warning[unknown-key] rawr.toml at "prompts": unknown key `prompts` in `[rawr_auto_compaction.models."a"]`; it is the same for all models, in `[rawr_auto_compaction]`
            warning[unknown-key] rawr.toml at "semantic_signals": unknown key `semantic_signals` in `[rawr_auto_compaction.models."a"]`; it is the same for all models, in `[rawr_auto_compaction]`
            warning[unknown-key] rawr.toml at "base_url": unknown key `base_url` in `[rawr_auto_compaction.models."a".judgment]`; it is the same for all models, in `[rawr_auto_compaction.judgment]`
            warning[unknown-key] rawr.toml at "requires_any_boundary": unknown key `requires_any_boundary` in `[rawr_auto_compaction.models."a"]`; it belongs in `[rawr_auto_compaction.models."a".policy.early]`
            warning[unknown-key] rawr.toml at "threshold_percent": unknown key `threshold_percent` in `[rawr_auto_compaction.models."a"]`; it belongs in `[auto_compact]`
            warning[unknown-key] rawr.toml at "eary": unknown key `eary` in `[rawr_auto_compaction.models."a".policy]`; did you mean `early`?
            error[out-of-range] rawr.toml at "101": `rawr_auto_compaction.models."a".policy.early.percent_remaining_lt` must be from 0 to 100, but is 101
            warning[unknown-key] rawr.toml at "models": unknown key `models` in `[rawr_auto_compaction.models."a"]`; it is the same for all models, in `[rawr_auto_compaction]`
            warning[unknown-key] rawr.toml at "2": unknown key `2` in `[rawr_auto_compaction.models."gpt-5"]`; a name with a dot needs quotes: `[rawr_auto_compaction.models."gpt-5.2"]`
            warning[fails-closed] rawr.toml at "1": until this is fixed, nothing is compacted without your approval
            warning[fails-closed] rawr.toml at "1": until this is fixed, `rawr_auto_compaction.mid_turn` is "off", …, `rawr_auto_compaction.policy.ready.confirms_itself` is [] (9 keys)
            warning[fails-closed] rawr.toml at "101": until this is fixed, nothing is compacted without your approval
            warning[fails-closed] rawr.toml at "\"tag\"": until this is fixed, `rawr_auto_compaction.mode` is "tag"
            warning[fails-closed] rawr.toml at "[\"commit\"]": until this is fixed, `rawr_auto_compaction.policy.asap.requires_any_boundary` is ["commit"], `rawr_auto_compaction.policy.early.requires_any_boundary` is ["commit"], `rawr_auto_compaction.policy.ready.requires_any_boundary` is ["commit"]
            warning[fails-closed] rawr.toml at "55": until this is fixed, `rawr_auto_compaction.policy.early.percent_remaining_lt` is 55
            warning[fails-closed] rawr.toml at "45": until this is fixed, `rawr_auto_compaction.policy.ready.percent_remaining_lt` is 45
            warning[fails-closed] rawr.toml at "1": until this is fixed, `rawr_auto_compaction.mid_turn` is "off", …, `rawr_auto_compaction.policy.ready.confirms_itself` is [] (8 keys)
            warning[fails-closed] rawr.toml at "\"tag\"": until this is fixed, `rawr_auto_compaction.mode` is "tag"
        "#]],
    );
}

#[test]
fn thresholds_must_fall_for_every_model_even_without_a_thread() {
    let text = r#"
[rawr_auto_compaction]
asap_percent_remaining_lt = 45
[rawr_auto_compaction.models."gpt*"]
ready_percent_remaining_lt = 40
[rawr_auto_compaction.models."*-5"]
asap_percent_remaining_lt = 38
[rawr_auto_compaction.models."o3"]
early_percent_remaining_lt = 40
"#;
    check_problems(
        &rawr(text),
        expect![[r#"
            warning[threshold-order] rawr.toml at "40": ready (below 40%) is never reached before asap (below 45%), for model gpt*; set the thresholds in descending order: early, ready, asap, emergency
            warning[threshold-order] rawr.toml at "40": early (below 40%) is never reached before ready (below 50%), for model o3; set the thresholds in descending order: early, ready, asap, emergency
        "#]],
    );
    check_problems(
        &of_model(text, "gpt-5"),
        expect![[r#"
            warning[threshold-order] rawr.toml at "40": ready (below 40%) is never reached before asap (below 45%), for model gpt*; set the thresholds in descending order: early, ready, asap, emergency
            warning[threshold-order] rawr.toml at "40": early (below 40%) is never reached before ready (below 50%), for model o3; set the thresholds in descending order: early, ready, asap, emergency
        "#]],
    );
}

#[test]
fn a_judge_endpoint_set_per_model_needs_a_model() {
    check_problems(
        &rawr("[rawr_auto_compaction.models.a.judgment]\nbackend = \"chat\""),
        expect![[r#"
            warning[no-model] rawr.toml at "\"chat\"": a judge that uses an endpoint needs a model; set `rawr_auto_compaction.judgment.model`
        "#]],
    );
}

#[test]
fn a_project_may_narrow_per_model_and_never_widen() {
    let files = Files {
        project: r#"
[rawr_auto_compaction.models."gpt*"]
mode = "tag"
cooldown_turns = 1
early_percent_remaining_lt = 71
ready_percent_remaining_lt = 45
packet_author = "watcher"
[rawr_auto_compaction.models."o3"]
mode = "auto"
"#,
        ..of_model(LAYERED, "gpt-5.2")
    };
    let config = check_problems(
        &files,
        expect![[r#"
        error[project-may-only-narrow] .rawr.toml at "1": a project may only raise `rawr_auto_compaction.models."gpt*".cooldown_turns`, which is 5 in your own files; set it in your own `rawr.toml`
        error[project-may-only-narrow] .rawr.toml at "71": a project may only lower `rawr_auto_compaction.models."gpt*".early_percent_remaining_lt`, which is 60 in your own files; set it in your own `rawr.toml`
        error[project-may-only-narrow] .rawr.toml at "\"watcher\"": a project may not set `rawr_auto_compaction.models."gpt*".packet_author`; set it in your own `rawr.toml`
    "#]],
    );
    assert_eq!(value(&config, MODE), (json!("tag"), ".rawr.toml, model gpt*".to_owned()));
    assert_eq!(config.policy.tiers.ready.percent_remaining_lt, 45);
    let files = Files { model: None, ..files };
    assert_eq!(values(check_problems(&files, expect![""])), values(rawr(LAYERED).load().0));
}

#[test]
fn a_threshold_may_be_a_string_with_a_percent_sign() {
    let text = r#"
[rawr_auto_compaction]
early_percent_remaining_lt = "82%"
breaker_land_at_percent = "70%"
cooldown_turns = "2%"
[rawr_auto_compaction.policy.ready]
percent_remaining_lt = "101%"
[rawr_auto_compaction.policy.asap]
percent_remaining_lt = "60"
[auto_compact]
threshold_percent = "-1%"
"#;
    let config = check_problems(
        &rawr(text),
        expect![[r#"
            error[wrong-type] rawr.toml at "\"2%\"": `rawr_auto_compaction.cooldown_turns` must be a whole number, but is a string
            error[out-of-range] rawr.toml at "\"101%\"": `rawr_auto_compaction.policy.ready.percent_remaining_lt` must be from 0 to 100, but is 101
            error[wrong-type] rawr.toml at "\"60\"": `rawr_auto_compaction.policy.asap.percent_remaining_lt` must be a whole number, but is a string; write 60 without quotes
            error[out-of-range] rawr.toml at "\"-1%\"": `auto_compact.threshold_percent` must be from 0 to 100, but is -1
            warning[fails-closed] rawr.toml at "\"-1%\"": until this is fixed, nothing is compacted without your approval
        "#]],
    );
    assert_eq!(config.policy.tiers.early.percent_remaining_lt, 82);
    assert_eq!(config.policy.breaker.land_at_percent, 70);
}
