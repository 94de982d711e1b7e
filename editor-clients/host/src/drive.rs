//! Runs a session: connects a host's thread to a sidecar. The [`Driver`] says what to do; here it is done.

mod action_queue;
mod actions;
mod approval;
mod doubt;
mod driver;
mod held;
mod inject;
mod inputs;
mod leaving;
mod link;
mod observe;
mod outage;
mod port;
mod prompts;
mod result;
mod turns;
mod typed;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::channel::oneshot;
use rawr_protocol::Directive;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until, timeout};

pub use self::driver::Driver;
pub use self::port::{AccessKind, CallAnswer, DriverInput, DriverTime, Order, Surroundings, Wait};
pub use self::prompts::{PromptQueue, PromptState, WantedLine};
pub use self::result::{DriveError, SessionEnd, SessionResult};
pub use self::typed::{HoldReplies, HoldReply, HoldReplySender, TypedMessage, hold_channel};
use crate::event::Reporter;
use crate::host::{AgentHost, HostAccess, HostThread};
use crate::sidecar::{Launch, SidecarClient};
use crate::stop::StopRequest;

/// A sidecar that ended again within this time is not restarted.
const QUIET: Duration = Duration::from_secs(60);

/// How long a sender may take to say what became of a message that it was told to release.
const RELEASE: Duration = Duration::from_secs(1);

/// One session.
///
/// Order of calls: [`open`](Self::open), then optionally [`with_directives`](Self::with_directives) and
/// [`with_typed_inputs`](Self::with_typed_inputs), then [`run`](Self::run).
pub struct Drive<'r> {
    driver: Driver<'r>,
    orders: Orders,
    /// What the driver was told of last.
    surroundings: Surroundings,
    typed: Option<UnboundedReceiver<TypedMessage>>,
    directives: Vec<Directive>,
}

/// What carries out the driver's orders.
struct Orders {
    // Not type parameters: this is large, and would be compiled for each kind of host.
    host: Box<dyn AgentHost>,
    launch: Box<dyn Launch>,
    sidecar: SidecarClient,
}

/// What follows once an order is carried out.
enum Done {
    /// The driver has its reply.
    Replied,
    /// The driver waits for no reply.
    Ordered,
}

impl<'r> Drive<'r> {
    /// Opens the host's thread at the sidecar, as its owner. Restarts the sidecar once if it ends meanwhile.
    ///
    /// # Errors
    ///
    /// The host and the sidecar are stopped before the error is returned.
    pub async fn open(
        host: impl AgentHost + 'static,
        launch: impl Launch + 'static,
        sidecar: SidecarClient,
        reporter: &'r mut dyn Reporter,
    ) -> Result<Self, DriveError> {
        Self::open_with(QUIET, host, launch, sidecar, reporter).await
    }

    async fn open_with(
        quiet: Duration,
        host: impl AgentHost + 'static,
        launch: impl Launch + 'static,
        sidecar: SidecarClient,
        reporter: &'r mut dyn Reporter,
    ) -> Result<Self, DriveError> {
        let mut orders = Orders { host: Box::new(host), launch: Box::new(launch), sidecar };
        let thread = Arc::new(orders.host.thread().clone());
        let surroundings = orders.surroundings(thread, PromptState::default());
        let driver = Driver::new(now(), surroundings.clone(), quiet, reporter);
        let (typed, directives) = (None, Vec::new());
        let mut drive = Self { driver, orders, surroundings, typed, directives };
        drive.handle(DriverInput::Tick, &mut PromptQueue::known([])).await;
        // Before it is begun, a session ends only by an error.
        match drive.driver.take_result() {
            Some(Err(error)) => {
                drive.orders.close().await;
                Err(error)
            }
            Some(Ok(_)) | None => Ok(drive),
        }
    }

    /// Sets the standing instructions of a restored conversation.
    #[must_use]
    pub fn with_directives(mut self, directives: Vec<Directive>) -> Self {
        self.directives = directives;
        self
    }

    /// Sets the source of messages that users type into the host. The session answers each before it reaches the agent.
    #[must_use]
    pub fn with_typed_inputs(mut self, typed: UnboundedReceiver<TypedMessage>) -> Self {
        self.typed = Some(typed);
        self
    }

    /// The id of the session's thread.
    pub fn thread_id(&self) -> &str {
        &self.surroundings.thread.thread_id
    }

    /// Sends the prompts to the host one by one and carries out the sidecar's actions until all work is done or a stop is
    /// requested. Stops the host and the sidecar before it returns.
    ///
    /// # Errors
    ///
    /// Fails if the host ends by itself, if a restarted sidecar ends again, or if the reporter fails.
    pub async fn run(
        mut self,
        prompts: &mut PromptQueue,
        stop: &mut StopRequest,
    ) -> Result<SessionResult, DriveError> {
        let directives = std::mem::take(&mut self.directives);
        self.handle(DriverInput::Begin(directives), prompts).await;
        loop {
            if let Some(ended) = self.driver.take_result() {
                self.orders.close().await;
                return ended;
            }
            let input = self.next_input(prompts, stop).await;
            self.handle(input, prompts).await;
        }
    }

    /// The next thing that happens, of what the driver waits for.
    async fn next_input(
        &mut self,
        prompts: &mut PromptQueue,
        stop: &mut StopRequest,
    ) -> DriverInput {
        let Wait { until, line, for_host_only } = self.driver.wait();
        let until = until.map(Instant::from_std);
        let is_due = until.is_some_and(|until| until <= Instant::now());
        let until = until.filter(|_| !is_due);
        let Orders { host, sidecar, .. } = &mut self.orders;
        tokio::select! {
            biased;
            () = stop.asked(), if !for_host_only => DriverInput::Stop,
            notice = sidecar.next_note(), if !for_host_only => match notice {
                Some(notice) => DriverInput::Notice(notice),
                None => DriverInput::SidecarEnded,
            },
            event = host.next_event() => DriverInput::Host(event),
            line = prompts.line(line), if line != WantedLine::Nothing => DriverInput::Line(line),
            () = std::future::ready(()), if is_due => DriverInput::Tick,
            typed = next_typed(&mut self.typed), if !for_host_only => DriverInput::Typed(typed),
            () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => DriverInput::Tick,
        }
    }

    /// Tells the driver what happened and carries out what it orders.
    async fn handle(&mut self, input: DriverInput, prompts: &mut PromptQueue) {
        self.update_surroundings(prompts);
        let mut orders = VecDeque::from(self.driver.handle(now(), input));
        while let Some(order) = orders.pop_front() {
            if let Done::Replied = self.orders.carry_out(order, prompts).await {
                self.update_surroundings(prompts);
                orders.extend(self.driver.resume(now()));
            }
        }
    }

    fn update_surroundings(&mut self, prompts: &PromptQueue) {
        let (known, current) = (&self.surroundings.thread, self.orders.host.thread());
        let thread = match **known == *current {
            true => Arc::clone(known),
            false => Arc::new(current.clone()),
        };
        let surroundings = self.orders.surroundings(thread, prompts.state());
        if surroundings != self.surroundings {
            self.surroundings = surroundings.clone();
            self.driver.set_surroundings(surroundings);
        }
    }
}

impl Orders {
    fn surroundings(&mut self, thread: Arc<HostThread>, prompts: PromptState) -> Surroundings {
        let (access, running_turn) = match self.host.access() {
            HostAccess::InProcess(_) => (AccessKind::InProcess, None),
            HostAccess::Exclusive => (AccessKind::Exclusive, None),
            HostAccess::AtHook(_) => (AccessKind::AtHook, None),
            HostAccess::Shared(shared) => {
                (AccessKind::Shared, shared.running_turn().map(str::to_owned))
            }
        };
        let sidecar = self.sidecar.process_id();
        Surroundings { thread, access, running_turn, prompts, sidecar }
    }

    async fn carry_out(&mut self, order: Order, prompts: &mut PromptQueue) -> Done {
        match order {
            Order::StartTurn { texts, reply } => {
                let texts: Vec<_> = texts.iter().map(String::as_str).collect();
                answer(reply, self.host.start_turn(&texts).await)
            }
            Order::Steer { text, reply } => answer(reply, self.host.steer(&text).await),
            Order::Compact { order, reply } => answer(reply, self.host.compact(&order).await),
            Order::Interrupt { reply } => answer(reply, self.host.interrupt().await),
            Order::Sample { question, reply } => answer(reply, self.host.sample(question).await),
            Order::Judge { question, reply } => answer(reply, self.host.judge(question).await),
            Order::LookUp { action, reply } => {
                answer(reply, self.host.recorded_outcome(&action).await)
            }
            Order::Call { method, params, reply } => {
                let said = self.sidecar.request_raw(method, params).await;
                answer(reply, CallAnswer { answer: said, notices: self.sidecar.notes() })
            }
            Order::DescribeExit { reply } => {
                answer(reply, self.sidecar.exit_error("it hung up").await)
            }
            Order::Relaunch { reply } => {
                let launched = self.launch.launch().await;
                answer(reply, launched.map(|sidecar| self.sidecar = sidecar))
            }
            Order::AwaitRelease { sender, reply } => {
                let _ = timeout(RELEASE, sender.released()).await;
                answer(reply, sender)
            }
            Order::TakeRest { reply } => answer(reply, prompts.rest()),
            Order::Begin => Done::Ordered,
            Order::ResumeWithheldWork => {
                self.host.resume_withheld_work();
                Done::Ordered
            }
            order => self.carry_out_at_part(order).await,
        }
    }

    /// Orders for what only some hosts have.
    async fn carry_out_at_part(&mut self, order: Order) -> Done {
        match (self.host.access(), order) {
            (HostAccess::InProcess(agent), Order::ResumeTurn { turn_id, next }) => {
                if let Err(error) = agent.resume_turn(&turn_id, next) {
                    // The host's next event says that it has ended.
                    tracing::debug!(%error, "the turn was not resumed");
                }
                Done::Ordered
            }
            (HostAccess::InProcess(agent), Order::ReadHistory { reply }) => {
                answer(reply, agent.history().await)
            }
            (HostAccess::Shared(shared), Order::DrainEvents { reply }) => {
                answer(reply, shared.drain_events().await)
            }
            (HostAccess::Shared(shared), Order::PrepareHandoff { text, before_message }) => {
                shared.prepare_handoff(text, before_message);
                Done::Ordered
            }
            (HostAccess::Shared(shared), Order::HandOverBeforeHeld { text, reply }) => {
                answer(reply, shared.hand_over_before_held(&text).await)
            }
            (HostAccess::Shared(shared), Order::GiveBack { text, since_ms, reply }) => {
                answer(reply, shared.give_back(&text, since_ms).await)
            }
            (HostAccess::Shared(shared), Order::WaitUntilRecorded { turn_id, reply }) => {
                answer(reply, shared.wait_until_recorded(&turn_id).await)
            }
            (HostAccess::AtHook(agent), Order::HandOver { text, reply }) => {
                answer(reply, agent.hand_over(&text))
            }
            (_, order) => {
                tracing::error!(?order, "the host has no part for this; this is a bug in rawr");
                Done::Ordered
            }
        }
    }

    async fn close(self) {
        self.host.close().await;
        self.sidecar.stop().await;
    }
}

fn answer<T>(reply: oneshot::Sender<T>, answer: T) -> Done {
    // The driver keeps the other end.
    let _ = reply.send(answer);
    Done::Replied
}

fn now() -> DriverTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let unix_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    DriverTime { at: Instant::now().into_std(), unix_ms }
}

/// May be cancelled at any time.
async fn next_typed(typed: &mut Option<UnboundedReceiver<TypedMessage>>) -> TypedMessage {
    if let Some(source) = typed {
        if let Some(message) = source.recv().await {
            return message;
        }
        *typed = None;
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests;
