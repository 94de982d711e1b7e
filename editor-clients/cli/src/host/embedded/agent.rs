//! The agent's loop: turns of sampling requests and tool calls, and compactions. Whoever asks it for more than one at a time is refused.

use std::future::Future;
use std::pin::pin;

use rawr_protocol::{CompactionOrigin, HistoryRole, TokenUsage, TurnStatus};
use tokio::sync::{mpsc, oneshot};

use super::history::History;
use super::model::{Call, Model, Reply, Want};
use super::{EmbeddedSettings, shell};
use crate::host::{HostError, HostEvent, TurnKind};

type Answer<T> = oneshot::Sender<Result<T, HostError>>;

/// What the agent can be asked for.
#[derive(Debug)]
pub(super) enum Order {
    StartTurn { items: Vec<String>, reply: Answer<String> },
    Steer { text: String, reply: Answer<String> },
    Compact { reply: Answer<()> },
    Interrupt { reply: Answer<()> },
}

pub(super) struct Agent<M> {
    settings: EmbeddedSettings,
    model: M,
    history: History,
    door: Door,
    /// Counts the ids of turns and calls.
    count: u64,
}

/// Where orders come in and events go out.
struct Door {
    orders: mpsc::UnboundedReceiver<Order>,
    events: mpsc::UnboundedSender<HostEvent>,
    /// What was added to the running turn and the model has not seen.
    steered: Vec<String>,
}

/// Why a turn ends early.
enum Stop {
    Interrupted,
    Failed(String),
}

impl<M: Model> Agent<M> {
    pub(super) fn new(
        settings: EmbeddedSettings,
        model: M,
        orders: mpsc::UnboundedReceiver<Order>,
        events: mpsc::UnboundedSender<HostEvent>,
    ) -> Self {
        let history = History::new(settings.instructions.clone());
        let door = Door { orders, events, steered: Vec::new() };
        Self { settings, model, history, door, count: 0 }
    }

    /// Until nobody can order any more.
    pub(super) async fn run(mut self) {
        while let Some(order) = self.door.orders.recv().await {
            // Whoever dropped the reply does not wait for it.
            match order {
                Order::StartTurn { items, reply } => {
                    let turn_id = self.next_id("turn");
                    let _ = reply.send(Ok(turn_id.clone()));
                    self.turn(&turn_id, items).await;
                }
                Order::Compact { reply } => {
                    let _ = reply.send(Ok(()));
                    self.compaction().await;
                }
                Order::Steer { reply, .. } => drop(reply.send(Err(HostError::NoTurn))),
                Order::Interrupt { reply } => drop(reply.send(Err(HostError::NoTurn))),
            }
        }
    }

    fn next_id(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}-{}", self.count)
    }

    async fn turn(&mut self, turn_id: &str, items: Vec<String>) {
        self.door
            .tell(HostEvent::TurnStarted { turn_id: turn_id.to_owned(), kind: TurnKind::Asked });
        for item in items {
            self.history.push(HistoryRole::User, item);
        }
        let mut last_agent_message = None;
        let ended = self.steps(turn_id, &mut last_agent_message).await;
        let (status, error) = match ended {
            Ok(()) => (TurnStatus::Completed, None),
            Err(Stop::Interrupted) => (TurnStatus::Interrupted, None),
            Err(Stop::Failed(error)) => (TurnStatus::Failed, Some(error)),
        };
        self.door.steered.clear();
        let turn_id = turn_id.to_owned();
        self.door.tell(HostEvent::TurnCompleted { turn_id, status, last_agent_message, error });
    }

    async fn steps(&mut self, turn_id: &str, last: &mut Option<String>) -> Result<(), Stop> {
        loop {
            let before = self.history.tokens();
            let reply = self.sample(turn_id, Want::Step).await?;
            self.history.push(HistoryRole::Assistant, reply.as_text());
            if let Some(text) = reply.message {
                *last = Some(text.clone());
                self.door.tell(HostEvent::AgentMessage { turn_id: turn_id.to_owned(), text });
            }
            let goes_on = !reply.calls.is_empty() || !self.door.steered.is_empty();
            self.tell_usage(turn_id, before, goes_on);
            for call in reply.calls {
                self.call(turn_id, call).await?;
            }
            if !goes_on {
                return Ok(());
            }
            for text in std::mem::take(&mut self.door.steered) {
                self.history.push(HistoryRole::User, text);
            }
        }
    }

    async fn sample(&mut self, turn_id: &str, want: Want<'_>) -> Result<Reply, Stop> {
        let Self { model, history, door, settings, .. } = self;
        let answer = async {
            tokio::time::sleep(settings.pace).await;
            model.sample(history.items(), want).await
        };
        door.unless_interrupted(turn_id, answer).await?.map_err(Stop::Failed)
    }

    fn tell_usage(&self, turn_id: &str, before: u64, needs_follow_up: bool) {
        let now = self.history.tokens();
        self.door.tell(HostEvent::Usage {
            turn_id: turn_id.to_owned(),
            usage: TokenUsage {
                context_tokens: now,
                input_tokens: Some(before),
                cached_input_tokens: None,
                output_tokens: Some(now.saturating_sub(before)),
                reasoning_tokens: None,
            },
            context_window: Some(self.settings.context_window),
            needs_follow_up,
        });
    }

    async fn call(&mut self, turn_id: &str, call: Call) -> Result<(), Stop> {
        let call_id = self.next_id("call");
        let turn = || turn_id.to_owned();
        let name = match &call {
            Call::Plan { .. } => "update_plan",
            Call::Shell { .. } => "shell",
            Call::Write { .. } => "write",
        };
        let name = name.to_owned();
        self.door.tell(HostEvent::ToolStarted { turn_id: turn(), call_id: call_id.clone(), name });
        let ended = self.carry_out(turn_id, call).await;
        self.door.tell(HostEvent::ToolFinished { turn_id: turn(), call_id });
        self.history.push(HistoryRole::Tool, ended?);
        Ok(())
    }

    /// What the model is told of it.
    async fn carry_out(&mut self, turn_id: &str, call: Call) -> Result<String, Stop> {
        let turn = || turn_id.to_owned();
        let Self { door, settings, .. } = self;
        match call {
            Call::Plan { steps } => {
                door.tell(HostEvent::PlanUpdated { turn_id: turn(), steps, explanation: None });
                Ok("the plan is updated".to_owned())
            }
            Call::Shell { command } => {
                let ran = shell::run(settings, &command);
                let ran = door.unless_interrupted(turn_id, ran).await?;
                door.tell(HostEvent::CommandFinished {
                    turn_id: turn(),
                    command,
                    exit_code: ran.exit_code,
                    cwd: settings.cwd.display().to_string(),
                });
                Ok(format!("exit code {}\n{}", ran.exit_code, ran.output))
            }
            Call::Write { path, content } => {
                let written = shell::write(&settings.cwd, &path, &content);
                Ok(written.map_or_else(|error| error, |()| format!("{path} is written")))
            }
        }
    }

    async fn compaction(&mut self) {
        let turn_id = self.next_id("turn");
        let turn = || turn_id.clone();
        let origin = CompactionOrigin::Rawr;
        self.door.tell(HostEvent::TurnStarted { turn_id: turn(), kind: TurnKind::Compaction });
        self.door.tell(HostEvent::CompactionStarted { turn_id: turn(), origin });
        let instructions = self.settings.prompts.compact.clone();
        let want = Want::Summary { instructions: &instructions };
        let (status, event, error) = match self.sample(&turn_id, want).await {
            Ok(reply) => {
                let summary = reply.message.unwrap_or_default();
                let prefix = self.settings.prompts.summary_prefix.trim_end();
                let kept = user_tokens(self.settings.context_window);
                self.history.compact(format!("{prefix}\n{summary}"), kept);
                let tokens_after = Some(self.history.tokens());
                let event =
                    HostEvent::CompactionCompleted { turn_id: turn(), origin, tokens_after };
                (TurnStatus::Completed, event, None)
            }
            Err(stop) => {
                let (status, error) = match stop {
                    Stop::Interrupted => (TurnStatus::Interrupted, "it was interrupted".to_owned()),
                    Stop::Failed(error) => (TurnStatus::Failed, error),
                };
                let event =
                    HostEvent::CompactionFailed { turn_id: turn(), origin, error: error.clone() };
                (status, event, Some(error))
            }
        };
        self.door.tell(event);
        let last_agent_message = None;
        self.door.tell(HostEvent::TurnCompleted { turn_id, status, last_agent_message, error });
    }
}

/// How much of the user's messages outlives a compaction: an eighth of the window, and no host keeps more than this.
fn user_tokens(context_window: u64) -> u64 {
    (context_window / 8).min(20_000)
}

impl Door {
    /// Without a listener there is nobody to tell, and the orders will end too.
    fn tell(&self, event: HostEvent) {
        let _ = self.events.send(event);
    }

    /// Does `work` while it hears what is said to the running turn.
    async fn unless_interrupted<T>(
        &mut self,
        turn_id: &str,
        work: impl Future<Output = T>,
    ) -> Result<T, Stop> {
        let mut work = pin!(work);
        loop {
            let order = tokio::select! {
                biased;
                order = self.orders.recv() => order,
                done = &mut work => return Ok(done),
            };
            match order {
                None => return Err(Stop::Interrupted),
                Some(Order::Interrupt { reply }) => {
                    let _ = reply.send(Ok(()));
                    return Err(Stop::Interrupted);
                }
                Some(Order::Steer { text, reply }) => {
                    self.steered.push(text);
                    let _ = reply.send(Ok(turn_id.to_owned()));
                }
                Some(Order::StartTurn { reply, .. }) => drop(reply.send(Err(HostError::Busy))),
                Some(Order::Compact { reply }) => drop(reply.send(Err(HostError::Busy))),
            }
        }
    }
}
