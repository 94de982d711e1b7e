//! The driver dies between any two of its steps, the host keeps running, and another driver opens the thread. The host must
//! carry out one packet request, one compaction, one handoff, and each message once.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use rawr_protocol::{CompactionOrigin, Host, HostCapabilities, PendingAction, TokenUsage};
use serde_json::Map;
use tokio::task::{JoinHandle, LocalSet, yield_now};

use super::*;
use crate::host::record::{HostTurnRecord, RecordedCompaction, RecordedMessage, fate};
use crate::host::{
    CompactionOrder, HistoryKeeper, HostAccess, HostThread, ModelQuestion, RecordedOutcome,
    RequestGate, ThreadLifetime, TurnKind, WithheldWork,
};

const WINDOW: u64 = 100_000;
const FULL: u64 = 70_000;
const EMPTY: u64 = 5_000;
const PACKET: &str = "<continuation_packet>State: working\nGoal: the parser\nDecisions: none\nNext: the docs</continuation_packet>";

/// A conversation that outlives its drivers. It carries out requests at once.
#[derive(Default)]
struct World {
    turns: Vec<HostTurnRecord>,
    /// The events for the current driver.
    untold: VecDeque<HostEvent>,
    /// It carries out requests but does not answer.
    is_silent: bool,
}

impl World {
    fn next_turn(&mut self) -> String {
        format!("turn-{}", self.turns.len() + 1)
    }

    fn takes(&mut self, sent: &[&str]) -> String {
        let turn_id = self.next_turn();
        let text = sent.concat();
        let is_compacted = self.turns.iter().any(|turn| turn.compacted.is_some());
        let used = if is_compacted { EMPTY } else { FULL };
        let answer = if text.contains(":packet_request]") { PACKET } else { "That is done now." };
        self.turns.push(HostTurnRecord {
            turn_id: turn_id.clone(),
            began_at_ms: Some(now_ms()),
            sent: sent.iter().map(|text| said(text)).collect(),
            has_ended: true,
            last_agent_message: Some(answer.to_owned()),
            compacted: None,
            used: Some(used),
        });
        let id = || turn_id.clone();
        self.untold.push_back(HostEvent::TurnStarted { turn_id: id(), kind: TurnKind::Asked });
        if !text.contains("[rawr:") {
            self.untold.push_back(HostEvent::CommandFinished {
                turn_id: id(),
                call_id: "commit".to_owned(),
                command: "git commit -m parser".to_owned(),
                exit_code: 0,
                cwd: "/".to_owned(),
            });
        }
        let usage = TokenUsage {
            context_tokens: used,
            input_tokens: None,
            cached_input_tokens: None,
            output_tokens: None,
            reasoning_tokens: None,
        };
        self.untold.extend([
            HostEvent::AgentMessage { turn_id: id(), text: answer.to_owned() },
            HostEvent::Usage {
                turn_id: id(),
                usage,
                context_window: Some(WINDOW),
                needs_follow_up: false,
            },
            HostEvent::TurnCompleted {
                turn_id: id(),
                status: TurnStatus::Completed,
                last_agent_message: Some(answer.to_owned()),
                error: None,
            },
        ]);
        turn_id
    }

    fn compacts(&mut self) {
        let turn_id = self.next_turn();
        self.turns.push(HostTurnRecord {
            turn_id: turn_id.clone(),
            began_at_ms: Some(now_ms()),
            has_ended: true,
            compacted: Some(RecordedCompaction { before: Some(FULL), after: Some(EMPTY) }),
            used: Some(EMPTY),
            ..HostTurnRecord::default()
        });
        let (id, origin) = (|| turn_id.clone(), CompactionOrigin::Rawr);
        self.untold.extend([
            HostEvent::TurnStarted { turn_id: id(), kind: TurnKind::Compaction },
            HostEvent::CompactionStarted { turn_id: id(), origin },
            HostEvent::CompactionCompleted { turn_id: id(), origin, tokens_after: Some(EMPTY) },
            HostEvent::TurnCompleted {
                turn_id: id(),
                status: TurnStatus::Completed,
                last_agent_message: None,
                error: None,
            },
        ]);
    }

    /// How often it received a text with these words.
    fn heard(&self, words: &str) -> usize {
        let sent = self.turns.iter().flat_map(|turn| &turn.sent);
        sent.filter(|sent| sent.text.contains(words)).count()
    }

    fn compactions(&self) -> usize {
        self.turns.iter().filter(|turn| turn.compacted.is_some()).count()
    }
}

fn said(text: &str) -> RecordedMessage {
    RecordedMessage { text: text.to_owned(), at_ms: Some(now_ms()), is_users: true }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// A driver's connection to it.
struct Lasting {
    world: Arc<Mutex<World>>,
    thread: HostThread,
}

impl Lasting {
    /// Unread events of an earlier driver are lost.
    fn join(world: &Arc<Mutex<World>>, cwd: PathBuf) -> Self {
        world.lock().unwrap().untold.clear();
        let capabilities = HostCapabilities {
            inject_turn: true,
            compact: true,
            queue: true,
            ..HostCapabilities::default()
        };
        let host = Host { name: "lasting".to_owned(), version: None, capabilities };
        let thread = HostThread {
            thread_id: "t".to_owned(),
            origin: ThreadOrigin::Person,
            cwd,
            host,
            model: None,
            context_window: Some(WINDOW),
            baseline_tokens: 0,
            transcript: None,
        };
        Self { world: Arc::clone(world), thread }
    }
}

#[async_trait]
impl AgentHost for Lasting {
    fn thread(&self) -> &HostThread {
        &self.thread
    }

    fn access(&mut self) -> HostAccess<'_> {
        HostAccess::Exclusive
    }

    fn request_gate(&mut self) -> Option<&mut dyn RequestGate> {
        None
    }

    fn withheld_work(&mut self) -> Option<&mut dyn WithheldWork> {
        None
    }

    fn history_keeper(&mut self) -> Option<&mut dyn HistoryKeeper> {
        None
    }

    fn lifetime(&self) -> ThreadLifetime {
        ThreadLifetime::Driver
    }

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        let turn_id = self.world.lock().unwrap().takes(items);
        // The driver may die here.
        yield_now().await;
        match self.world.lock().unwrap().is_silent {
            true => Err(HostError::Silent { method: "turn/start", seconds: 60 }),
            false => Ok(turn_id),
        }
    }

    async fn steer(&mut self, _text: &str) -> Result<String, HostError> {
        Err(HostError::NoTurn)
    }

    async fn compact(&mut self, _order: &CompactionOrder) -> Result<(), HostError> {
        self.world.lock().unwrap().compacts();
        yield_now().await;
        Ok(())
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        Err(HostError::NoTurn)
    }

    async fn sample(&mut self, _question: ModelQuestion) -> Result<(), HostError> {
        Err(HostError::Unable { what: "sample" })
    }

    async fn judge(&mut self, _question: ModelQuestion) -> Result<(), HostError> {
        Err(HostError::Unable { what: "judge" })
    }

    async fn recorded_outcome(
        &mut self,
        asked: &PendingAction,
    ) -> Result<RecordedOutcome, HostError> {
        Ok(fate(&self.world.lock().unwrap().turns, asked, true))
    }

    async fn next_event(&mut self) -> HostEvent {
        let event = self.world.lock().unwrap().untold.pop_front();
        match event {
            Some(event) => event,
            // All that happens is asked for.
            None => std::future::pending().await,
        }
    }

    async fn close(self: Box<Self>) {}
}

/// Real sidecars in this process, one after the other.
#[derive(Clone)]
struct Real {
    home: PathBuf,
    last: Arc<Mutex<Option<JoinHandle<()>>>>,
}

#[async_trait]
impl Launch for Real {
    async fn launch(&self) -> Result<SidecarClient, SidecarError> {
        // It owns the thread until it notices the end of its client.
        let before = self.last.lock().unwrap().take();
        if let Some(before) = before {
            before.await.unwrap();
        }
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let (input, output) = tokio::io::split(theirs);
        let serves = tokio::task::spawn_local(async {
            drop(rawr_server::serve_on(input, output, None).await);
        });
        *self.last.lock().unwrap() = Some(serves);
        let (reader, writer) = tokio::io::split(ours);
        let mut sidecar = SidecarClient::over(reader, writer);
        sidecar.greet("rawr exec", Some(&self.home), &Map::new()).await?;
        Ok(sidecar)
    }
}

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
    let real = Real { home: home.path().to_owned(), last: Arc::default() };
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
