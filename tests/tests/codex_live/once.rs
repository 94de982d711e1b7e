//! Whoever of rawr's dies while Codex compacts or writes the packet: the next one looks at what Codex has done meanwhile,
//! and asks for nothing twice.

use rawr_tests::mock_responses::{Gate, Purpose, Script, say};

use super::deaths::{drivers, kill, nothing_is_left, wait_until};
use super::lab::{GOES_ON, Lab, TASK, agent as typing_agent, leave, say_to};
use super::person::Beside;
use super::races::agent;

fn compacting_behind(script: Script, gate: &Gate) -> Script {
    script.on_compaction([say("A summary by the model.").input_tokens(146_000).behind(gate)])
}

fn asked_for(lab: &Lab, marker: &str) -> usize {
    let requests = lab.requests();
    let asks = requests.iter().filter(|request| {
        request.purpose == Purpose::Turn && request.marker.as_deref() == Some(marker)
    });
    asks.count()
}

fn everything_happened_once(lab: &Lab) {
    assert_eq!(lab.compactions(), 1, "{}", lab.log());
    assert_eq!(asked_for(lab, ":packet_request]"), 1, "{}", lab.log());
    assert_eq!(asked_for(lab, ":handoff]"), 1, "{}", lab.log());
}

/// The driver is killed when the model is asked; Codex goes on to `seen`, ends, and is resumed.
fn killed_and_resumed(script: Script, gate: &Gate, is_asked: fn(&Lab) -> bool, seen: &str) {
    let lab = Lab::new(script);
    let mut terminal = lab.on_a_terminal(&[]);
    let session = terminal.process_id();
    say_to(&mut terminal, TASK);
    wait_until("the request", || is_asked(&lab));
    kill(drivers(session)[0]);
    gate.open();
    terminal.wait_for(&[seen]);
    assert!(leave(&mut terminal).success());
    nothing_is_left(session);
    let mut terminal = lab.on_a_terminal(&["resume", "--last"]);
    let session = terminal.process_id();
    terminal.wait_for(&[GOES_ON]);
    everything_happened_once(&lab);
    assert!(leave(&mut terminal).success());
    nothing_is_left(session);
}

#[test]
fn a_compaction_that_codex_finished_alone_is_not_done_again() {
    let gate = Gate::new();
    let script = compacting_behind(typing_agent(), &gate);
    killed_and_resumed(script, &gate, |lab| lab.compactions() == 1, "Context compacted");
}

#[test]
fn a_packet_that_was_written_for_nobody_is_not_asked_for_again() {
    let gate = Gate::new();
    let script = typing_agent().behind(":packet_request]", 0, &gate);
    let is_asked = |lab: &Lab| asked_for(lab, ":packet_request]") == 1;
    killed_and_resumed(script, &gate, is_asked, "Goal: a parser with docs");
}

/// Another one joins while Codex is still at it.
async fn killed_and_joined(script: Script, gate: &Gate, asked: &str) {
    let mut beside = Beside::new(script).await;
    beside.person.says(TASK).await.unwrap();
    beside.model_is_asked(asked).await;
    beside.rawr.kill().unwrap();
    beside.rawr.wait().unwrap();
    beside.attach_again();
    beside.tells("session", |_| true).await;
    gate.open();
    beside.person.hears(GOES_ON).await;
    beside.check(&["WRITE-PARSER", "HANDOFF", "LAST-WORD"]).await;
    everything_happened_once(&beside.lab);
}

#[tokio::test]
async fn a_packet_that_is_being_written_is_waited_for() {
    let gate = Gate::new();
    let script = agent().behind(":packet_request]", 0, &gate);
    killed_and_joined(script, &gate, ":packet_request]").await;
}

#[tokio::test]
async fn a_compaction_that_runs_is_waited_for() {
    let gate = Gate::new();
    let script = compacting_behind(agent(), &gate);
    killed_and_joined(script, &gate, "compaction").await;
}
