//! `rawr exec --host claude` hears what it cannot read, from the start of each turn on.

use expect_test::expect;
use rawr_tests::claude::binary;

use super::fixture::ClaudeExecFixture;
use super::session;
use crate::fixture::{tells_once_a_turn, with_edited_output, with_noise, without_notices};

const NEXT: &str = "Thanks, that works. Next, AND-NOW write the user guide.";

/// No JSON, half of a line, no UTF-8, JSON of no meaning, kinds that rawr does not know, and parts of another type.
const NOISE: [&[u8]; 11] = [
    b"no JSON at all",
    br#"{"type":"result","subtype":"success","result":"#,
    b"\xff\xfe not in UTF-8",
    b"null",
    br#"{"type":7}"#,
    br#"{"subtype":"init"}"#,
    br#"{"type":"no_such_line","subtype":"init"}"#,
    br#"{"type":"system","subtype":"no_such_line"}"#,
    br#"{"type":"control_response","response":{"subtype":"success","request_id":"none"}}"#,
    br#"{"type":"assistant","message":7}"#,
    br#"{"type":"stream_event","event":{"type":"message_start","message":[]}}"#,
];

/// What a person is told of it, each once.
const TOLD: [&str; 7] = [
    "unexpected output from claude: no JSON at all",
    "unexpected output from claude: {\"type\":\"result\"",
    "unexpected output from claude: \u{fffd}\u{fffd} not in UTF-8",
    "failed to parse a line from claude: invalid type: null",
    "failed to parse a line from claude: invalid type: integer `7`, expected variant",
    "failed to parse a line from claude: missing field `type`",
    "failed to parse a line from claude: invalid type: integer `7`, expected struct",
];

#[test]
fn lines_that_cannot_be_read_are_told_and_change_nothing() {
    let fixture = ClaudeExecFixture::new(session());
    let starts = "\"subtype\":\"init\"";
    let claude = with_noise(fixture.home.path(), &binary(), "stream-json", starts, &NOISE);
    let fixture = ClaudeExecFixture { claude, ..fixture };
    let done = fixture.exec(&["WRITE-PARSER please", NEXT]);
    done.expect_success();
    tells_once_a_turn(&done, &TOLD);
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
    .assert_eq(&without_notices(&done));
}

/// What the agent says stands at the end of its turn as well.
#[test]
fn a_packet_in_a_line_that_cannot_be_read_is_not_lost() {
    let fixture = ClaudeExecFixture::new(session());
    let edit = "s|\"text\":\"<continuation_packet>|\"text\":7,\"said\":\"<continuation_packet>|g\n";
    let claude = with_edited_output(fixture.home.path(), &binary(), "stream-json", edit);
    let fixture = ClaudeExecFixture { claude, ..fixture };
    let done = fixture.exec(&["WRITE-PARSER please", NEXT]);
    done.expect_success();
    assert!(!done.said().iter().any(|said| said.contains("<continuation_packet>")));
    let packet = done.one("packet", |_| true);
    assert_eq!(packet["author"], "agent", "{packet}");
    assert!(packet["packet"].as_str().unwrap().contains("a parser with docs"), "{packet}");
    assert_eq!(done.all("handoff").len(), 1, "{}", done.dump());
    assert_eq!(done.said().last(), Some(&"Writing the docs now."));
}
