//! An agent inside this program: its own history, tools and compactor, on any model. It decides nothing about compaction.

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

use futures::future::BoxFuture;
use rawr_protocol::{Host as HostInfo, HostCapabilities, PendingAction};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use self::agent::Agent;
pub use self::chat::{Chat, ChatError, ChatSettings, Retry};
use self::history::History;
pub use self::history::Item;
use self::mailbox::{AgentInput, Aside, Order};
pub use self::model::{
    Call, DeltaSink, Model, ModelDelta, ModelError, ModelRequest, Reply, TokenCount,
};
pub use self::script::{Cue, Scene, Script, ScriptLine};
pub use self::tools::Tool;
use super::{
    Access, CompactionOrder, HistoryKeeper, Host, HostError, HostEvent, HostThread, Next, Question,
    RecordedOutcome, RequestGate, ThreadLifetime, ThreadOrigin, WithheldWork,
};

/// What the agent works with.
#[derive(Debug, Clone)]
pub struct EmbeddedSettings {
    pub cwd: PathBuf,
    /// What its tools run in, beside the environment of this program.
    pub environment: Vec<(OsString, OsString)>,
    /// What of it its tools must not see, such as a model's key.
    pub hidden: Vec<OsString>,
    /// Commands of this program are not run but said to have succeeded.
    pub pretended: Option<&'static str>,
    pub context_window: u64,
    /// The fixed beginning of the history.
    pub instructions: String,
    pub prompts: CompactionPrompts,
    /// A pause before every answer of the model, for people who watch.
    pub pace: Duration,
    /// While a request runs, tell how full the window is after every so many tokens: for who may cut it off.
    pub estimate_every: Option<u64>,
}

/// What the compactor says to the model, and what stands before the summary.
#[derive(Debug, Clone)]
pub struct CompactionPrompts {
    pub compact: String,
    pub summary_prefix: String,
}

/// The running agent. Dropping it ends the agent and what its tools run.
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
        let history = History::new(settings.instructions.clone());
        Self::with(history, settings, model)
    }

    /// Starts an agent that goes on where another was: with a history that [`HistoryKeeper::history`] gave.
    pub fn resume(
        settings: EmbeddedSettings,
        model: impl Model,
        history: Vec<Map<String, Value>>,
    ) -> Result<Self, HostError> {
        let item = |item| serde_json::from_value(Value::Object(item));
        let items = history.into_iter().map(item).collect::<Result<Vec<Item>, _>>();
        let items = items.map_err(|error| HostError::BadHistory { problem: error.to_string() })?;
        if !matches!(items.first(), Some(Item::System { .. })) {
            let problem = "it has no beginning".to_owned();
            return Err(HostError::BadHistory { problem });
        }
        Ok(Self::with(History::kept(items), settings, model))
    }

    fn with(history: History, settings: EmbeddedSettings, model: impl Model) -> Self {
        let thread = HostThread {
            thread_id: new_thread_id(),
            origin: ThreadOrigin::Person,
            cwd: settings.cwd.clone(),
            host: HostInfo {
                name: NAME.to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                capabilities: HostCapabilities {
                    inject_turn: true,
                    steer: true,
                    sample: true,
                    // Every input of this thread comes from the driver, which can hold it.
                    queue: true,
                    compact: true,
                    compact_by_person: false,
                    mid_turn_compact: true,
                    judge: true,
                    inject_items: false,
                },
            },
            model: Some(model.name().to_owned()),
            context_window: Some(settings.context_window),
            baseline_tokens: 0,
            transcript: None,
        };
        let (orders, taken) = mpsc::unbounded_channel();
        let (told, events) = mpsc::unbounded_channel();
        let task = tokio::spawn(Agent::new(history, settings, model, taken, told).run());
        Self { thread, orders, events, task }
    }

    async fn ask<T>(
        &mut self,
        order: impl FnOnce(oneshot::Sender<Result<T, HostError>>) -> Order,
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

/// What capsules know it by.
pub const NAME: &str = "embedded";

const GONE: &str = "the embedded agent has ended";

/// Unique on this machine.
fn new_thread_id() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("embedded-{:x}-{:x}", since.as_nanos(), std::process::id())
}

impl Host for Embedded {
    fn thread(&self) -> &HostThread {
        &self.thread
    }

    fn access(&mut self) -> Access<'_> {
        Access::Exclusive
    }

    fn request_gate(&mut self) -> Option<&mut dyn RequestGate> {
        Some(self)
    }

    fn withheld_work(&mut self) -> Option<&mut dyn WithheldWork> {
        None
    }

    fn history_keeper(&mut self) -> Option<&mut dyn HistoryKeeper> {
        Some(self)
    }

    fn lifetime(&self) -> ThreadLifetime {
        ThreadLifetime::Driver
    }

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        let items = items.iter().map(|&item| item.to_owned()).collect();
        self.ask(|reply| Order::StartTurn { items, reply }).await
    }

    async fn steer(&mut self, text: &str) -> Result<String, HostError> {
        let text = text.to_owned();
        self.ask(|reply| Order::Steer { text, reply }).await
    }

    async fn compact(&mut self, order: &CompactionOrder) -> Result<(), HostError> {
        let order = order.clone();
        self.ask(|reply| Order::Compact { order, reply }).await
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        self.ask(|reply| Order::Interrupt { reply }).await
    }

    async fn sample(&mut self, question: Question) -> Result<(), HostError> {
        self.say(AgentInput::Aside(Aside::Sample(question)))
    }

    async fn judge(&mut self, question: Question) -> Result<(), HostError> {
        self.say(AgentInput::Aside(Aside::Judge(question)))
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

    async fn close(self) {
        drop(self.orders);
        // A task that panicked is as ended as any other.
        let _ = self.task.await;
    }
}

impl RequestGate for Embedded {
    fn resume_turn(&mut self, turn_id: &str, next: Next) -> Result<(), HostError> {
        self.say(AgentInput::Order(Order::GoOn { turn_id: turn_id.to_owned(), next }))
    }
}

impl HistoryKeeper for Embedded {
    fn history(&mut self) -> BoxFuture<'_, Result<Vec<Map<String, Value>>, HostError>> {
        Box::pin(async {
            let (reply, answer) = oneshot::channel();
            self.say(AgentInput::History { reply })?;
            let items = answer.await.map_err(|_| gone())?;
            let object = |item: &Item| match serde_json::to_value(item) {
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
