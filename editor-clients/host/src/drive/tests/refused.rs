//! A host that refuses a delivery or does not answer it: no message is lost silently or sent twice.

use super::*;
use async_trait::async_trait;
use rawr_protocol::PendingAction;

use crate::host::{CompactionOrder, HostAccess, HostThread, ModelQuestion, RecordedOutcome};

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

    fn resume_withheld_work(&mut self) {
        self.agent.resume_withheld_work();
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
    let done = timeout(Duration::from_secs(60), session).await.expect("it hangs");
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

/// The model refuses the conversation as too long at the message "big", or in the middle of the work for it.
fn refusing(folder: &TempDir, first: Option<ScriptLine>) -> Embedded {
    let too_long = ScriptLine { too_long: true, ..ScriptLine::default() };
    let scenes = vec![
        Scene {
            cue: SceneCue::words("big"),
            replies: first.into_iter().chain([too_long]).collect(),
        },
        Scene { cue: SceneCue::Anything, replies: vec![ScriptLine::says("done")] },
    ];
    start(folder, scenes, 1000)
}

/// Answers a failed turn with this verdict, and holds messages from then on.
fn deciding(verdict: Value) -> Life {
    let mut has_failed = false;
    life(move |method, params| match method {
        "rawr/turn/completed" if params["status"] == "failed" => {
            has_failed = true;
            Some(vec![Do::Answer(json!({ "verdict": verdict }))])
        }
        "rawr/input/submit" if has_failed => Some(vec![Do::Answer(json!({"disposition": "held"}))]),
        _ => None,
    })
}

// rule: overflow.continues
#[tokio::test]
async fn a_message_that_the_model_refused_is_submitted_again_while_the_sequence_runs() {
    let folder = TempDir::new().unwrap();
    let host = refusing(&folder, None);
    let verdict = json!({
        "decisionId": "d1", "outcome": "compact", "reason": "too long", "sequenceId": "s1",
    });
    let done = run_on(host, &["hello", "big"], vec![deciding(verdict)], Some("input_held")).await;
    expect![[r#"
        thread/open
        input/submit hello
        turn/started user turn-1 hello
        turn/usage turn-1
        turn/completed completed turn-1
        input/submit big
        turn/started user turn-2 big
        turn/completed context_full 20 failed turn-2
        input/submit big
        input/cancel
        thread/close
    "#]]
    .assert_eq(&done.heard);
}

// rule: overflow.says-why
#[tokio::test]
async fn a_refusal_that_no_compaction_follows_is_an_error_with_advice() {
    let folder = TempDir::new().unwrap();
    let host = refusing(&folder, Some(ScriptLine::does([shell("true")])));
    let verdict = json!({"decisionId": "d1", "outcome": "nothing", "reason": "it was not enough"});
    let done = run_on(host, &["hello", "big"], vec![deciding(verdict)], None).await;
    expect![[r#"
        thread/open
        input/submit hello
        turn/started user turn-1 hello
        turn/usage turn-1
        turn/completed completed turn-1
        input/submit big
        turn/started user turn-2 big
        signal/report tool_started turn-2
        signal/report command_finished turn-2
        signal/report tool_finished turn-2
        turn/usage turn-2
        turn/completed context_full 37 failed turn-2
        thread/close
    "#]]
    .assert_eq(&done.heard);
    let notices = events_of(&done, "notice");
    let notices: Vec<_> =
        notices.iter().map(|notice| notice["message"].as_str().unwrap()).collect();
    expect![[r#"
        the turn failed: the conversation does not fit the model's context window: says the script
        the conversation does not fit the model's context window, and rawr does not compact it: it was not enough; send a shorter message, start a new conversation, or use a model with a larger window"#]].assert_eq(&notices.join("\n"));
}
