//! `rawr exec --host claude` asks a small model of the same login about each message that it holds.

use rawr_tests::ExecOutput;
use rawr_tests::mock_responses::{TurnReply, http_error, reply, stall};

use super::fixture::ClaudeExecFixture;
use super::session;

const NEXT: &str = "Thanks, that works. Next, AND-NOW write the user guide.";

/// The process of a judge takes its time to start on a busy machine.
const PATIENT: &str = "rawr_auto_compaction.judgment.wait_seconds=60";

fn exec(judgment: TurnReply, message: &str) -> (ClaudeExecFixture, ExecOutput) {
    exec_with(&["-c", PATIENT], judgment, message)
}

fn exec_with(
    options: &[&str],
    judgment: TurnReply,
    message: &str,
) -> (ClaudeExecFixture, ExecOutput) {
    let pushed = [reply("Everything is committed and pushed.").input_tokens(106_000)];
    let script = session().on("PUSH-IT", pushed).on_judgment([judgment]);
    let fixture = ClaudeExecFixture::new(script);
    let done = fixture.exec(&[options, &["WRITE-PARSER please", message]].concat());
    done.expect_success();
    (fixture, done)
}

#[test]
fn a_no_lets_the_message_go_at_once() {
    let no = reply(r#"{"should_compact": false, "reason": "It asks about the parser."}"#);
    let (fixture, done) = exec(no, NEXT);
    assert_eq!((fixture.model.judgments().len(), done.all("compaction").len()), (1, 0));
    for request in fixture.model.requests() {
        let text = request.body.to_string();
        assert!(!text.contains("next_message_of_the_user"), "{text}");
    }
}

#[test]
fn without_an_answer_the_words_of_the_message_decide() {
    for judgment in [stall(), http_error(429), http_error(403), reply("Nice weather today.")] {
        let case = format!("{judgment:?}");
        let (fixture, done) = exec_with(&[], judgment, NEXT);
        assert!(!fixture.model.judgments().is_empty(), "{case}");
        assert_eq!(done.all("handoff").len(), 1, "{case}");
        let requests = fixture.model.requests();
        let heard = requests.last().unwrap().user_texts();
        assert_eq!(heard.last(), Some(&NEXT), "{case}");
    }
}

#[test]
fn a_message_that_closes_is_carried_out_before_the_compaction() {
    let yes = reply(r#"{"should_compact": true, "reason": "It closes."}"#);
    let (fixture, done) = exec(yes, "Great. PUSH-IT: commit the rest and push, please");
    let requests = fixture.model.requests();
    let at = |marker: &str| requests.iter().position(|it| it.marker.as_deref() == Some(marker));
    assert!(at("PUSH-IT").is_some() && at("PUSH-IT") < at("packet_request]"));
    assert_eq!(done.all("handoff").len(), 1);
}
