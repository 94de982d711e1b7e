//! Boundaries from a change of the plan.

use crate::boundary::{Boundaries, Boundary};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// How far a step of a plan has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlanItem {
    /// What it says.
    pub step: String,
    /// How far it has come.
    pub status: StepStatus,
}

/// The steps that are not done.
pub fn open_steps(plan: &[PlanItem]) -> impl Iterator<Item = &PlanItem> {
    plan.iter().filter(|step| step.status != StepStatus::Completed)
}

/// A newly completed step is a checkpoint as well as an update. The same plan again yields nothing. A step has no name but
/// its text: one that was done before, and is done in other words, is not newly completed.
pub fn boundaries(before: &[PlanItem], after: &[PlanItem]) -> Boundaries {
    if before == after {
        return Boundaries::NONE;
    }
    let is_done = |step: &&PlanItem| step.status == StepStatus::Completed;
    let text = |step: &'_ PlanItem| step.step.clone();
    let known: HashSet<_> = before.iter().map(text).collect();
    let done = |steps: &[PlanItem]| steps.iter().filter(is_done).map(text).collect::<HashSet<_>>();
    let (before, after) = (done(before), done(after));
    let news: HashSet<_> = after.difference(&before).collect();
    let reworded = before.difference(&after).count();
    let completed = news.iter().any(|step| known.contains(*step));
    let checkpoint = if completed || news.len() > reworded {
        Boundaries::of(&[Boundary::PlanCheckpoint])
    } else {
        Boundaries::NONE
    };
    checkpoint.or(Boundaries::of(&[Boundary::PlanUpdate]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Vec<PlanItem> {
        let status = |mark| match mark {
            'x' => StepStatus::Completed,
            '>' => StepStatus::InProgress,
            _ => StepStatus::Pending,
        };
        text.split_whitespace()
            .map(|word| PlanItem {
                step: word[1..].to_owned(),
                status: status(word.as_bytes()[0] as char),
            })
            .collect()
    }

    fn check(before: &str, after: &str, expected: &str) {
        assert_eq!(
            boundaries(&plan(before), &plan(after)).to_string(),
            expected,
            "{before} to {after}"
        );
    }

    // rule: boundary.plan
    // rule: signal.structured-end
    #[test]
    fn a_step_newly_completed_is_a_checkpoint() {
        check(".a .b", "xa .b", "plan_checkpoint, plan_update");
        check("", "xa", "plan_checkpoint, plan_update");
        check("xa .b", ".b xa .c", "plan_update");
        check("xa .b", "xa >b", "plan_update");
        check("xa", "", "plan_update");
        check("xa .b", "xa .b", "none");
    }

    // rule: boundary.step-reworded
    #[test]
    fn a_completed_step_in_other_words_is_no_checkpoint() {
        check("xa .b", "xA .b", "plan_update");
        check("xa .b", "xA xb", "plan_checkpoint, plan_update");
        check("xa .b", "xb", "plan_checkpoint, plan_update");
        check("xa .b", "xA xc .b", "plan_checkpoint, plan_update");
    }
}
