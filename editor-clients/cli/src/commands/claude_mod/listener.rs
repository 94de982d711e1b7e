//! The socket on which the plugin posts events and questions, one HTTP request each.

use std::collections::HashMap;
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
use tokio::sync::oneshot;
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
            endpoint.held.withdraw(&message_id);
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
    if endpoint.typed.send(TypedMessage { text, answer }).is_err() {
        return false;
    }
    // Without an answer in time, the driver finds that no one waits, also if it decides to hold the message later.
    let reply = timeout(PATIENCE, replies.next()).await.ok().flatten();
    let is_held = reply == Some(HoldReply::StillHeld);
    if is_held {
        endpoint.held.keep(message_id, replies);
    }
    is_held
}

/// The messages that wait in Claude Code, by the plugin's name for them. A message that the plugin does not ask about any more
/// is forgotten, and the driver finds that no one waits.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldMessages {
    questions: Arc<Mutex<HashMap<String, UnboundedSender<oneshot::Sender<bool>>>>>,
}

impl HeldMessages {
    fn keep(&self, message_id: String, replies: HoldReplies) {
        let (ask, questions) = unbounded_channel();
        self.lock().insert(message_id, ask);
        tokio::spawn(answer_while_held(replies, questions));
    }

    async fn is_still_held(&self, message_id: &str) -> bool {
        let (answer, answered) = oneshot::channel();
        let ask = self.lock().get(message_id).cloned();
        let is_asked = ask.is_some_and(|ask| ask.send(answer).is_ok());
        let is_held = is_asked && answered.await.unwrap_or(false);
        if !is_held {
            self.withdraw(message_id);
        }
        is_held
    }

    fn withdraw(&self, message_id: &str) {
        self.lock().remove(message_id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, UnboundedSender<oneshot::Sender<bool>>>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
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
