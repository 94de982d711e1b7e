//! The steps of a plan, as the core has them and as hosts report them.

use rawr_core::signal::plan::{self, PlanItem};
use rawr_protocol::{PlanStep, StepStatus};

/// The steps as the core has them.
pub(crate) fn plan_items(steps: Vec<PlanStep>) -> Vec<PlanItem> {
    let item = |PlanStep { step, status }| {
        let status = match status {
            StepStatus::Completed => plan::StepStatus::Completed,
            StepStatus::InProgress => plan::StepStatus::InProgress,
            _ => plan::StepStatus::Pending,
        };
        PlanItem { step, status }
    };
    steps.into_iter().map(item).collect()
}

/// The steps as hosts report them.
pub fn plan_steps(items: Vec<PlanItem>) -> Vec<PlanStep> {
    let step = |PlanItem { step, status }| {
        let status = match status {
            plan::StepStatus::Completed => StepStatus::Completed,
            plan::StepStatus::InProgress => StepStatus::InProgress,
            plan::StepStatus::Pending => StepStatus::Pending,
        };
        PlanStep { step, status }
    };
    items.into_iter().map(step).collect()
}
