//! The script of a mock model.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;

/// The behavior of a mock model.
///
/// A turn's reply is found by the first marker that occurs in the last user message, then by the step: how many
/// tool outputs stand behind that message. The last reply of a list is repeated.
#[derive(Debug, Clone)]
pub struct Script {
    pub(crate) turns: Vec<(String, Vec<Reply>)>,
    pub(crate) otherwise: Vec<Reply>,
    pub(crate) compactions: Vec<Reply>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            turns: Vec::new(),
            otherwise: vec![say("ok")],
            compactions: vec![say("A summary by the mock model.")],
        }
    }
}

impl Script {
    /// Replies to a user message that holds `marker`.
    pub fn on(mut self, marker: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.turns.push((marker.to_owned(), listed(replies)));
        self
    }

    /// The same, whatever other markers the message holds.
    pub fn on_first(mut self, marker: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.turns.insert(0, (marker.to_owned(), listed(replies)));
        self
    }

    /// Delays the reply to one step of `marker` until a gate opens.
    pub fn behind(mut self, marker: &str, step: usize, gate: &Gate) -> Self {
        let replies = self.turns.iter_mut().filter(|(of, _)| of == marker);
        let reply = replies.filter_map(|(_, replies)| replies.get_mut(step)).next();
        reply.unwrap_or_else(|| panic!("{marker} has no step {step}")).gate = Some(gate.clone());
        self
    }

    /// Replies to every other user message.
    pub fn otherwise(mut self, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.otherwise = listed(replies);
        self
    }

    /// Replies to the requests of a compaction: the first reply to the first request, and so on.
    pub fn on_compaction(mut self, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.compactions = listed(replies);
        self
    }
}

fn listed(replies: impl IntoIterator<Item = Reply>) -> Vec<Reply> {
    let replies: Vec<_> = replies.into_iter().collect();
    assert!(!replies.is_empty(), "a script needs at least one reply a marker");
    replies
}

/// One answer of the model.
#[derive(Debug, Clone)]
pub struct Reply {
    pub answer: Answer,
    /// The reported input tokens; estimated from the request unless set.
    pub input_tokens: Option<u64>,
    /// Counted on top of the size of the request: tools and instructions that are not there.
    pub prefix_tokens: u64,
    /// What it waits for; the request counts from its arrival on.
    pub(crate) gate: Option<Gate>,
}

/// Delays replies until a test opens it.
#[derive(Debug, Clone)]
pub struct Gate {
    open: Arc<watch::Sender<bool>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Closed.
    pub fn new() -> Self {
        Self { open: Arc::new(watch::channel(false).0) }
    }

    /// Lets everything go, now and later.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    pub(super) async fn passed(&self) {
        // The sender is ours: it lives.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }
}

#[derive(Debug, Clone)]
pub enum Answer {
    /// A response that completes. Without items it is a model that says nothing at all.
    Items(Vec<Item>),
    /// Refused before the stream begins.
    Http { status: u16, message: String },
    /// The stream begins and then fails.
    Failed { code: String, message: String },
    /// The stream begins and never goes on.
    Stall,
}

#[derive(Debug, Clone)]
pub enum Item {
    Say(String),
    Call { namespace: Option<String>, name: String, arguments: Value },
    CustomCall { name: String, input: String },
}

/// In the arguments of a call: the sub-agent that was spawned last.
pub const SUB_AGENT: &str = "$SUB_AGENT";

/// An assistant message.
pub fn say(text: &str) -> Reply {
    items(Item::Say(text.to_owned()))
}

/// A function call.
pub fn call(name: &str, arguments: Value) -> Reply {
    items(Item::Call { namespace: None, name: name.to_owned(), arguments })
}

/// A call of a function in a namespace.
pub fn call_in(namespace: &str, name: &str, arguments: Value) -> Reply {
    let namespace = Some(namespace.to_owned());
    items(Item::Call { namespace, name: name.to_owned(), arguments })
}

/// A call of a tool that takes free text.
pub fn custom_call(name: &str, input: &str) -> Reply {
    items(Item::CustomCall { name: name.to_owned(), input: input.to_owned() })
}

/// An HTTP error instead of a stream.
pub fn http_error(status: u16) -> Reply {
    Answer::Http { status, message: format!("scripted error {status}") }.into()
}

/// A stream that ends in `response.failed`.
pub fn sse_failed(code: &str, message: &str) -> Reply {
    Answer::Failed { code: code.to_owned(), message: message.to_owned() }.into()
}

/// A stream that opens and then hangs until the mock stops or the client goes away.
pub fn stall() -> Reply {
    Answer::Stall.into()
}

impl Reply {
    /// What the provider says that the request cost.
    pub fn input_tokens(mut self, tokens: u64) -> Self {
        self.input_tokens = Some(tokens);
        self
    }

    /// What the provider says that a fixed beginning costs, which the request does not hold.
    pub fn prefix_tokens(mut self, tokens: u64) -> Self {
        self.prefix_tokens = tokens;
        self
    }

    /// Keeps it back until the gate is open.
    pub fn behind(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Adds the items of `other` to the same response.
    pub fn and(mut self, other: Self) -> Self {
        match (&mut self.answer, other.answer) {
            (Answer::Items(items), Answer::Items(more)) => items.extend(more),
            (answer, more) => {
                panic!("only items can share a response, not {answer:?} and {more:?}")
            }
        }
        self
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self { answer, input_tokens: None, prefix_tokens: 0, gate: None }
    }
}

fn items(item: Item) -> Reply {
    Answer::Items(vec![item]).into()
}
