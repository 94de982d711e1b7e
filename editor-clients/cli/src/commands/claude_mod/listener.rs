//! The socket on which the plugin posts events and questions, one HTTP request each.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::UnixListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot::{self, Receiver};
use tokio::time::{sleep, timeout};

use rawr_host::drive::{HoldReplies, HoldReply, TypedMessage, hold_channel};
use rawr_host::host::claude_mod::{ModAnswer, ModEvent, ModQuestion};
use rawr_protocol::read_json;

/// Where requests lead.
#[derive(Debug, Clone)]
pub(super) struct ModEndpoint {
    /// For events.
    pub(super) events: UnboundedSender<ModEvent>,
    /// For messages that the user typed.
    pub(super) typed: UnboundedSender<TypedMessage>,
    /// Those of them that wait.
    pub(super) held: HeldMessages,
    /// Instructions for the summary of a compaction that rawr did not start.
    pub(super) instructions: String,
}

/// The longest request. Tool results are cut by the plugin; a message of the user is not.
const LONGEST: usize = 16 << 20;

/// How long a message waits for the driver, and the driver for the plugin. The message then goes to the agent.
const PATIENCE: Duration = Duration::from_secs(3);

/// The pause after a failure to accept a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Listens until the future is dropped.
pub(super) fn listen(
    path: &Path,
    endpoint: ModEndpoint,
) -> io::Result<impl Future<Output = ()> + Send + use<>> {
    let listener = UnixListener::bind(path)?;
    Ok(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let endpoint = endpoint.clone();
                    let service = service_fn(move |request| answer(request, endpoint.clone()));
                    let http = hyper::server::conn::http1::Builder::new();
                    // A connection that breaks off has asked nothing.
                    tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
                }
                // Too many open files.
                Err(_) => sleep(PAUSE).await,
            }
        }
    })
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ModRequest {
    Question(ModQuestion),
    Event(ModEvent),
}

async fn answer(
    request: Request<Incoming>,
    endpoint: ModEndpoint,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = Limited::new(request.into_body(), LONGEST).collect().await;
    let asked = body.ok().and_then(|body| read_json(&body.to_bytes()).ok());
    let (status, answer) = match asked {
        Some(ModRequest::Event(ModEvent::Withdrawn { message_id })) => {
            endpoint.held.take_back(message_id);
            (StatusCode::OK, ModAnswer::default())
        }
        Some(ModRequest::Event(event)) => {
            // A driver that has ended hears nothing any more.
            let is_heard = endpoint.events.send(event).is_ok();
            let status = if is_heard { StatusCode::OK } else { StatusCode::GONE };
            (status, ModAnswer::default())
        }
        Some(ModRequest::Question(ModQuestion::MayPass { message_id, text })) => {
            let hold = must_wait(message_id, text, &endpoint).await;
            (StatusCode::OK, ModAnswer { hold, ..ModAnswer::default() })
        }
        Some(ModRequest::Question(ModQuestion::StillHeld { message_id })) => {
            let hold = endpoint.held.is_still_held(&message_id).await;
            (StatusCode::OK, ModAnswer { hold, ..ModAnswer::default() })
        }
        Some(ModRequest::Question(ModQuestion::SummaryInstructions)) => {
            let instructions = Some(endpoint.instructions).filter(|text| !text.is_empty());
            (StatusCode::OK, ModAnswer { instructions, ..ModAnswer::default() })
        }
        None => (StatusCode::BAD_REQUEST, ModAnswer::default()),
    };
    let body = serde_json::to_vec(&answer).unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    Ok(response)
}

/// Asks the driver about a message that the user typed.
async fn must_wait(message_id: String, text: String, endpoint: &ModEndpoint) -> bool {
    let (answer, mut replies) = hold_channel();
    let (questions, mut taken_back) = endpoint.held.add(message_id.clone());
    let is_asked = endpoint.typed.send(TypedMessage { text, answer }).is_ok();
    let reply = tokio::select! {
        biased;
        _ = &mut taken_back => None,
        // Without an answer in time, the driver finds that no one waits, also if it decides to hold the message later.
        reply = timeout(PATIENCE, replies.next()), if is_asked => reply.ok().flatten(),
        else => None,
    };
    let is_held = reply == Some(HoldReply::StillHeld);
    if is_held {
        tokio::spawn(async move {
            tokio::select! {
                biased;
                // The driver must not take a reply that is under way for a delivery.
                _ = taken_back => {}
                () = answer_while_held(replies, questions) => {}
            }
        });
    } else {
        endpoint.held.forget(&message_id);
    }
    is_held
}

/// The messages that wait in Claude Code, by the plugin's name for them. A message that the plugin does not ask about any more
/// is forgotten, and the driver finds that no one waits.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldMessages {
    known: Arc<Mutex<KnownMessages>>,
}

#[derive(Debug, Default)]
struct KnownMessages {
    waiting: HashMap<String, WaitingMessage>,
    /// Taken back, some of them before the question about them came. The newest last.
    taken_back: VecDeque<String>,
}

/// So many messages that were taken back are remembered.
const REMEMBERED: usize = 8;

/// A message that waits. Dropping it means that the plugin has taken it back.
#[derive(Debug)]
struct WaitingMessage {
    questions: UnboundedSender<oneshot::Sender<bool>>,
    _taken_back: oneshot::Sender<()>,
}

impl HeldMessages {
    /// Returns the plugin's later questions about the message, and what resolves when it is taken back.
    fn add(&self, message_id: String) -> (UnboundedReceiver<oneshot::Sender<bool>>, Receiver<()>) {
        let (questions, asked) = unbounded_channel();
        let (_taken_back, taken_back) = oneshot::channel();
        let mut known = self.lock();
        if !known.taken_back.contains(&message_id) {
            known.waiting.insert(message_id, WaitingMessage { questions, _taken_back });
        }
        (asked, taken_back)
    }

    async fn is_still_held(&self, message_id: &str) -> bool {
        let (answer, answered) = oneshot::channel();
        let is_asked = self
            .lock()
            .waiting
            .get(message_id)
            .is_some_and(|held| held.questions.send(answer).is_ok());
        let is_held = is_asked && answered.await.unwrap_or(false);
        if !is_held {
            self.forget(message_id);
        }
        is_held
    }

    fn forget(&self, message_id: &str) {
        self.lock().waiting.remove(message_id);
    }

    fn take_back(&self, message_id: String) {
        let mut known = self.lock();
        known.waiting.remove(&message_id);
        known.taken_back.push_back(message_id);
        if known.taken_back.len() > REMEMBERED {
            known.taken_back.pop_front();
        }
    }

    fn lock(&self) -> MutexGuard<'_, KnownMessages> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends when the message need not wait any longer, or does not.
async fn answer_while_held(
    mut replies: HoldReplies,
    mut questions: UnboundedReceiver<oneshot::Sender<bool>>,
) {
    while let Ok(Some(question)) = timeout(PATIENCE, questions.recv()).await {
        let reply = timeout(PATIENCE, replies.next()).await.ok().flatten();
        let is_held = reply == Some(HoldReply::StillHeld);
        // A plugin that is gone hears nothing. It may have ended with Claude Code, and the message is then kept.
        let _ = question.send(is_held);
        if !is_held {
            return;
        }
    }
}
