//! The state of a thread: the fold of its events. Only `Thread::apply` changes it, live and in a replay.

mod apply;
pub mod breaker;
mod compactions;
pub mod fate;
mod gauge;
mod handoffs;
mod ids;
mod issued;
mod known;
mod marks;
mod parts;
pub mod sequence;
mod session;
mod stage;
mod turn;

pub use apply::FOLD;
pub use compactions::Compactions;
pub use gauge::Gauge;
pub use handoffs::Handoffs;
pub use issued::{Issued, Progress};
pub use known::{Known, Speaker, StepMove, UserDirective, Utterance, short_title, shortened};
pub use marks::Mark;
pub use parts::{
    Answered, CompactionGuard, CompletedCompaction, Counts, Decided, Drafts, Judged, LastPacket,
    Overflowed, WaitingInput,
};
pub use session::Session;
pub use stage::{Deferred, Judging, Proposed, Stage, Starting};
pub use turn::{Turn, TurnEnd};

use crate::event::{DeliveredMessage, HostAction, ItemRole, Packet, Phase};
use crate::packet::TRIVIAL_CHARS;
use crate::policy::{Policy, Pressure, Tier, Tiers};
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
    pub last_event: EventId,
    /// Numbers below that of events that were not folded, because their lines could not be read.
    pub missing: Vec<Range<u64>>,
    /// When the newest event was recorded.
    pub updated_at: Timestamp,
    /// What the host said of its session.
    pub session: Session,
    /// How full the context is.
    pub gauge: Gauge,

    /// The newest turns, oldest first.
    pub turns: VecDeque<Turn>,
    /// How many turns of the user or the host have ended.
    pub turns_ended: u32,
    /// The turn whose end has not been assessed. Set by the end of a turn and cleared by `Assessed`, so that a crash
    /// between the two loses nothing.
    pub unassessed: Option<TurnId>,
    /// The turn that is between two sampling requests. Set only while the usage report is the newest event.
    pub between_requests: Option<TurnId>,
    /// The most urgent tier assessed inside the running turn.
    pub mid_turn_tier: Option<Tier>,
    /// Since when the host has been silent for too long, so that messages no longer wait for it.
    pub silent_since: Option<Timestamp>,

    /// How far a compaction has come.
    pub stage: Stage,
    /// When a person asked for a compaction that has not started yet.
    pub asked_at: Option<Timestamp>,
    /// What was decided.
    pub decided: Decided,
    /// The id of the sequence that ended last.
    pub last_sequence: Option<SequenceId>,
    /// The last answer to a sequence, so that a later one can be refused with its author.
    pub answered: Option<Answered>,

    /// What is known of the work.
    pub known: Known,
    /// Boundaries that were signaled and are still of use.
    pub boundaries: Vec<Mark>,
    /// The newest signals that came with an id, oldest first: one of the same id is a repeat.
    pub signals: VecDeque<SignalId>,
    /// Guards that were set and not cleared. Some may have ended: see [`Thread::active_guards`].
    pub guards: Vec<CompactionGuard>,

    /// Messages that wait, oldest first.
    pub held: VecDeque<WaitingInput>,
    /// The newest actions, oldest first.
    pub actions: VecDeque<Issued>,
    /// What the agent still has to be told.
    pub handoffs: Handoffs,
    /// Compactions, started by anyone.
    pub compactions: Compactions,
    /// How many of each there have been.
    pub counts: Counts,
}

impl Thread {
    /// A thread of which nothing is known yet.
    pub fn new(id: ThreadId) -> Self {
        Self {
            id,
            last_event: EventId(0),
            missing: Vec::new(),
            updated_at: Timestamp(0),
            session: Session::default(),
            gauge: Gauge::default(),
            turns: VecDeque::new(),
            turns_ended: 0,
            unassessed: None,
            between_requests: None,
            mid_turn_tier: None,
            silent_since: None,
            stage: Stage::Idle,
            asked_at: None,
            decided: Decided::default(),
            last_sequence: None,
            answered: None,
            known: Known::default(),
            boundaries: Vec::new(),
            signals: VecDeque::new(),
            guards: Vec::new(),
            held: VecDeque::new(),
            actions: VecDeque::new(),
            handoffs: Handoffs::default(),
            compactions: Compactions::default(),
            counts: Counts::default(),
        }
    }

    /// Percent of the window left, or of what the host fills of it before it compacts by itself. Decisions and displays
    /// use the same number.
    pub fn percent_remaining(&self, policy: &Policy) -> Option<Percent> {
        self.percent_remaining_with(Tokens(0), policy)
    }

    /// Percent of the window left with this many more tokens in the context.
    pub fn percent_remaining_with(&self, more: Tokens, policy: &Policy) -> Option<Percent> {
        self.gauge.percent_remaining(more, policy)
    }

    /// The path of its agent's scratch file, relative to the thread's folder.
    pub fn scratch_file(&self, policy: &Policy) -> String {
        scratch::file(&policy.scratch_file_template, &self.id, self.session.agent.as_deref())
    }

    /// The tier that holds now; none while rawr is off.
    pub fn tier(&self, policy: &Policy) -> Option<Tier> {
        if !policy.enabled {
            return None;
        }
        self.tier_at(self.percent_remaining(policy)?, &policy.tiers)
    }

    /// The tier that holds at this percentage. An emergency overrides guards and interrupts the agent, so it needs a
    /// window that the host reported.
    pub fn tier_at(&self, remaining: Percent, tiers: &Tiers) -> Option<Tier> {
        let may_hold = |tier: &Tier| *tier != Tier::Emergency || !self.gauge.window_is_assumed;
        tiers.holding(Pressure { remaining, used: self.gauge.context }).find(may_hold)
    }

    /// What clients show of its stage.
    pub fn phase(&self) -> Phase {
        self.stage.phase(self)
    }

    /// Whether only a person can compact now, on hosts where rawr cannot. Messages do not wait for that.
    pub fn awaits_person(&self) -> bool {
        self.phase() == Phase::AwaitingCompaction
    }

    /// Whether the next message can wait for a compaction.
    pub fn can_compact_before_message(&self) -> bool {
        let can = self.session.host.can;
        let has_enough = |least| self.gauge.context.is_some_and(|context| context.0 >= least);
        can.queue && can.queue_above_tokens.is_none_or(has_enough)
    }

    /// Whether nothing has happened in it yet.
    pub fn is_new(&self) -> bool {
        self.last_event == EventId(0)
    }

    /// Whether no turn and no compaction is running. A host runs one turn at a time, so only the newest counts: an
    /// older one whose end was never reported must not block the thread forever.
    pub fn is_idle(&self) -> bool {
        self.silent_since.is_some()
            || self.compactions.running_since.is_none()
                && !self.turns.back().is_some_and(|turn| self.is_running(turn))
    }

    /// Whether this turn is running and is the newest.
    pub fn is_in_turn(&self, id: &TurnId) -> bool {
        self.silent_since.is_none()
            && self.compactions.running_since.is_none()
            && self.turns.back().is_some_and(|turn| turn.id == *id && turn.is_open())
    }

    /// Whether a submitted message is a repeat: it waits, or its delivery was asked for and not refused. An id that was
    /// used for another text names a new message.
    pub fn takes_care_of(&self, input: &InputId, text: &str) -> bool {
        let same = |item: &DeliveredMessage| item.role == ItemRole::Input && item.text == text;
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
    pub fn awaits_end_of_compaction(&self) -> bool {
        self.compactions.running_since.is_some() && !self.stage.is_at_work()
    }

    /// The guards that hold now.
    pub fn active_guards(&self, now: Timestamp) -> impl Iterator<Item = &CompactionGuard> {
        self.guards.iter().filter(move |guard| guard.is_active(self.turns_ended, now))
    }

    /// Whether a message waits only for the host to become idle.
    pub fn waits_for_host(&self) -> bool {
        let waits = self.held.front().is_some_and(|held| held.action.is_none());
        !self.stage.is_at_work() && waits && !self.is_idle()
    }

    /// The delivery that the host has not answered and that was not repeated yet. During a sequence its own deadline
    /// applies.
    pub fn unanswered_delivery(&self) -> Option<&ActionId> {
        let front = self.held.front().filter(|held| !held.asked_again)?;
        front.action.as_ref().filter(|_| !self.stage.is_at_work())
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
        let failed =
            self.handoffs.last_packet.as_ref().filter(|last| last.failed && !last.handed_over);
        self.fresh_packet().or(failed.map(|last| &last.packet))
    }

    /// The newest packet, if it was not handed over and no turn has ended since.
    pub fn fresh_packet(&self) -> Option<&Packet> {
        let last = self.handoffs.last_packet.as_ref()?;
        (!last.handed_over && last.turns_ended == self.turns_ended).then_some(&last.packet)
    }

    /// The sample that was asked for ahead of time, if its answer is there or may still come.
    pub(crate) fn usable_draft(&self) -> Option<&ActionId> {
        let draft = self.stage.draft()?;
        let usable = |issued: &Issued| {
            issued.is_open() || matches!(issued.progress, Progress::Completed(Some(_)))
        };
        self.action(draft).is_some_and(usable).then_some(draft)
    }

    /// Whether a report of rawr's own compaction is news: a repeat is not.
    pub fn awaits_compaction(&self, action: Option<&ActionId>) -> bool {
        let running = self.sequence().filter(|sequence| !sequence.compacted());
        let mut may_come = running.into_iter().chain(self.compactions.given_up.as_deref());
        match action {
            Some(action) => may_come.any(|of| of.compact() == Some(action)),
            None => self.compactions.running_since.is_some() || may_come.next().is_some(),
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
}
