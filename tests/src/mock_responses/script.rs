//! The script of a mock model.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use super::recorded::RequestPurpose;

/// The behavior of a mock model.
///
/// A turn's reply is found by the first marker that occurs in the last user message, then by the step: how many
/// tool outputs stand behind that message. The last reply of a list is repeated.
#[derive(Debug, Clone)]
pub struct TurnScript {
    pub(crate) turns: Vec<(String, Vec<TurnReply>)>,
    pub(crate) otherwise: Vec<TurnReply>,
    pub(crate) compactions: Vec<TurnReply>,
    pub(crate) judgments: Vec<TurnReply>,
}

impl Default for TurnScript {
    fn default() -> Self {
        Self {
            turns: Vec::new(),
            otherwise: vec![reply("ok")],
            compactions: vec![reply("A summary by the mock model.")],
            judgments: vec![reply(r#"{"should_compact": true, "reason": "The work is done."}"#)],
        }
    }
}

impl TurnScript {
    /// Replies to a user message that holds `marker`.
    pub fn on(mut self, marker: &str, replies: impl IntoIterator<Item = TurnReply>) -> Self {
        self.turns.push((marker.to_owned(), listed(replies)));
        self
    }

    /// Like [`Self::on`], whatever other markers the message holds.
    pub fn on_first(mut self, marker: &str, replies: impl IntoIterator<Item = TurnReply>) -> Self {
        self.turns.insert(0, (marker.to_owned(), listed(replies)));
        self
    }

    /// Delays the reply to one step of `marker` until a gate opens.
    pub fn behind(mut self, marker: &str, step: usize, gate: &ReplyGate) -> Self {
        let replies = self.turns.iter_mut().filter(|(of, _)| of == marker);
        let reply = replies.filter_map(|(_, replies)| replies.get_mut(step)).next();
        reply.unwrap_or_else(|| panic!("{marker} has no step {step}")).gate = Some(gate.clone());
        self
    }

    /// Replies to every other user message.
    pub fn otherwise(mut self, replies: impl IntoIterator<Item = TurnReply>) -> Self {
        self.otherwise = listed(replies);
        self
    }

    /// Replies to the requests of a compaction: the first reply to the first request, and so on.
    pub fn on_compaction(mut self, replies: impl IntoIterator<Item = TurnReply>) -> Self {
        self.compactions = listed(replies);
        self
    }

    /// Replies to the questions of a judge, in the same order. Unless set, it says yes to each.
    pub fn on_judgment(mut self, replies: impl IntoIterator<Item = TurnReply>) -> Self {
        self.judgments = listed(replies);
        self
    }

    /// The replies to requests outside the turns.
    pub(crate) fn replies_for(&self, purpose: RequestPurpose) -> Option<&[TurnReply]> {
        match purpose {
            RequestPurpose::Turn => None,
            RequestPurpose::Judgment => Some(&self.judgments),
            RequestPurpose::LocalCompaction | RequestPurpose::RemoteCompaction => {
                Some(&self.compactions)
            }
        }
    }
}

fn listed(replies: impl IntoIterator<Item = TurnReply>) -> Vec<TurnReply> {
    let replies: Vec<_> = replies.into_iter().collect();
    assert!(!replies.is_empty(), "a script needs at least one reply a marker");
    replies
}

/// One answer of the model.
#[derive(Debug, Clone)]
pub struct TurnReply {
    pub answer: ScriptedAnswer,
    /// The reported input tokens; estimated from the request unless set.
    pub input_tokens: Option<u64>,
    /// Counted on top of the size of the request: tools and instructions that are not there.
    pub prefix_tokens: u64,
    /// What it waits for; the request counts from its arrival on.
    pub(crate) gate: Option<ReplyGate>,
    /// How long the model takes, behind the gate.
    pub(crate) delay: Duration,
}

/// When a reply is sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplyTiming {
    gate: Option<ReplyGate>,
    delay: Duration,
}

impl ReplyTiming {
    pub(crate) async fn passed(self) {
        if let Some(gate) = self.gate {
            gate.passed().await;
        }
        tokio::time::sleep(self.delay).await;
    }
}

/// Delays replies until a test opens it.
#[derive(Debug, Clone)]
pub struct ReplyGate {
    open: Arc<watch::Sender<bool>>,
}

impl Default for ReplyGate {
    fn default() -> Self {
        Self::new()
    }
}

impl ReplyGate {
    /// Closed.
    pub fn new() -> Self {
        Self { open: Arc::new(watch::channel(false).0) }
    }

    /// Lets everything go, now and later.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    pub fn is_open(&self) -> bool {
        *self.open.borrow()
    }

    async fn passed(&self) {
        // The sender is ours: it lives.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }
}

#[derive(Debug, Clone)]
pub enum ScriptedAnswer {
    /// A response that completes. Without items it is a model that says nothing at all.
    Items(Vec<ScriptedItem>),
    /// Refused before the stream begins.
    Http { status: u16, message: String },
    /// The stream begins and then fails.
    Failed { code: String, message: String },
    /// The stream begins and never goes on.
    Stall,
}

#[derive(Debug, Clone)]
pub enum ScriptedItem {
    Say(String),
    Call { namespace: Option<String>, name: String, arguments: Value },
    CustomCall { name: String, input: String },
}

/// In the arguments of a call: the sub-agent that was spawned last.
pub const SUB_AGENT: &str = "$SUB_AGENT";

/// In what the model says: half an emoji, as a program writes it into JSON that cut one. No string of Rust can hold it.
pub const HALF_AN_EMOJI: &str = "\u{e000}";

/// An assistant message.
pub fn reply(text: &str) -> TurnReply {
    items(ScriptedItem::Say(text.to_owned()))
}

/// A function call.
pub fn call(name: &str, arguments: Value) -> TurnReply {
    items(ScriptedItem::Call { namespace: None, name: name.to_owned(), arguments })
}

/// A call of a function in a namespace.
pub fn call_in(namespace: &str, name: &str, arguments: Value) -> TurnReply {
    let namespace = Some(namespace.to_owned());
    items(ScriptedItem::Call { namespace, name: name.to_owned(), arguments })
}

/// A call of a tool that takes free text.
pub fn custom_call(name: &str, input: &str) -> TurnReply {
    items(ScriptedItem::CustomCall { name: name.to_owned(), input: input.to_owned() })
}

/// An HTTP error instead of a stream.
pub fn http_error(status: u16) -> TurnReply {
    ScriptedAnswer::Http { status, message: format!("scripted error {status}") }.into()
}

/// A stream that ends in `response.failed`.
pub fn sse_failed(code: &str, message: &str) -> TurnReply {
    ScriptedAnswer::Failed { code: code.to_owned(), message: message.to_owned() }.into()
}

/// A stream that opens and then hangs until the mock stops or the client goes away.
pub fn stall() -> TurnReply {
    ScriptedAnswer::Stall.into()
}

impl TurnReply {
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
    pub fn behind(mut self, gate: &ReplyGate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Lets the model take this long.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    pub(crate) fn timing(&self) -> ReplyTiming {
        ReplyTiming { gate: self.gate.clone(), delay: self.delay }
    }

    /// Adds the items of `other` to the same response.
    pub fn and(mut self, other: Self) -> Self {
        match (&mut self.answer, other.answer) {
            (ScriptedAnswer::Items(items), ScriptedAnswer::Items(more)) => items.extend(more),
            (answer, more) => {
                panic!("only items can share a response, not {answer:?} and {more:?}")
            }
        }
        self
    }
}

impl From<ScriptedAnswer> for TurnReply {
    fn from(answer: ScriptedAnswer) -> Self {
        Self { answer, input_tokens: None, prefix_tokens: 0, gate: None, delay: Duration::ZERO }
    }
}

fn items(item: ScriptedItem) -> TurnReply {
    ScriptedAnswer::Items(vec![item]).into()
}
