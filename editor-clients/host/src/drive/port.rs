//! The way between the driver and what surrounds it: what happened comes in, orders go out. Nothing here waits for a file, a
//! process or a clock.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use futures::channel::oneshot;
use rawr_protocol::{Directive, PendingAction};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::prompts::{PromptState, WantedLine};
use super::typed::{HoldReplySender, TypedMessage};
use crate::host::{
    CompactionOrder, HandedOverBefore, HostError, HostEvent, HostThread, LeftMessage,
    ModelQuestion, NextRequest, RecordedOutcome,
};
use crate::sidecar::{SidecarError, SidecarNotification};

/// Something that happened.
#[derive(Debug)]
pub enum DriverInput {
    /// The session may begin, with these standing instructions. Comes once, after [`Order::Begin`].
    Begin(Vec<Directive>),
    /// The host reports something.
    Host(HostEvent),
    /// The sidecar reports something.
    Notice(SidecarNotification),
    /// The sidecar hung up.
    SidecarEnded,
    /// A message was typed into the host.
    Typed(TypedMessage),
    /// A line of the wanted kind; `None` at the end of input.
    Line(Option<String>),
    /// The session shall stop.
    Stop,
    /// The time of [`Wait::until`] has come.
    Tick,
}

/// What the driver can look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Surroundings {
    /// The host's conversation.
    pub thread: Arc<HostThread>,
    /// What the host can do besides.
    pub access: AccessKind,
    /// The turn that runs in a shared conversation, if the host knows of one.
    pub running_turn: Option<String>,
    /// The person's messages.
    pub prompts: PromptState,
    /// The sidecar's process id.
    pub sidecar: Option<u32>,
}

/// Who else has a hand in a conversation; see [`HostAccess`](crate::host::HostAccess).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// Only the driver, which has the agent in its own process.
    InProcess,
    /// Only the driver.
    Exclusive,
    /// People, too.
    Shared,
    /// The agent waits until the driver has ended.
    AtHook,
}

/// The time of an input.
#[derive(Debug, Clone, Copy)]
pub struct DriverTime {
    /// For waits.
    pub at: Instant,
    /// For records, in Unix milliseconds.
    pub unix_ms: u64,
}

/// What the driver waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wait {
    /// A [`DriverInput::Tick`] is due then.
    pub until: Option<Instant>,
    /// The line of input that can be used now.
    pub line: WantedLine,
    /// Nothing but events of the host, because the session stops.
    pub for_host_only: bool,
}

/// Something to do. An order with a `reply` is the last one until it is answered.
#[derive(Debug)]
pub enum Order {
    /// The thread is open. The driver waits for [`DriverInput::Begin`].
    Begin,
    /// [`AgentHost::start_turn`](crate::host::AgentHost::start_turn).
    StartTurn { texts: Vec<String>, reply: oneshot::Sender<Result<String, HostError>> },
    /// [`AgentHost::steer`](crate::host::AgentHost::steer).
    Steer { text: String, reply: oneshot::Sender<Result<String, HostError>> },
    /// [`AgentHost::compact`](crate::host::AgentHost::compact).
    Compact { order: CompactionOrder, reply: oneshot::Sender<Result<(), HostError>> },
    /// [`AgentHost::interrupt`](crate::host::AgentHost::interrupt).
    Interrupt { reply: oneshot::Sender<Result<(), HostError>> },
    /// [`AgentHost::sample`](crate::host::AgentHost::sample).
    Sample { question: ModelQuestion, reply: oneshot::Sender<Result<(), HostError>> },
    /// [`AgentHost::judge`](crate::host::AgentHost::judge).
    Judge { question: ModelQuestion, reply: oneshot::Sender<Result<(), HostError>> },
    /// [`AgentHost::recorded_outcome`](crate::host::AgentHost::recorded_outcome).
    LookUp {
        action: Box<PendingAction>,
        reply: oneshot::Sender<Result<RecordedOutcome, HostError>>,
    },
    /// [`AgentHost::resume_withheld_work`](crate::host::AgentHost::resume_withheld_work).
    ResumeWithheldWork,
    /// [`InProcessAgent::resume_turn`](crate::host::InProcessAgent::resume_turn).
    ResumeTurn { turn_id: String, next: NextRequest },
    /// [`InProcessAgent::history`](crate::host::InProcessAgent::history).
    ReadHistory { reply: oneshot::Sender<Result<Vec<Map<String, Value>>, HostError>> },
    /// [`SharedThread::drain_events`](crate::host::SharedThread::drain_events).
    DrainEvents { reply: oneshot::Sender<Result<(), HostError>> },
    /// [`SharedThread::prepare_handoff`](crate::host::SharedThread::prepare_handoff).
    PrepareHandoff { text: String, before_message: bool },
    /// [`SharedThread::hand_over_before_held`](crate::host::SharedThread::hand_over_before_held).
    HandOverBeforeHeld { text: String, reply: oneshot::Sender<Result<HandedOverBefore, HostError>> },
    /// [`HookedAgent::hand_over`](crate::host::HookedAgent::hand_over).
    HandOver { text: String, reply: oneshot::Sender<Result<(), HostError>> },
    /// [`SharedThread::give_back`](crate::host::SharedThread::give_back).
    GiveBack {
        text: String,
        since_ms: Option<i64>,
        reply: oneshot::Sender<Result<LeftMessage, HostError>>,
    },
    /// [`SharedThread::wait_until_recorded`](crate::host::SharedThread::wait_until_recorded).
    WaitUntilRecorded { turn_id: String, reply: oneshot::Sender<Result<(), HostError>> },
    /// Send a request to the sidecar.
    Call { method: &'static str, params: Box<RawValue>, reply: oneshot::Sender<CallAnswer> },
    /// Say how the sidecar ended.
    DescribeExit { reply: oneshot::Sender<SidecarError> },
    /// Start another sidecar.
    Relaunch { reply: oneshot::Sender<Result<(), SidecarError>> },
    /// Give the sender of a message that was released a moment to react.
    AwaitRelease { sender: HoldReplySender, reply: oneshot::Sender<HoldReplySender> },
    /// The person's messages that arrived and were not taken.
    TakeRest { reply: oneshot::Sender<Vec<String>> },
}

/// The sidecar's answer, and what it reported before.
#[derive(Debug)]
pub struct CallAnswer {
    /// What the sidecar answered.
    pub answer: Result<Box<RawValue>, SidecarError>,
    /// The notifications that came before it.
    pub notices: VecDeque<SidecarNotification>,
}

#[derive(Debug)]
struct PortState {
    now: DriverTime,
    surroundings: Surroundings,
    inputs: VecDeque<DriverInput>,
    orders: Vec<Order>,
    wait: Wait,
}

/// Both ends of the way.
#[derive(Debug, Clone)]
pub(super) struct Port(Rc<RefCell<PortState>>);

impl Port {
    pub(super) fn new(now: DriverTime, surroundings: Surroundings) -> Self {
        let (inputs, orders, wait) = (VecDeque::new(), Vec::new(), Wait::default());
        Self(Rc::new(RefCell::new(PortState { now, surroundings, inputs, orders, wait })))
    }

    pub(super) fn set_now(&self, now: DriverTime) {
        self.0.borrow_mut().now = now;
    }

    pub(super) fn add_input(&self, input: DriverInput) {
        self.0.borrow_mut().inputs.push_back(input);
    }

    pub(super) fn set_surroundings(&self, surroundings: Surroundings) {
        self.0.borrow_mut().surroundings = surroundings;
    }

    pub(super) fn take_orders(&self) -> Vec<Order> {
        std::mem::take(&mut self.0.borrow_mut().orders)
    }

    pub(super) fn wait(&self) -> Wait {
        self.0.borrow().wait
    }

    pub(super) fn now(&self) -> DriverTime {
        self.0.borrow().now
    }

    pub(super) fn thread(&self) -> Arc<HostThread> {
        Arc::clone(&self.0.borrow().surroundings.thread)
    }

    pub(super) fn access(&self) -> AccessKind {
        self.0.borrow().surroundings.access
    }

    pub(super) fn is_shared(&self) -> bool {
        self.access() == AccessKind::Shared
    }

    /// Whether messages stay where they were typed while they are held.
    pub(super) fn queues_in_place(&self) -> bool {
        self.0.borrow().surroundings.thread.host.capabilities.queue_in_place
    }

    pub(super) fn running_turn(&self) -> Option<String> {
        self.0.borrow().surroundings.running_turn.clone()
    }

    pub(super) fn prompts(&self) -> PromptState {
        self.0.borrow().surroundings.prompts
    }

    pub(super) fn sidecar(&self) -> Option<u32> {
        self.0.borrow().surroundings.sidecar
    }

    /// Waits for something to happen.
    pub(super) async fn next(&self, wait: Wait) -> DriverInput {
        poll_fn(|_| {
            let mut state = self.0.borrow_mut();
            state.wait = wait;
            state.inputs.pop_front().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    pub(super) fn order(&self, order: Order) {
        self.0.borrow_mut().orders.push(order);
    }

    /// Gives an order and waits for the reply.
    pub(super) async fn ask<T>(&self, order: impl FnOnce(oneshot::Sender<T>) -> Order) -> T {
        let (reply, answer) = oneshot::channel();
        self.order(order(reply));
        match answer.await {
            Ok(answer) => answer,
            // Nothing carries out orders any longer.
            Err(_) => pending().await,
        }
    }
}
