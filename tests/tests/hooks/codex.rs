//! rawr's hooks in sessions of the real Codex that rawr does not run.

use std::process::{Command, Output, Stdio};

use rawr_tests::codex::{CodexHome, Config, binary};
use rawr_tests::mock_responses::{Purpose, Script, call, say};
use rawr_tests::{MockModel, Repository, rawr};
use serde_json::json;

use super::PACKET;

struct Lab {
    model: MockModel,
    home: CodexHome,
    repository: Repository,
}

impl Lab {
    fn new(script: Script) -> Self {
        let model = MockModel::start(script);
        let home = CodexHome::new(&model, &Config::default());
        Self { model, home, repository: Repository::new() }
    }

    fn run(&self, program: &std::path::Path, arguments: &[&str]) -> Output {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.repository.path())
            .envs(self.home.environment())
            .env_remove("RAWR_HOME")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// One session after the other; Codex itself compacts at the end of a turn that leaves the window so full.
    fn exec(&self, arguments: &[&str]) {
        let options = [
            "exec",
            "--dangerously-bypass-hook-trust",
            "-c",
            "model_post_turn_compact_threshold_percent=30",
        ];
        self.run(&binary(), &[&options[..], arguments].concat());
    }
}

#[test]
fn a_packet_written_before_codex_ended_is_handed_over_when_it_is_taken_up_again() {
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    let lab = Lab::new(
        Script::default()
            .on("packet_request]", [say(PACKET).input_tokens(66_000)])
            .on("AND-NOW", [say("The docs are written.").input_tokens(14_000)])
            .on(
                "WRITE-PARSER",
                [
                    call("exec_command", json!({ "cmd": commit })).input_tokens(64_000),
                    say("The parser is written and committed.").input_tokens(65_000),
                ],
            )
            .on_compaction([say("A summary by the model.").input_tokens(67_000)]),
    );
    lab.run(rawr(), &["hooks", "install", "--codex"]);
    lab.exec(&["WRITE-PARSER please"]);
    lab.exec(&["resume", "--last", "AND-NOW the docs"]);
    let log = std::fs::read_to_string(lab.home.path().join("rawr/hooks.log"));
    assert_eq!(log.unwrap_or_default(), "");
    let requests = lab.model.requests();
    let last = requests.last().unwrap();
    let handoffs = last.messages("developer");
    let handoffs: Vec<_> = handoffs.iter().filter(|text| text.contains(":handoff]")).collect();
    assert_eq!(handoffs.len(), 1, "{handoffs:?}");
    assert!(handoffs[0].contains("Next: write the docs of parser.txt"), "{}", handoffs[0]);
    assert_eq!(requests.iter().filter(|it| it.purpose != Purpose::Turn).count(), 1);
}
