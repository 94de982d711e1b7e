//! rawr's hooks in a session of the real Claude Code that rawr does not run. One case a promise.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod lab;

use lab::{Lab, answers};
use rawr_tests::mock_responses::{Reply, Script, call, say};
use rawr_tests::sent;
use serde_json::{Value, json};

const PACKET: &str = "<continuation_packet>\nState: working\nGoal: a parser with docs\n\
    Next: write the docs of parser.txt\n</continuation_packet>";

fn shell(command: &str) -> Reply {
    call("Bash", json!({ "command": command }))
}

fn session() -> Script {
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    Script::default()
        .on("packet_request]", [say(PACKET).input_tokens(66_000)])
        .on("AND-NOW", [say("The docs are written.").input_tokens(24_000)])
        .on("READ", [say("All is read.").input_tokens(12_000)])
        .on(
            "WRITE-PARSER",
            [
                shell(commit).input_tokens(64_000),
                say("The parser is written and committed.").input_tokens(65_000),
            ],
        )
        .on_compaction([say("<summary>A summary by the model.</summary>").input_tokens(67_000)])
}

#[test]
fn a_session_is_carried_across_a_compaction_by_hand() {
    let lab = Lab::new(session());
    lab.says(&["hooks", "install", "--claude"]);
    let mut claude = lab.claude();
    let worked = claude.ask("WRITE-PARSER please");
    eprintln!("{:#?}", answers(&worked, "Stop"));
    let compacted = claude.ask("/compact");
    eprintln!("{:#?}", answers(&compacted, "SessionStart"));
    claude.ask("AND-NOW the docs");
    claude.leave();
    eprintln!(
        "{}",
        sent(lab.model.requests().iter().map(|request| ("turn", request.transcript())))
    );
    eprintln!(
        "{:#?}",
        lab.model
            .requests()
            .last()
            .unwrap()
            .reminders()
            .iter()
            .filter(|text| text.contains("rawr"))
            .collect::<Vec<_>>()
    );
    eprintln!("log {}\nopen {}\n{}", lab.log(), lab.is_open(), lab.events());
    panic!("look");
}
