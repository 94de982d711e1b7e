//! Where orders come in and events go out, also while the agent is at work. It does no work of its own but questions beside the turn.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::agent::{Stop, notice_of_retries, refuse};
use super::history::Item;
use super::model::{Model, ModelRequest};
use crate::host::{CompactionOrder, HostError, HostEvent, Next, Question, Timing};

type Answer<T> = oneshot::Sender<Result<T, HostError>>;

/// What the agent can be asked for.
#[derive(Debug)]
pub(super) enum Order {
    StartTurn { items: Vec<String>, reply: Answer<String> },
    Steer { text: String, reply: Answer<String> },
    Compact { order: CompactionOrder, reply: Answer<()> },
    GoOn { turn_id: String, next: Next },
    Interrupt { reply: Answer<()> },
}

/// A question beside the turn.
#[derive(Debug)]
pub(super) enum Aside {
    /// About the conversation as it stands.
    Sample(Question),
    /// That stands alone.
    Judge(Question),
}

/// All that can be said to the agent.
#[derive(Debug)]
pub(super) enum AgentInput {
    Order(Order),
    Aside(Aside),
    /// What is the conversation?
    History {
        reply: oneshot::Sender<Arc<Vec<Item>>>,
    },
}

pub(super) struct Mailbox<M> {
    orders: mpsc::UnboundedReceiver<AgentInput>,
    events: mpsc::UnboundedSender<HostEvent>,
    /// The turn that runs.
    turn_id: Option<String>,
    /// What was added to it and the model has not seen.
    steered: Vec<String>,
    model: Arc<M>,
    /// The conversation that questions are about.
    pub(super) history: Arc<Vec<Item>>,
    /// Dropped with the agent, and what runs in it with it.
    side_requests: JoinSet<()>,
}

/// How work ended that can be cut off.
pub(super) enum MailboxResult<T> {
    Done(T),
    CutOff(CompactionOrder),
}

impl<M: Model> Mailbox<M> {
    pub(super) fn new(
        orders: mpsc::UnboundedReceiver<AgentInput>,
        events: mpsc::UnboundedSender<HostEvent>,
        model: Arc<M>,
        history: Arc<Vec<Item>>,
    ) -> Self {
        let (steered, side_requests) = (Vec::new(), JoinSet::new());
        Self { orders, events, turn_id: None, steered, model, history, side_requests }
    }

    /// Without a listener there is nobody to tell, and the orders will end too.
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

    pub(super) fn steer(&mut self, text: String, reply: Answer<String>) {
        match &self.turn_id {
            Some(turn_id) => {
                self.steered.push(text);
                // Whoever dropped the reply does not wait for it.
                let _ = reply.send(Ok(turn_id.clone()));
            }
            // A compaction with a turn of its own.
            None => refuse(reply, HostError::Busy),
        }
    }

    /// `None` once nobody can order any more. Questions are seen to on the way.
    pub(super) async fn next_order(&mut self) -> Option<Order> {
        loop {
            match self.orders.recv().await? {
                AgentInput::Order(order) => return Some(order),
                AgentInput::Aside(aside) => self.see_to(aside),
                AgentInput::History { reply } => {
                    // Whoever dropped the reply does not wait for it.
                    let _ = reply.send(Arc::clone(&self.history));
                }
            }
        }
    }

    fn see_to(&mut self, aside: Aside) {
        // Those that have ended are of no more interest.
        while self.side_requests.try_join_next().is_some() {}
        let (model, history, events) =
            (Arc::clone(&self.model), Arc::clone(&self.history), self.events.clone());
        self.side_requests.spawn(async move {
            let mut hear = notice_of_retries(events.clone());
            let (request_id, reply) = match &aside {
                Aside::Sample(question) => {
                    let want = ModelRequest::Aside { question: &question.text };
                    (&question.request_id, model.sample(&history, want, &mut hear).await)
                }
                Aside::Judge(question) => {
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
                Aside::Judge(_) => answer.map(|message| json_in(&message).to_owned()),
                Aside::Sample(_) => answer,
            };
            let request_id = request_id.clone();
            let _ = events.send(HostEvent::Answered { request_id, answer });
        });
    }

    /// Does `work` while it hears what is said. A compaction that is to come at once cuts it off.
    pub(super) async fn while_sampling<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<MailboxResult<T>, Stop> {
        let mut work = pin!(work);
        loop {
            let order = tokio::select! {
                biased;
                order = self.next_order() => order,
                done = &mut work => return Ok(MailboxResult::Done(done)),
            };
            match self.heed(order)? {
                Some((order, reply)) if order.timing == Timing::AtOnce => {
                    let _ = reply.send(Ok(()));
                    return Ok(MailboxResult::CutOff(order));
                }
                Some((_, reply)) => refuse(reply, HostError::Busy),
                None => {}
            }
        }
    }

    /// The same for what nothing but an interrupt cuts off.
    pub(super) async fn while_working<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, Stop> {
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

    /// What is said to an agent at work. Gives back the wish for a compaction.
    fn heed(
        &mut self,
        order: Option<Order>,
    ) -> Result<Option<(CompactionOrder, Answer<()>)>, Stop> {
        match order {
            None => return Err(Stop::Interrupted),
            Some(Order::Interrupt { reply }) => {
                let _ = reply.send(Ok(()));
                return Err(Stop::Interrupted);
            }
            Some(Order::Compact { order, reply }) => return Ok(Some((order, reply))),
            Some(Order::StartTurn { reply, .. }) => refuse(reply, HostError::Busy),
            Some(Order::Steer { text, reply }) => self.steer(text, reply),
            // Said to a pause that is over.
            Some(Order::GoOn { .. }) => {}
        }
        Ok(None)
    }
}

/// The object in an answer that was to be JSON alone: models like to put a fence around it.
fn json_in(message: &str) -> &str {
    match (message.find('{'), message.rfind('}')) {
        (Some(first), Some(last)) if first < last => &message[first..=last],
        _ => message,
    }
}
