//! Tests of the driver with the embedded agent and a fake sidecar.

mod cut;
mod deaths;
mod fake;
mod inside;
mod judge;
mod leaving;
mod outage;
mod random;
mod refused;
mod typed;
mod world;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::fake::{Do, Fake, Life, opened};
use super::*;
use crate::event::{JsonLines, SessionEvent};
use crate::host::embedded::{
    CompactionPrompts, Embedded, EmbeddedSettings, Scene, SceneCue, Script, ScriptLine, Tool,
};
use crate::host::{HostError, HostEvent, ThreadOrigin};
use crate::sidecar::SidecarError;

/// Most tests end a turn and expect the compaction at once.
fn compact_at_turn_end(home: &Path) {
    let spec = "[rawr_auto_compaction]\npreset = \"spec\"\n";
    std::fs::write(home.join("config.toml"), spec).unwrap();
}

/// Answers every message; works on the message "work" until it is stopped.
fn agent(folder: &TempDir) -> Embedded {
    let scene = |cue, line: ScriptLine| Scene { cue, replies: vec![line] };
    let scenes = vec![
        scene(SceneCue::Summary, ScriptLine::says("summary")),
        scene(SceneCue::words("packet"), ScriptLine::says("the packet")),
        scene(SceneCue::words("work"), ScriptLine::does([shell("sleep 60")])),
        scene(SceneCue::Anything, ScriptLine::says("done")),
    ];
    start(folder, scenes, 1000)
}

fn shell(command: &str) -> Tool {
    Tool::Shell { command: command.to_owned(), timeout_seconds: None }
}

fn start(folder: &TempDir, scenes: Vec<Scene>, context_window: u64) -> Embedded {
    Embedded::start(settings(folder, context_window), Script::new(scenes))
}

fn settings(folder: &TempDir, context_window: u64) -> EmbeddedSettings {
    EmbeddedSettings {
        cwd: folder.path().to_owned(),
        environment: Vec::new(),
        hidden: Vec::new(),
        pretended: Some("git"),
        context_window,
        instructions: String::new(),
        prompts: CompactionPrompts { compact: String::new(), summary_prefix: String::new() },
        pace: Duration::ZERO,
        estimate_every: None,
    }
}

#[derive(Clone, Default)]
struct SharedReport(Arc<Mutex<Vec<u8>>>);

impl Reporter for SharedReport {
    fn report(&mut self, event: &SessionEvent<'_>) -> io::Result<()> {
        JsonLines.write(event, &mut *self.0.lock().unwrap())
    }
}

struct Done {
    heard: String,
    events: Vec<Value>,
    ended: Result<SessionResult, DriveError>,
}

async fn run(prompts: &[&str], lives: Vec<Life>, stop_when: Option<&'static str>) -> Done {
    let folder = TempDir::new().unwrap();
    run_on(agent(&folder), prompts, lives, stop_when).await
}

async fn run_on(
    host: impl AgentHost + 'static,
    prompts: &[&str],
    lives: Vec<Life>,
    stop_when: Option<&'static str>,
) -> Done {
    let fake = Fake::new(lives);
    let heard = Arc::clone(&fake.heard);
    let done = run_with(host, fake, prompts, stop_when).await;
    Done { heard: heard.lock().unwrap().clone(), ..done }
}

/// With this sidecar. What it hears is not recorded here.
async fn run_with(
    host: impl AgentHost + 'static,
    launch: impl Launch + 'static,
    prompts: &[&str],
    stop_when: Option<&'static str>,
) -> Done {
    let page = SharedReport::default();
    let mut reporter = page.clone();
    let mut prompts = PromptQueue::known(prompts.iter().map(|&prompt| prompt.to_owned()));
    let (ask, mut stop) = StopRequest::by_hand();
    if let Some(event) = stop_when {
        let page = page.clone();
        tokio::spawn(async move {
            while !String::from_utf8_lossy(&page.0.lock().unwrap()).contains(event) {
                tokio::task::yield_now().await;
            }
            ask.send_replace(Some(130));
        });
    }
    let sidecar = launch.launch().await.unwrap();
    let ended = match Drive::open(host, launch, sidecar, &mut reporter).await {
        Ok(drive) => drive.run(&mut prompts, &mut stop).await,
        Err(error) => Err(error),
    };
    let page = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
    let events = page.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Done { heard: String::new(), events, ended }
}

async fn check(prompts: &[&str], lives: Vec<Life>, expected: Expect) -> Done {
    let done = run(prompts, lives, None).await;
    assert!(done.ended.is_ok(), "{:?}", done.ended);
    expected.assert_eq(&done.heard);
    done
}

fn events_of<'d>(done: &'d Done, event: &str) -> Vec<&'d Value> {
    done.events.iter().filter(|line| line["event"] == event).collect()
}

fn life(does: impl FnMut(&str, &Value) -> Option<Vec<Do>> + Send + 'static) -> Life {
    Box::new(does)
}

fn plainly() -> Life {
    life(|_, _| None)
}

/// Sends this at the first end of a turn, and otherwise gives default answers.
fn at_turn_end(steps: impl FnOnce(&Value) -> Vec<Do> + Send + 'static) -> Life {
    let mut steps = Some(steps);
    life(move |method, params| {
        let steps = (method == "rawr/turn/completed").then(|| steps.take()).flatten()?;
        let mut steps = steps(&params["threadId"]);
        steps.push(Do::Answer(json!({
            "verdict": {"decisionId": "d1", "outcome": "nothing", "reason": "quiet"},
        })));
        Some(steps)
    })
}

fn perform(thread: &Value, action_id: &str, action: Value) -> Do {
    let params = json!({
        "threadId": thread,
        "sequenceId": "s1",
        "actionId": action_id,
        "action": action,
    });
    Do::Note("rawr/action/perform", params)
}

fn inject(purpose: &str, text: &str) -> Value {
    json!({"kind": "inject_turn", "purpose": purpose, "text": text, "marker": "[m]", "viaSteer": false})
}

fn compact() -> Value {
    json!({"kind": "compact", "trigger": {"kind": "user"}})
}

#[tokio::test]
async fn a_prompt_is_submitted_started_and_reported() {
    check(
        &["hello"],
        vec![plainly()],
        expect![[r#"
            thread/open
            input/submit hello
            turn/started user turn-1 hello
            turn/usage turn-1
            turn/completed completed turn-1
            thread/close
        "#]],
    )
    .await;
}

/// Two commands of one turn have two signal ids; a repeated command has the same id.
#[tokio::test]
async fn a_command_is_reported_under_its_turn_and_tool_call() {
    let folder = TempDir::new().unwrap();
    let replies = vec![ScriptLine::does([shell("true"), shell("true")]), ScriptLine::says("done")];
    let host = start(&folder, vec![Scene { cue: SceneCue::Anything, replies }], 1000);
    let signals: Arc<Mutex<Vec<Value>>> = Arc::default();
    let told = Arc::clone(&signals);
    let listening = life(move |method, params| {
        if method == "rawr/signal/report" {
            told.lock().unwrap().push(params.clone());
        }
        None
    });
    let done = run_on(host, &["work"], vec![listening], None).await;
    assert!(done.ended.is_ok(), "{:?}", done.ended);
    let signals = signals.lock().unwrap();
    let of = |kind: &str| -> Vec<_> {
        signals.iter().filter(|params| params["signal"]["kind"] == kind).collect()
    };
    let calls: Vec<_> = of("tool_finished")
        .iter()
        .map(|params| format!("turn-1 {}", params["signal"]["callId"].as_str().unwrap()))
        .collect();
    let named: Vec<_> = of("command_finished").iter().map(|params| &params["signalId"]).collect();
    assert_eq!(named.len(), 2);
    assert_eq!(named, calls.iter().collect::<Vec<_>>(), "{signals:?}");
    assert_ne!(calls[0], calls[1]);
}

#[tokio::test]
async fn an_injected_turn_is_accepted_and_then_completed_with_its_text() {
    let lives = vec![at_turn_end(|thread| {
        vec![perform(thread, "a1", inject("packet_request", "packet please"))]
    })];
    let done = check(
        &["hello"],
        lives,
        expect![[r#"
        thread/open
        input/submit hello
        turn/started user turn-1 hello
        turn/usage turn-1
        turn/completed completed turn-1
        action/report accepted a1 turn-2
        turn/started synthetic a1 turn-2
        turn/usage turn-2
        turn/completed completed turn-2
        action/report completed a1 turn-2 the packet
        thread/close
    "#]],
    )
    .await;
    let injected = events_of(&done, "injected");
    assert_eq!((injected.len(), &injected[0]["sequenceId"]), (1, &json!("s1")));
}

#[tokio::test]
async fn an_action_asked_for_twice_is_carried_out_once() {
    let lives = vec![at_turn_end(|thread| {
        let again = || perform(thread, "a1", inject("handoff", "packet back"));
        vec![again(), again()]
    })];
    check(
        &["hello"],
        lives,
        expect![[r#"
        thread/open
        input/submit hello
        turn/started user turn-1 hello
        turn/usage turn-1
        turn/completed completed turn-1
        action/report accepted a1 turn-2
        turn/started synthetic a1 turn-2
        turn/usage turn-2
        turn/completed completed turn-2
        action/report completed a1 turn-2 the packet
        thread/close
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_compaction_waits_for_an_idle_host_and_is_reported_as_both() {
    let lives = vec![at_turn_end(|thread| {
        vec![perform(thread, "a1", inject("handoff", "hold on")), perform(thread, "a2", compact())]
    })];
    let done = check(
        &["hello"],
        lives,
        expect![[r#"
            thread/open
            input/submit hello
            turn/started user turn-1 hello
            turn/usage turn-1
            turn/completed completed turn-1
            action/report accepted a1 turn-2
            turn/started synthetic a1 turn-2
            turn/usage turn-2
            turn/completed completed turn-2
            action/report completed a1 turn-2 done
            capsule/attach
            packet/get
            action/report accepted a2
            compaction/report rawr started a2 26
            compaction/report rawr completed a2 26 22
            action/report completed a2 turn-3
            thread/close
        "#]],
    )
    .await;
    assert_eq!(events_of(&done, "packet").len(), 1);
}

#[tokio::test]
async fn held_input_comes_back_as_its_own_item_and_once() {
    let lives = vec![life(|method, params| match method {
        "rawr/input/submit" if params["text"] == "second" => Some(vec![
            Do::Answer(json!({"disposition": "held"})),
            perform(
                &params["threadId"],
                "a1",
                json!({
                    "kind": "deliver_input",
                    "inputId": params["inputId"],
                    "items": [{"role": "handoff", "text": "packet back"}, {"role": "input", "text": "second"}],
                }),
            ),
        ]),
        _ => None,
    })];
    let done = check(
        &["first", "second"],
        lives,
        expect![[r#"
        thread/open
        input/submit first
        turn/started user turn-1 first
        turn/usage turn-1
        turn/completed completed turn-1
        input/submit second
        action/report accepted a1 turn-2
        turn/started user a1 turn-2 second
        turn/usage turn-2
        turn/completed completed turn-2
        action/report completed a1 turn-2 done
        thread/close
    "#]],
    )
    .await;
    assert_eq!(events_of(&done, "input_held").len(), 1);
    let texts: Vec<_> = events_of(&done, "user_message").iter().map(|line| &line["text"]).collect();
    assert_eq!(texts, ["first", "second"]);
}

#[tokio::test]
async fn notifications_before_an_answer_are_handled_first() {
    let lives = vec![life(|method, params| {
        let changed = |phase: &str| {
            let params = json!({"threadId": params["threadId"], "phase": phase, "guards": []});
            Do::Note("rawr/thread/changed", params)
        };
        (method == "rawr/input/submit").then(|| {
            vec![
                changed("deferred"),
                Do::Note("rawr/future/thing", json!({"new": true})),
                Do::Note("rawr/action/perform", json!({"actionId": "?"})),
                Do::Answer(json!({"disposition": "deliver"})),
                changed("idle"),
            ]
        })
    })];
    let done = run(&["hello"], lives, None).await;
    let order: Vec<_> = done.events.iter().filter_map(|line| line["event"].as_str()).collect();
    expect![[r#"
        session
        thread_changed
        notice
        user_message
        thread_changed
        turn_started
        agent_message
        usage
        turn_completed"#]]
    .assert_eq(&order.join("\n"));
}

#[tokio::test]
async fn a_second_sidecar_takes_over_where_the_first_one_died() {
    let mut asked = false;
    let dying = life(move |method, params| match method {
        "rawr/turn/completed" if !std::mem::replace(&mut asked, true) => Some(vec![
            perform(&params["threadId"], "a1", inject("packet_request", "packet please")),
            Do::Answer(json!({
                "verdict": {"decisionId": "d1", "outcome": "compact", "reason": "full", "sequenceId": "s1"},
            })),
        ]),
        "rawr/turn/completed" => Some(vec![Do::HangUp]),
        _ => None,
    });
    let heir = life(|method, params| {
        let pending = json!([
            {"actionId": "a1", "sequenceId": "s1", "kind": "inject_turn", "purpose": "packet_request", "text": "packet please", "marker": "[m]", "viaSteer": false},
            {"actionId": "a2", "sequenceId": "s1", "kind": "inject_turn", "purpose": "handoff", "text": "on you go", "marker": "[m]", "viaSteer": false},
        ]);
        (method == "rawr/thread/open")
            .then(|| vec![Do::Answer(opened(&params["threadId"], &pending))])
    });
    let done = check(
        &["hello"],
        vec![dying, heir],
        expect![[r#"
        thread/open
        input/submit hello
        turn/started user turn-1 hello
        turn/usage turn-1
        turn/completed completed turn-1
        action/report accepted a1 turn-2
        turn/started synthetic a1 turn-2
        turn/usage turn-2
        turn/completed completed turn-2
        thread/open
        turn/completed completed turn-2
        action/report completed a1 turn-2 the packet
        action/report completed a1 turn-2 the packet
        action/report accepted a2 turn-3
        turn/started synthetic a2 turn-3
        turn/usage turn-3
        turn/completed completed turn-3
        action/report completed a2 turn-3 done
        thread/close
    "#]],
    )
    .await;
    let restarted = events_of(&done, "sidecar_restarted");
    assert_eq!((restarted.len(), &restarted[0]["pendingActions"]), (1, &json!(2)));
}

#[tokio::test]
async fn a_sidecar_that_dies_twice_ends_the_session() {
    let dying = || life(|method, _| (method == "rawr/turn/started").then(|| vec![Do::HangUp]));
    let done = run(&["hello"], vec![dying(), dying()], None).await;
    assert!(matches!(done.ended, Err(DriveError::SidecarEndedAgain(_))), "{:?}", done.ended);
}

/// A session may last for days.
#[tokio::test]
async fn a_sidecar_that_dies_after_a_quiet_time_is_started_again() {
    let dies_in = |turn: &'static str| {
        life(move |method, params| {
            (method == "rawr/turn/started" && params["turnId"] == turn).then(|| vec![Do::HangUp])
        })
    };
    let folder = TempDir::new().unwrap();
    let fake = Fake::new([dies_in("turn-1"), dies_in("turn-2"), plainly()]);
    let mut reporter = SharedReport::default();
    let mut prompts = PromptQueue::known(["hello", "again"].map(str::to_owned));
    let (_ask, mut stop) = StopRequest::by_hand();
    let sidecar = fake.launch().await.unwrap();
    let (quiet, host) = (Duration::ZERO, agent(&folder));
    let drive = Drive::open_with(quiet, host, fake, sidecar, &mut reporter).await;
    let drive = drive.map_err(|error| error.to_string()).unwrap();
    let ended = drive.run(&mut prompts, &mut stop).await;
    assert_eq!(ended.unwrap().ended, SessionEnd::Finished);
}

#[tokio::test]
async fn a_refused_report_does_not_stop_the_session() {
    let refusing = life(|method, _| {
        let refused = ["rawr/input/submit", "rawr/turn/usage", "rawr/turn/completed"];
        refused.contains(&method).then(|| vec![Do::Refuse])
    });
    let done = run(&["hello"], vec![refusing], None).await;
    assert!(done.ended.is_ok(), "{:?}", done.ended);
    let notices: Vec<_> = events_of(&done, "notice").iter().map(|line| &line["message"]).collect();
    assert_eq!(notices.len(), 3, "{notices:?}");
    assert_eq!(notices[0], "rawr/input/submit: the disk is full: make room");
    assert_eq!(events_of(&done, "agent_message").len(), 1);
}

#[tokio::test]
async fn stopping_a_session_interrupts_its_turn() {
    let done = run(&["work", "never said"], vec![plainly()], Some("tool_started")).await;
    assert_eq!(done.ended.unwrap().ended, SessionEnd::Stopped);
    expect![[r#"
        thread/open
        input/submit work
        turn/started user turn-1 work
        signal/report tool_started turn-1
        signal/report tool_finished turn-1
        turn/usage turn-1
        turn/completed interrupted turn-1
        thread/close
    "#]]
    .assert_eq(&done.heard);
}
