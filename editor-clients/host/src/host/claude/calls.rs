//! Claude Code's tool calls: detects shell commands and their exit codes. Pure.

use serde_json::Value;

use crate::host::HostEvent;
use rawr_records::claude::calls::exit_code;
use rawr_records::claude::plan::ClaudePlan;

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
fn ended(
    call: &ClaudeToolCall,
    content: &Value,
    is_error: bool,
    data: &Value,
) -> Option<(String, i64)> {
    if call.name != "Bash" {
        return None;
    }
    let command = call.input["command"].as_str()?.to_owned();
    Some((command, exit_code(&text_of(content), is_error, Some(data))?))
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

    #[test]
    fn other_tools_have_no_exit_code() {
        let call =
            ClaudeToolCall { name: "Read".into(), input: json!({"command": "x"}), is_main: true };
        assert_eq!(ended(&call, &"".into(), false, &json!({})), None);
    }
}
