//! What the result of a shell command of Claude Code's agent tells, in a session and in its record.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The result as data, as far as it says how the command went.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShellResult {
    interrupted: Option<Value>,
    background_task_id: Option<Value>,
    return_code_interpretation: Option<Value>,
}

/// The exit code of a shell command that was answered with this text, and with this data. `None` if the command never ran,
/// if it still runs, or if its nonzero exit code does not mean an error, because Claude Code does not report that code.
pub fn exit_code<'v>(
    said: &str,
    is_error: bool,
    data: Option<impl Deserializer<'v>>,
) -> Option<i64> {
    if is_error {
        let number = said.strip_prefix("Exit code ")?;
        return number.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok();
    }
    if said.starts_with("Command running in background") {
        return None;
    }
    let Some(result) = data.and_then(|data| ShellResult::deserialize(data).ok()) else {
        return Some(0);
    };
    let marks = [result.interrupted, result.background_task_id, result.return_code_interpretation];
    let is_odd = marks.into_iter().flatten().any(|mark| mark != Value::Bool(false));
    (!is_odd).then_some(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_exit_code_is_read_from_the_result() {
        let check = |said: &str, is_error: bool, data: Value, expected: Option<i64>| {
            assert_eq!(exit_code(said, is_error, Some(&data)), expected, "{said}");
        };
        check("done", false, json!({"stdout": "done", "interrupted": false}), Some(0));
        check("done", false, Value::Null, Some(0));
        check("Exit code 3\nno such file", true, json!("Error: Exit code 3"), Some(3));
        check("Exit code 128", true, json!("Error: Exit code 128"), Some(128));
        check("This command requires approval", true, json!("Error: …"), None);
        check("Command running in background", false, json!({"backgroundTaskId": "b1"}), None);
        check("stopped", false, json!({"stdout": "", "interrupted": true}), None);
        check("", false, json!({"returnCodeInterpretation": "No matches found"}), None);
    }
}
