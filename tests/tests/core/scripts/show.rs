//! Queries of scripts: the thread's state, the newest decision in full, the stored events.

use crate::scripts::player::Player;
use rawr_core::assess::{Gate, GateEvidence};
use rawr_core::units::ThreadId;
use serde_json::Value;
use std::fmt::Write as _;

/// `phase`, `percent`, `deadline`, a gate of the newest decision by its name, or a path in the thread's stored form such as `last_compaction/trigger`.
pub fn state(player: &Player, what: &str) -> String {
    let thread = player.machine.thread();
    match what {
        "phase" => format!("phase {}", thread.phase().name()),
        "percent" => match thread.percent_remaining(&player.policy) {
            Some(percent) => format!("percent {percent}"),
            None => "percent unknown".to_owned(),
        },
        "deadline" => match player.machine.next_deadline(&player.policy) {
            Some(deadline) => format!("deadline in {} s", deadline.seconds_since(player.now)),
            None => "no deadline".to_owned(),
        },
        "pending" => {
            let ids: Vec<_> = thread.pending_actions().map(|issued| issued.id.as_str()).collect();
            format!(
                "pending {}",
                if ids.is_empty() { "nothing".to_owned() } else { ids.join(", ") }
            )
        }
        place => {
            if let Some(gate) = Gate::from_name(place) {
                let gates = player.decision.iter().flat_map(|(decision, _)| &decision.gates);
                return gates.filter(|it| it.gate == gate).map(gate_line).collect();
            }
            let stored = serde_json::to_value(thread).unwrap();
            let value = stored.pointer(&format!("/{place}"));
            value.map_or_else(
                || format!("{place} absent"),
                |value| format!("{place} {}", telling(&without_prompts(value.clone()))),
            )
        }
    }
}

/// The prompts of a sequence are long, and the same in every script.
fn without_prompts(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.remove("prompts");
    }
    value
}

/// Without default values, so that a new field of the core changes only the scripts that it concerns.
fn telling(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let said = fields.iter().filter(|(_, value)| !is_empty(value));
            Value::Object(said.map(|(name, value)| (name.clone(), telling(value))).collect())
        }
        Value::Array(list) => list.iter().map(telling).collect(),
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
    }
}

fn gate_line(gate: &GateEvidence) -> String {
    format!("{:?} {:?}: {}", gate.gate, gate.outcome, gate.evidence)
}

/// Every gate with its evidence, as recorded.
pub fn decision(player: &Player) -> Vec<String> {
    let Some((decision, stored)) = &player.decision else { return vec!["no decision".to_owned()] };
    let mut head = format!("{} {:?} {:?}", decision.id, decision.entrance, decision.outcome);
    let turn = decision.turn.as_ref().map(ToString::to_string);
    let tier = decision.tier.map(|tier| tier.to_string());
    let percent = decision.percent.map(|percent| percent.to_string());
    let sequence = decision.sequence.as_ref().map(ToString::to_string);
    for part in [turn, tier, percent, sequence].into_iter().flatten() {
        let _ = write!(head, " {part}");
    }
    let kept = if *stored { "kept" } else { "not kept" };
    let mut lines =
        vec![head, format!("boundaries {}; {kept}; {}", decision.boundaries, decision.reason)];
    lines.extend(decision.gates.iter().map(|gate| format!("  {}", gate_line(gate))));
    lines.extend(decision.would_fire_if.iter().map(|fire| format!("would fire if {fire}")));
    lines
}

/// The names of all stored events, or the newest one of each of these kinds.
pub fn log(player: &Player, kinds: &[&str]) -> Vec<String> {
    let stored: Vec<(String, String, Value)> = player
        .log
        .iter()
        .map(|record| match serde_json::to_value(&record.event).unwrap() {
            Value::Object(event) => {
                let (kind, body) = event.into_iter().next().unwrap();
                let id = record.id.map_or_else(|| "no id".to_owned(), |id| id.0.to_string());
                let thread = record.thread.as_ref().map_or("no thread", ThreadId::as_str);
                (format!("{id} of {thread} at {}", record.at.0), kind, body)
            }
            other => panic!("an event is an object: {other}"),
        })
        .collect();
    if kinds.is_empty() {
        let names: Vec<_> = stored.iter().map(|(_, kind, _)| kind.as_str()).collect();
        return vec![names.join(" ")];
    }
    let newest = |wanted: &&str| match stored.iter().rev().find(|(_, kind, _)| kind == wanted) {
        Some((place, kind, body)) => format!("{kind} {place} {}", without_prompts(body.clone())),
        None => format!("no {wanted}"),
    };
    kinds.iter().map(newest).collect()
}
