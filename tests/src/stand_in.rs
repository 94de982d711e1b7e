//! A fake host with its driver. The driver carries out each action once and repeats its report if a sidecar lost it. The host's
//! record survives both; a new driver looks up actions there.

mod record;

use self::record::{Did, TurnRecord};
use crate::sidecar::{Note, TestHome, TestSidecar, must};
use rawr_protocol::methods::{
    ActionPerform, ActionReport, CompactionReport, InputSubmit, SignalReport, ThreadOpen,
    TurnCompleted, TurnStarted,
};
use rawr_protocol::{
    Action, ActionPerformNotification, ActionReportParams, ActionStatus, CommandLine,
    CompactionOrigin, CompactionReportParams, CompactionReportStatus, Host, HostCapabilities,
    InputItem, InputKind, InputSubmitParams, ItemRole, Notification, PendingAction, PlanStep,
    Purpose, Request, Role, Signal, SignalReportParams, StepStatus, ThreadOpenParams,
    ThreadOpenResult, TokenUsage, TurnCompletedParams, TurnOrigin, TurnStartedParams, TurnStatus,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Used tokens of a window of 190,000: 25% are left, which is `asap`.
pub const PRESSURE: u64 = 143_139;
const AFTER_COMPACTION: u64 = 12_000;
const PACKET: &str = "<continuation_packet>\nState: working\nGoal: write the parser. \
    Decisions: no regular expressions. Next step: write the docs.\n</continuation_packet>";

/// A request that is repeated until it is answered.
#[derive(Debug, Clone)]
struct Call {
    method: &'static str,
    params: Value,
}

fn call<R: Request>(params: &R::Params) -> Call {
    Call { method: R::METHOD, params: must(serde_json::to_value(params), R::METHOD) }
}

#[derive(Debug)]
pub struct StandIn {
    thread: String,
    /// The number of turns. A host that resumes a conversation continues counting.
    pub turns: u32,
    to_say: VecDeque<Call>,
    record: TurnRecord,
    /// The reports of each action, by action id.
    done: BTreeMap<String, Vec<Call>>,
    /// The actions that were carried out: the purpose of a turn, `compact`, or `deliver` with its items.
    pub performed: Vec<String>,
    /// The results of the turns' ends, newest last.
    pub verdicts: Vec<Value>,
    /// The user messages that the agent received, in order.
    pub delivered: Vec<String>,
    /// Sequences of an earlier driver. Whether it has carried out an action of theirs is looked up in the host's record.
    in_doubt: HashSet<String>,
    /// Methods that were answered, with the turn that they were about.
    pub acknowledged: Vec<(&'static str, String)>,
    /// The user's messages, in this order.
    pub written: Vec<String>,
    /// The user sends a message after this action.
    pub writes_during: Option<&'static str>,
}

impl StandIn {
    pub fn new(thread: &str) -> Self {
        Self {
            thread: thread.to_owned(),
            turns: 0,
            to_say: VecDeque::new(),
            record: TurnRecord::default(),
            done: BTreeMap::new(),
            performed: Vec::new(),
            verdicts: Vec::new(),
            delivered: Vec::new(),
            in_doubt: HashSet::new(),
            acknowledged: Vec::new(),
            written: Vec::new(),
            writes_during: None,
        }
    }

    /// With a sequence that waits for approval.
    pub fn asked(thread: &str, home: &TestHome) -> (TestSidecar, Self) {
        home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
        let mut sidecar = TestSidecar::start(home);
        let mut host = Self::new(thread);
        host.open(home, &mut sidecar);
        host.user_turn_with_boundaries();
        assert!(host.run(&mut sidecar));
        (sidecar, host)
    }

    pub fn opening(&self, home: &TestHome, role: Role) -> ThreadOpenParams {
        let capabilities =
            HostCapabilities { inject_turn: true, compact: true, ..HostCapabilities::default() };
        ThreadOpenParams {
            thread_id: self.thread.clone(),
            cwd: home.work().display().to_string(),
            role,
            host: Host { name: "stand-in".to_owned(), version: None, capabilities },
            model: None,
            context_window: Some(190_000),
            context_window_assumed: false,
            compacts_above_tokens: None,
            baseline_tokens: 0,
            session_source: None,
            transcript: None,
            began_at_ms: None,
            running_turn: None,
        }
    }

    /// Opens the thread and carries out or reports its pending actions. False if the sidecar died.
    pub fn open(&mut self, home: &TestHome, sidecar: &mut TestSidecar) -> bool {
        let opening = call::<ThreadOpen>(&self.opening(home, Role::Owner));
        let Some(answer) = sidecar.request(opening.method, &opening.params) else { return false };
        let opened = answer.unwrap_or_else(|failure| panic!("{failure:#?}\n{}", sidecar.told()));
        let opened: ThreadOpenResult = must(serde_json::from_value(opened), "read an answer");
        for pending in opened.pending_actions {
            self.in_doubt.insert(pending.sequence_id.clone());
            self.take_up(&pending);
        }
        true
    }

    /// Drops the driver's state. The host's record stays.
    pub fn driver_dies(&mut self) {
        self.done.clear();
        self.to_say.clear();
    }

    /// Like [`Self::driver_dies`]; the relay survives and sends the messages that it held for the driver.
    pub fn driver_dies_alone(&mut self) {
        self.driver_dies();
        for text in self.written.clone() {
            if !self.delivered.contains(&text) {
                let turn = self.next_turn();
                self.record.took(&turn, &[&text]);
                self.delivered.push(text);
            }
        }
    }

    /// A user turn that ends a phase of work.
    pub fn user_turn_with_boundaries(&mut self) {
        let turn = self.next_turn();
        let step = |step: &str, status| PlanStep { step: step.to_owned(), status };
        let plan = |first, second| Signal::PlanUpdated {
            steps: vec![step("write the parser", first), step("write the docs", second)],
            explanation: None,
        };
        let signals = [
            plan(StepStatus::InProgress, StepStatus::Pending),
            Signal::CommandFinished {
                command: CommandLine::Line("git commit -m parser".to_owned()),
                exit_code: 0,
                cwd: None,
            },
            plan(StepStatus::Completed, StepStatus::InProgress),
        ];
        self.start(&turn, TurnOrigin::User, None, "Write the parser");
        for signal in signals {
            let (thread_id, turn_id) = (self.thread.clone(), Some(turn.clone()));
            let report = SignalReportParams { thread_id, turn_id, signal_id: None, signal };
            self.to_say.push_back(call::<SignalReport>(&report));
        }
        self.end(&turn, "The parser is written and committed.", PRESSURE);
    }

    /// A user turn with the same usage that ends no phase.
    pub fn user_turn(&mut self) {
        let turn = self.next_turn();
        self.start(&turn, TurnOrigin::User, None, "Go on");
        self.end(&turn, "I looked at two more files of the parser.", PRESSURE);
    }

    /// The user writes a message. It is delivered now, or when the sidecar requests it.
    pub fn message(&mut self) {
        let text = format!("message {}", self.written.len() + 1);
        self.written.push(text.clone());
        self.to_say.push_back(call::<InputSubmit>(&InputSubmitParams {
            thread_id: self.thread.clone(),
            input_id: format!("i{}", self.written.len()),
            text,
            kind: InputKind::Message,
        }));
    }

    /// Sends all pending requests without reading the answers.
    pub fn ask_all(&mut self, sidecar: &mut TestSidecar) -> Vec<u64> {
        let send = |(Call { method, params }, id)| {
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            sidecar.send(&message);
            id
        };
        self.to_say.drain(..).zip(2001..).map(send).collect()
    }

    /// Sends requests and carries out actions until none is left. False if the sidecar died; unanswered requests stay pending.
    pub fn run(&mut self, sidecar: &mut TestSidecar) -> bool {
        self.run_and(sidecar, |_| {})
    }

    /// Like [`Self::run`], and shows each notification before it is acted on.
    pub fn run_and(&mut self, sidecar: &mut TestSidecar, mut each: impl FnMut(&Note)) -> bool {
        loop {
            for note in sidecar.take_notes() {
                each(&note);
                if note.method == ActionPerform::METHOD {
                    let asked: ActionPerformNotification =
                        must(serde_json::from_value(note.params), "read a notification");
                    match self.in_doubt.contains(&asked.sequence_id) {
                        true => self.take_up(&PendingAction {
                            action_id: asked.action_id,
                            sequence_id: asked.sequence_id,
                            issued_at_ms: None,
                            action: asked.action,
                        }),
                        false => self.perform(&asked.action_id, &asked.action, None),
                    }
                }
            }
            let Some(next) = self.to_say.front() else { return true };
            let Some(answer) = sidecar.request(next.method, &next.params) else { return false };
            let result =
                answer.unwrap_or_else(|failure| panic!("{failure:#?}\n{}", sidecar.told()));
            if next.method == TurnCompleted::METHOD {
                self.verdicts.push(result.get("verdict").cloned().unwrap_or_default());
            }
            let said = self.to_say.pop_front();
            self.answered(said, &result);
        }
    }

    fn answered(&mut self, said: Option<Call>, result: &Value) {
        let Some(Call { method, params }) = said else { return };
        let of = |field: &str| params[field].as_str().unwrap_or_default().to_owned();
        self.acknowledged.push((method, of("turnId")));
        if method == InputSubmit::METHOD && result["disposition"] == "deliver" {
            self.delivered.push(of("text"));
            self.record.took(&format!("t{}", self.turns + 1), &[&of("text")]);
            self.user_turn();
        }
    }

    pub fn has_said_all(&self) -> bool {
        self.to_say.is_empty()
    }

    /// The number of times an action was carried out.
    pub fn count(&self, what: &str) -> usize {
        self.performed.iter().filter(|done| *done == what).count()
    }

    /// Looks up an action in the host's record if this driver has not carried it out.
    fn take_up(&mut self, pending: &PendingAction) {
        let did = self.record.became_of(pending);
        let PendingAction { action_id, action, .. } = pending;
        match (action, did) {
            (Action::DeliverInput { input_id, items }, _) => {
                let is_missing = |item: &&InputItem| !self.record.has_said(item);
                let items = items.iter().filter(is_missing).cloned().collect();
                let input_id = input_id.clone();
                self.perform(action_id, &Action::DeliverInput { input_id, items }, None);
            }
            (_, did) => self.perform(action_id, action, did),
        }
    }

    /// Carries out an action, or reports its earlier outcome.
    fn perform(&mut self, id: &str, action: &Action, did: Option<Did>) {
        if let Some(said) = self.done.get(id) {
            // What is still to be said will be.
            if self.to_say.is_empty() {
                self.to_say.extend(said.clone());
            }
            return;
        }
        let before = self.to_say.len();
        let is_new = did.is_none();
        let turn = did.map_or_else(|| self.next_turn(), |did| did.turn);
        match action {
            Action::InjectTurn { purpose, text, .. } => {
                if is_new {
                    self.record.took(&turn, &[text]);
                    self.performed.push(name(*purpose).to_owned());
                }
                self.synthetic_turn(id, &turn, text, *purpose == Purpose::PacketRequest);
            }
            Action::DeliverInput { items, .. } if items.is_empty() => {
                self.report(id, ActionStatus::Completed, None);
            }
            Action::DeliverInput { items, .. } => {
                let role = |item: &InputItem| match item.role {
                    ItemRole::Handoff => "handoff",
                    ItemRole::Notice => "notice",
                    ItemRole::Input => "input",
                };
                self.performed.extend(items.iter().map(|item| role(item).to_owned()));
                let texts: Vec<_> = items.iter().map(|item| item.text.as_str()).collect();
                self.record.took(&turn, &texts);
                let inputs = items.iter().filter(|item| item.role == ItemRole::Input);
                self.delivered.extend(inputs.map(|item| item.text.clone()));
                self.synthetic_turn(id, &turn, &texts.join("\n"), false);
            }
            Action::Compact { .. } => {
                if is_new {
                    self.record.compacted(&turn);
                    self.performed.push("compact".to_owned());
                }
                self.report(id, ActionStatus::Accepted, Some(&turn));
                self.compaction(id, CompactionReportStatus::Started, None);
                self.compaction(id, CompactionReportStatus::Completed, Some(AFTER_COMPACTION));
                self.report(id, ActionStatus::Completed, Some(&turn));
            }
            Action::Judge { .. } | Action::SamplePacket { .. } => {
                panic!("unexpected action {action:?}")
            }
        }
        let said = self.to_say.iter().skip(before).cloned().collect();
        self.done.insert(id.to_owned(), said);
        if self
            .writes_during
            .take_if(|what| self.performed.iter().any(|done| done == what))
            .is_some()
        {
            self.message();
        }
    }

    fn synthetic_turn(&mut self, id: &str, turn: &str, text: &str, packet: bool) {
        self.report(id, ActionStatus::Accepted, Some(turn));
        self.start(turn, TurnOrigin::Synthetic, Some(id), text);
        let message = if packet { PACKET } else { "Understood, going on." };
        let used = if self.count("compact") > 0 { AFTER_COMPACTION + 1000 } else { PRESSURE };
        self.end(turn, message, used);
    }

    fn next_turn(&mut self) -> String {
        self.turns += 1;
        format!("t{}", self.turns)
    }

    fn start(&mut self, turn: &str, origin: TurnOrigin, action: Option<&str>, text: &str) {
        self.to_say.push_back(call::<TurnStarted>(&TurnStartedParams {
            thread_id: self.thread.clone(),
            turn_id: turn.to_owned(),
            origin,
            action_id: action.map(str::to_owned),
            text: Some(text.to_owned()),
        }));
    }

    fn end(&mut self, turn: &str, message: &str, context_tokens: u64) {
        let usage = TokenUsage {
            context_tokens,
            input_tokens: None,
            cached_input_tokens: None,
            output_tokens: None,
            reasoning_tokens: None,
            cache_seconds: None,
        };
        self.to_say.push_back(call::<TurnCompleted>(&TurnCompletedParams {
            thread_id: self.thread.clone(),
            turn_id: turn.to_owned(),
            status: TurnStatus::Completed,
            failure: None,
            last_agent_message: Some(message.to_owned()),
            usage: Some(usage),
            queued_inputs: None,
            review_mode: None,
        }));
    }

    fn report(&mut self, id: &str, status: ActionStatus, turn: Option<&str>) {
        self.to_say.push_back(call::<ActionReport>(&ActionReportParams {
            thread_id: self.thread.clone(),
            action_id: id.to_owned(),
            status,
            turn_id: turn.map(str::to_owned),
            text: None,
            error: None,
        }));
    }

    fn compaction(&mut self, id: &str, status: CompactionReportStatus, after: Option<u64>) {
        self.to_say.push_back(call::<CompactionReport>(&CompactionReportParams {
            thread_id: self.thread.clone(),
            status,
            origin: CompactionOrigin::Rawr,
            action_id: Some(id.to_owned()),
            tokens_before: None,
            tokens_after: after,
            error: None,
        }));
    }
}

const fn name(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::HeadsUp => "heads_up",
        Purpose::ScratchWrite => "scratch_write",
        Purpose::PacketRequest => "packet_request",
        Purpose::Handoff => "handoff",
        Purpose::Notice => "notice",
    }
}
