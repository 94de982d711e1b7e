//! A host that refuses a delivery or does not answer it: no message is lost silently or sent twice.

use super::*;
use async_trait::async_trait;
use rawr_protocol::PendingAction;

use crate::host::{
    CompactionOrder, HistoryKeeper, HostAccess, HostThread, ModelQuestion, RecordedOutcome,
    RequestGate, ThreadLifetime, WithheldWork,
};

/// Refuses every turn whose items contain all of `words`.
struct Picky {
    agent: Embedded,
    words: &'static [&'static str],
    error: fn() -> HostError,
    asked: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl AgentHost for Picky {
    fn thread(&self) -> &HostThread {
        self.agent.thread()
    }

    fn access(&mut self) -> HostAccess<'_> {
        self.agent.access()
    }

    fn request_gate(&mut self) -> Option<&mut dyn RequestGate> {
        self.agent.request_gate()
    }

    fn withheld_work(&mut self) -> Option<&mut dyn WithheldWork> {
        self.agent.withheld_work()
    }

    fn history_keeper(&mut self) -> Option<&mut dyn HistoryKeeper> {
        self.agent.history_keeper()
    }

    fn lifetime(&self) -> ThreadLifetime {
        self.agent.lifetime()
    }

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        let asked = items.join(" + ");
        let refuses = self.words.iter().all(|word| asked.contains(word));
        self.asked.lock().unwrap().push(asked);
        if refuses { Err((self.error)()) } else { self.agent.start_turn(items).await }
    }

    async fn steer(&mut self, text: &str) -> Result<String, HostError> {
        self.agent.steer(text).await
    }

    async fn compact(&mut self, order: &CompactionOrder) -> Result<(), HostError> {
        self.agent.compact(order).await
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        self.agent.interrupt().await
    }

    async fn sample(&mut self, question: ModelQuestion) -> Result<(), HostError> {
        self.agent.sample(question).await
    }

    async fn judge(&mut self, question: ModelQuestion) -> Result<(), HostError> {
        self.agent.judge(question).await
    }

    async fn recorded_outcome(
        &mut self,
        action: &PendingAction,
    ) -> Result<RecordedOutcome, HostError> {
        self.agent.recorded_outcome(action).await
    }

    async fn next_event(&mut self) -> HostEvent {
        self.agent.next_event().await
    }

    async fn close(self: Box<Self>) {
        Box::new(self.agent).close().await;
    }
}

fn too_long() -> HostError {
    let message = "Input exceeds the maximum length of 1048576 characters.".to_owned();
    HostError::Refused { method: "turn/start", message }
}

fn silent() -> HostError {
    HostError::Silent { method: "turn/start", seconds: 60 }
}

/// The second message is held and delivered with a handoff. Also returns the requests to the host.
async fn delivered(
    words: &'static [&'static str],
    error: fn() -> HostError,
) -> (Done, Vec<String>) {
    let folder = TempDir::new().unwrap();
    let asked = Arc::default();
    let host = Picky { agent: agent(&folder), words, error, asked: Arc::clone(&asked) };
    let holding = life(|method, params| {
        let holds = method == "rawr/input/submit" && params["text"] == "second";
        let items = json!([{"role": "handoff", "text": "packet back"}, {"role": "input", "text": "second"}]);
        let action = json!({"kind": "deliver_input", "inputId": params["inputId"], "items": items});
        holds.then(|| {
            let held = Do::Answer(json!({"disposition": "held"}));
            vec![held, perform(&params["threadId"], "a1", action)]
        })
    });
    // A timeout tells a hanging session from a slow one.
    let session = run_on(host, &["first", "second", "third"], vec![holding], None);
    let done = tokio::time::timeout(Duration::from_secs(60), session).await.expect("it hangs");
    let asked = asked.lock().unwrap().clone();
    (done, asked)
}

#[tokio::test]
async fn a_message_refused_with_its_handoff_is_sent_alone() {
    let (done, asked) = delivered(&["packet back", "second"], too_long).await;
    assert!(done.ended.is_ok(), "{:?}", done.ended);
    assert_eq!(asked, ["first", "packet back + second", "second", "third"]);
    assert!(done.heard.contains("action/report failed a1"), "{}", done.heard);
}

#[tokio::test]
async fn a_message_that_is_refused_alone_ends_the_session_and_is_quoted() {
    let (done, asked) = delivered(&["second"], too_long).await;
    let error = done.ended.unwrap_err().to_string();
    assert!(error.contains("it starts with: second") && error.contains("1048576"), "{error}");
    assert_eq!(asked, ["first", "packet back + second", "second"]);
}

/// The message may have arrived.
#[tokio::test]
async fn an_unanswered_message_is_quoted_and_not_sent_again() {
    let (done, asked) = delivered(&["second"], silent).await;
    let error = done.ended.unwrap_err().to_string();
    assert!(error.contains("it starts with: second"), "{error}");
    assert_eq!(asked, ["first", "packet back + second"]);
}
