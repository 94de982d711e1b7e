//! What is odd about a configuration as a whole, though each of its values is fine.

use super::{Config, Origin, threshold};
use crate::problem::Problem;
use rawr_core::policy::{JudgeBackend, Tier};

impl Config {
    pub(super) fn oddities(&self) -> Vec<Problem> {
        let mut problems = self.odd_thresholds();
        problems.extend(self.eager_emergency());
        problems.extend(self.idle_inline());
        problems.extend(self.speechless_judge());
        problems.extend(self.hurried_judge());
        problems
    }

    /// A tier is only ever picked where the next more urgent one begins lower.
    fn odd_thresholds(&self) -> Vec<Problem> {
        let on = |tier: &Tier| self.policy.tiers.rule(*tier).percent_remaining_lt > 0;
        let tiers: Vec<_> = Tier::ALL.into_iter().filter(on).collect();
        let odd = tiers.windows(2).filter_map(|pair| {
            let [mild, urgent] = pair else { return None };
            let percent = |tier: &Tier| self.policy.tiers.rule(*tier).percent_remaining_lt;
            let written = |tier: &Tier| self.origin(&threshold(*tier));
            let origins = [written(mild), written(urgent)];
            let of_model = |origin: &&Origin| origin.model.is_some();
            let origin = origins
                .into_iter()
                .flatten()
                .find(of_model)
                .or_else(|| origins.into_iter().flatten().next());
            let model = origin.and_then(|origin| origin.model.as_deref());
            let message = format!(
                "{mild} (below {}%) never comes before {urgent} (below {}%){}",
                percent(mild),
                percent(urgent),
                model.map(|model| format!(", for model {model}")).unwrap_or_default()
            );
            let problem = Problem::warning("threshold-order", message)
                .help("thresholds fall from early over ready and asap to emergency".to_owned())
                .in_file(origin.and_then(|origin| origin.file.as_deref()))
                .at(origin.and_then(|origin| origin.span.clone()));
            (percent(mild) <= percent(urgent)).then_some(problem)
        });
        odd.collect()
    }

    /// What an emergency passes over is meant for when nothing else helps.
    fn eager_emergency(&self) -> Option<Problem> {
        const HIGHEST: u8 = 40;
        let origin = self.origin(&threshold(Tier::Emergency))?;
        let percent = self.policy.tiers.rule(Tier::Emergency).percent_remaining_lt;
        let model = origin.model.as_deref().map(|model| format!(", for model {model}"));
        (percent > HIGHEST).then(|| {
            let message = format!(
                "an emergency below {percent}% interrupts work that has room left{}: it waits for no boundary, asks no judge and passes guards",
                model.unwrap_or_default()
            );
            Problem::warning("early-emergency", message)
                .help(format!("use at most {HIGHEST}; to compact earlier, raise `asap`"))
                .in_file(origin.file.as_deref())
                .at(origin.span.clone())
        })
    }

    fn idle_inline(&self) -> Option<Problem> {
        let origin = self.origin("auto_compact.enabled")?;
        (self.policy.inline.enabled && self.policy.enabled).then(|| {
            Problem::hint("no-effect", "`[auto_compact]` rests while rawr decides itself")
                .help("set `features.rawr_auto_compaction = false` to use it".to_owned())
                .in_file(origin.file.as_deref())
                .at(origin.span.clone())
        })
    }

    fn speechless_judge(&self) -> Option<Problem> {
        let asked = matches!(self.judgment.backend, JudgeBackend::Responses | JudgeBackend::Chat);
        let origin = self.origin("rawr_auto_compaction.judgment.backend")?;
        (asked && self.judgment.model.is_none()).then(|| {
            Problem::warning("no-model", "a judge behind an endpoint needs a model")
                .help("set `rawr_auto_compaction.judgment.model`".to_owned())
                .in_file(origin.file.as_deref())
                .at(origin.span.clone())
        })
    }

    fn hurried_judge(&self) -> Option<Problem> {
        let (limit, deadline) = (self.judgment.timeout.as_secs(), self.policy.deadlines.judgment);
        // A shorter deadline alone is a wish like any other: it cuts the judge off.
        let origin = self.origin("rawr_auto_compaction.judgment.timeout_seconds")?;
        (limit > deadline).then(|| {
            let message =
                format!("a judge may take {limit} s, but is waited for only {deadline} s");
            Problem::warning("never-in-time", message)
                .help(
                    "`judgment.timeout_seconds` is at most `deadlines.judgment_seconds`".to_owned(),
                )
                .in_file(origin.file.as_deref())
                .at(origin.span.clone())
        })
    }
}
