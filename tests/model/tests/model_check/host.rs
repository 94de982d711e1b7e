//! The host of a small world: one turn at a time, every action id performed once, and a queue of reports to rawr that
//! the world may disturb. Knows nothing of rawr's state.

use crate::explore::{Hashed, Violation};
use crate::task::{BegunAction, HostReport, HostTask, INPUT, ONCE, OWED, ReportKind, TaskKind};
use crate::worlds::{Manner, SmallWorld};
use rawr_core::boundary::Boundaries;
use rawr_core::event::{
    ActionReported, ActionStatus, CommitMade, CompactionOrigin, CompactionReportStatus,
    CompactionReported, Event, HostAction, JudgeReply, JudgmentAnswered, JudgmentSource, Purpose,
    TurnCompleted, TurnOrigin, TurnStarted, TurnStatus, Usage, UsageReported,
};
use rawr_core::thread::Issued;
use rawr_core::thread::sequence::marker;
use rawr_core::units::{ActionId, JudgeRequestId, Tokens, TurnId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// Both would be semantic breaks in a user's turn; the first one is also a packet.
pub const PACKET: &str =
    "<continuation_packet>\nState: working. All done but the docs.\n</continuation_packet>";
const SAID: &str = "All done: the parser is written.";

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SmallHost {
    pub todo: VecDeque<HostStep>,
    pub turn: Option<HostTurn>,
    pub compacting: Option<HostTask>,
    /// Reports that rawr has not received.
    pub said: VecDeque<Rc<Hashed<HostReport>>>,
    /// Actions that were started, and the reports to repeat when they are requested again.
    pub begun: BTreeMap<ActionId, Rc<Hashed<BegunAction>>>,
    /// Unanswered questions to this host or to the sidecar's own judge.
    pub judging: Vec<(JudgeRequestId, ActionId)>,
    pub turns: u8,
    pub context: u64,
    /// The user's messages that the agent has received, in order.
    pub got: Vec<u8>,
    /// The messages that the host refused.
    pub refused: BTreeSet<u8>,
    pub compactions: u8,
    pub handoffs: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HostStep {
    Prompt(u8),
    Perform(HostTask),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostTurn {
    pub id: TurnId,
    /// `None`: a prompt of the user.
    pub of: Option<HostTask>,
    /// The number of sampling requests before the last one.
    requests: u8,
    /// Unanswered packet requests in this turn.
    asked: Vec<HostTask>,
}

impl SmallHost {
    /// A user's turn has just started, below the thresholds of all tiers.
    pub fn new(world: &SmallWorld) -> Self {
        let mut host = Self {
            todo: VecDeque::new(),
            turn: None,
            compacting: None,
            said: VecDeque::new(),
            begun: BTreeMap::new(),
            judging: Vec::new(),
            turns: 0,
            context: world.starts_at,
            got: Vec::new(),
            refused: BTreeSet::new(),
            compactions: 0,
            handoffs: 0,
        };
        host.begin(None, world);
        host
    }

    /// rawr requests an action, for the first time or again.
    pub fn take(&mut self, issued: &Issued) -> Result<(), Violation> {
        if let HostAction::Judge { request, .. } = &issued.kind {
            if !self.judging.iter().any(|(known, _)| known == request) {
                self.judging.push((request.clone(), issued.id.clone()));
            }
            return Ok(());
        }
        let task = HostTask::of(issued)?;
        if let Some(begun) = self.begun.get(&task.action) {
            let report = begun.report();
            self.says_that(report);
        } else if !self.todo.contains(&HostStep::Perform(task.clone())) {
            self.todo.push_back(HostStep::Perform(task));
        }
        Ok(())
    }

    pub const fn is_busy(&self) -> bool {
        self.turn.is_some() || self.compacting.is_some()
    }

    /// Whether every message up to this one was delivered to the agent or explicitly refused.
    pub fn has_all_of(&self, newest: u8) -> bool {
        (1..=newest).all(|input| self.got.contains(&input) || self.refused.contains(&input))
    }

    /// The first action that can start now.
    pub fn next(&self, world: &SmallWorld) -> Option<usize> {
        let idle = self.turn.is_none() && self.compacting.is_none();
        let inside = self.turn.is_some() && self.compacting.is_none();
        self.todo.iter().position(|todo| match todo {
            HostStep::Prompt(_) => idle,
            HostStep::Perform(HostTask { what, .. }) => match what {
                TaskKind::Inject { steers: true, .. } => idle || inside,
                TaskKind::Compact { .. } => idle || inside && world.can.mid_turn_compact,
                TaskKind::Inject { .. } | TaskKind::Deliver { .. } => idle,
                TaskKind::Sample => true,
            },
        })
    }

    pub fn take_up(&mut self, at: usize, world: &SmallWorld) -> Result<(), Violation> {
        match self.todo.remove(at) {
            None => Ok(()),
            Some(HostStep::Prompt(input)) => {
                self.gets(input)?;
                self.begin(None, world);
                Ok(())
            }
            Some(HostStep::Perform(task)) => self.perform(task, world),
        }
    }

    fn perform(&mut self, task: HostTask, world: &SmallWorld) -> Result<(), Violation> {
        self.done_once(&task)?;
        match task.what {
            TaskKind::Compact { .. } => {
                self.compactions += 1;
                self.acted(&task, ActionStatus::Accepted, None, None, true);
                self.compaction(Some(&task), CompactionReportStatus::Started, None, world);
                self.compacting = Some(task);
            }
            TaskKind::Inject { purpose, steers: true } if self.turn.is_some() => {
                let turn = self.turn.as_ref().map(|turn| turn.id.clone());
                self.acted(&task, ActionStatus::Accepted, turn, None, true);
                if let Some(turn) = self
                    .turn
                    .as_mut()
                    .filter(|_| !matches!(purpose, Purpose::Handoff | Purpose::Notice))
                {
                    turn.asked.push(task);
                }
            }
            TaskKind::Deliver { input, .. } => {
                self.gets(input)?;
                self.begin(Some(task), world);
            }
            TaskKind::Inject { .. } => self.begin(Some(task), world),
            TaskKind::Sample => {
                let text = Some(PACKET.to_owned());
                self.acted(&task, ActionStatus::Completed, None, text, true);
            }
        }
        Ok(())
    }

    fn done_once(&mut self, task: &HostTask) -> Result<(), Violation> {
        let same = |begun: &&Rc<Hashed<BegunAction>>| begun.task.sequence == task.sequence;
        let mut others = self.begun.values().filter(same).map(|begun| &begun.task);
        let repeats = match task.what {
            TaskKind::Compact { .. } => others.any(|other| other.what == task.what),
            _ => task.hands_off() && others.any(HostTask::hands_off),
        };
        if repeats {
            return Err(Violation::of(ONCE, format!("{task:?}, and {:?}", self.begun)));
        }
        self.handoffs += u8::from(task.hands_off());
        if self.handoffs > self.compactions {
            return Err(Violation::of(OWED, format!("{task:?}")));
        }
        Ok(())
    }

    fn gets(&mut self, input: u8) -> Result<(), Violation> {
        if self.got.iter().chain(&self.refused).any(|earlier| *earlier >= input) {
            return Err(Violation::of(INPUT, format!("{input} after {:?}", self.got)));
        }
        self.got.push(input);
        Ok(())
    }

    /// The running turn and unsent reports are lost. The transcript contains delivered messages and finished actions: a
    /// message is not delivered again, and other unfinished actions start again when they are requested.
    pub fn dies(&mut self) {
        let turn = self.turn.take();
        let asked = turn.iter().flat_map(|turn| turn.asked.iter().chain(&turn.of)).cloned();
        let cut_off: Vec<HostTask> = asked.chain(self.compacting.take()).collect();
        for task in cut_off {
            match task.what {
                TaskKind::Deliver { .. } => continue,
                TaskKind::Compact { .. } => self.compactions -= 1,
                TaskKind::Inject { .. } | TaskKind::Sample => {
                    self.handoffs -= u8::from(task.hands_off())
                }
            }
            self.begun.remove(&task.action);
        }
        self.said.clear();
        self.judging.clear();
        self.todo.retain(|todo| matches!(todo, HostStep::Prompt(_)));
    }

    fn begin(&mut self, of: Option<HostTask>, world: &SmallWorld) {
        self.turns += 1;
        let id = TurnId::new(format!("t{}", self.turns));
        let goes_on = of.as_ref().is_none_or(|task| task.makes().is_none() || task.hands_off());
        let requests = if goes_on { world.requests } else { 0 };
        match &of {
            None => self.says(started(&id, TurnOrigin::User, None, None), None),
            Some(task) => self.announce(task, &id, world),
        }
        self.turn = Some(HostTurn { id, of, requests, asked: Vec::new() });
    }

    fn announce(&mut self, task: &HostTask, turn: &TurnId, world: &SmallWorld) {
        let loud = world.manner == Manner::Full;
        self.acted(task, ActionStatus::Accepted, Some(turn.clone()), None, loud);
        let (action, tells) = (Some(task.action.clone()), task.makes());
        let tells = tells.map(|makes| (turn.clone(), makes));
        let announced = match (world.manner, task.what) {
            (Manner::Late, _) => return,
            (Manner::Marks, TaskKind::Inject { purpose, .. }) => {
                let mark = marker(&task.sequence, purpose);
                started(turn, TurnOrigin::User, None, Some(mark))
            }
            (_, TaskKind::Inject { .. }) => started(turn, TurnOrigin::Synthetic, action, None),
            (_, TaskKind::Deliver { .. } | TaskKind::Compact { .. } | TaskKind::Sample) => {
                started(turn, TurnOrigin::User, action, None)
            }
        };
        self.says(announced, tells);
    }

    /// Advances the running compaction or turn by one step.
    pub fn advance(&mut self, ends: TurnStatus, world: &SmallWorld) {
        if let Some(task) = self.compacting.take() {
            self.compacted(&task, ends, world);
            return;
        }
        let Some(mut turn) = self.turn.take() else { return };
        let asked = std::mem::take(&mut turn.asked);
        let completes = ends == TurnStatus::Completed;
        if completes && !asked.is_empty() {
            self.sampled(&turn.id, world.answer_grows, Some(PACKET));
            for task in &asked {
                let (id, text) = (Some(turn.id.clone()), Some(PACKET.to_owned()));
                self.acted(task, ActionStatus::Completed, id, text, world.manner == Manner::Full);
            }
            self.turn = Some(turn);
        } else if completes && turn.requests > 0 {
            turn.requests -= 1;
            self.sampled(&turn.id, world.request_grows, None);
            self.turn = Some(turn);
        } else {
            self.turn_ends(&turn, ends, world);
        }
    }

    fn sampled(&mut self, turn: &TurnId, grows: u64, message: Option<&str>) {
        self.context = (self.context + grows).min(100);
        let reported = UsageReported {
            turn: turn.clone(),
            usage: Some(self.usage()),
            window: None,
            compacts_above: None,
            cache_seconds: None,
            model: None,
            needs_follow_up: true,
            last_message: message.map(str::to_owned),
            boundaries: Boundaries::NONE,
            heard: None,
        };
        self.says(reported, None);
    }

    const fn usage(&self) -> Usage {
        let context = Tokens(self.context);
        Usage { context, input: None, cached: None, output: None, reasoning: None }
    }

    fn turn_ends(&mut self, turn: &HostTurn, status: TurnStatus, world: &SmallWorld) {
        let makes = turn.of.as_ref().and_then(HostTask::makes);
        let users_own = makes.is_none();
        let grows = if users_own { world.turn_grows } else { world.answer_grows };
        self.context = (self.context + grows).min(100);
        if world.commits {
            let made =
                CommitMade { turn: Some(turn.id.clone()), signal: None, hash: None, subject: None };
            self.says(made, None);
        }
        let message = if users_own { SAID } else { PACKET };
        let last_message = (status == TurnStatus::Completed).then(|| message.to_owned());
        let ended = TurnCompleted {
            turn: turn.id.clone(),
            status,
            overflow: None,
            last_message: last_message.clone(),
            usage: Some(self.usage()),
            queued_inputs: 0,
            review_mode: false,
            boundaries: Boundaries::NONE,
            heard: None,
        };
        self.says(ended, None);
        if let Some(task) = &turn.of {
            let loud = matches!(world.manner, Manner::Full | Manner::Late);
            self.acted(task, ActionStatus::Completed, Some(turn.id.clone()), last_message, loud);
        }
    }

    fn compacted(&mut self, task: &HostTask, ends: TurnStatus, world: &SmallWorld) {
        let TaskKind::Compact { local, .. } = task.what else { return };
        let (seen, status) = if ends == TurnStatus::Completed {
            self.context = if local { world.lands_at } else { world.provider_lands_at };
            (CompactionReportStatus::Completed, ActionStatus::Completed)
        } else {
            (CompactionReportStatus::Failed, ActionStatus::Failed)
        };
        let after = (status == ActionStatus::Completed).then_some(self.context);
        if world.manner == Manner::Late {
            self.acted(task, status, None, None, true);
            self.compaction(Some(task), seen, after, world);
        } else {
            self.compaction(Some(task), seen, after, world);
            self.acted(task, status, None, None, true);
        }
    }

    /// A compaction that rawr did not request.
    pub fn compacts_by_itself(&mut self, world: &SmallWorld) {
        self.compactions += 1;
        self.context = world.lands_at;
        self.compaction(None, CompactionReportStatus::Started, None, world);
        self.compaction(None, CompactionReportStatus::Completed, Some(world.lands_at), world);
    }

    fn compaction(
        &mut self,
        task: Option<&HostTask>,
        status: CompactionReportStatus,
        after: Option<u64>,
        world: &SmallWorld,
    ) {
        let origin = if task.is_some() { CompactionOrigin::Rawr } else { world.compacts_for };
        let (action, tokens_after) = (task.map(|task| task.action.clone()), after.map(Tokens));
        let (tokens_before, error) = (None, None);
        self.says(
            CompactionReported { status, origin, action, tokens_before, tokens_after, error },
            None,
        );
    }

    pub fn refuse(&mut self, at: usize) {
        if let Some(HostStep::Perform(task)) = self.todo.remove(at) {
            if let TaskKind::Deliver { input, .. } = task.what {
                self.refused.insert(input);
            }
            self.acted(&task, ActionStatus::Failed, None, None, true);
        }
    }

    /// Answers the oldest question. `None`: the judge cannot.
    pub fn judged(&mut self, says: Option<bool>, by: JudgmentSource) -> Option<HostReport> {
        let (request, action) = (!self.judging.is_empty()).then(|| self.judging.remove(0))?;
        let said = match says {
            Some(should_compact) => ReportKind::Judged(JudgmentAnswered {
                request,
                source: by,
                answer: JudgeReply::Says { should_compact, reason: String::new() },
                usage: None,
                rate_limits: Vec::new(),
            }),
            None => ReportKind::Event(
                ActionReported {
                    action,
                    status: ActionStatus::Failed,
                    turn: None,
                    text: None,
                    error: None,
                }
                .into(),
            ),
        };
        Some(HostReport { said, tells: None })
    }

    /// Records the outcome of an action, and reports it if the host does.
    fn acted(
        &mut self,
        task: &HostTask,
        status: ActionStatus,
        turn: Option<TurnId>,
        text: Option<String>,
        loud: bool,
    ) {
        let begun = BegunAction { task: task.clone(), status, turn, text };
        if loud {
            self.says_that(begun.report());
        }
        self.begun.insert(task.action.clone(), Rc::new(Hashed::new(begun)));
    }

    fn says(&mut self, event: impl Into<Event>, tells: Option<(TurnId, Purpose)>) {
        self.says_that(HostReport { said: ReportKind::Event(event.into()), tells });
    }

    pub fn says_that(&mut self, report: HostReport) {
        self.said.push_back(Rc::new(Hashed::new(report)));
    }
}

fn started(
    turn: &TurnId,
    origin: TurnOrigin,
    action: Option<ActionId>,
    text: Option<String>,
) -> TurnStarted {
    TurnStarted { turn: turn.clone(), origin, action, text, directives: Vec::new() }
}
