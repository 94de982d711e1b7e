//! `rawr exec --host claude` is stopped with Ctrl-C while a prompt waits for the compaction.

use expect_test::expect;
use rawr_tests::mock_responses::{ReplyGate, RequestPurpose, TurnScript, reply};
use rawr_tests::{ExecOutput, wait_until};

use super::fixture::ClaudeExecFixture;
use super::session;
use crate::fixture::interrupted;

const NEXT: &str = "Thanks, that works. Next, AND-NOW write the user guide.";

/// Stops a session in which `is_waiting` is asked of the model, and continues it. Returns the stories of both.
fn stopped(
    script: TurnScript,
    gate: &ReplyGate,
    is_waiting: impl Fn(&ClaudeExecFixture) -> bool,
) -> [ExecOutput; 2] {
    let fixture =
        ClaudeExecFixture::new(script.on("FOURTH", [reply("Fourth.").input_tokens(26_000)]));
    let first = fixture.command(&["WRITE-PARSER please", NEXT, "THIRD thing"]).spawn().unwrap();
    wait_until("the model to be asked", || is_waiting(&fixture));
    let first = interrupted(first);
    gate.open();
    let second = fixture.exec(&["--resume", "last", "FOURTH thing"]);
    second.expect_success();
    [first, second]
}

#[test]
fn a_prompt_held_during_the_packet_is_delivered_on_resume() {
    let gate = ReplyGate::new();
    let script = session().behind("packet_request]", 0, &gate);
    let [first, second] = stopped(script, &gate, |fixture| {
        let requests = fixture.model.requests();
        requests.iter().any(|request| request.marker.as_deref() == Some("packet_request]"))
    });
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
        turn interrupted
        [kept: Thanks, that works. Next, AND-NOW write the user guide.]
        [not sent: THIRD thing]
    "#]]
    .assert_eq(&first.story());
    expect![[r#"
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
        user: FOURTH thing
          agent: Fourth.
        turn completed
    "#]]
    .assert_eq(&second.story());
}

#[test]
fn a_prompt_held_during_the_compaction_is_delivered_on_resume() {
    let gate = ReplyGate::new();
    let summary =
        reply("<summary>A summary by the model.</summary>").input_tokens(107_000).behind(&gate);
    let script = session().on_compaction([summary]);
    let [first, second] = stopped(script, &gate, |fixture| {
        let requests = fixture.model.requests();
        requests.iter().any(|request| request.purpose == RequestPurpose::LocalCompaction)
    });
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
        turn completed
        [kept: Thanks, that works. Next, AND-NOW write the user guide.]
        [not sent: THIRD thing]
    "#]]
    .assert_eq(&first.story());
    expect![[r#"
        [packet by agent]
        [compaction in_progress]
        [compaction completed]
        turn completed
        rawr: handoff
        user: Thanks, that works. Next, AND-NOW write the user guide.
          agent: Writing the docs now.
        turn completed
        user: FOURTH thing
          agent: Fourth.
        turn completed
    "#]]
    .assert_eq(&second.story());
}
