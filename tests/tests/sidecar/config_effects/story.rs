//! The notifications of a sidecar as lines that are the same in every run: without times and folders.

use rawr_protocol::Notification;
use rawr_protocol::methods::{
    ActionPerform, CompactionUpdate, DecisionRecorded, JudgmentRequested, JudgmentResult,
    LogMessage, SequenceHeadsUp, ThreadChanged,
};
use rawr_tests::sidecar::Note;
use serde_json::Value;

/// What a script may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwaitedSign {
    /// The thread was reported as changed.
    Changed,
    /// The judge has answered or failed.
    Judged,
    /// The repository's state is in the log.
    Repository,
}

#[derive(Debug, Default)]
pub struct Story {
    pub lines: Vec<String>,
    decided_at: i64,
    signs: Vec<AwaitedSign>,
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or("-")
}

pub fn one_line(text: &str) -> String {
    text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" / ")
}

/// Removes how long ago something was, which depends on the machine.
fn timeless(line: &str) -> String {
    if !line.contains(" seconds since") {
        return line.to_owned();
    }
    let word = |word: &str| {
        let number = !word.is_empty() && word.chars().all(|letter| letter.is_ascii_digit());
        if number { "#".to_owned() } else { word.to_owned() }
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

impl Story {
    pub fn tell(&mut self, line: impl AsRef<str>) {
        self.lines.push(timeless(line.as_ref()));
    }

    pub fn has(&self, sign: AwaitedSign) -> bool {
        self.signs.contains(&sign)
    }

    pub fn forget(&mut self, sign: AwaitedSign) {
        self.signs.retain(|had| *had != sign);
    }

    pub fn note(&mut self, note: &Note) {
        let params = &note.params;
        match note.method.as_str() {
            DecisionRecorded::METHOD => self.decision(&params["decision"]),
            ActionPerform::METHOD => self.action(&params["action"]),
            SequenceHeadsUp::METHOD => {
                let [stage, tier, author] =
                    ["stage", "tier", "packetAuthor"].map(|field| text(params, field));
                let deadline = params["deadlineAtMs"]
                    .as_i64()
                    .map(|at| format!(", goes on in {} s", (at - self.decided_at) / 1000));
                let deadline = deadline.unwrap_or_default();
                self.tell(format!("heads-up {stage} {tier}, packet by {author}{deadline}"));
            }
            ThreadChanged::METHOD => {
                self.signs.push(AwaitedSign::Changed);
                let (phase, tier) = (text(params, "phase"), text(params, "tier"));
                self.tell(format!("thread {phase} {tier} {}%", params["percentRemaining"]));
            }
            CompactionUpdate::METHOD => self.tell(format!("compaction {}", text(params, "status"))),
            JudgmentRequested::METHOD => self.tell("the judge is asked"),
            JudgmentResult::METHOD => {
                self.signs.push(AwaitedSign::Judged);
                let [source, reason, error] =
                    ["source", "reason", "error"].map(|field| text(params, field));
                let says = &params["shouldCompact"];
                self.tell(format!("judged by {source}: {says}, {reason}, error {error}"));
            }
            LogMessage::METHOD => self.tell(format!("log {}", text(params, "message"))),
            other => self.tell(other),
        }
    }

    fn decision(&mut self, decision: &Value) {
        self.decided_at = decision["atMs"].as_i64().unwrap_or(0);
        let [entrance, outcome, tier, reason] =
            ["entrance", "outcome", "tier", "reason"].map(|field| text(decision, field));
        self.tell(format!("decided {entrance} {outcome} {tier}: {reason}"));
        if let Some(boundaries) = decision["trigger"].get("boundaries") {
            self.tell(format!("  boundaries {boundaries}"));
        }
        for gate in decision["gates"].as_array().into_iter().flatten() {
            let [name, outcome, evidence] =
                ["gate", "outcome", "evidence"].map(|field| text(gate, field));
            self.tell(format!("  {name} {outcome}: {evidence}"));
        }
    }

    fn action(&mut self, action: &Value) {
        let kind = text(action, "kind");
        let told = match kind {
            "inject_turn" => {
                let steered = if action["viaSteer"] == true { " inside the turn" } else { "" };
                let purpose = text(action, "purpose");
                format!("{purpose}{steered}: {}", one_line(text(action, "text")))
            }
            "deliver_input" => action["items"].to_string(),
            "judge" => {
                let [instructions, context] =
                    ["instructions", "context"].map(|field| one_line(text(action, field)));
                format!("{instructions} | {context}")
            }
            _ => {
                let settings = action.as_object().cloned().unwrap_or_default();
                let trigger = text(&action["trigger"], "kind").to_owned();
                let told = settings
                    .into_iter()
                    .filter(|(name, _)| name != "kind" && name != "trigger")
                    .map(|(name, value)| format!(", {name} {value}"));
                format!("for {trigger}{}", told.collect::<String>())
            }
        };
        self.tell(format!("perform {kind} {told}"));
    }
}
