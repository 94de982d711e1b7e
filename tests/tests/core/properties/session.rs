//! Simulates a host and a person. The host performs every action id once and survives the machine, which may be killed
//! between any two records; reports get lost, are repeated or reordered.

use crate::properties::any_input::{judged, opened, plain, reported, started, usage};
use rawr_core::boundary::Boundaries;
use rawr_core::event::{
    ActionReported, ActionStatus, Capabilities, Choice, CommitMade, CompactionOrigin,
    CompactionReportStatus, CompactionReported, Event, GuardCleared, GuardEnd, HostAction,
    InputCancelled, ItemRole, PrCheckpoint, TurnCompleted, TurnOrigin, TurnStatus,
};
use rawr_core::machine::{InputKind, Response};
use rawr_core::policy::Policy;
use rawr_core::prompt::Prompts;
use rawr_core::thread::Issued;
use rawr_core::units::{ActionId, InputId, SequenceId, ThreadId, Timestamp, Tokens, TurnId};
use rawr_core::{Effect, Input, Machine, Record, Rules, Thread};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const WINDOW: u64 = 10_000;
/// In seconds. No deadline is longer.
const LONGEST_WAIT: u64 = 600;
const PACKET: &str =
    "State: working\nGoal: the parser. Decisions: none. Next: all done, then the docs.";

/// Texts are injected as separate turns, never into a running one.
const CAN: Capabilities = Capabilities { judge: true, sample: true, ..plain() };

/// How a host reports the turns that rawr requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportOrder {
    AcceptsThenStarts,
    StartsThenAccepts,
    /// The turn is identified only by its marker.
    Marks,
    /// The turn is reported after its end, without an announcement.
    BindsLate,
    /// The turn starts like a user's, its signals name no turn, and it is reported in its middle.
    BindsMidway,
}

#[derive(Debug, Clone)]
pub enum Act {
    Message,
    LocalCommand,
    TakeBack(usize),
    Respond(Choice),
    Guard,
    Unguard,
    /// So many of the host's reports arrive.
    Arrive(usize),
    Lose,
    Repeat,
    /// The next two reports swap places.
    Swap,
    Wait(u64),
    /// Forward or back, without a notification.
    SetClock(i64),
    Reopen,
    /// The process dies after the first records of the next input reached the disk. The sender repeats the input or
    /// gives up.
    Crash {
        written: usize,
        again: bool,
    },
}

/// An action that was performed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerformedAction {
    pub action: ActionId,
    pub sequence: SequenceId,
    pub kind: HostAction,
}

#[derive(Debug)]
struct RandomHost {
    manner: ReportOrder,
    context: u64,
    lands_at: u64,
    turns: u32,
    reports: VecDeque<Input>,
    /// The reports of each action, to be repeated when it is requested again.
    told: BTreeMap<ActionId, Vec<Input>>,
}

pub struct SimulatedSession {
    pub machine: Machine,
    pub log: Vec<Record>,
    /// In the order in which the host did it.
    pub done: Vec<PerformedAction>,
    /// Turns that the host knows to be rawr's.
    pub synthetic: BTreeSet<TurnId>,
    pub submitted: Vec<(InputId, String)>,
    pub taken_back: BTreeSet<InputId>,
    /// In the order in which the host received them.
    pub delivered: Vec<(InputId, String)>,
    host: RandomHost,
    policy: Policy,
    prompts: Prompts,
    now: Timestamp,
    crash: Option<(usize, bool)>,
}

impl SimulatedSession {
    pub fn new(manner: ReportOrder, lands_at: u64, policy: Policy) -> Self {
        let host = RandomHost {
            manner,
            context: 2000,
            lands_at,
            turns: 0,
            reports: VecDeque::new(),
            told: BTreeMap::new(),
        };
        let mut session = Self {
            machine: Machine::new(Thread::new(ThreadId::new("t"))),
            log: Vec::new(),
            done: Vec::new(),
            synthetic: BTreeSet::new(),
            submitted: Vec::new(),
            taken_back: BTreeSet::new(),
            delivered: Vec::new(),
            host,
            policy,
            prompts: Prompts::new(|name| format!("{} {{packet}}", name.name())),
            now: Timestamp(1_000_000),
            crash: None,
        };
        session.report(Input::Saw(opened(Some(WINDOW), CAN, None)));
        session
    }

    pub fn act(&mut self, act: &Act) {
        match act {
            Act::Message => self.message(InputKind::Message),
            Act::LocalCommand => self.message(InputKind::LocalCommand),
            Act::TakeBack(nth) => self.take_back(*nth),
            // Without its sequence, such a host's turn looks like a user's until it is reported.
            Act::Respond(Choice::Cancel | Choice::Snooze)
                if self.host.manner == ReportOrder::BindsLate => {}
            Act::Respond(choice) => {
                let packet = (*choice == Choice::EditPacket).then(|| PACKET.to_owned());
                let (turns, minutes, by) = (Some(1), None, None);
                self.report(Input::Respond(Response {
                    choice: *choice,
                    sequence: None,
                    turns,
                    minutes,
                    packet,
                    by,
                }));
            }
            Act::Guard => {
                self.report(Input::SetGuard { until: GuardEnd::Turns(1), note: None, by: None })
            }
            Act::Unguard => {
                let guard = self.machine.thread().guards.first().map(|guard| guard.id.clone());
                if let Some(guard) = guard {
                    self.report(Input::Saw(GuardCleared { guard }.into()));
                }
            }
            Act::Arrive(many) => (0..*many).for_each(|_| self.arrive()),
            Act::Lose => drop(self.host.reports.pop_front()),
            Act::Repeat => {
                if let Some(first) = self.host.reports.front().cloned() {
                    self.host.reports.push_front(first);
                }
            }
            Act::Swap => {
                if self.host.reports.len() > 1 {
                    self.host.reports.swap(0, 1);
                }
            }
            Act::Wait(seconds) => {
                self.now = self.now.plus_seconds(*seconds);
                self.report(Input::Tick);
            }
            Act::SetClock(seconds) => self.now = Timestamp(self.now.0 + seconds * 1000),
            Act::Reopen => self.restart(),
            Act::Crash { written, again } => self.crash = Some((*written, *again)),
        }
    }

    /// From here on everything arrives, and time passes until nothing is left to do.
    pub fn settle(&mut self) -> bool {
        self.crash = None;
        self.restart();
        for _ in 0..60 {
            while !self.host.reports.is_empty() {
                self.arrive();
            }
            let thread = self.machine.thread();
            if thread.sequence().is_none() && thread.held.is_empty() {
                return true;
            }
            match self.machine.wakes_at(&self.policy, self.now) {
                // Whatever the clock showed before.
                Some(at) if at.seconds_since(self.now) > LONGEST_WAIT => return false,
                Some(at) => self.now = self.now.max(at),
                None => self.restart(),
            }
            self.report(Input::Tick);
        }
        false
    }

    fn arrive(&mut self) {
        if let Some(report) = self.host.reports.pop_front() {
            self.report(report);
        }
    }

    fn message(&mut self, kind: InputKind) {
        let input = InputId::new(format!("i{}", self.submitted.len() + 1));
        let text = format!("message {input}\nwith a second line, All done. ");
        let submitted = Input::Submitted { input: input.clone(), text: text.clone(), kind };
        if kind == InputKind::LocalCommand {
            self.report(submitted);
            let waits = self.machine.thread().held.iter().any(|held| held.id == input);
            assert!(!waits, "a local command is held");
            return;
        }
        self.submitted.push((input.clone(), text.clone()));
        // A person's client retries without an answer.
        while !self.handle(submitted.clone()) {}
        if !self.machine.thread().held.iter().any(|held| held.id == input) {
            self.delivered.push((input, text));
            self.host.user_turn();
        }
    }

    fn take_back(&mut self, nth: usize) {
        let held = &self.machine.thread().held;
        let Some(input) = held.get(nth % held.len().max(1)).map(|held| held.id.clone()) else {
            return;
        };
        let known = self.log.len();
        self.handle(Input::Saw(InputCancelled { input: input.clone() }.into()));
        let recorded = |record: &Record| matches!(&record.event, Event::InputCancelled(_));
        if self.log[known..].iter().any(recorded) {
            self.taken_back.insert(input);
        }
    }

    /// A report of the host, repeated if the process died during it and the host does not give up.
    fn report(&mut self, input: Input) {
        let again = self.crash.is_some_and(|(_, again)| again);
        if !self.handle(input.clone()) && again {
            self.handle(input);
        }
    }

    /// Returns false if the process died before it answered.
    fn handle(&mut self, input: Input) -> bool {
        let late = self.machine.wakes_at(&self.policy, self.now).is_some_and(|at| at <= self.now);
        if late && !matches!(input, Input::Tick) {
            self.handle_at_once(Input::Tick);
        }
        self.handle_at_once(input)
    }

    fn handle_at_once(&mut self, input: Input) -> bool {
        let rules = Rules { policy: &self.policy, prompts: &self.prompts, notes_exist: false };
        let Ok(effects) = self.machine.handle(input, &rules, self.now) else { return true };
        let mut performs = Vec::new();
        let mut records = Vec::new();
        for effect in effects {
            match effect {
                Effect::Record(record) => records.push(record),
                Effect::Perform(issued) => performs.push(issued),
                Effect::Decided(_) | Effect::Tell(_) => {}
            }
        }
        if let Some((written, _)) = self.crash.take() {
            records.truncate(written);
            self.log.extend(records);
            self.restart();
            return false;
        }
        self.log.extend(records);
        performs.iter().for_each(|issued| self.perform(issued));
        true
    }

    /// A new process opens the thread from what was stored, and pending actions are requested again.
    fn restart(&mut self) {
        let mut thread = Thread::new(ThreadId::new("t"));
        self.log.iter().for_each(|record| thread.apply(record));
        let running = self.host.running_turn(&thread);
        self.machine = Machine::new(thread);
        self.handle_at_once(Input::Saw(opened(Some(WINDOW), CAN, running)));
        let pending: Vec<_> = self.machine.thread().pending_actions().cloned().collect();
        pending.iter().for_each(|issued| self.perform(issued));
    }

    fn perform(&mut self, issued: &Issued) {
        if let Some(told) = self.host.told.get(&issued.id) {
            // A pending report is not repeated, and a signal without a turn cannot be reported late.
            if self.host.reports.is_empty() {
                let timeless = |report: &&Input| match report {
                    Input::Saw(Event::PrCheckpoint(pr)) => pr.turn.is_some(),
                    Input::Saw(Event::CommitMade(made)) => made.turn.is_some(),
                    _ => true,
                };
                self.host.reports.extend(told.iter().filter(timeless).cloned());
            }
            return;
        }
        let Issued { id, sequence, kind, .. } = issued.clone();
        if let HostAction::DeliverInput { input, items } = &kind {
            let texts = items.iter().filter(|item| item.role == ItemRole::Input);
            let texts: Vec<_> = texts.map(|item| item.text.clone()).collect();
            assert_eq!(texts.len(), 1, "a message is one item: {items:?}");
            self.delivered.push((input.clone(), texts[0].clone()));
        }
        let turn = self.host.perform(issued);
        if issued.kind.delivered_text().is_none() {
            self.synthetic.insert(turn);
        }
        self.done.push(PerformedAction { action: id, sequence, kind });
    }
}

impl PerformedAction {
    /// For a compaction, whether the host itself compacts.
    pub const fn compacts(&self) -> Option<bool> {
        match self.kind {
            HostAction::Compact { local, .. } => Some(local),
            _ => None,
        }
    }

    pub fn hands_over(&self) -> bool {
        self.kind.hands_over()
    }
}

impl RandomHost {
    /// The turn whose end rawr has not received.
    fn running_turn(&self, known: &Thread) -> Option<TurnId> {
        self.reports.iter().find_map(|report| match report {
            Input::Saw(Event::TurnCompleted(completed)) => {
                let ended = known.turn(&completed.turn).is_some_and(|turn| turn.end.is_some());
                (!ended).then(|| completed.turn.clone())
            }
            _ => None,
        })
    }

    fn next_turn(&mut self) -> TurnId {
        self.turns += 1;
        TurnId::new(format!("t{}", self.turns))
    }

    fn user_turn(&mut self) {
        let turn = self.next_turn();
        self.reports.push_back(Input::Saw(started(turn.clone(), TurnOrigin::User, None, None)));
        self.context = (self.context + 1500).min(WINDOW);
        self.reports.push_back(Input::Saw(reported(turn.clone(), self.context, true)));
        let made = CommitMade { turn: Some(turn.clone()), signal: None, hash: None, subject: None };
        let work = self.work(&turn, made.into(), 1000);
        self.reports.extend(work);
    }

    /// The contents and the end of a turn, with potential boundaries. A user's turn commits, rawr's opens a pull
    /// request, so that a boundary shows where it is from.
    fn work(&mut self, turn: &TurnId, boundary: Event, grows: u64) -> Vec<Input> {
        self.context = (self.context + grows).min(WINDOW);
        let usage = usage(self.context);
        let reported = reported(turn.clone(), self.context, false);
        let ended = TurnCompleted {
            turn: turn.clone(),
            status: TurnStatus::Completed,
            overflow: None,
            last_message: Some(PACKET.to_owned()),
            usage: Some(usage),
            queued_inputs: 0,
            review_mode: false,
            boundaries: Boundaries::NONE,
            heard: None,
        };
        [reported, boundary, ended.into()].map(Input::Saw).into()
    }

    fn perform(&mut self, issued: &Issued) -> TurnId {
        let turn = self.next_turn();
        let named = Some(turn.clone()).filter(|_| self.manner != ReportOrder::BindsMidway);
        let boundary = if issued.kind.delivered_text().is_some() {
            CommitMade { turn: named, signal: None, hash: None, subject: None }.into()
        } else {
            PrCheckpoint { turn: named, signal: None, action: "create".to_owned(), url: None }
                .into()
        };
        let work = self.work(&turn, boundary, 50);
        let report = |status, with_turn: bool| {
            let turn = with_turn.then(|| turn.clone());
            let (text, error) = (None, None);
            Input::Saw(
                ActionReported { action: issued.id.clone(), status, turn, text, error }.into(),
            )
        };
        let accepted = report(ActionStatus::Accepted, true);
        let start =
            Input::Saw(started(turn.clone(), TurnOrigin::Synthetic, Some(issued.id.clone()), None));
        let told = match (&issued.kind, self.manner) {
            (HostAction::Compact { .. }, _) => {
                self.context = self.lands_at;
                let mut told =
                    vec![accepted, compaction(&issued.id, CompactionReportStatus::Started, None)];
                let completed =
                    compaction(&issued.id, CompactionReportStatus::Completed, Some(self.lands_at));
                let closed = report(ActionStatus::Completed, true);
                told.extend(if self.manner == ReportOrder::BindsLate {
                    [closed, completed]
                } else {
                    [completed, closed]
                });
                told
            }
            (HostAction::Judge { request, .. }, _) => {
                const SAYS: [Option<bool>; 3] = [Some(true), Some(false), None];
                vec![Input::Judged(judged(request.clone(), SAYS[self.turns as usize % 3]))]
            }
            (HostAction::SamplePacket { .. }, _) => {
                const PACKETS: [Option<&str>; 3] =
                    [Some("State: working\nGoal: a parser"), Some("no"), None];
                let text = PACKETS[self.turns as usize % 3].map(str::to_owned);
                let status =
                    if text.is_some() { ActionStatus::Completed } else { ActionStatus::Failed };
                let (action, turn, error) = (issued.id.clone(), None, None);
                let report = ActionReported { action, status, turn, text, error };
                vec![Input::Saw(report.into())]
            }
            // Every host announces a user's message.
            (HostAction::DeliverInput { .. }, ReportOrder::BindsLate)
            | (_, ReportOrder::AcceptsThenStarts) => [vec![accepted, start], work].concat(),
            (_, ReportOrder::StartsThenAccepts) => [vec![start, accepted], work].concat(),
            (HostAction::InjectTurn { text, .. }, ReportOrder::Marks) => {
                let start = started(turn.clone(), TurnOrigin::User, None, Some(text.clone()));
                [vec![Input::Saw(start)], work].concat()
            }
            (HostAction::DeliverInput { .. }, ReportOrder::Marks) => {
                [vec![accepted], work].concat()
            }
            (_, ReportOrder::BindsMidway) => {
                let start = Input::Saw(started(turn.clone(), TurnOrigin::User, None, None));
                let (before, after) = work.split_at(2);
                [&[start], before, &[accepted], after].concat()
            }
            (_, ReportOrder::BindsLate) => [work, vec![accepted]].concat(),
        };
        self.told.insert(issued.id.clone(), told.clone());
        self.reports.extend(told);
        turn
    }
}

fn compaction(action: &ActionId, status: CompactionReportStatus, after: Option<u64>) -> Input {
    let (action, tokens_before, error) = (Some(action.clone()), None, None);
    let (origin, tokens_after) = (CompactionOrigin::Rawr, after.map(Tokens));
    Input::Saw(
        CompactionReported { status, origin, action, tokens_before, tokens_after, error }.into(),
    )
}
