//! A hook or its sidecar that dies after a report and before the hook's answer. The hook dies where its answer does not fit into
//! the pipe, the sidecar where its log may not grow.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use rawr_tests::{place_as, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::agent::{HOSTS, PlayedAgent, SAID, count, ended, handoff, hands_over, packet};
use super::fixture::HooksFixture;
use super::sequences::{DOCS, asked, ready, with_spec};
use crate::processes::with_environment;

/// The end of a pipe that takes no further byte, and the end that is never read.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    while writer.write(&[b' '; 4096]).is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).unwrap();
    (reader, writer)
}

/// Kills the hook once it has told its sidecar everything, and before the agent hears of it.
fn dies_before_its_answer(agent: &PlayedAgent, event: &str, more: Value) {
    let closed = || count(&agent.events(), "\"thread_closed\"");
    let before = closed();
    let (_unread, full) = full_pipe();
    let mut hook = agent.command(event).stdin(Stdio::piped()).stdout(full).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(agent.input(event, more).as_bytes()).unwrap();
    let home = agent.fixture.home.path().display().to_string();
    wait_until("the end of its sidecar", || {
        closed() > before && with_environment(&home).len() == 1
    });
    hook.kill().unwrap();
    assert_eq!(hook.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
}

/// Runs a hook in whose sidecar no file may be longer than this, in blocks of 512 bytes. The sidecar dies of that, and the hook
/// answers nothing.
pub fn dies_beyond(agent: &PlayedAgent, blocks: usize, event: &str, more: Value) -> bool {
    let hook = agent.command(event);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -c 0 && ulimit -f \"$0\" && exec \"$@\"", &blocks.to_string()]);
    limited.arg(hook.get_program()).args(hook.get_args());
    place_as(&mut limited, &hook);
    let output = HooksFixture::fed(&mut limited, agent.input(event, more));
    // A hook whose own file is too long dies, too.
    let has_died = !output.status.success() || agent.fixture.log().contains("the sidecar ended");
    assert!(!has_died || output.stdout.is_empty(), "{output:?}");
    has_died
}

/// Every limit up to the one with which the sidecar lives; for each a home of its own.
pub fn each_death(mut dies: impl FnMut(usize) -> bool) {
    let deaths = (0..).take_while(|blocks| dies(*blocks)).count();
    assert!(deaths > 2, "{deaths}");
}

pub fn blocks_of(agent: &PlayedAgent) -> usize {
    agent.events().len() / 512
}

/// No sequence is left open, and nothing waits for the next hook.
#[track_caller]
pub fn is_settled(agent: &PlayedAgent) {
    let events = agent.events();
    let ended = count(&events, "\"sequence_ended\"");
    assert_eq!(count(&events, "\"sequence_started\""), ended, "{}: {events}", agent.host);
    assert_eq!(agent.left(), Value::Null);
}

#[test]
fn a_hook_that_dies_before_it_asks_for_the_packet_asks_with_the_next_turn() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = PlayedAgent::new(&fixture, host, "s");
        agent.works();
        dies_before_its_answer(&agent, "Stop", ended(false, SAID));
        assert_eq!(agent.left()["awaits"], "answer");
        agent.is_compacted_once(&packet(DOCS));
        is_settled(&agent);
        let events = agent.events();
        assert_eq!(count(&events, r#""ending":"cancelled""#), 1, "{host}: {events}");
        assert_eq!(count(&events, "\"packet_taken\""), 1, "{host}: {events}");
        assert_eq!(fixture.log(), "");
    }
}

/// The user compacts without having been told.
#[test]
fn a_packet_is_handed_over_although_the_hook_that_took_it_died() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = asked(&fixture, host);
        dies_before_its_answer(&agent, "Stop", ended(true, &packet(DOCS)));
        assert_eq!(agent.left(), json!({"awaits": "compaction"}));
        let back = agent.compacts("manual");
        assert!(hands_over(&back, &packet(DOCS)), "{host}: {back}");
        assert_eq!(agent.starts("resume"), Value::Null);
        is_settled(&agent);
        let events = agent.events();
        assert_eq!(count(&events, r#""ending":"completed""#), 1, "{host}: {events}");
        assert_eq!(count(&events, "\"packet_taken\""), 1, "{host}: {events}");
        assert_eq!(fixture.log(), "");
    }
}

/// No process can know whether the agent has read it.
#[test]
fn a_handoff_whose_hook_died_is_not_repeated() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = ready(&fixture, host, &packet(DOCS));
        agent.begins_to_compact("manual");
        dies_before_its_answer(&agent, "SessionStart", json!({"source": "compact"}));
        assert_eq!(agent.starts("resume"), Value::Null);
        is_settled(&agent);
        agent.is_compacted_once(&packet("write the tests"));
        is_settled(&agent);
        assert_eq!(fixture.log(), "");
    }
}

/// The agent is let go without a word; what it wrote is not asked for again, and what is handed over is handed over once.
#[test]
fn a_sidecar_may_die_while_it_takes_the_packet() {
    for host in HOSTS {
        each_death(|more| {
            let fixture = with_spec();
            let mut agent = asked(&fixture, host);
            let blocks = blocks_of(&agent) + more;
            let has_died = dies_beyond(&agent, blocks, "Stop", ended(true, &packet(DOCS)));
            let back = agent.compacts("manual");
            assert!(handoff(&back).is_some(), "{host} {more}: {back}\n{}", agent.events());
            assert_eq!(agent.starts("resume"), Value::Null);
            is_settled(&agent);
            agent.is_compacted_once(&packet("write the tests"));
            is_settled(&agent);
            has_died
        });
    }
}

/// The agent is started again after its compaction.
#[test]
fn a_handoff_whose_sidecar_died_at_once_comes_on_resume() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = ready(&fixture, host, &packet(DOCS));
        agent.begins_to_compact("manual");
        let blocks = blocks_of(&agent);
        assert!(dies_beyond(&agent, blocks, "SessionStart", json!({"source": "compact"})));
        let back = agent.starts("resume");
        assert!(hands_over(&back, &packet(DOCS)), "{host}: {back}");
        assert_eq!(agent.starts("resume"), Value::Null);
        is_settled(&agent);
    }
}
