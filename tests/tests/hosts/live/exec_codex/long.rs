//! A long session with tools and instructions that fill a fifth of the window is compacted repeatedly.

use rawr_tests::codex::CodexTestConfig;
use rawr_tests::mock_responses::{TurnReply, TurnScript, reply};
use serde_json::Value;

use super::fixture::{CodexExecFixture, PACKET, shell};

/// With what the request itself holds, some 56,000 tokens.
const PREFIX: u64 = 50_000;

fn with_prefix(reply: TurnReply) -> TurnReply {
    reply.prefix_tokens(PREFIX)
}

/// Each prompt reads a good deal and ends with a commit.
fn agent() -> TurnScript {
    let read = "seq 1 4000 && git commit -q --allow-empty -m 'Go on'";
    TurnScript::default()
        .on("packet_request]", [with_prefix(reply(PACKET))])
        .on(":handoff]", [with_prefix(reply("Going on with the docs."))])
        .on(
            "WORK",
            [shell(read), reply("One more part is written and committed.")].map(with_prefix),
        )
        .on_compaction([with_prefix(reply("A summary by the model."))])
}

/// The breaker used to measure against the whole window: after three compactions it stopped for good.
#[test]
fn a_large_fixed_prefix_does_not_stop_compactions() {
    let prompts = std::env::var("RAWR_LONG_SESSION").map_or(30, |many| many.parse().unwrap());
    let config = CodexTestConfig { context_window: 272_000, ..CodexTestConfig::default() };
    let fixture = CodexExecFixture::configured(agent(), &config);
    let prompts: Vec<_> = (1..=prompts).map(|number| format!("WORK on part {number}")).collect();
    let done = fixture.exec(&prompts.iter().map(String::as_str).collect::<Vec<_>>());
    done.expect_success();
    let percents: Vec<_> = done
        .all("verdict")
        .iter()
        .map(|verdict| (verdict["outcome"].clone(), verdict["percentRemaining"].as_u64()))
        .collect();
    let paused = done.all("thread_changed").iter().any(|changed| changed["breaker"] != Value::Null);
    assert!(!paused, "{percents:?}");
    let compacted = done.all("compaction").iter().filter(|it| it["status"] == "completed").count();
    assert!(compacted > 3, "{percents:?}");
    let lowest = percents.iter().filter_map(|(_, percent)| *percent).min().unwrap();
    assert!(lowest >= 60, "{percents:?}");
    // Codex keeps what was said to it, so that each compaction lands higher: one a prompt would free next to nothing.
    assert!(compacted <= prompts.len() / 2, "{percents:?}");
}
