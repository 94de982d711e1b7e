//! The entrance of the crate: an input and the time go in, effects come out. See [`Machine`].

mod announce;
mod banner;
mod bound;
mod durable;
mod next;
mod observe;
mod repo;
#[cfg(test)]
mod tests;

pub use bound::Bound;
pub use durable::must_be_durable;

use crate::assess::DecisionRecord;
use crate::boundary::Boundaries;
use crate::event::{
    Choice, CompactionReported, Event, GuardEnd, JudgeReply, JudgmentAnswered, JudgmentSource,
    Phase, Record, Responded, SequenceEnded, Trigger,
};
use crate::policy::{PacketAuthor, Policy, Tier};
use crate::rules::Rules;
use crate::thread::breaker::Hold;
use crate::thread::fate::Fate;
use crate::thread::{Answered, Issued, Stage, Thread};
use crate::units::{
    ActionId, DirectiveId, EventId, GuardId, InputId, JudgeRequestId, Percent, SequenceId,
    SignalId, Timestamp, TurnId,
};

/// What happened, as the caller observed it.
#[derive(Debug, Clone)]
pub enum Input {
    /// An event as it is stored. Leave its boundaries and directives empty: the machine fills them in.
    Saw(Event),
    /// A shell command finished. The machine reads boundaries and test results from it.
    Command {
        /// The turn that ran it, where known.
        turn: Option<TurnId>,
        /// The host's id of the command. A second report with the same id is ignored.
        signal: Option<SignalId>,
        command: ShellCommand,
        exit_code: i64,
        /// The folder that it ran in; `None`: the thread's.
        cwd: Option<String>,
    },
    /// A user is about to send a message. It may have to wait for a sequence.
    Submitted {
        /// The client's id of the message. Submitting the same id and text again is a repeat and is ignored.
        input: InputId,
        /// The message, unchanged.
        text: String,
        /// A message for the agent or a local command.
        kind: InputKind,
    },
    /// The judge answered. An answer to any but the open question is ignored.
    Judged(JudgmentAnswered),
    /// A person answered the banner, or asked for a compaction.
    Respond(Response),
    /// A client asks that nothing is compacted for a while.
    SetGuard {
        /// When the guard ends.
        until: GuardEnd,
        /// A remark for people.
        note: Option<String>,
        /// Who set it.
        by: Option<String>,
    },
    /// The time of [`Machine::wakes_at`] has come, a stored thread was opened, or another process appended something.
    /// Before that time it records no timeout, but the owner still takes every step that follows from the state.
    Tick,
}

/// A shell command, in the form in which the host reports it.
#[derive(Debug, Clone)]
pub enum ShellCommand {
    /// One line for a shell.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

/// What a user submits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// A message for the agent.
    Message,
    /// A shell command that the user runs in the host. It never waits.
    LocalCommand,
}

/// What a person wants, from a banner or a command.
#[derive(Debug, Clone)]
pub struct Response {
    /// The wish itself.
    pub choice: Choice,
    /// The sequence that the answer is for; `None`: the one that runs.
    pub sequence: Option<SequenceId>,
    /// For [`Choice::Snooze`]: for how many turns. Defaults to 1.
    pub turns: Option<u32>,
    /// For [`Choice::Snooze`]: for how many minutes. Takes precedence over `turns`.
    pub minutes: Option<u32>,
    /// For [`Choice::EditPacket`]: the new text, not blank.
    pub packet: Option<String>,
    /// Who answered.
    pub by: Option<String>,
}

/// What the caller has to do. Store every [`Effect::Record`] of a batch first, then carry out the others in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Append this line to `events.jsonl`. [`must_be_durable`] says whether it must be synced first.
    Record(Record),
    /// Append this decision to `decisions.jsonl` if [`DecisionRecord::is_worth_storing`].
    Decided(Box<DecisionRecord>),
    /// Ask the host, or the judge, for this action. Asking again under the same id is safe.
    Perform(Box<Issued>),
    /// Tell subscribed clients.
    Tell(Notice),
}

/// News for people and clients. Losing one changes nothing in the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A banner is shown.
    HeadsUp(HeadsUpBanner),
    /// Phase, tier, percent, guards, directives or the last compaction changed. At most one in a batch.
    Changed,
    /// A compaction started, completed or failed.
    Compaction {
        /// What the host reported.
        report: CompactionReported,
        /// The sequence that it belongs to, if any.
        sequence: Option<SequenceId>,
        /// Why that sequence started.
        trigger: Option<Trigger>,
    },
    /// The host refused a message that had waited. It is not sent again.
    InputRefused {
        /// The message.
        input: InputId,
        /// The host's error.
        error: String,
    },
    /// The judge was asked, by an action.
    JudgmentAsked {
        /// The question's id.
        request: JudgeRequestId,
        /// The tier at which it was asked.
        tier: Option<Tier>,
    },
    /// The judge answered, or failed to.
    JudgmentAnswered {
        /// The question's id.
        request: JudgeRequestId,
        /// The tier at which it was asked.
        tier: Option<Tier>,
        /// Who answered.
        source: JudgmentSource,
        /// The answer, or why there is none.
        answer: JudgeReply,
    },
    /// A person answered at another client.
    Responded(Responded),
    /// The running sequence has a new packet, or none any longer.
    Packet {
        /// The running sequence.
        sequence: SequenceId,
        /// Who wrote the packet.
        author: PacketAuthor,
        /// What happened to it.
        change: PacketChange,
        /// Who edited it.
        by: Option<String>,
    },
    SequenceEnded(SequenceEnded),
    /// An emergency or a person overrode an active guard.
    GuardBypassed,
    /// The breaker pauses compactions that it did not pause before.
    HeldBack(Hold),
}

/// What happened to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketChange {
    /// The packet is there and will be carried across.
    Taken,
    /// A person replaced it.
    Edited,
    /// Work was done since it was written. It is asked for again.
    Outdated,
}

/// The banner that clients show. See [`Machine::heads_up`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadsUpBanner {
    /// The sequence that it announces; absent for advice and for a deferred compaction.
    pub sequence: Option<SequenceId>,
    /// What the user can expect.
    pub stage: BannerStage,
    /// How far the thread has come.
    pub phase: Phase,
    /// The tier; absent where a person asked.
    pub tier: Option<Tier>,
    /// Percent of the context window left.
    pub percent: Option<Percent>,
    /// Why a compaction comes, for people.
    pub reason: String,
    /// The boundaries that spoke for it.
    pub boundaries: Boundaries,
    /// Who wrote the packet or will write it.
    pub author: PacketAuthor,
    /// When it goes on, or is called off, by itself.
    pub deadline: Option<Timestamp>,
    /// What a person can answer, the default first. No answer stops a compaction that the host was asked for.
    pub answers: &'static [Choice],
}

/// What a banner announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BannerStage {
    /// A compaction comes.
    WillCompact,
    /// A compaction comes if a person approves it.
    AwaitingApproval,
    /// A compaction is recommended (`mode = "suggest"`).
    Recommended,
    /// A compaction would have come (`mode = "tag"`).
    Tagged,
    /// A compaction comes before the next message.
    Deferred,
}

/// Why an input was refused. Nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No action of this id was issued.
    UnknownAction(ActionId),
    /// No guard of this id is set.
    UnknownGuard(GuardId),
    /// No message of this id waits.
    UnknownInput(InputId),
    /// No directive of this id is in force.
    UnknownDirective(DirectiveId),
    /// No sequence runs, and none is about to start.
    NoSequence,
    /// The answer is not possible in this phase.
    NotNow(Phase),
    /// The running sequence is another one; this is its id.
    OtherSequence(SequenceId),
    /// Another person answered first; this is their answer.
    Answered(Answered),
    /// [`Choice::EditPacket`] without a text.
    PacketMissing,
    /// The thread keeps no more of these.
    Full(Bound),
}

/// Whether a process acts for a thread. Exactly one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessRole {
    /// Performs actions. Only the process that holds the thread's lock may be it.
    Owner,
    /// Records what it sees and leaves the consequences to the owner.
    Observer,
}

/// What clients show of a thread. Compared before and after a batch, so that clients hear of changes only.
#[derive(Debug, PartialEq, Eq)]
pub struct VisibleState {
    phase: Phase,
    percent: Option<Percent>,
    tier: Option<Tier>,
    sequences: u32,
    guards: usize,
    directives: usize,
    host_title: Option<String>,
    compacted_at: Option<Timestamp>,
    strikes: usize,
    fate: Option<Fate>,
    heads_up: Option<HeadsUpBanner>,
}

/// A thread and everything that can happen to it.
///
/// There are four groups of methods:
///
/// - **Rebuild.** [`apply`](Self::apply) folds a stored record in, without effects. A replay calls nothing else.
/// - **Act.** The owner of the thread calls [`handle`](Self::handle) for each input. It records the input, then makes
///   decisions and takes steps of a sequence until there is nothing left to do without another input.
/// - **Observe.** Other processes call [`note`](Self::note) for their own inputs, which records them and decides nothing,
///   and [`follow`](Self::follow) for records that another process appended, the owner's included. The owner follows
///   what observers appended and then calls `handle` with [`Input::Tick`] or its next input.
/// - **Read.** [`thread`](Self::thread), [`visible_state`](Self::visible_state), [`heads_up`](Self::heads_up),
///   [`next_deadline`](Self::next_deadline) and [`wakes_at`](Self::wakes_at) change nothing.
///
/// Under the lock of the log, first follow what others appended since the last call, then call `handle` or `note`. Both
/// change the machine at once, so store all [`Effect::Record`]s they return before doing anything else: before an action
/// is performed, a client is notices, or the request is answered. If storing fails, drop the machine and replay the log.
/// The other effects follow in their order. What is lost between storing and performing is found in
/// [`Thread::pending_actions`] after a restart and is asked for again under the same id.
///
/// Time is an argument. After each call, arrange for an [`Input::Tick`] at [`wakes_at`](Self::wakes_at), and send one
/// when a stored thread is opened. `now` may go backwards: a tick then records [`Event::ClockSetBack`], and each wait
/// counts from there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Machine {
    thread: Thread,
}

impl Machine {
    /// Continues from a thread's state, new or replayed.
    pub const fn new(thread: Thread) -> Self {
        Self { thread }
    }

    /// The state, for reading.
    pub const fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Takes note of how many lines the log has, readable or not.
    pub fn skip_lines(&mut self, lines: u64) {
        self.thread.skip_to(EventId(lines));
    }

    /// Folds in a stored record, without effects: the replay of a log.
    pub fn apply(&mut self, record: &Record) {
        self.thread.apply(record);
    }

    /// When a wait times out; `None` while nothing waits.
    pub fn next_deadline(&self, policy: &Policy) -> Option<Timestamp> {
        let thread = &self.thread;
        match &thread.stage {
            Stage::Running(sequence) => sequence.deadline(thread, &policy.deadlines),
            Stage::Judging(judging) => {
                let seconds = match thread.held.front() {
                    Some(_) => policy.deadlines.judgment.min(policy.judge_wait_seconds),
                    None => policy.deadlines.judgment,
                };
                judging.answer.is_none().then(|| judging.since.plus_seconds(seconds))
            }
            Stage::Idle | Stage::Deferred(_) | Stage::Proposed(_) | Stage::Starting(_) => {
                self.host_deadline(policy).or_else(|| {
                    let proposed = thread.proposal().filter(|of| of.confirmed_at.is_none())?;
                    let silence = policy.silence(thread.session.host.can.cache_seconds);
                    let by_silence = proposed.confirm.by_silence();
                    by_silence.then(|| proposed.since.plus_seconds(silence.seconds))
                })
            }
        }
    }

    /// When the host, which no sequence waits for, has been silent for too long. Of the three waits the first counts.
    fn host_deadline(&self, policy: &Policy) -> Option<Timestamp> {
        let thread = &self.thread;
        let (since, seconds) = if thread.awaits_end_of_compaction() {
            (thread.compactions.running_since?, policy.deadlines.compaction)
        } else if thread.waits_for_host() {
            (thread.updated_at, policy.deadlines.compaction)
        } else if thread.unanswered_delivery().is_some() {
            (thread.updated_at, policy.deadlines.handoff)
        } else {
            return None;
        };
        Some(since.plus_seconds(seconds))
    }

    /// When to send [`Input::Tick`]: at the next deadline, or now if the clock was set back, because the wait would last
    /// too long.
    pub fn wakes_at(&self, policy: &Policy, now: Timestamp) -> Option<Timestamp> {
        let deadline = self.next_deadline(policy)?;
        Some(if self.clock_was_set_back(now) { now } else { deadline })
    }

    /// By more than the clocks of two processes differ.
    fn clock_was_set_back(&self, now: Timestamp) -> bool {
        now.plus_seconds(1) < self.thread.updated_at
    }

    /// For the owner: records the input and takes every step that follows from it.
    ///
    /// # Errors
    ///
    /// [`Refusal`] if the input does not fit the state. Nothing was changed.
    pub fn handle(
        &mut self,
        input: Input,
        rules: &Rules<'_>,
        now: Timestamp,
    ) -> Result<Vec<Effect>, Refusal> {
        let mut effects = Vec::new();
        self.handle_into(input, rules, now, &mut effects)?;
        Ok(effects)
    }

    /// [`Self::handle`] for many inputs: the effects are added to a buffer.
    ///
    /// # Errors
    ///
    /// As for [`Self::handle`]. Ignore what was added to the buffer.
    pub fn handle_into(
        &mut self,
        input: Input,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        self.take(input, ProcessRole::Owner, rules, now, effects)
    }

    /// For other processes: records the input and leaves what follows from it to the owner.
    ///
    /// # Errors
    ///
    /// As for [`Self::handle`].
    pub fn note(
        &mut self,
        input: Input,
        rules: &Rules<'_>,
        now: Timestamp,
    ) -> Result<Vec<Effect>, Refusal> {
        let mut effects = Vec::new();
        self.take(input, ProcessRole::Observer, rules, now, &mut effects)?;
        Ok(effects)
    }

    fn take(
        &mut self,
        input: Input,
        role: ProcessRole,
        rules: &Rules<'_>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        let before = self.visible_state(rules.policy);
        let mut on_message = self.decision_on_message(&input, rules.policy, now);
        if role == ProcessRole::Owner
            && let Some(dropped) = on_message.take_if(|decision| self.drops_proposal(decision))
        {
            let event = self.decided(dropped, rules.policy, effects);
            self.record(event, rules, now, effects);
        }
        let (derived, event) = self.observe(input, on_message.as_ref(), rules.policy, now)?;
        for event in derived.into_iter().chain(event) {
            self.record(event, rules, now, effects);
        }
        // The decision holds for the first step only, because each step changes the state.
        while role == ProcessRole::Owner
            && let Some(event) = self.next(on_message.take(), rules, now, effects)
        {
            self.record(event, rules, now, effects);
        }
        if self.visible_state(rules.policy) != before {
            effects.push(Effect::Tell(Notice::Changed));
        }
        Ok(())
    }

    /// What clients show of the thread now.
    pub fn visible_state(&self, policy: &Policy) -> VisibleState {
        let percent = self.thread.percent_remaining(policy);
        VisibleState {
            phase: self.thread.phase(),
            percent,
            tier: self.thread.tier(policy),
            sequences: self.thread.counts.sequences,
            guards: self.thread.guards.len(),
            directives: self.thread.known.directives.len(),
            host_title: self.thread.known.host_title.clone(),
            compacted_at: self.thread.compactions.last.as_ref().map(|last| last.at),
            strikes: self.thread.compactions.strikes.len(),
            fate: self.thread.decided.fates.back().map(|last| last.fate.clone()),
            heads_up: self.heads_up(policy),
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
        let notices = self.fold(&record, rules.policy);
        let performed = self.performed(&record.event).cloned().map(Box::new).map(Effect::Perform);
        effects.push(Effect::Record(record));
        effects.extend(notices.into_iter().map(Effect::Tell));
        effects.extend(performed);
    }

    /// The action that this event issues.
    fn performed(&self, event: &Event) -> Option<&Issued> {
        match event {
            Event::ActionIssued(issued) => self.thread.action(&issued.action),
            // Again under the same id: the request or the host's report may have been lost.
            Event::DeadlinePassed(_) if !self.thread.stage.is_at_work() => {
                let asked = self.thread.held.front().filter(|held| held.asked_again)?;
                self.thread.action(asked.action.as_ref()?)
            }
            _ => None,
        }
    }
}
