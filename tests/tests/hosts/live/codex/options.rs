//! Codex's options and commands through `rawr codex`.

use std::process::Output;

use rawr_tests::{Terminal, wait_until};
use serde_json::json;

use super::deaths::drivers;
use super::fixture::{LiveFixture, agent, leave, type_text};

fn run(fixture: &LiveFixture, arguments: &[&str]) -> Output {
    fixture.rawr_codex(arguments).output().unwrap()
}

/// A Codex on a terminal that starts no background server where rawr is not beside it.
fn open(fixture: &LiveFixture, arguments: &[&str]) -> Terminal {
    let mut all = vec!["-c", "features.daemon_auto_start=false"];
    all.extend(arguments);
    fixture.on_a_terminal(&all)
}

#[test]
fn a_command_after_options_runs_as_in_codex() {
    let fixture = LiveFixture::new(agent());
    for options in [["-c", "model=x"], ["-m", "x"], ["--enable", "goals"], ["-i", "a.png"]] {
        let words = [&options[..], &["--search", "features", "list"]].concat();
        let listed = run(&fixture, &words);
        assert!(listed.status.success(), "{words:?}: {listed:?}");
        assert!(String::from_utf8_lossy(&listed.stdout).contains("goals"), "{words:?}: {listed:?}");
        assert!(
            !String::from_utf8_lossy(&listed.stderr).contains("rawr:"),
            "{words:?}: {listed:?}"
        );
    }
}

#[test]
fn rawr_reports_that_it_does_not_attach_to_a_non_interactive_agent() {
    let fixture = LiveFixture::new(agent());
    let done = run(&fixture, &["-m", "any-model", "exec", "AND-NOW the docs"]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "Here you are.\n");
    let error = String::from_utf8_lossy(&done.stderr);
    let line =
        "rawr: `codex exec` runs without rawr; `rawr exec --host codex` runs Codex with it\n";
    assert!(error.starts_with(line), "{error}");
}

#[test]
fn options_that_codex_refuses_with_rawr_run_without_rawr() {
    let fixture = LiveFixture::new(agent());
    let root = "sandbox_workspace_write.writable_roots=[\"/tmp\"]";
    let table = "sandbox_workspace_write={writable_roots=[\"/tmp\"]}";
    let cases: [(&[&str], &str); 4] = [
        (&["--add-dir", "/tmp"], "--add-dir"),
        (&["-c", root], "sandbox_workspace_write.writable_roots"),
        (&["-m", "any-model", &format!("-c{table}")], "sandbox_workspace_write.writable_roots"),
        (&["-C", "/tmp/..", "--add-dir=/tmp"], "--add-dir"),
    ];
    for (words, named) in cases {
        let mut terminal = open(&fixture, words);
        let written = terminal.written();
        let line = format!(
            "rawr: Codex refuses {named} with --remote, which rawr needs; Codex runs without it"
        );
        assert!(written.contains(&line), "{words:?}: {written}");
        assert!(drivers(terminal.process_id()).is_empty(), "{words:?}");
        leave(&mut terminal);
    }
}

/// The app-server of `rawr codex` is not the shared one, which is all that the option asks for.
#[test]
fn rawr_attaches_with_no_daemon() {
    let fixture = LiveFixture::new(agent());
    let mut terminal = fixture.on_a_terminal(&["--no-daemon"]);
    assert_eq!(drivers(terminal.process_id()).len(), 1);
    leave(&mut terminal);
}

/// A server that says that it was started.
fn server(fixture: &LiveFixture, name: &str) -> String {
    let started = fixture.home.path().join(name);
    let script = format!("echo \"$1 $WORD\" > {:?}; cat", started.display().to_string());
    format!(
        "[mcp_servers.{name}]\ncommand = \"sh\"\nargs = [\"-c\", {}, \"sh\", \"a \\\"b\\\"\"]\nenv = {{ WORD = \"c=d\", \"E.F\" = \"g\" }}\n",
        json!(script)
    )
}

#[test]
fn a_profile_also_configures_the_app_server() {
    let fixture = LiveFixture::new(agent());
    let home = fixture.home.path();
    std::fs::write(home.join("words.md"), "SPEAK-PLAINLY").unwrap();
    let profile = format!("model_instructions_file = \"words.md\"\n{}", server(&fixture, "tools"));
    std::fs::write(home.join("work.config.toml"), profile).unwrap();
    let mut terminal = fixture.on_a_terminal(&["--profile=work"]);
    assert_eq!(drivers(terminal.process_id()).len(), 1);
    wait_until("the profile's server", || home.join("tools").exists());
    wait_until("its words", || {
        std::fs::read_to_string(home.join("tools")).unwrap() == "a \"b\" c=d\n"
    });
    type_text(&mut terminal, "AND-NOW hello");
    terminal.wait_for(&["Here you are."]);
    let requests = fixture.requests();
    assert!(requests.iter().all(|it| it.body.to_string().contains("SPEAK-PLAINLY")));
    leave(&mut terminal);
}

/// What stands on a command line can be read by every user of the machine.
#[test]
fn a_profile_with_a_key_runs_without_rawr() {
    let fixture = LiveFixture::new(agent());
    let home = fixture.home.path();
    let key = "sk-proj-Qm3vT8xLr2Yw9Kc5Zb7Nd1Hf6Gj4Ps0Ae";
    let profile = server(&fixture, "tools").replace("c=d", key);
    std::fs::write(home.join("work.config.toml"), profile).unwrap();
    let mut terminal = open(&fixture, &["-p", "work"]);
    let written = terminal.written();
    assert!(written.contains("rawr: the profile work contains a key"), "{written}");
    assert!(written.contains("; Codex runs without it"), "{written}");
    assert!(drivers(terminal.process_id()).is_empty());
    wait_until("the profile's server", || home.join("tools").exists());
    leave(&mut terminal);
}
