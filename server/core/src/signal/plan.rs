//! Boundaries from a change of the plan.

use crate::boundary::{Boundaries, Boundary};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// How far a step of a plan has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanItemStatus {
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
    pub status: PlanItemStatus,
}

/// The steps that are not done.
pub fn open_steps(plan: &[PlanItem]) -> impl Iterator<Item = &PlanItem> {
    plan.iter().filter(|step| step.status != PlanItemStatus::Completed)
}

/// A newly completed step is a checkpoint as well as an update. The same plan again yields nothing.
pub fn boundaries(before: &[PlanItem], after: &[PlanItem]) -> Boundaries {
    if before == after {
        return Boundaries::NONE;
    }
    let is_done = |step: &&PlanItem| step.status == PlanItemStatus::Completed;
    let done: HashSet<_> = before.iter().filter(is_done).map(|step| step.step.as_str()).collect();
    let newly_completed =
        after.iter().filter(is_done).any(|step| !done.contains(step.step.as_str()));
    let checkpoint = if newly_completed {
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
            'x' => PlanItemStatus::Completed,
            '>' => PlanItemStatus::InProgress,
            _ => PlanItemStatus::Pending,
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
}
