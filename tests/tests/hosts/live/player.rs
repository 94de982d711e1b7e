//! A random player on the real Codex and Claude Code. A seed decides what it types and presses, when, what it does to rawr's
//! processes, and how the scripted model answers. In the end every message must have been said to the model once, whole, in
//! the conversation and in the order in which it was typed, or stand in the input box; `verdict` says what counts.
//!
//! | variable | what it does |
//! | --- | --- |
//! | `RAWR_PLAYER_SEED` | the first seed; each test has some of its own |
//! | `RAWR_PLAYER_RUNS` | how many seeds from there on, 1 unless set |
//! | `RAWR_PLAYER_ALONE` | plays without rawr: what still fails is the agent's own |
//! | `RAWR_PLAYER_REPORT` | prints the report of a run that went well, too |
//!
//! `tests/player` plays many seeds and lists the failures by kind. Times are those of a real machine, so a seed repeats the moves
//! and their delays, and not always the race.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod agents;
mod plan;
mod play;
mod record;
mod report;
mod verdict;

use std::env::var;

use plan::{AgentKind, Plan};

fn number(name: &str) -> Option<u64> {
    var(name).ok().map(|value| value.parse().unwrap())
}

/// Plays the seed, or those that the environment names.
#[expect(clippy::print_stdout, reason = "what a person asked for")]
fn plays(kind: AgentKind, seed: u64) {
    let first = number("RAWR_PLAYER_SEED").unwrap_or(seed);
    let runs = number("RAWR_PLAYER_RUNS").unwrap_or(1);
    let mut reports = Vec::new();
    for seed in first..first + runs {
        let (faults, report) = play::play(Plan::new(kind, seed), var("RAWR_PLAYER_ALONE").is_ok());
        if !faults.is_empty() {
            let faults: Vec<_> = faults
                .iter()
                .map(|fault| format!("fault: {}: {}", fault.kind, fault.detail))
                .collect();
            reports.push(format!("{report}{kind:?} seed {seed}\n{}", faults.join("\n")));
        }
        if var("RAWR_PLAYER_REPORT").is_ok() && faults.is_empty() {
            println!("{report}");
        }
    }
    assert!(reports.is_empty(), "{}", reports.join("\n\n"));
}

#[test]
fn claude_code_1() {
    plays(AgentKind::Claude, 1);
}

#[test]
fn claude_code_2() {
    plays(AgentKind::Claude, 2);
}

#[test]
fn claude_code_3() {
    plays(AgentKind::Claude, 3);
}

#[test]
fn codex_1() {
    plays(AgentKind::Codex, 1);
}

#[test]
fn codex_2() {
    plays(AgentKind::Codex, 2);
}

#[test]
fn codex_3() {
    plays(AgentKind::Codex, 3);
}
