//! The notifications of a sidecar as lines that are the same in every run: without times and folders.

use rawr_protocol::Notification;
use rawr_protocol::methods::{ActionPerform, DecisionRecorded, JudgmentResult, LogMessage};
use rawr_tests::sidecar::Note;
use serde_json::Value;

#[derive(Debug, Default)]
pub struct Story {
    pub lines: Vec<String>,
    /// The judge has answered or failed.
    pub is_judged: bool,
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or("-")
}

pub fn one_line(text: &str) -> String {
    text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" / ")
}

impl Story {
    pub fn record(&mut self, line: String) {
        self.lines.push(line);
    }

    pub fn note(&mut self, note: &Note) {
        let params = &note.params;
        match note.method.as_str() {
            DecisionRecorded::METHOD => {
                let [outcome, reason] =
                    ["outcome", "reason"].map(|field| text(&params["decision"], field));
                self.record(format!("decided {outcome}: {reason}"));
            }
            ActionPerform::METHOD => self.action(&params["action"]),
            JudgmentResult::METHOD => {
                self.is_judged = true;
                let [source, reason, error] =
                    ["source", "reason", "error"].map(|field| text(params, field));
                let says = &params["shouldCompact"];
                self.record(format!("judged by {source}: {says}, {reason}, error {error}"));
            }
            LogMessage::METHOD => self.record(format!("log {}", text(params, "message"))),
            _ => {}
        }
    }

    fn action(&mut self, action: &Value) {
        let told = match text(action, "kind") {
            "inject_turn" => {
                format!("{}: {}", text(action, "purpose"), one_line(text(action, "text")))
            }
            "judge" => {
                let [instructions, context] =
                    ["instructions", "context"].map(|field| one_line(text(action, field)));
                format!("judge: {instructions} | {context}")
            }
            kind => kind.to_owned(),
        };
        self.record(format!("perform {told}"));
    }
}
