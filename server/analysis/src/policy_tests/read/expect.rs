//! Reads what a test expects.

use super::TestReader;
use crate::scenario::{Expectation, ScenarioOutcome, ScenarioStep};
use rawr_core::assess::Gate;
use rawr_core::boundary::Boundary;
use rawr_core::policy::Tier;
use rawr_settings::problem::written::{WrittenKind, WrittenValue};

const KEYS: [&str; 6] = ["outcome", "at_step", "tier", "boundary", "stopped_by", "times"];
/// More than a file can hold.
const MOST: u64 = 1_000_000;
const OUTCOMES: &str =
    "`expect` is \"compact\", \"propose\" or \"nothing\", or a table with an `outcome`";

impl TestReader<'_> {
    /// One expectation, or a list of them.
    pub(super) fn expected(
        &mut self,
        test: &WrittenValue,
        written: Option<&WrittenValue>,
        steps: Option<&[ScenarioStep]>,
    ) -> Option<Vec<Expectation>> {
        let Some(written) = written else {
            self.missing("expect", test, OUTCOMES);
            return None;
        };
        let steps = steps.map_or(MOST, |steps| steps.len().max(1) as u64);
        let WrittenKind::List(list) = &written.what else {
            return self.expectation(written, steps).map(|one| vec![one]);
        };
        if list.is_empty() {
            let message = "`expect` is empty".to_owned();
            self.refuse("wrong-value", message, written.span.clone(), OUTCOMES.to_owned());
        }
        let all: Vec<_> = list.iter().map(|one| self.expectation(one, steps)).collect();
        all.into_iter().collect()
    }

    fn expectation(&mut self, written: &WrittenValue, steps: u64) -> Option<Expectation> {
        let WrittenKind::Table(table) = &written.what else {
            return self.outcome("expect", written).map(Expectation::of);
        };
        let get = |key: &str| table.iter().find(|(name, _)| name.text == key);
        let mut is_right = true;
        for (name, _) in table.iter().filter(|(name, _)| !KEYS.contains(&name.text.as_str())) {
            self.reader.refuse_key(name, "`expect`", &KEYS);
            is_right = false;
        }
        let Some((_, outcome)) = get("outcome") else {
            let message = "`outcome` is missing in `expect`".to_owned();
            self.refuse("missing-key", message, written.span.clone(), OUTCOMES.to_owned());
            return None;
        };
        let mut expectation = Expectation::of(self.outcome("outcome", outcome)?);
        let is_nothing = expectation.outcome == ScenarioOutcome::Nothing;
        for (key, goes, because) in [
            ("stopped_by", is_nothing, "only what comes to nothing is stopped by a gate"),
            ("times", !is_nothing, "nothing cannot be counted"),
        ] {
            if let Some((name, _)) = get(key).filter(|_| !goes) {
                let message = format!("`{key}` does not go with this `outcome`");
                self.refuse("wrong-value", message, name.span.clone(), because.to_owned());
                is_right = false;
            }
        }
        let reader = &mut self.reader;
        let mut number = |key: &str, most: u64| {
            let read = reader.number(key, &(1..=most), &get(key)?.1);
            is_right &= read.is_some();
            usize::try_from(read?).ok()
        };
        expectation.at_step = number("at_step", steps);
        expectation.times = number("times", MOST);
        let mut word = |key: &str, words: &[&'static str]| {
            let read = reader.word(key, words, &get(key)?.1);
            is_right &= read.is_some();
            read
        };
        let tiers = Tier::ALL;
        let tier = word("tier", &tiers.map(Tier::name));
        expectation.tier = tier.and_then(|tier| tiers.into_iter().find(|it| it.name() == tier));
        let boundary = word("boundary", &Boundary::ALL.map(Boundary::name));
        expectation.boundary = boundary.and_then(Boundary::from_name);
        let gate = word("stopped_by", &Gate::ALL.map(Gate::name));
        expectation.stopped_by = gate.and_then(Gate::from_name);
        is_right.then_some(expectation)
    }

    fn outcome(&mut self, key: &str, written: &WrittenValue) -> Option<ScenarioOutcome> {
        let words = ScenarioOutcome::ALL.map(ScenarioOutcome::name);
        self.reader.word(key, &words, written).and_then(ScenarioOutcome::from_name)
    }
}
