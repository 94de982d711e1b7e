//! The plan that Claude Code's agent keeps, folded from its calls: one list written whole, or tasks written one by one. Pure.

use rawr_protocol::{PlanStep, StepStatus};
use serde::Deserialize;
use serde_json::Value;

/// The steps as they stand, in the order of their making.
#[derive(Debug, Default)]
pub struct Plan {
    steps: Vec<(String, PlanStep)>,
}

#[derive(Deserialize)]
struct Todos {
    todos: Vec<Todo>,
}

#[derive(Deserialize)]
struct Todo {
    content: String,
    status: String,
}

#[derive(Deserialize)]
struct Created {
    task: Task,
}

#[derive(Deserialize)]
struct Task {
    id: String,
    subject: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    task_id: String,
    status: Option<String>,
    subject: Option<String>,
}

impl Plan {
    /// The plan after a call that went well; `None` if the call did not concern it.
    pub fn called(&mut self, tool: &str, input: &Value, answer: &Value) -> Option<Vec<PlanStep>> {
        match tool {
            "TodoWrite" => self.written(Todos::deserialize(input).ok()?),
            "TaskCreate" => self.created(Created::deserialize(answer).ok()?.task),
            "TaskUpdate" => self.updated(Update::deserialize(input).ok()?)?,
            _ => return None,
        }
        Some(self.steps.iter().map(|(_, step)| step.clone()).collect())
    }

    fn written(&mut self, Todos { todos }: Todos) {
        let step = |todo: Todo| PlanStep { step: todo.content, status: status(&todo.status) };
        self.steps = todos.into_iter().map(|todo| (String::new(), step(todo))).collect();
    }

    fn created(&mut self, Task { id, subject }: Task) {
        self.steps.push((id, PlanStep { step: subject, status: StepStatus::Pending }));
    }

    /// `None` for a task that was made before rawr listened.
    fn updated(&mut self, update: Update) -> Option<()> {
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

/// Whatever else a newer Claude Code says, it is not done.
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
        let mut plan = Plan::default();
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
    fn a_list_that_is_written_whole_takes_the_place_of_the_one_before() {
        let list = |status: &str| {
            let todos = json!([{"content": "parser", "status": status, "activeForm": "…"}]);
            ("TodoWrite", json!({ "todos": todos }), Value::Null)
        };
        check(&[list("in_progress"), list("completed")], "parser completed");
    }

    #[test]
    fn tasks_are_made_changed_and_taken_away_one_by_one() {
        let tasks = [created("1", "parser"), created("2", "docs")];
        check(&tasks, "parser pending, docs pending");
        let done = updated(json!({"taskId": "1", "status": "completed"}));
        check(&[tasks[0].clone(), tasks[1].clone(), done], "parser completed, docs pending");
        let named = updated(json!({"taskId": "2", "subject": "README"}));
        check(&[tasks[0].clone(), tasks[1].clone(), named], "parser pending, README pending");
        let gone = updated(json!({"taskId": "1", "status": "deleted"}));
        check(&[tasks[0].clone(), tasks[1].clone(), gone], "docs pending");
    }

    #[test]
    fn what_is_not_a_plan_or_not_known_is_no_news() {
        check(&[("Bash", json!({"command": "ls"}), Value::Null)], "no news");
        check(&[updated(json!({"taskId": "9", "status": "completed"}))], "no news");
        check(&[("TodoWrite", json!({"todos": "?"}), Value::Null)], "no news");
    }
}
