//! Folds Codex's rollout into its last turn. Pure. The plan is in the calls of its tool; no event of a rollout has it.

use rawr_protocol::{CommandLine, PlanStep, Signal, read_json};
use serde::Deserialize;
use serde_json::Value;

use super::{LastTurn, UsedTokens, holds};
use rawr_host::host::codex::rollout::{RolloutEvent, RolloutItem, RolloutLine};

/// Codex's name of the turns and sessions of `codex exec`.
const EXEC: &str = "exec";

const PLAN_TOOL: &str = "update_plan";

/// The arguments of the plan's tool.
#[derive(Deserialize)]
struct PlanArguments {
    explanation: Option<String>,
    plan: Vec<PlanStep>,
}

pub(super) fn last_turn<'l>(lines: impl Iterator<Item = &'l [u8]>) -> LastTurn {
    let mut turn = LastTurn::default();
    for line in lines {
        let counts = ["\"event_msg\"", "\"compacted\"", "\"session_meta\"", PLAN_TOOL];
        if counts.iter().any(|word| holds(line, word))
            && let Ok(line) = read_json(line)
        {
            read(&mut turn, line);
        }
    }
    turn
}

fn read(turn: &mut LastTurn, line: RolloutLine) {
    match line {
        RolloutLine::Compacted(_) => turn.used = None,
        // Older releases of Codex do not record it for each turn.
        RolloutLine::SessionMeta { source } => {
            turn.is_headless = source == EXEC;
        }
        RolloutLine::EventMsg(RolloutEvent::TaskStarted { turn_attribution, .. }) => {
            turn.signals.clear();
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
        RolloutLine::EventMsg(RolloutEvent::ItemCompleted {
            item: RolloutItem::CommandExecution { command, exit_code: Some(exit_code) },
        }) => {
            let command = CommandLine::Words(command);
            turn.signals.push(Signal::CommandFinished { command, exit_code, cwd: None });
        }
        RolloutLine::EventMsg(RolloutEvent::ItemCompleted {
            item: RolloutItem::AgentMessage { content },
        }) => {
            turn.said = content.into_iter().map(|part| part.text).collect();
        }
        RolloutLine::ResponseItem(call) if call.name == PLAN_TOOL => {
            turn.signals.extend(planned(&call.arguments));
        }
        RolloutLine::EventMsg(_) | RolloutLine::ResponseItem(_) | RolloutLine::Other => {}
    }
}

/// `None` for arguments that Codex does not accept either.
fn planned(arguments: &Value) -> Option<Signal> {
    let PlanArguments { explanation, plan } = serde_json::from_str(arguments.as_str()?).ok()?;
    Some(Signal::PlanUpdated { steps: plan, explanation })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLLOUT: &str = include_str!("../../../../../../tests/samples/rollouts/paginated.jsonl");

    fn up_to(line: usize) -> LastTurn {
        last_turn(ROLLOUT.lines().take(line).map(str::as_bytes))
    }

    #[test]
    fn a_commit_and_the_window_are_read_from_a_rollout() {
        let turn = up_to(39);
        assert_eq!(turn.used, Some(UsedTokens { tokens: 143_139, window: Some(190_000) }));
        let commands = turn.signals.iter().filter_map(|signal| match signal {
            Signal::CommandFinished {
                command: CommandLine::Words(words), exit_code: 0, ..
            } => Some(words),
            _ => None,
        });
        let [words] = commands.collect::<Vec<_>>()[..] else { panic!("{turn:?}") };
        assert!(words.last().unwrap().contains("git commit"), "{words:?}");
        assert_eq!(turn.said(), Some("Done: file written and committed."));
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
