//! `rawr config` and `rawr prompts`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use expect_test::{Expect, expect};
use rawr_tests::{StandIn, TestHome, TestSidecar, rawr};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

struct FilesFixture {
    home: TestHome,
    environment: Vec<(&'static str, String)>,
}

impl FilesFixture {
    fn new() -> Self {
        Self { home: TestHome::empty(), environment: Vec::new() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(rawr());
        command.args(arguments).current_dir(self.home.work()).stdin(Stdio::null());
        command.env("RAWR_HOME", self.home.path()).env_remove("VISUAL").env_remove("EDITOR");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.output().unwrap()
    }

    /// Checks the output, with the home shown as `HOME` and the folder as `WORK`.
    fn check(&self, arguments: &[&str], code: i32, expected: Expect) {
        let output = self.run(arguments);
        expected.assert_eq(&self.named(&both(&output)));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }

    fn named(&self, text: &str) -> String {
        let text = text.replace(&self.home.path().display().to_string(), "HOME");
        text.replace(&self.home.work().display().to_string(), "WORK")
    }

    fn events(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(arguments);
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn prompt(&self, name: &str) -> PathBuf {
        self.home.path().join("auto-compact").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.prompt("")).unwrap();
        fs::write(self.prompt(name), text).unwrap();
    }
}

fn both(output: &Output) -> String {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}{err}")
}

#[test]
fn set_values_are_shown_with_their_file() {
    let fixture = FilesFixture::new();
    fixture.check(
        &["config", "show"],
        0,
        expect![[r#"
        Nothing is set: every key has its built-in value. `rawr config show --effective` lists them.
    "#]],
    );
    fixture.home.configure(
        "[rawr_auto_compaction]\nmode = \"ask\"\nready_percent_remaining_lt = \"45%\"\nmodus = 1\n\
         [rawr_auto_compaction.models.\"gpt-5*\"]\ncooldown_turns = 3\n",
    );
    fs::write(fixture.home.work().join(".rawr.toml"), "[rawr_auto_compaction]\nmode = \"tag\"\n")
        .unwrap();
    fixture.check(&["config", "show", "--model", "gpt-5.2"], 0, expect![[r#"
        rawr_auto_compaction.cooldown_turns = 3  # HOME/rawr.toml, model gpt-5*
        rawr_auto_compaction.mode = "tag"  # WORK/.rawr.toml
        rawr_auto_compaction.policy.ready.percent_remaining_lt = 45  # HOME/rawr.toml, as rawr_auto_compaction.ready_percent_remaining_lt
        rawr: 1 problem in these files: `rawr config check` shows where
    "#]]);
    let values = fixture.events(&["config", "show", "--effective", "--json"]);
    let find = |key: &str| values.iter().find(|value| value["key"] == key).unwrap().to_string();
    expect![[r#"
        {"event":"config_value","key":"rawr_auto_compaction.mode","layer":"WORK/.rawr.toml","value":"tag"}
        {"event":"config_value","key":"rawr_auto_compaction.policy.ready.percent_remaining_lt","layer":"HOME/rawr.toml","value":45,"writtenAs":"rawr_auto_compaction.ready_percent_remaining_lt"}
        {"event":"config_value","key":"rawr_auto_compaction.compaction_model","layer":"built-in"}"#]].assert_eq(
        &fixture.named(
            &[
                find("rawr_auto_compaction.mode"),
                find("rawr_auto_compaction.policy.ready.percent_remaining_lt"),
                find("rawr_auto_compaction.compaction_model"),
            ]
            .join("\n"),
        ),
    );
    assert!(values.len() > 60, "{}", values.len());
}

#[test]
fn a_check_shows_all_problems_and_fails_only_for_errors() {
    let fixture = FilesFixture::new();
    fixture.check(
        &["config", "check"],
        0,
        expect![[r#"
        all is well: no configuration file and 0 prompt files
    "#]],
    );
    fixture.home.configure("[rawr_auto_compaction]\nmodus = \"ask\"\n");
    fixture.check(
        &["config", "check"],
        0,
        expect![[r#"
        warning[unknown-key]: unknown key `modus` in `[rawr_auto_compaction]`
         --> HOME/rawr.toml:2:1
          |
        2 | modus = "ask"
          | ^^^^^
          |
          = help: did you mean `models`?

        1 warning: HOME/rawr.toml and 0 prompt files
    "#]],
    );
    fixture.home.configure("[rawr_auto_compaction]\nmode = \"loud\"\npolicy.ready.decision_prompt_path = \"gone.md\"\n");
    fixture.write("handoff.md", "Go on.\n");
    fixture.check(
        &["config", "check"],
        1,
        expect![[r#"
            error[unknown-value]: `rawr_auto_compaction.mode` cannot be `loud`
             --> HOME/rawr.toml:2:8
              |
            2 | mode = "loud"
              |        ^^^^^^
              |
              = help: use one of `tag`, `suggest`, `ask`, `auto`

            warning[fails-closed]: until this is fixed, `rawr_auto_compaction.mode` is "ask"
             --> HOME/rawr.toml:2:8
              |
            2 | mode = "loud"
              |        ^^^^^^

            error[missing-placeholder]: missing placeholder `{packet}`
             --> HOME/auto-compact/handoff.md:1:1
              |
            1 | Go on.
              | ^^^^^^
              |
              = help: it is replaced with the continuation packet, word for word

            hint[unused-placeholder]: the shipped text also uses `{author}`, `{resume}`, `{scratchFile}`
             --> HOME/auto-compact/handoff.md:1:1
              |
            1 | Go on.
              | ^^^^^^

            warning[no-file]: decision prompt not found
            --> HOME/auto-compact/gone.md
             = help: rawr uses `judgment.md` instead

            2 errors, 2 warnings, 1 hint: HOME/rawr.toml and 1 prompt files
        "#]],
    );
    let events = fixture.events(&["config", "check", "--json"]);
    let brief: Vec<_> =
        events.iter().map(|event| format!("{} {}", event["event"], event["code"])).collect();
    expect![[r#"
        "problem" "unknown-value"
        "problem" "fails-closed"
        "problem" "missing-placeholder"
        "problem" "unused-placeholder"
        "problem" "no-file"
        "config_checked" null"#]]
    .assert_eq(&brief.join("\n"));
    let last = events.last().unwrap();
    assert_eq!((&last["errors"], &last["warnings"]), (&2.into(), &2.into()));
}

#[test]
fn the_schema_is_json() {
    let fixture = FilesFixture::new();
    let printed = fixture.run(&["config", "schema"]);
    let schema: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(schema["title"], "rawr.toml");
    assert_eq!(fixture.events(&["config", "schema", "--json"]), [schema]);
    assert!(!fixture.prompt("").exists(), "it changes nothing");
}

#[test]
fn prompts_are_listed_with_their_state() {
    let fixture = FilesFixture::new();
    fixture.home.configure("[rawr_auto_compaction.prompts]\ncompact = \"../gone.md\"\n");
    fixture.write("heads-up.md", "Soon.\n");
    fixture.write("handoff.md", "\n");
    fixture.check(&["prompts", "list"], 0, expect![[r#"
        auto-compact      no file; the shipped text is used                HOME/auto-compact/auto-compact.md
        heads-up          edited, 1 problem                                HOME/auto-compact/heads-up.md
        scratch-write     no file; the shipped text is used                HOME/auto-compact/scratch-write.md
        judgment          no file; the shipped text is used                HOME/auto-compact/judgment.md
        judgment-context  no file; the shipped text is used                HOME/auto-compact/judgment-context.md
        watcher-packet    no file; the shipped text is used                HOME/auto-compact/watcher-packet.md
        handoff           invalid; the last valid text is used, 1 problem  HOME/auto-compact/handoff.md
        called-off        no file; the shipped text is used                HOME/auto-compact/called-off.md
        compact           invalid; the last valid text is used, 1 problem  HOME/auto-compact/../gone.md
        summary-prefix    no file; the shipped text is used                HOME/auto-compact/summary-prefix.md
    "#]]);
    let states: Vec<_> = fixture
        .events(&["prompts", "list", "--json"])
        .iter()
        .map(|event| event["state"].clone())
        .collect();
    assert_eq!(
        states,
        [
            "shipped", "edited", "shipped", "shipped", "shipped", "shipped", "broken", "shipped",
            "broken", "shipped"
        ]
    );
}

#[test]
fn an_edit_opens_the_editor_and_checks_the_prompt() {
    let mut fixture = FilesFixture::new();
    let editor = fixture.home.work().join("my editor");
    fs::write(&editor, "#!/bin/sh\nprintf \"$1\" > \"$2\"\n").unwrap();
    fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let command = |text: &str| format!("'{}' '{text}'", editor.display());
    fixture.environment = vec![("EDITOR", "false".to_owned()), ("VISUAL", command("Soon.\\n"))];
    fixture.check(
        &["prompts", "edit", "heads-up"],
        0,
        expect![[r#"
        hint[unused-placeholder]: the shipped text also uses `{reason}`
         --> HOME/auto-compact/heads-up.md:1:1
          |
        1 | Soon.
          | ^^^^^

        heads-up is saved; running sessions use it now.
    "#]],
    );
    assert_eq!(fs::read_to_string(fixture.prompt("heads-up.md")).unwrap(), "Soon.\n");
    fixture.check(
        &["prompts", "edit", "heads-up"],
        0,
        expect![[r#"
        hint[unused-placeholder]: the shipped text also uses `{reason}`
         --> HOME/auto-compact/heads-up.md:1:1
          |
        1 | Soon.
          | ^^^^^

        heads-up is unchanged.
    "#]],
    );
    fixture.environment = vec![("VISUAL", command("Soon, {when}; $(touch x)\\n"))];
    fixture.check(
        &["prompts", "edit", "heads-up"],
        0,
        expect![[r#"
        warning[unknown-placeholder]: unknown placeholder `{when}` in heads-up
         --> HOME/auto-compact/heads-up.md:1:7
          |
        1 | Soon, {when}; $(touch x)
          |       ^^^^^^
          |
          = help: use one of `{reason}`, `{finished}`, `{threadId}`

        hint[unused-placeholder]: the shipped text also uses `{reason}`
         --> HOME/auto-compact/heads-up.md:1:1
          |
        1 | Soon, {when}; $(touch x)
          | ^^^^^^^^^^^^^^^^^^^^^^^^

        heads-up is saved; running sessions use it now.
    "#]],
    );
    assert!(!fixture.home.work().join("x").exists(), "no shell runs");
    fixture.environment = vec![("VISUAL", command("\\n"))];
    fixture.check(
        &["prompts", "edit", "handoff"],
        1,
        expect![[r#"
            error[empty-prompt]: the prompt is empty
             --> HOME/auto-compact/handoff.md:1:2
              |
            1 |
              | ^
              |
              = help: delete the file to use the shipped text

            handoff is invalid; the last valid text is used.
        "#]],
    );
    fixture.environment = vec![("EDITOR", "false".to_owned())];
    fixture.check(
        &["prompts", "edit", "heads-up"],
        1,
        expect![[r#"
        rawr: the editor `false` failed (exit status: 1); check HOME/auto-compact/heads-up.md
    "#]],
    );
    fixture.environment = vec![("EDITOR", "no-such-editor -w".to_owned())];
    fixture.check(&["prompts", "edit", "heads-up"], 1, expect![[r#"
        rawr: the editor `no-such-editor` failed to start; set VISUAL or EDITOR to another editor: No such file or directory (os error 2)
    "#]]);
    fixture.environment = vec![("EDITOR", "'open".to_owned())];
    fixture.check(
        &["prompts", "edit", "heads-up"],
        1,
        expect![[r#"
        rawr: EDITOR is not a command: 'open
    "#]],
    );
}

#[test]
fn a_diff_is_against_the_shipped_text() {
    let fixture = FilesFixture::new();
    fixture.check(
        &["prompts", "diff"],
        0,
        expect![[r#"
        every prompt is unchanged.
    "#]],
    );
    assert!(fixture.run(&["init"]).status.success());
    let shipped = fs::read_to_string(fixture.prompt("compact.md")).unwrap();
    fixture.write("compact.md", &shipped.replace("Keep:", "Keep \u{1b}[2J:"));
    fixture.check(&["prompts", "diff"], 0, expect![[r#"
        --- shipped/compact.md
        +++ HOME/auto-compact/compact.md
        @@ -1,6 +1,6 @@
         Summarize this conversation so that you can continue the task from the summary alone. Everything else is about to be removed.
 
        -Keep:
        +Keep �[2J:
         - the user's goal, and every standing instruction word for word;
         - what is done, with paths, commits and results;
         - decisions and their reasons, what must stay true, what was tried and failed;
    "#]]);
    fixture.check(
        &["prompts", "diff", "handoff"],
        0,
        expect![[r#"
        handoff is unchanged.
    "#]],
    );
    let events = fixture.events(&["prompts", "diff", "compact", "--json"]);
    assert!(
        events[0]["diff"].as_str().unwrap().contains("\n-Keep:\n+Keep \u{1b}[2J:\n"),
        "{events:?}"
    );
}

#[test]
fn a_reset_asks_first_and_backs_up_the_text() {
    let fixture = FilesFixture::new();
    fixture.write("heads-up.md", "Soon.\n");
    fixture.check(
        &["prompts", "reset", "heads-up"],
        1,
        expect![[r#"
            rawr: refusing to reset heads-up: no terminal to confirm on; pass --yes
        "#]],
    );
    assert_eq!(fs::read_to_string(fixture.prompt("heads-up.md")).unwrap(), "Soon.\n");
    fixture.check(
        &["prompts", "reset", "heads-up", "--yes"],
        0,
        expect![[r#"
        heads-up is reset to the shipped text; backup: HOME/auto-compact/heads-up.md.old.
    "#]],
    );
    assert_eq!(fs::read_to_string(fixture.prompt("heads-up.md.old")).unwrap(), "Soon.\n");
    fixture.check(
        &["prompts", "reset", "heads-up", "--yes"],
        0,
        expect![[r#"
        heads-up is already as shipped.
    "#]],
    );
    fixture.write("heads-up.md", "Later.\n");
    fixture.check(
        &["prompts", "reset", "heads-up", "handoff", "-y"],
        0,
        expect![[r#"
        heads-up is reset to the shipped text; backup: HOME/auto-compact/heads-up.md.old.2.
        handoff is reset to the shipped text.
    "#]],
    );
    assert_eq!(fs::read_to_string(fixture.prompt("heads-up.md.old.2")).unwrap(), "Later.\n");
    fixture.check(
        &["prompts", "diff"],
        0,
        expect![[r#"
        every prompt is unchanged.
    "#]],
    );
}

/// As people keep their dotfiles.
#[test]
fn a_reset_keeps_a_link() {
    let fixture = FilesFixture::new();
    let mine = fixture.home.work().join("mine.md");
    fs::write(&mine, "Soon.\n").unwrap();
    fs::create_dir_all(fixture.prompt("")).unwrap();
    std::os::unix::fs::symlink(&mine, fixture.prompt("heads-up.md")).unwrap();
    assert!(fixture.run(&["prompts", "reset", "heads-up", "-y"]).status.success());
    assert!(fixture.prompt("heads-up.md").is_symlink());
    assert_ne!(fs::read_to_string(mine).unwrap(), "Soon.\n");
}

#[test]
fn a_prompt_is_rendered_for_a_thread() {
    let fixture = FilesFixture::new();
    fixture.check(&["prompts", "render", "scratch-write"], 0, expect![[r#"
        First bring your working notes up to date in `.scratch/agent-delta.scratch.md`; create the file if there is none. Keep what the next phase needs and the repository does not show: findings with their sources, decisions and why, dead ends, open questions. Remove what no longer holds. No secrets. Touch no other file.
        with examples: there is no thread yet
    "#]]);
    let mut sidecar = TestSidecar::start(&fixture.home);
    let mut host = StandIn::new("t");
    assert!(host.open(&fixture.home, &mut sidecar));
    sidecar.leave();
    fixture.write("scratch-write.md", "Write to {scratchFile} of {threadId}.\n");
    fixture.check(
        &["prompts", "render", "scratch-write", "--thread", "t"],
        0,
        expect![[r#"
            Write to .scratch/agent-delta-860202a3.scratch.md of t.
            19 tokens in thread t
        "#]],
    );
    let events = fixture.events(&["prompts", "render", "scratch-write", "--json"]);
    assert_eq!(events[0]["event"], "prompt_rendered");
    assert_eq!(events[0]["method"], "o200k_base");
    assert!(events[0]["tokens"].as_u64().unwrap() > 5, "{events:?}");
}

#[test]
fn names_are_checked_before_any_change() {
    let fixture = FilesFixture::new();
    fixture.check(&["prompts", "edit", "headsup"], 2, expect![[r#"
        error: invalid value 'headsup' for '<NAME>'
          [possible values: auto-compact, heads-up, scratch-write, judgment, judgment-context, watcher-packet, handoff, called-off, compact, summary-prefix]

          tip: a similar value exists: 'heads-up'

        For more information, try '--help'.
    "#]]);
    fixture.check(
        &["prompts", "reset"],
        2,
        expect![[r#"
        error: the following required arguments were not provided:
          <NAME|--all>

        Usage: rawr prompts reset <NAME|--all>

        For more information, try '--help'.
    "#]],
    );
    fixture.check(
        &["config", "show", "--cd", "nowhere"],
        1,
        expect![[r#"
        rawr: WORK/nowhere is not a folder
    "#]],
    );
}
