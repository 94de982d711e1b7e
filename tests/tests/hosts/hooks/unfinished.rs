//! What one hook knows and the next one needs: sequences whose sidecar died, and turns that were reported in part or not at all.

use serde_json::{Value, json};

use super::agent::{HOSTS, PlayedAgent, SAID, count, ended, packet};
use super::killed::{blocks_of, dies_beyond, each_death, is_settled};
use super::sequences::{DOCS, asked, ready, with_spec};

#[test]
fn a_sidecar_may_die_while_it_stores_the_turn() {
    for host in HOSTS {
        each_death(|more| {
            let fixture = with_spec();
            let mut agent = PlayedAgent::new(&fixture, host, "s");
            agent.works();
            let said = ended(false, SAID);
            let has_died = dies_beyond(&agent, 1 + more, "Stop", said);
            agent.is_compacted_once(&packet(DOCS));
            is_settled(&agent);
            has_died
        });
    }
}

#[test]
fn a_sidecar_may_die_while_it_stores_the_compaction() {
    for host in HOSTS {
        each_death(|more| {
            let fixture = with_spec();
            let mut agent = ready(&fixture, host, &packet(DOCS));
            agent.begins_to_compact("manual");
            let blocks = blocks_of(&agent) + more;
            let source = json!({"source": "compact"});
            let has_died = dies_beyond(&agent, blocks, "SessionStart", source);
            agent.is_compacted_once(&packet("write the tests"));
            is_settled(&agent);
            has_died
        });
    }
}

/// Hooks pass over its turn, because the context is nearly empty.
#[test]
fn a_compaction_is_measured_by_the_turn_after_it() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = ready(&fixture, host, &packet(DOCS));
        agent.compacts("manual");
        agent.works_in(20_000);
        assert_eq!(agent.stops(), Value::Null);
        agent.works();
        agent.stops();
        let status = fixture.says(&["status"]);
        assert!(status.contains("→ 20,0"), "{host}: {status}");
    }
}

/// The turn in which the agent was asked was reported; it goes on with the user's message.
#[test]
fn a_turn_whose_sequence_was_cancelled_in_it_is_reported_once() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = asked(&fixture, host);
        agent.is_told("And now the docs");
        assert_eq!(agent.answers(&packet(DOCS)), Value::Null, "{host}");
        let events = agent.events();
        assert_eq!(count(&events, "\"command_finished\""), 1, "{host}: {events}");
    }
}

/// A `/compact` of the user in an interrupted turn.
#[test]
fn a_compaction_by_hand_instead_of_the_packet_is_recorded_as_the_users() {
    for host in HOSTS {
        let fixture = with_spec();
        let mut agent = asked(&fixture, host);
        agent.compacts("manual");
        let events = agent.events();
        assert_eq!(
            count(&events, r#""status":"completed","origin":"user""#),
            1,
            "{host}: {events}"
        );
    }
}
