//! From files to values and problems. The name of each case is the rule that it tests.

mod judgment;
mod models;
mod presets;
mod project;
mod table;
mod tiers;
mod unread;

use super::*;
use crate::problem::ProblemSeverity;
use expect_test::{Expect, expect};
use rawr_core::boundary::{Boundaries, Boundary};

/// The files on disk and the settings of the client.
#[derive(Default)]
struct Files {
    codex: &'static str,
    rawr: &'static str,
    project: &'static str,
    model: Option<&'static str>,
    client: Option<Value>,
    front_matter: PacketFrontMatter,
}

fn rawr(rawr: &'static str) -> Files {
    Files { rawr, ..Files::default() }
}

impl Files {
    fn load(&self) -> (Config, String) {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let files = [
            (home.path().join("config.toml"), self.codex),
            (home.path().join("rawr.toml"), self.rawr),
            (project.path().join(".rawr.toml"), self.project),
        ];
        for (path, text) in files.iter().filter(|(_, text)| !text.is_empty()) {
            std::fs::write(path, text).unwrap();
        }
        let (config, problems) = ConfigSources {
            project: Some(project.path()),
            model: self.model,
            overrides: self.client.as_ref(),
            front_matter: Some(&self.front_matter),
            ..ConfigSources::at(&Home::at(home.path()))
        }
        .load();
        let told = problems.iter().map(|problem| {
            let file = files.iter().find(|(path, _)| Some(path) == problem.file.as_ref());
            let name =
                file.map_or("client", |(path, _)| path.file_name().unwrap().to_str().unwrap());
            let at = file.zip(problem.span.clone()).map(|((_, text), span)| &text[span]);
            let severity = match problem.severity {
                ProblemSeverity::Error => "error",
                ProblemSeverity::Warning => "warning",
                ProblemSeverity::Hint => "hint",
            };
            let help = problem.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            let at = at.map(|at| format!(" at {at:?}")).unwrap_or_default();
            format!("{severity}[{}] {name}{at}: {}{help}\n", problem.code, problem.message)
        });
        let told = told.collect();
        (config, told)
    }
}

fn check_problems(files: &Files, expected: Expect) -> Config {
    let (config, told) = files.load();
    expected.assert_eq(&told);
    config
}

/// The current value and the name of its layer, without the folder.
fn value(config: &Config, key: &str) -> (Value, String) {
    let effective = config.effective();
    let entry = &effective[key];
    let layer = entry["layer"].as_str().unwrap();
    (entry["value"].clone(), layer.rsplit('/').next().unwrap().to_owned())
}

#[track_caller]
fn check_value(files: &Files, key: &str, expected: &Value, layer: &str) {
    let (config, told) = files.load();
    assert_eq!((value(&config, key), told), ((expected.clone(), layer.to_owned()), String::new()));
}

type Values = (Policy, JudgeSettings, RepoObservation, BTreeMap<PromptName, PathBuf>);

fn values(config: Config) -> Values {
    let Config { policy, judgment, repo_observation, prompt_paths, .. } = config;
    (policy, judgment, repo_observation, prompt_paths)
}

const MODE: &str = "rawr_auto_compaction.mode";
const EARLY: &str = "rawr_auto_compaction.policy.early.percent_remaining_lt";
const EARLY_BOUNDARIES: &str = "rawr_auto_compaction.policy.early.requires_any_boundary";

#[test]
fn missing_files_leave_the_built_in_values() {
    let config = check_problems(&Files::default(), expect![[""]]);
    assert_eq!(values(config), values(Config::default()));
}

// rule: tier.configurable
// rule: built-in.every-client
#[test]
fn an_effective_value_names_the_short_form_that_set_it() {
    let (config, _) = rawr(
        r#"
[rawr_auto_compaction]
early_percent_remaining_lt = 80
ready_percent_remaining_lt = 70
[rawr_auto_compaction.policy.early]
percent_remaining_lt = 82
"#,
    )
    .load();
    let named = |key: &str| config.effective()[key].get("key").cloned();
    assert_eq!(named(EARLY), None, "the long form takes precedence");
    let short = json!("rawr_auto_compaction.ready_percent_remaining_lt");
    assert_eq!(named("rawr_auto_compaction.policy.ready.percent_remaining_lt"), Some(short));
}

// rule: configuration.files
#[test]
fn rawr_toml_overrides_codex_and_the_client_overrides_both() {
    let mut files = Files {
        codex: "[rawr_auto_compaction]\nmode = \"tag\"\ncooldown_turns = 3",
        ..Files::default()
    };
    check_value(&files, MODE, &json!("tag"), "config.toml");
    files.rawr = "rawr_auto_compaction.mode = \"ask\"";
    check_value(&files, MODE, &json!("ask"), "rawr.toml");
    check_value(&files, "rawr_auto_compaction.cooldown_turns", &json!(3), "config.toml");
    files.client =
        Some(json!({"rawr_auto_compaction": {"mode": "suggest", "packet_author": null}}));
    check_value(&files, MODE, &json!("suggest"), "client");
    let layers: Vec<_> =
        files.load().0.layers().map(|layer| layer.rsplit('/').next().unwrap().to_owned()).collect();
    assert_eq!(layers, ["client", "rawr.toml", "config.toml", "built-in"]);
}

// rule: tier.front-matter-second
// rule: tier.required-boundaries
#[test]
fn a_tiers_own_key_overrides_the_short_form_and_that_overrides_the_prompt() {
    let mut files = Files {
        front_matter: PacketFrontMatter { early: Some(81), ..PacketFrontMatter::default() },
        ..Files::default()
    };
    check_value(&files, EARLY, &json!(81), "prompt");
    files.codex = "[rawr_auto_compaction]\nearly_percent_remaining_lt = 82";
    check_value(&files, EARLY, &json!(82), "config.toml");
    files.codex = "[rawr_auto_compaction.policy.early]\npercent_remaining_lt = 83";
    files.rawr = "[rawr_auto_compaction]\nearly_percent_remaining_lt = 84";
    check_value(&files, EARLY, &json!(83), "config.toml");
    files.client = Some(json!({"rawr_auto_compaction": {"early_percent_remaining_lt": 80}}));
    check_value(&files, EARLY, &json!(80), "client");
}

// rule: tier.front-matter-second
// rule: prompt.auto-compact
#[test]
fn the_front_matter_reaches_boundaries_and_packet_rules() {
    let front_matter = PacketFrontMatter {
        requires_any_boundary: Some(Boundaries::of(&[Boundary::Commit, Boundary::TopicShift])),
        max_tail_chars: Some(300),
        ..PacketFrontMatter::default()
    };
    let rawr = "[rawr_auto_compaction]\npreset = \"spec\"\n";
    let files = Files { front_matter, rawr, ..Files::default() };
    check_value(&files, EARLY_BOUNDARIES, &json!(["topic_shift"]), "prompt");
    check_value(&files, "rawr_auto_compaction.packet_max_tail_chars", &json!(300), "prompt");
}

#[test]
fn a_syntax_error_disables_only_its_layer() {
    let files = Files {
        codex: "[rawr_auto_compaction]\nmode = \"tag\"",
        rawr: "[rawr_auto_compaction]\nmode = ask\npacket_author = \"watcher\"",
        ..Files::default()
    };
    let config = check_problems(
        &files,
        expect![[r#"
            error[syntax] rawr.toml at "ask": string values must be quoted, expected literal string
            warning[fails-closed] rawr.toml at "ask": until this is fixed, nothing is compacted without your approval
        "#]],
    );
    assert_eq!(value(&config, MODE), (json!("tag"), "config.toml".to_owned()));
    assert_eq!(config.policy.packet_author, Policy::default().packet_author);
}

#[test]
fn a_syntax_error_does_not_hide_problems_on_other_lines() {
    let text = r#"
[rawr_auto_compaction]
mode =
packet_autor = "agent"
enabled = tru
judge_timeout_seconds = "x"
[rawr_auto_compaction.policy.early
percent_remaining_lt = 300
"#;
    check_problems(
        &rawr(text),
        expect![[r#"
            error[syntax] rawr.toml at "": string values must be quoted, expected literal string
            warning[unknown-key] rawr.toml at "packet_autor": unknown key `packet_autor` in `[rawr_auto_compaction]`; did you mean `packet_author`?
            error[syntax] rawr.toml at "tru": invalid boolean, expected `true`
            warning[unknown-key] rawr.toml at "judge_timeout_seconds": unknown key `judge_timeout_seconds` in `[rawr_auto_compaction]`
            error[syntax] rawr.toml at "": unclosed table, expected `]`
            warning[fails-closed] rawr.toml at "": until this is fixed, nothing is compacted without your approval
            warning[fails-closed] rawr.toml at "": until this is fixed, `rawr_auto_compaction.mode` is "ask"
        "#]],
    );
    let others = "model = \nmodel_provider = 3\n";
    check_problems(&Files { codex: others, ..Files::default() }, expect![[""]]);
}

#[test]
fn a_duplicate_key_is_a_syntax_error() {
    check_problems(
        &rawr("[features]\nrawr_auto_compaction = true\nrawr_auto_compaction = false"),
        expect![[r#"
            error[syntax] rawr.toml at "rawr_auto_compaction": duplicate key
            warning[fails-closed] rawr.toml at "rawr_auto_compaction": until this is fixed, nothing is compacted without your approval
        "#]],
    );
}

// rule: configuration.unknown-key
#[test]
fn an_unknown_key_is_reported_with_a_suggestion() {
    check_problems(
        &rawr(
            r#"
mode = "auto"
colour = 1
[feature]
rawr_auto_compaction = true
[features]
rawr_auto_compact = true
[rawr_auto_compaction]
packet_autor = "agent"
percent_remaining_lt = 70
[rawr_auto_compaction.policy.eary]
percent_remaining_lt = 80
"#,
        ),
        expect![[r#"
            warning[unknown-key] rawr.toml at "mode": unknown key `mode` in the file; it belongs in `[rawr_auto_compaction]`
            warning[unknown-key] rawr.toml at "colour": unknown key `colour` in the file
            warning[unknown-key] rawr.toml at "feature": unknown key `feature` in the file; did you mean `features`?
            warning[unknown-key] rawr.toml at "rawr_auto_compact": unknown key `rawr_auto_compact` in `[features]`; did you mean `rawr_auto_compaction`?
            warning[unknown-key] rawr.toml at "packet_autor": unknown key `packet_autor` in `[rawr_auto_compaction]`; did you mean `packet_author`?
            warning[unknown-key] rawr.toml at "percent_remaining_lt": unknown key `percent_remaining_lt` in `[rawr_auto_compaction]`; use `ready_percent_remaining_lt`
            warning[unknown-key] rawr.toml at "eary": unknown key `eary` in `[rawr_auto_compaction.policy]`; did you mean `early`?
        "#]],
    );
}

#[test]
fn a_wrong_value_is_reported_and_the_lower_layer_is_used_if_it_is_strict() {
    let files = Files {
        codex: "[rawr_auto_compaction]\ncooldown_turns = 4\nmode = \"ask\"",
        rawr: r#"
[features]
rawr_auto_compaction = "yes"
[rawr_auto_compaction]
mode = "autp"
cooldown_turns = -1
cooldown_seconds = 1.5
packet_max_tail_chars = 2026-01-01
scratch_file_template = "../up.md"
auto_requires_any_boundary = ["comit", "commit"]
deadlines = 3
[rawr_auto_compaction.policy.early]
percent_remaining_lt = 101
requires_any_boundary = "commit"
[rawr_auto_compaction.semantic_signals]
agent_done = ["done", " "]
"#,
        ..Files::default()
    };
    let config = check_problems(
        &files,
        expect![[r#"
            error[wrong-type] rawr.toml at "\"yes\"": `features.rawr_auto_compaction` must be true or false, but is a string
            error[unknown-value] rawr.toml at "\"autp\"": `rawr_auto_compaction.mode` cannot be `autp`; did you mean `auto`?
            error[out-of-range] rawr.toml at "-1": `rawr_auto_compaction.cooldown_turns` must be from 0 to 10000, but is -1
            error[wrong-type] rawr.toml at "1.5": `rawr_auto_compaction.cooldown_seconds` must be a whole number, but is a fraction
            error[wrong-type] rawr.toml at "2026-01-01": `rawr_auto_compaction.packet_max_tail_chars` must be a whole number, but is a date
            error[unsafe-path] rawr.toml at "\"../up.md\"": `rawr_auto_compaction.scratch_file_template` must be a path inside the thread's folder
            error[unknown-value] rawr.toml at "\"comit\"": `rawr_auto_compaction.auto_requires_any_boundary` cannot be `comit`; did you mean `commit`?
            error[wrong-type] rawr.toml at "3": `rawr_auto_compaction.deadlines` must be a table, but is a whole number
            error[out-of-range] rawr.toml at "101": `rawr_auto_compaction.policy.early.percent_remaining_lt` must be from 0 to 100, but is 101
            error[wrong-type] rawr.toml at "\"commit\"": `rawr_auto_compaction.policy.early.requires_any_boundary` must be a list, but is a string
            error[wrong-value] rawr.toml at "[\"done\", \" \"]": `rawr_auto_compaction.semantic_signals.agent_done` contains an empty phrase
            warning[fails-closed] rawr.toml at "1.5": until this is fixed, nothing is compacted without your approval
            warning[fails-closed] rawr.toml at "\"yes\"": until this is fixed, `features.rawr_auto_compaction` is false
        "#]],
    );
    let expected = Policy {
        cooldown_turns: 4,
        mode: rawr_core::policy::Mode::Ask,
        mid_turn: rawr_core::policy::MidTurn::Off,
        enabled: false,
        ..Config::default().policy
    };
    assert_eq!(config.policy, expected);
}

#[test]
fn a_boundary_without_effect_is_reported_and_kept() {
    let files = rawr(
        "[rawr_auto_compaction.policy.early]\nconfirm = \"none\"\nrequires_any_boundary = [\"commit\", \"topic_shift\", \"turn_complete\"]\n\
         [rawr_auto_compaction.policy.asap]\nrequires_any_boundary = []",
    );
    let config = check_problems(
        &files,
        expect![[r#"
            warning[never-fires] rawr.toml at "[]": no boundary can satisfy an empty `rawr_auto_compaction.policy.asap.requires_any_boundary`; remove the key to allow every boundary of the tier
            warning[no-effect] rawr.toml at "[\"commit\", \"topic_shift\", \"turn_complete\"]": commit does not count in early; they count in a tier with `confirm`
        "#]],
    );
    assert_eq!(value(&config, EARLY_BOUNDARIES).0, json!(["topic_shift", "turn_complete"]));
}

// rule: tier.falling-thresholds
#[test]
fn thresholds_must_fall_from_tier_to_tier() {
    check_problems(
        &rawr("[rawr_auto_compaction]\nready_percent_remaining_lt = 90"),
        expect![[r#"
            warning[threshold-order] rawr.toml at "90": early (below 60%) is never reached before ready (below 90%); set the thresholds in descending order: early, ready, asap, emergency
        "#]],
    );
    check_problems(
        &rawr("[rawr_auto_compaction.policy.emergency]\npercent_remaining_lt = 65"),
        expect![[r#"
            warning[threshold-order] rawr.toml at "65": asap (below 35%) is never reached before emergency (below 65%); set the thresholds in descending order: early, ready, asap, emergency
            warning[early-emergency] rawr.toml at "65": an emergency below 65% interrupts work while there is room left: it ignores boundaries, the judge and guards; use at most 40; to compact earlier, raise `asap`
        "#]],
    );
    check_problems(&rawr("[rawr_auto_compaction]\nearly_percent_remaining_lt = 0"), expect![[""]]);
}

// rule: tier.high-emergency
#[test]
fn a_high_emergency_threshold_is_reported_with_its_position() {
    check_problems(
        &rawr("[rawr_auto_compaction.policy.emergency]\npercent_remaining_lt = 60"),
        expect![[r#"
            warning[threshold-order] rawr.toml at "60": asap (below 35%) is never reached before emergency (below 60%); set the thresholds in descending order: early, ready, asap, emergency
            warning[early-emergency] rawr.toml at "60": an emergency below 60% interrupts work while there is room left: it ignores boundaries, the judge and guards; use at most 40; to compact earlier, raise `asap`
        "#]],
    );
    check_problems(
        &rawr("[rawr_auto_compaction]\nemergency_percent_remaining_lt = 40"),
        expect![[r#"
            warning[threshold-order] rawr.toml at "40": asap (below 35%) is never reached before emergency (below 40%); set the thresholds in descending order: early, ready, asap, emergency
        "#]],
    );
    check_problems(
        &rawr(
            "[rawr_auto_compaction]\nready_percent_remaining_lt = 20\nasap_percent_remaining_lt = 0\nemergency_percent_remaining_lt = 30",
        ),
        expect![[r#"
            warning[threshold-order] rawr.toml at "20": ready (below 20%) is never reached before emergency (below 30%); set the thresholds in descending order: early, ready, asap, emergency
        "#]],
    );
}

#[test]
fn other_keys_of_codexs_file_are_ignored() {
    let files = Files {
        codex: "model = 5\n[features]\nweb = 1\nrawr_auto_compaction = false\n[tui]\nx = []\n[rawr_auto_compaction]\nmod = 1",
        ..Files::default()
    };
    let config = check_problems(
        &files,
        expect![[r#"
            warning[unknown-key] config.toml at "mod": unknown key `mod` in `[rawr_auto_compaction]`; did you mean `mode`?
            warning[fails-closed] config.toml at "1": until this is fixed, `rawr_auto_compaction.mode` is "ask"
        "#]],
    );
    assert!(!config.policy.enabled);
    check_problems(&Files { codex: "model = = 5", ..Files::default() }, expect![[""]]);
}

#[test]
fn an_unreadable_file_is_reported() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("rawr.toml")).unwrap();
    let (_, problems) = ConfigSources::at(&Home::at(home.path())).load();
    assert_eq!(
        problems.iter().map(|problem| problem.code).collect::<Vec<_>>(),
        ["unreadable-file", "fails-closed"]
    );
}

#[test]
fn client_settings_are_checked_like_a_file() {
    let client = json!({"rawr_auto_compaction": {"mode": 1, "mid-turn": "off"}, "rawr_auto_compaction.cooldown_turns": 2});
    let config = check_problems(
        &Files { client: Some(client), ..Files::default() },
        expect![[r#"
            warning[unknown-key] client: unknown key `mid-turn` in `[rawr_auto_compaction]`; did you mean `mid_turn`?
            error[wrong-type] client: `rawr_auto_compaction.mode` must be one of `tag`, `suggest`, `ask`, `auto`, but is a whole number
            warning[fails-closed] client: until this is fixed, `rawr_auto_compaction.mid_turn` is "off"
            warning[fails-closed] client: until this is fixed, `rawr_auto_compaction.mode` is "ask"
        "#]],
    );
    assert_eq!(config.policy.cooldown_turns, 2, "dotted keys are accepted");
    check_problems(
        &Files { client: Some(json!([1])), ..Files::default() },
        expect![[r#"
            error[wrong-type] client: `config` must be a table, but is a list
            warning[fails-closed] client: until this is fixed, nothing is compacted without your approval
        "#]],
    );
}

#[test]
fn mid_turn_follows_the_golden_path_unless_set() {
    let key = "rawr_auto_compaction.mid_turn";
    check_value(&Files::default(), key, &json!("emergency"), "built-in");
    let without = "[rawr_auto_compaction]\nturn_based_handoff = false";
    check_value(&rawr(without), key, &json!("policy"), "built-in");
    let set = "[rawr_auto_compaction]\nturn_based_handoff = false\nmid_turn = \"off\"";
    check_value(&rawr(set), key, &json!("off"), "rawr.toml");
}

#[test]
fn an_empty_string_unsets_the_value_of_a_lower_layer() {
    let files = Files {
        codex: "[rawr_auto_compaction]\ncompaction_model = \"a\"",
        rawr: "[rawr_auto_compaction]\ncompaction_model = \"\"",
        ..Files::default()
    };
    assert_eq!(files.load().0.policy.compaction.model, None);
}

#[test]
fn built_in_compaction_without_effect_is_reported() {
    check_problems(
        &rawr("[auto_compact]\nenabled = true"),
        expect![[r#"
        hint[no-effect] rawr.toml at "true": `[auto_compact]` has no effect while `features.rawr_auto_compaction` is true; set `features.rawr_auto_compaction = false` to use it
    "#]],
    );
    check_problems(
        &rawr("[auto_compact]\nenabled = true\n[features]\nrawr_auto_compaction = false"),
        expect![[""]],
    );
}
