//! Calls of Claude Code's tools: whether one was a shell command that ended, and with which exit code. Pure.

use serde_json::Value;

/// A call as the agent made it.
#[derive(Debug)]
pub struct Call {
    pub name: String,
    pub input: Value,
    /// Rather than a sub-agent's.
    pub is_main: bool,
}

/// The command and its exit code, where Claude Code tells that there is one.
pub fn ended(call: &Call, content: &Value, is_error: bool, data: &Value) -> Option<(String, i64)> {
    if call.name != "Bash" {
        return None;
    }
    let command = call.input["command"].as_str()?.to_owned();
    let exit_code = if is_error { failed(&text_of(content))? } else { succeeded(data)? };
    Some((command, exit_code))
}

/// A command that was refused or timed out has no exit code, and is told in other words.
fn failed(text: &str) -> Option<i64> {
    let number = text.strip_prefix("Exit code ")?;
    number.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// One that still runs has not ended. One whose exit code means no error has another than 0, and Claude Code does
/// not tell which.
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
        let call = Call { name: "Bash".into(), input: json!({"command": "x"}), is_main: true };
        let ended = ended(&call, &content.into(), is_error, &data);
        assert_eq!(ended.map(|(_, exit_code)| exit_code), expected, "{content}");
    }

    #[test]
    fn only_what_is_told_is_taken_for_an_exit_code() {
        check("done", false, json!({"stdout": "done", "interrupted": false}), Some(0));
        check("Exit code 3\nno such file", true, json!("Error: Exit code 3"), Some(3));
        check("Exit code 128", true, json!("Error: Exit code 128"), Some(128));
        check("This command requires approval", true, json!("Error: …"), None);
        check("Command running in background", false, json!({"backgroundTaskId": "b1"}), None);
        check("stopped", false, json!({"stdout": "", "interrupted": true}), None);
        check("", false, json!({"returnCodeInterpretation": "No matches found"}), None);
    }

    #[test]
    fn other_tools_are_no_commands() {
        let call = Call { name: "Read".into(), input: json!({"command": "x"}), is_main: true };
        assert_eq!(ended(&call, &"".into(), false, &json!({})), None);
    }
}
