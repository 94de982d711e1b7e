//! The thread's log at the end.

use rawr_tests::TestHome;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct LoggedEvents(Vec<Value>);

impl LoggedEvents {
    pub fn read(home: &TestHome, thread: &str) -> Self {
        let lines = home.lines(thread);
        Self(lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    fn events<'l>(&'l self, kind: &'l str) -> impl Iterator<Item = &'l Value> {
        self.0.iter().filter_map(move |record| record["event"].get(kind))
    }

    /// The field of each event of this kind.
    pub fn all(&self, kind: &str, field: &str) -> Vec<String> {
        let field = |event: &Value| event[field].as_str().unwrap_or_default().to_owned();
        self.events(kind).map(field).collect()
    }

    /// No id is used twice, and no sequence requests the same thing under two ids.
    pub fn assert_every_action_once(&self) {
        let ids = self.all("action_issued", "action");
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
        let mut done = BTreeMap::new();
        for issued in self.events("action_issued") {
            // An agent may be asked for its packet once more.
            let what = asked_for(issued).filter(|what| *what != "packet_request");
            let Some(what) = what else { continue };
            let sequence = issued["sequence"].as_str().unwrap_or_default();
            *done.entry((sequence, what)).or_insert(0) += 1;
        }
        let twice: Vec<_> = done.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    /// How often the host was asked for it, each time with its own id.
    pub fn times_issued(&self, what: &str) -> usize {
        self.events("action_issued").filter(|issued| asked_for(issued) == Some(what)).count()
    }
}

fn asked_for(issued: &Value) -> Option<&'static str> {
    let kind = &issued["kind"];
    let purpose = kind.pointer("/inject_turn/purpose").and_then(Value::as_str);
    let hands_over = kind
        .pointer("/deliver_input/items")
        .is_some_and(|items| items.to_string().contains("handoff"));
    match purpose {
        _ if kind.get("compact").is_some() => Some("compact"),
        Some("packet_request") => Some("packet_request"),
        Some("handoff") => Some("handoff"),
        _ if hands_over => Some("handoff"),
        _ => None,
    }
}
