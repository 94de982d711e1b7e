//! A thread whose tiers all ask a judge, in a real sidecar, with its notifications as text.

pub use crate::fixture::THREAD;
use expect_test::Expect;
use rawr_protocol::methods::{
    ActionPerform, ActionReport, DecisionExplain, DecisionRecorded, InputSubmit, JudgmentAnswer,
    JudgmentRequested, JudgmentResult, LogMessage, SequenceHeadsUp, SignalReport, ThreadChanged,
    ThreadGet, ThreadOpen, TurnCompleted, TurnStarted,
};
use rawr_protocol::{
    Action, ActionPerformNotification, ActionReportParams, ActionStatus, Decision,
    DecisionExplainParams, Disposition, HostCapabilities, InputKind, InputSubmitParams,
    JudgmentAnswerParams, JudgmentResultNotification, JudgmentTotals, Notification, Outcome, Role,
    Signal, SignalReportParams, ThreadGetParams, ThreadGetResult, ThreadOpenParams,
    ThreadOpenResult, Tier, TokenUsage, TurnCompletedParams, TurnOrigin, TurnStartedParams,
    TurnStatus, Verdict,
};
use rawr_tests::mock_endpoint::{Mock, ScriptedReply, by_chat, by_responses};
use rawr_tests::sidecar::Note;
use rawr_tests::{LaunchOptions, StandIn, TestHome, TestSidecar};
use serde_json::Value;

pub const YES: &str = r#"{"should_compact": true, "reason": "the parser is committed"}"#;
pub const NO: &str = r#"{"should_compact": false, "reason": "a test is being repaired"}"#;
/// Not detectable as a secret.
pub const KEY: &str = "correct-horse-battery";
/// The agent's message at the end of each turn.
pub const SAID: &str = "I looked at the parser; heliotrope stays out of it.";

/// The APIs of endpoints.
#[derive(Debug, Clone, Copy)]
pub enum TestedApi {
    Responses,
    Chat,
}

pub const WIRES: [TestedApi; 2] = [TestedApi::Responses, TestedApi::Chat];

impl TestedApi {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Responses => "responses",
            Self::Chat => "chat",
        }
    }

    /// The reply of an endpoint whose model answered `text`.
    pub fn said(self, text: &str) -> ScriptedReply {
        match self {
            Self::Responses => by_responses(text),
            Self::Chat => by_chat(text),
        }
    }
}

/// The notifications must be the same with both APIs, each named `<wire>`.
pub fn on_both_wires(told: impl Fn(TestedApi) -> String, expected: Expect) {
    let [responses, chat] = WIRES.map(told);
    assert_eq!(responses, chat);
    expected.assert_eq(&chat);
}

/// The usage of the window, and a boundary of that tier.
#[derive(Debug, Clone, Copy)]
pub enum TierPressure {
    Early,
    Ready,
    Asap,
    Emergency,
}

impl TierPressure {
    /// Used tokens of 100,000.
    const fn tokens(self) -> u64 {
        match self {
            Self::Early => 20_000,
            Self::Ready => 30_000,
            Self::Asap => 50_000,
            Self::Emergency => 90_000,
        }
    }

    fn signal(self) -> Signal {
        match self {
            Self::Early => Signal::PrCheckpoint { action: "opened".to_owned(), url: None },
            _ => Signal::Commit { hash: None, subject: Some("Add the parser".to_owned()) },
        }
    }
}

/// Lines of the `rawr_auto_compaction` table that make every tier ask the judge.
pub fn policy(lines: &[String]) -> String {
    let prompts = ["early", "ready", "asap", "emergency"]
        .map(|tier| format!("policy.{tier}.decision_prompt_path = \"judgment.md\"\n"));
    format!("[rawr_auto_compaction]\n{}{}\n", prompts.concat(), lines.join("\n"))
}

/// Lines that configure an endpoint, with one request and no pause unless `more` changes that.
pub fn to_endpoint(wire: TestedApi, origin: &str, more: &[&str]) -> Vec<String> {
    let mut lines = vec![
        format!("judgment.backend = \"{}\"", wire.name()),
        "judgment.model = \"judge-1\"".to_owned(),
        format!("judgment.base_url = \"{origin}/v1\""),
        "judgment.api_key_env = \"JUDGE_KEY\"".to_owned(),
    ];
    lines.extend(more.iter().map(|&line| line.to_owned()));
    lines
}

/// A sidecar on a home, with a host that only does what the test says.
pub struct JudgmentFixture {
    pub home: TestHome,
    pub sidecar: TestSidecar,
    pub can_judge: bool,
    turns: u32,
}

impl JudgmentFixture {
    /// The judge is an endpoint.
    pub fn on(endpoint: &Mock, wire: TestedApi, more: &[&str]) -> Self {
        Self::configured(to_endpoint(wire, endpoint.origin(), more), false)
    }

    /// The judge is the host.
    pub fn on_host(more: &[&str]) -> Self {
        let mut lines = vec!["judgment.backend = \"host\"".to_owned()];
        lines.extend(more.iter().map(|&line| line.to_owned()));
        Self::configured(lines, true)
    }

    pub fn configured(lines: Vec<String>, can_judge: bool) -> Self {
        let home = TestHome::new();
        home.configure(&policy(&lines));
        let sidecar = launch(&home);
        let mut lab = Self { home, sidecar, can_judge, turns: 0 };
        lab.open();
        lab
    }

    pub fn opening(&self, role: Role) -> ThreadOpenParams {
        let mut opening = StandIn::new(THREAD).opening(&self.home, role);
        let can = opening.host.capabilities;
        opening.host.capabilities = HostCapabilities { judge: self.can_judge, ..can };
        opening.context_window = Some(100_000);
        opening
    }

    pub fn open(&mut self) -> ThreadOpenResult {
        let opening = self.opening(Role::Owner);
        self.sidecar.call::<ThreadOpen>(&opening)
    }

    /// Kills this sidecar and starts another one.
    pub fn lose_the_sidecar(&mut self) -> ThreadOpenResult {
        self.sidecar.take_notes();
        self.sidecar.kill();
        self.sidecar.take_notes();
        self.sidecar = launch(&self.home);
        self.open()
    }

    /// A turn of the user that ends at a boundary.
    pub fn turn(&mut self, at: TierPressure) -> Verdict {
        self.turn_of(THREAD, at)
    }

    pub fn turn_of(&mut self, thread: &str, at: TierPressure) -> Verdict {
        let turn = self.next_turn();
        self.start_turn(thread, &turn, None, "Write the parser");
        self.sidecar.call::<SignalReport>(&SignalReportParams {
            thread_id: thread.to_owned(),
            turn_id: Some(turn.clone()),
            signal_id: None,
            signal: at.signal(),
        });
        self.end_turn(thread, &turn, at.tokens())
    }

    fn next_turn(&mut self) -> String {
        self.turns += 1;
        format!("t{}", self.turns)
    }

    fn start_turn(&mut self, thread: &str, turn: &str, action: Option<&str>, text: &str) {
        self.sidecar.call::<TurnStarted>(&TurnStartedParams {
            thread_id: thread.to_owned(),
            turn_id: turn.to_owned(),
            origin: TurnOrigin::User,
            action_id: action.map(str::to_owned),
            text: Some(text.to_owned()),
        });
    }

    fn end_turn(&mut self, thread: &str, turn: &str, context_tokens: u64) -> Verdict {
        let usage = TokenUsage {
            context_tokens,
            input_tokens: None,
            cached_input_tokens: None,
            output_tokens: None,
            reasoning_tokens: None,
            cache_seconds: None,
        };
        let completed = TurnCompletedParams {
            thread_id: thread.to_owned(),
            turn_id: turn.to_owned(),
            status: TurnStatus::Completed,
            failure: None,
            last_agent_message: Some(SAID.to_owned()),
            usage: Some(usage),
            queued_inputs: None,
            review_mode: None,
        };
        self.sidecar.call::<TurnCompleted>(&completed).verdict
    }

    pub fn submit(&mut self, input: &str, kind: InputKind) -> Disposition {
        let params = InputSubmitParams {
            thread_id: THREAD.to_owned(),
            input_id: input.to_owned(),
            text: format!("message {input}"),
            kind,
        };
        self.sidecar.call::<InputSubmit>(&params).disposition
    }

    /// A held message is delivered and starts a turn that ends under the same pressure. Returns its texts.
    pub fn deliver(&mut self, asked: &ActionPerformNotification) -> Vec<String> {
        let Action::DeliverInput { items, .. } = &asked.action else { panic!("{asked:?}") };
        let turn = self.next_turn();
        self.report(&asked.action_id, ActionStatus::Accepted, Some(&turn), None);
        let texts: Vec<_> = items.iter().map(|item| item.text.clone()).collect();
        self.start_turn(THREAD, &turn, Some(&asked.action_id), &texts.concat());
        self.end_turn(THREAD, &turn, TierPressure::Ready.tokens());
        texts
    }

    pub fn report(
        &mut self,
        action: &str,
        status: ActionStatus,
        turn: Option<&str>,
        error: Option<&str>,
    ) {
        self.sidecar.call::<ActionReport>(&ActionReportParams {
            thread_id: THREAD.to_owned(),
            action_id: action.to_owned(),
            status,
            turn_id: turn.map(str::to_owned),
            text: None,
            error: error.map(str::to_owned),
        });
    }

    pub fn get(&mut self) -> ThreadGetResult {
        self.sidecar.call::<ThreadGet>(&ThreadGetParams { thread_id: THREAD.to_owned() })
    }

    pub fn totals(&mut self) -> Option<JudgmentTotals> {
        self.get().judgments
    }

    pub fn explain(&mut self) -> Decision {
        let params = DecisionExplainParams { thread_id: THREAD.to_owned(), decision_id: None };
        self.sidecar.call::<DecisionExplain>(&params).decision
    }

    /// The notifications until the judgment is settled: it is decided, and the thread does not wait for a judge any
    /// more.
    pub fn settled(&mut self) -> Vec<Note> {
        let (mut notes, mut is_decided) = (Vec::new(), false);
        loop {
            let note = self.sidecar.next_note();
            let is_ours = note.params["threadId"] == THREAD;
            if is_ours && note.method == DecisionRecorded::METHOD {
                is_decided = read::<DecisionRecorded>(&note).decision.outcome != Outcome::Judge;
            }
            let has_changed = is_ours && note.method == ThreadChanged::METHOD;
            notes.push(note);
            if has_changed && is_decided {
                return notes;
            }
        }
    }

    /// The notifications of [`Self::settled`] as text.
    pub fn told(&mut self) -> String {
        let notes = self.settled();
        let lines: Vec<_> = notes.iter().filter_map(line).collect();
        lines.join("\n") + "\n"
    }

    /// Like [`Self::told`], without the name of the API and the address of the endpoint.
    pub fn story(&mut self, wire: TestedApi, origin: &str) -> String {
        self.told().replace(origin, "<endpoint>").replace(wire.name(), "<wire>")
    }

    /// The next held message that is delivered.
    pub fn next_delivery(&mut self) -> ActionPerformNotification {
        loop {
            let note = self.sidecar.next_note();
            if let Some(asked) = performed(std::slice::from_ref(&note)).pop()
                && matches!(asked.action, Action::DeliverInput { .. })
            {
                return asked;
            }
        }
    }

    /// The number of records in the thread's log.
    pub fn records(&self) -> usize {
        self.home.lines(THREAD).len()
    }

    /// The records of one kind.
    pub fn records_of(&self, kind: &str) -> Vec<Value> {
        let record = |line: &String| serde_json::from_str::<Value>(line).unwrap();
        let of_kind = |record: Value| record["event"].get(kind).cloned();
        self.home.lines(THREAD).iter().map(record).filter_map(of_kind).collect()
    }

    pub fn leave(self) {
        self.sidecar.discard_and_leave();
    }
}

/// With the API key in its environment.
pub fn launch(home: &TestHome) -> TestSidecar {
    let environment = vec![("JUDGE_KEY", KEY.into())];
    TestSidecar::launch(home, &LaunchOptions { environment, ..LaunchOptions::default() })
}

/// Answers as the host. Returns whether the answer was waited for.
pub fn answer(sidecar: &mut TestSidecar, request: &str, should_compact: bool) -> bool {
    let params = JudgmentAnswerParams {
        thread_id: THREAD.to_owned(),
        request_id: request.to_owned(),
        should_compact,
        reason: "as I see it".to_owned(),
    };
    sidecar.call::<JudgmentAnswer>(&params).accepted
}

pub fn read<N: Notification>(note: &Note) -> N::Params {
    serde_json::from_value(note.params.clone()).unwrap()
}

/// The actions among these notifications.
pub fn performed(notes: &[Note]) -> Vec<ActionPerformNotification> {
    let of_it = notes.iter().filter(|note| note.method == ActionPerform::METHOD);
    of_it.map(read::<ActionPerform>).collect()
}

fn line(note: &Note) -> Option<String> {
    let method = note.method.as_str();
    Some(if method == JudgmentRequested::METHOD {
        let asked = read::<JudgmentRequested>(note);
        format!("asked at {}", asked.tier.map_or("no tier", Tier::as_str))
    } else if method == JudgmentResult::METHOD {
        result(&read::<JudgmentResult>(note))
    } else if method == DecisionRecorded::METHOD {
        let decided = read::<DecisionRecorded>(note).decision;
        format!("[{}] {}", decided.outcome, decided.reason)
    } else if method == ActionPerform::METHOD {
        action(&read::<ActionPerform>(note).action)
    } else if method == SequenceHeadsUp::METHOD {
        format!("heads-up {}", read::<SequenceHeadsUp>(note).stage)
    } else if method == ThreadChanged::METHOD {
        format!("phase {}", read::<ThreadChanged>(note).phase)
    } else if method == LogMessage::METHOD {
        format!("log: {}", read::<LogMessage>(note).message)
    } else {
        return None;
    })
}

fn result(said: &JudgmentResultNotification) -> String {
    let word = match (said.should_compact, &said.error) {
        (Some(true), None) => format!("yes, {}", said.reason),
        (Some(false), None) => format!("no, {}", said.reason),
        (None, Some(error)) => format!("no answer: {error}"),
        _ => panic!("{said:?}"),
    };
    format!("judged by {}: {word}", said.source)
}

fn action(action: &Action) -> String {
    match action {
        Action::InjectTurn { purpose, .. } => format!("perform {purpose}"),
        Action::Judge { .. } => "perform judge".to_owned(),
        Action::DeliverInput { input_id, .. } => format!("perform delivery of {input_id}"),
        Action::Compact { .. } => "perform compact".to_owned(),
        Action::SamplePacket { .. } => "perform sample_packet".to_owned(),
    }
}

pub fn is_judge(verdict: &Verdict) -> bool {
    verdict.outcome == Outcome::Judge && verdict.sequence_id.is_none()
}
