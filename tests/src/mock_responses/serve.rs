//! The HTTP server of the mock models: one thread, one task per connection.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::LocalSet;

use super::recorded::{RequestPurpose, ResponsesRequest};
use super::script::{ReplyTiming, ScriptedAnswer, TurnScript};
use super::{choose, stream};

/// What answers at one path.
pub(crate) trait MockRoute: 'static {
    /// How the path ends that it is asked at.
    const PATH: &'static str;

    /// The answer, and when it is sent.
    fn reply(&self, body: Value) -> (Response<ReplyBody>, ReplyTiming);
}

/// The number of requests that are not answered yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenRequests(Arc<AtomicUsize>);

impl OpenRequests {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }

    fn one_more(&self) -> OpenRequest {
        self.0.fetch_add(1, Ordering::SeqCst);
        OpenRequest(self.clone())
    }
}

/// Dropped with the answer, or with the connection.
struct OpenRequest(OpenRequests);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves until `stopped` resolves, which it also does when its sender is dropped.
pub(super) fn run(
    script: TurnScript,
    record: watch::Sender<Vec<Arc<ResponsesRequest>>>,
    stopped: oneshot::Receiver<()>,
    bound: &mpsc::Sender<SocketAddr>,
    open: OpenRequests,
) {
    serve(Responses { script, record }, stopped, bound, open);
}

/// Like [`run`], for any model.
pub(crate) fn serve(
    model: impl MockRoute,
    stopped: oneshot::Receiver<()>,
    bound: &mpsc::Sender<SocketAddr>,
    open: OpenRequests,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime for the mock model: {error}"));
    let model = Rc::new(model);
    LocalSet::new().block_on(&runtime, async {
        tokio::select! {
            failed = listen(model, bound, open) => panic!("the mock model cannot listen: {failed}"),
            _ = stopped => {}
        }
    });
}

struct Responses {
    script: TurnScript,
    record: watch::Sender<Vec<Arc<ResponsesRequest>>>,
}

async fn listen(
    model: Rc<impl MockRoute>,
    bound: &mpsc::Sender<SocketAddr>,
    open: OpenRequests,
) -> std::io::Error {
    let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await {
        Ok(listener) => listener,
        Err(error) => return error,
    };
    match listener.local_addr() {
        Ok(address) => drop(bound.send(address)),
        Err(error) => return error,
    }
    loop {
        match listener.accept().await {
            Ok((connection, _)) => {
                let conversation = converse(Rc::clone(&model), connection, open.clone());
                drop(tokio::task::spawn_local(conversation));
            }
            Err(error) => return error,
        }
    }
}

async fn converse(model: Rc<impl MockRoute>, connection: TcpStream, open: OpenRequests) {
    let service = service_fn(move |request| answer(Rc::clone(&model), request, open.one_more()));
    // A client that hangs up in the middle (a killed Codex, an interrupted turn) is part of the tests.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(connection), service)
        .await;
}

async fn answer<M: MockRoute>(
    model: Rc<M>,
    request: Request<Incoming>,
    _open: OpenRequest,
) -> Result<Response<ReplyBody>, Infallible> {
    if request.method() != Method::POST || !request.uri().path().ends_with(M::PATH) {
        let only = format!("the mock model only answers POST …{}", M::PATH);
        return Ok(error(StatusCode::NOT_FOUND, &only));
    }
    let Ok(body) = request.into_body().collect().await else {
        return Ok(error(StatusCode::BAD_REQUEST, "the request broke off"));
    };
    let Ok(body) = serde_json::from_slice(&body.to_bytes()) else {
        return Ok(error(StatusCode::BAD_REQUEST, "the request is not JSON"));
    };
    let (response, timing) = model.reply(body);
    timing.passed().await;
    Ok(response)
}

impl MockRoute for Responses {
    const PATH: &'static str = "/responses";

    fn reply(&self, body: Value) -> (Response<ReplyBody>, ReplyTiming) {
        let mut request = ResponsesRequest::new(body);
        let (number, alike) = {
            let before = self.record.borrow();
            let alike = before.iter().filter(|it| it.purpose == request.purpose).count();
            let judged = before.iter().filter(|it| it.purpose == RequestPurpose::Judgment).count();
            (before.len() + 1 - judged, alike)
        };
        let reply = choose::reply(&self.script, &mut request, alike);
        let response = match &reply.answer {
            ScriptedAnswer::Http { status, message } => error(
                StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
                message,
            ),
            ScriptedAnswer::Stall => {
                events(ReplyBody::endless(stream::events(number, &request, reply)))
            }
            ScriptedAnswer::Items(_) | ScriptedAnswer::Failed { .. } => {
                events(ReplyBody::whole(stream::events(number, &request, reply)))
            }
        };
        self.record.send_modify(|requests| requests.push(Arc::new(request)));
        (response, reply.timing())
    }
}

pub(crate) fn events(body: ReplyBody) -> Response<ReplyBody> {
    with_type(Response::new(body), "text/event-stream")
}

pub(crate) fn whole(body: String) -> Response<ReplyBody> {
    with_type(Response::new(ReplyBody::whole(body)), "application/json")
}

pub(crate) fn error(status: StatusCode, message: &str) -> Response<ReplyBody> {
    let body = json!({"error": {"message": message, "type": "scripted"}});
    let mut response =
        with_type(Response::new(ReplyBody::whole(body.to_string())), "application/json");
    *response.status_mut() = status;
    response
}

fn with_type(mut response: Response<ReplyBody>, kind: &'static str) -> Response<ReplyBody> {
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// One piece of text, after which the body ends or stays open for ever.
pub(crate) struct ReplyBody {
    text: Option<Bytes>,
    then: End,
}

#[derive(PartialEq)]
enum End {
    Close,
    Hang,
}

impl ReplyBody {
    pub(crate) fn whole(text: String) -> Self {
        Self { text: Some(text.into()), then: End::Close }
    }

    pub(crate) fn endless(text: String) -> Self {
        Self { text: Some(text.into()), then: End::Hang }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match (self.text.take(), &self.then) {
            (Some(text), _) => Poll::Ready(Some(Ok(Frame::data(text)))),
            (None, End::Close) => Poll::Ready(None),
            // hyper drops the body when the connection ends, and nothing else may end it.
            (None, End::Hang) => Poll::Pending,
        }
    }
}
