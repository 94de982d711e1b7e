//! Messages that are typed into the host itself, and put to the session first: it never says them, it only lets them go.

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::*;

struct Screen(UnboundedSender<Typed>);

impl Screen {
    fn types(&self, text: &str) -> Waiting {
        let (say, said) = unbounded_channel();
        self.0.send(Typed { text: text.to_owned(), answer: Answer(say) }).unwrap();
        Waiting(said)
    }
}

struct Waiting(UnboundedReceiver<HoldReply>);

impl Waiting {
    async fn hears(&mut self, expected: HoldReply) {
        assert_eq!(self.0.recv().await, Some(expected));
    }

    /// After whatever signs of life.
    async fn is_let_go(&mut self) {
        while self.0.recv().await.unwrap() != HoldReply::Go {}
    }
}

/// A session for as long as the script goes; what the sidecar heard.
async fn beside(life: Life, script: impl AsyncFnOnce(Screen, Arc<Mutex<String>>)) -> String {
    let folder = TempDir::new().unwrap();
    let fake = Fake::new([life]);
    let heard = Arc::clone(&fake.heard);
    let mut reporter = Page::default();
    let (ask, mut stop) = Stop::by_hand();
    let (typed, door) = unbounded_channel();
    let sidecar = fake.launch().await.unwrap();
    let drive = Drive::open(agent(&folder), fake, sidecar, &mut reporter).await.unwrap();
    let drive = drive.with_typed_inputs(door);
    let person = async {
        script(Screen(typed), Arc::clone(&heard)).await;
        ask.send_replace(Some(130));
    };
    let mut prompts = Prompts::elsewhere();
    let (ended, ()) = tokio::join!(drive.run(&mut prompts, &mut stop), person);
    ended.unwrap();
    heard.lock().unwrap().clone()
}

/// Holds every message, and then does this about it.
fn holding(then: impl Fn(&Value, &Value) -> Vec<Do> + Send + 'static) -> Life {
    life(move |method, params| {
        (method == "rawr/input/submit").then(|| {
            let mut steps = vec![Do::Answer(json!({"disposition": "held"}))];
            steps.extend(then(&params["threadId"], &params["inputId"]));
            steps
        })
    })
}

/// These, and the message.
fn delivering(before: &'static [(&str, &str)]) -> Life {
    holding(move |thread, input_id| {
        let items = before.iter().chain(&[("input", "hello")]);
        let items: Vec<_> = items.map(|(role, text)| json!({"role": role, "text": text})).collect();
        let action = json!({"kind": "deliver_input", "inputId": input_id, "items": items});
        vec![perform(thread, "a1", action)]
    })
}

async fn until_heard(heard: &Mutex<String>, words: &str) {
    while !heard.lock().unwrap().contains(words) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_nothing_comes_before_goes_at_once() {
    let heard =
        beside(plainly(), async |screen, _| screen.types("hello").hears(HoldReply::Go).await);
    expect![[r#"
        thread/open
        input/submit hello
        thread/close
    "#]]
    .assert_eq(&heard.await);
}

#[tokio::test]
async fn the_handoff_is_said_and_the_message_let_go() {
    let life = delivering(&[("handoff", "packet back")]);
    let heard = beside(life, async |screen, heard| {
        let mut waiting = screen.types("hello");
        waiting.hears(HoldReply::StillHeld).await;
        waiting.is_let_go().await;
        until_heard(&heard, "action/report completed").await;
    });
    expect![[r#"
        thread/open
        input/submit hello
        action/report accepted a1 turn-1
        turn/started user a1 turn-1 hello
        turn/usage turn-1
        turn/completed completed turn-1
        action/report completed a1 turn-1 the packet
        thread/close
    "#]]
    .assert_eq(&heard.await);
}

#[tokio::test]
async fn without_a_handoff_it_is_only_let_go() {
    let heard = beside(delivering(&[]), async |screen, heard| {
        screen.types("hello").is_let_go().await;
        until_heard(&heard, "action/report").await;
    });
    expect![[r#"
        thread/open
        input/submit hello
        action/report completed a1
        thread/close
    "#]]
    .assert_eq(&heard.await);
}

#[tokio::test]
async fn one_that_has_gone_another_way_is_taken_back() {
    let heard = beside(holding(|_, _| Vec::new()), async |screen, heard| {
        screen.types("hello").hears(HoldReply::StillHeld).await;
        until_heard(&heard, "input/cancel").await;
    });
    expect![[r#"
        thread/open
        input/submit hello
        input/cancel
        thread/close
    "#]]
    .assert_eq(&heard.await);
}

#[tokio::test]
async fn for_a_question_to_a_person_nobody_waits() {
    let asks = |thread: &Value, _: &Value| {
        let changed = json!({"threadId": thread, "phase": "awaiting_approval", "guards": []});
        vec![Do::Note("rawr/thread/changed", changed)]
    };
    let heard = beside(holding(asks), async |screen, _| screen.types("hello").is_let_go().await);
    expect![[r#"
        thread/open
        input/submit hello
        input/cancel
        thread/close
    "#]]
    .assert_eq(&heard.await);
}

#[tokio::test]
async fn a_sidecar_that_refuses_holds_nothing() {
    let refuses = life(|method, _| (method == "rawr/input/submit").then(|| vec![Do::Refuse]));
    let heard = beside(refuses, async |screen, _| screen.types("hello").hears(HoldReply::Go).await);
    assert!(heard.await.contains("input/submit hello"));
}

#[tokio::test]
async fn with_the_session_everything_is_let_go() {
    let (say, said) = tokio::sync::oneshot::channel();
    let heard = beside(holding(|_, _| Vec::new()), async |screen, _| {
        let mut waiting = screen.types("hello");
        waiting.hears(HoldReply::StillHeld).await;
        let _ = say.send(waiting);
    });
    assert!(heard.await.contains("input/cancel"));
    let Waiting(mut said) = said.await.unwrap();
    // Dropped without a word, it lets the message go.
    while let Some(word) = said.recv().await {
        assert_eq!(word, HoldReply::StillHeld);
    }
}
