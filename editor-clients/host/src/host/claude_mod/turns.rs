//! Folds the plugin's events into host events: the running turn, what started it, and compactions. Pure.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use rawr_protocol::{CompactionOrigin, TurnStatus};
use rawr_records::claude::plan::ClaudePlan;

use serde_json::Value;

use super::message::{ModCompactionTrigger, ModEvent, ModTurnEnd};
use crate::host::claude::{ClaudeToolCall, ClaudeUsage, FinishedCall};
use crate::host::{HostEvent, TurnKind};
use rawr_records::claude::person::PersonText;

/// The state of the conversation's turns.
#[derive(Debug, Default)]
pub(super) struct ModTurns {
    cwd: String,
    /// Turns that rawr has asked for or handed over to, oldest first.
    promised: VecDeque<PromisedTurn>,
    /// The turn of a message that waits for the compaction at the start of that turn.
    waiting: Option<WaitingTurn>,
    running: Option<ModTurn>,
    /// The driver's id of the turn that started last.
    latest: Option<String>,
    plan: ClaudePlan,
    model: Option<String>,
    context_window: Option<u64>,
    /// The size of the last request, if no compaction followed.
    context_tokens: Option<u64>,
    compaction: Option<RunningCompaction>,
    compactions: u64,
}

#[derive(Debug)]
struct PromisedTurn {
    turn_id: String,
    starts_with: PromisedStart,
}

#[derive(Debug)]
enum PromisedStart {
    /// A text of rawr.
    Text(String),
    /// The message that was held.
    HeldMessage,
    /// Any message of the user, whose turn a text of rawr has joined.
    Message,
}

impl PromisedStart {
    fn matches(&self, text: &str) -> bool {
        match self {
            // Claude Code frames a plugin's message.
            Self::Text(promised) => text.contains(promised),
            Self::HeldMessage | Self::Message => true,
        }
    }
}

#[derive(Debug)]
struct WaitingTurn {
    mod_id: String,
    text: String,
}

#[derive(Debug)]
struct RunningCompaction {
    turn_id: String,
    /// rawr ordered it. One that the user starts before Claude Code begins it is the one that was ordered.
    is_ours: bool,
}

#[derive(Debug)]
struct ModTurn {
    /// The id that the driver knows.
    turn_id: String,
    /// Claude Code's id.
    mod_id: String,
    last_agent_message: Option<String>,
    /// The last request, whose tool calls may still run.
    usage: Option<ClaudeUsage>,
}

impl ModTurns {
    pub(super) fn new(cwd: String, model: Option<String>, context_window: Option<u64>) -> Self {
        Self { cwd, model, context_window, ..Self::default() }
    }

    /// Takes over a turn that started before.
    pub(super) fn came_into(&mut self, mod_id: String) {
        self.start(mod_id.clone(), mod_id, TurnKind::Host);
    }

    /// Whether a turn or a compaction runs or is about to start.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some()
            || self.waiting.is_some()
            || !self.promised.is_empty()
            || self.compaction.is_some()
    }

    /// The running turn's ids, the driver's and Claude Code's.
    pub(super) fn running(&self) -> Option<(&str, &str)> {
        self.running.as_ref().map(|turn| (turn.turn_id.as_str(), turn.mod_id.as_str()))
    }

    /// The model that answered last.
    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Records that Claude Code was asked to submit a message. Call it before any later event.
    pub(super) fn promise(&mut self, turn_id: &str, text: &str) {
        let starts_with = PromisedStart::Text(text.to_owned());
        self.promised.push_back(PromisedTurn { turn_id: turn_id.to_owned(), starts_with });
    }

    /// A text that was promised to start a turn is in the turn of the user's message that starts next.
    pub(super) fn joins_message(&mut self, turn_id: &str) {
        let promised = self.promised.iter_mut().find(|promised| promised.turn_id == turn_id);
        if let Some(promised) = promised {
            promised.starts_with = PromisedStart::Message;
        }
    }

    /// The handoff is before the held message. Returns the turn of that message: the one that waits for its compaction, or the
    /// next one, for which the given id is used.
    pub(super) fn handed_over(&mut self, next_id: String) -> (String, Option<HostEvent>) {
        match self.waiting.take() {
            Some(waiting) => {
                let turn_id = waiting.mod_id.clone();
                (turn_id, Some(self.start(waiting.mod_id.clone(), waiting.mod_id, TurnKind::Asked)))
            }
            None => {
                let starts_with = PromisedStart::HeldMessage;
                self.promised.push_back(PromisedTurn { turn_id: next_id.clone(), starts_with });
                (next_id, None)
            }
        }
    }

    /// The turn of a message goes on although its compaction failed, or no handoff came.
    fn resume_waiting(&mut self) -> Option<HostEvent> {
        let WaitingTurn { mod_id, text } = self.waiting.take()?;
        Some(self.start(mod_id.clone(), mod_id, TurnKind::Person { text }))
    }

    fn start(&mut self, turn_id: String, mod_id: String, kind: TurnKind) -> HostEvent {
        self.latest = Some(turn_id.clone());
        let (last_agent_message, usage) = (None, None);
        let started = HostEvent::TurnStarted { turn_id: turn_id.clone(), kind };
        self.running = Some(ModTurn { turn_id, mod_id, last_agent_message, usage });
        started
    }

    /// A message that was promised will not start a turn.
    pub(super) fn broken(&mut self, turn_id: &str, error: String) -> Vec<HostEvent> {
        let Some(at) = self.promised.iter().position(|promised| promised.turn_id == turn_id) else {
            return Vec::new();
        };
        self.promised.remove(at);
        let turn_id = turn_id.to_owned();
        vec![
            HostEvent::TurnStarted { turn_id: turn_id.clone(), kind: TurnKind::Asked },
            HostEvent::TurnCompleted {
                turn_id,
                status: TurnStatus::Failed,
                last_agent_message: None,
                error: Some(error),
                overflow: None,
            },
        ]
    }

    /// rawr's own compaction starts.
    pub(super) fn compacts(&mut self) -> Vec<HostEvent> {
        let turn_id = self.next_compaction(true);
        let origin = CompactionOrigin::Rawr;
        vec![
            HostEvent::TurnStarted { turn_id: turn_id.clone(), kind: TurnKind::Compaction },
            HostEvent::CompactionStarted { turn_id, origin },
        ]
    }

    /// rawr's own compaction ended.
    pub(super) fn compacted(&mut self, how: Result<Option<u64>, String>) -> Vec<HostEvent> {
        let Some(RunningCompaction { turn_id, is_ours: true }) = self.compaction.take() else {
            return Vec::new();
        };
        let status = if how.is_ok() { TurnStatus::Completed } else { TurnStatus::Failed };
        self.context_tokens = self.context_tokens.filter(|_| how.is_err());
        let ended = compaction_ended(turn_id.clone(), CompactionOrigin::Rawr, how);
        let turn_ended = HostEvent::TurnCompleted {
            turn_id,
            status,
            last_agent_message: None,
            error: None,
            overflow: None,
        };
        let mut events = vec![ended, turn_ended];
        if status == TurnStatus::Failed {
            events.extend(self.resume_waiting());
        }
        events
    }

    fn next_compaction(&mut self, is_ours: bool) -> String {
        self.compactions += 1;
        let turn_id = format!("compaction-{}", self.compactions);
        self.compaction = Some(RunningCompaction { turn_id: turn_id.clone(), is_ours });
        turn_id
    }

    fn compacts_for_us(&self) -> bool {
        self.compaction.as_ref().is_some_and(|compaction| compaction.is_ours)
    }

    pub(super) fn read(&mut self, event: ModEvent) -> Vec<HostEvent> {
        let mut events = Vec::new();
        if matches!(
            event,
            ModEvent::TurnStarted { .. }
                | ModEvent::Answered { .. }
                | ModEvent::TurnCompleted { .. }
        ) {
            events.extend(self.resume_waiting());
        }
        match event {
            ModEvent::TurnStarted { turn_id, text } => self.started(turn_id, text, &mut events),
            ModEvent::Answered { text, model, usage, calls_tools } => {
                self.model = model.or(self.model.take());
                self.tell_usage(true, &mut events);
                let sent = |used: ClaudeUsage| {
                    Some(used.context_tokens()?.saturating_sub(used.output_tokens.unwrap_or(0)))
                };
                self.context_tokens = usage.and_then(sent).or(self.context_tokens);
                let Some(turn) = &mut self.running else { return events };
                turn.usage = usage;
                if !text.is_empty() {
                    turn.last_agent_message = Some(text.clone());
                    events.push(HostEvent::AgentMessage { turn_id: turn.turn_id.clone(), text });
                }
                if !calls_tools {
                    self.tell_usage(false, &mut events);
                }
            }
            ModEvent::ToolStarted { call_id, tool: name } => {
                if let Some(turn_id) = self.latest.clone() {
                    events.push(HostEvent::ToolStarted { turn_id, call_id, name });
                }
            }
            ModEvent::ToolFinished { call_id, tool, input, result, error, by_sub_agent } => {
                let call = ClaudeToolCall { name: tool, input, is_main: !by_sub_agent };
                self.tool_finished(call_id, &call, &result, error, &mut events);
            }
            ModEvent::Measured { context_window, context_tokens, .. } => {
                let is_other = context_window.is_some() && context_window != self.context_window;
                self.context_window = context_window.or(self.context_window);
                events.extend(self.measured(context_tokens.unwrap_or(0), is_other));
            }
            ModEvent::TurnCompleted { turn_id, reason, answer } => {
                self.completed(&turn_id, reason, answer, &mut events);
            }
            // The end of the order tells how it went.
            ModEvent::CompactionStarted { .. } | ModEvent::CompactionEnded { .. }
                if self.compacts_for_us() => {}
            ModEvent::CompactionStarted { trigger } => {
                let turn_id = match &self.running {
                    Some(turn) => turn.turn_id.clone(),
                    None => self.next_compaction(false),
                };
                events.push(HostEvent::CompactionStarted { turn_id, origin: trigger.origin() });
            }
            ModEvent::CompactionEnded { trigger, tokens_after, skip } => {
                let how = skip.map_or(Ok(tokens_after), Err);
                self.context_tokens = self.context_tokens.filter(|_| how.is_err());
                let own = self.compaction.take();
                let turn_id = match (own, &self.running) {
                    (Some(compaction), _) => compaction.turn_id,
                    (None, Some(turn)) => turn.turn_id.clone(),
                    // The compaction started under an earlier driver.
                    (None, None) => {
                        let turn_id = self.next_compaction(false);
                        self.compaction = None;
                        let origin = trigger.origin();
                        events.push(HostEvent::CompactionStarted {
                            turn_id: turn_id.clone(),
                            origin,
                        });
                        turn_id
                    }
                };
                events.push(compaction_ended(turn_id, trigger.origin(), how));
            }
            ModEvent::Left => events.push(HostEvent::MessagesTakenBack),
            // Answered by the listener, or matched with its order by the host.
            ModEvent::Withdrawn { .. } | ModEvent::Done { .. } => {}
        }
        events
    }

    fn started(&mut self, mod_id: String, text: String, events: &mut Vec<HostEvent>) {
        if self.compacts_for_us() {
            // Claude Code compacts at the start of the turn.
            self.waiting = Some(WaitingTurn { mod_id, text });
            return;
        }
        let ours = self.promised.iter().position(|promised| promised.starts_with.matches(&text));
        let ours = ours.and_then(|at| self.promised.remove(at));
        // Claude Code tells of no end of a turn that its user stopped at once. A turn that runs already may be told of once more, to
        // a rawr that came into it.
        if let Some(before) = self.running.take_if(|running| running.mod_id != mod_id) {
            self.end(before, TurnStatus::Interrupted, None, events);
        }
        let (turn_id, kind) = match ours {
            Some(PromisedTurn { turn_id, starts_with: PromisedStart::Message }) => {
                (turn_id, TurnKind::Person { text })
            }
            Some(promised) => (promised.turn_id, TurnKind::Asked),
            None if text.is_empty() => (mod_id.clone(), TurnKind::Host),
            None => {
                let text = PersonText::read(&text).into_words().unwrap_or_default();
                (mod_id.clone(), TurnKind::Person { text })
            }
        };
        events.push(self.start(turn_id, mod_id, kind));
    }

    fn completed(
        &mut self,
        mod_id: &str,
        reason: ModTurnEnd,
        answer: String,
        events: &mut Vec<HostEvent>,
    ) {
        let Some(mut turn) = self.running.take_if(|turn| turn.mod_id == mod_id) else { return };
        if !answer.is_empty() {
            turn.last_agent_message = Some(answer);
        }
        let (status, error) = match reason {
            ModTurnEnd::Answer | ModTurnEnd::Unknown => (TurnStatus::Completed, None),
            ModTurnEnd::Aborted => (TurnStatus::Interrupted, None),
            ModTurnEnd::Refusal => (TurnStatus::Failed, Some("the model refused".to_owned())),
            ModTurnEnd::Error => {
                let said = turn.last_agent_message.take();
                let error = said.unwrap_or_else(|| "the request to the model failed".to_owned());
                (TurnStatus::Failed, Some(error))
            }
        };
        self.end(turn, status, error, events);
    }

    fn end(
        &mut self,
        turn: ModTurn,
        status: TurnStatus,
        error: Option<String>,
        events: &mut Vec<HostEvent>,
    ) {
        let ModTurn { turn_id, last_agent_message, usage, .. } = turn;
        events.extend(usage.and_then(|usage| self.usage(turn_id.clone(), usage, false)));
        events.push(HostEvent::TurnCompleted {
            turn_id,
            status,
            last_agent_message,
            error,
            // Here Claude Code's own compaction is on, and has been tried.
            overflow: None,
        });
    }

    /// The user went back to an earlier message, so that the conversation has less than it had, or chose a model with another
    /// window: the next decision comes before the next usage.
    fn measured(&mut self, context_tokens: u64, is_other_window: bool) -> Option<HostEvent> {
        let is_less = self.context_tokens.is_some_and(|before| context_tokens < before);
        if self.is_busy() || !(is_less || is_other_window) {
            return None;
        }
        self.context_tokens = Some(context_tokens);
        // Back before the first request, nothing is counted. A usage of 0 would mean that it is unknown.
        let used =
            ClaudeUsage { input_tokens: Some(context_tokens.max(1)), ..ClaudeUsage::default() };
        Some(HostEvent::UsageEstimated {
            turn_id: self.latest.clone()?,
            usage: used.to_usage()?,
            context_window: self.context_window,
        })
    }

    fn tell_usage(&mut self, needs_follow_up: bool, events: &mut Vec<HostEvent>) {
        let owed = self.running.as_mut().and_then(|turn| {
            let usage = turn.usage.take()?;
            Some((turn.turn_id.clone(), usage))
        });
        let told = owed.and_then(|(turn_id, usage)| self.usage(turn_id, usage, needs_follow_up));
        events.extend(told);
    }

    fn usage(
        &self,
        turn_id: String,
        used: ClaudeUsage,
        needs_follow_up: bool,
    ) -> Option<HostEvent> {
        let (usage, context_window) = (used.to_usage()?, self.context_window);
        Some(HostEvent::Usage { turn_id, usage, context_window, needs_follow_up })
    }

    /// A sub-agent in the background calls tools after the turn that started it, too.
    fn tool_finished(
        &mut self,
        call_id: String,
        call: &ClaudeToolCall,
        result: &Value,
        error: Option<String>,
        events: &mut Vec<HostEvent>,
    ) {
        let Some(turn_id) = self.latest.clone() else { return };
        let is_error = error.is_some();
        let finished = FinishedCall {
            turn_id,
            call_id,
            cwd: &self.cwd,
            call,
            content: &error.unwrap_or_default().into(),
            is_error,
            data: result,
        };
        finished.report(&mut self.plan, events);
    }
}

impl ModCompactionTrigger {
    fn origin(self) -> CompactionOrigin {
        match self {
            Self::Manual => CompactionOrigin::User,
            Self::Auto | Self::Plugin | Self::Unknown => CompactionOrigin::Host,
        }
    }
}

fn compaction_ended(
    turn_id: String,
    origin: CompactionOrigin,
    how: Result<Option<u64>, String>,
) -> HostEvent {
    match how {
        Ok(tokens_after) => HostEvent::CompactionCompleted { turn_id, origin, tokens_after },
        Err(error) => HostEvent::CompactionFailed { turn_id, origin, error },
    }
}
