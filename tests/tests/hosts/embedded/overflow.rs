//! A model that refuses the conversation as too long although rawr sees room.

use rawr_tests::MockChat;
use rawr_tests::mock_chat::{ChatModelReply, ChatPurpose, ChatScript, http, reply};

use super::fixture::{EmbeddedFixture, shell};

const READ: &str = "I have read the files of the folder. The parser comes next.";

fn refused() -> ChatModelReply {
    http(400, "This model's maximum context length is 60000 tokens.")
}

fn agent(first: impl IntoIterator<Item = ChatModelReply>) -> MockChat {
    let script = ChatScript::default()
        .first(first)
        .on_each(ChatPurpose::Summary, [reply("A SUMMARY BY THE MODEL")])
        .on("write the parser", [reply("The parser is written.")])
        .on("now its docs", [reply("The docs are written.")])
        .on(":handoff]", [reply("All of it is done.")]);
    MockChat::start(script)
}

// rule: overflow.emergency
// rule: overflow.continues
// rule: overflow.learned-window
#[test]
fn a_refused_message_is_answered_after_one_compaction() {
    let model = agent([reply(READ).input_tokens(50_000), refused()]);
    let fixture = EmbeddedFixture::on_endpoint(&model, 1_000_000);
    let done = fixture.exec(&["read the files", "write the parser", "now its docs"]);
    done.expect_success();
    expect_test::expect![[r#"
        user: read the files
          agent: I have read the files of the folder. The parser comes next.
        turn completed
        user: write the parser
        turn failed
        [notice: the turn failed: the conversation does not fit the model's context window: POST …]
        [compact by turn_complete]
        [heads-up will_compact]
        [held: write the parser]
        [packet by watcher]
        [compaction in_progress]
        [compaction completed]
        turn completed
        rawr: handoff
        user: write the parser
          agent: The parser is written.
        turn completed
        user: now its docs
          agent: The docs are written.
        turn completed
    "#]]
    .assert_eq(&done.story());
    let requests = model.requests();
    let transcript = requests[3].transcript();
    let messages: Vec<_> =
        transcript.iter().filter(|line| line.contains("write the parser")).collect();
    assert_eq!(messages, ["user: write the parser"], "{transcript:?}");
    // With the window of the option it would be 100%.
    let status = fixture.rawr(&["status", "last"]);
    assert!(status.contains("98% left"), "{status}");
}

// rule: overflow.continues
#[test]
fn work_that_was_refused_in_its_middle_continues_with_the_handoff() {
    let model = agent([shell("true").input_tokens(50_000), refused()]);
    let done = EmbeddedFixture::on_endpoint(&model, 1_000_000).exec(&["write the parser"]);
    done.expect_success();
    expect_test::expect![[r#"
        user: write the parser
          ran true
        turn failed
        [notice: the turn failed: the conversation does not fit the model's context window: POST …]
        [compact by turn_complete]
        [heads-up will_compact]
        [packet by watcher]
        [compaction in_progress]
        [compaction completed]
        turn completed
        rawr: handoff
          agent: The parser is written.
        turn completed
    "#]]
    .assert_eq(&done.story());
}

// rule: overflow.once
// rule: overflow.says-why
#[test]
fn a_message_that_never_fits_ends_with_an_error() {
    let summary = reply("A SUMMARY BY THE MODEL");
    let model = agent([reply(READ), refused(), summary, refused()]);
    let fixture = EmbeddedFixture::on_endpoint(&model, 1_000_000);
    let done = fixture.exec(&["read the files", "write the parser"]);
    assert_eq!(done.output.status.code(), Some(1), "{}", done.dump());
    let notices = done.notices().join("\n");
    for words in ["a compaction was not enough", "send a shorter message"] {
        assert!(notices.contains(words), "{notices}");
    }
    assert_eq!((model.requests().len(), done.all("packet").len()), (4, 1), "{}", done.dump());
}

/// A message that is too large would otherwise be part of every later request.
#[test]
fn a_refused_message_is_no_part_of_the_next_request() {
    let model = agent([refused()]);
    let fixture = EmbeddedFixture::on_endpoint(&model, 1_000_000);
    fixture.configure("[rawr_auto_compaction]\nmode = \"tag\"\n");
    let done = fixture.exec(&["write the parser", "now its docs"]);
    assert_eq!(done.said(), ["The docs are written."], "{}", done.dump());
    let next = model.requests()[1].transcript();
    assert!(!next.join("\n").contains("write the parser"), "{next:?}");
}
