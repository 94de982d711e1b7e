//! The one entrance: an input and the time go in, effects come out. Everything that a thread will ever do starts here.

mod observe;

use crate::assess::{Decision, Gate, GateOutcome, GateResult, Question, assess};
use crate::boundary::Boundaries;
use crate::event::{
    Action, ActionIssued, ActionStatus, Assessed, Choice, CompactionOrigin, CompactionReported,
    CompactionStatus, Event, Item, ItemRole, Outcome, Phase, Record, Request, SequenceEnded,
    SequenceStarted, Trigger, Until,
};
use crate::policy::{PacketAuthor, Policy, Tier};
use crate::prompt::{Prompts, SequencePrompts};
use crate::scratch;
use crate::sequence;
use crate::thread::{Issued, Thread};
use crate::units::{ActionId, GuardId, InputId, Percent, SequenceId, Timestamp, TurnId};

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
}

/// Why an input was not taken. Nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    UnknownAction(ActionId),
    UnknownGuard(GuardId),
    UnknownInput(InputId),
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

#[derive(Debug, Clone, PartialEq, Eq)]
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
            Event::SequenceStarted(started) if started.late.is_none() => {
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
            Trigger::Host | Trigger::User => {
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
        if let Some(turn) = &self.thread.unassessed {
            return Some(self.assess(Question::TurnEnd(turn), rules, now, effects));
        }
        if let Some(starting) = &self.thread.starting {
            let requests = self.requests(&starting.trigger, rules.policy);
            return Some(self.start(
                starting.trigger.clone(),
                requests,
                starting.needs_approval,
                None,
                rules,
            ));
        }
        if self.thread.sequence.is_some() {
            return sequence::next(&self.thread, rules);
        }
        if !self.thread.is_idle() {
            return None;
        }
        if let (Some(origin), Some(packet)) = (self.thread.late_handoff, self.thread.fresh_packet())
        {
            let trigger =
                if origin == CompactionOrigin::User { Trigger::User } else { Trigger::Host };
            return Some(self.start(trigger, Vec::new(), false, Some(packet.clone()), rules));
        }
        if self.thread.asked_for {
            return Some(self.assess(Question::Person, rules, now, effects));
        }
        self.deliver_held()
    }

    fn assess(
        &self,
        question: Question<'_>,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Event {
        let decision = assess(&self.thread, rules.policy, question, now);
        let stage = match decision.outcome {
            Outcome::Tag => Some(Stage::Tagged),
            Outcome::Suggest => Some(Stage::Recommended),
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
        };
        let recommendation = stage.map(|stage| HeadsUp {
            sequence: None,
            stage,
            tier: decision.tier,
            percent: decision.percent,
            reason: decision.reason.clone(),
            boundaries: decision.boundaries,
            author: rules.policy.packet_author,
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
    fn requests(&self, trigger: &Trigger, policy: &Policy) -> Vec<Request> {
        use crate::boundary::Boundary::{
            AgentDone, Commit, PlanCheckpoint, PlanUpdate, PrCheckpoint,
        };
        const NOTEWORTHY: Boundaries =
            Boundaries::of(&[Commit, PlanCheckpoint, PlanUpdate, PrCheckpoint, AgentDone]);
        let noteworthy = match trigger {
            Trigger::Rawr { tier, .. } => {
                *tier != Tier::Emergency && !self.thread.present().and(NOTEWORTHY).is_empty()
            }
            Trigger::Host | Trigger::User => false,
        };
        let scratch = policy.scratch_write_enabled && noteworthy;
        let packet = policy.packet_author == PacketAuthor::Agent;
        let queue =
            [(true, Request::HeadsUp), (scratch, Request::ScratchWrite), (packet, Request::Packet)];
        queue.into_iter().filter_map(|(wanted, request)| wanted.then_some(request)).collect()
    }

    fn start(
        &self,
        trigger: Trigger,
        requests: Vec<Request>,
        needs_approval: bool,
        late: Option<crate::event::Packet>,
        rules: &Rules<'_>,
    ) -> Event {
        let policy = rules.policy;
        SequenceStarted {
            sequence: self.thread.next_sequence_id(),
            trigger,
            author: policy.packet_author,
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
    fn deliver_held(&self) -> Option<Event> {
        let first = self.thread.held.front().filter(|held| held.action.is_none())?;
        let sequence =
            self.thread.last_sequence.clone().unwrap_or_else(|| self.thread.next_sequence_id());
        let action = ActionId::new(format!("{sequence}.input.{}", first.id));
        let items = vec![Item { role: ItemRole::Input, text: first.text.clone() }];
        let kind = Action::DeliverInput { input: first.id.clone(), items };
        Some(ActionIssued { action, sequence, kind }.into())
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
        | Event::ThreadClosed(_) => false,
        Event::CompactionReported(reported) => {
            !matches!(reported.status, CompactionStatus::Started)
        }
        Event::ThreadOpened(_)
        | Event::TurnCompleted(_)
        | Event::DirectiveGiven(_)
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
