//! An agent inside this program: its own history, tools and compactor, on any model. It decides nothing about compaction.

mod agent;
mod history;
mod model;
mod script;
mod shell;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rawr_protocol::{Host as HostInfo, HostCapabilities};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use self::agent::{Agent, Order};
pub use self::history::Item;
pub use self::model::{Call, Model, Reply, Want};
pub use self::script::{Cue, Scene, Script};
use super::{Host, HostError, HostEvent, HostThread, Question};

/// What the agent works with.
#[derive(Debug, Clone)]
pub struct EmbeddedSettings {
    pub cwd: PathBuf,
    /// What its tools run in, beside the environment of this program.
    pub environment: Vec<(OsString, OsString)>,
    /// Commands of this program are not run but said to have succeeded.
    pub pretended: Option<&'static str>,
    pub context_window: u64,
    /// The fixed beginning of the history.
    pub instructions: String,
    pub prompts: CompactionPrompts,
    /// A pause before every answer of the model, for people who watch.
    pub pace: Duration,
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
    orders: mpsc::UnboundedSender<Order>,
    events: mpsc::UnboundedReceiver<HostEvent>,
    task: JoinHandle<()>,
}

impl Embedded {
    /// Starts the agent with an empty conversation.
    pub fn start(settings: EmbeddedSettings, model: impl Model) -> Self {
        let thread = HostThread {
            thread_id: new_thread_id(),
            cwd: settings.cwd.clone(),
            host: HostInfo {
                name: "embedded".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                capabilities: HostCapabilities {
                    inject_turn: true,
                    steer: true,
                    compact: true,
                    ..Default::default()
                },
            },
            model: Some(model.name().to_owned()),
            context_window: Some(settings.context_window),
            baseline_tokens: 0,
        };
        let (orders, taken) = mpsc::unbounded_channel();
        let (told, events) = mpsc::unbounded_channel();
        let task = tokio::spawn(Agent::new(settings, model, taken, told).run());
        Self { thread, orders, events, task }
    }

    async fn ask<T>(
        &mut self,
        order: impl FnOnce(oneshot::Sender<Result<T, HostError>>) -> Order,
    ) -> Result<T, HostError> {
        let (reply, answer) = oneshot::channel();
        self.orders.send(order(reply)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

fn gone() -> HostError {
    HostError::Gone { reason: GONE.to_owned() }
}

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

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        let items = items.iter().map(|&item| item.to_owned()).collect();
        self.ask(|reply| Order::StartTurn { items, reply }).await
    }

    async fn steer(&mut self, text: &str) -> Result<String, HostError> {
        let text = text.to_owned();
        self.ask(|reply| Order::Steer { text, reply }).await
    }

    async fn compact(&mut self) -> Result<(), HostError> {
        self.ask(|reply| Order::Compact { reply }).await
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        self.ask(|reply| Order::Interrupt { reply }).await
    }

    async fn sample(&mut self, _: Question) -> Result<(), HostError> {
        Err(HostError::Unable { what: "sample outside of its turns" })
    }

    async fn judge(&mut self, _: Question) -> Result<(), HostError> {
        Err(HostError::Unable { what: "judge" })
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

#[cfg(test)]
mod tests;
