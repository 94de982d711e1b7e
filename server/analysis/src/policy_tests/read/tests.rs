//! What a file of tests may say, and how each mistake is answered.

use super::*;
use expect_test::{Expect, expect};

fn read(text: &str) -> (Vec<PolicyTest>, Vec<FileProblem>) {
    let mut problems = Vec::new();
    let found = tests(Path::new("rawr.tests.toml"), text, &mut problems);
    (found, problems)
}

/// The tests as the scenario tells them.
fn check(text: &str, expected: Expect) {
    let (tests, problems) = read(&format!("version = 1\n{text}"));
    assert_eq!(problems, [], "{text}");
    let mut told = String::new();
    for PolicyTest { name, line, user, model, scenario } in tests {
        let Scenario { window, judge, steps, expected } = scenario;
        told += &format!("{line}: {name} ({user:?}, {model:?}, {window}, {judge:?})\n");
        for step in steps {
            told += &format!("  {step}\n");
        }
        for one in expected {
            told += &format!("  => {one}\n");
        }
    }
    expected.assert_eq(&told);
}

#[test]
fn every_key_of_a_test_is_read() {
    check(
        r#"
[[test]]
name = "all"
preset = "spec"
window = 400_000
model = "gpt-5"
judge = "no"
steps = [
  { user = "u" }, { steer = "s" }, { say = "y" }, { used = "65%" }, { used = 65 }, { left = "35%" },
  { tokens = 130_000 }, { run = "ls" }, { run = "cargo test", exit = 101 }, { exit = 0, run = "b" },
  { plan = ["[x] parse", "[>] print", "[ ] docs"] }, { agent = "a" }, { wait = "90s" },
  { user = "v" }, { end = "interrupted" }, { compacted = "user" }, { compacted = "host" },
]
expect = [
  "nothing",
  { outcome = "compact", at_step = 17, tier = "ready", boundary = "commit", times = 2 },
  { outcome = "nothing", stopped_by = "weak_boundary" },
]

[[test]]
name = "least"
steps = [{ user = "u" }]
expect = "propose"

[[test]]
name = "steps as tables"
expect = "compact"
[[test.steps]]
user = "u"
[[test.steps]]
agent = "a"
"#,
        expect![[r#"
            4: all (Some(Preset(Spec)), Some("gpt-5"), 400,000, No)
              user = "u"
              steer = "s"
              say = "y"
              used = "65%"
              used = "65%"
              left = "35%"
              tokens = 130000
              run = "ls"
              run = "cargo test", exit = 101
              run = "b"
              plan, 1 of 3 done
              agent = "a"
              wait 90 seconds
              user = "v"
              end = "interrupted"
              compacted = "user"
              compacted = "host"
              => nothing
              => compact at step 17 (ready, commit), 2 times
              => nothing (stopped by weak_boundary)
            22: least (None, None, 200,000, Silent)
              user = "u"
              => propose
            27: steps as tables (None, None, 200,000, Silent)
              user = "u"
              agent = "a"
              => compact
        "#]],
    );
}

#[test]
fn a_wait_has_a_unit() {
    let wait = |text: &str| {
        let test = "[[test]]\nname = \"x\"\nexpect = \"nothing\"\n";
        let (tests, problems) =
            read(&format!("version = 1\n{test}steps = [{{ wait = \"{text}\" }}]\n"));
        match tests.first().map(|test| test.scenario.steps.as_slice()) {
            Some([crate::scenario::ScenarioStep::Wait(seconds)]) => Some(*seconds),
            _ => {
                assert_eq!(problems.len(), 1, "{text}");
                None
            }
        }
    };
    for (text, expected) in [
        ("1s", Some(1)),
        ("10m", Some(600)),
        ("2h", Some(7200)),
        ("366d", Some(31_622_400)),
        ("367d", None),
        ("99999999999999999999s", None),
        ("9999999999999999999d", None),
        ("0m", None),
        ("-1m", None),
        ("10", None),
        ("m", None),
        ("10 minutes", None),
        ("10é", None),
        ("", None),
    ] {
        assert_eq!(wait(text), expected, "{text}");
    }
}

/// The problems of a test that would be right without this line.
fn check_wrong(line: &str, expected: Expect) {
    let key = line.split(' ').next().unwrap_or_default();
    let right = [
        ("name", "name = \"x\""),
        ("steps", "steps = [{ user = \"u\" }, { agent = \"a\" }]"),
        ("expect", "expect = \"nothing\""),
    ];
    let others = right.into_iter().filter(|(of, _)| *of != key).map(|(_, line)| line);
    let text = std::iter::once("version = 1\n[[test]]").chain(others).chain([line]);
    check_file(&text.collect::<Vec<_>>().join("\n"), expected);
}

/// Each problem with its line, its column and what to do.
fn check_file(text: &str, expected: Expect) {
    let (_, problems) = read(text);
    let mut told = String::new();
    for FileProblem { code, message, span, help, .. } in problems {
        let place = span.map_or_else(String::new, |span| {
            let start = positions(text, &span).start;
            format!("{}:{}: ", start.line + 1, start.character + 1)
        });
        let help = help.map_or_else(String::new, |help| format!("; {help}"));
        told += &format!("{place}{message} ({code}){help}\n");
    }
    expected.assert_eq(&told);
}

#[test]
fn a_key_that_is_not_known_is_an_error_with_the_nearest() {
    check_wrong(
        "modle = \"gpt-5\"",
        expect![[r#"
        6:1: unknown key `modle` in `[[test]]` (unknown-key); did you mean `model`?
    "#]],
    );
    check_wrong(
        "steps = [{ usr = \"u\" }]",
        expect![[r#"
        5:12: unknown key `usr` in a step (unknown-key); did you mean `user`?
    "#]],
    );
    check_wrong(
        "expect = { outcome = \"nothing\", stoped_by = \"guard\" }",
        expect![[r#"
        5:33: unknown key `stoped_by` in `expect` (unknown-key); did you mean `stopped_by`?
    "#]],
    );
    check_file(
        "version = 1\ntests = []\n",
        expect![[r#"
        there are no tests in this file (no-tests); begin with `version = 1` and a `[[test]]` table
        2:1: unknown key `tests` in the file (unknown-key); did you mean `test`?
    "#]],
    );
}

#[test]
fn a_name_that_is_not_known_is_an_error_with_the_nearest() {
    check_wrong(
        "preset = \"clam\"",
        expect![[r#"
        6:10: `preset` cannot be `clam` (unknown-value); did you mean `calm`?
    "#]],
    );
    check_wrong(
        "judge = \"maybe\"",
        expect![[r#"
        6:9: `judge` cannot be `maybe` (unknown-value); use one of `yes`, `no`, `silent`
    "#]],
    );
    check_wrong(
        "expect = \"compacts\"",
        expect![[r#"
        5:10: `expect` cannot be `compacts` (unknown-value); did you mean `compact`?
    "#]],
    );
    check_wrong(
        "expect = { outcome = \"compact\", boundary = \"comit\" }",
        expect![[r#"
        5:44: `boundary` cannot be `comit` (unknown-value); did you mean `commit`?
    "#]],
    );
    check_wrong(
        "expect = { outcome = \"compact\", tier = \"soon\" }",
        expect![[r#"
        5:40: `tier` cannot be `soon` (unknown-value); use one of `early`, `ready`, `asap`, `emergency`
    "#]],
    );
    check_wrong(
        "expect = { outcome = \"nothing\", stopped_by = \"weak\" }",
        expect![[r#"
        5:46: `stopped_by` cannot be `weak` (unknown-value); use one of `feature`, `pressure`, `origin`, `mode_of_host`, `guard`, `breaker`, `rearm`, `cooldown`, `boundary`, `weak_boundary`, `semantic_break`, `active_work`, `packet_worth`, `confirmation`, `judgment`, `mode`
    "#]],
    );
}

#[test]
fn what_is_missing_is_named() {
    check_file(
        "version = 1\n[[test]]\n",
        expect![[r#"
        2:1: `name` is missing in this test (missing-key); say in a sentence what should happen
        2:1: `steps` is missing in this test (missing-key); begin with `steps = [{ user = "…" }]`
        2:1: `expect` is missing in this test (missing-key); `expect` is "compact", "propose" or "nothing", or a table with an `outcome`
    "#]],
    );
    check_file(
        "",
        expect![[r#"
        there are no tests in this file (no-tests); begin with `version = 1` and a `[[test]]` table
    "#]],
    );
    check_file(
        "test = []\n",
        expect![[r#"
        `version` is missing (missing-key); begin with `version = 1`
        1:8: there are no tests in this file (no-tests); add a `[[test]]` table
    "#]],
    );
    check_file(
        "version = 2\n[[test]]\nname = \"x\"\nsteps = [{ user = \"u\" }]\nexpect = \"nothing\"",
        expect![[r#"
            1:11: `version` is not known (unknown-version); this rawr reads `version = 1`
        "#]],
    );
}

#[test]
fn a_step_does_one_thing_where_it_can() {
    check_wrong(
        "steps = [{ user = \"u\", agent = \"a\" }]",
        expect![[r#"
        5:24: a step does one thing (wrong-value); move `agent` to a step of its own
    "#]],
    );
    check_wrong(
        "steps = [{ user = \"u\", exit = 1 }]",
        expect![[r#"
        5:24: `exit` belongs to `run` (wrong-value); write for example `{ run = "cargo test", exit = 1 }`
    "#]],
    );
    check_wrong(
        "steps = [{}]",
        expect![[r#"
        5:10: this step is empty (wrong-value); write for example `{ user = "…" }` or `{ used = "60%" }`
    "#]],
    );
    check_wrong(
        "steps = []",
        expect![[r#"
        5:9: there are no steps in this test (wrong-value); begin with `steps = [{ user = "…" }]`
    "#]],
    );
    check_wrong(
        "steps = [{ user = \"u\" }, { user = \"v\" }]",
        expect![[r#"
        5:26: a message begins a turn, but the turn before it has not ended (misplaced-step); end that turn with an `agent` step first, or use `steer` for a message inside it
    "#]],
    );
    check_wrong(
        "steps = [{ used = \"101%\" }]",
        expect![[r#"
        5:19: `used` must be from 0 to 100, but is 101 (out-of-range)
    "#]],
    );
    check_wrong(
        "steps = [{ plan = [\"parse\"] }]",
        expect![[r#"
        5:19: each step of a plan needs a mark (wrong-value); write `[x] done`, `[>] under way` or `[ ] open`
    "#]],
    );
}

#[test]
fn an_expectation_must_be_able_to_come_true() {
    check_wrong(
        "expect = { outcome = \"compact\", at_step = 3 }",
        expect![[r#"
        5:43: `at_step` must be from 1 to 2, but is 3 (out-of-range)
    "#]],
    );
    check_wrong(
        "expect = { outcome = \"compact\", stopped_by = \"guard\" }",
        expect![[r#"
        5:33: `stopped_by` does not go with this `outcome` (wrong-value); only what comes to nothing is stopped by a gate
    "#]],
    );
    check_wrong(
        "expect = { outcome = \"nothing\", times = 1 }",
        expect![[r#"
        5:33: `times` does not go with this `outcome` (wrong-value); nothing cannot be counted
    "#]],
    );
    check_wrong(
        "expect = { at_step = 1 }",
        expect![[r#"
        5:10: `outcome` is missing in `expect` (missing-key); `expect` is "compact", "propose" or "nothing", or a table with an `outcome`
    "#]],
    );
    check_wrong(
        "expect = []",
        expect![[r#"
        5:10: `expect` is empty (wrong-value); `expect` is "compact", "propose" or "nothing", or a table with an `outcome`
    "#]],
    );
}

#[test]
fn other_mistakes_are_named() {
    check_wrong(
        "name = \" \"",
        expect![[r#"
        5:8: `name` must be one line of text (wrong-value); say in a sentence what should happen
    "#]],
    );
    check_wrong(
        "config = \"nowhere.toml\"",
        expect![[r#"
        6:10: there is no file nowhere.toml (no-file); paths are relative to the folder of this file
    "#]],
    );
    check_wrong(
        "preset = \"spec\"\nconfig = \"nowhere.toml\"",
        expect![[r#"
        7:10: `preset` and `config` exclude each other (wrong-value); remove one of them
    "#]],
    );
    check_wrong(
        "window = 0",
        expect![[r#"
        6:10: `window` must be from 1 to 1000000000, but is 0 (out-of-range)
    "#]],
    );
    check_file(
        "version = 1\n[[test\n",
        expect![[r#"
        2:7: unclosed array table, expected `]]` (syntax)
    "#]],
    );
    let twice =
        "[[test]]\nname = \"x\"\nsteps = [{ user = \"u\" }]\nexpect = \"nothing\"\n".repeat(2);
    check_file(
        &format!("version = 1\n{twice}"),
        expect![[r#"
        7:8: another test of this file has the same name (repeated-name); give each test its own name
    "#]],
    );
}
