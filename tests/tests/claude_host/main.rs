//! `rawr exec --host claude`: the whole path on the real Claude Code, its model played by a script. One case a promise.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod lab;

use std::process::Command;

use expect_test::expect;
use lab::{Lab, PACKET, shell};
use rawr_tests::mock_responses::{Script, call, http_error, say, stall};
use rawr_tests::{Session, rawr};
use serde_json::{Value, json};

/// The agent commits under pressure; then it answers the packet request, and goes on.
fn session() -> Script {
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    Script::default()
        .on("AND-NOW", [say("The docs are written, as you asked.").input_tokens(26_000)])
        .on("packet_request]", [say(PACKET).input_tokens(66_000)])
        .on(
            ":handoff]",
            [
                shell("git commit -q --allow-empty -m 'Write the docs'").input_tokens(23_000),
                say("The docs are written.").input_tokens(24_000),
            ],
        )
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
fn a_real_claude_is_carried_across() {
    let lab = Lab::new(session());
    let done = lab.exec(&["WRITE-PARSER please", "AND-NOW the rest"]);
    done.expect_success();
    expect![[""]].assert_eq(&done.story());
    expect![[""]].assert_eq(&lab.sent());
}
