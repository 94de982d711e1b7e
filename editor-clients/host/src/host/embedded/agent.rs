//! The agent's loop: turns of sampling requests and tool calls, one turn at a time. A second turn is refused as busy.

use std::sync::Arc;

use rawr_protocol::{TokenUsage, TurnStatus};
use tokio::sync::mpsc;

use super::history::{AgentHistory, AgentItem, CALL, TokenCount, tokens_of};
use super::mailbox::{
    AgentInput, AgentOrder, Mailbox, MailboxResult, TurnStop, notice_of_retries, refuse,
};
use super::model::{Model, ModelDelta, ModelError, ModelRequest, SampleReply};
use super::tools::{ModelToolCall, Tool};
use super::{EmbeddedSettings, files, shell};
use crate::host::{CompactionOrder, ContextOverflow, HostError, HostEvent, NextRequest, TurnKind};

pub(super) struct Agent<M> {
    pub(super) settings: EmbeddedSettings,
    pub(super) model: Arc<M>,
    pub(super) history: AgentHistory,
    pub(super) mailbox: Mailbox<M>,
    /// The size of the smallest conversation that the model refused as too long. The window is smaller than configured.
    pub(super) refused_tokens: Option<u64>,
    /// The last number in an id of a turn or call.
    count: u64,
}

/// The result of a sampling request.
enum SampledReply {
    Reply(SampleReply),
    /// Aborted for a compaction, with the text so far.
    CutOff {
        said: String,
        order: CompactionOrder,
    },
}

/// The message that continues the agent's own work after it answered a text from rawr.
const GO_ON: &str = "Go on with your work where you left off.";

/// The result of a call that was not run.
const NOT_RUN: &str = "not run: the turn was stopped";

impl<M: Model> Agent<M> {
    pub(super) fn new(
        history: AgentHistory,
        settings: EmbeddedSettings,
        model: M,
        orders: mpsc::UnboundedReceiver<AgentInput>,
        events: mpsc::UnboundedSender<HostEvent>,
    ) -> Self {
        let model = Arc::new(model);
        let mailbox = Mailbox::new(orders, events, Arc::clone(&model), history.snapshot());
        let count = history.highest_call();
        Self { settings, model, history, mailbox, refused_tokens: None, count }
    }

    /// Runs until all senders of orders are dropped.
    pub(super) async fn run(mut self) {
        loop {
            self.mailbox.history = self.history.snapshot();
            let Some(order) = self.mailbox.next_order().await else { return };
            // A failed send means that the requester was dropped.
            match order {
                AgentOrder::StartTurn { items, reply } => {
                    let turn_id = self.next_id("turn");
                    let _ = reply.send(Ok(turn_id.clone()));
                    self.turn(&turn_id, items).await;
                }
                AgentOrder::Compact { order, reply } => {
                    let _ = reply.send(Ok(()));
                    let turn_id = self.next_id("turn");
                    self.compaction_turn(turn_id, &order).await;
                }
                AgentOrder::Steer { reply, .. } => refuse(reply, HostError::NoTurn),
                AgentOrder::Interrupt { reply } => refuse(reply, HostError::NoTurn),
                // For a turn that has ended.
                AgentOrder::GoOn { .. } => {}
            }
        }
    }

    fn next_id(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}-{}", self.count)
    }

    async fn turn(&mut self, turn_id: &str, items: Vec<String>) {
        let started = HostEvent::TurnStarted { turn_id: turn_id.to_owned(), kind: TurnKind::Asked };
        self.mailbox.tell(started);
        let first = self.history.len();
        for item in items {
            self.history.push(AgentItem::user(item));
        }
        self.mailbox.begin_turn(turn_id);
        let mut last_agent_message = None;
        let ended = self.steps(turn_id, &mut last_agent_message).await;
        self.mailbox.end_turn();
        let (status, error, overflow) = match ended {
            Ok(()) => (TurnStatus::Completed, None, None),
            Err(TurnStop::Interrupted) => (TurnStatus::Interrupted, None, None),
            Err(TurnStop::Failed(error)) => (TurnStatus::Failed, Some(error), None),
            Err(TurnStop::TooLong(error)) => {
                let overflow = self.refused(first, &error);
                (TurnStatus::Failed, Some(error), Some(overflow))
            }
        };
        let turn_id = turn_id.to_owned();
        self.mailbox.tell(HostEvent::TurnCompleted {
            turn_id,
            status,
            last_agent_message,
            error,
            overflow,
        });
    }

    /// The model refused the conversation as too long. A message that it never answered is removed: every later request
    /// would be refused because of it.
    fn refused(&mut self, first: usize, error: &str) -> ContextOverflow {
        let tokens = self.history.tokens();
        self.refused_tokens = self.refused_tokens.into_iter().chain([tokens]).min();
        self.history.withdraw_messages(first);
        let read = ContextOverflow::read(error).unwrap_or_default();
        ContextOverflow { request_tokens: Some(tokens), ..read }
    }

    /// Runs sampling requests, with a pause after each until the driver resumes the turn.
    async fn steps(&mut self, turn_id: &str, last: &mut Option<String>) -> Result<(), TurnStop> {
        loop {
            let before = self.history.tokens();
            let (has_calls, counted) = match self.request(turn_id).await? {
                SampledReply::Reply(reply) => {
                    let counted = reply.counted(before);
                    let taken = self.take(turn_id, reply, last).await;
                    if taken.is_err() {
                        self.tell_usage(turn_id, counted, false);
                    }
                    (taken?, counted)
                }
                SampledReply::CutOff { said, order } => {
                    let output = tokens_of(said.len());
                    if !said.trim().is_empty() {
                        let calls = Vec::new();
                        self.history.push(AgentItem::Assistant { text: Some(said.clone()), calls });
                        self.say(turn_id, said, last);
                    }
                    self.compact_inside(turn_id, &order).await?;
                    (true, TokenCount { input: before, output, ..Default::default() })
                }
            };
            let goes_on = has_calls || self.mailbox.has_steered();
            self.tell_usage(turn_id, counted, goes_on);
            let next = self.pause(turn_id).await?;
            let steered = self.mailbox.take_steered();
            if !has_calls && steered.is_empty() {
                match next {
                    NextRequest::AsAnswered => return Ok(()),
                    NextRequest::More => self.history.push(AgentItem::user(GO_ON)),
                }
            }
            for text in steered {
                self.history.push(AgentItem::user(text));
            }
        }
    }

    /// Records a reply and runs its tool calls. Returns whether it has any.
    async fn take(
        &mut self,
        turn_id: &str,
        reply: SampleReply,
        last: &mut Option<String>,
    ) -> Result<bool, TurnStop> {
        let SampleReply { message, mut calls, counted } = reply;
        for call in calls.iter_mut().filter(|call| call.id.is_empty()) {
            self.count += 1;
            call.id = format!("{CALL}{}", self.count);
        }
        self.history.push(AgentItem::Assistant { text: message.clone(), calls: calls.clone() });
        if let Some(counted) = &counted {
            self.history.measure(counted);
        }
        if let Some(text) = message.filter(|text| !text.is_empty()) {
            self.say(turn_id, text, last);
        }
        let mut stopped = Ok(!calls.is_empty());
        for call in calls {
            // Providers refuse a history in which a call has no result.
            let text = match &stopped {
                Ok(_) => match self.call(turn_id, &call).await {
                    Ok(text) => text,
                    Err(stop) => {
                        stopped = Err(stop);
                        NOT_RUN.to_owned()
                    }
                },
                Err(_) => NOT_RUN.to_owned(),
            };
            self.history.push(AgentItem::Result { call_id: call.id, text });
        }
        stopped
    }

    fn say(&self, turn_id: &str, text: String, last: &mut Option<String>) {
        *last = Some(text.clone());
        self.mailbox.tell(HostEvent::AgentMessage { turn_id: turn_id.to_owned(), text });
    }

    async fn request(&mut self, turn_id: &str) -> Result<SampledReply, TurnStop> {
        let history = self.history.snapshot();
        self.mailbox.history = Arc::clone(&history);
        let mut stream = RunningRequest::new(self, turn_id);
        let Self { model, mailbox, settings, .. } = self;
        let answer = async {
            tokio::time::sleep(settings.pace).await;
            model.sample(&history, ModelRequest::Step, &mut |heard| stream.hear(heard)).await
        };
        match mailbox.while_sampling(answer).await? {
            MailboxResult::Done(reply) => Ok(SampledReply::Reply(reply?)),
            MailboxResult::CutOff(order) => Ok(SampledReply::CutOff { said: stream.said, order }),
        }
    }

    /// A request outside the turn, such as for a summary.
    pub(super) async fn ask(
        &mut self,
        history: &[AgentItem],
        want: ModelRequest<'_>,
    ) -> Result<Result<SampleReply, ModelError>, TurnStop> {
        let Self { model, mailbox, settings, .. } = self;
        let events = mailbox.events();
        let mut hear = notice_of_retries(events);
        let answer = async {
            tokio::time::sleep(settings.pace).await;
            model.sample(history, want, &mut hear).await
        };
        mailbox.while_working(answer).await
    }

    /// Waits until the driver resumes the turn. Compactions inside a turn run here.
    async fn pause(&mut self, turn_id: &str) -> Result<NextRequest, TurnStop> {
        self.mailbox.history = self.history.snapshot();
        loop {
            match self.mailbox.next_order().await {
                None => return Err(TurnStop::Interrupted),
                Some(AgentOrder::GoOn { turn_id: of, next }) => {
                    if of == turn_id {
                        return Ok(next);
                    }
                }
                Some(AgentOrder::Compact { order, reply }) => {
                    let _ = reply.send(Ok(()));
                    self.compact_inside(turn_id, &order).await?;
                }
                Some(AgentOrder::Interrupt { reply }) => {
                    let _ = reply.send(Ok(()));
                    return Err(TurnStop::Interrupted);
                }
                Some(AgentOrder::Steer { text, reply }) => self.mailbox.steer(text, reply),
                Some(AgentOrder::StartTurn { reply, .. }) => refuse(reply, HostError::Busy),
            }
        }
    }

    fn tell_usage(&self, turn_id: &str, counted: TokenCount, needs_follow_up: bool) {
        self.mailbox.tell(HostEvent::Usage {
            turn_id: turn_id.to_owned(),
            usage: TokenUsage {
                context_tokens: self.history.tokens(),
                input_tokens: Some(counted.input),
                cached_input_tokens: counted.cached_input,
                output_tokens: Some(counted.output),
                reasoning_tokens: counted.reasoning,
                cache_seconds: None,
            },
            context_window: Some(self.settings.context_window),
            needs_follow_up,
        });
    }

    /// Runs a tool call. Returns its result for the model.
    async fn call(&mut self, turn_id: &str, call: &ModelToolCall) -> Result<String, TurnStop> {
        let tool = match Tool::read(call) {
            Ok(tool) => tool,
            Err(problem) => return Ok(problem),
        };
        let call_id = self.next_id("tool");
        let turn = || turn_id.to_owned();
        let name = call.name.clone();
        self.mailbox.tell(HostEvent::ToolStarted {
            turn_id: turn(),
            call_id: call_id.clone(),
            name,
        });
        let ended = self.carry_out(turn_id, &call_id, tool).await;
        self.mailbox.tell(HostEvent::ToolFinished { turn_id: turn(), call_id });
        ended
    }

    async fn carry_out(
        &mut self,
        turn_id: &str,
        call_id: &str,
        tool: Tool,
    ) -> Result<String, TurnStop> {
        let turn = || turn_id.to_owned();
        let Self { mailbox, settings, .. } = self;
        match tool {
            Tool::UpdatePlan { plan: steps, explanation } => {
                let call_id = Some(call_id.to_owned());
                mailbox.tell(HostEvent::PlanUpdated {
                    turn_id: turn(),
                    call_id,
                    steps,
                    explanation,
                });
                Ok("the plan is updated".to_owned())
            }
            Tool::Shell { command, timeout_seconds } => {
                let ran = shell::run(settings, &command, timeout_seconds);
                let ran = mailbox.while_working(ran).await?;
                mailbox.tell(HostEvent::CommandFinished {
                    turn_id: turn(),
                    call_id: call_id.to_owned(),
                    command,
                    exit_code: ran.exit_code,
                    cwd: settings.cwd.display().to_string(),
                });
                Ok(format!("exit code {}\n{}", ran.exit_code, ran.output))
            }
            Tool::ReadFile { path, first_line, lines } => {
                let read = files::read(&settings.cwd, &path, first_line, lines);
                Ok(read.unwrap_or_else(|error| error))
            }
            Tool::WriteFile { path, content } => {
                let written = files::write(&settings.cwd, &path, &content);
                Ok(written.map_or_else(|error| error, |()| format!("{path} is written")))
            }
        }
    }
}

/// A running request: its text so far and the estimated usage.
struct RunningRequest {
    turn_id: String,
    said: String,
    bytes: usize,
    before: u64,
    window: u64,
    /// Tokens between two estimates, and the number of estimates reported.
    every: Option<u64>,
    told: u64,
    notice: Box<dyn FnMut(ModelDelta<'_>) + Send>,
    events: mpsc::UnboundedSender<HostEvent>,
}

impl RunningRequest {
    fn new<M: Model>(agent: &Agent<M>, turn_id: &str) -> Self {
        let events = agent.mailbox.events();
        Self {
            turn_id: turn_id.to_owned(),
            said: String::new(),
            bytes: 0,
            before: agent.history.tokens(),
            window: agent.settings.context_window,
            every: agent.settings.estimate_every,
            told: 0,
            notice: Box::new(notice_of_retries(events.clone())),
            events,
        }
    }

    fn hear(&mut self, heard: ModelDelta<'_>) {
        match heard {
            ModelDelta::Text(piece) => {
                self.said.push_str(piece);
                self.bytes += piece.len();
            }
            ModelDelta::Call(piece) => self.bytes += piece.len(),
            ModelDelta::RetryPlan { .. } => {
                self.said.clear();
                (self.bytes, self.told) = (0, 0);
                (self.notice)(heard);
            }
        }
        let output = tokens_of(self.bytes);
        if self.every.is_some_and(|every| output >= (self.told + 1).saturating_mul(every)) {
            self.told = self.every.map_or(0, |every| output / every.max(1));
            // A failed send means that the receiver was dropped.
            let _ = self.events.send(self.estimate(output));
        }
    }

    fn estimate(&self, output: u64) -> HostEvent {
        HostEvent::UsageEstimated {
            turn_id: self.turn_id.clone(),
            usage: TokenUsage {
                context_tokens: self.before + output,
                input_tokens: Some(self.before),
                cached_input_tokens: None,
                output_tokens: Some(output),
                reasoning_tokens: None,
                cache_seconds: None,
            },
            context_window: Some(self.window),
        }
    }
}
