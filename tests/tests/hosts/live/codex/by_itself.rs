//! `rawr codex` as a new user has it, with nothing configured: a turn in which work was committed and called done confirms its
//! own compaction. Codex's screen holds no message, so nothing else could before the person goes away.

use rawr_tests::mock_responses::{ReplyGate, TITLE_PROMPT, TurnReply, TurnScript, reply};
use rawr_tests::{Terminal, wait_until};

use super::deaths::{drivers, leave_nothing, sidecars};
use super::fixture::{GOES_ON, HANDOFF, HEADS_UP, LiveFixture, PACKET, leave, shell, type_text};
use crate::processes::kill;

const LEXER: &str = "WRITE-LEXER, commit and push it.";
const PARSER: &str = "WRITE-PARSER, commit and push it.";

/// An agent that has read much for its first task, and ends each with these words.
fn agent(parser: impl IntoIterator<Item = TurnReply>) -> TurnScript {
    TurnScript::default()
        .on(TITLE_PROMPT, [reply("Write a parser")])
        .on(":packet_request]", [reply(PACKET).input_tokens(104_000)])
        .on(":handoff]", [reply(GOES_ON).input_tokens(20_000)])
        .on("WRITE-PARSER", parser)
        .on(
            "WRITE-LEXER",
            [
                commits_and_pushes("lexer").input_tokens(20_000),
                reply("Finished: the lexer is written, committed and pushed.").input_tokens(22_000),
            ],
        )
        .on_compaction([reply("A summary by the model.").input_tokens(105_000)])
}

/// With a remote to push to, and no configuration of rawr.
fn fixture(script: TurnScript) -> LiveFixture {
    let fixture = LiveFixture::new(script);
    std::fs::remove_file(fixture.home.path().join("rawr.toml")).unwrap();
    fixture.repository.git(&["init", "--quiet", "--bare", "remote.git"]);
    fixture.repository.git(&["remote", "add", "origin", "./remote.git"]);
    std::fs::write(fixture.repository.path().join(".git/info/exclude"), "remote.git\n").unwrap();
    fixture
}

fn commits_and_pushes(file: &str) -> TurnReply {
    shell(&format!(
        "echo {file} > {file} && git add {file} && git commit -q -m 'Add {file}' && git push -q origin main"
    ))
}

/// The first task ends above every tier, and rawr is at Codex's side when the second begins.
fn under_pressure(fixture: &LiveFixture) -> Terminal {
    let mut terminal = fixture.on_a_terminal(&[]);
    type_text(&mut terminal, LEXER);
    terminal.wait_for(&["the lexer is written, committed and pushed."]);
    wait_until("rawr at its side", || fixture.log().contains(r#""event":"session""#));
    type_text(&mut terminal, PARSER);
    terminal
}

/// Two ends below the first tier are enough, and here the first is.
#[test]
fn work_that_is_finished_committed_and_pushed_is_compacted_without_a_word() {
    let fixture = fixture(agent([
        commits_and_pushes("parser").input_tokens(100_000),
        reply("Finished: the parser is written and tested, committed and pushed.")
            .input_tokens(103_000),
    ]));
    let mut terminal = under_pressure(&fixture);
    let screen = terminal.wait_for(&[GOES_ON]);
    let mut rest = screen.as_str();
    for words in [
        PARSER,
        "the parser is written and tested, committed and pushed.",
        HEADS_UP,
        "Goal: a parser with docs",
        "Context compacted",
        HANDOFF,
        GOES_ON,
    ] {
        let Some((_, after)) = rest.split_once(words) else {
            panic!("{words:?} does not stand where it should:\n{screen}\n{}", fixture.log());
        };
        rest = after;
    }
    assert_eq!(fixture.repository.subjects()[..2], ["Add parser", "Add lexer"]);
    assert_eq!(fixture.compactions(), 1);
    leave(&mut terminal);
}

/// There is no rule for `make test`, so it fails.
#[test]
fn work_with_a_failing_check_is_only_proposed() {
    let fixture = fixture(agent([
        commits_and_pushes("parser").input_tokens(100_000),
        shell("make test").input_tokens(101_000),
        reply("Finished: the parser is written, committed and pushed.").input_tokens(103_000),
    ]));
    let mut terminal = under_pressure(&fixture);
    terminal.wait_for(&["the parser is written, committed and pushed."]);
    wait_until("a proposal", || fixture.log().contains(r#""phase":"proposed""#));
    assert_eq!(fixture.compactions(), 0, "{}", fixture.log());
    leave(&mut terminal);
}

fn finished() -> [TurnReply; 2] {
    [
        commits_and_pushes("parser").input_tokens(100_000),
        reply("Finished: the parser is written and tested, committed and pushed.")
            .input_tokens(103_000),
    ]
}

#[test]
fn a_sidecar_killed_during_the_packet_is_replaced_and_the_compaction_completes() {
    let gate = ReplyGate::new();
    let fixture = fixture(agent(finished()).behind(":packet_request]", 0, &gate));
    let mut terminal = under_pressure(&fixture);
    terminal.wait_for(&[HEADS_UP]);
    kill(sidecars(terminal.process_id())[0]);
    gate.open();
    terminal.wait_for(&["Context compacted", GOES_ON]);
    assert_eq!(fixture.compactions(), 1);
    leave_nothing(&mut terminal);
}

#[test]
fn a_message_goes_to_the_agent_after_rawr_was_killed_during_the_packet() {
    let gate = ReplyGate::new();
    let script = agent(finished()).on("AND-NOW", [reply("Here you are.").input_tokens(21_000)]);
    let fixture = fixture(script.behind(":packet_request]", 0, &gate));
    let mut terminal = under_pressure(&fixture);
    terminal.wait_for(&[HEADS_UP]);
    kill(drivers(terminal.process_id())[0]);
    gate.open();
    terminal.wait_for(&["Goal: a parser with docs"]);
    type_text(&mut terminal, "AND-NOW the docs");
    terminal.wait_for(&["Here you are."]);
    assert_eq!(fixture.compactions(), 0);
    leave_nothing(&mut terminal);
}

/// The message waits in Codex until the history is rewritten and the packet is back.
#[test]
fn a_message_typed_during_the_compaction_comes_after_the_handoff() {
    let gate = ReplyGate::new();
    let script = agent(finished()).on("AND-NOW", [reply("Here you are.").input_tokens(21_000)]);
    let summary = reply("A summary by the model.").input_tokens(105_000).behind(&gate);
    let fixture = fixture(script.on_compaction([summary]));
    let mut terminal = under_pressure(&fixture);
    wait_until("the compaction", || fixture.compactions() == 1);
    type_text(&mut terminal, "AND-NOW the docs");
    gate.open();
    terminal.wait_for(&["Context compacted", "Here you are."]);
    let last = fixture.requests().pop().unwrap();
    let said = last.user_messages();
    let at = |words: &str| said.iter().position(|text| text.contains(words));
    assert!(at(HANDOFF) < at("AND-NOW") && at(HANDOFF).is_some(), "{said:#?}");
    leave_nothing(&mut terminal);
}
