//! Broken user files: configuration, front matter, folders.

use expect_test::{Expect, expect};
use rawr_protocol::ThreadListParams;
use rawr_protocol::methods::{LogMessage, ThreadList};
use rawr_tests::{LaunchOptions, TestHome, TestSidecar};
use std::os::unix::fs::PermissionsExt;

/// The sidecar keeps the last valid state and reports the problem.
fn check_broken_file(launch: &LaunchOptions, break_it: impl Fn(&TestHome), told: &Expect) {
    let home = TestHome::new();
    break_it(&home);
    let mut sidecar = TestSidecar::launch(&home, launch);
    sidecar.call::<ThreadList>(&ThreadListParams {});
    let lines: Vec<_> = sidecar.take::<LogMessage>().into_iter().map(|line| line.message).collect();
    let folder = home.path().display().to_string();
    told.assert_eq(&lines.join("\n").replace(&folder, "HOME"));
    sidecar.leave();
}

fn file(name: &'static str, text: &'static str) -> impl Fn(&TestHome) {
    move |home: &TestHome| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

// rule: configuration.never-breaks
// rule: configuration.unknown-key
#[test]
fn a_broken_configuration_is_reported_and_not_fatal() {
    let check =
        |text, told| check_broken_file(&LaunchOptions::default(), file("rawr.toml", text), told);
    check(
        "[rawr_auto_compaction\nmode = 5",
        &expect![[r#"
            HOME/rawr.toml:1:22: unclosed table, expected `]`
            HOME/rawr.toml:1:22: until this is fixed, nothing is compacted without your approval"#]],
    );
    check(
        "[rawr_auto_compaction]\nmoed = \"ask\"\nmode = \"sometimes\"\n[unheard_of]\n",
        &expect![[r#"
            HOME/rawr.toml:2:1: unknown key `moed` in `[rawr_auto_compaction]`; did you mean `mode`?
            HOME/rawr.toml:3:8: `rawr_auto_compaction.mode` cannot be `sometimes`; use one of `tag`, `suggest`, `ask`, `auto`
            HOME/rawr.toml:4:2: unknown key `unheard_of` in the file
            HOME/rawr.toml:3:8: until this is fixed, `rawr_auto_compaction.mode` is "ask""#]],
    );
    check(
        "\u{0}",
        &expect![[r#"
            HOME/rawr.toml:1:1: invalid unquoted key, expected letters, numbers, `-`, `_`
            HOME/rawr.toml:1:2: key with no value, expected `=`
            HOME/rawr.toml:1:2: until this is fixed, nothing is compacted without your approval"#]],
    );
}

#[test]
fn broken_front_matter_is_reported_and_not_fatal() {
    let check = |text, told| {
        let file = file("auto-compact/auto-compact.md", text);
        check_broken_file(&LaunchOptions::default(), file, told);
    };
    check(
        "---\nmode: [\n---\nWrite the packet.",
        &expect![[r#"
            HOME/auto-compact/auto-compact.md: until this is fixed, nothing is compacted without your approval
            HOME/auto-compact/auto-compact.md:2:7: unclosed bracket '['"#]],
    );
    check(
        "---\nmode: auto\nWrite the packet.",
        &expect![[r#"
            HOME/auto-compact/auto-compact.md: until this is fixed, nothing is compacted without your approval
            HOME/auto-compact/auto-compact.md:1:1: the front matter is not closed; close it with a line `---`"#]],
    );
    check(
        "",
        &expect![
            "HOME/auto-compact/auto-compact.md:1:1: the prompt is empty; delete the file to use the shipped text"
        ],
    );
    check(
        "Write {nonsense}.",
        &expect![
            "HOME/auto-compact/auto-compact.md:1:7: unknown placeholder `{nonsense}` in auto-compact; use one of `{scratchFile}`, `{threadId}`"
        ],
    );
}

// rule: prompt.unreadable
#[test]
fn an_unreadable_prompt_folder_is_reported_and_not_fatal() {
    let launch = LaunchOptions { unprivileged: true, ..LaunchOptions::default() };
    let locked = |home: &TestHome| {
        let folder = home.path().join("auto-compact");
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o000)).unwrap();
    };
    check_broken_file(
        &launch,
        locked,
        &expect![[r#"
            HOME/auto-compact/auto-compact.md: until this is fixed, nothing is compacted without your approval
            HOME/auto-compact: failed to write the shipped prompts: Permission denied (os error 13); rawr uses the built-in texts, which cannot be edited
            HOME/auto-compact/auto-compact.md: Permission denied (os error 13)
            HOME/auto-compact/heads-up.md: Permission denied (os error 13)
            HOME/auto-compact/scratch-write.md: Permission denied (os error 13)
            HOME/auto-compact/judgment.md: Permission denied (os error 13)
            HOME/auto-compact/judgment-context.md: Permission denied (os error 13)
            HOME/auto-compact/watcher-packet.md: Permission denied (os error 13)
            HOME/auto-compact/handoff.md: Permission denied (os error 13)
            HOME/auto-compact/called-off.md: Permission denied (os error 13)
            HOME/auto-compact/compact.md: Permission denied (os error 13)
            HOME/auto-compact/summary-prefix.md: Permission denied (os error 13)"#]],
    );
    let a_file = |home: &TestHome| std::fs::write(home.path().join("auto-compact"), "").unwrap();
    check_broken_file(
        &launch,
        a_file,
        &expect![
            "HOME/auto-compact: failed to write the shipped prompts: Not a directory (os error 20); rawr uses the built-in texts, which cannot be edited"
        ],
    );
}
