//! The calls that change the plan, from a record: their input is in one line and their answer in another.

use crate::claude::plan::ClaudePlan;
use crate::plan::plan_items;
use rawr_core::signal::plan::PlanItem;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The plan so far, and the calls that have no answer yet, by their id.
#[derive(Debug, Default)]
pub struct RecordedPlan {
    plan: ClaudePlan,
    calls: HashMap<String, (String, Box<RawValue>)>,
}

impl RecordedPlan {
    /// A tool is called. Returns the new plan if the call alone says it.
    pub fn called(
        &mut self,
        tool: &str,
        id: Option<&str>,
        input: &RawValue,
    ) -> Option<Vec<PlanItem>> {
        if ClaudePlan::is_told_by_call(tool) {
            return self.plan.called(tool, input, &Value::Null).map(plan_items);
        }
        if ClaudePlan::is_changed_by(tool) {
            self.calls.insert(id?.to_owned(), (tool.to_owned(), input.to_owned()));
        }
        None
    }

    /// A call was answered. Returns the new plan; `None` if the call failed, or did not change it.
    pub fn answered(
        &mut self,
        id: &str,
        answer: Option<&RawValue>,
        is_error: bool,
    ) -> Option<Vec<PlanItem>> {
        if self.calls.is_empty() {
            return None;
        }
        let (tool, input) = self.calls.remove(id).filter(|_| !is_error)?;
        self.plan.called(&tool, &*input, answer?).map(plan_items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_changes_nothing() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let mut plan = RecordedPlan::default();
        let answer = raw(r#"{"task": {"id": "1", "subject": "parser"}}"#);
        assert_eq!(plan.called("TaskCreate", Some("c"), &raw("{}")), None);
        assert_eq!(plan.answered("c", Some(&answer), true), None);
        assert_eq!(plan.answered("c", Some(&answer), false), None);
    }
}
