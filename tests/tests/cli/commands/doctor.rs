//! What `rawr doctor` finds, and what is said where a program is too old or a file is broken.

use super::*;

#[test]
fn the_doctor_finds_what_is_broken_and_where() {
    let desk = Desk::new();
    let config = "[rawr_auto_compaction]\nmode = \"sometimes\"\n";
    std::fs::write(desk.path("rawr.toml"), config).unwrap();
    let doctor = |arguments: &[&str]| desk.command(arguments).env("PATH", "").output().unwrap();

    let output = doctor(&["doctor"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for words in ["✓ home", "✗ config     1 problem", "rawr.toml:2:8", "! codex      not installed"]
    {
        assert!(text.contains(words), "{words}:\n{text}");
    }

    let checks = events(&out(&doctor(&["doctor", "--json"])));
    let config = checks.iter().find(|check| check["name"] == "config").unwrap();
    assert_eq!(config["status"], "fail");
    assert_eq!(config["problems"][0]["range"]["start"]["line"], 1, "{config}");
    assert!(checks.iter().any(|check| check["name"] == "sidecar" && check["status"] == "ok"));
    assert_eq!(names(desk.home.path()), ["rawr.toml"], "looking changes nothing");

    std::fs::remove_file(desk.path("rawr.toml")).unwrap();
    let well = doctor(&["doctor"]);
    assert!(well.status.success(), "{}", out(&well));
}

#[test]
fn the_doctor_asks_for_one_agent_and_treats_all_alike() {
    let desk = Desk::new();
    let claude = desk.path("claude");
    std::fs::write(&claude, "#!/bin/sh\necho '2.1.330 (Claude Code)'\n").unwrap();
    std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755)).unwrap();
    let doctor = |options: &[&str]| {
        let mut command = desk.command(&["doctor"]);
        out(&command.args(options).env("PATH", "").output().unwrap())
    };
    let none = doctor(&[]);
    let one = doctor(&["--claude", claude.to_str().unwrap()]);
    for (mark, agents, text) in [("!", &["codex", "claude"][..], none), ("✓", &["codex"], one)] {
        for agent in agents {
            let line = format!("{mark} {agent:<11}not installed; `rawr ");
            assert!(text.contains(&line), "{line}:\n{text}");
        }
    }
}

#[test]
fn the_doctor_names_the_file_that_was_just_made() {
    let desk = Desk::new();
    assert!(desk.run(&["init"]).status.success());
    let text = out(&desk.run(&["doctor"]));
    let line =
        format!("built-in values; {} changes none of them", desk.path("rawr.toml").display());
    assert!(text.contains(&line), "{line}:\n{text}");
}

/// Codex tells it when it starts; who checks wants to know before.
#[test]
fn a_broken_file_of_codexs_is_told() {
    let desk = Desk::new();
    std::fs::write(desk.path("config.toml"), "model = \"x\n").unwrap();
    let checked = desk.run(&["config", "check"]);
    assert_eq!(checked.status.code(), Some(1));
    let said = out(&checked);
    assert!(said.contains("config.toml:1:") && said.contains("Codex does not start"), "{said}");
    let doctor = out(&desk.run(&["doctor"]));
    assert!(doctor.contains("✗ config"), "{doctor}");
}

#[test]
fn the_doctor_misses_a_decision_prompt() {
    let desk = Desk::new();
    let tier = "[rawr_auto_compaction.policy.asap]\ndecision_prompt_path = \"no-such.md\"\n";
    std::fs::write(desk.path("rawr.toml"), tier).unwrap();
    let doctor = out(&desk.run(&["doctor"]));
    assert!(doctor.contains("! prompts") && doctor.contains("no-such.md"), "{doctor}");
}

/// Said before anything is started, and Codex runs all the same.
#[test]
fn a_codex_that_is_too_old_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let codex = desk.path("codex");
    std::fs::write(&codex, "#!/bin/sh\necho codex-cli 0.100.0 \"$@\"\n").unwrap();
    std::fs::set_permissions(&codex, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = desk.run(&["codex", "--codex", codex.to_str().unwrap(), "hello"]);
    let error = err(&ran);
    assert!(error.contains("Codex 0.100.0 is too old"), "{error}");
    assert!(error.contains("npm install -g @openai/codex"), "{error}");
    assert!(error.contains("Codex runs without it"), "{error}");
    assert_eq!(out(&ran).trim(), "codex-cli 0.100.0 hello");
}

#[test]
fn attach_says_which_codex_it_can_join() {
    let desk = Desk::new();
    let output = desk.command(&["attach"]).env("CODEX_HOME", desk.path("codex")).output().unwrap();
    let error = err(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    for words in ["no Codex to stand beside", "`codex exec`", "rawr codex resume"] {
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(error.matches("os error").count(), 1, "the cause is told once: {error}");
}
