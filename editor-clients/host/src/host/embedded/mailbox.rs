//! The agent's channels: orders in, events out, also while a turn runs. Questions outside the turn run here as tasks.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::history::AgentItem;
use super::model::{Model, ModelDelta, ModelError, ModelRequest};
use crate::host::{
    CompactionOrder, CompactionTiming, HostError, HostEvent, ModelQuestion, NextRequest,
};

type OrderReply<T> = oneshot::Sender<Result<T, HostError>>;

/// An order to the agent.
#[derive(Debug)]
pub(super) enum AgentOrder {
    StartTurn { items: Vec<String>, reply: OrderReply<String> },
    Steer { text: String, reply: OrderReply<String> },
    Compact { order: CompactionOrder, reply: OrderReply<()> },
    GoOn { turn_id: String, next: NextRequest },
    Interrupt { reply: OrderReply<()> },
}

/// A question outside the turn.
#[derive(Debug)]
pub(super) enum SideQuestion {
    /// About the current conversation.
    Sample(ModelQuestion),
    /// Without the conversation.
    Judge(ModelQuestion),
}

/// A message to the agent.
#[derive(Debug)]
pub(super) enum AgentInput {
    Order(AgentOrder),
    Aside(SideQuestion),
    /// Asks for the conversation.
    History {
        reply: oneshot::Sender<Arc<Vec<AgentItem>>>,
    },
}

pub(super) struct Mailbox<M> {
    orders: mpsc::UnboundedReceiver<AgentInput>,
    events: mpsc::UnboundedSender<HostEvent>,
    /// The running turn.
    turn_id: Option<String>,
    /// Texts that were added to it and not yet sent to the model.
    steered: Vec<String>,
    model: Arc<M>,
    /// The conversation that questions are about.
    pub(super) history: Arc<Vec<AgentItem>>,
    /// The running questions. Dropping it aborts them.
    side_requests: JoinSet<()>,
}

/// The result of work that can be aborted.
pub(super) enum MailboxResult<T> {
    Done(T),
    CutOff(CompactionOrder),
}

impl<M: Model> Mailbox<M> {
    pub(super) fn new(
        orders: mpsc::UnboundedReceiver<AgentInput>,
        events: mpsc::UnboundedSender<HostEvent>,
        model: Arc<M>,
        history: Arc<Vec<AgentItem>>,
    ) -> Self {
        let (steered, side_requests) = (Vec::new(), JoinSet::new());
        Self { orders, events, turn_id: None, steered, model, history, side_requests }
    }

    /// Sends an event. A failed send means that the receiver was dropped; the orders then end too.
    pub(super) fn tell(&self, event: HostEvent) {
        let _ = self.events.send(event);
    }

    pub(super) fn events(&self) -> mpsc::UnboundedSender<HostEvent> {
        self.events.clone()
    }

    pub(super) fn begin_turn(&mut self, turn_id: &str) {
        self.turn_id = Some(turn_id.to_owned());
    }

    pub(super) fn end_turn(&mut self) {
        self.turn_id = None;
        self.steered.clear();
    }

    pub(super) fn has_steered(&self) -> bool {
        !self.steered.is_empty()
    }

    pub(super) fn take_steered(&mut self) -> Vec<String> {
        std::mem::take(&mut self.steered)
    }

    pub(super) fn steer(&mut self, text: String, reply: OrderReply<String>) {
        match &self.turn_id {
            Some(turn_id) => {
                self.steered.push(text);
                // A failed send means that the requester was dropped.
                let _ = reply.send(Ok(turn_id.clone()));
            }
            // A compaction runs as a separate turn.
            None => refuse(reply, HostError::Busy),
        }
    }

    /// The next order; `None` once all senders are dropped. Questions are started on the way.
    pub(super) async fn next_order(&mut self) -> Option<AgentOrder> {
        loop {
            match self.orders.recv().await? {
                AgentInput::Order(order) => return Some(order),
                AgentInput::Aside(aside) => self.see_to(aside),
                AgentInput::History { reply } => {
                    // A failed send means that the requester was dropped.
                    let _ = reply.send(Arc::clone(&self.history));
                }
            }
        }
    }

    fn see_to(&mut self, aside: SideQuestion) {
        // Remove the questions that have ended.
        while self.side_requests.try_join_next().is_some() {}
        let (model, history, events) =
            (Arc::clone(&self.model), Arc::clone(&self.history), self.events.clone());
        self.side_requests.spawn(async move {
            let mut hear = notice_of_retries(events.clone());
            let (request_id, reply) = match &aside {
                SideQuestion::Sample(question) => {
                    let want = ModelRequest::Aside { question: &question.text };
                    (&question.request_id, model.sample(&history, want, &mut hear).await)
                }
                SideQuestion::Judge(question) => {
                    let want = ModelRequest::Judgment {
                        instructions: &question.instructions,
                        question: &question.text,
                        schema: &question.output_schema,
                    };
                    (&question.request_id, model.sample(&[], want, &mut hear).await)
                }
            };
            let answer = reply.map_err(|error| error.to_string()).and_then(|reply| {
                let message = reply.message.filter(|message| !message.trim().is_empty());
                message.ok_or_else(|| "the model answered nothing".to_owned())
            });
            let answer = match aside {
                SideQuestion::Judge(_) => answer.map(|message| json_in(&message).to_owned()),
                SideQuestion::Sample(_) => answer,
            };
            let request_id = request_id.clone();
            let _ = events.send(HostEvent::Answered { request_id, answer });
        });
    }

    /// Runs `work` while handling orders. A compaction with [`CompactionTiming::AtOnce`] aborts it.
    pub(super) async fn while_sampling<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<MailboxResult<T>, TurnStop> {
        let mut work = pin!(work);
        loop {
            let order = tokio::select! {
                biased;
                order = self.next_order() => order,
                done = &mut work => return Ok(MailboxResult::Done(done)),
            };
            match self.heed(order)? {
                Some((order, reply)) if order.timing == CompactionTiming::AtOnce => {
                    let _ = reply.send(Ok(()));
                    return Ok(MailboxResult::CutOff(order));
                }
                Some((_, reply)) => refuse(reply, HostError::Busy),
                None => {}
            }
        }
    }

    /// Runs `work` while handling orders. Only an interrupt aborts it.
    pub(super) async fn while_working<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, TurnStop> {
        let mut work = pin!(work);
        loop {
            let order = tokio::select! {
                biased;
                order = self.next_order() => order,
                done = &mut work => return Ok(done),
            };
            if let Some((_, reply)) = self.heed(order)? {
                refuse(reply, HostError::Busy);
            }
        }
    }

    /// Handles an order during a turn. Returns an order to compact.
    fn heed(
        &mut self,
        order: Option<AgentOrder>,
    ) -> Result<Option<(CompactionOrder, OrderReply<()>)>, TurnStop> {
        match order {
            None => return Err(TurnStop::Interrupted),
            Some(AgentOrder::Interrupt { reply }) => {
                let _ = reply.send(Ok(()));
                return Err(TurnStop::Interrupted);
            }
            Some(AgentOrder::Compact { order, reply }) => return Ok(Some((order, reply))),
            Some(AgentOrder::StartTurn { reply, .. }) => refuse(reply, HostError::Busy),
            Some(AgentOrder::Steer { text, reply }) => self.steer(text, reply),
            // For a pause that has ended.
            Some(AgentOrder::GoOn { .. }) => {}
        }
        Ok(None)
    }
}

/// The JSON object in an answer. Models often put it in a code fence.
fn json_in(message: &str) -> &str {
    match (message.find('{'), message.rfind('}')) {
        (Some(first), Some(last)) if first < last => &message[first..=last],
        _ => message,
    }
}

/// Why a turn ends early.
#[derive(Debug)]
pub(super) enum TurnStop {
    Interrupted,
    Failed(String),
    /// The model refused the conversation as too long.
    TooLong(String),
}

impl From<ModelError> for TurnStop {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::TooLong(_) => Self::TooLong(error.to_string()),
            ModelError::Refused(_) | ModelError::Failed(_) => Self::Failed(error.to_string()),
        }
    }
}

/// Refuses an order. A failed send means that the requester was dropped.
pub(super) fn refuse<T>(reply: oneshot::Sender<Result<T, HostError>>, error: HostError) {
    let _ = reply.send(Err(error));
}

pub(super) fn notice_of_retries(
    events: mpsc::UnboundedSender<HostEvent>,
) -> impl FnMut(ModelDelta<'_>) + Send {
    move |heard| {
        if let ModelDelta::RetryPlan { why } = heard {
            let _ = events.send(HostEvent::Notice(why.to_owned()));
        }
    }
}
