//! The agent's tools: their definitions for the model, and the parsing of calls.

use rawr_protocol::{PlanStep, read_json};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A call of one of the agent's tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case", deny_unknown_fields)]
pub enum Tool {
    /// Replaces the plan.
    UpdatePlan {
        /// All steps.
        plan: Vec<PlanStep>,
        /// The reason for the change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explanation: Option<String>,
    },
    /// Runs a command line with `sh`.
    Shell {
        /// The command line.
        command: String,
        /// Stop it after this time; 120 if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_seconds: Option<u64>,
    },
    /// Reads lines of a file below the working directory.
    ReadFile {
        /// The file.
        path: String,
        /// The first line, counted from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_line: Option<usize>,
        /// The largest number of lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<usize>,
    },
    /// Writes a file below the working directory.
    WriteFile {
        /// The file.
        path: String,
        /// The new content.
        content: String,
    },
}

/// The field with the tool's name, next to the arguments.
const NAME: &str = "tool";

impl Tool {
    /// Parses a call. The error is for the model, which may correct the call.
    pub(super) fn read(call: &ModelToolCall) -> Result<Self, String> {
        let no_such =
            || format!("there is no tool {:?}: use one of {}", call.name, NAMES.join(", "));
        if !NAMES.contains(&call.name.as_str()) {
            return Err(no_such());
        }
        let arguments = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
        let not_understood = |why: &dyn std::fmt::Display| {
            format!("failed to parse the arguments of {}: {why}", call.name)
        };
        let mut value: Value =
            read_json(arguments.as_bytes()).map_err(|error| not_understood(&error))?;
        let Some(fields) = value.as_object_mut() else {
            return Err(not_understood(&"not a JSON object"));
        };
        fields.retain(|_, value| !value.is_null());
        fields.insert(NAME.to_owned(), call.name.as_str().into());
        serde_json::from_value(value).map_err(|error| not_understood(&error))
    }

    /// The name and the arguments as a model writes them.
    pub(super) fn written(&self) -> (String, String) {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        let name = value.as_object_mut().and_then(|fields| fields.remove(NAME));
        (name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(), value.to_string())
    }
}

const NAMES: [&str; 4] = ["update_plan", "shell", "read_file", "write_file"];

/// The tool definitions for the provider.
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

/// A tool call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelToolCall {
    /// The provider's id of the call, which its result repeats; empty if there is none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, normally JSON.
    pub arguments: String,
}

impl From<&Tool> for ModelToolCall {
    fn from(tool: &Tool) -> Self {
        let (name, arguments) = tool.written();
        Self { id: String::new(), name, arguments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ModelToolCall {
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        ModelToolCall { id: "1".to_owned(), name, arguments }
    }

    fn check_wrong(name: &str, arguments: &str, words: &str) {
        let error = Tool::read(&call(name, arguments)).unwrap_err();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn an_invalid_call_is_explained_to_the_model() {
        check_wrong("browse", "{}", "use one of update_plan, shell, read_file, write_file");
        check_wrong("shell", "{\"command\": \"ls", "failed to parse the arguments of shell");
        check_wrong("shell", "[]", "not a JSON object");
        check_wrong("shell", "", "missing field `command`");
        check_wrong("write_file", "{\"path\": \"a\"}", "missing field `content`");
    }

    #[test]
    fn a_null_argument_counts_as_absent() {
        let read = Tool::read(&call("shell", r#"{"command": "ls", "timeout_seconds": null}"#));
        let command = "ls".to_owned();
        assert_eq!(read, Ok(Tool::Shell { command, timeout_seconds: None }));
    }

    #[test]
    fn every_defined_tool_round_trips() {
        let path = || "a.txt".to_owned();
        let tools = [
            Tool::UpdatePlan { plan: Vec::new(), explanation: None },
            Tool::Shell { command: "ls".to_owned(), timeout_seconds: Some(1) },
            Tool::ReadFile { path: path(), first_line: Some(2), lines: None },
            Tool::WriteFile { path: path(), content: "text".to_owned() },
        ];
        for (tool, definition) in tools.iter().zip(definitions()) {
            let call = ModelToolCall::from(tool);
            assert_eq!(Tool::read(&call).as_ref(), Ok(tool));
            assert_eq!(definition["function"]["name"], call.name);
        }
        assert_eq!(definitions().len(), NAMES.len());
    }
}
