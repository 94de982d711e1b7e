//! The socket on which the plugin posts events and questions, one HTTP request each.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::UnixListener;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};

use rawr_host::drive::{HoldReply, HoldReplySender, HoldsBy, TypedMessage};
use rawr_host::host::claude_mod::{ModAnswer, ModEvent, ModQuestion};
use rawr_protocol::read_json;

/// Where requests lead.
#[derive(Debug, Clone)]
pub(super) struct ModEndpoint {
    /// For events.
    pub(super) events: UnboundedSender<ModEvent>,
    /// For messages that the user typed.
    pub(super) typed: UnboundedSender<TypedMessage>,
    /// Instructions for the summary of a compaction that rawr did not start.
    pub(super) instructions: String,
}

/// The longest request. Tool results are cut by the plugin; a message of the user is not.
const LONGEST: usize = 16 << 20;

/// How long Claude Code waits for an answer about a message that its user typed. The message then goes to the agent.
const PATIENCE: Duration = Duration::from_secs(2);

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
        Some(ModRequest::Event(event)) => {
            // A driver that has ended hears nothing any more.
            let is_heard = endpoint.events.send(event).is_ok();
            let status = if is_heard { StatusCode::OK } else { StatusCode::GONE };
            (status, ModAnswer::default())
        }
        Some(ModRequest::Question(ModQuestion::MayPass { text })) => {
            let reply = reply_about(text, &endpoint).await;
            let (hold, behind) =
                (reply == Some(HoldReply::Taken), reply == Some(HoldReply::Behind));
            (StatusCode::OK, ModAnswer { hold, behind, ..ModAnswer::default() })
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

/// What the driver says of a message that the user typed.
async fn reply_about(text: String, endpoint: &ModEndpoint) -> Option<HoldReply> {
    let (answer, mut answered) = unbounded_channel();
    let (answer, by) = (HoldReplySender(answer), HoldsBy::Driver);
    endpoint.typed.send(TypedMessage { text, answer, by }).ok()?;
    match timeout(PATIENCE, answered.recv()).await {
        Ok(reply) => reply,
        Err(_) => {
            // The driver may have taken it at this moment; from here on it cannot.
            answered.close();
            answered.recv().await
        }
    }
}
