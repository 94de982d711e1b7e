//! The one entrance: an input and the time go in, effects come out. Everything that a thread will ever do starts here.

mod announce;
mod bound;
mod next;
mod observe;
mod repo;
#[cfg(test)]
mod tests;

pub use bound::Bound;

use crate::assess::Decision;
use crate::boundary::Boundaries;
use crate::event::{
    Answer, Choice, CompactionReported, CompactionStatus, Event, JudgeSource, JudgmentAnswered,
    Phase, Record, Responded, SequenceEnded, Trigger, Until,
};
use crate::policy::{PacketAuthor, Policy, Tier};
use crate::rules::Rules;
use crate::thread::breaker::Hold;
use crate::thread::fate::Fate;
use crate::thread::{Answered, Issued, Thread};
use crate::units::{
    ActionId, DirectiveId, GuardId, InputId, Percent, RequestId, SequenceId, SignalId, Timestamp,
    TurnId,
};

#[derive(Debug, Clone)]
pub enum Input {
    /// Something happened. Boundaries are filled in here: a caller leaves them empty.
    Saw(Event),
    Command {
        turn: Option<TurnId>,
        signal: Option<SignalId>,
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
    JudgmentAnswered { request: RequestId, tier: Option<Tier>, source: JudgeSource, answer: Answer },
    /// A person stepped in, at another client.
    Responded(Responded),
    /// The running sequence has another packet, or none any more.
    Packet { sequence: SequenceId, author: PacketAuthor, change: PacketChange, by: Option<String> },
    /// The golden path is over, one way or the other.
    SequenceEnded(SequenceEnded),
    /// An emergency, or a person, went over an active guard.
    GuardBypassed,
    /// The breaker holds back what it did not before.
    HeldBack(Hold),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketChange {
    Taken,
    /// By a person.
    Edited,
    /// Work was done behind it: it is asked for again.
    Outdated,
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
    /// Once the compaction has been asked for, no answer stops it.
    pub can_be_stopped: bool,
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
    /// Somebody else was faster.
    Answered(Answered),
    PacketMissing,
    /// As many as a thread keeps.
    Full(Bound),
}

/// Exactly one process, the owner, lets a thread act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Owner,
    Observer,
}

/// What a client shows; compared before and after, so that it hears of changes only.
#[derive(Debug, PartialEq, Eq)]
pub struct Glance {
    phase: Phase,
    percent: Option<Percent>,
    tier: Option<Tier>,
    sequences: u32,
    guards: usize,
    directives: usize,
    compacted_at: Option<Timestamp>,
    strikes: usize,
    fate: Option<Fate>,
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
            None if self.thread.awaits_end_of_compaction() => {
                Some(self.thread.compaction_since.plus_seconds(policy.deadlines.compaction))
            }
            None if self.thread.waits_for_host() => {
                Some(self.thread.updated_at.plus_seconds(policy.deadlines.compaction))
            }
            None if self.thread.unanswered_delivery().is_some() => {
                Some(self.thread.updated_at.plus_seconds(policy.deadlines.handoff))
            }
            None => None,
        }
    }

    /// The next deadline, or at once where the clock was set back: what waits would wait for too long.
    pub fn wakes_at(&self, policy: &Policy, now: Timestamp) -> Option<Timestamp> {
        let deadline = self.next_deadline(policy)?;
        Some(if self.clock_was_set_back(now) { now } else { deadline })
    }

    /// By more than processes differ.
    fn clock_was_set_back(&self, now: Timestamp) -> bool {
        now.plus_seconds(1) < self.thread.updated_at
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

    pub fn glance(&self, policy: &Policy) -> Glance {
        Glance {
            phase: self.thread.phase(),
            percent: self.thread.percent_remaining(policy),
            tier: self.thread.tier(policy),
            sequences: self.thread.sequences,
            guards: self.thread.guards.len(),
            directives: self.thread.known.directives.len(),
            compacted_at: self.thread.last_compaction.as_ref().map(|last| last.at),
            strikes: self.thread.strikes.len(),
            fate: self.thread.fates.back().map(|last| last.fate.clone()),
        }
    }

    fn record(
        &mut self,
        event: Event,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let record = self.thread.next_record(now, event);
        let told = self.fold(&record, rules.policy);
        let performed = self.performed(&record.event).cloned().map(Effect::Perform);
        effects.push(Effect::Record(record));
        effects.extend(told.into_iter().map(Effect::Tell));
        effects.extend(performed);
    }

    /// What the host is asked for by this event.
    fn performed(&self, event: &Event) -> Option<&Issued> {
        match event {
            Event::ActionIssued(issued) => self.thread.action(&issued.action),
            // Once more, under the same id: what was lost may have been the host's word or ours.
            Event::DeadlinePassed(_)
                if self.thread.sequence.is_none() && self.thread.judging.is_none() =>
            {
                let asked = self.thread.held.front().filter(|held| held.asked_again)?;
                self.thread.action(asked.action.as_ref()?)
            }
            _ => None,
        }
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
        | Event::UserMessage(_)
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
        | Event::ClockSetBack(_)
        | Event::PacketTaken(_)
        | Event::Responded(_)
        | Event::DeadlinePassed(_)
        | Event::SequenceEnded(_) => true,
    }
}
