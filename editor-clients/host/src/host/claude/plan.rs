//! The plan of Claude Code's agent, folded from its tool calls: `TodoWrite` and `TaskList` replace it, `TaskCreate` and
//! `TaskUpdate` change single tasks. Pure.

use rawr_protocol::{PlanStep, StepStatus};
use serde::Deserialize;
use serde_json::Value;

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

impl ClaudePlan {
    /// Applies a successful call. Returns the new plan; `None` if the call did not change it.
    pub fn called(&mut self, tool: &str, input: &Value, answer: &Value) -> Option<Vec<PlanStep>> {
        match tool {
            "TodoWrite" => self.written(TodoWriteInput::deserialize(input).ok()?),
            "TaskCreate" => self.created(TaskCreateResult::deserialize(answer).ok()?.task),
            // A refused update is not marked as an error of the call.
            "TaskUpdate" if answer["success"] == false => return None,
            "TaskUpdate" => self.updated(TaskUpdateInput::deserialize(input).ok()?)?,
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
    use serde_json::json;

    use super::*;

    fn check(calls: &[(&str, Value, Value)], expected: &str) {
        let mut plan = ClaudePlan::default();
        let mut told = None;
        for (tool, input, answer) in calls {
            told = plan.called(tool, input, answer);
        }
        let told = told.map(|steps| {
            let steps = steps.iter().map(|step| format!("{} {}", step.step, step.status));
            steps.collect::<Vec<_>>().join(", ")
        });
        assert_eq!(told.as_deref().unwrap_or("no news"), expected);
    }

    fn created(id: &str, subject: &str) -> (&'static str, Value, Value) {
        ("TaskCreate", json!({}), json!({"task": {"id": id, "subject": subject}}))
    }

    fn updated(input: Value) -> (&'static str, Value, Value) {
        ("TaskUpdate", input, json!({"success": true}))
    }

    #[test]
    fn todo_write_replaces_the_plan() {
        let list = |status: &str| {
            let todos = json!([{"content": "parser", "status": status, "activeForm": "…"}]);
            ("TodoWrite", json!({ "todos": todos }), Value::Null)
        };
        check(&[list("in_progress"), list("completed")], "parser completed");
    }

    #[test]
    fn task_calls_add_change_and_delete_one_step() {
        let tasks = [created("1", "parser"), created("2", "docs")];
        check(&tasks, "parser pending, docs pending");
        let done = updated(json!({"taskId": "1", "status": "completed"}));
        check(&[tasks[0].clone(), tasks[1].clone(), done], "parser completed, docs pending");
        let named = updated(json!({"taskId": "2", "subject": "README"}));
        check(&[tasks[0].clone(), tasks[1].clone(), named], "parser pending, README pending");
        let gone = updated(json!({"taskId": "1", "status": "deleted"}));
        check(&[tasks[0].clone(), tasks[1].clone(), gone], "docs pending");
    }

    /// As recorded from Claude Code 2.1: its answers repeat the fields that changed.
    #[test]
    fn a_task_goes_through_its_statuses() {
        let update = |status: &str, from: &str| {
            let change = json!({"from": from, "to": status});
            let answer = json!({"success": true, "taskId": "1", "updatedFields": ["status"], "statusChange": change});
            ("TaskUpdate", json!({"taskId": "1", "status": status}), answer)
        };
        let new = created("1", "Read the README");
        let begun = update("in_progress", "pending");
        check(&[new.clone(), begun.clone()], "Read the README in_progress");
        let done = update("completed", "in_progress");
        check(&[new, begun, done], "Read the README completed");
    }

    #[test]
    fn a_failed_update_does_not_change_the_plan() {
        let input = json!({"taskId": "1", "status": "completed"});
        let answer =
            json!({"success": false, "taskId": "1", "updatedFields": [], "error": "blocked"});
        check(&[created("1", "parser"), ("TaskUpdate", input, answer)], "no news");
    }

    #[test]
    fn a_list_of_tasks_replaces_the_plan() {
        let tasks = json!({"tasks": [
            {"id": "1", "subject": "parser", "status": "completed", "blockedBy": []},
            {"id": "2", "subject": "docs", "status": "pending", "blockedBy": ["1"]},
        ]});
        let listed = ("TaskList", json!({}), tasks);
        check(std::slice::from_ref(&listed), "parser completed, docs pending");
        let begun = updated(json!({"taskId": "2", "status": "in_progress"}));
        check(&[created("1", "parser"), listed, begun], "parser completed, docs in_progress");
        let none = ("TaskList", json!({}), json!({"tasks": []}));
        check(&[created("1", "parser"), none], "");
    }

    #[test]
    fn other_calls_and_unknown_tasks_do_not_change_the_plan() {
        check(&[("Bash", json!({"command": "ls"}), Value::Null)], "no news");
        check(&[updated(json!({"taskId": "9", "status": "completed"}))], "no news");
        check(&[("TodoWrite", json!({"todos": "?"}), Value::Null)], "no news");
    }
}
