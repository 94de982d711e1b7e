//! What happens to a session while its agent writes the packet: a person types or leaves, the sidecar dies, another session runs.

use rawr_tests::mock_chat::{ChatPurpose, ChatScript, reply};
use rawr_tests::mock_responses::ReplyGate;
use rawr_tests::{ExecOutput, MockChat, wait_until};

use super::fixture::{EmbeddedFixture, shell};
use crate::fixture::{PACKET, end, interrupted, on_a_terminal};
#[cfg(target_os = "linux")]
use crate::processes::{kill, with_environment};

const WINDOW: u64 = 10_000;
const TASK: &str = "WRITE-PARSER please";
const NEXT: &str = "AND-NOW the user guide";

/// An agent that commits and concludes under pressure, and writes its packet when the gate opens.
fn agent(gate: &ReplyGate) -> ChatScript {
    let commit = shell("git commit -q --allow-empty -m 'Add the parser'");
    ChatScript::default()
        .on_each(ChatPurpose::Summary, [reply("A SUMMARY.")])
        .on(":packet_request]", [reply(PACKET).input_tokens(3_200).behind(gate)])
        .on(":handoff]", [reply("Writing the docs now.").input_tokens(1_000)])
        .on("AND-NOW", [reply("Writing the docs now.").input_tokens(1_100)])
        .on(
            "WRITE-PARSER",
            [
                commit.input_tokens(3_000),
                reply("The parser is written and committed.").input_tokens(3_100),
            ],
        )
}

fn asked_for_packets(model: &MockChat) -> usize {
    let requests = model.requests();
    requests.iter().filter(|request| request.latest().ends_with(":packet_request]")).count()
}

/// How often the model is sent these words in its last request.
fn occurrences(model: &MockChat, words: &str) -> usize {
    let last = model.requests().pop().unwrap().transcript();
    last.iter().map(|line| line.matches(words).count()).sum()
}

#[test]
fn a_message_typed_during_the_packet_comes_with_the_handoff() {
    let gate = ReplyGate::new();
    let model = MockChat::start(agent(&gate));
    let fixture = EmbeddedFixture::on_endpoint(&model, WINDOW);
    let mut terminal = on_a_terminal(&fixture.command(&[]));
    terminal.press(&format!("{TASK}\r"));
    wait_until("a request for the packet", || asked_for_packets(&model) > 0);
    terminal.press(&format!("{NEXT}\r"));
    terminal.wait_for(&["held until the handoff"]);
    gate.open();
    terminal.wait_for(&["Writing the docs now."]);
    end(terminal);
    assert_eq!(asked_for_packets(&model), 1);
    let last = model.requests().pop().unwrap().transcript().join("\n");
    assert!(last.find(":handoff]") < last.find(NEXT), "{last}");
    assert_eq!(occurrences(&model, NEXT), 1, "{last}");
}

#[test]
fn a_session_interrupted_during_the_packet_shows_what_was_not_sent() {
    let gate = ReplyGate::new();
    let model = MockChat::start(agent(&gate));
    let fixture = EmbeddedFixture::on_endpoint(&model, WINDOW);
    let session = fixture.start(&[TASK, NEXT]);
    wait_until("a request for the packet", || asked_for_packets(&model) > 0);
    let done = interrupted(session);
    gate.open();
    assert!(done.story().ends_with(&format!("[not sent: {NEXT}]\n")), "{}", done.story());
    assert_eq!(occurrences(&model, NEXT), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_sidecar_killed_during_the_packet_is_replaced_and_nothing_runs_twice() {
    let gate = ReplyGate::new();
    let model = MockChat::start(agent(&gate));
    let fixture = EmbeddedFixture::on_endpoint(&model, WINDOW);
    let session = fixture.start(&[TASK, NEXT]);
    wait_until("a request for the packet", || asked_for_packets(&model) > 0);
    let mut processes = with_environment(&fixture.home.path().display().to_string()).into_iter();
    let (sidecar, _) = processes.find(|(_, line)| line.contains(" serve")).unwrap();
    kill(sidecar);
    gate.open();
    let done = ExecOutput::of(session.wait_with_output().unwrap());
    done.expect_success();
    let requests = model.requests();
    let summaries = requests.iter().filter(|request| request.purpose == ChatPurpose::Summary);
    assert_eq!(summaries.count(), 1, "{}", done.story());
    assert_eq!((asked_for_packets(&model), occurrences(&model, NEXT)), (1, 1), "{}", done.story());
}

#[test]
fn two_sessions_at_once_hand_over_their_own_work() {
    let gate = ReplyGate::new();
    let model = MockChat::start(agent(&gate));
    let fixture = EmbeddedFixture::on_endpoint(&model, WINDOW);
    let tasks = ["WRITE-PARSER for dates", "WRITE-PARSER for names"];
    // Two commits at once in one repository would refuse each other.
    let sessions = [1, 2].map(|count| {
        let session = fixture.start(&[tasks[count - 1]]);
        wait_until("a request for the packet", || asked_for_packets(&model) == count);
        session
    });
    gate.open();
    for session in sessions {
        ExecOutput::of(session.wait_with_output().unwrap()).expect_success();
    }
    let requests = model.requests();
    let handed_over: Vec<_> = requests
        .iter()
        .filter(|request| request.latest().ends_with(":handoff]"))
        .map(|request| {
            let said = request.transcript().join("\n");
            tasks.map(|task| said.contains(task))
        })
        .collect();
    assert!(
        handed_over.len() == 2
            && [[true, false], [false, true]].iter().all(|it| handed_over.contains(it)),
        "{handed_over:?}"
    );
}
