//! `rawr test`: policy tests of a repository.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use expect_test::{Expect, expect};
use rawr_tests::{err, out};
use serde_json::Value;

use super::CommandFixture;

/// Writes a file below the current folder of the commands.
fn write(fixture: &CommandFixture, name: &str, text: &str) -> PathBuf {
    let path = fixture.temporary.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// A test of a commit at this percentage in use.
fn commit(name: &str, keys: &str, used: u8, expect: &str) -> String {
    format!(
        r#"
[[test]]
name = "{name}"
{keys}
steps = [
  {{ user = "Fix the parser, please: it loses the last line." }},
  {{ run = "git commit -am 'Keep the last line'" }},
  {{ used = "{used}%" }},
  {{ agent = "I fixed the parser and committed it." }},
]
expect = {expect}
"#
    )
}

fn with_tests(tests: &[String]) -> CommandFixture {
    let fixture = CommandFixture::new();
    write(&fixture, "rawr.tests.toml", &format!("version = 1\n{}", tests.concat()));
    fixture
}

/// The exit code and all output.
fn check(fixture: &CommandFixture, arguments: &[&str], code: i32, expected: Expect) {
    let done = fixture.run(arguments);
    let folder = fixture.temporary.path().display().to_string();
    let text = [out(&done), err(&done)].concat().replace(&folder, "FOLDER");
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
    assert_eq!(done.status.code(), Some(code), "{arguments:?}");
}

/// The code blocks of the page in this language.
fn blocks(language: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/policy-tests.md");
    let page = fs::read_to_string(page).unwrap();
    let opening = format!("```{language}\n");
    page.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_example_of_the_documentation_passes_as_shown() {
    let fixture = CommandFixture::new();
    let (tests, shown) = (blocks("toml"), blocks("text"));
    write(&fixture, "rawr.tests.toml", &tests[0]);
    let done = fixture.run(&["test"]);
    assert_eq!(out(&done), shown[0], "{}", err(&done));
    assert!(done.status.success());
    assert_eq!(err(&done), "");
}

#[test]
fn a_test_that_fails_shows_what_happened_and_why() {
    let fixture = with_tests(&[
        commit("a commit is proposed", "", 60, "\"propose\""),
        commit("a commit compacts", "", 60, "{ outcome = \"compact\", boundary = \"commit\" }"),
        commit("a commit with much left", "preset = \"spec\"", 20, "[\"compact\", \"nothing\"]"),
    ]);
    check(
        &fixture,
        &["test"],
        1,
        expect![[r#"
            ok      a commit is proposed
            FAILED  a commit compacts
                    rawr.tests.toml:15
                    expected  compact (commit)
                    happened  propose at step 4 (ready, commit, agent_done)
                    step 4    agent = "I fixed the parser and committed it."
                              propose: 40% left (ready) at commit, agent done; your next message decides
            FAILED  a commit with much left
                    rawr.tests.toml:26
                    expected  compact
                    happened  nothing
                    step 4    agent = "I fixed the parser and committed it."
                              nothing: 80% left (early)
                                ✗ boundary        commit, agent done does not count at early

            3 tests: 1 ok, 2 failed
        "#]],
    );
    check(
        &fixture,
        &["test", "--filter", "is proposed"],
        0,
        expect![[r#"
        ok      a commit is proposed

        1 test: all ok
    "#]],
    );
}

#[test]
fn the_user_files_and_the_project_count_unless_others_are_named() {
    let expectations = [
        commit("a commit at 60%", "", 60, "\"compact\""),
        commit("under calm", "preset = \"calm\"", 60, "\"propose\""),
        commit("under the team's file", "config = \"team/rawr.toml\"", 60, "\"nothing\""),
    ];
    let fixture = with_tests(&expectations);
    let spec = "[rawr_auto_compaction]\npreset = \"spec\"\n";
    write(&fixture, "team/rawr.toml", "[features]\nrawr_auto_compaction = false\n");
    write(&fixture, "spec.toml", spec);
    let passed = |arguments: &[&str]| {
        let done = fixture.run(&[&["test", "--json"], arguments].concat());
        let rows = out(&done);
        let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let passed: Vec<_> = rows.filter_map(|row| row["passed"].as_bool()).collect();
        (passed, done.status.code())
    };
    let (of_spec, of_calm) = ((vec![true; 3], Some(0)), (vec![false, true, true], Some(1)));
    assert_eq!(passed(&[]), of_calm);
    assert_eq!(passed(&["--config", "spec.toml"]), of_spec);
    fs::write(fixture.path("rawr.toml"), spec).unwrap();
    assert_eq!(passed(&[]), of_spec);
    assert_eq!(passed(&["--no-user-config"]), of_calm);
    // A project may only narrow: here a commit no longer counts.
    write(
        &fixture,
        ".rawr.toml",
        "[rawr_auto_compaction.policy.ready]\nrequires_any_boundary = [\"plan_checkpoint\"]\n[rawr_auto_compaction.policy.asap]\nrequires_any_boundary = [\"plan_checkpoint\"]\n",
    );
    assert_eq!(passed(&[]), (vec![false, false, true], Some(1)));
    assert_eq!(passed(&["--config", "spec.toml"]), (vec![false, false, true], Some(1)));
}

#[test]
fn the_packet_request_of_the_user_counts() {
    let fixture = with_tests(&[commit("early", "", 45, "\"propose\"")]);
    assert!(fixture.run(&["test"]).status.success());
    let prompt = "---\ntrigger:\n  early_percent_remaining_lt: 52\n---\n{tail}\n";
    fs::create_dir(fixture.path("auto-compact")).unwrap();
    fs::write(fixture.path("auto-compact/auto-compact.md"), prompt).unwrap();
    assert_eq!(fixture.run(&["test"]).status.code(), Some(1));
    assert!(fixture.run(&["test", "--no-user-config"]).status.success());
}

#[test]
fn tables_of_models_count() {
    let fixture = with_tests(&[
        commit("of a large model", "model = \"gpt-5\"", 60, "\"nothing\""),
        commit("of another", "model = \"gpt-4\"", 60, "\"propose\""),
    ]);
    let models = "[rawr_auto_compaction.models.\"gpt-5*\".policy.ready]\nrequires_any_boundary = [\"pushed\"]\n";
    write(&fixture, "models.toml", models);
    assert!(fixture.run(&["test", "--config", "models.toml"]).status.success());
    assert_eq!(fixture.run(&["test"]).status.code(), Some(1));
}

#[test]
fn a_wrong_configuration_is_no_failed_test() {
    let fixture = with_tests(&[commit("a", "", 60, "\"propose\"")]);
    write(&fixture, ".rawr.toml", "[rawr_auto_compaction]\nmode = \"off\"\n");
    check(
        &fixture,
        &["test"],
        2,
        expect![[r#"
            error[unknown-value]: `rawr_auto_compaction.mode` cannot be `off`
             --> .rawr.toml:2:8
              |
            2 | mode = "off"
              |        ^^^^^
              |
              = help: use one of `tag`, `suggest`, `ask`, `auto`

            warning[fails-closed]: until this is fixed, `rawr_auto_compaction.mode` is "ask"
             --> .rawr.toml:2:8
              |
            2 | mode = "off"
              |        ^^^^^

            rawr: no test ran: 2 problems in these files
        "#]],
    );
    write(&fixture, ".rawr.toml", "[rawr_auto_compaction]\nmod = \"ask\"\n");
    check(
        &fixture,
        &["test"],
        0,
        expect![[r#"
            ok      a

            1 test: all ok
            warning[unknown-key]: unknown key `mod` in `[rawr_auto_compaction]`
             --> .rawr.toml:2:1
              |
            2 | mod = "ask"
              | ^^^
              |
              = help: did you mean `mode`?

            warning[fails-closed]: until this is fixed, `rawr_auto_compaction.mode` is "ask"
             --> .rawr.toml:2:7
              |
            2 | mod = "ask"
              |       ^^^^^

        "#]],
    );
    check(
        &fixture,
        &["test", "--config", "none.toml"],
        2,
        expect![[r#"
        rawr: there is no file none.toml
    "#]],
    );
}

#[test]
fn a_wrong_file_names_the_line_and_what_to_do() {
    let fixture = CommandFixture::new();
    write(&fixture, "syntax.toml", "version = 1\n[[test\n");
    check(
        &fixture,
        &["test", "syntax.toml"],
        2,
        expect![[r#"
        error[syntax]: unclosed array table, expected `]]`
         --> syntax.toml:2:7
          |
        2 | [[test
          |       ^

        rawr: no test ran: 1 problem in these files
    "#]],
    );
    let text =
        commit("a", "modle = \"gpt-5\"", 60, "{ outcome = \"compact\", boundary = \"comit\" }");
    write(&fixture, "names.toml", &format!("version = 1\n{text}"));
    check(
        &fixture,
        &["test", "names.toml"],
        2,
        expect![[r#"
        error[unknown-key]: unknown key `modle` in `[[test]]`
         --> names.toml:5:1
          |
        5 | modle = "gpt-5"
          | ^^^^^
          |
          = help: did you mean `model`?

        error[unknown-value]: `boundary` cannot be `comit`
          --> names.toml:12:44
           |
        12 | expect = { outcome = "compact", boundary = "comit" }
           |                                            ^^^^^^^
           |
           = help: did you mean `commit`?

        rawr: no test ran: 2 problems in these files
    "#]],
    );
    write(&fixture, "empty.toml", "");
    check(
        &fixture,
        &["test", "empty.toml"],
        2,
        expect![[r#"
        error[no-tests]: there are no tests in this file
        --> empty.toml
         = help: begin with `version = 1` and a `[[test]]` table

        rawr: no test ran: 1 problem in these files
    "#]],
    );
    check(
        &fixture,
        &["test", "none.toml", "empty.toml"],
        2,
        expect![[r#"
        error[no-file]: there is no such file
        --> none.toml
         = help: pass a rawr.tests.toml, or a folder with one

        error[no-tests]: there are no tests in this file
        --> empty.toml
         = help: begin with `version = 1` and a `[[test]]` table

        rawr: no test ran: 2 problems in these files
    "#]],
    );
}

#[test]
fn the_nearest_file_is_found_up_to_the_root_of_the_repository() {
    let fixture = with_tests(&[commit("outside of the repository", "", 60, "\"propose\"")]);
    let run = |folder: &str| {
        let mut command = fixture.command(&["test", "--list"]);
        command.current_dir(fixture.temporary.path().join(folder)).output().unwrap()
    };
    fs::create_dir_all(fixture.temporary.path().join("loose/below")).unwrap();
    let done = run("loose/below");
    assert_eq!(done.status.code(), Some(2));
    assert!(err(&done).contains("there is no rawr.tests.toml in "), "{}", err(&done));
    fs::create_dir_all(fixture.temporary.path().join("repository/.git")).unwrap();
    fs::create_dir_all(fixture.temporary.path().join("repository/a/b")).unwrap();
    assert_eq!(run("repository/a/b").status.code(), Some(2));
    for (name, file) in [("of the root", "rawr.tests.toml"), ("of a", "a/rawr.tests.toml")] {
        let text = format!("version = 1\n{}", commit(name, "", 60, "\"propose\""));
        write(&fixture, &format!("repository/{file}"), &text);
        let done = run("repository/a/b");
        assert!(out(&done).starts_with(name), "{}{}", out(&done), err(&done));
    }
    assert!(out(&run("repository")).starts_with("of the root"));
}

#[test]
fn a_folder_stands_for_its_file_and_a_filter_must_match() {
    let fixture = with_tests(&[commit("a", "", 60, "\"propose\"")]);
    let text = format!("version = 1\n{}", commit("b", "", 60, "\"propose\""));
    write(&fixture, "sub/rawr.tests.toml", &text);
    check(
        &fixture,
        &["test", ".", "sub", "--list"],
        0,
        expect![[r#"
        a  ./rawr.tests.toml:4
        b  sub/rawr.tests.toml:4
    "#]],
    );
    check(
        &fixture,
        &["test", "--filter", "zebra"],
        2,
        expect![[r#"
        rawr: no test's name contains `zebra`; `rawr test --list` prints all names
    "#]],
    );
}

#[test]
fn the_report_is_whole_and_escaped() {
    let fixture = with_tests(&[
        commit("passes", "", 60, "\"propose\""),
        commit("a < b && \\\"c\\\" fails", "", 60, "\"compact\""),
    ]);
    let report = fixture.temporary.path().join("report.xml");
    fs::write(&report, "old").unwrap();
    let done = fixture.run(&["test", "--junit", "report.xml"]);
    assert_eq!(done.status.code(), Some(1));
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="rawr test" tests="2" failures="1" errors="0">
          <testsuite name="rawr.tests.toml" tests="2" failures="1" errors="0">
            <testcase classname="rawr.tests.toml" name="passes" file="rawr.tests.toml" line="4"/>
            <testcase classname="rawr.tests.toml" name="a &lt; b &amp;&amp; &quot;c&quot; fails" file="rawr.tests.toml" line="15">
              <failure type="unexpected" message="expected compact; happened: propose at step 4 (ready, commit, agent_done)">rawr.tests.toml:15
        expected  compact
        happened  propose at step 4 (ready, commit, agent_done)
        step 4    agent = &quot;I fixed the parser and committed it.&quot;
                  propose: 40% left (ready) at commit, agent done; your next message decides</failure>
            </testcase>
          </testsuite>
        </testsuites>
    "#]].assert_eq(&fs::read_to_string(&report).unwrap());
    assert_eq!(fixture.leftovers(), ["rawr.tests.toml", "report.xml"]);
    let done = fixture.run(&["test", "--junit", "none/report.xml"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(err(&done).contains("failed to write none/report.xml"), "{}", err(&done));
    // Nothing ran, so the report of before stays.
    write(&fixture, "rawr.tests.toml", "");
    assert_eq!(fixture.run(&["test", "--junit", "report.xml"]).status.code(), Some(2));
    assert!(fs::read_to_string(&report).unwrap().contains("</testsuites>"));
}

#[test]
fn json_has_an_object_for_each_test_and_one_for_all() {
    let fixture = with_tests(&[
        commit("passes", "", 60, "\"propose\""),
        commit("fails", "", 60, "{ outcome = \"compact\", at_step = 4 }"),
    ]);
    let done = fixture.run(&["test", "--json"]);
    let rows: Vec<Value> =
        out(&done).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [passes, fails, sums] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((&passes["passed"], &passes["happened"]), (&true.into(), &fails["happened"]));
    assert_eq!(fails["expected"][0]["text"], "compact at step 4");
    assert_eq!(
        (&fails["decisions"][0]["step"], &fails["decisions"][0]["makes"]),
        (&4.into(), &"propose".into())
    );
    assert_eq!((&sums["event"], &sums["failed"]), (&"policy_tests_done".into(), &1.into()));
    write(&fixture, "rawr.tests.toml", "version = 2\n");
    let problem: Value =
        serde_json::from_str(out(&fixture.run(&["test", "--json"])).lines().next().unwrap())
            .unwrap();
    assert_eq!(problem["event"], "problem");
}

/// A pipe that closes early must not look like success.
#[test]
fn a_closed_output_keeps_the_exit_code() {
    let many: Vec<_> =
        (0..300).map(|at| commit(&format!("fails {at}"), "", 60, "\"compact\"")).collect();
    let fixture = with_tests(&many);
    let mut child = fixture.command(&["test"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
