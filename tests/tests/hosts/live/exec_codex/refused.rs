//! A message that Codex accepts alone but not together with the handoff, because both are too long.

use std::io::Write;
use std::process::Stdio;

use rawr_tests::ExecOutput;
use rawr_tests::mock_responses::{TurnScript, reply};

use super::fixture::{CodexExecFixture, PACKET};

/// The most characters of all that one turn is sent, by Codex's own count.
const MOST_CHARACTERS: usize = 1_048_576;

#[test]
fn a_message_too_long_for_its_handoff_is_sent_alone() {
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
    let mut long = "AND-NOW the docs".to_owned();
    long.extend(std::iter::repeat_n('.', MOST_CHARACTERS - long.len() - 100));
    let mut command = fixture.command(&["--lines"]);
    let mut exec = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut typed = exec.stdin.take().unwrap();
    typed.write_all(format!("WRITE-PARSER please\n{long}\n").as_bytes()).unwrap();
    drop(typed);
    let session = ExecOutput::of(exec.wait_with_output().unwrap());
    session.expect_success();
    let compacted = session.all("compaction");
    assert!(compacted.iter().any(|it| it["status"] == "completed"), "{}", session.dump());
    let notices = session.notices().join("\n");
    assert!(notices.contains("sending the held message without it"), "{notices}");
    let requests = fixture.model.requests();
    let times = requests
        .iter()
        .map(|request| request.user_messages().iter().filter(|text| text.ends_with(&long)).count());
    assert_eq!(times.max(), Some(1), "{}", session.story());
}
