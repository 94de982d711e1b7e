//! A scripted model with the OpenAI Responses API on a loopback port. It runs on its own thread, so that tests with and without
//! a runtime can use it.

pub(crate) mod choose;
mod recorded;
mod script;
pub(crate) mod serve;
mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

pub(crate) use recorded::asks_judge;
pub use recorded::{RequestPurpose, ResponsesRequest, TITLE_PROMPT};
pub(crate) use script::ReplyTiming;
pub use script::{
    HALF_AN_EMOJI, ReplyGate, SUB_AGENT, ScriptedAnswer, ScriptedItem, TurnReply, TurnScript, call,
    call_in, custom_call, http_error, reply, sse_failed, stall,
};
use tokio::sync::{oneshot, watch};

use self::serve::OpenRequests;

/// A running mock. Dropping it stops it and cuts off running replies.
#[derive(Debug)]
pub struct MockModel {
    address: SocketAddr,
    recorded: watch::Receiver<Vec<Arc<ResponsesRequest>>>,
    open: OpenRequests,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MockModel {
    /// Listens on a free loopback port. Panics on failure.
    pub fn start(script: TurnScript) -> Self {
        let (record, recorded) = watch::channel(Vec::new());
        let (stop, stopped) = oneshot::channel();
        let (bound, address) = std::sync::mpsc::channel();
        let open = OpenRequests::default();
        let counted = open.clone();
        let thread = std::thread::Builder::new()
            .name("mock model".to_owned())
            .spawn(move || serve::run(script, record, stopped, &bound, counted))
            .unwrap_or_else(|error| panic!("no thread for the mock model: {error}"));
        let address =
            address.recv().unwrap_or_else(|_| panic!("the mock model ended before it listened"));
        Self { address, recorded, open, stop: Some(stop), thread: Some(thread) }
    }

    /// The value of a model provider's `base_url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request of the conversation so far, oldest first.
    pub fn requests(&self) -> Vec<Arc<ResponsesRequest>> {
        self.recorded_for(|purpose| purpose != RequestPurpose::Judgment)
    }

    /// Every question of a judge so far, oldest first.
    pub fn judgments(&self) -> Vec<Arc<ResponsesRequest>> {
        self.recorded_for(|purpose| purpose == RequestPurpose::Judgment)
    }

    fn recorded_for(&self, is_asked: fn(RequestPurpose) -> bool) -> Vec<Arc<ResponsesRequest>> {
        let recorded = self.recorded.borrow();
        recorded.iter().filter(|request| is_asked(request.purpose)).cloned().collect()
    }

    /// Whether a request is not answered yet.
    pub fn is_answering(&self) -> bool {
        !self.open.is_empty()
    }

    /// Waits for at least `count` requests and returns all. The test runner stops a test that hangs.
    pub async fn requests_after(&self, count: usize) -> Vec<Arc<ResponsesRequest>> {
        let mut recorded = self.recorded.clone();
        let is_asked = |it: &&Arc<ResponsesRequest>| it.purpose != RequestPurpose::Judgment;
        let reached = |all: &Vec<_>| all.iter().filter(is_asked).count() >= count;
        if recorded.wait_for(reached).await.is_err() {
            panic!("the mock model ended early");
        }
        self.requests()
    }
}

impl Drop for MockModel {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the mock has been printed on its own thread; a second one here would abort the test run.
            let _ = thread.join();
        }
    }
}
