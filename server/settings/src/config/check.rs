//! Problems of a configuration as a whole, although each value is valid.

use super::{Config, KeyOrigin, required, threshold};
use crate::problem::FileProblem;
use rawr_core::policy::{JudgeBackend, Tier};

impl Config {
    pub(super) fn oddities(&self) -> Vec<FileProblem> {
        let mut problems = self.restrictions();
        problems.extend(self.odd_thresholds());
        problems.extend(self.eager_emergency());
        problems.extend(Tier::ALL.into_iter().filter_map(|tier| self.idle_boundaries(tier)));
        problems.extend(self.idle_inline());
        problems.extend(self.speechless_judge());
        problems.extend(self.hurried_judge());
        problems
    }

    /// A tier can only be selected if the next more urgent one starts lower.
    fn odd_thresholds(&self) -> Vec<FileProblem> {
        let on = |tier: &Tier| self.policy.tiers.rule(*tier).percent_remaining_lt > 0;
        let tiers: Vec<_> = Tier::ALL.into_iter().filter(on).collect();
        let odd = tiers.windows(2).filter_map(|pair| {
            let [mild, urgent] = pair else { return None };
            let percent = |tier: &Tier| self.policy.tiers.rule(*tier).percent_remaining_lt;
            let written = |tier: &Tier| self.origin(&threshold(*tier));
            let origins = [written(mild), written(urgent)];
            let of_model = |origin: &&KeyOrigin| origin.model.is_some();
            let origin = origins
                .into_iter()
                .flatten()
                .find(of_model)
                .or_else(|| origins.into_iter().flatten().next());
            let model = origin.and_then(|origin| origin.model.as_deref());
            let message = format!(
                "{mild} (below {}%) is never reached before {urgent} (below {}%){}",
                percent(mild),
                percent(urgent),
                model.map(|model| format!(", for model {model}")).unwrap_or_default()
            );
            let problem = FileProblem::warning("threshold-order", message)
                .help(
                    "set the thresholds in descending order: early, ready, asap, emergency"
                        .to_owned(),
                )
                .in_file(origin.and_then(|origin| origin.file.as_deref()))
                .at(origin.and_then(|origin| origin.span.clone()));
            (percent(mild) <= percent(urgent)).then_some(problem)
        });
        odd.collect()
    }

    /// Emergencies override so much because nothing else helps then.
    fn eager_emergency(&self) -> Option<FileProblem> {
        const HIGHEST: u8 = 40;
        let origin = self.origin(&threshold(Tier::Emergency))?;
        let percent = self.policy.tiers.rule(Tier::Emergency).percent_remaining_lt;
        let model = origin.model.as_deref().map(|model| format!(", for model {model}"));
        (percent > HIGHEST).then(|| {
            let message = format!(
                "an emergency below {percent}% interrupts work while there is room left{}: it ignores boundaries, the judge and guards",
                model.unwrap_or_default()
            );
            FileProblem::warning("early-emergency", message)
                .help(format!("use at most {HIGHEST}; to compact earlier, raise `asap`"))
                .in_file(origin.file.as_deref())
                .at(origin.span.clone())
        })
    }

    /// Boundaries that are required in a tier and never count there.
    fn idle_boundaries(&self, tier: Tier) -> Option<FileProblem> {
        // A short form stands for several tiers, and counts in some of them.
        let origin = self.origin(&required(tier)).filter(|origin| origin.short.is_none())?;
        let rule = self.policy.tiers.rule(tier);
        let idle = rule.required?.without(rule.counting(tier));
        (!idle.is_empty()).then(|| {
            let does = if idle.iter().count() == 1 { "does" } else { "do" };
            FileProblem::warning("no-effect", format!("{idle} {does} not count in {tier}"))
                .help("they count in a tier with `confirm`".to_owned())
                .in_file(origin.file.as_deref())
                .at(origin.span.clone())
        })
    }

    fn idle_inline(&self) -> Option<FileProblem> {
        let origin = self.origin("auto_compact.enabled")?;
        (self.policy.inline.enabled && self.policy.enabled).then(|| {
            FileProblem::hint(
                "no-effect",
                "`[auto_compact]` has no effect while `features.rawr_auto_compaction` is true",
            )
            .help("set `features.rawr_auto_compaction = false` to use it".to_owned())
            .in_file(origin.file.as_deref())
            .at(origin.span.clone())
        })
    }

    fn speechless_judge(&self) -> Option<FileProblem> {
        let asked = matches!(self.judgment.backend, JudgeBackend::Responses | JudgeBackend::Chat);
        let origin = self.origin("rawr_auto_compaction.judgment.backend")?;
        (asked && self.judgment.model.is_none()).then(|| {
            FileProblem::warning("no-model", "a judge that uses an endpoint needs a model")
                .help("set `rawr_auto_compaction.judgment.model`".to_owned())
                .in_file(origin.file.as_deref())
                .at(origin.span.clone())
        })
    }

    fn hurried_judge(&self) -> Option<FileProblem> {
        let (limit, deadline) = (self.judgment.timeout.as_secs(), self.policy.deadlines.judgment);
        // A shorter deadline alone may be intended: it cancels the judgment.
        let origin = self.origin("rawr_auto_compaction.judgment.timeout_seconds")?;
        (limit > deadline).then(|| {
            let message =
                format!("the judge's timeout is {limit} s, but rawr waits only {deadline} s");
            FileProblem::warning("never-in-time", message)
                .help(
                    "set `judgment.timeout_seconds` to at most `deadlines.judgment_seconds`"
                        .to_owned(),
                )
                .in_file(origin.file.as_deref())
                .at(origin.span.clone())
        })
    }
}
