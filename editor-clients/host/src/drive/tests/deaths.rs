//! The driver dies between any two of its steps, the host keeps running, and another driver opens the thread. The host must
//! carry out one packet request, one compaction, one handoff, and each message once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::task::LocalSet;

use super::world::{Lasting, Real, World, said};
use super::*;

/// False if it died before the end.
async fn lives(session: impl Future<Output = ()>, steps: usize) -> bool {
    let mut session: Pin<_> = pin!(session);
    let mut left = steps;
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        session.as_mut().poll(context).map(|()| true)
    })
    .await
}

/// Runs one driver with these messages. Returns its output.
async fn session(
    world: &Arc<Mutex<World>>,
    real: &Real,
    cwd: PathBuf,
    messages: &[&str],
    page: SharedReport,
) {
    let mut reporter = page;
    let mut prompts = PromptQueue::known(messages.iter().map(|&message| message.to_owned()));
    let (_ask, mut stop) = StopRequest::by_hand();
    let sidecar = real.launch().await.unwrap();
    let host = Lasting::join(world, cwd);
    let drive = Drive::open(host, real.clone(), sidecar, &mut reporter).await.unwrap();
    drive.run(&mut prompts, &mut stop).await.unwrap();
}

/// Whether the first driver lived to its end.
async fn dies_after(steps: usize) -> bool {
    let (home, cwd) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    compact_at_turn_end(home.path());
    let world = Arc::new(Mutex::new(World::default()));
    let real = Real::at(home.path());
    let (first, second) = (SharedReport::default(), SharedReport::default());
    let cwd = cwd.path().to_owned();
    let messages = ["write the parser", "now its docs"];
    let has_lived =
        lives(session(&world, &real, cwd.clone(), &messages, first.clone()), steps).await;
    session(&world, &real, cwd, &["and its tests"], second.clone()).await;
    let world = world.lock().unwrap();
    let done: BTreeMap<_, _> = [
        ("packet request", world.heard(":packet_request]")),
        ("compaction", world.compactions()),
        ("handoff", world.heard(":handoff]")),
        ("last message", world.heard("and its tests")),
    ]
    .into();
    let shown =
        [first, second].map(|page| String::from_utf8(page.0.lock().unwrap().clone()).unwrap());
    assert!(
        done.values().all(|times| *times == 1),
        "died after {steps}: {done:?}\n{}",
        shown.join("--\n")
    );
    for message in messages {
        assert!(world.heard(message) <= 1, "died after {steps}: {message}");
    }
    has_lived
}

#[tokio::test]
async fn no_action_is_repeated_after_the_death_of_a_driver() {
    let everywhere = async {
        let mut steps = 1;
        while !dies_after(steps).await {
            steps += 1;
        }
        assert!(steps > 50, "{steps}");
    };
    LocalSet::new().run_until(everywhere).await;
}

/// A driver opens a thread with this pending action. Returns the calls to its sidecar.
async fn takes_up(world: &Arc<Mutex<World>>, action: Value) -> String {
    let cwd = TempDir::new().unwrap();
    let mut pending = json!({"actionId": "a1", "sequenceId": "s1", "issuedAtMs": 0});
    pending.as_object_mut().unwrap().append(&mut action.as_object().unwrap().clone());
    let fake = Fake::new([life(move |method, params| {
        let opens = method == "rawr/thread/open";
        opens.then(|| vec![Do::Answer(opened(&params["threadId"], &json!([pending])))])
    })]);
    let heard = Arc::clone(&fake.heard);
    let mut reporter = SharedReport::default();
    let (_ask, mut stop) = StopRequest::by_hand();
    let sidecar = fake.launch().await.unwrap();
    let host = Lasting::join(world, cwd.path().to_owned());
    let drive = Drive::open(host, fake, sidecar, &mut reporter).await.unwrap();
    drive.run(&mut PromptQueue::known([]), &mut stop).await.unwrap();
    heard.lock().unwrap().clone()
}

const HANDOFF: &str = "packet back\n[rawr:s1:handoff]";

fn deliver() -> Value {
    json!({"kind": "deliver_input", "inputId": "input-1-1", "items": [
        {"role": "handoff", "text": HANDOFF}, {"role": "input", "text": "second"},
    ]})
}

fn has_heard(messages: &[&str]) -> Arc<Mutex<World>> {
    let mut world = World::default();
    for message in messages {
        world.takes(&[message]);
    }
    Arc::new(Mutex::new(world))
}

/// The relay released the message when its driver died.
#[tokio::test]
async fn a_delivered_message_is_not_repeated_with_its_handoff() {
    let world = has_heard(&["second"]);
    takes_up(&world, deliver()).await;
    let world = world.lock().unwrap();
    assert_eq!((world.heard("packet back"), world.heard("second")), (1, 1));
}

/// The handoff was delivered; then the driver died, and with it the sender of the message.
#[tokio::test]
async fn a_missing_message_is_delivered_after_its_handoff() {
    let world = has_heard(&[HANDOFF]);
    let heard = takes_up(&world, deliver()).await;
    let world = world.lock().unwrap();
    assert_eq!((world.heard("packet back"), world.heard("second")), (1, 1), "{heard}");
    assert!(heard.contains("turn/started user a1 turn-2 second"), "{heard}");
}

/// The message joined a turn that had started earlier.
#[tokio::test]
async fn a_message_that_joined_a_turn_is_not_repeated() {
    let world = has_heard(&["long work"]);
    {
        let turn = &mut world.lock().unwrap().turns[0];
        turn.began_at_ms = Some(0);
        turn.sent.push(said("second"));
    }
    takes_up(&world, deliver()).await;
    let world = world.lock().unwrap();
    assert_eq!((world.heard("packet back"), world.heard("second")), (1, 1));
}

/// What was said in the packet's turn answers them.
#[tokio::test]
async fn messages_typed_without_a_driver_are_reported_before_their_turn_ends() {
    let marker = "[rawr:s1:packet_request]";
    let request = format!("packet please\n{marker}");
    let world = has_heard(&[&request]);
    world.lock().unwrap().turns[0].sent.push(said("what time is it?"));
    let action = json!({"kind": "inject_turn", "purpose": "packet_request", "text": request, "marker": marker, "viaSteer": false});
    let heard = takes_up(&world, action).await;
    let told = "signal/report user_message turn-1\nturn/completed completed turn-1\n";
    assert!(heard.contains(told), "{heard}");
}

#[tokio::test]
async fn an_unanswered_handoff_is_looked_up_in_the_record() {
    let world = has_heard(&[]);
    world.lock().unwrap().is_silent = true;
    let action = json!({"kind": "inject_turn", "purpose": "handoff", "text": HANDOFF, "marker": "[rawr:s1:handoff]", "viaSteer": false});
    let heard = takes_up(&world, action).await;
    assert_eq!(world.lock().unwrap().heard("packet back"), 1);
    assert!(heard.contains("action/report completed a1"), "{heard}");
}
