//! The processes of the agent's commands.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rawr_tests::mock_chat::{ChatScript, reply};
use rawr_tests::{MockChat, Terminal};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::fixture::{EmbeddedFixture, shell};

#[test]
fn a_command_that_prompts_on_the_terminal_fails_at_once() {
    let script = ChatScript::default()
        .on("go", [shell("read -r name </dev/tty; echo \"code $?\""), reply("It could not ask.")]);
    let model = MockChat::start(script);
    let fixture = EmbeddedFixture::on_endpoint(&model, 100_000);
    let mut command = fixture.command(&["go"]);
    command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let mut terminal = Terminal::run(&command, 24, 200);
    assert!(terminal.wait_for_the_end().success(), "{}", terminal.written());
    let results = model.requests().last().unwrap().transcript().join("\n");
    assert!(!results.contains("stopped after") && results.contains("code "), "{results}");
}

#[test]
fn a_command_ends_with_a_killed_rawr() {
    let script = ChatScript::default().on("go", [shell("echo $$ >pid; exec sleep 1000")]);
    let model = MockChat::start(script);
    let fixture = EmbeddedFixture::on_endpoint(&model, 100_000);
    let mut rawr = fixture.start(&["go"]);
    let command = wait_for_process(&fixture.repository.path().join("pid"));
    rawr.kill().unwrap();
    rawr.wait().unwrap();
    if cfg!(not(target_os = "linux")) {
        kill_process(command, Signal::KILL).unwrap();
        return;
    }
    let give_up = Instant::now() + LIMIT;
    while test_kill_process(command).is_ok() {
        assert!(Instant::now() < give_up, "the command goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Only a hang takes this long.
const LIMIT: Duration = Duration::from_secs(60);

fn wait_for_process(file: &Path) -> Pid {
    let give_up = Instant::now() + LIMIT;
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(process) = text.strip_suffix('\n') {
            return Pid::from_raw(process.parse().unwrap()).unwrap();
        }
        assert!(Instant::now() < give_up, "the command never began");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The judge's key belongs to rawr alone, as the key of the agent's own model does.
#[test]
fn a_command_does_not_see_the_judges_key() {
    let endpoint = "backend = \"chat\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"";
    for (judgment, seen) in [
        ("", "-judge-sk-secret-of-the-test"),
        ("api_key_env = \"JUDGE_KEY\"", "--sk-secret-of-the-test"),
        (endpoint, "-judge-"),
    ] {
        let command = "echo \"$AGENT_KEY-$JUDGE_KEY-$OPENAI_API_KEY\" >seen";
        let model =
            MockChat::start(ChatScript::default().on("go", [shell(command), reply("Done.")]));
        let fixture = EmbeddedFixture::on_endpoint(&model, 100_000);
        fixture.configure(&format!("[rawr_auto_compaction.judgment]\n{judgment}\n"));
        let mut command = fixture.command(&["--api-key-env", "AGENT_KEY", "go"]);
        command.env("AGENT_KEY", "agent").env("JUDGE_KEY", "judge");
        assert!(command.output().unwrap().status.success());
        assert_eq!(fixture.file("seen"), format!("{seen}\n"), "{judgment}");
    }
}
