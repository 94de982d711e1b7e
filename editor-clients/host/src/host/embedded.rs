//! An agent inside this program, with its own history, tools and compactor, on any model.

mod agent;
mod chat;
mod compactor;
mod files;
mod history;
mod mailbox;
mod model;
mod script;
mod shell;
mod tools;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use futures::future::BoxFuture;
use rawr_protocol::{Host, HostCapabilities, PendingAction};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use self::agent::Agent;
pub use self::chat::{Chat, ChatError, ChatSettings, RetrySettings};
use self::history::AgentHistory;
pub use self::history::{AgentItem, TokenCount};
use self::mailbox::{AgentInput, AgentOrder, SideQuestion};
pub use self::model::{DeltaSink, Model, ModelDelta, ModelError, ModelRequest, SampleReply};
pub use self::script::{Scene, SceneCue, Script, ScriptLine};
pub use self::tools::{ModelToolCall, Tool};
use super::{
    AgentHost, CompactionOrder, HostAccess, HostError, HostEvent, HostThread, InProcessAgent,
    ModelQuestion, NextRequest, RecordedOutcome, ThreadOrigin,
};

/// Settings of an embedded agent.
#[derive(Debug, Clone)]
pub struct EmbeddedSettings {
    /// The working folder, absolute.
    pub cwd: PathBuf,
    /// Variables for its tools, in addition to this program's environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Variables that its tools must not see, such as an API key.
    pub hidden: Vec<OsString>,
    /// A program that is not run; its commands report success.
    pub pretended: Option<&'static str>,
    /// The size of the context window in tokens.
    pub context_window: u64,
    /// The system prompt.
    pub instructions: String,
    /// The prompts of a compaction.
    pub prompts: CompactionPrompts,
    /// A pause before every answer of the model, so that a user can follow.
    pub pace: Duration,
    /// Report an estimate of the usage after this many tokens of a running request, so that it can be aborted in time.
    pub estimate_every: Option<u64>,
}

/// The prompts of a compaction.
#[derive(Debug, Clone)]
pub struct CompactionPrompts {
    /// The request for the summary.
    pub compact: String,
    /// The text before the summary in the new history.
    pub summary_prefix: String,
}

/// The running agent. Dropping it stops the agent and its tools.
#[derive(Debug)]
pub struct Embedded {
    thread: HostThread,
    orders: mpsc::UnboundedSender<AgentInput>,
    events: mpsc::UnboundedReceiver<HostEvent>,
    task: JoinHandle<()>,
}

impl Embedded {
    /// Starts the agent with an empty conversation.
    pub fn start(settings: EmbeddedSettings, model: impl Model) -> Self {
        let history = AgentHistory::new(settings.instructions.clone());
        Self::with(history, settings, model)
    }

    /// Starts the agent with a history from [`InProcessAgent::history`].
    ///
    /// # Errors
    ///
    /// [`HostError::BadHistory`] if an item is invalid or the system prompt is missing.
    pub fn resume(
        settings: EmbeddedSettings,
        model: impl Model,
        history: Vec<Map<String, Value>>,
    ) -> Result<Self, HostError> {
        let item = |item| serde_json::from_value(Value::Object(item));
        let items = history.into_iter().map(item).collect::<Result<Vec<AgentItem>, _>>();
        let items = items.map_err(|error| HostError::BadHistory { problem: error.to_string() })?;
        if !matches!(items.first(), Some(AgentItem::System { .. })) {
            let problem = "the system prompt is missing".to_owned();
            return Err(HostError::BadHistory { problem });
        }
        Ok(Self::with(AgentHistory::kept(items), settings, model))
    }

    fn with(history: AgentHistory, settings: EmbeddedSettings, model: impl Model) -> Self {
        let thread = HostThread {
            thread_id: new_thread_id(),
            origin: ThreadOrigin::Person,
            cwd: settings.cwd.clone(),
            host: Host {
                name: NAME.to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                capabilities: HostCapabilities {
                    inject_turn: true,
                    steer: true,
                    sample: true,
                    // Every input of this thread comes from the driver, which can hold it.
                    queue: true,
                    queue_in_place: false,
                    queue_above_tokens: None,
                    compact: true,
                    compact_by_person: false,
                    mid_turn_compact: true,
                    judge: true,
                    inject_items: false,
                    // The endpoint may be any.
                    cache_seconds: None,
                },
            },
            model: Some(model.name().to_owned()),
            context_window: Some(settings.context_window),
            context_window_assumed: false,
            compacts_above_tokens: None,
            baseline_tokens: 0,
            transcript: None,
            began_at_ms: None,
        };
        let (orders, taken) = mpsc::unbounded_channel();
        let (told, events) = mpsc::unbounded_channel();
        let task = tokio::spawn(Agent::new(history, settings, model, taken, told).run());
        Self { thread, orders, events, task }
    }

    async fn ask<T>(
        &mut self,
        order: impl FnOnce(oneshot::Sender<Result<T, HostError>>) -> AgentOrder,
    ) -> Result<T, HostError> {
        let (reply, answer) = oneshot::channel();
        self.say(AgentInput::Order(order(reply)))?;
        answer.await.map_err(|_| gone())?
    }

    fn say(&self, said: AgentInput) -> Result<(), HostError> {
        self.orders.send(said).map_err(|_| gone())
    }
}

fn gone() -> HostError {
    HostError::Gone { reason: GONE.to_owned() }
}

/// The host's name in capsules and notifications.
pub const NAME: &str = "embedded";

const GONE: &str = "the embedded agent has ended";

/// Unique on this machine.
fn new_thread_id() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Ids of the same length are easier to compare in a list.
    format!("embedded-{:016x}-{:04x}", since.as_nanos(), std::process::id() & 0xffff)
}

#[async_trait]
impl AgentHost for Embedded {
    fn thread(&self) -> &HostThread {
        &self.thread
    }

    fn access(&mut self) -> HostAccess<'_> {
        HostAccess::InProcess(self)
    }

    fn resume_withheld_work(&mut self) {}

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        let items = items.iter().map(|&item| item.to_owned()).collect();
        self.ask(|reply| AgentOrder::StartTurn { items, reply }).await
    }

    async fn steer(&mut self, text: &str) -> Result<String, HostError> {
        let text = text.to_owned();
        self.ask(|reply| AgentOrder::Steer { text, reply }).await
    }

    async fn compact(&mut self, order: &CompactionOrder) -> Result<(), HostError> {
        let order = order.clone();
        self.ask(|reply| AgentOrder::Compact { order, reply }).await
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        self.ask(|reply| AgentOrder::Interrupt { reply }).await
    }

    async fn sample(&mut self, question: ModelQuestion) -> Result<(), HostError> {
        self.say(AgentInput::Aside(SideQuestion::Sample(question)))
    }

    async fn judge(&mut self, question: ModelQuestion) -> Result<(), HostError> {
        self.say(AgentInput::Aside(SideQuestion::Judge(question)))
    }

    /// Each driver starts a conversation that ends with it, so there is never an earlier driver.
    async fn recorded_outcome(
        &mut self,
        _action: &PendingAction,
    ) -> Result<RecordedOutcome, HostError> {
        Ok(RecordedOutcome::NotFound)
    }

    async fn next_event(&mut self) -> HostEvent {
        let event = self.events.recv().await;
        event.unwrap_or_else(|| HostEvent::Gone { reason: GONE.to_owned() })
    }

    async fn close(self: Box<Self>) {
        drop(self.orders);
        // A panic of the task also ends it.
        let _ = self.task.await;
    }
}

impl InProcessAgent for Embedded {
    fn resume_turn(&mut self, turn_id: &str, next: NextRequest) -> Result<(), HostError> {
        self.say(AgentInput::Order(AgentOrder::GoOn { turn_id: turn_id.to_owned(), next }))
    }

    fn history(&mut self) -> BoxFuture<'_, Result<Vec<Map<String, Value>>, HostError>> {
        Box::pin(async {
            let (reply, answer) = oneshot::channel();
            self.say(AgentInput::History { reply })?;
            let items = answer.await.map_err(|_| gone())?;
            let object = |item: &AgentItem| match serde_json::to_value(item) {
                Ok(Value::Object(fields)) => Ok(fields),
                Ok(_) => Err("an item is not a JSON object".to_owned()),
                Err(error) => Err(error.to_string()),
            };
            let history = items.iter().map(object).collect::<Result<_, _>>();
            history.map_err(|problem| HostError::BadHistory { problem })
        })
    }
}

#[cfg(test)]
mod tests;
