//! Folds Claude Code's transcript into its last turn. Pure.

use std::collections::HashMap;
use std::mem::take;

use rawr_protocol::{CommandLine, Signal, read_json};
use serde::Deserialize;
use serde_json::Value;

use super::{LastTurn, UsedTokens, holds};
use rawr_host::host::claude::{ClaudeBlock, ClaudeMessage, ClaudePlan, ClaudeToolCall, ended};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TranscriptLine {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    message: Option<ClaudeMessage>,
    #[serde(default)]
    is_sidechain: bool,
    /// Whether Claude Code wrote it, not the user.
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    tool_use_result: Value,
    cwd: Option<String>,
}

/// Prefixes of messages that the user did not write: output of Claude Code's commands, and its summaries.
const OF_ITS_OWN: [&str; 4] = [
    "<local-command-",
    "<command-name>",
    "[Request interrupted",
    "This session is being continued from a previous conversation",
];

pub(super) fn last_turn<'l>(lines: impl Iterator<Item = &'l [u8]>) -> LastTurn {
    let mut fold = TranscriptFold::default();
    for line in lines {
        let counts = ["\"type\":\"user\"", "\"type\":\"assistant\"", "\"compact_boundary\""];
        if counts.iter().any(|word| holds(line, word))
            && let Ok(entry) = read_json(line)
        {
            fold.read(entry);
        }
    }
    fold.turn
}

#[derive(Default)]
struct TranscriptFold {
    turn: LastTurn,
    calls: HashMap<String, ClaudeToolCall>,
    plan: ClaudePlan,
}

impl TranscriptFold {
    fn read(&mut self, entry: TranscriptLine) {
        match (entry.kind.as_str(), entry.subtype.as_deref()) {
            ("system", Some("compact_boundary")) => {
                let (said, model) = (take(&mut self.turn.said), self.turn.model.take());
                self.turn = LastTurn { said, model, ..LastTurn::default() };
            }
            ("assistant", _) => self.spoke(entry),
            ("user", _) => self.answered(entry),
            _ => {}
        }
    }

    fn spoke(&mut self, entry: TranscriptLine) {
        let Some(message) = entry.message.filter(ClaudeMessage::is_by_a_model) else { return };
        let is_main = !entry.is_sidechain;
        if is_main {
            self.turn.model.clone_from(&message.model);
            let used = message.usage.as_ref().map(|usage| usage.context_tokens());
            self.turn.used =
                used.map(|tokens| UsedTokens { tokens, window: None }).or(self.turn.used);
        }
        for block in message.into_blocks() {
            match block {
                ClaudeBlock::ToolUse { id, name, input } => {
                    self.calls.insert(id, ClaudeToolCall { name, input, is_main });
                }
                ClaudeBlock::Text { text } if is_main => self.turn.said = text,
                ClaudeBlock::Text { .. }
                | ClaudeBlock::ToolResult { .. }
                | ClaudeBlock::Unknown => {}
            }
        }
    }

    fn answered(&mut self, entry: TranscriptLine) {
        let TranscriptLine { message, is_sidechain, is_meta, tool_use_result, cwd, .. } = entry;
        let mut prompt = None;
        for block in message.map(ClaudeMessage::into_blocks).unwrap_or_default() {
            match block {
                ClaudeBlock::Text { text } if !is_meta && !is_sidechain => {
                    prompt = prompt.or(Some(text))
                }
                ClaudeBlock::ToolResult { tool_use_id, content, is_error } => {
                    let Some(call) = self.calls.remove(&tool_use_id) else { continue };
                    if let Some((command, exit_code)) =
                        ended(&call, &content, is_error, &tool_use_result)
                    {
                        let command = CommandLine::Line(command);
                        let cwd = cwd.clone();
                        self.turn.signals.push(Signal::CommandFinished { command, exit_code, cwd });
                    }
                    if !is_error
                        && call.is_main
                        && let Some(steps) =
                            self.plan.called(&call.name, &call.input, &tool_use_result)
                    {
                        self.turn.signals.push(Signal::PlanUpdated { steps, explanation: None });
                    }
                }
                ClaudeBlock::Text { .. } | ClaudeBlock::ToolUse { .. } | ClaudeBlock::Unknown => {}
            }
        }
        let is_a_persons = |text: &String| !OF_ITS_OWN.iter().any(|tag| text.starts_with(tag));
        if let Some(prompt) = prompt.filter(is_a_persons) {
            self.turn.prompt = Some(prompt);
            self.turn.signals.clear();
            self.turn.said.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(lines: &[Value], prompt: Option<&str>, tokens: Option<u64>, signals: &[&str]) {
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        let turn = last_turn(lines.iter().map(|line| line.as_bytes()));
        let told: Vec<_> = turn.signals.iter().map(short).collect();
        assert_eq!(turn.prompt.as_deref(), prompt);
        assert_eq!(turn.used.map(|used| used.tokens), tokens);
        assert_eq!(told, signals);
    }

    fn short(signal: &Signal) -> String {
        match signal {
            Signal::CommandFinished { command: CommandLine::Line(line), exit_code, .. } => {
                format!("{line} to {exit_code}")
            }
            Signal::PlanUpdated { steps, .. } => format!("plan of {}", steps.len()),
            other => format!("{other:?}"),
        }
    }

    fn user(text: &str) -> Value {
        json!({"type": "user", "isSidechain": false, "message": {"role": "user", "content": text}})
    }

    fn assistant(tokens: u64, block: Value) -> Value {
        json!({"type": "assistant", "isSidechain": false, "message": {"model": "m",
            "content": [block], "usage": {"input_tokens": tokens, "output_tokens": 20}}})
    }

    fn call(id: &str, name: &str, input: Value) -> Value {
        json!({"type": "tool_use", "id": id, "name": name, "input": input})
    }

    fn result(id: &str, data: Value) -> Value {
        json!({"type": "user", "toolUseResult": data, "message": {"role": "user", "content":
            [{"type": "tool_result", "tool_use_id": id, "content": "", "is_error": false}]}})
    }

    fn committed(id: &str) -> [Value; 2] {
        let call = call(id, "Bash", json!({"command": "git commit -m x"}));
        [assistant(60_000, call), result(id, json!({"stdout": "", "interrupted": false}))]
    }

    #[test]
    fn a_turn_starts_at_the_users_last_message() {
        let mut lines = vec![user("first")];
        lines.extend(committed("a"));
        lines.push(user("second"));
        check(&lines, Some("second"), Some(60_020), &[]);
        lines.extend(committed("b"));
        lines.push(assistant(70_000, json!({"type": "text", "text": "done"})));
        check(&lines, Some("second"), Some(70_020), &["git commit -m x to 0"]);
    }

    #[test]
    fn the_plan_includes_earlier_turns() {
        let made = json!({"task": {"id": "1", "subject": "parser"}});
        check(
            &[
                user("first"),
                assistant(1_000, call("a", "TaskCreate", json!({"subject": "parser"}))),
                result("a", made),
                user("second"),
                assistant(
                    2_000,
                    call("b", "TaskUpdate", json!({"taskId": "1", "status": "completed"})),
                ),
                result("b", json!({"success": true})),
            ],
            Some("second"),
            Some(2_020),
            &["plan of 1"],
        );
    }

    #[test]
    fn messages_by_claude_code_start_no_turn() {
        let mut meta = user("Stop hook feedback: go on");
        meta["isMeta"] = json!(true);
        let mut lines = vec![user("first")];
        lines.extend(committed("a"));
        lines.extend([meta, user("<command-name>/model</command-name>")]);
        check(&lines, Some("first"), Some(60_020), &["git commit -m x to 0"]);
    }

    #[test]
    fn sub_agents_and_errors_do_not_change_the_usage() {
        let mut aside = assistant(5_000, json!({"type": "text", "text": "sub"}));
        aside["isSidechain"] = json!(true);
        let mut error = assistant(0, json!({"type": "text", "text": "API Error"}));
        error["message"]["model"] = json!("<synthetic>");
        let said = assistant(60_000, json!({"type": "text", "text": "main"}));
        check(&[user("first"), said, aside, error], Some("first"), Some(60_020), &[]);
    }

    #[test]
    fn the_usage_is_unknown_after_a_compaction() {
        let boundary = json!({"type": "system", "subtype": "compact_boundary"});
        let mut lines = vec![user("first")];
        lines.extend(committed("a"));
        lines.push(boundary);
        check(&lines, None, None, &[]);
    }

    #[test]
    fn a_transcript_may_lack_the_agents_last_message() {
        let behind = |lines: &[Value], said| {
            let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
            last_turn(lines.iter().map(|line| line.as_bytes())).is_behind(said)
        };
        let said = assistant(60_000, json!({"type": "text", "text": "done"}));
        assert!(behind(&[user("first")], Some("done")));
        assert!(behind(&[user("first"), said.clone()], Some("and more")));
        assert!(!behind(&[user("first"), said], Some("done\n")));
        assert!(!behind(&[user("first")], None));
    }

    #[test]
    fn invalid_lines_are_ignored() {
        let lines: [&[u8]; 3] = [b"\"type\":\"user\", torn", b"", b"{\"type\":\"user\"}"];
        assert_eq!(last_turn(lines.into_iter()), LastTurn::default());
    }
}
