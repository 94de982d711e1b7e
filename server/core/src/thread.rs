//! The state of a thread: the fold of its events. Only `Thread::apply` changes it, live and in a replay.

mod apply;
pub mod breaker;
pub mod fate;
mod ids;
mod issued;
mod known;
mod marks;
mod parts;
pub mod sequence;
mod turn;

use breaker::Strike;
use fate::TrackedDecision;
use sequence::Sequence;

pub use apply::FOLD;
pub use issued::{Issued, Progress};
pub use known::{Known, Speaker, StepMove, UserDirective, Utterance, short_title, shortened};
pub use marks::Mark;
pub use parts::{
    Answered, CompactionGuard, CompletedCompaction, Drafts, Judged, Judging, LastPacket,
    Overflowed, Starting, WaitingInput,
};
pub use turn::{Turn, TurnEnd};

use crate::event::{
    Assessed, CompactionInitiator, DeliveredMessage, HostAction, HostInfo, MessageRole, Packet,
    ThreadPhase,
};
use crate::packet::TRIVIAL_CHARS;
use crate::policy::{ConfirmRule, Policy, Pressure, PressureTier, Tiers};
use crate::scratch;
use crate::units::{
    ActionId, EventId, InputId, Percent, SequenceId, SignalId, ThreadId, Timestamp, Tokens, TurnId,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// The state of a thread. Every field follows from its events; only [`Thread::apply`] changes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Thread {
    /// The host's id of the thread.
    pub id: ThreadId,
    /// The newest event that was folded in.
    #[serde(default)]
    pub last_event: EventId,
    /// Numbers below that of events that were not folded, because their lines could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing: Vec<Range<u64>>,
    /// When the newest event was recorded.
    pub updated_at: Timestamp,
    /// The folder that the agent works in.
    pub cwd: String,
    /// The host that runs it.
    pub host: HostInfo,
    /// The model in use, by the host's name for it.
    pub model: Option<String>,
    /// The sub-agent's name; absent for a main thread.
    pub agent: Option<String>,
    /// Where the host keeps its own record.
    pub transcript: Option<String>,
    /// When the host began the conversation; one that goes on under another id keeps it.
    #[serde(default)]
    pub began_at: Option<Timestamp>,
    /// The size of the context window, in tokens.
    pub window: Option<Tokens>,
    /// The window is a guess. It counts for every tier except `emergency`.
    pub window_is_assumed: bool,
    /// The host compacts by itself above this many tokens.
    #[serde(default)]
    pub compacts_above: Option<Tokens>,
    /// The most tokens that fit, learned from a request that the model refused. Counts instead of a larger window.
    #[serde(default)]
    pub learned_window: Option<Tokens>,
    /// The model refused the conversation as too long, and has answered nothing since.
    #[serde(default)]
    pub overflowed: Option<Overflowed>,
    /// Tokens of fixed instructions and tools, as the host reports them; 0 if it does not.
    pub baseline: Tokens,
    /// Tokens in the context now. Unknown between a compaction and the next sampling request, unless the host estimates
    /// it.
    pub context: Option<Tokens>,
    /// How many tokens the first sampling request found cached: instructions and tools.
    pub first_cached: Option<Tokens>,
    /// The smallest context at the start or right after a compaction, in tokens. No compaction gets below it.
    #[serde(default)]
    pub floor: Option<Tokens>,
    /// The host is in review mode, where nothing is compacted.
    pub review_mode: bool,

    /// The newest turns, oldest first.
    pub turns: VecDeque<Turn>,
    /// How many turns of the user or the host have ended.
    pub turns_ended: u32,
    /// The turn whose end has not been assessed. Set by the end of a turn and cleared by `Assessed`, so that a crash
    /// between the two loses nothing.
    pub unassessed: Option<TurnId>,
    /// The sequence of a decision that has not started yet. Cleared by `SequenceStarted`.
    pub starting: Option<Starting>,
    /// The newest assessment, whatever came of it.
    pub last_assessed: Option<Assessed>,
    /// What became of the newest decisions, oldest first.
    #[serde(default)]
    pub fates: VecDeque<TrackedDecision>,
    /// The open question to the judge. Cleared by the assessment that uses its answer.
    pub judging: Option<Judging>,
    /// Calls, failures and tokens of the judge.
    pub judged: Judged,
    /// A decision whose compaction waits for the next message, or a proposal that waits for a confirmation.
    pub deferred: Option<Assessed>,
    /// Since when it waits.
    #[serde(default)]
    pub deferred_since: Timestamp,
    /// Nothing was said for long enough to confirm the proposal.
    #[serde(default)]
    pub idle: bool,
    /// The sample of a packet for a compaction that is proposed and has not started.
    #[serde(default)]
    pub draft: Option<ActionId>,
    /// How many packets were asked for ahead of time, and what the unused ones cost.
    #[serde(default)]
    pub drafts: Drafts,
    /// The turn that is between two sampling requests. Set only while the usage report is the newest event.
    pub between_requests: Option<TurnId>,
    /// The most urgent tier assessed inside the running turn.
    pub mid_turn_tier: Option<PressureTier>,

    /// What is known of the work.
    pub known: Known,
    /// Boundaries that were signaled and are still of use.
    pub boundaries: Vec<Mark>,
    /// The newest signals that came with an id, oldest first: one of the same id is a repeat.
    #[serde(default)]
    pub signals: VecDeque<SignalId>,
    /// Guards that were set and not cleared. Some may have ended: see [`Thread::active_guards`].
    pub guards: Vec<CompactionGuard>,

    /// Messages that wait, oldest first.
    pub held: VecDeque<WaitingInput>,
    /// The newest actions, oldest first.
    pub actions: VecDeque<Issued>,
    /// The sequence that runs.
    pub sequence: Option<Sequence>,
    /// The id of the sequence that ended last.
    pub last_sequence: Option<SequenceId>,
    /// The last answer to a sequence, so that a later one can be refused with its author.
    #[serde(default)]
    pub answered: Option<Answered>,
    /// The last sequence, if it ended while the host may still complete its compaction.
    pub gave_up_on: Option<Box<Sequence>>,
    /// A person asked for a compaction that has not started yet.
    pub asked_for: bool,
    /// The newest packet that was taken.
    pub last_packet: Option<LastPacket>,
    /// A compaction still needs a handoff: it was outside of a sequence, or the sequence could not hand over.
    pub late_handoff: Option<CompactionInitiator>,
    /// How many handoffs of the newest compaction failed.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub handoffs_failed: u32,
    /// The last one failed, and nothing that could change this has happened since.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub handoff_waits: bool,
    /// How many deliveries of messages were asked for; counts their ids.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub deliveries_asked: u32,
    /// The agent was told of a compaction that did not come, and not yet that it will not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub unclosed: bool,
    /// The host's turn in which that compaction happened. It may be the compaction's own turn.
    #[serde(default)]
    pub compacted_in: Option<TurnId>,

    /// A compaction is running, started by anyone.
    pub compaction_running: bool,
    /// When it began.
    #[serde(default)]
    pub compaction_since: Timestamp,
    /// The host has been silent for too long, so messages no longer wait for it.
    pub silent: bool,
    /// The newest compaction.
    pub last_compaction: Option<CompletedCompaction>,
    /// Earlier compactions, oldest first.
    pub compactions: VecDeque<CompletedCompaction>,
    /// Sequences in a row that failed or did not help, oldest first.
    pub strikes: Vec<Strike>,
    /// How many sequences have started.
    pub sequences: u32,
    /// How many decisions have been made.
    pub decisions: u32,
    /// How many guards have been set.
    pub guards_set: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Thread {
    /// A thread of which nothing is known yet.
    pub fn new(id: ThreadId) -> Self {
        Self {
            id,
            last_event: EventId(0),
            missing: Vec::new(),
            updated_at: Timestamp(0),
            cwd: String::new(),
            host: HostInfo::default(),
            model: None,
            agent: None,
            transcript: None,
            began_at: None,
            window: None,
            window_is_assumed: false,
            compacts_above: None,
            learned_window: None,
            overflowed: None,
            baseline: Tokens(0),
            context: None,
            first_cached: None,
            floor: None,
            review_mode: false,
            turns: VecDeque::new(),
            turns_ended: 0,
            unassessed: None,
            starting: None,
            last_assessed: None,
            fates: VecDeque::new(),
            judging: None,
            judged: Judged::default(),
            deferred: None,
            deferred_since: Timestamp(0),
            idle: false,
            draft: None,
            drafts: Drafts::default(),
            between_requests: None,
            mid_turn_tier: None,
            known: Known::default(),
            boundaries: Vec::new(),
            signals: VecDeque::new(),
            guards: Vec::new(),
            held: VecDeque::new(),
            actions: VecDeque::new(),
            sequence: None,
            last_sequence: None,
            answered: None,
            gave_up_on: None,
            asked_for: false,
            last_packet: None,
            late_handoff: None,
            unclosed: false,
            compacted_in: None,
            handoffs_failed: 0,
            handoff_waits: false,
            deliveries_asked: 0,
            compaction_running: false,
            compaction_since: Timestamp(0),
            silent: false,
            last_compaction: None,
            compactions: VecDeque::new(),
            strikes: Vec::new(),
            sequences: 0,
            decisions: 0,
            guards_set: 0,
        }
    }

    /// Percent of the window left, or of what the host fills of it before it compacts by itself. Decisions and displays
    /// use the same number.
    pub fn percent_remaining(&self, policy: &Policy) -> Option<Percent> {
        self.percent_remaining_with(Tokens(0), policy)
    }

    /// Percent of the window left with this many more tokens in the context.
    pub fn percent_remaining_with(&self, more: Tokens, policy: &Policy) -> Option<Percent> {
        let context = Tokens(self.context?.0.saturating_add(more.0));
        let window = self.window?;
        let named = (self.baseline.0 > 0).then_some(self.baseline);
        let cached = || self.cached_baseline(window).filter(|_| policy.built_in_decides());
        let baseline = named.or_else(cached).unwrap_or_default();
        let own = self.compacts_above.filter(|own| *own > baseline);
        Percent::remaining(context, own.map_or(window, |own| own.min(window)), baseline)
    }

    /// The path of its agent's scratch file, relative to the thread's folder.
    pub fn scratch_file(&self, policy: &Policy) -> String {
        scratch::file(&policy.scratch_file_template, &self.id, self.agent.as_deref())
    }

    /// The tier that holds now; none while rawr is off.
    pub fn tier(&self, policy: &Policy) -> Option<PressureTier> {
        if !policy.enabled {
            return None;
        }
        self.tier_at(self.percent_remaining(policy)?, &policy.tiers)
    }

    /// The tier that holds at this percentage. An emergency overrides guards and interrupts the agent, so it needs a
    /// window that the host reported.
    pub fn tier_at(&self, remaining: Percent, tiers: &Tiers) -> Option<PressureTier> {
        let may_hold =
            |tier: &PressureTier| *tier != PressureTier::Emergency || !self.window_is_assumed;
        tiers.holding(Pressure { remaining, used: self.context }).find(may_hold)
    }

    /// The baseline of the built-in compaction if the host reports none (rule `tier.baseline`): what the first
    /// request found cached. More than a quarter of the window is a resumed conversation and not a baseline.
    fn cached_baseline(&self, window: Tokens) -> Option<Tokens> {
        self.first_cached.filter(|cached| cached.0 <= window.0 / 4)
    }

    /// What the thread is waiting for.
    pub fn phase(&self) -> ThreadPhase {
        match &self.sequence {
            // Nothing is compacted any more.
            Some(sequence) if sequence.closes => ThreadPhase::Idle,
            Some(sequence) => sequence.phase(self),
            None if self.judging.is_some() => ThreadPhase::AwaitingJudgment,
            None if self.proposal().is_some() => ThreadPhase::Proposed,
            None if self.deferred.is_some() => ThreadPhase::Deferred,
            None => ThreadPhase::Idle,
        }
    }

    /// Whether only a person can compact now, on hosts where rawr cannot. Messages do not wait for that.
    pub fn awaits_person(&self) -> bool {
        self.phase() == ThreadPhase::AwaitingCompaction
    }

    /// The proposal that waits for a confirmation, with what confirms it.
    pub fn proposal(&self) -> Option<(&Assessed, ConfirmRule)> {
        let deferred = self.deferred.as_ref()?;
        Some((deferred, deferred.confirm?))
    }

    /// The confirmed proposal whose compaction comes when the turn that closes the work has ended.
    pub fn closing(&self) -> Option<&Assessed> {
        self.deferred.as_ref().filter(|deferred| deferred.after_turn)
    }

    /// Whether the next message can wait for a compaction.
    pub fn can_compact_before_message(&self) -> bool {
        let can = self.host.can;
        let has_enough = |least| self.context.is_some_and(|context| context.0 >= least);
        can.queue && can.queue_above_tokens.is_none_or(has_enough)
    }

    /// Whether nothing has happened in it yet.
    pub fn is_new(&self) -> bool {
        self.last_event == EventId(0)
    }

    /// Whether no turn and no compaction is running. A host runs one turn at a time, so only the newest counts: an
    /// older one whose end was never reported must not block the thread forever.
    pub fn is_idle(&self) -> bool {
        self.silent
            || !self.compaction_running
                && !self.turns.back().is_some_and(|turn| self.is_running(turn))
    }

    /// Whether this turn is running and is the newest.
    pub fn is_in_turn(&self, id: &TurnId) -> bool {
        !self.silent
            && !self.compaction_running
            && self.turns.back().is_some_and(|turn| turn.id == *id && turn.is_open())
    }

    /// Whether a submitted message is a repeat: it waits, or its delivery was asked for and not refused. An id that was
    /// used for another text names a new message.
    pub fn takes_care_of(&self, input: &InputId, text: &str) -> bool {
        let same = |item: &DeliveredMessage| item.role == MessageRole::Input && item.text == text;
        let delivered = |issued: &&Issued| match &issued.kind {
            HostAction::DeliverInput { items, .. } => {
                !matches!(issued.progress, Progress::Failed(_)) && items.iter().any(same)
            }
            _ => false,
        };
        self.held.iter().any(|held| held.id == *input && held.text == text)
            || self.deliveries(input).any(|issued| delivered(&issued))
    }

    /// The user's messages that wait or whose delivery the host has not reported.
    pub fn undelivered(&self) -> impl Iterator<Item = (&InputId, &str)> {
        let waits = self.held.iter().map(|held| (&held.id, held.text.as_str()));
        waits.chain(self.pending_actions().filter_map(|issued| {
            let HostAction::DeliverInput { input, .. } = &issued.kind else { return None };
            Some((input, issued.kind.delivered_text()?))
        }))
    }

    /// The actions that deliver messages with this id.
    pub fn deliveries(&self, input: &InputId) -> impl Iterator<Item = &Issued> {
        self.actions.iter().filter(move |issued| {
            matches!(&issued.kind, HostAction::DeliverInput { input: delivered, .. } if delivered == input)
        })
    }

    /// Whether the host is compacting and no deadline of a sequence covers it.
    pub const fn awaits_end_of_compaction(&self) -> bool {
        self.compaction_running && self.sequence.is_none() && self.judging.is_none()
    }

    /// The guards that hold now.
    pub fn active_guards(&self, now: Timestamp) -> impl Iterator<Item = &CompactionGuard> {
        self.guards.iter().filter(move |guard| guard.is_active(self.turns_ended, now))
    }

    /// Whether a message waits only for the host to become idle.
    pub fn waits_for_host(&self) -> bool {
        let waits = self.held.front().is_some_and(|held| held.action.is_none());
        self.sequence.is_none() && self.judging.is_none() && waits && !self.is_idle()
    }

    /// The delivery that the host has not answered and that was not repeated yet. During a sequence its own deadline
    /// applies.
    pub fn unanswered_delivery(&self) -> Option<&ActionId> {
        let front = self.held.front().filter(|held| !held.asked_again)?;
        front.action.as_ref().filter(|_| self.sequence.is_none() && self.judging.is_none())
    }

    /// A compaction's turn ends with its action, even if the host does not report the end of the turn.
    fn is_running(&self, turn: &Turn) -> bool {
        let compacted = |issued: &Issued| {
            matches!(issued.kind, HostAction::Compact { .. }) && !issued.is_open()
        };
        turn.is_open()
            && !turn.action.as_ref().and_then(|action| self.action(action)).is_some_and(compacted)
    }

    /// The turn of this id, if it is remembered.
    pub fn turn(&self, id: &TurnId) -> Option<&Turn> {
        self.turns.iter().rev().find(|turn| turn.id == *id)
    }

    /// The newest action of this id, if it is remembered.
    pub fn action(&self, id: &ActionId) -> Option<&Issued> {
        self.actions.iter().rev().find(|issued| issued.id == *id)
    }

    /// The end of the turn that carried out this action, once it has ended.
    pub fn turn_end_of(&self, action: &ActionId) -> Option<&TurnEnd> {
        let carries =
            |turn: &&Turn| turn.action.as_ref() == Some(action) || turn.steers.contains(action);
        self.turns.iter().rev().find(carries)?.end.as_ref()
    }

    /// Actions without an end. After a restart they are asked for again under the same ids.
    pub fn pending_actions(&self) -> impl Iterator<Item = &Issued> {
        self.actions.iter().filter(|issued| issued.is_open())
    }

    /// Whether an action that hands over may still be carried out.
    pub(crate) fn is_handing_over(&self) -> bool {
        self.pending_actions().any(|issued| issued.kind.hands_over())
    }

    /// The packet that is still to be handed over. Once an attempt has failed, that it grew old does not matter.
    pub fn owed_packet(&self) -> Option<&Packet> {
        let failed = self.last_packet.as_ref().filter(|last| last.failed && !last.handed_over);
        self.fresh_packet().or(failed.map(|last| &last.packet))
    }

    /// The newest packet, if it was not handed over and no turn has ended since.
    pub fn fresh_packet(&self) -> Option<&Packet> {
        let last = self.last_packet.as_ref()?;
        (!last.handed_over && last.turns_ended == self.turns_ended).then_some(&last.packet)
    }

    /// The sample that was asked for ahead of time, if its answer is there or may still come.
    pub(crate) fn usable_draft(&self) -> Option<&ActionId> {
        let draft = self.draft.as_ref()?;
        let usable = |issued: &Issued| {
            issued.is_open() || matches!(issued.progress, Progress::Completed(Some(_)))
        };
        self.action(draft).is_some_and(usable).then_some(draft)
    }

    /// Whether a report of rawr's own compaction is news: a repeat is not.
    pub fn awaits_compaction(&self, action: Option<&ActionId>) -> bool {
        let running = self.sequence.as_ref().filter(|sequence| !sequence.compacted());
        let mut may_come = running.into_iter().chain(self.gave_up_on.as_deref());
        match action {
            Some(action) => may_come.any(|of| of.compact.as_ref() == Some(action)),
            None => self.compaction_running || may_come.next().is_some(),
        }
    }

    /// Whether enough is known of the work for rawr to write a packet itself.
    pub fn has_packet_material(&self) -> bool {
        let known = &self.known;
        let message = known.last_message.as_deref().unwrap_or_default();
        message.trim().chars().count() >= TRIVIAL_CHARS
            || !known.plan.is_empty()
            || !known.directives.is_empty()
            || !known.milestones.is_empty()
    }

    /// The compaction of a sequence.
    pub fn compaction_of(&self, sequence: &SequenceId) -> Option<&CompletedCompaction> {
        let newest_first = self.last_compaction.iter().chain(self.compactions.iter().rev());
        newest_first.into_iter().find(|last| last.sequence.as_ref() == Some(sequence))
    }
}
