//! Reads the steps of a test.

use super::TestReader;
use crate::scenario::{ContextSize, Scenario, ScenarioStep};
use rawr_core::event::{CompactionOrigin, TurnStatus};
use rawr_core::signal::plan::{PlanItem, StepStatus};
use rawr_core::units::Tokens;
use rawr_settings::problem::written::{SpannedName, WrittenValue, short};
use std::ops::RangeInclusive;

/// What a step does, and `exit`, which belongs to `run`.
const KEYS: [&str; 13] = [
    "user",
    "steer",
    "say",
    "used",
    "left",
    "tokens",
    "run",
    "plan",
    "agent",
    "end",
    "compacted",
    "wait",
    EXIT,
];
const EXIT: &str = "exit";
const PERCENT: RangeInclusive<u64> = 0..=100;
const EXIT_CODES: RangeInclusive<u64> = 0..=255;
const TOKENS: RangeInclusive<u64> = 0..=1_000_000_000;
const ENDINGS: [TurnStatus; 3] =
    [TurnStatus::Completed, TurnStatus::Interrupted, TurnStatus::Failed];
const MARKS: [(&str, StepStatus); 3] = [
    ("[ ] ", StepStatus::Pending),
    ("[>] ", StepStatus::InProgress),
    ("[x] ", StepStatus::Completed),
];
const LONGEST_WAIT: u64 = 366 * 86_400;

impl TestReader<'_> {
    pub(super) fn steps(
        &mut self,
        test: &WrittenValue,
        written: Option<&WrittenValue>,
    ) -> Option<Vec<ScenarioStep>> {
        const HELP: &str = "begin with `steps = [{ user = \"…\" }]`";
        let Some(written) = written else {
            self.missing("steps", test, HELP);
            return None;
        };
        let listed = self.reader.list("steps", written)?;
        if listed.is_empty() {
            let message = "there are no steps in this test".to_owned();
            self.refuse("wrong-value", message, written.span.clone(), HELP.to_owned());
        }
        let steps: Vec<_> = listed.iter().map(|step| self.step(step)).collect();
        let steps: Vec<_> = steps.into_iter().collect::<Option<_>>()?;
        for (at, why) in Scenario::misplaced(&steps) {
            let span = listed.get(at).and_then(|step| step.span.clone());
            self.refuse("misplaced-step", why.to_string(), span, why.help().to_owned());
        }
        Some(steps)
    }

    fn step(&mut self, written: &WrittenValue) -> Option<ScenarioStep> {
        let table = self.reader.table("step", written)?;
        // As written, so that the first of two is the one that stays.
        let mut table: Vec<_> = table.iter().collect();
        table.sort_by_key(|(name, _)| name.span.as_ref().map(|span| span.start));
        let (mut step, mut exit) = (None, None);
        for (name, value) in table {
            match name.text.as_str() {
                EXIT => exit = Some((name, self.reader.number(EXIT, &EXIT_CODES, value)?)),
                key if !KEYS.contains(&key) => {
                    self.reader.refuse_key(name, "a step", &KEYS);
                    return None;
                }
                key if step.is_some() => {
                    let message = "a step does one thing".to_owned();
                    let help = format!("move `{key}` to a step of its own");
                    self.refuse("wrong-value", message, name.span.clone(), help);
                    return None;
                }
                _ => step = Some(self.action(name, value)?),
            }
        }
        match (step, exit) {
            (Some(ScenarioStep::Run { command, .. }), Some((_, code))) => {
                let exit_code = i64::try_from(code).unwrap_or(i64::MAX);
                Some(ScenarioStep::Run { command, exit_code })
            }
            (_, Some((name, _))) => {
                let message = "`exit` belongs to `run`".to_owned();
                let help = "write for example `{ run = \"cargo test\", exit = 1 }`".to_owned();
                self.refuse("wrong-value", message, name.span.clone(), help);
                None
            }
            (None, None) => {
                let message = "this step is empty".to_owned();
                let help =
                    "write for example `{ user = \"…\" }` or `{ used = \"60%\" }`".to_owned();
                self.refuse("wrong-value", message, written.span.clone(), help);
                None
            }
            (step, None) => step,
        }
    }

    fn action(&mut self, name: &SpannedName, value: &WrittenValue) -> Option<ScenarioStep> {
        let (key, reader) = (name.text.as_str(), &mut self.reader);
        Some(match key {
            "user" => ScenarioStep::User(reader.text(key, value)?),
            "steer" => ScenarioStep::Steer(reader.text(key, value)?),
            "say" => ScenarioStep::Say(reader.text(key, value)?),
            "agent" => ScenarioStep::Agent(reader.text(key, value)?),
            "used" => ScenarioStep::Usage(ContextSize::Used(self.percent(key, value)?)),
            "left" => ScenarioStep::Usage(ContextSize::Left(self.percent(key, value)?)),
            "tokens" => {
                let tokens = Tokens(reader.number(key, &TOKENS, value)?);
                ScenarioStep::Usage(ContextSize::Tokens(tokens))
            }
            "run" => ScenarioStep::Run { command: reader.text(key, value)?, exit_code: 0 },
            "plan" => ScenarioStep::Plan(self.plan(value)?),
            "end" => {
                let word = reader.word(key, &ENDINGS.map(TurnStatus::name), value)?;
                ScenarioStep::End(ENDINGS.into_iter().find(|ending| ending.name() == word)?)
            }
            "compacted" => {
                let by = reader.word(key, &["host", "user"], value)?;
                ScenarioStep::Compacted(match by {
                    "user" => CompactionOrigin::User,
                    _ => CompactionOrigin::Host,
                })
            }
            _ => ScenarioStep::Wait(self.wait(value)?),
        })
    }

    fn percent(&mut self, key: &str, written: &WrittenValue) -> Option<u8> {
        self.reader.percent(key, &PERCENT, written).and_then(|percent| u8::try_from(percent).ok())
    }

    fn plan(&mut self, written: &WrittenValue) -> Option<Vec<PlanItem>> {
        let listed = self.reader.texts("plan", written)?;
        let items: Option<Vec<_>> = listed.iter().map(|text| plan_item(text)).collect();
        if items.is_none() {
            let message = "each step of a plan needs a mark".to_owned();
            let help = "write `[x] done`, `[>] under way` or `[ ] open`".to_owned();
            self.refuse("wrong-value", message, written.span.clone(), help);
        }
        items
    }

    fn wait(&mut self, written: &WrittenValue) -> Option<u64> {
        let text = self.reader.text("wait", written)?;
        let seconds = seconds(&text);
        if seconds.is_none() {
            let message = format!("`wait` cannot be `{}`", short(&text));
            let help = "use a number with s, m, h or d, such as `10m`; at most 366d".to_owned();
            self.refuse("unknown-value", message, written.span.clone(), help);
        }
        seconds
    }
}

fn plan_item(text: &str) -> Option<PlanItem> {
    let (step, status) =
        MARKS.into_iter().find_map(|(mark, status)| Some((text.strip_prefix(mark)?, status)))?;
    Some(PlanItem { step: step.trim().to_owned(), status })
}

/// `10m` in seconds.
fn seconds(text: &str) -> Option<u64> {
    let unit = match text.chars().next_back()? {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    let count: u64 = text.get(..text.len() - 1)?.parse().ok()?;
    count.checked_mul(unit).filter(|seconds| (1..=LONGEST_WAIT).contains(seconds))
}
