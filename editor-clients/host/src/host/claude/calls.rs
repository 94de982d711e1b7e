//! Claude Code's tool calls: detects shell commands and their exit codes. Pure.

use serde_json::Value;

use crate::host::HostEvent;
use rawr_records::plan::ClaudePlan;

/// A tool call of the agent or of a sub-agent.
#[derive(Debug)]
pub struct ClaudeToolCall {
    /// The tool's name.
    pub name: String,
    /// The tool's arguments.
    pub input: Value,
    /// Whether the main agent made it, not a sub-agent.
    pub is_main: bool,
}

/// The command and its exit code, if the call ran a shell command and its exit code is known.
pub fn ended(
    call: &ClaudeToolCall,
    content: &Value,
    is_error: bool,
    data: &Value,
) -> Option<(String, i64)> {
    if call.name != "Bash" {
        return None;
    }
    let command = call.input["command"].as_str()?.to_owned();
    let exit_code = if is_error { failed(&text_of(content))? } else { succeeded(data)? };
    Some((command, exit_code))
}

/// A tool call that ended, and where.
pub(in crate::host) struct FinishedCall<'c> {
    pub(in crate::host) turn_id: String,
    pub(in crate::host) call_id: String,
    pub(in crate::host) cwd: &'c str,
    pub(in crate::host) call: &'c ClaudeToolCall,
    /// The text for the model.
    pub(in crate::host) content: &'c Value,
    pub(in crate::host) is_error: bool,
    /// The result as JSON.
    pub(in crate::host) data: &'c Value,
}

impl FinishedCall<'_> {
    /// Reports the command, the change of the plan, and the end.
    pub(in crate::host) fn report(self, plan: &mut ClaudePlan, events: &mut Vec<HostEvent>) {
        let Self { turn_id, call_id, cwd, call, content, is_error, data } = self;
        if let Some((command, exit_code)) = ended(call, content, is_error, data) {
            events.push(HostEvent::CommandFinished {
                turn_id: turn_id.clone(),
                call_id: call_id.clone(),
                command,
                exit_code,
                cwd: cwd.to_owned(),
            });
        }
        if !is_error
            && call.is_main
            && let Some(steps) = plan.called(&call.name, &call.input, data)
        {
            events.push(HostEvent::PlanUpdated {
                turn_id: turn_id.clone(),
                call_id: Some(call_id.clone()),
                steps,
                explanation: None,
            });
        }
        events.push(HostEvent::ToolFinished { turn_id, call_id });
    }
}

/// The exit code in an error text. A refused or timed-out command has none.
fn failed(text: &str) -> Option<i64> {
    let number = text.strip_prefix("Exit code ")?;
    number.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// The exit code of a call without an error. `None` if the command still runs, or if its nonzero exit code does not mean an
/// error, because Claude Code does not report that code.
fn succeeded(data: &Value) -> Option<i64> {
    let is = |field: &str| data.get(field).is_some_and(|value| *value != Value::Bool(false));
    let odd = ["interrupted", "backgroundTaskId", "returnCodeInterpretation"].into_iter().any(is);
    (!odd).then_some(0)
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(content: &str, is_error: bool, data: Value, expected: Option<i64>) {
        let call =
            ClaudeToolCall { name: "Bash".into(), input: json!({"command": "x"}), is_main: true };
        let ended = ended(&call, &content.into(), is_error, &data);
        assert_eq!(ended.map(|(_, exit_code)| exit_code), expected, "{content}");
    }

    #[test]
    fn the_exit_code_is_read_from_the_result() {
        check("done", false, json!({"stdout": "done", "interrupted": false}), Some(0));
        check("Exit code 3\nno such file", true, json!("Error: Exit code 3"), Some(3));
        check("Exit code 128", true, json!("Error: Exit code 128"), Some(128));
        check("This command requires approval", true, json!("Error: …"), None);
        check("Command running in background", false, json!({"backgroundTaskId": "b1"}), None);
        check("stopped", false, json!({"stdout": "", "interrupted": true}), None);
        check("", false, json!({"returnCodeInterpretation": "No matches found"}), None);
    }

    #[test]
    fn other_tools_have_no_exit_code() {
        let call =
            ClaudeToolCall { name: "Read".into(), input: json!({"command": "x"}), is_main: true };
        assert_eq!(ended(&call, &"".into(), false, &json!({})), None);
    }
}
