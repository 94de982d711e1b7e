//! `rawr exec --host claude` with the real Claude Code and a scripted model.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod ends;
pub mod fixture;
mod judged;
mod stopped;
mod unreadable;

use std::sync::Arc;

use expect_test::expect;
use fixture::{ClaudeExecFixture, PACKET, shell};
use rawr_tests::ExecOutput;
use rawr_tests::claude::{MODEL, binary_before};
use rawr_tests::mock_anthropic::AnthropicRequest;
use rawr_tests::mock_responses::{RequestPurpose, TurnScript, call, http_error, reply};
use serde_json::json;

/// The agent plans, commits under pressure and concludes; then it answers the packet request, and goes on.
pub fn session() -> TurnScript {
    let commit =
        "printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'";
    let planned = |step: &str| call("TaskCreate", json!({"subject": step, "description": step}));
    let done = json!({"taskId": "1", "status": "completed"});
    TurnScript::default()
        .on("packet_request]", [reply(PACKET).input_tokens(106_000)])
        .on(":handoff]", [reply("Writing the docs now.").input_tokens(23_000)])
        .on("AND-NOW", [reply("The docs are written, as you asked.").input_tokens(24_000)])
        .on(
            "WRITE-PARSER",
            [
                planned("write the parser").and(planned("write the docs")).input_tokens(100_000),
                shell(commit).input_tokens(102_000),
                call("TaskUpdate", done).input_tokens(104_000),
                reply("The parser is written and committed.").input_tokens(105_000),
            ],
        )
        .on_compaction([reply("<summary>A summary by the model.</summary>").input_tokens(107_000)])
}

#[test]
fn a_session_with_claude_continues_after_a_compaction() {
    carries_across(&ClaudeExecFixture::new(session()));
}

#[test]
fn a_session_with_the_previous_claude_continues_after_a_compaction() {
    carries_across(&ClaudeExecFixture {
        claude: binary_before(),
        ..ClaudeExecFixture::new(session())
    });
}

#[test]
fn a_session_continues_with_its_history() {
    let script = TurnScript::default()
        .on("AND-NOW", [reply("The docs are written, as you asked.").input_tokens(24_000)])
        .on("WRITE-PARSER", [reply("The parser is written.").input_tokens(23_000)]);
    let fixture = ClaudeExecFixture::new(script);
    let first = fixture.exec(&["WRITE-PARSER please"]);
    first.expect_success();
    let thread = first.one("session", |_| true)["threadId"].as_str().unwrap().to_owned();
    assert_eq!(
        first.one("next_steps", |_| true)["resume"],
        format!("rawr exec --host claude --resume {thread}")
    );

    let second = fixture.exec(&["--resume", "last", "AND-NOW the docs"]);
    second.expect_success();
    assert_eq!(second.one("session", |_| true)["threadId"], thread.as_str());
    let requests = fixture.model.requests();
    let heard = requests.last().unwrap().user_messages();
    assert!(heard.iter().any(|text| text.contains("WRITE-PARSER please")), "{heard:?}");
}

fn carries_across(fixture: &ClaudeExecFixture) {
    let done = fixture
        .exec(&["WRITE-PARSER please", "Thanks, that works. Next, AND-NOW write the user guide."]);
    done.expect_success();
    assert_eq!(fixture.repository.subjects().first().map(String::as_str), Some("Add the parser"));
    let verdict = done.one("verdict", |event| event["outcome"] == "compact");
    let gates = verdict["gates"].as_array().unwrap();
    let boundary = gates.iter().find(|gate| gate["gate"] == "boundary").unwrap();
    let evidence = boundary["evidence"].as_str().unwrap();
    assert!(evidence.contains("commit") && evidence.contains("plan step done"), "{boundary}");
    assert_eq!(verdict["percentRemaining"], 47, "{verdict}");
    assert_eq!(done.one("packet", |_| true)["author"], "agent");
    expect![[r#"
        user: WRITE-PARSER please
          ran printf 'parse\n' > parser.txt && git add -A && git commit -q -m 'Add the parser'
          agent: The parser is written and committed.
        turn completed
        [defer by preflight]
        [judge by preflight]
        [log: where it is unclear whether your next message ends a piece of work, rawr asks a …]
        [held: Thanks, that works. Next, AND-NOW write the user guide.]
        [compact by preflight]
        [heads-up will_compact]
        rawr: packet_request
          agent: <continuation_packet>
        turn completed
        [packet by agent]
        [compaction in_progress]
        [compaction completed]
        turn completed
        rawr: handoff
        user: Thanks, that works. Next, AND-NOW write the user guide.
          agent: Writing the docs now.
        turn completed
    "#]]
    .assert_eq(&done.story());
    // Claude Code keeps the last message of the agent beside its summary: here the packet.
    expect![[r#"
        turn begins
          user: WRITE-PARSER please
        turn goes on
          assistant: <TaskCreate>
          assistant: <TaskCreate>
          tool
          tool
        turn goes on
          assistant: <Bash>
          tool
        turn goes on
          assistant: <TaskUpdate>
          tool
        turn goes on
          assistant: The parser is written and committed.
          user: [rawr] This thread's context will be compacted next, b … packet_request]
        compaction goes on
          assistant: <continuation_packet>
          user: CRITICAL: Respond with TEXT ONLY. Do NOT call any tool
        turn begins
          user: This session is being continued from a previous conver
          assistant: <continuation_packet>
          user: <local-command-caveat>The command below was run direct
          and: <command-name>/compact</command-name>
          and: <local-command-stdout>Compacted </local-command-stdout>
          and: [rawr] The compaction is done. Heads-ups, packet reques … handoff]
          and: Thanks, that works. Next, AND-NOW write the user guide.
    "#]]
    .assert_eq(&fixture.sent());
    let requests = fixture.model.requests();
    let is_summary =
        |request: &&Arc<AnthropicRequest>| request.purpose == RequestPurpose::LocalCompaction;
    let summary = requests.iter().find(is_summary).unwrap();
    let asked = summary.user_messages().pop().unwrap();
    assert!(asked.contains("every standing instruction word for word"), "{asked}");
    let heard = requests.last().unwrap().user_messages();
    let handed_over = |text: &String| text.contains("Next: write the docs of parser.txt");
    assert!(heard.iter().any(handed_over), "{heard:?}");
}

#[test]
fn a_refused_compaction_is_reported_and_the_session_continues() {
    let fixture = ClaudeExecFixture::new(session().on_compaction([http_error(500)]));
    let done = fixture
        .exec(&["WRITE-PARSER please", "Thanks, that works. Next, AND-NOW write the user guide."]);
    done.expect_success();
    let failed = done.one("compaction", |event| event["status"] == "failed");
    assert!(failed["error"].as_str().unwrap().contains("scripted error 500"), "{failed}");
    assert!(done.all("handoff").is_empty(), "{}", done.dump());
    assert_eq!(done.said().last(), Some(&"The docs are written, as you asked."));
    let last = fixture.model.requests().pop().unwrap();
    assert!(last.agent_messages().iter().any(|said| said.contains("parser is written")));
}

/// Claude Code refuses to ask its model when the window is all but full, so it is not asked for a packet.
#[test]
fn a_turn_that_fills_the_window_is_compacted_with_a_packet_by_rawr() {
    let fills = [shell("true").input_tokens(186_000), reply("never").input_tokens(187_000)];
    let fixture = ClaudeExecFixture::new(session().on("READ-ALL", fills));
    let done = fixture
        .exec(&["READ-ALL of it", "Thanks, that works. Next, AND-NOW write the user guide."]);
    assert_eq!(done.one("packet", |_| true)["author"], "watcher");
    expect![[r#"
        user: READ-ALL of it
          ran true
        turn failed
        [notice: the turn failed: Prompt is too long]
        [compact by turn_complete]
        [heads-up will_compact]
        [packet by watcher]
        [compaction in_progress]
        [compaction completed]
        turn completed
        rawr: handoff
          agent: Writing the docs now.
        turn completed
        user: Thanks, that works. Next, AND-NOW write the user guide.
          agent: The docs are written, as you asked.
        turn completed
    "#]]
    .assert_eq(&done.story());
}

/// What the agent's own commands see of what Claude Code was started with.
#[test]
fn claude_compacts_by_itself_only_where_rawr_does_not() {
    let off = ["-c", "features.rawr_auto_compaction=false"];
    for (options, expected) in [(&[][..], "own=1 hooks=off"), (&off, "own= hooks=off")] {
        let asks = shell("echo own=$DISABLE_AUTO_COMPACT hooks=$RAWR_HOOKS");
        let fixture =
            ClaudeExecFixture::new(TurnScript::default().on("LOOK", [asks, reply("seen")]));
        fixture.exec(&[options, &["LOOK around"]].concat()).expect_success();
        let last = fixture.model.requests().pop().unwrap().body.to_string();
        assert!(last.contains(expected), "{last}");
    }
}

#[test]
fn a_denied_permission_is_reported() {
    let fixture = ClaudeExecFixture::new(
        TurnScript::default().on("TOUCH", [shell("touch x"), reply("I may not.")]),
    );
    let done = fixture.exec(&["--permission-mode", "default", "TOUCH it"]);
    done.expect_success();
    assert!(!fixture.repository.path().join("x").exists());
    assert!(done.notices().iter().any(|notice| notice.contains("--permission-mode")));
}

/// Claude Code says which model it asks only once it asks it.
#[test]
fn the_rules_for_the_model_that_claude_uses_hold() {
    let fixture = ClaudeExecFixture::new(session());
    let table = format!("[rawr_auto_compaction.models.{MODEL:?}]\nmode = \"tag\"\n");
    std::fs::write(fixture.home.path().join("rawr.toml"), table).unwrap();
    let confirming = "Thanks, that works. Next, AND-NOW write the user guide.";
    let mut command = fixture.command(&["WRITE-PARSER please", confirming]);
    let done = ExecOutput::of(command.env("RAWR_HOME", fixture.home.path()).output().unwrap());
    done.expect_success();
    let verdict = done.one("verdict", |event| event["outcome"] == "tag");
    let gates = verdict["gates"].as_array().unwrap();
    let mode = gates.iter().find(|gate| gate["gate"] == "mode").unwrap();
    assert!(mode["evidence"].as_str().unwrap().starts_with("tag"), "{verdict}");
    assert!(done.all("packet").is_empty(), "{}", done.dump());
}
