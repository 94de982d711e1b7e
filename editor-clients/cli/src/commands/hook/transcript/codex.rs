//! Folds Codex's rollout into its last turn. Pure. The plan is in the calls of its tool; no event of a rollout has it.
//! Paginated rollouts store completed items. Legacy ones store commands as calls of tools and their output as text.

use std::collections::HashMap;

use rawr_protocol::{CommandLine, PlanStep, Signal, read_json};
use serde::Deserialize;
use serde_json::Value;

use super::{LastTurn, UsedTokens, holds};
use rawr_host::host::codex::rollout::{RolloutEvent, RolloutItem, RolloutLine, RolloutMessage};

/// Codex's name of the turns and sessions of `codex exec`.
const EXEC: &str = "exec";

const PLAN_TOOL: &str = "update_plan";

/// The tools of all releases that run a shell command.
const SHELLS: [&str; 4] = ["exec_command", "shell", "shell_command", "local_shell"];

/// The kinds of lines that are read only where commands are not stored as items.
const CALL: &str = "\"function_call\"";
const OUTPUT: &str = "\"function_call_output\"";

/// The arguments of the plan's tool.
#[derive(Deserialize)]
struct PlanArguments {
    explanation: Option<String>,
    plan: Vec<PlanStep>,
}

/// The arguments of a shell tool.
#[derive(Deserialize)]
struct ShellArguments {
    #[serde(alias = "cmd")]
    command: ShellCommand,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ShellCommand {
    Line(String),
    Words(Vec<String>),
}

/// The output of a shell tool in older releases.
#[derive(Deserialize)]
struct ShellOutput {
    metadata: ShellMetadata,
}

#[derive(Deserialize)]
struct ShellMetadata {
    exit_code: i64,
}

pub(super) fn last_turn<'l>(lines: impl Iterator<Item = &'l [u8]>) -> LastTurn {
    let mut fold = RolloutFold::default();
    for line in lines {
        let counts = ["\"event_msg\"", "\"compacted\"", "\"session_meta\"", PLAN_TOOL];
        let is_of_shell = || {
            !fold.has_items && holds(line, CALL) || !fold.calls.is_empty() && holds(line, OUTPUT)
        };
        if (counts.iter().any(|word| holds(line, word)) || is_of_shell())
            && let Ok(line) = read_json(line)
        {
            fold.read(line);
        }
    }
    fold.turn
}

#[derive(Default)]
struct RolloutFold {
    turn: LastTurn,
    /// Whether commands are stored as items.
    has_items: bool,
    /// The shell commands without output yet, by the id of their call.
    calls: HashMap<String, CommandLine>,
}

impl RolloutFold {
    fn read(&mut self, line: RolloutLine) {
        let turn = &mut self.turn;
        match line {
            RolloutLine::Compacted(_) => turn.used = None,
            // Older releases of Codex do not record it for each turn.
            RolloutLine::SessionMeta { source } => {
                turn.is_headless = source == EXEC;
            }
            RolloutLine::EventMsg(RolloutEvent::TaskStarted { turn_attribution, .. }) => {
                turn.signals.clear();
                self.calls.clear();
                if let Some(trigger) = turn_attribution.and_then(|it| it.turn_trigger) {
                    turn.is_headless = trigger == EXEC;
                }
            }
            // The estimate after a compaction has no input tokens; the earlier usage is the compaction's own.
            RolloutLine::EventMsg(RolloutEvent::TokenCount { info: Some(info) })
                if info.last_token_usage.input_tokens.is_some_and(|tokens| tokens > 0) =>
            {
                let tokens = info.last_token_usage.total_tokens;
                turn.used = Some(UsedTokens { tokens, window: info.model_context_window });
            }
            RolloutLine::EventMsg(RolloutEvent::ItemCompleted { item }) => self.item(item),
            RolloutLine::EventMsg(RolloutEvent::AgentMessage { message }) => turn.said = message,
            RolloutLine::ResponseItem(item) => self.called(item),
            RolloutLine::EventMsg(_) | RolloutLine::Other => {}
        }
    }

    fn item(&mut self, item: RolloutItem) {
        (self.has_items, self.calls) = (true, HashMap::new());
        match item {
            RolloutItem::CommandExecution { command, exit_code: Some(exit_code) } => {
                let command = CommandLine::Words(command);
                self.turn.signals.push(Signal::CommandFinished { command, exit_code, cwd: None });
            }
            RolloutItem::AgentMessage { content } => {
                self.turn.said = content.into_iter().map(|part| part.text).collect();
            }
            RolloutItem::CommandExecution { exit_code: None, .. } | RolloutItem::Other => {}
        }
    }

    fn called(&mut self, item: RolloutMessage) {
        let RolloutMessage { name, arguments, call_id, output, .. } = item;
        if name == PLAN_TOOL {
            self.turn.signals.extend(planned(&arguments));
        } else if SHELLS.contains(&name.as_str()) && !self.has_items {
            self.calls.extend(command_of(&arguments).map(|command| (call_id, command)));
        } else if let Some(command) = self.calls.remove(&call_id)
            && let Some(exit_code) = exit_code(&output)
        {
            self.turn.signals.push(Signal::CommandFinished { command, exit_code, cwd: None });
        }
    }
}

/// `None` for arguments that hold no command.
fn command_of(arguments: &Value) -> Option<CommandLine> {
    let ShellArguments { command } = serde_json::from_str(arguments.as_str()?).ok()?;
    Some(match command {
        ShellCommand::Line(line) => CommandLine::Line(line),
        ShellCommand::Words(words) => CommandLine::Words(words),
    })
}

/// The exit code that the output of a shell tool tells: JSON with metadata in older releases, then lines before what the
/// command printed. `None` for a command that still runs or never ran.
fn exit_code(output: &Value) -> Option<i64> {
    let part = || output.as_array()?.first()?.get("text")?.as_str();
    let text = output.as_str().or_else(part)?;
    if let Ok(ShellOutput { metadata }) = serde_json::from_str(text) {
        return Some(metadata.exit_code);
    }
    let told = text.lines().take_while(|line| *line != "Output:").find_map(|line| {
        line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "))
    });
    told?.trim().parse().ok()
}

/// `None` for arguments that Codex does not accept either.
fn planned(arguments: &Value) -> Option<Signal> {
    let PlanArguments { explanation, plan } = serde_json::from_str(arguments.as_str()?).ok()?;
    Some(Signal::PlanUpdated { steps: plan, explanation })
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde_json::json;

    const ROLLOUT: &str = include_str!("../../../../../../tests/samples/rollouts/paginated.jsonl");
    const LEGACY: &str = include_str!("../../../../../../tests/samples/rollouts/legacy.jsonl");

    fn up_to(line: usize) -> LastTurn {
        last_turn(ROLLOUT.lines().take(line).map(str::as_bytes))
    }

    fn commands(turn: &LastTurn) -> Vec<String> {
        let command = |signal: &Signal| match signal {
            Signal::CommandFinished { command, exit_code, .. } => Some(match command {
                CommandLine::Line(line) => format!("{line} to {exit_code}"),
                CommandLine::Words(words) => format!("{} to {exit_code}", words.join(" ")),
            }),
            _ => None,
        };
        turn.signals.iter().filter_map(command).collect()
    }

    #[test]
    fn a_commit_and_the_window_are_read_from_a_rollout() {
        let turn = up_to(39);
        assert_eq!(turn.used, Some(UsedTokens { tokens: 143_139, window: Some(190_000) }));
        let [command] = &commands(&turn)[..] else { panic!("{turn:?}") };
        assert!(command.contains("git commit") && command.ends_with("to 0"), "{command}");
        assert_eq!(turn.said(), Some("Done: file written and committed."));
    }

    #[test]
    fn commands_and_messages_are_read_from_a_legacy_rollout() {
        let turn = last_turn(LEGACY.lines().take(36).map(str::as_bytes));
        assert_eq!(
            commands(&turn),
            [
                "echo hello > a.txt && git add a.txt to 0",
                "git commit -q -m 'lab: add a.txt' && git log --oneline | head -1 to 0",
            ]
        );
        let plans = turn.signals.iter().filter(|it| matches!(it, Signal::PlanUpdated { .. }));
        assert_eq!(plans.count(), 3);
        assert!(!turn.is_behind(Some("Done: file written and committed.")));
        let next = last_turn(LEGACY.lines().take(45).map(str::as_bytes));
        assert_eq!(next.signals, []);
    }

    #[test]
    fn exit_codes_are_read_from_the_output_of_all_releases() {
        let check = |call: Value, output: Value, told: &[&str]| {
            let call = json!({"type": "response_item", "payload": {"type": "function_call",
                "name": call["name"], "arguments": call["arguments"].to_string(), "call_id": "c"}});
            let output = json!({"type": "response_item", "payload":
                {"type": "function_call_output", "call_id": "c", "output": output}});
            let lines = [call.to_string(), output.to_string()];
            let turn = last_turn(lines.iter().map(|line| line.as_bytes()));
            assert_eq!(commands(&turn), told, "{output}");
        };
        let of = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
        let words = || of("shell", json!({"command": ["bash", "-lc", "git push"]}));
        let metadata = json!({"output": "Exit code: 7\n", "metadata": {"exit_code": 1}});
        check(words(), json!(metadata.to_string()), &["bash -lc git push to 1"]);
        let header = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 7\n";
        check(
            of("shell_command", json!({"command": "git push"})),
            json!(header),
            &["git push to 0"],
        );
        let parts = json!([{"type": "input_text", "text": header}]);
        check(of("exec_command", json!({"cmd": "git push"})), parts, &["git push to 0"]);
        let runs =
            "Chunk ID: 1\nProcess running with session ID 5\nOutput:\nProcess exited with code 0";
        check(of("exec_command", json!({"cmd": "make"})), json!(runs), &[]);
        check(words(), json!("aborted by user"), &[]);
        check(of("shell", json!({"command": 5})), json!(header), &[]);
    }

    #[test]
    fn the_plan_is_read_from_the_calls_of_its_tool() {
        let plans: Vec<_> = up_to(39)
            .signals
            .into_iter()
            .filter_map(|signal| match signal {
                Signal::PlanUpdated { steps, explanation } => {
                    let steps = steps.iter().map(|step| format!("{} {}", step.step, step.status));
                    let steps = steps.collect::<Vec<_>>().join(", ");
                    Some(format!("{}: {steps}", explanation.unwrap_or_default()))
                }
                _ => None,
            })
            .collect();
        assert_eq!(
            plans,
            [
                "start: write file in_progress, commit pending",
                "wrote it: write file completed, commit in_progress",
                "all: write file completed, commit completed",
            ]
        );
    }

    #[test]
    fn the_next_turn_starts_empty() {
        assert_eq!(up_to(48).signals, []);
    }
}
