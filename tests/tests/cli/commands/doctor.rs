//! `rawr doctor`, and errors about old programs and invalid files.

use super::*;

#[test]
fn the_doctor_reports_problems_with_their_files() {
    let fixture = CommandFixture::new();
    let config = "[rawr_auto_compaction]\nmode = \"sometimes\"\n";
    std::fs::write(fixture.path("rawr.toml"), config).unwrap();
    let doctor = |arguments: &[&str]| fixture.command(arguments).env("PATH", "").output().unwrap();

    let output = doctor(&["doctor"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for words in
        ["✓ home", "✗ config     2 problems", "rawr.toml:2:8", "! codex      not installed"]
    {
        assert!(text.contains(words), "{words}:\n{text}");
    }

    let checks = events(&out(&doctor(&["doctor", "--json"])));
    let config = checks.iter().find(|check| check["name"] == "config").unwrap();
    assert_eq!(config["status"], "fail");
    assert_eq!(config["problems"][0]["range"]["start"]["line"], 1, "{config}");
    assert!(checks.iter().any(|check| check["name"] == "sidecar" && check["status"] == "ok"));
    assert_eq!(names(fixture.home.path()), ["rawr.toml"], "looking changes nothing");

    std::fs::remove_file(fixture.path("rawr.toml")).unwrap();
    let well = doctor(&["doctor"]);
    assert!(well.status.success(), "{}", out(&well));
}

#[test]
fn the_doctor_requires_any_one_agent() {
    let fixture = CommandFixture::new();
    let claude = fixture.path("claude");
    std::fs::write(&claude, "#!/bin/sh\necho '2.1.330 (Claude Code)'\n").unwrap();
    std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755)).unwrap();
    let doctor = |options: &[&str]| {
        let mut command = fixture.command(&["doctor"]);
        out(&command.args(options).env("PATH", "").output().unwrap())
    };
    let none = doctor(&[]);
    let one = doctor(&["--claude", claude.to_str().unwrap()]);
    for (mark, agents, text) in [("!", &["codex", "claude"][..], none), ("–", &["codex"], one)] {
        for agent in agents {
            let line = format!("{mark} {agent:<11}not installed; needed for ");
            assert!(text.contains(&line), "{line}:\n{text}");
        }
    }
}

/// Installed and enabled as Claude Code writes it.
const INSTALLED: &str = r#"{"version":2,"plugins":{"other@x":[{}],"rawr@rawr":[{"scope":"user","version":"VERSION"}]}}"#;
const ENABLED: &str = r#"{"enabledPlugins":{"rawr@rawr":true},"pluginConfigs":{"rawr@rawr":{"options":{"path":"PATH"}}}}"#;

#[test]
fn the_doctor_checks_the_plugin_in_claude_code() {
    let fixture = CommandFixture::new();
    let config = fixture.path("claude-config");
    std::fs::create_dir_all(config.join("plugins")).unwrap();
    let claude = fixture.path("claude");
    let version = |number: &str| {
        std::fs::write(&claude, format!("#!/bin/sh\necho '{number} (Claude Code)'\n")).unwrap();
        std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let check = || {
        let mut command = fixture.command(&["doctor", "--json", "--claude"]);
        command.arg(&claude).env("PATH", "").env("CLAUDE_CONFIG_DIR", &config);
        let mut checks = events(&out(&command.output().unwrap())).into_iter();
        let check = checks.find(|check| check["name"] == "plugin").unwrap();
        format!("{}: {} {}", check["status"], check["message"], check["todo"])
    };
    let expect = |words: &[&str]| {
        let said = check();
        for word in words {
            assert!(said.contains(word), "{word}: {said}");
        }
    };
    let installed = |version: &str| {
        let text = INSTALLED.replace("VERSION", version);
        std::fs::write(config.join("plugins/installed_plugins.json"), text).unwrap();
    };
    let settings = |text: &str| std::fs::write(config.join("settings.json"), text).unwrap();
    let enabled = |path: &str| settings(&ENABLED.replace("PATH", path));
    let rawr = rawr().display().to_string();
    let own = env!("CARGO_PKG_VERSION");

    version("2.1.330");
    expect(&["absent", "not installed", "claude plugin install rawr@rawr"]);
    version("2.1.286");
    expect(&["absent", "2.1.287 or newer", "yours is 2.1.286", "rawr hooks install --claude"]);
    installed(own);
    enabled(&rawr);
    expect(&["warn", "2.1.287 or newer", "claude update"]);
    version("2.1.330");
    expect(&["ok", &format!("rawr@rawr {own} is enabled and starts rawr {own} in {rawr}")]);
    enabled("/bin/false");
    expect(&["warn", "/bin/false", "claude plugin configure rawr@rawr"]);
    // Not in the PATH.
    settings(r#"{"enabledPlugins":{"rawr@rawr":true}}"#);
    expect(&["warn", "starts rawr, which is not a working rawr"]);
    settings(r#"{"enabledPlugins":{"rawr@rawr":false}}"#);
    expect(&["absent", "is disabled", "claude plugin enable rawr@rawr"]);
    settings(r#"{"enabledPlugins":{"rawr@rawr":true},"disableAllHooks":true}"#);
    expect(&["warn", "disableAllHooks"]);
    enabled(&rawr);
    installed("0.0.1");
    expect(&["warn", "should have the same version", "claude plugin update rawr@rawr"]);

    let project = fixture.temporary.path().join(".claude");
    std::fs::create_dir(&project).unwrap();
    let local = project.join("settings.local.json");
    std::fs::write(local, r#"{"enabledPlugins":{"rawr@rawr":false}}"#).unwrap();
    expect(&["absent", "is disabled"]);
    settings("{ not JSON");
    expect(&["warn", "settings.json"]);
}

#[test]
fn the_doctor_names_the_new_configuration_file() {
    let fixture = CommandFixture::new();
    assert!(fixture.run(&["init"]).status.success());
    let text = out(&fixture.run(&["doctor"]));
    let line = format!("from {}, built-in", fixture.path("rawr.toml").display());
    assert!(text.contains(&line), "{line}:\n{text}");
}

/// Codex tells it when it starts; who checks wants to know before.
#[test]
fn an_invalid_codex_configuration_is_reported() {
    let fixture = CommandFixture::new();
    std::fs::write(fixture.path("config.toml"), "model = \"x\n").unwrap();
    let checked = fixture.run(&["config", "check"]);
    assert_eq!(checked.status.code(), Some(1));
    let said = out(&checked);
    assert!(said.contains("config.toml:1:") && said.contains("Codex does not start"), "{said}");
    let doctor = out(&fixture.run(&["doctor"]));
    assert!(doctor.contains("✗ config"), "{doctor}");
}

#[test]
fn the_doctor_reports_a_missing_decision_prompt() {
    let fixture = CommandFixture::new();
    let tier = "[rawr_auto_compaction.policy.asap]\ndecision_prompt_path = \"no-such.md\"\n";
    std::fs::write(fixture.path("rawr.toml"), tier).unwrap();
    let doctor = out(&fixture.run(&["doctor"]));
    assert!(doctor.contains("! prompts") && doctor.contains("no-such.md"), "{doctor}");
}

/// Said before anything is started, and Codex runs all the same.
#[test]
fn a_too_old_codex_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = CommandFixture::new();
    let codex = fixture.path("codex");
    std::fs::write(&codex, "#!/bin/sh\necho codex-cli 0.100.0 \"$@\"\n").unwrap();
    std::fs::set_permissions(&codex, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = fixture.run(&["codex", "--codex", codex.to_str().unwrap(), "hello"]);
    let error = err(&ran);
    assert!(error.contains("Codex 0.100.0 is too old"), "{error}");
    assert!(error.contains("npm install -g @openai/codex"), "{error}");
    assert!(error.contains("Codex runs without it"), "{error}");
    assert_eq!(out(&ran).trim(), "codex-cli 0.100.0 hello");
}

#[test]
fn attach_reports_the_required_codex_version() {
    let fixture = CommandFixture::new();
    let output =
        fixture.command(&["attach"]).env("CODEX_HOME", fixture.path("codex")).output().unwrap();
    let error = err(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    for words in ["no Codex to attach to", "`codex exec`", "rawr codex resume"] {
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(error.matches("os error").count(), 1, "the cause is told once: {error}");
}

/// Whatever contains this word is private.
const PLANTED: &str = "planted";

const PRIVATE_CONFIG: &str = r#"
[rawr_auto_compaction]
mode = "planted-mode"
preset = "spec"
planted_key = "planted-value"

[rawr_auto_compaction.policy.asap]
percent_remaining_lt = 60
decision_prompt_path = "planted-judge.md"

[rawr_auto_compaction.judgment]
backend = "chat"
base_url = "https://planted.example/v1"
api_key_env = "PLANTED_KEY"
model = "planted-model"

[rawr_auto_compaction.semantic_signals]
agent_done = ["planted phrase"]
"#;

const PRIVATE_LOG: &str = "\
2026-11-26T08:00:00.1Z  WARN failed to read the scratch file thread=planted error=planted words
the planted second line
2026-11-26T08:00:01.1Z ERROR failed to store a decision error=\"planted\"
";

#[test]
fn a_report_names_versions_settings_and_failures_but_nothing_private() {
    let fixture = CommandFixture::new();
    let user = fixture.path("planted-user");
    let (project, programs) = (user.join("planted-project"), user.join("bin"));
    let home = user.join(".rawr");
    for folder in [&project, &programs] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let kept = fixture.path("kept");
    assert!(fixture.run(&["demo", "--keep", kept.to_str().unwrap()]).status.success());
    std::fs::rename(kept.join("home"), &home).unwrap();
    std::fs::create_dir_all(home.join("auto-compact")).unwrap();
    std::fs::create_dir_all(user.join(".claude/plugins")).unwrap();
    for (file, text) in [
        (home.join("rawr.toml"), PRIVATE_CONFIG),
        (home.join("config.toml"), "model = \"planted\n"),
        (home.join("auto-compact/handoff.md"), "planted: {packet}"),
        (home.join("rawr/sidecar.log"), PRIVATE_LOG),
        (home.join("rawr/hooks.log"), "1795683990726 claude Stop: no `planted`: planted cause\n"),
        (project.join(".rawr.toml"), "planted = \"planted"),
        (user.join(".claude/plugins/installed_plugins.json"), "{\"plugins\": \"planted\"}"),
    ] {
        std::fs::write(file, text).unwrap();
    }
    for (name, said) in [
        ("nvim", "NVIM v0.11.2\nBuilt by planted"),
        ("kak", "Kakoune v2024.05.18"),
        ("claude", "2.1.330 (Claude Code) planted"),
        ("emacs", "planted"),
    ] {
        let program = programs.join(name);
        std::fs::write(&program, format!("#!/bin/sh\necho '{said}'\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // Codex quotes its configuration as it ends.
    let codex = programs.join("codex");
    let text = "#!/bin/sh\nif [ $1 = --version ]; then echo codex-cli 0.150.0; exit; fi\nread line\necho 'invalid: planted' >&2\nexit 1\n";
    std::fs::write(&codex, text).unwrap();
    std::fs::set_permissions(&codex, std::fs::Permissions::from_mode(0o755)).unwrap();
    let report = |options: &[&str]| {
        let mut command = fixture.command(&["doctor", "--report"]);
        command.args(options).env_remove("RAWR_HOME").env_remove("CLAUDE_CONFIG_DIR");
        command.env("HOME", &user).env("PATH", &programs).current_dir(&project);
        command.env("OPENAI_API_KEY", "sk-planted").env("PLANTED_KEY", "planted");
        command.env("SHELL", "/planted/fish").env("TERM", "xterm-256color");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "a check failed: {}", err(&output));
        assert_eq!(err(&output), "");
        out(&output)
    };
    let (text, json) = (report(&[]), report(&["--json"]));
    let first_message = "kv.sh";
    for text in [&text, &json] {
        for private in [PLANTED, "PLANTED", first_message, user.to_str().unwrap()] {
            assert!(!text.contains(private), "{private}:\n{text}");
        }
    }
    for words in [
        &format!("### Versions\n\n```text\nrawr: {}\n", env!("CARGO_PKG_VERSION"))[..],
        "claude: 2.1.330\n",
        "nvim: v0.11.2\n",
        "kak: v2024.05.18\n",
        "emacs: unknown\n",
        "shell: fish\n",
        "TERM: xterm-256color\n",
        "OPENAI_API_KEY\n",
        "rawr_auto_compaction.preset = \"spec\"  # ~/.rawr/rawr.toml\n",
        "rawr_auto_compaction.policy.asap.percent_remaining_lt = 60  # ",
        "rawr_auto_compaction.judgment.base_url is set, its text is left out  # ",
        "handoff\n",
        "config failed: ",
        "unknown-key in ~/.rawr/rawr.toml:5\n",
        "syntax in ~/.rawr/config.toml:1\n",
        "no-file in ~/.rawr/auto-compact/…\n",
        "unused-placeholder in ~/.rawr/auto-compact/handoff.md",
        "codex failed: codex ended (exit status: 1)\n",
        "sidecar.log: 2026-11-26T08:00:00.1Z WARN failed to read the scratch file\n",
        "sidecar.log: 2026-11-26T08:00:01.1Z ERROR failed to store a decision\n",
        "hooks.log: 2026-11-26T09:06:30.726Z claude Stop: no `…`\n",
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    let fences = text.lines().filter(|line| line.starts_with("```")).count();
    assert_eq!(fences, 16, "{text}");
    let [json] = events(&json).try_into().unwrap();
    assert_eq!(json["event"], "report");
    assert_eq!(json["prompts"], serde_json::json!(["handoff"]));
    assert!(json["checks"].as_array().unwrap().len() > 5, "{json}");
}

#[test]
fn a_text_that_is_appended_to_a_report_names_neither_secrets_nor_people() {
    let fixture = CommandFixture::new();
    let user = fixture.path("ada");
    std::fs::create_dir_all(&user).unwrap();
    let (github, aws) = (format!("ghs_{}", "8Kq2".repeat(9)), format!("AKIA{}", "Z7QX".repeat(4)));
    let text = format!(
        "- sidecar: 0.1.0\nauthorization = \"{github}\"\nat {}/app in /home/bob/x\n```\n{aws}\n",
        user.display()
    );
    let file = fixture.path("more.txt");
    std::fs::write(&file, &text).unwrap();
    let report = |from: &str, input: Option<&str>| {
        let mut command = fixture.command(&["doctor", "--report", "--append", from]);
        command.env("HOME", &user).env("PATH", "").stdout(Stdio::piped()).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        input.into_iter().for_each(|text| stdin.write_all(text.as_bytes()).unwrap());
        drop(stdin);
        out(&child.wait_with_output().unwrap())
    };
    let of_file = report(file.to_str().unwrap(), None);
    let appended = of_file.split_once("### Appended").expect(&of_file).1;
    for private in [&github[..], &aws, "ada", "bob"] {
        assert!(!of_file.contains(private), "{private}:\n{of_file}");
    }
    for kept in ["````text\n- sidecar: 0.1.0\nauthorization = \"[redacted:", "at ~/app in ~/x\n"] {
        assert!(appended.contains(kept), "{kept}:\n{appended}");
    }
    let of_input = report("-", Some(&text));
    assert_eq!(of_input.split_once("### Appended").expect(&of_input).1, appended);
}
