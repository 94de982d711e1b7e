//! Recorded sessions of Claude Code as labeled turn ends. Nothing of their texts is kept.

use crate::vectors::{LabeledTurn, PhaseEnd, TurnFeatures};
use anyhow::{Context as _, Result, ensure};
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::signal::command::{self, Command};
use rawr_core::signal::plan::{self, PlanItem};
use rawr_core::thread::shortened;
use rawr_core::words::next;
use rawr_core::words::phase::TurnFacts;
use rawr_records::read::{NO_ANSWER, RecordedPlan};
use serde_json::Value;
use serde_json::value::to_raw_value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// One turn of a session, as text.
#[derive(Debug, Default)]
pub struct RecordedTurn {
    pub asked: String,
    pub said: String,
    pub facts: TurnFacts,
    /// Whether a step of the plan was completed in it.
    reached_checkpoint: bool,
}

/// The labeled turns of all sessions in `folder`, in the order of their sessions and turns.
pub fn turns(folder: &Path, labels: &Path) -> Result<Vec<LabeledTurn>> {
    let labels =
        fs::read(labels).with_context(|| format!("failed to read {}", labels.display()))?;
    let labels: Vec<Value> = serde_json::from_slice(&labels)?;
    let mut wanted: BTreeMap<(String, usize), &Value> = BTreeMap::new();
    for label in &labels {
        let id = label["id"].as_str().context("a label without an id")?;
        let (session, turn) = id.split_once(":t").context("an id without a turn")?;
        wanted.insert((session.to_owned(), turn.parse()?), label);
    }
    let mut turns = Vec::new();
    for (session, recorded) in read_all(folder)? {
        for at in 0..recorded.len() {
            if let Some(label) = wanted.remove(&(session.clone(), at + 1)) {
                turns.push(turn(&session, at, &recorded, label)?);
            }
        }
    }
    ensure!(wanted.is_empty(), "{} labels have no turn in the sessions", wanted.len());
    Ok(turns)
}

pub fn read_all(folder: &Path) -> Result<BTreeMap<String, Vec<RecordedTurn>>> {
    let mut sessions = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(session) = name.strip_suffix(".jsonl").and_then(|name| name.get(..8)) {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            sessions.insert(session.to_owned(), read(&text));
        }
    }
    Ok(sessions)
}

fn turn(session: &str, at: usize, recorded: &[RecordedTurn], label: &Value) -> Result<LabeledTurn> {
    let this = &recorded[at];
    let after = recorded.get(at + 1);
    // As the core remembers them.
    let asked: Vec<String> = recorded[at.saturating_sub(2)..=at]
        .iter()
        .map(|turn| shortened(&turn.asked))
        .filter(|asked| !asked.is_empty())
        .collect();
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let message = after.map_or("", |turn| turn.asked.as_str());
    let is = |key: &str| label[key].as_bool().with_context(|| format!("a label without {key}"));
    Ok(LabeledTurn {
        is_written: false,
        is_of_host: is("host")?,
        session: u32::from_str_radix(session, 16)?,
        turn: u16::try_from(at + 1)?,
        end: match label["end"].as_str() {
            Some("yes") => PhaseEnd::Yes,
            Some("weak") => PhaseEnd::Weak,
            _ => PhaseEnd::No,
        },
        next: next::HEADS
            .iter()
            .position(|head| label["next"] == **head)
            .context("a label without next")?,
        says_done: is("agent_says_done")?,
        announces: is("agent_announces_next")?,
        facts: this.facts,
        features: TurnFeatures::of(&asked, &this.said, message),
    })
}

fn read(text: &str) -> Vec<RecordedTurn> {
    let mut session = SessionReader::default();
    for line in text.lines() {
        let Ok(row) = serde_json::from_str::<Value>(line) else { continue };
        if row["isSidechain"] != true {
            session.read(&row);
        }
    }
    session.turns
}

#[derive(Default)]
struct SessionReader {
    turns: Vec<RecordedTurn>,
    /// The commands that have no result yet, by the id of their call.
    calls: BTreeMap<String, String>,
    plan: RecordedPlan,
    /// The plan as of the last change.
    steps: Vec<PlanItem>,
}

/// What a person wrote, unless it is only the results of tools.
fn prompt(content: &Value) -> Option<String> {
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let blocks = content.as_array()?;
    let is = |kind: &str| blocks.iter().any(|block| block["type"] == kind);
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    (is("text") && !is("tool_result")).then(|| texts.collect::<Vec<_>>().join(" "))
}

impl SessionReader {
    fn read(&mut self, row: &Value) {
        let content = &row["message"]["content"];
        match row["type"].as_str() {
            Some("user") if row["isMeta"] != true => match prompt(content) {
                Some(asked) => {
                    let facts =
                        TurnFacts { plan_open: self.has_open_steps(), ..TurnFacts::default() };
                    self.turns.push(RecordedTurn { asked, facts, ..RecordedTurn::default() });
                }
                None => self.results(content, &row["toolUseResult"]),
            },
            Some("assistant") => self.reply(content),
            _ => {}
        }
    }

    fn reply(&mut self, content: &Value) {
        for block in content.as_array().into_iter().flatten() {
            let text =
                block["text"].as_str().filter(|text| block["type"] == "text" && *text != NO_ANSWER);
            if let (Some(text), Some(turn)) = (text, self.turns.last_mut()) {
                text.clone_into(&mut turn.said);
            }
            let (id, input) = (block["id"].as_str(), &block["input"]);
            match (block["name"].as_str(), input["command"].as_str()) {
                (Some("Bash"), Some(command)) => {
                    self.calls.extend(id.map(|id| (id.to_owned(), command.to_owned())));
                }
                (Some(tool), _) => {
                    let input = to_raw_value(input).ok();
                    let plan = input.and_then(|input| self.plan.called(tool, id, &input));
                    self.planned(plan);
                }
                (None, _) => {}
            }
        }
    }

    fn results(&mut self, content: &Value, answer: &Value) {
        let answer = to_raw_value(answer).ok();
        for block in content.as_array().into_iter().flatten() {
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            let failed = block["is_error"] == true;
            let plan = self.plan.answered(id, answer.as_deref(), failed);
            self.planned(plan);
            let (Some(command), Some(turn)) = (self.calls.remove(id), self.turns.last_mut()) else {
                continue;
            };
            let ran = Command::Line(&command);
            let commits = Boundaries::of(&[Boundary::Commit, Boundary::Pushed, Boundary::Merged]);
            let made = command::boundaries(ran, i64::from(failed), "", "").and(commits);
            turn.facts.committed |= !made.is_empty();
            if command::check(ran).is_some() {
                (turn.facts.tests_passed, turn.facts.tests_failed) = (!failed, failed);
            }
        }
    }

    fn planned(&mut self, plan: Option<Vec<PlanItem>>) {
        let Some(steps) = plan else { return };
        let checkpoint = plan::boundaries(&self.steps, &steps).has(Boundary::PlanCheckpoint);
        self.steps = steps;
        let open = self.has_open_steps();
        if let Some(turn) = self.turns.last_mut() {
            turn.reached_checkpoint |= checkpoint;
            turn.facts.plan_open = open;
            turn.facts.plan_finished = turn.reached_checkpoint && !open;
        }
    }

    fn has_open_steps(&self) -> bool {
        plan::open_steps(&self.steps).next().is_some()
    }
}
