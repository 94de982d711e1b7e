//! The agent's tools: how a model is told of them, and what it wrote read as one of them. Runs nothing.

use rawr_protocol::PlanStep;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::model::Call;

/// What an agent can do beside talking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case", deny_unknown_fields)]
pub enum Tool {
    UpdatePlan {
        plan: Vec<PlanStep>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explanation: Option<String>,
    },
    Shell {
        command: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_seconds: Option<u64>,
    },
    /// Paths are below the working directory.
    ReadFile {
        path: String,
        /// The first one is 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_line: Option<usize>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<usize>,
    },
    WriteFile {
        path: String,
        content: String,
    },
}

/// The field that tells tools apart, beside their arguments.
const NAME: &str = "tool";

impl Tool {
    /// What is wrong with a call is for the model, which may then write a better one.
    pub(super) fn read(call: &Call) -> Result<Self, String> {
        let no_such =
            || format!("there is no tool {:?}: use one of {}", call.name, NAMES.join(", "));
        if !NAMES.contains(&call.name.as_str()) {
            return Err(no_such());
        }
        let arguments = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
        let not_understood = |why: &dyn std::fmt::Display| {
            format!("the arguments of {} are not understood: {why}", call.name)
        };
        let mut value: Value =
            serde_json::from_str(arguments).map_err(|error| not_understood(&error))?;
        let Some(fields) = value.as_object_mut() else {
            return Err(not_understood(&"they are no JSON object"));
        };
        fields.retain(|_, value| !value.is_null());
        fields.insert(NAME.to_owned(), call.name.as_str().into());
        serde_json::from_value(value).map_err(|error| not_understood(&error))
    }

    /// The name and the arguments, as a model would have written them.
    pub(super) fn written(&self) -> (String, String) {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        let name = value.as_object_mut().and_then(|fields| fields.remove(NAME));
        (name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(), value.to_string())
    }
}

const NAMES: [&str; 4] = ["update_plan", "shell", "read_file", "write_file"];

/// For the provider: what there is, when to use it, and the schema of its arguments.
pub(super) fn definitions() -> Vec<Value> {
    let text = |about: &str| json!({"type": "string", "description": about});
    let number = |about: &str| json!({"type": "integer", "minimum": 1, "description": about});
    let step = json!({
        "type": "object",
        "properties": {
            "step": {"type": "string"},
            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
        },
        "required": ["step", "status"],
        "additionalProperties": false,
    });
    vec![
        tool(
            "update_plan",
            "Replaces the plan. Call it when you begin work of several steps, and whenever a step begins or is done.",
            json!({
                "plan": {"type": "array", "items": step, "description": "Every step, in order."},
                "explanation": text("What changed, in a sentence."),
            }),
            &["plan"],
        ),
        tool(
            "shell",
            "Runs a command line with sh in the working directory and gives its exit code and output. What it leaves running is ended with it.",
            json!({
                "command": text("The command line."),
                "timeout_seconds": number("After so many seconds it is stopped; 120 if absent."),
            }),
            &["command"],
        ),
        tool(
            "read_file",
            "Gives the lines of a text file below the working directory.",
            json!({
                "path": text("Relative to the working directory."),
                "first_line": number("Where to begin; 1 if absent."),
                "lines": number("How many lines at most."),
            }),
            &["path"],
        ),
        tool(
            "write_file",
            "Writes a whole text file below the working directory, and the folders that it needs.",
            json!({
                "path": text("Relative to the working directory."),
                "content": text("The whole new content."),
            }),
            &["path", "content"],
        ),
    ]
}

fn tool(name: &str, about: &str, properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": name,
            "description": about,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> Call {
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        Call { id: "1".to_owned(), name, arguments }
    }

    fn check_wrong(name: &str, arguments: &str, words: &str) {
        let error = Tool::read(&call(name, arguments)).unwrap_err();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn what_is_wrong_with_a_call_is_told_to_the_model() {
        check_wrong("browse", "{}", "use one of update_plan, shell, read_file, write_file");
        check_wrong("shell", "{\"command\": \"ls", "arguments of shell are not understood");
        check_wrong("shell", "[]", "no JSON object");
        check_wrong("shell", "", "missing field `command`");
        check_wrong("write_file", "{\"path\": \"a\"}", "missing field `content`");
    }

    #[test]
    fn an_argument_that_is_null_is_an_argument_that_is_absent() {
        let read = Tool::read(&call("shell", r#"{"command": "ls", "timeout_seconds": null}"#));
        let command = "ls".to_owned();
        assert_eq!(read, Ok(Tool::Shell { command, timeout_seconds: None }));
    }

    #[test]
    fn every_tool_that_is_offered_can_be_read_as_it_is_written() {
        let path = || "a.txt".to_owned();
        let tools = [
            Tool::UpdatePlan { plan: Vec::new(), explanation: None },
            Tool::Shell { command: "ls".to_owned(), timeout_seconds: Some(1) },
            Tool::ReadFile { path: path(), first_line: Some(2), lines: None },
            Tool::WriteFile { path: path(), content: "text".to_owned() },
        ];
        for (tool, definition) in tools.iter().zip(definitions()) {
            let call = Call::from(tool);
            assert_eq!(Tool::read(&call).as_ref(), Ok(tool));
            assert_eq!(definition["function"]["name"], call.name);
        }
        assert_eq!(definitions().len(), NAMES.len());
    }
}
