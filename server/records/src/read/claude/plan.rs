//! The plan of Claude Code's agent, folded from its tool calls: `TodoWrite` and `TaskList` replace it, `TaskCreate` and
//! `TaskUpdate` change single tasks. The host that rawr drives folds the same from its messages; a file of calls, which the
//! tests of both read, holds them together.

use rawr_core::signal::plan::{PlanItem, StepStatus};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The current steps in the order of their creation, and the calls that have no answer yet.
#[derive(Debug, Default)]
pub struct ClaudePlan {
    steps: Vec<(String, PlanItem)>,
    calls: HashMap<String, TaskCall>,
}

#[derive(Debug)]
enum TaskCall {
    Create,
    Update(TaskUpdateInput),
    List,
}

#[derive(Deserialize)]
struct TodoWriteInput {
    todos: Vec<TodoEntry>,
}

#[derive(Deserialize)]
struct TodoEntry {
    content: String,
    status: String,
}

#[derive(Deserialize)]
struct TaskCreateResult {
    task: CreatedTask,
}

#[derive(Deserialize)]
struct CreatedTask {
    id: String,
    subject: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskUpdateInput {
    task_id: String,
    status: Option<String>,
    subject: Option<String>,
}

#[derive(Deserialize)]
struct TaskUpdateResult {
    success: bool,
}

#[derive(Deserialize)]
struct TaskListResult {
    tasks: Vec<ListedTask>,
}

#[derive(Deserialize)]
struct ListedTask {
    id: String,
    subject: String,
    status: String,
}

impl ClaudePlan {
    /// A tool is called. Returns the new plan if the call alone says it.
    pub fn called(
        &mut self,
        tool: &str,
        id: Option<&str>,
        input: &RawValue,
    ) -> Option<Vec<PlanItem>> {
        let call = match tool {
            "TodoWrite" => {
                let TodoWriteInput { todos } = serde_json::from_str(input.get()).ok()?;
                let step = |todo: TodoEntry| (String::new(), item(todo.content, &todo.status));
                self.steps = todos.into_iter().map(step).collect();
                return Some(self.plan());
            }
            "TaskCreate" => TaskCall::Create,
            "TaskUpdate" => TaskCall::Update(serde_json::from_str(input.get()).ok()?),
            "TaskList" => TaskCall::List,
            _ => return None,
        };
        self.calls.insert(id?.to_owned(), call);
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
        let call = self.calls.remove(id)?;
        let answer = answer?.get();
        match call {
            _ if is_error => return None,
            TaskCall::Create => {
                let TaskCreateResult { task } = serde_json::from_str(answer).ok()?;
                self.steps.push((task.id, item(task.subject, "pending")));
            }
            TaskCall::Update(update) => {
                // A refused update is not marked as an error of the call.
                let refused = |answer: TaskUpdateResult| !answer.success;
                if serde_json::from_str(answer).is_ok_and(refused) {
                    return None;
                }
                self.updated(update)?;
            }
            TaskCall::List => {
                let TaskListResult { tasks } = serde_json::from_str(answer).ok()?;
                let step = |task: ListedTask| (task.id, item(task.subject, &task.status));
                self.steps = tasks.into_iter().map(step).collect();
            }
        }
        Some(self.plan())
    }

    /// `None` for a task that the record does not name.
    fn updated(&mut self, update: TaskUpdateInput) -> Option<()> {
        let at = self.steps.iter().position(|(id, _)| *id == update.task_id)?;
        if update.status.as_deref() == Some("deleted") {
            self.steps.remove(at);
            return Some(());
        }
        let (_, step) = self.steps.get_mut(at)?;
        if let Some(said) = &update.status {
            step.status = status(said);
        }
        if let Some(subject) = update.subject {
            step.step = subject;
        }
        Some(())
    }

    fn plan(&self) -> Vec<PlanItem> {
        self.steps.iter().map(|(_, step)| step.clone()).collect()
    }
}

fn item(step: String, said: &str) -> PlanItem {
    PlanItem { step, status: status(said) }
}

/// An unknown status counts as pending.
fn status(said: &str) -> StepStatus {
    match said {
        "completed" => StepStatus::Completed,
        "in_progress" => StepStatus::InProgress,
        _ => StepStatus::Pending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Case {
        name: String,
        calls: Vec<(String, Box<RawValue>, Box<RawValue>)>,
        plan: Option<Vec<String>>,
    }

    #[test]
    fn calls_are_folded_as_from_a_live_session() {
        let cases = include_str!("../../../../../tests/samples/claude-plans.json");
        for case in serde_json::from_str::<Vec<Case>>(cases).unwrap() {
            let mut plan = ClaudePlan::default();
            let mut told = None;
            for (tool, input, answer) in &case.calls {
                let at_once = plan.called(tool, Some("c"), input);
                told = at_once.or(plan.answered("c", Some(answer), false));
            }
            let shown = |it: PlanItem| {
                let status = match it.status {
                    StepStatus::Completed => "completed",
                    StepStatus::InProgress => "in_progress",
                    StepStatus::Pending => "pending",
                };
                format!("{} {status}", it.step)
            };
            let told = told.map(|plan| plan.into_iter().map(shown).collect::<Vec<_>>());
            assert_eq!(told, case.plan, "{}", case.name);
        }
    }

    #[test]
    fn a_failed_call_changes_nothing() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let mut plan = ClaudePlan::default();
        let answer = raw(r#"{"task": {"id": "1", "subject": "parser"}}"#);
        assert_eq!(plan.called("TaskCreate", Some("c"), &raw("{}")), None);
        assert_eq!(plan.answered("c", Some(&answer), true), None);
        assert_eq!(plan.answered("c", Some(&answer), false), None);
    }
}
