//! A message that Codex refuses as too long: together with the handoff, or even alone.

use std::io::Write;
use std::process::Stdio;

use rawr_tests::ExecOutput;
use rawr_tests::mock_responses::{TurnScript, reply};

use super::fixture::{CodexExecFixture, PACKET};

/// The most characters of all that one turn is sent, by Codex's own count.
const MOST_CHARACTERS: usize = 1_048_576;

/// A session whose second message has this many characters and is held, and whose third is short.
fn session_with(long: usize) -> (CodexExecFixture, ExecOutput, String) {
    let script = TurnScript::default()
        .on("packet_request]", [reply(PACKET).input_tokens(66_000)])
        .on("AND-NOW", [reply("Here you are.").input_tokens(14_000)])
        .on(
            "WRITE-PARSER",
            [reply("The parser is written, and so are its tests.").input_tokens(65_000)],
        )
        .on_compaction([reply("A SUMMARY.").input_tokens(66_000)]);
    let fixture = CodexExecFixture::new(script);
    fixture.configure(
        "[rawr_auto_compaction.policy.ready]\nrequires_any_boundary = [\"turn_complete\"]\n",
    );
    let mut message = "AND-NOW the docs".to_owned();
    message.extend(std::iter::repeat_n('.', long - message.len()));
    let mut command = fixture.command(&["--lines"]);
    let mut exec = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut typed = exec.stdin.take().unwrap();
    typed.write_all(format!("WRITE-PARSER please\n{message}\nTHIRD thing\n").as_bytes()).unwrap();
    drop(typed);
    let session = ExecOutput::of(exec.wait_with_output().unwrap());
    let compacted = session.all("compaction");
    assert!(compacted.iter().any(|it| it["status"] == "completed"), "{}", session.dump());
    let notices = session.notices().join("\n");
    assert!(notices.contains("sending the held message without it"), "{notices}");
    (fixture, session, message)
}

/// The most often that the model was sent this in one request.
fn times(fixture: &CodexExecFixture, message: &str) -> usize {
    let requests = fixture.model.requests();
    let times = requests.iter().map(|request| {
        request.user_messages().iter().filter(|text| text.ends_with(message)).count()
    });
    times.max().unwrap_or_default()
}

#[test]
fn a_message_too_long_for_its_handoff_is_sent_alone() {
    let (fixture, session, message) = session_with(MOST_CHARACTERS - 100);
    session.expect_success();
    assert_eq!(times(&fixture, &message), 1, "{}", session.story());
}

#[test]
fn a_message_too_long_for_any_turn_ends_the_session_and_is_quoted() {
    let (fixture, session, message) = session_with(MOST_CHARACTERS + 1);
    assert_eq!(session.output.status.code(), Some(1), "{}", session.story());
    let error = String::from_utf8_lossy(&session.output.stderr);
    assert!(error.contains("it starts with: AND-NOW the docs.."), "{error}");
    assert_eq!(times(&fixture, &message), 0, "{}", session.story());
    assert!(
        session.story().ends_with(
            "[not sent: THIRD thing]
"
        ),
        "{}",
        session.story()
    );
}
