//! A session goes on where less fits than before.

use rawr_tests::mock_responses::{TurnReply, reply};

use super::fixture::{ExecAgent, FIRST, NEXT};
use crate::fixture::{claude_shell, codex_shell};
use crate::live::exec_claude::fixture::ClaudeExecFixture;
use crate::live::exec_codex::fixture::CodexExecFixture;

const COMMIT: &str = "git commit -q --allow-empty -m 'Go on'";

/// Does its work twice: what is far from the end of one window is near to that of the other.
fn smaller<A: ExecAgent>(commit: TurnReply, large: &[&str], small: &[&str], percent: [u64; 2]) {
    let work = [commit, reply("The parser is written and committed.")];
    let script = A::session()
        .on_first("AND-NOW", [reply("Here you are.").input_tokens(91_000)])
        .on_first("WRITE-PARSER", work.map(|reply| reply.input_tokens(90_000)))
        .on_first(":handoff]", [reply("Writing the docs now.").input_tokens(20_000)]);
    let agent = A::start(script);
    let first = agent.exec(&[large, &[FIRST, NEXT]].concat());
    first.expect_success();
    assert!(first.all("compaction").is_empty(), "{}", first.dump());
    let left = first.all("thread_changed").into_iter().rev();
    let left = left.filter_map(|changed| changed["percentRemaining"].as_u64()).next();
    assert_eq!(left, Some(percent[0]), "{}", first.dump());

    let second = agent.exec(&[&["--resume", "last"], small, &[FIRST, NEXT]].concat());
    second.expect_success();
    let verdict = second.one("verdict", |event| event["outcome"] == "compact");
    assert_eq!(verdict["percentRemaining"], percent[1], "{}", second.dump());
    let end = format!("[compaction completed]\nturn completed\nrawr: handoff\nuser: {NEXT}\n");
    assert!(second.story().contains(&end), "{}", second.story());
}

#[test]
fn a_smaller_window_of_codex_is_learned() {
    let commit = codex_shell(COMMIT);
    let small = ["--codex-config", "model_context_window=150000"];
    smaller::<CodexExecFixture>(
        commit,
        &["--codex-config", "model_context_window=272000"],
        &small,
        [68, 40],
    );
}

#[test]
fn a_smaller_window_of_claude_is_learned() {
    let (large, small) = (["--model", "claude-sonnet-4-5[1m]"], ["--model", "claude-sonnet-4-5"]);
    smaller::<ClaudeExecFixture>(claude_shell(COMMIT), &large, &small, [91, 55]);
}
