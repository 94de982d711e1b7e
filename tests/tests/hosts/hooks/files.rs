//! The files that `rawr hooks install` changes, and the checks of `rawr doctor`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rawr_tests::mock_responses::TurnScript;
use rawr_tests::rawr;
use serde_json::Value;

use super::fixture::HooksFixture;

fn settings(fixture: &HooksFixture) -> PathBuf {
    fixture.home.path().join(".claude/settings.json")
}

#[test]
fn hooks_are_installed_once_and_removed_with_a_backup() {
    let fixture = HooksFixture::new(TurnScript::default());
    let before = "{\n  \"model\": \"opus\",\n  \"env\": {\"B\": \"1\", \"A\": \"2\"}\n}\n";
    std::fs::create_dir_all(settings(&fixture).parent().unwrap()).unwrap();
    std::fs::write(settings(&fixture), before).unwrap();

    let said = fixture.says(&["hooks", "install", "--claude"]);
    assert!(said.starts_with("wrote ") && said.contains("settings.json.before-rawr"), "{said}");
    assert!(said.contains("The plugin for Claude Code does more"), "{said}");
    let kept = settings(&fixture).with_file_name("settings.json.before-rawr");
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), before);
    let text = std::fs::read_to_string(settings(&fixture)).unwrap();
    assert!(
        text.starts_with("{\n  \"model\": \"opus\",\n  \"env\": {\"B\": \"1\", \"A\": \"2\"},\n")
    );
    let value: Value = serde_json::from_str(&text).unwrap();
    let events: Vec<_> = value["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(events, ["PreCompact", "SessionStart", "Stop", "UserPromptSubmit"]);

    let said = fixture.says(&["hooks", "install", "--claude"]);
    assert!(said.starts_with("kept ") && said.contains("are in it"), "{said}");
    assert_eq!(std::fs::read_to_string(settings(&fixture)).unwrap(), text);

    fixture.says(&["hooks", "install", "--claude", "--uninstall"]);
    assert_eq!(std::fs::read_to_string(settings(&fixture)).unwrap(), before);
    let said = fixture.says(&["hooks", "install", "--claude", "--uninstall"]);
    assert!(said.starts_with("kept ") && said.contains("not in it"), "{said}");
}

/// What installing made is gone again; a person's own empty file stays.
#[test]
fn a_file_with_only_hooks_is_removed_with_them() {
    let fixture = HooksFixture::new(TurnScript::default());
    fixture.says(&["hooks", "install", "--claude"]);
    let said = fixture.says(&["hooks", "install", "--claude", "--uninstall"]);
    assert!(said.starts_with("removed "), "{said}");
    assert!(!settings(&fixture).exists());

    std::fs::write(settings(&fixture), "{}\n").unwrap();
    fixture.says(&["hooks", "install", "--claude"]);
    fixture.says(&["hooks", "install", "--claude", "--uninstall"]);
    assert_eq!(std::fs::read_to_string(settings(&fixture)).unwrap(), "{}\n");
}

#[test]
fn project_hooks_are_in_the_unshared_settings() {
    let fixture = HooksFixture::new(TurnScript::default());
    fixture.says(&["--home", "h", "hooks", "install", "--claude", "--codex", "--project", "."]);
    let text = |name: &str| std::fs::read_to_string(fixture.repository.path().join(name)).unwrap();
    let home = fixture.repository.path().canonicalize().unwrap().join("h");
    for (name, host) in [(".claude/settings.local.json", "claude"), (".codex/hooks.json", "codex")]
    {
        let text = text(name);
        let end = format!("--home {} hook Stop --host {host}", home.display());
        assert!(text.contains(&end), "{end}: {text}");
    }
    assert!(!settings(&fixture).exists());
}

#[test]
fn an_invalid_settings_file_is_not_changed() {
    let fixture = HooksFixture::new(TurnScript::default());
    std::fs::create_dir_all(settings(&fixture).parent().unwrap()).unwrap();
    for (text, words) in [
        ("{ // mine\n}", "comment on line 1"),
        ("{\n  /* mine */\n}", "comment on line 2"),
        ("{ mine }", "invalid JSON"),
        ("\u{feff}{}", "byte order mark"),
        ("{\"hooks\": {}, \"model\": \"opus\", \"hooks\": {}}", "duplicate key `hooks`"),
        ("{\"hooks\": {\"Stop\": [], \"Stop\": []}}", "duplicate key `hooks.Stop`"),
    ] {
        std::fs::write(settings(&fixture), text).unwrap();
        for uninstall in [&[][..], &["--uninstall"]] {
            let output = fixture.run(&[&["hooks", "install", "--claude"], uninstall].concat());
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{text}: {error}");
            assert!(error.contains("was not changed") && error.contains(words), "{text}: {error}");
            assert_eq!(std::fs::read_to_string(settings(&fixture)).unwrap(), text);
        }
    }
}

#[test]
fn each_change_backs_up_the_file() {
    let fixture = HooksFixture::new(TurnScript::default());
    std::fs::create_dir_all(settings(&fixture).parent().unwrap()).unwrap();
    let mut kept = vec!["{\n  \"model\": \"opus\"\n}\n".to_owned()];
    std::fs::write(settings(&fixture), &kept[0]).unwrap();
    for options in [&["--claude"][..], &["--claude", "--headless"], &["--claude", "--uninstall"]] {
        fixture.says(&[&["hooks", "install"], options].concat());
        for (at, text) in kept.iter().enumerate() {
            let number = if at == 0 { String::new() } else { format!(".{}", at + 1) };
            let name = format!("settings.json.before-rawr{number}");
            let before = std::fs::read_to_string(settings(&fixture).with_file_name(&name)).unwrap();
            assert_eq!(before, *text, "{name}");
        }
        kept.push(std::fs::read_to_string(settings(&fixture)).unwrap());
    }
}

/// Package managers replace the real file and keep the link.
#[test]
fn hooks_use_the_path_that_rawr_was_called_with() {
    let fixture = HooksFixture::new(TurnScript::default());
    let bin = fixture.home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(rawr(), bin.join("rawr")).unwrap();
    let path = std::env::join_paths([bin.as_path(), Path::new("/usr/bin"), Path::new("/bin")]);
    let path = path.unwrap();
    for program in [bin.join("rawr"), "rawr".into(), "bin/rawr".into()] {
        let mut command = Command::new(&program);
        command.args(["hooks", "install", "--claude"]).current_dir(fixture.home.path());
        fixture.home.equip(&mut command);
        let output = command.env("PATH", &path).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = std::fs::read_to_string(settings(&fixture)).unwrap();
        let called = format!("\"command\": \"{}/rawr hook Stop", bin.display());
        assert!(text.contains(&called), "{}: {text}", program.display());
        std::fs::remove_file(settings(&fixture)).unwrap();
    }
}

#[test]
fn hooks_of_a_renamed_rawr_are_recognized() {
    let fixture = HooksFixture::new(TurnScript::default());
    for name in [".rawr-wrapped", "compactor"] {
        let program = fixture.home.path().join(name);
        std::fs::copy(rawr(), &program).unwrap();
        let mut command = Command::new(&program);
        command.args(["hooks", "install", "--claude"]).current_dir(fixture.home.path());
        fixture.home.equip(&mut command);
        assert!(command.status().unwrap().success());
        let text = std::fs::read_to_string(settings(&fixture)).unwrap();
        assert!(text.contains(&format!("/{name} hook Stop")), "{text}");
        let said = fixture.says(&["hooks", "install", "--claude", "--uninstall"]);
        assert!(said.starts_with("removed "), "{name}: {said}");
    }
}

#[test]
fn links_and_permissions_are_kept() {
    let fixture = HooksFixture::new(TurnScript::default());
    let real = fixture.home.path().join("dotfiles.json");
    std::fs::write(&real, "{}").unwrap();
    std::fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
    std::fs::create_dir_all(settings(&fixture).parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&real, settings(&fixture)).unwrap();
    fixture.says(&["hooks", "install", "--claude"]);
    assert!(settings(&fixture).is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("hook Stop"));
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn an_agent_must_be_named() {
    let fixture = HooksFixture::new(TurnScript::default());
    assert_eq!(fixture.run(&["hooks", "install"]).status.code(), Some(2));
    let output = fixture.run(&["hooks", "install", "--claude", "--project", "/no/such"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("--project DIR"));
}

#[test]
fn the_doctor_checks_claude_and_hooks() {
    let fixture = HooksFixture::new(TurnScript::default());
    let claude = fixture.home.path().join("claude");
    std::fs::write(&claude, "#!/bin/sh\necho '2.1.332 (Claude Code)'\n").unwrap();
    std::fs::set_permissions(&claude, PermissionsExt::from_mode(0o755)).unwrap();
    let claude = claude.display().to_string();
    let check = |name: &str| -> Value {
        let output = fixture.run(&["doctor", "--json", "--claude", &claude, "--codex", "/no/such"]);
        let text = String::from_utf8(output.stdout).unwrap();
        let mut checks = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        checks.find(|check| check["name"] == name).unwrap()
    };
    let found = check("claude");
    assert_eq!(found["status"], "ok", "{found}");
    assert!(found["message"].as_str().unwrap().starts_with("2.1.332 in "), "{found}");
    assert!(check("hooks")["todo"][0].as_str().unwrap().contains("rawr hooks install"));
    fixture.says(&["hooks", "install", "--claude"]);
    let found = check("hooks");
    assert_eq!(found["status"], "ok", "{found}");
    assert!(found["message"].as_str().unwrap().contains("settings.json"));
    for gone in ["/no/such/rawr", "/bin/false"] {
        let text = std::fs::read_to_string(settings(&fixture)).unwrap();
        let path = serde_json::to_string(&rawr()).unwrap();
        let text = text.replace(path.trim_matches('"'), gone);
        std::fs::write(settings(&fixture), text).unwrap();
        let found = check("hooks");
        assert_eq!(found["status"], "warn", "{found}");
        assert!(found["message"].as_str().unwrap().contains(gone), "{found}");
        assert!(found["todo"].to_string().contains("rawr hooks install --claude"), "{found}");
        std::fs::remove_file(settings(&fixture)).unwrap();
        fixture.says(&["hooks", "install", "--claude"]);
    }
}
