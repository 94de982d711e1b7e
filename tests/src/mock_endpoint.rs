//! An HTTP endpoint with scripted replies on a loopback port, which records its requests.

use crate::sidecar::must;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

#[derive(Debug, Clone)]
pub enum ScriptedReply {
    Http {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: String,
    },
    /// Closes the connection where a reply should begin.
    HangUp,
    Stall,
    /// Sent once the test releases it.
    Held(Box<ScriptedReply>),
}

pub fn reply(status: u16, body: impl Into<String>) -> ScriptedReply {
    ScriptedReply::Http { status, headers: Vec::new(), body: body.into() }
}

/// A reply of the Responses API with this text.
pub fn by_responses(text: &str) -> ScriptedReply {
    let body = json!({
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}],
        "usage": {"input_tokens": 40, "output_tokens": 9},
    });
    reply(200, body.to_string())
}

/// A reply of a chat completions endpoint with this text.
pub fn by_chat(text: &str) -> ScriptedReply {
    let body = json!({
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 9},
    });
    reply(200, body.to_string())
}

impl ScriptedReply {
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Http { headers, .. } = &mut self {
            headers.push((name, value.into()));
        }
        self
    }

    pub fn held(self) -> Self {
        Self::Held(Box::new(self))
    }
}

/// A recorded request.
#[derive(Debug, Clone)]
pub struct EndpointRequest {
    pub line: String,
    pub authorization: Option<String>,
    pub content_type: Option<String>,
    pub body: Value,
}

#[derive(Debug)]
pub struct Mock {
    origin: String,
    seen: watch::Receiver<Vec<EndpointRequest>>,
    given_up: watch::Receiver<usize>,
    let_go: Arc<Semaphore>,
}

struct EndpointScript {
    replies: Mutex<VecDeque<ScriptedReply>>,
    seen: watch::Sender<Vec<EndpointRequest>>,
    given_up: watch::Sender<usize>,
    let_go: Arc<Semaphore>,
}

impl Mock {
    /// Serves while the test's runtime runs. A request beyond the script gets an error.
    pub async fn start(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        let listener = must(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await, "listen");
        let origin = format!("http://{}", must(listener.local_addr(), "listen"));
        let ((seen, saw), (given_up, gave_up)) = (watch::channel(Vec::new()), watch::channel(0));
        let replies = Mutex::new(replies.into_iter().collect());
        let let_go = Arc::new(Semaphore::new(0));
        let script =
            Arc::new(EndpointScript { replies, seen, given_up, let_go: Arc::clone(&let_go) });
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let script = Arc::clone(&script);
                let service = service_fn(move |request| answer(Arc::clone(&script), request));
                let io = TokioIo::new(connection);
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(io, service),
                );
            }
        });
        Self { origin, seen: saw, given_up: gave_up, let_go }
    }

    /// For a test without a runtime: serves until the test's process ends.
    pub fn start_apart(replies: Vec<ScriptedReply>) -> Self {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            must(runtime, "make a runtime").block_on(async {
                drop(sender.send(Self::start(replies).await));
                std::future::pending::<()>().await;
            });
        });
        must(receiver.recv(), "start an endpoint")
    }

    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub fn seen(&self) -> Vec<EndpointRequest> {
        self.seen.borrow().clone()
    }

    /// Releases the next held reply.
    pub fn release(&self) {
        self.let_go.add_permits(1);
    }

    /// Waits for the next request. The test runner stops a test that hangs.
    pub async fn wait_for_request(&self) {
        self.wait_for_requests(1).await;
    }

    pub async fn wait_for_requests(&self, count: usize) {
        drop(must(self.seen.clone().wait_for(|seen| seen.len() >= count).await, "wait"));
    }

    pub async fn wait_until_given_up(&self) {
        drop(must(self.given_up.clone().wait_for(|count| *count > 0).await, "wait"));
    }
}

/// Waits in a test without a runtime.
pub fn block_on(wait: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    must(runtime, "make a runtime").block_on(wait);
}

/// Dropped with the request that it stands for.
struct AbandonedCount(Arc<EndpointScript>);

impl Drop for AbandonedCount {
    fn drop(&mut self) {
        self.0.given_up.send_modify(|count| *count += 1);
    }
}

async fn answer(
    script: Arc<EndpointScript>,
    request: Request<Incoming>,
) -> io::Result<Response<Full<Bytes>>> {
    let header =
        |name| Some(must(request.headers().get(name)?.to_str(), "read a header").to_owned());
    let line = format!("{} {}", request.method(), request.uri());
    let (authorization, content_type) = (header("authorization"), header("content-type"));
    let body = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    script
        .seen
        .send_modify(|seen| seen.push(EndpointRequest { line, authorization, content_type, body }));

    let next = script.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let next = match next.unwrap_or_else(|| reply(418, "nothing is scripted for this request")) {
        ScriptedReply::Held(next) => {
            must(script.let_go.acquire().await, "hold a reply").forget();
            *next
        }
        next => next,
    };
    match next {
        ScriptedReply::Http { status, headers, body } => {
            let response = Response::builder().status(status);
            let response = headers
                .into_iter()
                .fold(response, |response, (name, value)| response.header(name, value));
            Ok(must(response.body(body.into()), "make a reply"))
        }
        ScriptedReply::HangUp => Err(io::Error::other("scripted")),
        ScriptedReply::Held(_) | ScriptedReply::Stall => {
            let _waiting = AbandonedCount(script);
            std::future::pending().await
        }
    }
}
