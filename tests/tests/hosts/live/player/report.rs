//! What is printed of a run that went wrong.

use serde_json::Value;

use super::agents::Agent;
use super::plan::Plan;
use super::record::{Heard, Ms, Part, Record};

pub fn report(plan: &Plan, record: &Record, agent: &Agent, screens: &[String]) -> String {
    let start = record.log.first().map_or(0, |(at, _)| *at);
    let heard = agent.heard();
    let events = agent.events();
    let mut lines: Vec<(Ms, String)> = record.log.clone();
    lines.extend(heard.iter().enumerate().map(|(at, heard)| (heard.at, asked(at, heard))));
    lines.extend(events.iter().map(|event| {
        (event["at"].as_u64().unwrap_or_default(), format!("  rawr {}", told(event)))
    }));
    lines.sort_by_key(|(at, _)| *at);
    let lines: Vec<_> =
        lines.iter().map(|(at, line)| format!("{:>8} {line}", seconds(*at, start))).collect();
    let pieces: Vec<_> =
        plan.pieces.iter().map(|piece| format!("{:>3} {}", piece.number, piece.text)).collect();
    let screens: Vec<_> = screens.iter().map(|screen| format!("---\n{}", shown(screen))).collect();
    format!(
        "{:?} seed {}, settings:\n{}compacts early: {}, preflight: {}\npieces:\n{}\n\
         moves, requests (->), rawr's events:\n{}\nboxes at the end: {:?}\nrawr's logs:\n{}\nlast screens:\n{}\n",
        plan.kind,
        plan.seed,
        plan.settings,
        plan.compacts_early,
        plan.preflight,
        pieces.join("\n"),
        lines.join("\n"),
        record.boxes,
        agent.logs(),
        screens.join("\n"),
    )
}

fn seconds(at: Ms, start: Ms) -> String {
    let passed = at.saturating_sub(start);
    format!("{}.{:03}", passed / 1_000, passed % 1_000)
}

fn asked(at: usize, heard: &Heard) -> String {
    let what = match (heard.is_compaction, heard.is_turn) {
        (true, _) => "compaction",
        (_, true) => "turn",
        _ => "other",
    };
    let session: String = heard.session.chars().take(8).collect();
    let tail: Vec<_> = heard.parts.iter().rev().take(4).map(brief).collect();
    let tail: Vec<_> = tail.into_iter().rev().collect();
    format!("-> {} {what} {session} {} parts: {}", at + 1, heard.parts.len(), tail.join(" | "))
}

fn brief(part: &Part) -> String {
    let cut = |text: &str| text.chars().take(90).collect::<String>().replace('\n', " ");
    match part {
        Part::User(text) => cut(text),
        Part::Rawr(text) => format!("rawr: {}", cut(text)),
        Part::Summary => "summary".to_owned(),
        Part::Agent => "agent".to_owned(),
    }
}

fn told(event: &Value) -> String {
    let text = event["event"].to_string();
    text.chars().take(260).collect()
}

fn shown(screen: &str) -> String {
    let lines: Vec<_> = screen.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(45)..].join("\n")
}
