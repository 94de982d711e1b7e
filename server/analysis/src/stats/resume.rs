//! What the agent does after a compaction: how many requests until it works again, and which commands it repeats.

use super::CommandCounts;
use crate::report::REWORK_TURNS;
use rawr_core::Event;
use rawr_core::units::{ActionId, stable_hash};
use std::collections::HashSet;

/// An agent that was handed over and has not gone on yet.
#[derive(Debug)]
pub(super) struct Resuming {
    /// The run that handed over.
    pub run: usize,
    /// The action that did.
    pub handoff: ActionId,
    /// Requests so far, and those of them in the running turn.
    requests: u32,
    in_turn: u32,
    /// A turn ended whose requests the host did not report.
    is_unknown: bool,
}

/// The turn that an event ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndedTurn {
    /// None, or that of another action.
    Other,
    /// rawr's own, which only handed over.
    OfHandoff,
    /// The agent's work.
    OfWork,
}

/// Whether the agent works again.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resumed {
    NotYet,
    /// With this request, counted from 1; `None` if the host does not report requests.
    With(Option<u32>),
}

impl Resuming {
    pub fn new(run: usize, handoff: ActionId) -> Self {
        Self { run, handoff, requests: 0, in_turn: 0, is_unknown: false }
    }

    /// Follows an event. A tool is reported before or after the request that called it, depending on the host. Every
    /// request of a turn but the last calls one, so the first tool belongs to the first request of its turn.
    pub fn saw(&mut self, event: &Event, ended: EndedTurn) -> Resumed {
        let requests = match event {
            Event::UsageReported(report) => {
                self.requests += 1;
                self.in_turn += 1;
                if !report.needs_follow_up {
                    return Resumed::NotYet;
                }
                self.requests
            }
            Event::ToolStarted(_) | Event::CommandFinished(_) | Event::PlanUpdated(_) => {
                self.requests + 1
            }
            Event::TurnCompleted(_) if ended != EndedTurn::Other => {
                self.is_unknown |= std::mem::take(&mut self.in_turn) == 0;
                if ended == EndedTurn::OfHandoff {
                    return Resumed::NotYet;
                }
                // The agent answered without a tool.
                self.requests
            }
            _ => return Resumed::NotYet,
        };
        Resumed::With((!self.is_unknown).then_some(requests))
    }
}

/// The commands of a thread around its newest compaction.
#[derive(Debug, Default)]
pub(super) struct CommandHistory {
    /// Those since the newest compaction.
    recent: HashSet<u64>,
    /// Those between that compaction and the one before.
    earlier: HashSet<u64>,
    /// How many turns had ended at the compaction.
    compacted_at: Option<u32>,
    /// The thread records commands.
    pub is_recorded: bool,
}

impl CommandHistory {
    pub fn compacted(&mut self, turns_ended: u32) {
        self.earlier = std::mem::take(&mut self.recent);
        self.compacted_at = Some(turns_ended);
    }

    /// Takes note of a command, and counts it if it came soon enough after the compaction.
    pub fn ran(&mut self, command: &str, turns_ended: u32, counts: Option<&mut CommandCounts>) {
        let command = stable_hash(command.trim());
        let is_new = self.recent.insert(command);
        let is_soon = self
            .compacted_at
            .is_some_and(|compacted_at| turns_ended.saturating_sub(compacted_at) < REWORK_TURNS);
        if let Some(counts) = counts.filter(|_| is_new && is_soon) {
            counts.ran += 1;
            counts.again += u32::from(self.earlier.contains(&command));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rawr_core::event::{ToolStarted, TurnCompleted, TurnStatus, Usage, UsageReported};
    use rawr_core::units::{CallId, Tokens, TurnId};

    fn event(of: &str) -> (Event, EndedTurn) {
        let turn = || TurnId::new("t");
        let usage = |needs_follow_up| UsageReported {
            turn: turn(),
            usage: Some(Usage {
                context: Tokens(1),
                input: None,
                cached: None,
                output: None,
                reasoning: None,
            }),
            window: None,
            compacts_above: None,
            cache_seconds: None,
            model: None,
            needs_follow_up,
            last_message: None,
            boundaries: Default::default(),
            heard: None,
        };
        let end = TurnCompleted {
            turn: turn(),
            status: TurnStatus::Completed,
            overflow: None,
            last_message: None,
            usage: None,
            queued_inputs: 0,
            review_mode: false,
            boundaries: Default::default(),
            heard: None,
        };
        match of {
            "calls" => (usage(true).into(), EndedTurn::Other),
            "answers" => (usage(false).into(), EndedTurn::Other),
            "tool" => (ToolStarted { call: CallId::new("c"), name: None }.into(), EndedTurn::Other),
            "ends handoff" => (end.into(), EndedTurn::OfHandoff),
            "ends work" => (end.into(), EndedTurn::OfWork),
            _ => (end.into(), EndedTurn::Other),
        }
    }

    #[test]
    fn work_goes_on_with_the_first_tool_or_answer_to_the_user() {
        let check = |events: &[&str], expected: Resumed| {
            let mut resuming = Resuming::new(0, ActionId::new("s1.3"));
            let mut said =
                events.iter().map(|of| event(of)).map(|(event, ended)| resuming.saw(&event, ended));
            let first = said.find(|said| *said != Resumed::NotYet);
            assert_eq!(first.unwrap_or(Resumed::NotYet), expected, "{events:?}");
        };
        check(&["calls"], Resumed::With(Some(1)));
        check(&["tool", "calls"], Resumed::With(Some(1)));
        check(&["answers", "ends handoff", "calls"], Resumed::With(Some(2)));
        check(&["answers", "ends handoff", "tool"], Resumed::With(Some(2)));
        check(&["answers", "ends work"], Resumed::With(Some(1)));
        check(&["answers", "ends handoff"], Resumed::NotYet);
        check(&["ends another", "calls"], Resumed::With(Some(1)));
        // The host does not report the requests of that turn.
        check(&["ends handoff", "calls"], Resumed::With(None));
        check(&["ends work"], Resumed::With(None));
        check(&["tool"], Resumed::With(Some(1)));
    }

    #[test]
    fn commands_count_once_and_for_five_turns() {
        let mut history = CommandHistory::default();
        let mut counts = CommandCounts::default();
        for (turns_ended, command) in [(0, "ls"), (0, "rg x")] {
            history.ran(command, turns_ended, None);
        }
        history.compacted(1);
        for (turns_ended, command) in
            [(1, "ls"), (1, "ls "), (2, "cat y"), (5, "rg x"), (6, "rg z")]
        {
            history.ran(command, turns_ended, Some(&mut counts));
        }
        assert_eq!(counts, CommandCounts { ran: 3, again: 2 });
    }
}
