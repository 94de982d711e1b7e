//! What a project's `.rawr.toml` may change in the user's own configuration.

use super::*;

// rule: configuration.project-narrows
#[test]
fn a_project_may_narrow() {
    let files = Files {
        rawr: "[rawr_auto_compaction]\nscratch_write_enabled = true\nrearm_tokens = 100\n[auto_compact]\nenabled = true",
        project: r#"
[features]
rawr_auto_compaction = false
[rawr_auto_compaction]
mode = "tag"
mid_turn = "off"
scratch_write_enabled = false
cooldown_turns = 5
cooldown_seconds = 5
rearm_tokens = 200
ready_percent_remaining_lt = 45
packet_author = "agent"
auto_requires_any_boundary = ["commit", "pr_checkpoint"]
[rawr_auto_compaction.policy.early]
percent_remaining_lt = 55
plan_boundaries_require_semantic_break = true
[rawr_auto_compaction.policy.asap]
percent_remaining_lt = 30
plan_boundaries_require_semantic_break = true
[rawr_auto_compaction.semantic_signals]
concluding_thought = ["in summary"]
[auto_compact]
enabled = false
threshold_percent = 10
"#,
        ..Files::default()
    };
    let config = check_problems(&files, expect![[""]]);
    let policy = &config.policy;
    assert_eq!((policy.enabled, policy.inline.enabled, policy.cooldown_turns), (false, false, 5));
    assert_eq!(policy.tiers.ready.percent_remaining_lt, 45);
    assert_eq!(
        value(&config, EARLY_BOUNDARIES),
        (json!(["commit", "pr_checkpoint"]), ".rawr.toml".to_owned())
    );
}

// rule: configuration.project-narrows
#[test]
fn a_project_may_not_widen() {
    let files = Files {
        rawr: r#"
[features]
rawr_auto_compaction = false
[rawr_auto_compaction]
mode = "ask"
cooldown_turns = 3
[rawr_auto_compaction.policy.early]
requires_any_boundary = ["topic_shift"]
"#,
        project: r#"
[features]
rawr_auto_compaction = true
[rawr_auto_compaction]
mode = "auto"
mid_turn = "policy"
packet_author = "watcher"
scratch_write_enabled = true
scratch_file_template = "x.md"
compaction_model = "other"
cooldown_turns = 1
rearm_tokens = 300
early_percent_remaining_lt = 90
auto_requires_any_boundary = ["turn_complete"]
[rawr_auto_compaction.policy.early]
requires_any_boundary = ["topic_shift", "pr_checkpoint"]
plan_boundaries_require_semantic_break = false
decision_prompt_path = "x.md"
[rawr_auto_compaction.policy.asap]
plan_boundaries_require_semantic_break = false
[rawr_auto_compaction.semantic_signals]
topic_shift = ["next"]
[rawr_auto_compaction.prompts]
handoff = "/etc/passwd"
[auto_compact]
enabled = true
threshold_percent = 16
"#,
        ..Files::default()
    };
    let (before, _) = rawr(files.rawr).load();
    let config = check_problems(
        &files,
        expect![[r#"
            error[project-may-only-narrow] .rawr.toml at "true": a project may only switch off `auto_compact.enabled`, which is false in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "16": a project may only lower `auto_compact.threshold_percent`, which is 15 in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "true": a project may only switch off `features.rawr_auto_compaction`, which is false in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "[\"turn_complete\"]": a project may only shorten `rawr_auto_compaction.auto_requires_any_boundary`, which is ["commit","pushed","merged","branch_changed","tests_green","phase_ended","plan_checkpoint","plan_update","pr_checkpoint","agent_done","topic_shift","concluding_thought"] in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"other\"": a project may not set `rawr_auto_compaction.compaction_model`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "1": a project may only raise `rawr_auto_compaction.cooldown_turns`, which is 3 in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "90": a project may only lower `rawr_auto_compaction.early_percent_remaining_lt`, which is 60 in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"policy\"": a project may only turn down `rawr_auto_compaction.mid_turn`, which is "emergency" in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"auto\"": a project may only turn down `rawr_auto_compaction.mode`, which is "ask" in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"watcher\"": a project may not set `rawr_auto_compaction.packet_author`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "false": a project may only switch on `rawr_auto_compaction.policy.asap.plan_boundaries_require_semantic_break`, which is not set in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"x.md\"": a project may not set `rawr_auto_compaction.policy.early.decision_prompt_path`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "false": a project may only switch on `rawr_auto_compaction.policy.early.plan_boundaries_require_semantic_break`, which is true in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "[\"topic_shift\", \"pr_checkpoint\"]": a project may only shorten `rawr_auto_compaction.policy.early.requires_any_boundary`, which is ["topic_shift"] in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"/etc/passwd\"": a project may not set `rawr_auto_compaction.prompts.handoff`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "300": a project may only raise `rawr_auto_compaction.rearm_tokens`, which is not set in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "\"x.md\"": a project may not set `rawr_auto_compaction.scratch_file_template`; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "true": a project may only switch off `rawr_auto_compaction.scratch_write_enabled`, which is false in your own files; set it in your own `rawr.toml`
            error[project-may-only-narrow] .rawr.toml at "[\"next\"]": a project may only shorten `rawr_auto_compaction.semantic_signals.topic_shift`, which is [] in your own files; set it in your own `rawr.toml`
        "#]],
    );
    assert_eq!(values(config), values(before));
}

// rule: configuration.project-narrows
#[test]
fn a_project_can_take_away_no_veto_and_no_instruction() {
    let rawr = "[rawr_auto_compaction.semantic_signals]\nnot_done = [\"wip\"]\ndirective = [\"never\", \"always\"]\nagent_done = [\"shipped\", \"live\"]\n";
    let signals = |project: &str| {
        let project = format!("[rawr_auto_compaction.semantic_signals]\n{project}").leak();
        let (config, told) = Files { rawr, project, ..Files::default() }.load();
        let phrases = config.policy.phrases;
        (phrases.not_done, phrases.directive, phrases.agent_done, told.matches("error[").count())
    };
    let own = |not_done: &[&str], agent_done: &[&str], problems| {
        let list = |list: &[&str]| list.iter().map(|&phrase| phrase.to_owned()).collect::<Vec<_>>();
        (list(not_done), list(&["never", "always"]), list(agent_done), problems)
    };
    assert_eq!(signals("not_done = []"), own(&["wip"], &["shipped", "live"], 1));
    assert_eq!(signals("not_done = [\"x\"]"), own(&["wip"], &["shipped", "live"], 1));
    assert_eq!(signals("not_done = [\"x\", \"wip\"]"), own(&["x", "wip"], &["shipped", "live"], 0));
    assert_eq!(signals("directive = []"), own(&["wip"], &["shipped", "live"], 1));
    // Only the newest instructions are kept.
    let more = "directive = [\"never\", \"always\", \"the\"]";
    assert_eq!(signals(more), own(&["wip"], &["shipped", "live"], 1));
    assert_eq!(signals("agent_done = [\"live\"]"), own(&["wip"], &["live"], 0));
    assert_eq!(signals("agent_done = [\"live\", \"x\"]"), own(&["wip"], &["shipped", "live"], 1));
}

// rule: configuration.project-narrows
#[test]
fn a_project_puts_no_laxer_tier_in_the_place_of_an_urgent_one() {
    const ASAP: &str = "rawr_auto_compaction.policy.asap.percent_remaining_lt";
    for (preset, asap, may) in [
        ("spec", "confirm = \"message\"", false),
        ("spec", "requires_any_boundary = []", false),
        ("spec", "percent_remaining_lt = 60", true),
        ("calm", "confirms_itself = []", false),
        ("calm", "requires_any_boundary = [\"merged\"]", false),
        ("calm", "percent_remaining_lt = 60", true),
    ] {
        let rawr = format!(
            "[rawr_auto_compaction]\npreset = \"{preset}\"\n[rawr_auto_compaction.policy.asap]\n{asap}\n"
        );
        let project = "[rawr_auto_compaction.policy.asap]\npercent_remaining_lt = 1\n";
        let files = Files { rawr: rawr.leak(), project, ..Files::default() };
        let (config, told) = files.load();
        let value = config.effective()[ASAP]["value"].clone();
        assert_eq!(value == json!(1), may, "{preset} {asap}: {value} {told}");
        assert_eq!(told.matches("may not change").count(), usize::from(!may), "{told}");
    }
}

#[test]
fn a_projects_short_form_narrows_the_users_long_form() {
    let files = Files {
        rawr: "[rawr_auto_compaction.policy.early]\npercent_remaining_lt = 80",
        project: "[rawr_auto_compaction]\nearly_percent_remaining_lt = 78",
        ..Files::default()
    };
    check_value(&files, EARLY, &json!(78), ".rawr.toml");
}

#[test]
fn many_problems_of_one_file_are_truncated_with_a_count() {
    let unknown: String = (0..5_000).map(|number| format!("x{number} = 1\n")).collect();
    let project = format!("[rawr_auto_compaction]\n{unknown}");
    let files = Files { project: project.leak(), ..Files::default() };
    let (_, told) = files.load();
    assert_eq!(told.matches("unknown-key").count(), 100);
    assert_eq!(told.matches("4900 more problems in this file are not shown").count(), 1);
}
