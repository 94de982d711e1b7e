//! Claude Code's lines folded into host events: which turn runs, whose it is, how its compaction goes. Pure; sends nothing.

mod running;
#[cfg(test)]
mod tests;

use rawr_protocol::CompactionOrigin;

use self::running::{Compaction, Running};
use super::calls::{self, Call};
use super::message::{
    AssistantMessage, Block, ClaudeLine, Init, Lifecycle, Status, StreamEvent, System, TurnResult,
};
use super::plan::Plan;
use crate::host::{HostEvent, TurnKind};

/// What is known of the conversation's turns.
#[derive(Debug)]
pub(super) struct Turns {
    cwd: String,
    /// A message that Claude Code was given and has not begun with.
    promised: Option<Promised>,
    running: Option<Running>,
    plan: Plan,
    model: Option<String>,
    /// The model that answered last: Claude Code may fall back to another than it began the turn with.
    answers: Option<String>,
    /// Told with the first result.
    window: Option<u64>,
    /// How many turns Claude Code has begun by itself.
    own: u64,
}

#[derive(Debug)]
struct Promised {
    turn_id: String,
    kind: TurnKind,
    /// Who wants what it compacts, if it does.
    origin: CompactionOrigin,
}

/// How Claude Code says that it tells when it begins with a message.
const TELLS_OF_MESSAGES: &str = "msg_lifecycle_v1";

impl Turns {
    pub(super) fn new(cwd: String) -> Self {
        Self {
            cwd,
            promised: None,
            running: None,
            plan: Plan::default(),
            model: None,
            answers: None,
            window: None,
            own: 0,
        }
    }

    /// Whether a message now would fall into the middle of something.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some() || self.promised.is_some()
    }

    /// The model that answers in the conversation itself, once one has.
    pub(super) fn model(&self) -> Option<&str> {
        self.answers.as_deref()
    }

    /// A message is on its way. To be told before any line that came after it.
    pub(super) fn promise(&mut self, turn_id: &str, kind: TurnKind, text: &str) {
        let by_hand = text.split_whitespace().next() == Some("/compact");
        let origin = match kind {
            TurnKind::Compaction => CompactionOrigin::Rawr,
            TurnKind::Asked | TurnKind::Person { .. } if by_hand => CompactionOrigin::User,
            TurnKind::Asked | TurnKind::Person { .. } | TurnKind::Host => CompactionOrigin::Host,
        };
        self.promised = Some(Promised { turn_id: turn_id.to_owned(), kind, origin });
    }

    pub(super) fn read(&mut self, line: ClaudeLine) -> Vec<HostEvent> {
        let mut events = Vec::new();
        match line {
            ClaudeLine::CommandLifecycle(lifecycle) => self.lifecycle(&lifecycle, &mut events),
            ClaudeLine::System(System::Init(init)) => self.init(init, &mut events),
            ClaudeLine::System(System::Status(status)) => self.status(status, &mut events),
            ClaudeLine::System(System::CompactBoundary { compact_metadata }) => {
                self.compacted(Ok(compact_metadata.post_tokens), &mut events);
            }
            ClaudeLine::System(System::PermissionDenied { tool_name }) => {
                events.push(HostEvent::Notice(format!(
                    "claude asked for approval of {tool_name}; declined, because nobody is there to ask: \
                     `--permission-mode` or claude's settings.json can allow it"
                )));
            }
            ClaudeLine::System(System::ApiRetry(retry)) => {
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
            | ClaudeLine::System(System::Unknown)
            | ClaudeLine::ControlResponse { .. }
            | ClaudeLine::ControlRequest { .. }
            | ClaudeLine::Unknown => {}
        }
        events
    }

    fn lifecycle(&mut self, lifecycle: &Lifecycle, events: &mut Vec<HostEvent>) {
        let ours = self.promised.take_if(|promised| {
            promised.turn_id == lifecycle.command_uuid && lifecycle.state != "queued"
        });
        let Some(promised) = ours else { return };
        // Claude Code had begun a turn by itself, and takes the message up inside of it.
        if let Some(own) = self.running.take() {
            own.end(rawr_protocol::TurnStatus::Completed, None, None, events);
        }
        self.begin(promised, events);
    }

    fn init(&mut self, init: Init, events: &mut Vec<HostEvent>) {
        self.model = init.model.or(self.model.take());
        if self.running.is_some() {
            return;
        }
        let tells = init.capabilities.iter().any(|capability| capability == TELLS_OF_MESSAGES);
        let promised = self.promised.take_if(|_| !tells).unwrap_or_else(|| {
            self.own += 1;
            let turn_id = format!("own-{}", self.own);
            Promised { turn_id, kind: TurnKind::Host, origin: CompactionOrigin::Host }
        });
        self.begin(promised, events);
    }

    fn begin(&mut self, promised: Promised, events: &mut Vec<HostEvent>) {
        let Promised { turn_id, kind, origin } = promised;
        events.push(HostEvent::TurnStarted { turn_id: turn_id.clone(), kind: kind.clone() });
        self.running = Some(Running::new(turn_id, kind, origin));
    }

    fn status(&mut self, status: Status, events: &mut Vec<HostEvent>) {
        if status.compact_result.as_deref() == Some("failed") {
            let error =
                status.compact_error.unwrap_or_else(|| "claude does not say why".to_owned());
            self.compacted(Err(error), events);
        } else if status.status.as_deref() == Some("compacting")
            && let Some(running) = &mut self.running
            && running.compaction == Compaction::None
        {
            running.compaction = Compaction::Running;
            let (turn_id, origin) = (running.id.clone(), running.origin);
            events.push(HostEvent::CompactionStarted { turn_id, origin });
        }
    }

    /// Of a compaction that has a turn of its own, the turn's end decides; one inside another turn is over here.
    fn compacted(&mut self, how: Result<Option<u64>, String>, events: &mut Vec<HostEvent>) {
        let Some(running) = &mut self.running else { return };
        if running.kind == TurnKind::Compaction {
            running.compaction = Compaction::Over(how);
        } else if std::mem::take(&mut running.compaction) != Compaction::None || how.is_ok() {
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
                Block::Text { text } if !by_a_model => running.said_by_claude = Some(text),
                Block::Text { text } if is_main && running.kind != TurnKind::Compaction => {
                    running.last_agent_message = Some(text.clone());
                    events.push(HostEvent::AgentMessage { turn_id: running.id.clone(), text });
                }
                Block::ToolUse { id, name, input } => {
                    events.push(HostEvent::ToolStarted {
                        turn_id: running.id.clone(),
                        call_id: id.clone(),
                        name: name.clone(),
                    });
                    running.calls.insert(id, Call { name, input, is_main });
                }
                Block::Text { .. } | Block::ToolResult { .. } | Block::Unknown => {}
            }
        }
    }

    fn answered(&mut self, spoken: AssistantMessage, events: &mut Vec<HostEvent>) {
        let Some(running) = &mut self.running else { return };
        let data = spoken.tool_use_result;
        for block in spoken.message.into_blocks() {
            let Block::ToolResult { tool_use_id: call_id, content, is_error } = block else {
                continue;
            };
            let Some(call) = running.calls.remove(&call_id) else { continue };
            let turn_id = running.id.clone();
            if let Some((command, exit_code)) = calls::ended(&call, &content, is_error, &data) {
                events.push(HostEvent::CommandFinished {
                    turn_id: turn_id.clone(),
                    call_id: call_id.clone(),
                    command,
                    exit_code,
                    cwd: self.cwd.clone(),
                });
            }
            if !is_error
                && call.is_main
                && let Some(steps) = self.plan.called(&call.name, &call.input, &data)
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
        running.tell_usage_midway(self.window, events);
    }

    fn requested(&mut self, event: StreamEvent, events: &mut Vec<HostEvent>) {
        // What a compaction itself uses says nothing about the conversation.
        let Some(running) = self.running.as_mut().filter(|running| !running.compacts()) else {
            return;
        };
        match event {
            StreamEvent::MessageStart { message } => {
                running.tell_usage(true, self.window, events);
                running.request_started(message.usage);
            }
            StreamEvent::MessageDelta { delta, usage } => running.request_goes_on(delta, usage),
            StreamEvent::MessageStop => {
                running.request_ended();
                running.tell_usage_midway(self.window, events);
            }
            StreamEvent::Unknown => {}
        }
    }

    fn ended(&mut self, result: TurnResult, events: &mut Vec<HostEvent>) {
        // A hook of the user's may keep a message from the agent, and nothing else is told of it.
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

    /// Helpers of Claude Code's run on models of their own.
    fn window_in(&self, result: &TurnResult) -> Option<u64> {
        let of = |model: &String| result.model_usage.get(model);
        let only = || match result.model_usage.len() {
            1 => result.model_usage.values().next(),
            _ => None,
        };
        self.model.as_ref().and_then(of).or_else(only)?.context_window
    }
}
