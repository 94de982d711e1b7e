//! Folds Codex's rollout into its last turn. Pure. A rollout does not contain the plan.

use rawr_protocol::{CommandLine, Signal};

use super::{LastTurn, UsedTokens, holds};
use rawr_host::host::codex::rollout::{RolloutEvent, RolloutItem, RolloutLine};

/// Codex's name of the turns and sessions of `codex exec`.
const EXEC: &str = "exec";

pub(super) fn last_turn<'l>(lines: impl Iterator<Item = &'l [u8]>) -> LastTurn {
    let mut turn = LastTurn::default();
    for line in lines {
        let counts = ["\"event_msg\"", "\"compacted\"", "\"session_meta\""];
        if counts.iter().any(|word| holds(line, word))
            && let Ok(line) = serde_json::from_slice(line)
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
        RolloutLine::EventMsg(_) | RolloutLine::ResponseItem(_) | RolloutLine::Other => {}
    }
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
        let [Signal::CommandFinished { command: CommandLine::Words(words), exit_code: 0, .. }] =
            &turn.signals[..]
        else {
            panic!("{turn:?}")
        };
        assert!(words.last().unwrap().contains("git commit"), "{words:?}");
        assert_eq!(turn.said(), Some("Done: file written and committed."));
    }

    #[test]
    fn the_next_turn_starts_empty() {
        assert_eq!(up_to(48).signals, []);
    }
}
