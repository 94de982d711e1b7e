//! The plan of Claude Code's agent, folded from its tool calls: `TodoWrite` and `TaskList` replace it, `TaskCreate` and
//! `TaskUpdate` change single tasks.

use rawr_protocol::{PlanStep, StepStatus};
use serde::{Deserialize, Deserializer};

/// The current steps in the order of their creation.
#[derive(Debug, Default)]
pub struct ClaudePlan {
    steps: Vec<(String, PlanStep)>,
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

#[derive(Deserialize)]
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

impl ClaudePlan {
    /// Whether a call of this tool may change the plan.
    pub fn is_changed_by(tool: &str) -> bool {
        ["TodoWrite", "TaskCreate", "TaskUpdate", "TaskList"].contains(&tool)
    }

    /// Whether the call alone says the new plan.
    pub fn is_told_by_call(tool: &str) -> bool {
        tool == "TodoWrite"
    }

    /// Applies a successful call. Returns the new plan; `None` if the call did not change it.
    pub fn called<'v>(
        &mut self,
        tool: &str,
        input: impl Deserializer<'v>,
        answer: impl Deserializer<'v>,
    ) -> Option<Vec<PlanStep>> {
        match tool {
            "TodoWrite" => self.written(TodoWriteInput::deserialize(input).ok()?),
            "TaskCreate" => self.created(TaskCreateResult::deserialize(answer).ok()?.task),
            "TaskUpdate" => {
                // A refused update is not marked as an error of the call.
                let refused = |answer: TaskUpdateResult| !answer.success;
                if TaskUpdateResult::deserialize(answer).is_ok_and(refused) {
                    return None;
                }
                self.updated(TaskUpdateInput::deserialize(input).ok()?)?;
            }
            "TaskList" => self.listed(TaskListResult::deserialize(answer).ok()?),
            _ => return None,
        }
        Some(self.steps.iter().map(|(_, step)| step.clone()).collect())
    }

    fn written(&mut self, TodoWriteInput { todos }: TodoWriteInput) {
        let step = |todo: TodoEntry| PlanStep { step: todo.content, status: status(&todo.status) };
        self.steps = todos.into_iter().map(|todo| (String::new(), step(todo))).collect();
    }

    fn created(&mut self, CreatedTask { id, subject }: CreatedTask) {
        self.steps.push((id, PlanStep { step: subject, status: StepStatus::Pending }));
    }

    /// Also has the tasks that were created before rawr joined.
    fn listed(&mut self, TaskListResult { tasks }: TaskListResult) {
        let step = |task: ListedTask| {
            (task.id, PlanStep { step: task.subject, status: status(&task.status) })
        };
        self.steps = tasks.into_iter().map(step).collect();
    }

    /// `None` for an unknown task, such as one that was created before rawr joined and not listed since.
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
    use serde_json::Value;
    use serde_json::value::RawValue;

    #[derive(Deserialize)]
    struct Case {
        name: String,
        calls: Vec<(String, Box<RawValue>, Box<RawValue>)>,
        plan: Option<Vec<String>>,
    }

    #[test]
    fn calls_of_a_session_and_of_its_record_are_folded_alike() {
        let cases = include_str!("../../../../tests/samples/claude-plans.json");
        for case in serde_json::from_str::<Vec<Case>>(cases).unwrap() {
            let (mut live, mut recorded) = <(ClaudePlan, ClaudePlan)>::default();
            let mut told = [None, None];
            for (tool, input, answer) in &case.calls {
                let value = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).unwrap();
                let (input_value, answer_value) = (value(input), value(answer));
                told = [
                    live.called(tool, &input_value, &answer_value),
                    recorded.called(tool, &**input, &**answer),
                ];
            }
            let shown = |step: &PlanStep| format!("{} {}", step.step, step.status);
            let told = told.map(|plan| Some(plan?.iter().map(shown).collect::<Vec<_>>()));
            assert_eq!(told, [case.plan.clone(), case.plan], "{}", case.name);
        }
    }
}
