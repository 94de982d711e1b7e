//! Messages typed into the host: the session holds and releases them, and never sends them itself.

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::world::{Lasting, World};
use super::*;

const HANDOFF: &str = "packet back\n[rawr:s1:handoff]";

struct Screen(UnboundedSender<TypedMessage>);

impl Screen {
    fn types(&self, text: &str) -> Replies {
        let (answer, replies) = hold_channel();
        self.0.send(TypedMessage { text: text.to_owned(), answer }).unwrap();
        Replies(replies)
    }
}

struct Replies(HoldReplies);

impl Replies {
    async fn hears(&mut self, expected: HoldReply) {
        assert_eq!(self.0.next().await, Some(expected));
    }

    /// The next reply after the signs of life. The message then goes to the agent.
    async fn until_let_go(mut self) {
        while self.0.next().await.unwrap() != HoldReply::Go {}
    }
}

/// Runs a session for the length of the script. Returns the calls to the sidecar.
async fn beside(life: Life, script: impl AsyncFnOnce(Screen, Arc<Mutex<String>>)) -> String {
    let folder = TempDir::new().unwrap();
    run_beside(agent(&folder), life, &mut SharedReport::default(), script).await
}

async fn run_beside(
    host: impl AgentHost + 'static,
    life: Life,
    reporter: &mut SharedReport,
    script: impl AsyncFnOnce(Screen, Arc<Mutex<String>>),
) -> String {
    let fake = Fake::new([life]);
    let heard = Arc::clone(&fake.heard);
    let (ask, mut stop) = StopRequest::by_hand();
    let (typed, door) = unbounded_channel();
    let sidecar = fake.launch().await.unwrap();
    let drive = Drive::open(host, fake, sidecar, reporter).await.unwrap();
    let drive = drive.with_typed_inputs(door);
    let person = async {
        script(Screen(typed), Arc::clone(&heard)).await;
        ask.send_replace(Some(130));
    };
    let mut prompts = PromptQueue::elsewhere();
    let (ended, ()) = tokio::join!(drive.run(&mut prompts, &mut stop), person);
    ended.unwrap();
    heard.lock().unwrap().clone()
}

/// Holds every message, then reacts like this.
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
async fn a_message_is_released_at_once_without_a_handoff() {
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
async fn a_held_message_is_released_after_its_handoff() {
    let life = delivering(&[("handoff", "packet back")]);
    let heard = beside(life, async |screen, heard| {
        let mut waiting = screen.types("hello");
        waiting.hears(HoldReply::StillHeld).await;
        waiting.until_let_go().await;
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
async fn a_held_message_without_a_handoff_is_released() {
    let heard = beside(delivering(&[]), async |screen, heard| {
        screen.types("hello").until_let_go().await;
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
async fn a_message_released_elsewhere_is_cancelled() {
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
async fn held_messages_are_released_when_the_host_asks_the_user() {
    let asks = |thread: &Value, _: &Value| {
        let changed = json!({"threadId": thread, "phase": "awaiting_approval", "guards": []});
        vec![Do::Note("rawr/thread/changed", changed)]
    };
    let heard = beside(holding(asks), async |screen, _| screen.types("hello").until_let_go().await);
    expect![[r#"
        thread/open
        input/submit hello
        input/cancel
        thread/close
    "#]]
    .assert_eq(&heard.await);
}

#[tokio::test]
async fn a_refusing_sidecar_holds_no_message() {
    let refuses = life(|method, _| (method == "rawr/input/submit").then(|| vec![Do::Refuse]));
    let heard = beside(refuses, async |screen, _| screen.types("hello").hears(HoldReply::Go).await);
    assert!(heard.await.contains("input/submit hello"));
}

#[tokio::test]
async fn all_held_messages_are_released_at_the_end() {
    let mut released = None;
    let heard = beside(holding(|_, _| Vec::new()), async |screen, _| {
        let mut waiting = screen.types("hello");
        waiting.hears(HoldReply::StillHeld).await;
        released = Some(tokio::spawn(waiting.until_let_go()));
    });
    assert!(heard.await.contains("input/cancel"));
    released.unwrap().await.unwrap();
}

/// Runs a session of a conversation that outlives it. Returns the calls to the sidecar, the events about messages, and what
/// the agent was given.
async fn beside_a_screen(
    life: Life,
    script: impl AsyncFnOnce(Screen, Arc<Mutex<String>>),
) -> String {
    let cwd = TempDir::new().unwrap();
    let world = Arc::new(Mutex::new(World { is_shared: true, ..World::default() }));
    let page = SharedReport::default();
    let host = Lasting::join(&world, cwd.path().to_owned());
    let heard = run_beside(host, life, &mut page.clone(), script).await;
    let page = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
    let left: Vec<_> = page.lines().filter(|line| line.contains("message_left")).collect();
    format!("{heard}{}\n--\n{}", left.join("\n"), world.lock().unwrap().story())
}

/// Where the terminal closed, the message was never given to the agent.
#[tokio::test]
async fn a_message_whose_screen_ended_is_kept_for_the_next_driver() {
    let heard = beside_a_screen(holding(|_, _| Vec::new()), async |screen, _| {
        let mut waiting = screen.types("hello");
        waiting.hears(HoldReply::StillHeld).await;
        waiting.0.orphan();
    });
    expect![[r#"
        thread/open
        input/submit hello
        thread/close
        {"event":"message_left","kept":true,"text":"hello"}
        --
    "#]]
    .assert_eq(&heard.await);
}

/// The driver may be stopped before the sender notices.
#[tokio::test]
async fn a_message_whose_screen_ends_while_the_driver_stops_is_kept() {
    let mut released = None;
    let heard = beside_a_screen(holding(|_, _| Vec::new()), async |screen, _| {
        let mut waiting = screen.types("hello");
        waiting.hears(HoldReply::StillHeld).await;
        released = Some(tokio::spawn(async move {
            while waiting.0.next().await.unwrap() != HoldReply::Go {}
            waiting.0.orphan();
        }));
    });
    expect![[r#"
        thread/open
        input/submit hello
        thread/close
        {"event":"message_left","kept":true,"text":"hello"}
        --
    "#]]
    .assert_eq(&heard.await);
    released.unwrap().await.unwrap();
}

#[tokio::test]
async fn the_driver_delivers_a_message_whose_screen_ended() {
    let heard = beside_a_screen(delivering(&[("handoff", HANDOFF)]), async |screen, heard| {
        let mut waiting = screen.types("hello");
        waiting.hears(HoldReply::StillHeld).await;
        waiting.0.orphan();
        until_heard(&heard, "action/report completed").await;
    });
    expect![[r#"
        thread/open
        input/submit hello
        turn/started synthetic turn-1
        turn/usage turn-1
        turn/completed completed turn-1
        action/report accepted a1 turn-2
        turn/started user a1 turn-2 hello
        signal/report command_finished turn-2
        turn/usage turn-2
        turn/completed completed turn-2
        action/report completed a1 turn-2 That is done now.
        thread/close

        --
        [handoff]
        hello
    "#]]
    .assert_eq(&heard.await);
}

/// The handoff is in the conversation when the screen ends.
#[tokio::test]
async fn the_driver_delivers_a_message_that_its_sender_could_not_release() {
    let heard = beside_a_screen(delivering(&[("handoff", HANDOFF)]), async |screen, heard| {
        let mut waiting = screen.types("hello");
        waiting.hears(HoldReply::StillHeld).await;
        while waiting.0.next().await.unwrap() != HoldReply::Go {}
        waiting.0.orphan();
        until_heard(&heard, "action/report completed").await;
    });
    expect![[r#"
        thread/open
        input/submit hello
        turn/started synthetic turn-1
        turn/usage turn-1
        turn/completed completed turn-1
        action/report accepted a1 turn-2
        turn/started user a1 turn-2 hello
        signal/report command_finished turn-2
        turn/usage turn-2
        turn/completed completed turn-2
        action/report completed a1 turn-2 That is done now.
        thread/close

        --
        [handoff]
        hello
    "#]]
    .assert_eq(&heard.await);
}
