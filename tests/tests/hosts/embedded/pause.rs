//! Compaction is paused after compactions that did not help.

use rawr_tests::MockChat;
use rawr_tests::mock_chat::{ChatPurpose, ChatScript, call, http, reply};
use serde_json::json;

use super::fixture::EmbeddedFixture;

#[test]
fn a_pause_of_compaction_is_reported_at_the_end_and_in_status() {
    let commit = json!({ "command": "git commit -q --allow-empty -m 'Add the parser'" });
    let script = ChatScript::default()
        .on_each(ChatPurpose::Summary, [http(400, "no summary today")])
        .on(":heads_up]", [reply("ok").input_tokens(3_200)])
        .on(
            "the parser",
            [call("shell", commit), reply("The parser is written and committed.")]
                .map(|reply| reply.input_tokens(3_100)),
        );
    let model = MockChat::start(script);
    let fixture = EmbeddedFixture::on_endpoint(&model, 10_000);
    fixture.configure("[rawr_auto_compaction]\npacket_author = \"watcher\"\nbreaker_strikes = 1\n");
    let done = fixture.exec(&["the parser"]);
    done.expect_success();
    let paused =
        "compaction is paused: the last compaction failed; rawr compacts again when less than";
    assert!(done.notices().iter().any(|notice| notice.contains(paused)), "{}", done.dump());
    let status = fixture.rawr(&["status"]);
    for line in
        ["outcome    failed: the compaction failed: ", "paused     the last compaction failed"]
    {
        assert!(status.contains(line), "{status}");
    }
}
