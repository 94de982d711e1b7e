//! A scripted model with the Anthropic messages API on a loopback port. It runs on its own thread, so that tests with and
//! without a runtime can use it.

mod recorded;
mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use hyper::{Response, StatusCode};
use serde_json::Value;
use tokio::sync::{oneshot, watch};

pub use self::recorded::AnthropicRequest;
use crate::mock_responses::choose::nth_or_last;
use crate::mock_responses::serve::{
    MockRoute, OpenRequests, ReplyBody, error, events, serve, whole,
};
use crate::mock_responses::{ReplyTiming, RequestPurpose, ScriptedAnswer, TurnReply, TurnScript};

/// A running mock. Dropping it stops it and cuts off running replies.
#[derive(Debug)]
pub struct MockClaude {
    address: SocketAddr,
    recorded: watch::Receiver<Vec<Arc<AnthropicRequest>>>,
    open: OpenRequests,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MockClaude {
    /// Listens on a free loopback port. Panics on failure.
    pub fn start(script: TurnScript) -> Self {
        let (record, recorded) = watch::channel(Vec::new());
        let (stop, stopped) = oneshot::channel();
        let (bound, address) = std::sync::mpsc::channel();
        let open = OpenRequests::default();
        let counted = open.clone();
        let thread = std::thread::Builder::new()
            .name("mock claude".to_owned())
            .spawn(move || serve(Messages { script, record }, stopped, &bound, counted))
            .unwrap_or_else(|error| panic!("no thread for the mock model: {error}"));
        let address =
            address.recv().unwrap_or_else(|_| panic!("the mock model ended before it listened"));
        Self { address, recorded, open, stop: Some(stop), thread: Some(thread) }
    }

    /// The value of `ANTHROPIC_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request of the conversation so far, oldest first.
    pub fn requests(&self) -> Vec<Arc<AnthropicRequest>> {
        self.recorded_for(|purpose| purpose != RequestPurpose::Judgment)
    }

    /// Every question of a judge so far, oldest first.
    pub fn judgments(&self) -> Vec<Arc<AnthropicRequest>> {
        self.recorded_for(|purpose| purpose == RequestPurpose::Judgment)
    }

    fn recorded_for(&self, is_asked: fn(RequestPurpose) -> bool) -> Vec<Arc<AnthropicRequest>> {
        let recorded = self.recorded.borrow();
        recorded.iter().filter(|request| is_asked(request.purpose)).cloned().collect()
    }

    /// Whether a request is not answered yet.
    pub fn is_answering(&self) -> bool {
        !self.open.is_empty()
    }
}

impl Drop for MockClaude {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the mock has been printed on its own thread; a second one here would abort the test run.
            let _ = thread.join();
        }
    }
}

struct Messages {
    script: TurnScript,
    record: watch::Sender<Vec<Arc<AnthropicRequest>>>,
}

impl MockRoute for Messages {
    const PATH: &'static str = "/messages";

    fn reply(&self, body: Value) -> (Response<ReplyBody>, ReplyTiming) {
        let mut request = AnthropicRequest::new(body);
        let before = self.record.borrow().clone();
        let alike = before.iter().filter(|it| it.purpose == request.purpose).count();
        let reply = choose(&self.script, &mut request, alike);
        let response = match &reply.answer {
            ScriptedAnswer::Http { status, message } => error(
                StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
                message,
            ),
            ScriptedAnswer::Stall => {
                events(ReplyBody::endless(stream::events(before.len(), &request, reply)))
            }
            ScriptedAnswer::Items(items) if request.body["stream"] != true => {
                whole(stream::whole(before.len(), &request, items, reply))
            }
            ScriptedAnswer::Items(_) | ScriptedAnswer::Failed { .. } => {
                events(ReplyBody::whole(stream::events(before.len(), &request, reply)))
            }
        };
        self.record.send_modify(|requests| requests.push(Arc::new(request)));
        (response, reply.timing())
    }
}

fn choose<'s>(
    script: &'s TurnScript,
    request: &mut AnthropicRequest,
    before: usize,
) -> &'s TurnReply {
    if let Some(replies) = script.replies_for(request.purpose) {
        return nth_or_last(replies, before);
    }
    let text = request.last_user_message().unwrap_or_default();
    let found = script.turns.iter().find(|(marker, _)| text.contains(marker));
    request.marker = found.map(|(marker, _)| marker.clone());
    nth_or_last(found.map_or(&script.otherwise, |(_, replies)| replies), request.step)
}
