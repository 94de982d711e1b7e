//! The one entrance: an input and the time go in, effects come out. Everything that a thread will ever do starts here.

mod observe;

use crate::assess::{Decision, Gate, GateOutcome, GateResult, Inline, Question, assess, judge};
use crate::boundary::Boundaries;
use crate::event::{
    Action, ActionIssued, ActionStatus, Assessed, Choice, CompactionOrigin, CompactionReported,
    CompactionStatus, Entrance, Event, Item, ItemRole, JudgeSource, JudgmentAnswered, Outcome,
    Phase, Record, Request, SequenceEnded, SequenceStarted, Trigger, Until,
};
use crate::judgment;
use crate::policy::{PacketAuthor, Policy, Tier};
use crate::prompt::{PromptName, Prompts, SequencePrompts};
use crate::rewrite;
use crate::scratch;
use crate::sequence;
use crate::thread::{HeldInput, Issued, Judging, Starting, Thread};
use crate::units::{
    ActionId, DirectiveId, GuardId, InputId, Percent, RequestId, SequenceId, Timestamp, Tokens,
    TurnId,
};

/// What a person configured, as it stands at the moment of the call.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'r> {
    pub policy: &'r Policy,
    pub prompts: &'r Prompts,
}

#[derive(Debug, Clone)]
pub enum Input {
    /// Something happened. Boundaries are filled in here: a caller leaves them empty.
    Saw(Event),
    Command {
        turn: Option<TurnId>,
        command: ShellCommand,
        exit_code: i64,
    },
    Submitted {
        input: InputId,
        text: String,
        kind: InputKind,
    },
    /// A judge has answered.
    Judged(JudgmentAnswered),
    Respond(Response),
    SetGuard {
        until: Until,
        note: Option<String>,
        by: Option<String>,
    },
    /// Time went by, or a stored thread was taken up again.
    Tick,
}

#[derive(Debug, Clone)]
pub enum ShellCommand {
    Line(String),
    Words(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    Message,
    /// A shell command of the user's own: it never waits.
    LocalCommand,
}

#[derive(Debug, Clone)]
pub struct Response {
    pub choice: Choice,
    pub sequence: Option<SequenceId>,
    pub turns: Option<u32>,
    pub minutes: Option<u32>,
    pub packet: Option<String>,
    pub by: Option<String>,
}

/// What the caller has to do, in this order: store every `Record` durably, and only then the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Record(Record),
    Decided(Decision),
    Perform(Issued),
    Tell(Notice),
}

/// For people and clients; nothing hangs on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The banner.
    HeadsUp(HeadsUp),
    /// Phase, tier, percent, guards or the last compaction are not what they were.
    Changed,
    Compaction {
        report: CompactionReported,
        sequence: Option<SequenceId>,
        trigger: Option<Trigger>,
    },
    /// The host would not take a message that had waited; it is not asked again.
    InputRefused { input: InputId, error: String },
    /// The judge is asked, by an action.
    JudgmentAsked { request: RequestId, tier: Option<Tier> },
    /// The judge has answered, or has failed to.
    JudgmentAnswered { answered: JudgmentAnswered, tier: Option<Tier> },
    /// The golden path is over, one way or the other.
    SequenceEnded(SequenceEnded),
    /// An emergency, or a person, went over an active guard.
    GuardBypassed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadsUp {
    pub sequence: Option<SequenceId>,
    pub stage: Stage,
    pub tier: Option<Tier>,
    pub percent: Option<Percent>,
    pub reason: String,
    pub boundaries: Boundaries,
    pub author: PacketAuthor,
    pub deadline: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    WillCompact,
    AwaitingApproval,
    Recommended,
    Tagged,
    /// It comes before the next message.
    Deferred,
}

/// Why an input was not taken. Nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    UnknownAction(ActionId),
    UnknownGuard(GuardId),
    UnknownInput(InputId),
    UnknownDirective(DirectiveId),
    NoSequence,
    /// The phase does not allow it.
    NotNow(Phase),
    OtherSequence(SequenceId),
    PacketMissing,
}

/// Exactly one process, the owner, lets a thread act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Owner,
    Observer,
}

/// What a client shows; compared before and after, so that it hears of changes only.
#[derive(Debug, PartialEq, Eq)]
struct Glance {
    phase: Phase,
    percent: Option<Percent>,
    tier: Option<Tier>,
    sequences: u32,
    guards: usize,
    compacted_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Machine {
    thread: Thread,
}

impl Machine {
    pub const fn new(thread: Thread) -> Self {
        Self { thread }
    }

    pub const fn thread(&self) -> &Thread {
        &self.thread
    }

    /// A stored event, ours or another process's. Replaying is nothing but this.
    pub fn apply(&mut self, record: &Record) {
        self.thread.apply(record);
    }

    /// When to come back with a [`Input::Tick`].
    pub fn next_deadline(&self, policy: &Policy) -> Option<Timestamp> {
        match &self.thread.sequence {
            Some(sequence) => sequence.deadline(&self.thread, &policy.deadlines),
            None if let Some(judging) = &self.thread.judging => {
                let waits = judging.answer.is_none();
                waits.then(|| judging.since.plus_seconds(policy.deadlines.judgment))
            }
            None if self.thread.waits_for_host() => {
                Some(self.thread.updated_at.plus_seconds(policy.deadlines.compaction))
            }
            None => None,
        }
    }

    /// For the thread's owner: takes note of the input and goes on as far as the state allows.
    pub fn handle(
        &mut self,
        input: Input,
        rules: &Rules<'_>,
        now: Timestamp,
    ) -> Result<Vec<Effect>, Refusal> {
        self.take(input, Role::Owner, rules, now)
    }

    /// For everybody else: takes note of the input and leaves what follows from it to the owner.
    pub fn note(
        &mut self,
        input: Input,
        rules: &Rules<'_>,
        now: Timestamp,
    ) -> Result<Vec<Effect>, Refusal> {
        self.take(input, Role::Observer, rules, now)
    }

    fn take(
        &mut self,
        input: Input,
        role: Role,
        rules: &Rules<'_>,
        now: Timestamp,
    ) -> Result<Vec<Effect>, Refusal> {
        let before = self.glance(rules.policy);
        let mut effects = Vec::new();
        for event in self.observe(input, rules.policy, now)? {
            self.record(event, rules, now, &mut effects);
        }
        while role == Role::Owner
            && let Some(event) = self.next(rules, now, &mut effects)
        {
            self.record(event, rules, now, &mut effects);
        }
        if self.glance(rules.policy) != before {
            effects.push(Effect::Tell(Notice::Changed));
        }
        Ok(effects)
    }

    fn glance(&self, policy: &Policy) -> Glance {
        let percent = self.thread.percent_remaining();
        Glance {
            phase: self.thread.phase(),
            percent,
            tier: percent.and_then(|percent| policy.tiers.pick(percent)),
            sequences: self.thread.sequences,
            guards: self.thread.guards.len(),
            compacted_at: self.thread.last_compaction.as_ref().map(|last| last.at),
        }
    }

    fn record(
        &mut self,
        event: Event,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let ended = self
            .thread
            .sequence
            .as_ref()
            .map(|sequence| (sequence.id.clone(), sequence.trigger.clone()));
        let record = Record::new(now, event);
        self.thread.apply(&record);
        let announcement = self.announce(&record.event, ended, rules);
        effects.push(Effect::Record(record));
        effects.extend(announcement);
    }

    /// What the world hears follows from the event alone, whoever appended it.
    fn announce(
        &self,
        event: &Event,
        running: Option<(SequenceId, Trigger)>,
        rules: &Rules<'_>,
    ) -> Option<Effect> {
        match event {
            Event::SequenceStarted(started)
                if started.late.is_none() && !matches!(started.trigger, Trigger::Inline { .. }) =>
            {
                Some(Effect::Tell(Notice::HeadsUp(self.heads_up(started, rules.policy))))
            }
            Event::ActionIssued(issued) => {
                self.thread.action(&issued.action).cloned().map(Effect::Perform)
            }
            Event::CompactionReported(report) => {
                let (sequence, trigger) = running.unzip();
                Some(Effect::Tell(Notice::Compaction { report: report.clone(), sequence, trigger }))
            }
            Event::SequenceEnded(ended) => Some(Effect::Tell(Notice::SequenceEnded(ended.clone()))),
            Event::JudgmentAnswered(answered) => {
                let tier = self.thread.judging.as_ref().and_then(|judging| judging.asked_by.tier);
                let answered = answered.clone();
                Some(Effect::Tell(Notice::JudgmentAnswered { answered, tier }))
            }
            Event::ActionReported(reported) if reported.status == ActionStatus::Failed => {
                let issued = self.thread.action(&reported.action)?;
                let Action::DeliverInput { input, .. } = &issued.kind else { return None };
                let error = reported.error.clone().unwrap_or_default();
                Some(Effect::Tell(Notice::InputRefused { input: input.clone(), error }))
            }
            _ => None,
        }
    }

    fn heads_up(&self, started: &SequenceStarted, policy: &Policy) -> HeadsUp {
        let (tier, percent, boundaries) = match &started.trigger {
            Trigger::Rawr { tier, percent, boundaries, .. } => {
                (Some(*tier), Some(*percent), *boundaries)
            }
            Trigger::Inline { .. } | Trigger::Host | Trigger::User => {
                (None, self.thread.percent_remaining(), Boundaries::NONE)
            }
        };
        HeadsUp {
            sequence: Some(started.sequence.clone()),
            stage: if started.needs_approval {
                Stage::AwaitingApproval
            } else {
                Stage::WillCompact
            },
            tier,
            percent,
            reason: started.trigger.reason(),
            boundaries,
            author: started.author,
            deadline: self.next_deadline(policy),
        }
    }

    /// The next thing that follows from the state as it is; `None` once it is settled.
    fn next(&self, rules: &Rules<'_>, now: Timestamp, effects: &mut Vec<Effect>) -> Option<Event> {
        let (thread, policy) = (&self.thread, rules.policy);
        if let Some(turn) = &thread.unassessed {
            let question = if !policy.enabled && policy.inline.enabled {
                Question::Inline(Inline::TurnEnd(turn))
            } else {
                Question::TurnEnd(turn)
            };
            return Some(self.assess(question, rules, now, effects));
        }
        if let Some(judging) = &thread.judging {
            return self.judge(judging, rules, now, effects);
        }
        if let Some(starting) = &thread.starting {
            return Some(self.start(starting.clone(), None, rules));
        }
        if thread.sequence.is_some() {
            return sequence::next(thread, rules);
        }
        if let Some(turn) = &thread.between_requests {
            return self.look_inside_turn(turn, rules, now, effects);
        }
        if !thread.is_idle() {
            return None;
        }
        if let (Some(origin), Some(packet)) = (thread.late_handoff, thread.fresh_packet()) {
            let user = origin == CompactionOrigin::User;
            let trigger = if user { Trigger::User } else { Trigger::Host };
            let starting = Starting { trigger, turn: None, needs_approval: false };
            return Some(self.start(starting, Some(packet.clone()), rules));
        }
        if thread.asked_for {
            return Some(self.assess(Question::Person, rules, now, effects));
        }
        let held = thread.held.front().filter(|held| held.action.is_none())?;
        let question = self.before_input(&held.text, policy).filter(|_| !held.assessed);
        match question {
            Some(question) => Some(self.assess(question, rules, now, effects)),
            None => Some(self.deliver_held(held)),
        }
    }

    /// What is to be asked before a message goes out.
    fn before_input(&self, text: &str, policy: &Policy) -> Option<Question<'_>> {
        if !policy.enabled && policy.inline.enabled {
            let more = Tokens(rewrite::estimate(text));
            return Some(Question::Inline(Inline::BeforeInput(more)));
        }
        self.thread.deferred.as_ref()?.turn.as_ref().map(Question::Preflight)
    }

    /// Between two sampling requests of a turn. What comes to nothing there is recorded only where the tier rose:
    /// there are many of them.
    fn look_inside_turn(
        &self,
        turn: &TurnId,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Option<Event> {
        let (thread, policy) = (&self.thread, rules.policy);
        let percent = thread.percent_remaining()?;
        if !thread.is_in_turn(turn) {
            return None;
        }
        let inline = !policy.enabled && policy.inline.enabled;
        let question = if inline {
            Question::Inline(Inline::MidTurn(turn))
        } else {
            policy.tiers.pick(percent).filter(|_| policy.enabled)?;
            Question::MidTurn(turn)
        };
        let decision = assess(thread, policy, question, now);
        let news = decision.outcome != Outcome::Nothing
            || !inline && decision.tier > thread.mid_turn_tier
            || decision.is_vetoed();
        news.then(|| self.decided(decision, policy, effects))
    }

    /// The question goes out once; its answer is one more thing that the same assessment looks at.
    fn judge(
        &self,
        judging: &Judging,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Option<Event> {
        let asked_by = &judging.asked_by;
        let turn = asked_by.turn.as_ref()?;
        let by = judge(rules.policy.judge, &self.thread);
        let by = by.filter(|source| *source != JudgeSource::Heuristic);
        let Some(by) = by.filter(|_| judging.answer.is_none()) else {
            let question = match asked_by.entrance {
                Entrance::MidTurn => Question::MidTurn(turn),
                Entrance::TurnComplete | Entrance::Preflight | Entrance::Inline => {
                    Question::TurnEnd(turn)
                }
            };
            return Some(self.assess(question, rules, now, effects));
        };
        if judging.action.is_some() {
            return None;
        }
        let (tier, percent) = (asked_by.tier?, asked_by.percent?);
        let path = rules.policy.tiers.rule(tier).decision_prompt_path.as_deref();
        let case = judgment::Case {
            thread: &self.thread,
            tier,
            percent,
            boundaries: asked_by.boundaries,
            last_message: self.thread.known.last_message.as_deref(),
            excerpt: None,
        };
        let kind = Action::Judge {
            request: judging.request.clone(),
            by,
            instructions: rules.prompts.decision(path.unwrap_or_default()).to_owned(),
            context: judgment::context(&case, rules.prompts.text(PromptName::JudgmentContext)),
        };
        let action = ActionId::new(judging.request.as_str());
        effects.push(Effect::Tell(Notice::JudgmentAsked {
            request: judging.request.clone(),
            tier: Some(tier),
        }));
        Some(ActionIssued { action, sequence: self.thread.next_sequence_id(), kind }.into())
    }

    fn assess(
        &self,
        question: Question<'_>,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Event {
        let decision = assess(&self.thread, rules.policy, question, now);
        self.decided(decision, rules.policy, effects)
    }

    fn decided(&self, decision: Decision, policy: &Policy, effects: &mut Vec<Effect>) -> Event {
        let stage = match (decision.outcome, decision.entrance) {
            (Outcome::Tag, _) => Some(Stage::Tagged),
            (Outcome::Suggest, _) => Some(Stage::Recommended),
            (Outcome::Defer, Entrance::Preflight) => Some(Stage::Deferred),
            _ => None,
        };
        let event = Assessed {
            decision: decision.id.clone(),
            entrance: decision.entrance,
            outcome: decision.outcome,
            turn: decision.turn.clone(),
            tier: decision.tier,
            percent: decision.percent,
            boundaries: decision.boundaries,
            vetoed: decision.is_vetoed(),
        };
        let recommendation = stage.map(|stage| HeadsUp {
            sequence: None,
            stage,
            tier: decision.tier,
            percent: decision.percent,
            reason: decision.reason.clone(),
            boundaries: decision.boundaries,
            author: policy.packet_author,
            deadline: None,
        });
        let bypassed = |result: &GateResult| {
            result.gate == Gate::Guard && result.outcome == GateOutcome::Bypassed
        };
        let goes_on = matches!(decision.outcome, Outcome::Compact | Outcome::Ask);
        let over_a_guard = goes_on && decision.gates.iter().any(bypassed);
        effects.push(Effect::Decided(decision));
        effects.extend(over_a_guard.then_some(Effect::Tell(Notice::GuardBypassed)));
        effects.extend(recommendation.map(|heads_up| Effect::Tell(Notice::HeadsUp(heads_up))));
        event.into()
    }

    /// The pre-compact queue. Scratch is not asked for in an emergency, and only at a boundary worth noting down.
    fn requests(&self, trigger: &Trigger, inside_turn: bool, policy: &Policy) -> Vec<Request> {
        use crate::boundary::Boundary::{
            AgentDone, Commit, PlanCheckpoint, PlanUpdate, PrCheckpoint,
        };
        const NOTEWORTHY: Boundaries =
            Boundaries::of(&[Commit, PlanCheckpoint, PlanUpdate, PrCheckpoint, AgentDone]);
        let noteworthy = match trigger {
            Trigger::Rawr { tier, .. } => {
                *tier != Tier::Emergency && !self.thread.present().and(NOTEWORTHY).is_empty()
            }
            Trigger::Inline { .. } => return Vec::new(),
            Trigger::Host | Trigger::User => false,
        };
        let scratch = policy.scratch_write_enabled && noteworthy;
        // Inside a turn only the agent knows what it is in the middle of (spec 5).
        let packet = policy.packet_author == PacketAuthor::Agent || inside_turn;
        let queue = [
            (policy.turn_based_handoff, Request::HeadsUp),
            (scratch, Request::ScratchWrite),
            (packet, Request::Packet),
        ];
        queue.into_iter().filter_map(|(wanted, request)| wanted.then_some(request)).collect()
    }

    fn start(
        &self,
        starting: Starting,
        late: Option<crate::event::Packet>,
        rules: &Rules<'_>,
    ) -> Event {
        let policy = rules.policy;
        let Starting { trigger, turn, needs_approval } = starting;
        let requests = match late {
            Some(_) => Vec::new(),
            None => self.requests(&trigger, turn.is_some(), policy),
        };
        let author = if turn.is_some() { PacketAuthor::Agent } else { policy.packet_author };
        SequenceStarted {
            sequence: self.thread.next_sequence_id(),
            trigger,
            author,
            turn,
            requests,
            needs_approval,
            scratch_file: scratch::file(
                &policy.scratch_file_template,
                &self.thread.id,
                self.thread.agent.as_deref(),
            ),
            land_at_percent: policy.breaker.land_at_percent,
            prompts: SequencePrompts::of(rules.prompts),
            late,
        }
        .into()
    }

    /// Messages that waited go out one by one, in order, each once.
    fn deliver_held(&self, first: &HeldInput) -> Event {
        let sequence =
            self.thread.last_sequence.clone().unwrap_or_else(|| self.thread.next_sequence_id());
        let action = ActionId::new(format!("{sequence}.input.{}", first.id));
        let items = vec![Item { role: ItemRole::Input, text: first.text.clone() }];
        let kind = Action::DeliverInput { input: first.id.clone(), items };
        ActionIssued { action, sequence, kind }.into()
    }
}

/// Whether an event must be on the disk itself, not only in the page cache, before its request is answered:
/// whatever a sequence hangs on, and what a person said.
pub const fn must_be_durable(event: &Event) -> bool {
    match event {
        Event::UsageReported(_)
        | Event::PlanUpdated(_)
        | Event::CommandFinished(_)
        | Event::CommitMade(_)
        | Event::PrCheckpoint(_)
        | Event::BranchChanged(_)
        | Event::ToolStarted(_)
        | Event::ToolFinished(_)
        | Event::PhaseEnded(_)
        | Event::TurnStarted(_)
        | Event::RepoObserved(_)
        | Event::ThreadClosed(_) => false,
        Event::CompactionReported(reported) => {
            !matches!(reported.status, CompactionStatus::Started)
        }
        Event::ThreadOpened(_)
        | Event::TurnCompleted(_)
        | Event::DirectiveGiven(_)
        | Event::DirectiveCleared(_)
        | Event::JudgmentAnswered(_)
        | Event::InputHeld(_)
        | Event::InputCancelled(_)
        | Event::GuardSet(_)
        | Event::GuardCleared(_)
        | Event::Assessed(_)
        | Event::SequenceStarted(_)
        | Event::ActionIssued(_)
        | Event::ActionReported(_)
        | Event::PacketTaken(_)
        | Event::Responded(_)
        | Event::DeadlinePassed(_)
        | Event::SequenceEnded(_) => true,
    }
}
