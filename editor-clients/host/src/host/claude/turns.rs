//! Folds Claude Code's lines into host events: the running turn, its origin, its compaction. Pure.

mod running;
#[cfg(test)]
mod tests;

use rawr_protocol::CompactionOrigin;
use rawr_records::claude::plan::ClaudePlan;

use self::running::{ClaudeCompaction, ClaudeTurn};
use super::calls::{ClaudeToolCall, FinishedCall};
use super::message::{
    AssistantMessage, ClaudeBlock, ClaudeLine, ClaudeStatus, InitLine, MessageLifecycle,
    StreamEvent, SystemLine, TurnResult,
};
use crate::host::{HostEvent, TurnKind};

/// The state of the conversation's turns.
#[derive(Debug)]
pub(super) struct ClaudeTurns {
    cwd: String,
    /// A message that was sent to Claude Code and has not started its turn.
    promised: Option<SentMessage>,
    running: Option<ClaudeTurn>,
    plan: ClaudePlan,
    model: Option<String>,
    /// The model that answered last. Claude Code may fall back to another model inside a turn.
    answers: Option<String>,
    /// The context window in tokens, known after the first result.
    window: Option<u64>,
    /// The number of turns that Claude Code started by itself.
    own: u64,
}

#[derive(Debug)]
struct SentMessage {
    turn_id: String,
    kind: TurnKind,
    /// Who requested its compaction, if it compacts.
    origin: CompactionOrigin,
}

/// The capability of reporting when a message's turn starts.
const TELLS_OF_MESSAGES: &str = "msg_lifecycle_v1";

impl ClaudeTurns {
    pub(super) fn new(cwd: String) -> Self {
        Self {
            cwd,
            promised: None,
            running: None,
            plan: ClaudePlan::default(),
            model: None,
            answers: None,
            window: None,
            own: 0,
        }
    }

    /// Whether a turn runs or is about to start.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some() || self.promised.is_some()
    }

    /// The model that answered last in the main conversation.
    pub(super) fn model(&self) -> Option<&str> {
        self.answers.as_deref()
    }

    /// Records that a message was sent. Call it before reading any later line.
    pub(super) fn promise(&mut self, turn_id: &str, kind: TurnKind, text: &str) {
        let by_hand = text.split_whitespace().next() == Some("/compact");
        let origin = match kind {
            TurnKind::Compaction => CompactionOrigin::Rawr,
            TurnKind::Asked | TurnKind::Person { .. } if by_hand => CompactionOrigin::User,
            TurnKind::Asked | TurnKind::Person { .. } | TurnKind::Host => CompactionOrigin::Host,
        };
        self.promised = Some(SentMessage { turn_id: turn_id.to_owned(), kind, origin });
    }

    pub(super) fn read(&mut self, line: ClaudeLine) -> Vec<HostEvent> {
        let mut events = Vec::new();
        match line {
            ClaudeLine::CommandLifecycle(lifecycle) => self.lifecycle(&lifecycle, &mut events),
            ClaudeLine::System(SystemLine::Init(init)) => self.init(init, &mut events),
            ClaudeLine::System(SystemLine::Status(status)) => self.status(status, &mut events),
            ClaudeLine::System(SystemLine::CompactBoundary { compact_metadata }) => {
                self.compacted(Ok(compact_metadata.post_tokens), &mut events);
            }
            ClaudeLine::System(SystemLine::PermissionDenied { tool_name }) => {
                events.push(HostEvent::Notice(format!(
                    "claude asked for approval of {tool_name}; declined, because no user is present: \
                     allow it with `--permission-mode` or in claude's settings.json"
                )));
            }
            ClaudeLine::System(SystemLine::ApiRetry(retry)) => {
                let status = retry.error_status.map(|status| format!(" with {status}"));
                events.push(HostEvent::Notice(format!(
                    "the model did not answer{}; claude tries again ({} of {})",
                    status.unwrap_or_default(),
                    retry.attempt,
                    retry.max_retries
                )));
            }
            ClaudeLine::Assistant(spoken) => self.spoke(spoken, &mut events),
            ClaudeLine::User(spoken) => self.answered(spoken, &mut events),
            ClaudeLine::StreamEvent(streamed) if streamed.parent_tool_use_id.is_none() => {
                self.requested(streamed.event, &mut events);
            }
            ClaudeLine::Result(result) => self.ended(*result, &mut events),
            ClaudeLine::StreamEvent(_)
            | ClaudeLine::System(SystemLine::Unknown)
            | ClaudeLine::ControlResponse { .. }
            | ClaudeLine::ControlRequest { .. }
            | ClaudeLine::Unknown => {}
        }
        events
    }

    fn lifecycle(&mut self, lifecycle: &MessageLifecycle, events: &mut Vec<HostEvent>) {
        let ours = self.promised.take_if(|promised| {
            promised.turn_id == lifecycle.command_uuid && lifecycle.state != "queued"
        });
        let Some(promised) = ours else { return };
        // Claude Code started a turn by itself and continues it with the message.
        if let Some(own) = self.running.take() {
            own.end(rawr_protocol::TurnStatus::Completed, None, None, events);
        }
        self.begin(promised, events);
    }

    fn init(&mut self, init: InitLine, events: &mut Vec<HostEvent>) {
        self.model = init.model.or(self.model.take());
        if self.running.is_some() {
            return;
        }
        let tells = init.capabilities.iter().any(|capability| capability == TELLS_OF_MESSAGES);
        let promised = self.promised.take_if(|_| !tells).unwrap_or_else(|| {
            self.own += 1;
            let turn_id = format!("own-{}", self.own);
            SentMessage { turn_id, kind: TurnKind::Host, origin: CompactionOrigin::Host }
        });
        self.begin(promised, events);
    }

    fn begin(&mut self, promised: SentMessage, events: &mut Vec<HostEvent>) {
        let SentMessage { turn_id, kind, origin } = promised;
        events.push(HostEvent::TurnStarted { turn_id: turn_id.clone(), kind: kind.clone() });
        self.running = Some(ClaudeTurn::new(turn_id, kind, origin));
    }

    fn status(&mut self, status: ClaudeStatus, events: &mut Vec<HostEvent>) {
        if status.compact_result.as_deref() == Some("failed") {
            let error =
                status.compact_error.unwrap_or_else(|| "claude does not say why".to_owned());
            self.compacted(Err(error), events);
        } else if status.status.as_deref() == Some("compacting")
            && let Some(running) = &mut self.running
            && running.compaction == ClaudeCompaction::None
        {
            running.compaction = ClaudeCompaction::Running;
            let (turn_id, origin) = (running.id.clone(), running.origin);
            events.push(HostEvent::CompactionStarted { turn_id, origin });
        }
    }

    /// Records the result of a compaction. If the compaction has its own turn, the result is reported at the turn's end.
    fn compacted(&mut self, how: Result<Option<u64>, String>, events: &mut Vec<HostEvent>) {
        let Some(running) = &mut self.running else { return };
        if running.kind == TurnKind::Compaction {
            running.compaction = ClaudeCompaction::Over(how);
        } else if std::mem::take(&mut running.compaction) != ClaudeCompaction::None || how.is_ok() {
            events.push(running.compaction_ended(how));
        }
    }

    fn spoke(&mut self, spoken: AssistantMessage, events: &mut Vec<HostEvent>) {
        let Some(running) = &mut self.running else { return };
        let is_main = spoken.parent_tool_use_id.is_none();
        let by_a_model = spoken.message.is_by_a_model();
        if is_main && by_a_model && spoken.message.model.is_some() {
            self.answers.clone_from(&spoken.message.model);
        }
        for block in spoken.message.into_blocks() {
            match block {
                ClaudeBlock::Text { text } if !by_a_model => running.said_by_claude = Some(text),
                ClaudeBlock::Text { text } if is_main && running.kind != TurnKind::Compaction => {
                    running.last_agent_message = Some(text.clone());
                    events.push(HostEvent::AgentMessage { turn_id: running.id.clone(), text });
                }
                ClaudeBlock::ToolUse { id, name, input } => {
                    events.push(HostEvent::ToolStarted {
                        turn_id: running.id.clone(),
                        call_id: id.clone(),
                        name: name.clone(),
                    });
                    running.calls.insert(id, ClaudeToolCall { name, input, is_main });
                }
                ClaudeBlock::Text { .. }
                | ClaudeBlock::ToolResult { .. }
                | ClaudeBlock::Unknown => {}
            }
        }
    }

    fn answered(&mut self, spoken: AssistantMessage, events: &mut Vec<HostEvent>) {
        let Some(running) = &mut self.running else { return };
        let data = spoken.tool_use_result;
        for block in spoken.message.into_blocks() {
            let ClaudeBlock::ToolResult { tool_use_id: call_id, content, is_error } = block else {
                continue;
            };
            let Some(call) = running.calls.remove(&call_id) else { continue };
            let finished = FinishedCall {
                turn_id: running.id.clone(),
                call_id,
                cwd: &self.cwd,
                call: &call,
                content: &content,
                is_error,
                data: &data,
            };
            finished.report(&mut self.plan, events);
        }
        running.tell_usage_midway(self.window, events);
    }

    fn requested(&mut self, event: StreamEvent, events: &mut Vec<HostEvent>) {
        // The usage of a compaction's own requests is not the size of the conversation.
        let Some(running) = self.running.as_mut().filter(|running| !running.compacts()) else {
            return;
        };
        match event {
            StreamEvent::MessageStart { message } => {
                running.tell_usage(true, self.window, events);
                running.request_started(message.usage.unwrap_or_default());
            }
            StreamEvent::MessageDelta { delta, usage } => {
                running.request_goes_on(delta, usage.unwrap_or_default());
            }
            StreamEvent::MessageStop => {
                running.request_ended();
                running.tell_usage_midway(self.window, events);
            }
            StreamEvent::Unknown => {}
        }
    }

    fn ended(&mut self, result: TurnResult, events: &mut Vec<HostEvent>) {
        // A user's hook can block a message; then there is only the result.
        if self.running.is_none()
            && let Some(promised) = self.promised.take()
        {
            self.begin(promised, events);
        }
        let Some(mut running) = self.running.take() else { return };
        let known = self.window;
        self.window = self.window_in(&result).or(known);
        if known.is_none() {
            running.owe_usage();
        }
        running.tell_usage(false, self.window, events);
        let (status, error) = running::outcome(&result);
        running.end(status, result.result, error, events);
    }

    /// The window of the conversation's model. Claude Code's background requests may use other models.
    fn window_in(&self, result: &TurnResult) -> Option<u64> {
        let of = |model: &String| result.model_usage.get(model);
        let only = || match result.model_usage.len() {
            1 => result.model_usage.values().next(),
            _ => None,
        };
        self.model.as_ref().and_then(of).or_else(only)?.context_window
    }
}
