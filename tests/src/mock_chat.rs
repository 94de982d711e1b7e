//! A scripted model with OpenAI chat completions on a loopback port.

mod reply;
mod serve;

use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub use reply::{ChatModelReply, call, cut, http, reply, stall};
use serde_json::Value;

/// A running mock. It stops listening when it is dropped.
#[derive(Debug)]
pub struct MockChat {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    script: ChatScript,
    seen: Mutex<ChatRecord>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ChatRecord {
    requests: Vec<ChatRequest>,
    /// The number of answers of each scene outside of turns, by index.
    answered: Vec<usize>,
    stopped: bool,
}

/// The scenes of a mock.
#[derive(Debug, Clone, Default)]
pub struct ChatScript {
    first: Vec<ChatModelReply>,
    scenes: Vec<(Cue, Vec<ChatModelReply>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cue {
    Words(String),
    Purpose(ChatPurpose),
}

/// The purpose of a request, derived from its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatPurpose {
    Turn,
    /// Tools are defined but must not be called.
    Summary,
    /// An answer with a schema.
    Judgment,
    /// `/responses/compact`.
    Compaction,
}

/// One request as it came.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    pub purpose: ChatPurpose,
    pub authorization: Option<String>,
    pub body: Value,
}

impl ChatScript {
    /// Answers the first requests, one reply each.
    pub fn first(mut self, replies: impl IntoIterator<Item = ChatModelReply>) -> Self {
        self.first.extend(replies);
        self
    }

    /// Answers the requests after the latest message if it contains these words, one reply each.
    pub fn on(mut self, words: &str, replies: impl IntoIterator<Item = ChatModelReply>) -> Self {
        self.scenes.push((Cue::Words(words.to_owned()), replies.into_iter().collect()));
        self
    }

    /// Answers the requests of this purpose, one reply each; the last one is repeated.
    pub fn on_each(
        mut self,
        purpose: ChatPurpose,
        replies: impl IntoIterator<Item = ChatModelReply>,
    ) -> Self {
        self.scenes.push((Cue::Purpose(purpose), replies.into_iter().collect()));
        self
    }

    fn reply(&self, request: &ChatRequest, seen: &mut ChatRecord) -> ChatModelReply {
        let number = seen.requests.len();
        if let Some(reply) = self.first.get(number) {
            return reply.clone();
        }
        seen.answered.resize(self.scenes.len(), 0);
        for (at, (cue, replies)) in self.scenes.iter().enumerate() {
            let reply = match cue {
                Cue::Words(words) => {
                    let fits =
                        request.purpose == ChatPurpose::Turn && request.latest().contains(words);
                    fits.then(|| replies.get(request.answers())).flatten()
                }
                Cue::Purpose(purpose) if *purpose == request.purpose => {
                    seen.answered[at] += 1;
                    replies.get(seen.answered[at] - 1).or(replies.last())
                }
                Cue::Purpose(_) => None,
            };
            if let Some(reply) = reply {
                return reply.clone();
            }
        }
        http(418, "the script has no answer for this")
    }
}

impl ChatRequest {
    fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The messages as one line each: who speaks, and what; calls by name.
    pub fn transcript(&self) -> Vec<String> {
        let line = |message: &Value| {
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let calls = calls.filter_map(|call| call["function"]["name"].as_str());
            let calls = calls.map(|name| format!("<{name}>"));
            let text = message["content"].as_str().filter(|text| !text.is_empty());
            let said: Vec<_> = text.map(str::to_owned).into_iter().chain(calls).collect();
            format!("{}: {}", message["role"].as_str().unwrap_or("?"), said.join(" "))
        };
        self.messages().iter().map(line).collect()
    }

    /// The last message of the user or of rawr.
    pub fn latest(&self) -> &str {
        let mut users = self.messages().iter().rev().filter(|message| message["role"] == "user");
        users.next().and_then(|message| message["content"].as_str()).unwrap_or_default()
    }

    /// The number of answers to the latest message so far.
    fn answers(&self) -> usize {
        let after = self.messages().iter().rev().take_while(|message| message["role"] != "user");
        after.filter(|message| message["role"] == "assistant").count()
    }
}

impl MockChat {
    /// Listens on a free loopback port. Panics on failure.
    pub fn start(script: ChatScript) -> Self {
        let (seen, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { script, seen, changed });
        let address = serve::listen(Arc::clone(&shared))
            .unwrap_or_else(|error| panic!("the mock model cannot listen: {error}"));
        Self { address, shared }
    }

    /// The value of `--base-url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far, oldest first.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.shared.seen().requests.clone()
    }

    /// Waits until a request contains these words. The test runner stops a test that hangs.
    pub fn wait_for(&self, words: &str) {
        let mut seen = self.shared.seen();
        while !seen.requests.iter().any(|request| request.body.to_string().contains(words)) {
            seen = self.shared.changed.wait(seen).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, ChatRecord> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request and chooses the reply.
    fn take(&self, request: ChatRequest) -> ChatModelReply {
        let mut seen = self.seen();
        let reply = self.script.reply(&request, &mut seen);
        seen.requests.push(request);
        self.changed.notify_all();
        reply
    }
}

impl Drop for MockChat {
    fn drop(&mut self) {
        self.shared.seen().stopped = true;
        self.shared.changed.notify_all();
        // Wakes the listener, so that it stops.
        let _ = std::net::TcpStream::connect(self.address);
    }
}
