//! A sequence between hooks: what the user and the agent do in the middle of it.

use rawr_tests::configure_with_spec;
use rawr_tests::mock_responses::TurnScript;
use serde_json::{Value, json};

use super::agent::{
    HOSTS, PlayedAgent, asks_for_packet, count, handoff, hands_over, packet, tells_to_compact,
};
use super::fixture::HooksFixture;

pub const DOCS: &str = "write the docs of parser.txt";

/// A compaction may follow another at once.
const AT_ONCE: &str =
    "[rawr_auto_compaction]\nrearm_tokens = 0\ncooldown_turns = 0\nbreaker_strikes = 0\n";

pub fn with_spec() -> HooksFixture {
    let fixture = HooksFixture::new(TurnScript::default());
    configure_with_spec(fixture.home.path(), AT_ONCE);
    fixture
}

/// An agent that was asked for its packet.
pub fn asked<'f>(fixture: &'f HooksFixture, host: &'static str) -> PlayedAgent<'f> {
    let mut agent = PlayedAgent::new(fixture, host, "s");
    agent.works();
    let answer = agent.stops();
    assert!(asks_for_packet(&answer), "{host}: {answer}");
    agent
}

/// An agent whose packet is ready.
pub fn ready<'f>(fixture: &'f HooksFixture, host: &'static str, packet: &str) -> PlayedAgent<'f> {
    let mut agent = asked(fixture, host);
    let answer = agent.answers(packet);
    assert!(tells_to_compact(&answer), "{host}: {answer}");
    agent
}

/// So many sequences, of which only the last one was completed, with one packet and one handoff.
#[track_caller]
fn only_the_last_was_completed(agent: &PlayedAgent, sequences: usize) {
    let events = agent.events();
    let ends = ["cancelled", "completed"].map(|end| format!(r#""ending":"{end}""#));
    let ends = ends.map(|end| count(&events, &end));
    assert_eq!(ends, [sequences - 1, 1], "{}: {events}", agent.host);
    assert_eq!(count(&events, "\"sequence_started\""), sequences, "{}: {events}", agent.host);
    assert_eq!(count(&events, "\"packet_taken\""), 1, "{}: {events}", agent.host);
    assert_eq!(agent.fixture.log(), "");
}

/// The agent reads the message in the turn in which it was asked for the packet.
#[test]
fn a_message_sent_while_the_packet_is_written_cancels_the_sequence() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = asked(&fixture, host);
        agent.is_told("And now the docs");
        assert_eq!(agent.left(), json!({"awaits": "turns_end"}));
        // The packet comes late, for a sequence that is over.
        let late = agent.answers(&packet("nothing"));
        assert!(!tells_to_compact(&late), "{host}: {late}");
        agent.is_compacted_once(&packet(DOCS));
        let events = agent.events();
        let asked = count(&events, "\"sequence_started\"");
        only_the_last_was_completed(&agent, asked);
    }
}

/// An interruption calls no hook; some agents call none for the next message either.
#[test]
fn an_interrupted_agent_is_asked_again() {
    for host in HOSTS {
        for is_told in [true, false] {
            let fixture = with_spec();
            let mut agent = asked(&fixture, host);
            if is_told {
                agent.is_told("Write it again");
            }
            agent.works();
            let again = agent.stops();
            assert!(asks_for_packet(&again), "{host}: {again}");
            let told = agent.answers(&packet(DOCS));
            assert!(tells_to_compact(&told), "{host}: {told}");
            let back = agent.compacts("manual");
            assert!(hands_over(&back, &packet(DOCS)), "{host}: {back}");
            only_the_last_was_completed(&agent, 2);
        }
    }
}

/// How the events record the compaction, and what the agent is told after it.
fn compacted(agent: &mut PlayedAgent) -> (Vec<String>, Value) {
    let back = agent.compacts("auto");
    let events = agent.events();
    let reports = events.lines().filter_map(|line| line.split_once("\"compaction_reported\":"));
    let reports = reports.map(|(_, report)| report.split("}").next().unwrap().to_owned());
    assert_eq!((agent.left(), agent.fixture.log()), (Value::Null, String::new()));
    // Nothing is told twice.
    for source in ["resume", "startup"] {
        assert_eq!(agent.starts(source), Value::Null);
    }
    (reports.collect(), back)
}

fn reported(origin: &str) -> Vec<String> {
    let report = |status| format!(r#"{{"status":"{status}","origin":"{origin}""#);
    ["started", "completed"].map(report).to_vec()
}

#[test]
fn a_compaction_by_the_agent_itself_is_recorded_and_followed_by_a_handoff() {
    for host in HOSTS {
        // The sequence is over.
        let fixture = with_spec();
        let mut agent = asked(&fixture, host);
        agent.is_told("And now the docs");
        let (reports, back) = compacted(&mut agent);
        assert_eq!(reports, reported("host"), "{host}");
        let text = handoff(&back).unwrap_or_else(|| panic!("{host}: {back}"));
        assert!(text.contains("Built by rawr"), "{host}: {text}");
    }
}

/// The compaction comes where rawr waits for one.
#[test]
fn a_compaction_by_the_agent_itself_takes_the_packet_that_is_ready() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = ready(&fixture, host, &packet(DOCS));
        let (reports, back) = compacted(&mut agent);
        assert_eq!(reports, reported("rawr"), "{host}");
        assert!(hands_over(&back, &packet(DOCS)), "{host}: {back}");
        only_the_last_was_completed(&agent, 1);
    }
}

/// The context is full before the agent has answered.
#[test]
fn a_compaction_by_the_agent_itself_replaces_the_packet_that_was_asked_for() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = asked(&fixture, host);
        let (reports, back) = compacted(&mut agent);
        assert_eq!(reports, reported("host"), "{host}");
        let text = handoff(&back).unwrap_or_else(|| panic!("{host}: {back}"));
        assert!(text.contains("Built by rawr"), "{host}: {text}");
        let events = agent.events();
        let ends = ["cancelled", "completed"].map(|end| format!(r#""ending":"{end}""#));
        assert_eq!(ends.map(|end| count(&events, &end)), [1, 1], "{host}: {events}");
        // What was asked for before it is no answer any more.
        assert_eq!(agent.answers(&packet(DOCS)), Value::Null);
        agent.is_compacted_once(&packet("write the tests"));
    }
}
