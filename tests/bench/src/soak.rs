//! A hundred hosts in one sidecar for any length of time: a turn of each every second, and now and then a complete
//! compaction. The load is constant; other tables measure the maximum.

use std::{
    collections::VecDeque,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};

use crate::{
    home::BenchHome, link::Link, report::Cells, servers::Subject, stats::quantile,
    system::resident_mb,
};

const HOSTS: usize = 100;
const TURN_EVERY: Duration = Duration::from_secs(1);
/// One out of this many turns of each host ends a phase.
const PHASE: u64 = 20;
pub const SOAK: &[&str] = &["100 hosts"];
const WINDOW: u64 = 190_000;
/// A quarter of the window is left.
const PRESSURE: u64 = 143_000;
const AFTER_COMPACTION: u64 = 20_000;
const PACKET: &str = "<continuation_packet>\nState: working\nGoal: write the parser. Decisions: no regular \
    expressions. Next step: write the docs.\n</continuation_packet>";

/// The sidecar's memory in the first and in the last quarter of the time, and what was done meanwhile.
pub fn soak(subject: &Subject, time: Duration) -> Result<Vec<Cells>> {
    let home = BenchHome::new()?;
    let mut soak = Soak::begin(subject, &home)?;
    let (begin, mut samples) = (Instant::now(), Vec::new());
    while begin.elapsed() < time {
        let round = Instant::now();
        for host in 0..HOSTS {
            soak.turn(host)?;
        }
        samples.push(resident_mb(soak.link.pid())?);
        soak.link.renew_patience();
        thread::sleep(TURN_EVERY.saturating_sub(round.elapsed()));
    }
    ensure!(soak.turns < HOSTS as u64 * 2 * PHASE || soak.compactions > 0, "nothing was compacted");
    let quarter = samples.len().div_ceil(4);
    let mut first: Vec<_> = samples.iter().take(quarter).copied().collect();
    let mut last: Vec<_> = samples.iter().rev().take(quarter).copied().collect();
    Ok(vec![vec![
        ("turns", soak.turns as f64),
        ("compactions", soak.compactions as f64),
        ("firstMb", quantile(&mut first, 0.5)),
        ("lastMb", quantile(&mut last, 0.5)),
    ]])
}

/// The hosts, which say one thing at a time.
struct Soak {
    link: Link,
    requests: u64,
    /// Turns of users.
    turns: u64,
    /// All turns, for their names.
    started: u64,
    compactions: u64,
    /// Actions that were not carried out yet.
    asked: VecDeque<Value>,
}

impl Soak {
    fn begin(subject: &Subject, home: &BenchHome) -> Result<Self> {
        let link = subject.listening(home)?;
        let mut soak = Self {
            link,
            requests: 0,
            turns: 0,
            started: 0,
            compactions: 0,
            asked: VecDeque::new(),
        };
        for host in 0..HOSTS {
            let capabilities = json!({"injectTurn": true, "compact": true});
            soak.request(
                "rawr/thread/open",
                json!({
                    "threadId": name(host),
                    "cwd": home.path(),
                    "role": "owner",
                    "host": {"name": "soak", "capabilities": capabilities},
                    "contextWindow": WINDOW,
                }),
            )?;
        }
        Ok(soak)
    }

    /// A turn of the user's, and whatever it leads to.
    fn turn(&mut self, host: usize) -> Result<()> {
        let thread = name(host);
        let round = self.turns / HOSTS as u64;
        let ends_phase = (round + host as u64).is_multiple_of(PHASE);
        self.turns += 1;
        let turn = self.start(&thread, json!({"origin": "user", "text": "go on"}))?;
        let command = if ends_phase { "git commit -m parser" } else { "cargo test -p parser" };
        for signal in [
            plan("in_progress", "pending"),
            json!({"kind": "command_finished", "command": command, "exitCode": 0}),
            if ends_phase {
                plan("completed", "in_progress")
            } else {
                plan("in_progress", "pending")
            },
        ] {
            let params = json!({"threadId": thread, "turnId": turn, "signal": signal});
            self.request("rawr/signal/report", params)?;
        }
        let context = if ends_phase { PRESSURE } else { AFTER_COMPACTION + self.turns % 5000 };
        self.end(&thread, &turn, "I changed the parser and ran its tests.", context)?;
        while let Some(asked) = self.asked.pop_front() {
            self.perform(&asked)?;
        }
        Ok(())
    }

    fn perform(&mut self, asked: &Value) -> Result<()> {
        let thread = asked["threadId"].as_str().unwrap_or_default().to_owned();
        let (id, action) = (&asked["actionId"], &asked["action"]);
        let report = |status: &str, turn: &Value| json!({"threadId": thread, "actionId": id, "status": status, "turnId": turn});
        match action["kind"].as_str() {
            Some("compact") => {
                self.request("rawr/action/report", report("accepted", &Value::Null))?;
                for (status, after) in [("started", None), ("completed", Some(AFTER_COMPACTION))] {
                    let mut params = json!({
                        "threadId": thread, "status": status, "origin": "rawr", "actionId": id,
                    });
                    if let Some(after) = after {
                        params["tokensAfter"] = json!(after);
                    }
                    self.request("rawr/compaction/report", params)?;
                }
                self.compactions += 1;
                self.request("rawr/action/report", report("completed", &Value::Null))
            }
            Some("inject_turn" | "deliver_input") => {
                let turn = self.start(&thread, json!({"origin": "synthetic", "actionId": id}))?;
                self.request("rawr/action/report", report("accepted", &json!(turn)))?;
                let is_packet = action["purpose"] == "packet_request";
                let (message, context) = if action["purpose"] == "handoff" {
                    ("Going on.", AFTER_COMPACTION)
                } else {
                    (if is_packet { PACKET } else { "Noted." }, PRESSURE)
                };
                self.end(&thread, &turn, message, context)
            }
            _ => bail!("unexpected action {action}"),
        }
    }

    fn start(&mut self, thread: &str, mut params: Value) -> Result<String> {
        self.started += 1;
        let turn = format!("turn-{}", self.started);
        params["threadId"] = json!(thread);
        params["turnId"] = json!(turn);
        self.request("rawr/turn/started", params)?;
        Ok(turn)
    }

    fn end(&mut self, thread: &str, turn: &str, message: &str, context: u64) -> Result<()> {
        self.request(
            "rawr/turn/completed",
            json!({
                "threadId": thread,
                "turnId": turn,
                "status": "completed",
                "lastAgentMessage": message,
                "usage": {"contextTokens": context},
            }),
        )
    }

    /// Waits for the answer; what is asked for meanwhile is kept.
    fn request(&mut self, method: &str, params: Value) -> Result<()> {
        // The first two greeted.
        let id = self.requests + 3;
        self.requests += 1;
        self.link.ask(id, method, params)?;
        loop {
            let mut heard: Value = serde_json::from_slice(self.link.reply()?)?;
            if heard["method"] == "rawr/action/perform" {
                self.asked.push_back(heard["params"].take());
            } else if heard["id"] == id {
                ensure!(heard.get("error").is_none(), "{method}: {heard}");
                return Ok(());
            }
        }
    }
}

fn name(host: usize) -> String {
    format!("host-{host}")
}

fn plan(parser: &str, docs: &str) -> Value {
    json!({
        "kind": "plan_updated",
        "steps": [
            {"step": "write the parser", "status": parser},
            {"step": "write the docs", "status": docs},
        ],
    })
}
