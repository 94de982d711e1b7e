//! Sessions beside each other, and sessions whose window is unknown or changes.

use serde_json::{Value, json};

use super::agent::{
    FULL, HOSTS, MODEL, PlayedAgent, WINDOW, asks_for_packet, claude_turn, codex_turn, count,
    hands_over, packet, tells_to_compact,
};
use super::sequences::with_spec;

/// Each hook of one session is followed by the same hook of the other.
#[test]
fn two_sessions_in_one_home_get_their_own_packets() {
    for host in HOSTS {
        let fixture = with_spec();
        let packets = [packet("write the docs"), packet("write the tests")];
        let mut agents = ["one", "two"].map(|session| PlayedAgent::new(&fixture, host, session));
        for agent in &mut agents {
            agent.works();
            assert!(asks_for_packet(&agent.stops()), "{host}: {}", agent.events());
        }
        for (agent, packet) in agents.iter_mut().zip(&packets) {
            let told = agent.answers(packet);
            assert!(tells_to_compact(&told), "{host}: {told}");
        }
        agents.iter_mut().for_each(|agent| agent.begins_to_compact("manual"));
        let backs = agents.each_ref().map(|agent| agent.starts("compact"));
        for (back, packet) in backs.iter().zip(&packets) {
            assert!(hands_over(back, packet), "{host}: {back}");
        }
        for agent in &agents {
            let events = agent.events();
            for words in ["\"sequence_started\"", "\"packet_taken\"", r#""ending":"completed""#] {
                assert_eq!(count(&events, words), 1, "{host} {words}: {events}");
            }
        }
        assert_eq!((fixture.is_open(), fixture.log()), (false, String::new()));
    }
}

/// The agent was ended, or waits for a user who is away.
#[test]
fn a_session_whose_next_hook_never_comes_disturbs_no_other() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut away = PlayedAgent::new(&fixture, host, "away");
        away.works();
        assert!(asks_for_packet(&away.stops()), "{host}: {}", away.events());
        let (left, events) = (away.left(), away.events());
        assert_eq!(left["awaits"], "answer");

        let mut other = PlayedAgent::new(&fixture, host, "other");
        other.is_compacted_once(&packet("write the tests"));
        assert_eq!((away.left(), away.events()), (left, events), "{host}");

        away.works();
        let again = away.stops();
        assert!(asks_for_packet(&again), "{host}: {again}");
        let told = away.answers(&packet("write the docs"));
        assert!(tells_to_compact(&told), "{host}: {told}");
        let back = away.compacts("manual");
        assert!(hands_over(&back, &packet("write the docs")), "{host}: {back}");
        let events = away.events();
        for (words, times) in [
            (r#""ending":"cancelled""#, 1),
            (r#""ending":"completed""#, 1),
            ("\"packet_taken\"", 1),
        ] {
            assert_eq!(count(&events, words), times, "{host} {words}: {events}");
        }
        assert_eq!((fixture.is_open(), fixture.log()), (false, String::new()));
    }
}

#[test]
fn nothing_is_decided_while_the_window_is_unknown() {
    let fixture = with_spec();
    let mut agent = PlayedAgent::new(&fixture, "codex", "s");
    agent.writes(codex_turn(FULL, None));
    assert_eq!(agent.stops(), Value::Null);
    assert_eq!((agent.events(), agent.left(), fixture.log()), Default::default());
    // A user who knows it names it.
    agent.options = vec!["--context-window", "200000"];
    let asked = agent.stops();
    assert!(asks_for_packet(&asked), "{asked}");
}

/// The user chooses a model with a smaller window, between two turns and while the packet is written.
#[test]
fn a_changed_window_counts_from_the_next_turn_on() {
    const LARGE: u64 = 1_000_000;
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = PlayedAgent::new(&fixture, host, "s");
        let turn = |window: u64| match host {
            "codex" => codex_turn(FULL, Some(window)),
            _ if window == LARGE => claude_turn("claude-opus-5-5", FULL),
            _ => claude_turn(MODEL, FULL),
        };
        agent.writes(turn(LARGE));
        assert_eq!(agent.stops(), Value::Null, "{host}");
        agent.writes([json!({"type": "event_msg", "payload": {"type": "task_complete"}})]);
        agent.writes(turn(WINDOW));
        let asked = agent.stops();
        assert!(asks_for_packet(&asked), "{host}: {asked}");
        // What was decided in the smaller one goes on in the larger.
        agent.writes(turn(LARGE));
        let told = agent.answers(&packet("write the docs"));
        assert!(tells_to_compact(&told), "{host}: {told}");
        let back = agent.compacts("manual");
        assert!(hands_over(&back, &packet("write the docs")), "{host}: {back}");
        assert_eq!(fixture.log(), "");
    }
}
