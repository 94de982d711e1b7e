//! Compactions that do not help, and how a session tells that they are paused.

use rawr_tests::MockChat;
use rawr_tests::mock_chat::{Purpose, Script, call, http, say};
use serde_json::json;

use super::lab::Lab;

#[test]
fn a_pause_of_compactions_is_told_at_the_end_and_in_status() {
    let commit = json!({ "command": "git commit -q --allow-empty -m 'Add the parser'" });
    let script = Script::default()
        .on_each(Purpose::Summary, [http(400, "no summary today")])
        .on(":heads_up]", [say("ok").input_tokens(3_200)])
        .on(
            "the parser",
            [call("shell", commit), say("The parser is written and committed.")]
                .map(|reply| reply.input_tokens(3_100)),
        );
    let model = MockChat::start(script);
    let lab = Lab::on_endpoint(&model, 10_000);
    lab.configure("[rawr_auto_compaction]\npacket_author = \"watcher\"\nbreaker_strikes = 1\n");
    let done = lab.exec(&["the parser"]);
    done.expect_success();
    let paused =
        "compactions are paused: the last compaction failed; rawr compacts again when less than";
    assert!(done.notices().iter().any(|notice| notice.contains(paused)), "{}", done.dump());
    let status = lab.rawr(&["status"]);
    for line in
        ["outcome    failed: the compaction failed: ", "paused     the last compaction failed"]
    {
        assert!(status.contains(line), "{status}");
    }
}
