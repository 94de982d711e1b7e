//! Cuts the connection to the real sidecar at every point of a session: each action is still carried out once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::StreamExt;
use rawr_protocol::framing::{Frame, Framing};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::io::{AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::task::LocalSet;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Encoder, FramedRead};

use super::*;
use crate::host::SummaryTuning;
use crate::host::embedded::{
    AgentItem, DeltaSink, Model, ModelError, ModelRequest, SampleReply as ModelReply,
};

/// What is lost when the connection is cut.
#[derive(Debug, Clone, Copy)]
enum Loss {
    /// The request never reached it.
    Request,
    /// The sidecar handled the request, and its answer was lost.
    Answer,
}

/// Sidecars in this process. The connection of the first one is cut at this request.
struct Cut {
    home: PathBuf,
    at: usize,
    loss: Loss,
    lives: AtomicUsize,
    requests: Arc<AtomicUsize>,
}

#[async_trait]
impl Launch for Cut {
    async fn launch(&self) -> Result<SidecarClient, SidecarError> {
        let first = self.lives.fetch_add(1, Ordering::Relaxed) == 0;
        let at = if first { self.at } else { usize::MAX };
        let (ours, outside) = tokio::io::duplex(1024 * 1024);
        tokio::task::spawn_local(serve(outside, at, self.loss, Arc::clone(&self.requests)));
        let (reader, writer) = tokio::io::split(ours);
        let mut sidecar = SidecarClient::over(reader, writer);
        sidecar.greet("rawr exec", Some(&self.home), &Map::new()).await?;
        Ok(sidecar)
    }
}

/// A sidecar behind a pipe that breaks.
async fn serve(outside: DuplexStream, at: usize, loss: Loss, requests: Arc<AtomicUsize>) {
    let (from_client, mut to_client) = tokio::io::split(outside);
    let mut from_client = FramedRead::new(from_client, Framing::new());
    let (inside, server) = tokio::io::duplex(1024 * 1024);
    let (input, output) = tokio::io::split(server);
    let (from_server, mut to_server) = tokio::io::split(inside);
    let mut from_server = FramedRead::new(from_server, Framing::new());
    let pump = async {
        let mut lost_id = None;
        loop {
            tokio::select! {
                frame = from_client.next() => {
                    let Some(Ok(Frame::Message(body))) = frame else { return };
                    let message: Value = serde_json::from_slice(&body).unwrap();
                    if message["method"].as_str().is_some_and(|method| method.starts_with("rawr/"))
                        && requests.fetch_add(1, Ordering::Relaxed) + 1 == at
                    {
                        match loss {
                            Loss::Request => return,
                            Loss::Answer => lost_id = Some(message["id"].clone()),
                        }
                    }
                    send(&mut to_server, &body).await;
                }
                frame = from_server.next() => {
                    let Some(Ok(Frame::Message(body))) = frame else { return };
                    match &lost_id {
                        None => send(&mut to_client, &body).await,
                        Some(id) => {
                            let message: Value = serde_json::from_slice(&body).unwrap();
                            if message.get("method").is_none() && message["id"] == *id {
                                return;
                            }
                        }
                    }
                }
            }
        }
    };
    tokio::select! {
        () = pump => {}
        _ = rawr_server::serve_on(input, output, None) => {}
    }
}

async fn send(to: &mut (impl AsyncWrite + Unpin), body: &[u8]) {
    let mut buffer = BytesMut::new();
    Framing::new().encode(body, &mut buffer).unwrap();
    // A failed send means that the other side has ended.
    let _ = to.write_all_buf(&mut buffer).await;
}

/// A script, and its numbers of summaries and judgments.
struct Counting {
    script: Script,
    summaries: Arc<AtomicUsize>,
    judgments: Arc<AtomicUsize>,
}

impl Model for Counting {
    fn name(&self) -> &str {
        self.script.name()
    }

    async fn sample(
        &self,
        history: &[AgentItem],
        want: ModelRequest<'_>,
        hear: DeltaSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        let is_summary = matches!(want, ModelRequest::Summary { .. });
        let is_judgment = matches!(want, ModelRequest::Judgment { .. });
        self.summaries.fetch_add(usize::from(is_summary), Ordering::Relaxed);
        self.judgments.fetch_add(usize::from(is_judgment), Ordering::Relaxed);
        self.script.sample(history, want, hear).await
    }

    async fn rewrite(
        &self,
        history: &[AgentItem],
        tuning: &SummaryTuning,
    ) -> Option<Result<Vec<AgentItem>, ModelError>> {
        self.script.rewrite(history, tuning).await
    }
}

/// Runs one session and checks its result.
struct CutCase {
    scenes: fn() -> Vec<Scene>,
    context_window: u64,
    config: &'static str,
    prompts: &'static [&'static str],
    injected: usize,
    handoffs: usize,
    agent_messages: usize,
    judgments: usize,
}

const PACKET: &str = "<continuation_packet>State: working\nGoal: the parser\nDecisions: none\nNext: the docs</continuation_packet>";

fn scene(cue: SceneCue, replies: Vec<ScriptLine>) -> Scene {
    Scene { cue, replies }
}

/// Fills a third of its window and commits; continues after the handoff.
const TURN_END: CutCase = CutCase {
    scenes: || {
        let long = "The parser reads what it should read. ".repeat(40);
        let done = ScriptLine::says("The parser is committed, and it can be looked at.");
        vec![
            scene(SceneCue::Summary, vec![ScriptLine::says("a summary")]),
            scene(SceneCue::words(":packet_request]"), vec![ScriptLine::says(PACKET)]),
            scene(SceneCue::words(":handoff]"), vec![ScriptLine::says("I go on with the docs.")]),
            scene(
                SceneCue::words("parser"),
                vec![ScriptLine::says(long).and([shell("git commit -m x")]), done],
            ),
            scene(SceneCue::Anything, vec![ScriptLine::says("Here you are.")]),
        ]
    },
    context_window: 1200,
    config: "",
    prompts: &["write the parser", "thank you"],
    injected: 1,
    handoffs: 1,
    agent_messages: 5,
    judgments: 0,
};

/// Like `TURN_END`, with a judge that is asked first.
const JUDGED: CutCase = CutCase {
    scenes: || {
        let yes = r#"{"should_compact": true, "reason": "all is committed"}"#;
        let mut scenes = (TURN_END.scenes)();
        scenes.push(scene(SceneCue::Judgment, vec![ScriptLine::says(yes)]));
        scenes
    },
    config: "[rawr_auto_compaction]\npolicy.ready.decision_prompt_path = \"judgment.md\"\npolicy.asap.decision_prompt_path = \"judgment.md\"\n",
    // Whether a second message would wait for the judge depends on timing.
    prompts: &["write the parser"],
    agent_messages: 4,
    judgments: 1,
    ..TURN_END
};

/// Fills its window inside a turn.
const MID_TURN: CutCase = CutCase {
    scenes: || {
        let long = "The parser reads what it should read. ".repeat(110);
        let work = || ScriptLine::does([shell("git status")]);
        vec![
            scene(SceneCue::Summary, vec![ScriptLine::says("a summary")]),
            scene(SceneCue::words(":packet_request]"), vec![ScriptLine::says(PACKET)]),
            scene(
                SceneCue::words(":handoff]"),
                vec![work(), ScriptLine::says("I went on with the docs.")],
            ),
            scene(
                SceneCue::words("parser"),
                vec![
                    work(),
                    ScriptLine::says(long).and([shell("git status")]),
                    work(),
                    ScriptLine::says("All done."),
                ],
            ),
            scene(SceneCue::Anything, vec![ScriptLine::says("Here you are.")]),
        ]
    },
    context_window: 1200,
    config: "",
    prompts: &["write the parser", "thank you"],
    injected: 1,
    handoffs: 1,
    agent_messages: 4,
    judgments: 0,
};

/// Like `MID_TURN`, without rawr's own decisions.
const INLINE: CutCase = CutCase {
    scenes: || {
        let long = "The parser reads what it should read. ".repeat(110);
        let work = || ScriptLine::does([shell("git status")]);
        vec![
            scene(SceneCue::Summary, vec![ScriptLine::says("a summary")]),
            scene(SceneCue::words("a summary"), vec![work(), ScriptLine::says("All done.")]),
            scene(
                SceneCue::words("parser"),
                vec![ScriptLine::says(long).and([shell("git status")]), work()],
            ),
            scene(SceneCue::Anything, vec![ScriptLine::says("Here you are.")]),
        ]
    },
    context_window: 1200,
    config: "[features]\nrawr_auto_compaction = false\n[auto_compact]\nenabled = true\n",
    prompts: &["write the parser", "thank you"],
    injected: 0,
    handoffs: 0,
    agent_messages: 3,
    judgments: 0,
};

/// Returns how many requests the session made.
async fn check(case: &CutCase, at: usize, loss: Loss) -> usize {
    let (home, folder, page) =
        (TempDir::new().unwrap(), TempDir::new().unwrap(), SharedReport::default());
    compact_at_turn_end(home.path());
    std::fs::write(home.path().join("rawr.toml"), case.config).unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let cut = Cut {
        home: home.path().to_owned(),
        at,
        loss,
        lives: AtomicUsize::new(0),
        requests: Arc::clone(&requests),
    };
    let (summaries, judgments) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let model = Counting {
        script: Script::new((case.scenes)()),
        summaries: Arc::clone(&summaries),
        judgments: Arc::clone(&judgments),
    };
    let host = Embedded::start(settings(&folder, case.context_window), model);
    let mut reporter = page.clone();
    let mut prompts = PromptQueue::known(case.prompts.iter().map(|&prompt| prompt.to_owned()));
    let (_ask, mut stop) = StopRequest::by_hand();
    let sidecar = cut.launch().await.unwrap();
    let drive = Drive::open(host, cut, sidecar, &mut reporter).await.unwrap();
    let ended = drive.run(&mut prompts, &mut stop).await;
    let page = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
    let count = |words: &str| page.lines().filter(|line| line.contains(words)).count();
    let counts = [
        ("user_message", case.prompts.len()),
        ("injected", case.injected),
        ("handoff", case.handoffs),
        ("agent_message", case.agent_messages),
    ];
    for (event, expected) in counts {
        let found = count(&format!("{{\"event\":\"{event}\""));
        assert_eq!(found, expected, "{event}, cut at {at}, {loss:?}:\n{page}");
    }
    let asked = [summaries, judgments].map(|count| count.load(Ordering::Relaxed));
    let outcome = (asked, ended.is_ok());
    let expected = ([1, case.judgments], true);
    assert_eq!(outcome, expected, "cut at {at}, {loss:?}: {ended:?}\n{page}");
    requests.load(Ordering::Relaxed)
}

async fn check_everywhere(case: &CutCase) {
    let everywhere = async {
        let whole = check(case, usize::MAX, Loss::Request).await;
        assert!(whole > 15, "{whole} requests");
        for at in 1..=whole {
            check(case, at, Loss::Request).await;
            check(case, at, Loss::Answer).await;
        }
    };
    LocalSet::new().run_until(everywhere).await;
}

#[tokio::test]
async fn losing_the_sidecar_at_any_point_loses_nothing() {
    check_everywhere(&TURN_END).await;
}

#[tokio::test]
async fn losing_the_sidecar_around_a_judgment_loses_nothing() {
    check_everywhere(&JUDGED).await;
}

#[tokio::test]
async fn losing_the_sidecar_inside_a_turn_loses_nothing() {
    check_everywhere(&MID_TURN).await;
}

#[tokio::test]
async fn losing_the_sidecar_around_an_inline_compaction_loses_nothing() {
    check_everywhere(&INLINE).await;
}
