//! `rawr exec --host codex` hears what it cannot read, from the start of each turn on.

use expect_test::expect;
use rawr_tests::codex::binary;

use super::fixture::{CodexExecFixture, PACKET};
use super::session;
use crate::fixture::{tells_once_a_turn, with_edited_output, with_noise, without_notices};
use crate::live::codex::unreadable::{NOISE, TOLD};

#[test]
fn lines_that_cannot_be_read_are_told_and_change_nothing() {
    let fixture = CodexExecFixture::new(session(PACKET));
    let starts = "\"turn/started\"";
    let codex = with_noise(fixture.home.path(), &binary(), "app-server", starts, &NOISE);
    let fixture = CodexExecFixture { codex, ..fixture };
    let done = fixture.exec(&["WRITE-PARSER please", "AND-NOW the docs"]);
    done.expect_success();
    tells_once_a_turn(&done, &TOLD);
    expect![[r#"
        user: WRITE-PARSER please
          ran printf 'parse\\n' > parser.txt && git add -A && git commit -q -m 'Add the parser…
          agent: The parser is written and committed.
        turn completed
        [compact by turn_complete]
        [heads-up will_compact]
        rawr: packet_request
          agent: <continuation_packet>
        turn completed
        [packet by agent]
        [compaction in_progress]
        [compaction completed]
        turn completed
        rawr: handoff
          agent: Writing the docs now.
        turn completed
        user: AND-NOW the docs
          agent: Here is an outline of the docs.
        turn completed
    "#]]
    .assert_eq(&without_notices(&done));
}

/// What the agent says stands in messages of its own and in the end of its turn.
#[test]
fn an_item_that_cannot_be_read_does_not_hide_the_end_of_its_turn() {
    let fixture = CodexExecFixture::new(session(PACKET));
    let edit = "s|\"text\":\"<continuation_packet>|\"text\":7,\"said\":\"<continuation_packet>|g\n";
    let codex = with_edited_output(fixture.home.path(), &binary(), "app-server", edit);
    let fixture = CodexExecFixture { codex, ..fixture };
    let done = fixture.exec(&["WRITE-PARSER please", "AND-NOW the docs"]);
    done.expect_success();
    assert_eq!(done.all("handoff").len(), 1, "{}", done.dump());
    assert_eq!(done.said().last(), Some(&"Here is an outline of the docs."));
}
