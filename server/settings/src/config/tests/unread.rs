//! What holds while something cannot be read: never more than was asked.

use super::*;
use keys::WordEnum as _;

/// The mode, and what may act without it: rawr, the middle of a turn, and the built-in compaction.
fn in_force(config: &Config) -> String {
    let policy = &config.policy;
    let words = [policy.mode.word(), policy.mid_turn.word()].map(|word| match word {
        keys::KeyValue::Word(word) => word,
        _ => unreachable!("both are words"),
    });
    let parts = [(policy.enabled, "on"), (policy.inline.enabled, "inline")];
    let parts = parts.iter().filter(|(is, _)| *is).map(|(_, name)| *name);
    words.into_iter().chain(parts).collect::<Vec<_>>().join(" ")
}

const BOTH: &str = "[auto_compact]\nenabled = true\n[rawr_auto_compaction]\n";

#[track_caller]
fn check(files: &Files, expected: &str) {
    let (config, told) = files.load();
    assert_eq!(in_force(&config), expected, "{told}");
    assert!(!told.is_empty(), "a mistake is reported");
}

#[track_caller]
fn check_rawr(text: &str, expected: &str) {
    check(&rawr(text.to_owned().leak()), expected);
}

// rule: configuration.fails-closed
#[test]
fn a_file_with_a_syntax_error_asks() {
    check_rawr("[rawr_auto_compaction]\nmode = \"ask\"\nx = \n", "ask off on");
    check_rawr("[rawr_auto_compaction]\nmode = \"auto\"\n[", "ask off on");
    check_rawr("[rawr_auto_compaction]\nmode = ask\n", "ask off on");
    check_rawr("[", "ask off on");
    check_rawr("[rawr_auto_compaction]\nmode = \"ask\"\nmode = \"auto\"\n", "ask off on");
    check_rawr(&format!("{BOTH}mid_turn = \"policy\"\n["), "ask off on");
}

// rule: configuration.fails-closed
#[test]
fn what_can_be_read_of_a_broken_file_only_makes_rawr_stricter() {
    check_rawr("[rawr_auto_compaction]\nmode = \"tag\"\nx = \n", "tag off on");
    let off = "x = \n[features]\nrawr_auto_compaction = false\n";
    check_rawr(off, "ask off");
    let files = Files {
        codex: "[rawr_auto_compaction]\nmode = \"tag\"\ncooldown_turns = 3\n",
        rawr: "[rawr_auto_compaction]\nmode = \"auto\"\ncooldown_turns = 2\nidle_seconds = 900\nx = \n",
        ..Files::default()
    };
    check(&files, "tag off on");
    let policy = files.load().0.policy;
    assert_eq!((policy.cooldown_turns, policy.idle_seconds), (3, 900));
}

// rule: configuration.fails-closed
#[test]
fn a_file_that_cannot_be_opened_asks() {
    let home = tempfile::tempdir().unwrap();
    let in_home = |home: &Home| {
        let (config, problems) = ConfigSources::at(home).load();
        assert!(!problems.is_empty());
        in_force(&config)
    };
    std::fs::create_dir(home.path().join("rawr.toml")).unwrap();
    assert_eq!(in_home(&Home::at(home.path())), "ask off on");
    let gone = home.path().join("gone.toml");
    assert_eq!(in_home(&Home::of_file(gone.clone())), "ask off on", "a file that was named");
    std::fs::remove_dir(home.path().join("rawr.toml")).unwrap();
    std::os::unix::fs::symlink(gone, home.path().join("rawr.toml")).unwrap();
    assert_eq!(in_home(&Home::at(home.path())), "ask off on", "a link to nothing");
}

// rule: configuration.fails-closed
#[test]
fn the_last_valid_text_is_used_only_where_it_is_strict() {
    let home = tempfile::tempdir().unwrap();
    let home = Home::at(home.path());
    std::fs::write(home.rawr_toml(), "[rawr_auto_compaction]\nmode = \"suggest\"\n[").unwrap();
    let with = |text: &str| {
        let last_good = UnsavedTexts::from([(home.rawr_toml(), text.to_owned())]);
        let sources = ConfigSources { last_good: Some(&last_good), ..ConfigSources::at(&home) };
        let (config, _) = sources.load();
        (in_force(&config), config.policy.cooldown_turns)
    };
    let last = "[rawr_auto_compaction]\nmode = \"tag\"\ncooldown_turns = 7\n";
    assert_eq!(with(last), ("tag off on".to_owned(), 7));
    let last = "[rawr_auto_compaction]\nmode = \"auto\"\nmid_turn = \"policy\"\n";
    assert_eq!(with(last), ("suggest off on".to_owned(), 1));
}

// rule: configuration.fails-closed
#[test]
fn a_word_or_switch_that_cannot_be_read_is_the_strictest_that_could_be_meant() {
    for (text, expected) in [
        ("mode = \"aks\"", "ask emergency on"),
        ("mode = 3", "ask emergency on"),
        ("mode = [\"tag\"]", "ask emergency on"),
        ("mode = \"auto\"\nmid_turn = \"of\"", "auto off on"),
        ("mid_turn = false", "auto off on"),
        ("[features]\nrawr_auto_compaction = \"no\"", "auto emergency"),
    ] {
        check_rawr(&format!("[rawr_auto_compaction]\n{text}"), expected);
    }
    let inline = "[auto_compact]\nenabled = true\n[features]\nrawr_auto_compaction = 0";
    check_rawr(inline, "auto emergency");
    check_rawr(
        "[auto_compact]\nenabled = \"no\"\n[features]\nrawr_auto_compaction = false",
        "auto emergency",
    );
    let lower = Files {
        codex: "[rawr_auto_compaction]\nmode = \"tag\"\npreset = \"spec\"\n",
        rawr: "[rawr_auto_compaction]\nmode = \"autp\"\npreset = \"clam\"\n",
        ..Files::default()
    };
    check(&lower, "tag emergency on");
    assert_eq!(lower.load().0.preset, Preset::Calm);
}

// rule: configuration.fails-closed
#[test]
fn what_is_written_in_the_wrong_table_holds_where_it_was_meant() {
    check_rawr("[rawr_auto_compaction]\nenabled = false\n", "auto emergency");
    check_rawr("[rawr_auto_compaction]\nauto_compaction = false\n", "auto emergency");
    check_rawr("[rawr]\nenabled = false\n", "auto emergency");
    check_rawr("[rawr_auto_compaction]\nenabled = true\n", "auto emergency on");
    check_rawr("[rawr_auto_compaction.models]\nmode = \"ask\"\n", "ask emergency on");
}

// rule: configuration.fails-closed
#[test]
fn a_table_for_all_models_holds_while_the_model_is_not_known() {
    let of = |pattern: &str| {
        let text = format!("[rawr_auto_compaction.models.{pattern:?}]\nmode = \"ask\"\n");
        in_force(&rawr(text.leak()).load().0)
    };
    assert_eq!(of("*"), "ask emergency on");
    assert_eq!(of("gpt*"), "auto emergency on");
}

// rule: configuration.fails-closed
#[test]
fn a_client_may_write_whole_paths_as_names() {
    for (name, value, expected) in [
        ("rawr.mode", "ask", "ask emergency on"),
        ("rawr_auto_compaction.mode", "ask", "ask emergency on"),
        ("rawr_auto_compaction.mdoe", "ask", "ask emergency on"),
        ("rawr_auto_compaction.mid_turn", "off", "auto off on"),
    ] {
        let files = Files { client: Some(json!({ name: value })), ..Files::default() };
        assert_eq!(in_force(&files.load().0), expected, "{name}");
    }
}

// rule: configuration.fails-closed
#[test]
fn a_confirmation_that_cannot_be_read_waits_for_the_next_message() {
    let text = "[rawr_auto_compaction]\npreset = \"spec\"\n[rawr_auto_compaction.policy.early]\nconfirm = \"mesage\"\nconfirms_itself = [\"comit\"]\n[rawr_auto_compaction.policy.ready]\nconfirm = true\n[rawr_auto_compaction.policy.asap]\nplan_boundaries_require_semantic_break = \"yes\"\n";
    let (config, told) = rawr(text).load();
    let rule = |tier| config.policy.tiers.rule(tier);
    let confirm = Tier::ALL.map(|tier| rule(tier).confirm.name());
    assert_eq!(confirm, ["message", "message", "none", "none"], "{told}");
    assert_eq!(rule(Tier::Early).confirms_itself, Boundaries::NONE);
    assert!(rule(Tier::Asap).needs_semantic_break(Tier::Asap));
}

// rule: configuration.fails-closed
#[test]
fn a_number_or_list_that_cannot_be_read_asks() {
    for text in [
        "cooldown_turns = \"five\"",
        "early_percent_remaining_lt = \"off\"",
        "auto_requires_any_boundary = [\"comit\"]",
        "breaker_strikes = -1",
        "policy.early.percent_remaining_lt = 101",
        "policy.ready.tokens_used_gt = \"1M\"",
        "policy.asap.decision_prompt_path = 5",
        "semantic_signals.not_done = \"wip\"",
        "policy = 3",
        "policy.early = \"off\"",
        "models = []",
    ] {
        check_rawr(&format!("[rawr_auto_compaction]\n{text}\n"), "ask off on");
    }
    check_rawr("rawr_auto_compaction = \"ask\"", "ask off on");
    // A stronger layer says what holds.
    let files = Files {
        codex: "[rawr_auto_compaction]\ncooldown_turns = \"five\"\nmode = 1\nmid_turn = 1",
        rawr: "[rawr_auto_compaction]\ncooldown_turns = 5\nmode = \"auto\"\nmid_turn = \"policy\"",
        ..Files::default()
    };
    check(&files, "auto policy on");
}

// rule: configuration.fails-closed
#[test]
fn a_name_that_is_not_known_counts_for_what_it_was_probably_meant_for() {
    for (text, expected) in [
        ("mode = \"ask\"\n", "ask emergency on"),
        ("mode = \"tag\"\n", "tag emergency on"),
        ("mode = \"auto\"\n", "auto emergency on"),
        ("[rawr_auto_compaction]\nmdoe = \"ask\"", "ask emergency on"),
        ("[rawr_auto_compaction]\nMode = \"aks\"", "ask emergency on"),
        ("[rawr_auto_compation]\nmode = \"ask\"\nmid_turn = \"off\"", "ask off on"),
        ("[rawr]\nmode = \"ask\"", "ask emergency on"),
        ("[rawr.settings]\nmid-turn = \"off\"", "auto off on"),
        ("[feature]\nrawr_auto_compaction = false", "auto emergency"),
        ("[rawr_auto_compaction.modles.\"gpt\"]\nmode = \"ask\"", "ask emergency on"),
    ] {
        check_rawr(text, expected);
    }
    let spec =
        "[rawr_auto_compaction]\npreset = \"spec\"\nconfirm = \"idle\"\ncooldown_truns = 4\n";
    let policy = rawr(spec).load().0.policy;
    assert!(Tier::ALL.iter().all(|tier| policy.tiers.rule(*tier).confirm.name() == "idle"));
    assert_eq!(policy.cooldown_turns, 4);
    let codex = "[features]\nrawr_auto_compactoin = false\n";
    check(&Files { codex, ..Files::default() }, "auto emergency");
}

// rule: configuration.fails-closed
#[test]
fn the_settings_of_a_client_and_of_a_model_fail_closed() {
    let client = |client: Value| Files { client: Some(client), ..Files::default() };
    check(&client(json!({"rawr_auto_compaction": {"mode": 1}})), "ask emergency on");
    check(&client(json!({"mode": "ask"})), "ask emergency on");
    check(&client(json!(["mode"])), "ask off on");
    let rawr = "[rawr_auto_compaction.models.\"gpt*\"]\nmode = \"aks\"\n";
    let files = |model| Files { rawr, model, ..Files::default() };
    check(&files(Some("gpt-5")), "ask emergency on");
    check(&files(None), "auto emergency on");
    let rawr = "[rawr_auto_compaction.models.gpt-5.2]\nmode = \"ask\"\n";
    let files = |model| Files { rawr, model: Some(model), ..Files::default() };
    check(&files("gpt-5.2"), "ask emergency on");
    check(&files("gpt-5"), "auto emergency on");
}

// rule: configuration.fails-closed
// rule: configuration.project-narrows
#[test]
fn a_projects_file_that_cannot_be_read_makes_rawr_stricter() {
    let project = |project| Files { project, ..Files::default() };
    check(&project("[rawr_auto_compaction]\nmode = \"aks\""), "ask emergency on");
    check(&project("[rawr_auto_compaction]\nmdoe = \"tag\""), "tag emergency on");
    check(&project("[rawr_auto_compaction]\nmid_turn = off"), "ask off on");
    check(&project("features = false"), "auto emergency");
    check(&project("[rawr_auto_compaction]\ncooldown_turns = \"5\""), "ask off on");
    // A project may not set this key.
    check(&project("[rawr_auto_compaction]\npreset = 5"), "auto emergency on");
}

#[test]
fn a_project_that_switches_rawr_off_does_not_switch_the_built_in_compaction_on() {
    let files = Files {
        rawr: "[auto_compact]\nenabled = true\n[rawr_auto_compaction]\nmode = \"ask\"",
        project: "[features]\nrawr_auto_compaction = false",
        ..Files::default()
    };
    assert_eq!(in_force(&files.load().0), "ask emergency");
}

#[test]
fn an_endpoint_that_cannot_be_read_is_not_replaced_by_another() {
    for text in ["base_url = \"htps://localhost\"", "api_key_env = 5", "backend = \"respnses\""] {
        let text = format!(
            "[rawr_auto_compaction.judgment]\nmodel = \"m\"\nbackend = \"responses\"\n{text}\n"
        );
        let text = text.replace("backend = \"responses\"\nbackend", "backend");
        let (config, told) = rawr(text.leak()).load();
        assert_eq!(config.judgment.backend, JudgeBackend::Heuristic, "{told}");
        assert_eq!(config.policy.judge, JudgeBackend::Heuristic);
        assert_eq!(in_force(&config), "ask off on");
    }
}

#[test]
fn the_front_matter_of_the_packet_request_fails_closed() {
    let unread = BTreeSet::from(["trigger.early_percent_remaining_lt"]);
    let front_matter = PacketFrontMatter { unread, ..PacketFrontMatter::default() };
    let files = Files { front_matter, ..Files::default() };
    assert_eq!(in_force(&files.load().0), "ask off on");
}

#[test]
fn each_value_says_how_safe_it_is_and_what_holds_until_the_mistake_is_fixed() {
    let config = check_problems(
        &rawr("[rawr_auto_compaction]\nmode = \"aks\"\nmid_turn = \"off\"\n"),
        expect![[r#"
            error[unknown-value] rawr.toml at "\"aks\"": `rawr_auto_compaction.mode` cannot be `aks`; did you mean `ask`?
            warning[fails-closed] rawr.toml at "\"aks\"": until this is fixed, `rawr_auto_compaction.mode` is "ask"
        "#]],
    );
    let unread = |key: &str| config.effective()[key].get("unread").cloned();
    assert_eq!(unread(MODE), Some(json!(true)));
    assert_eq!(unread("rawr_auto_compaction.mid_turn"), None);
    let config = check_problems(
        &rawr("[rawr_auto_compaction]\ncooldown_turns = -1\n"),
        expect![[r#"
            error[out-of-range] rawr.toml at "-1": `rawr_auto_compaction.cooldown_turns` must be from 0 to 10000, but is -1
            warning[fails-closed] rawr.toml at "-1": until this is fixed, nothing is compacted without your approval
        "#]],
    );
    let unread = |key: &str| config.effective()[key].get("unread").cloned();
    assert_eq!(unread(MODE), Some(json!(true)));
    check_problems(
        &rawr("[rawr_auto_compaction\n"),
        expect![[r#"
        error[syntax] rawr.toml at "": unclosed table, expected `]`
        warning[fails-closed] rawr.toml at "": until this is fixed, nothing is compacted without your approval
    "#]],
    );
}
