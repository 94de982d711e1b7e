//! The state of a sequence: heads-up, packet, compaction, handoff. Part of the fold. The module `sequence` of the crate
//! derives the next event from it, so that a restart continues at any point.

use super::{Issued, Progress, Thread, Turn};
use crate::event::{
    ActionIssued, AgentRequest, CompactionProgress, CompactionReported, HostAction, MessagePurpose,
    Packet, Responded, SequenceStarted, ThreadPhase, Trigger, UserChoice,
};
use crate::packet;
use crate::policy::{Deadlines, PacketSource, Worth};
use crate::prompt::SequencePrompts;
use crate::units::{ActionId, InputId, SequenceId, Timestamp, TurnId};
use serde::{Deserialize, Serialize};

/// A sequence that runs, or one that ended before its compaction was reported.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sequence {
    /// Its id.
    pub id: SequenceId,
    /// Why it started.
    pub trigger: Trigger,
    /// Who was to write the packet.
    pub author: PacketSource,
    /// Its packet is asked for outside of the conversation.
    #[serde(default)]
    pub sampled: bool,
    /// The model refused the conversation as too long. The agent continues with what it was doing.
    #[serde(default)]
    pub recovers: bool,
    /// The compaction came first, and the sequence only hands over.
    #[serde(default)]
    pub late: bool,
    /// No compaction came, and the sequence only tells the agent of it.
    #[serde(default)]
    pub closes: bool,
    /// The turn that it runs in. It continues between turns if that one ends first.
    pub turn: Option<TurnId>,
    /// The held message that it started before.
    #[serde(default)]
    pub confirmed_by: Option<InputId>,
    /// The turn before it was of a message that closes the work. A later message says something else.
    #[serde(default)]
    pub after_closing: bool,
    /// What is to be asked of the agent before the compaction, in order.
    pub requests: Vec<AgentRequest>,
    /// The scratch file's path, relative to the thread's folder.
    pub scratch_file: String,
    /// The rule that its compaction is measured by.
    pub worth: Worth,
    /// The prompts in force when it started.
    pub prompts: SequencePrompts,
    /// Whether it may go on; false while a person has to approve it.
    pub approved: bool,
    /// Why it was cancelled.
    pub cancelled: Option<String>,
    /// How many actions were issued; counts their ids.
    pub actions: u32,
    /// How many of its [`turns`](Self::turns) have been issued.
    pub turns_issued: usize,
    /// How often the packet was asked for since the last work.
    #[serde(default)]
    pub packet_requests: u32,
    /// The newest action. The sequence waits for its progress.
    pub current: Option<ActionId>,
    /// The compaction that was asked for.
    pub compact: Option<ActionId>,
    /// The host was asked to compact without its provider.
    pub fell_back: bool,
    /// The action that gives the packet back.
    pub handoff: Option<ActionId>,
    /// The packet, once there is one.
    pub packet: Option<Packet>,
    /// What the host reported of the compaction. The end of its turn is the progress of the action.
    pub compaction: CompactionSeen,
    /// When the current wait began.
    pub since: Timestamp,
    /// The deadline of this wait has passed.
    pub overdue: bool,
}

/// What the host reported of a sequence's compaction.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionSeen {
    /// No end so far.
    Nothing,
    /// The history has been rewritten.
    Completed,
    /// The compaction failed; the host's error.
    Failed(String),
}

impl Sequence {
    /// A sequence as it starts.
    pub fn new(started: &SequenceStarted, at: Timestamp) -> Self {
        let (late, settled) = (started.late.is_some(), started.only_tells());
        Self {
            id: started.sequence.clone(),
            trigger: started.trigger.clone(),
            author: started.author,
            sampled: started.sampled,
            recovers: started.recovers,
            late,
            closes: started.closes,
            turn: started.turn.clone(),
            confirmed_by: None,
            after_closing: false,
            requests: started.requests.clone(),
            scratch_file: started.scratch_file.clone(),
            worth: started.worth,
            prompts: started.prompts.clone(),
            approved: !started.needs_approval,
            cancelled: None,
            actions: 0,
            turns_issued: 0,
            packet_requests: 0,
            current: None,
            compact: None,
            fell_back: false,
            handoff: None,
            packet: started.late.clone(),
            compaction: if settled { CompactionSeen::Completed } else { CompactionSeen::Nothing },
            since: at,
            overdue: false,
        }
    }

    /// Takes a sample that was asked for before it started, as if it had asked itself.
    pub(super) fn adopt(&mut self, draft: &ActionId) {
        self.turns_issued = 1;
        self.packet_requests = 1;
        self.current = Some(draft.clone());
    }

    /// Whether it is the built-in compaction, which has no packet and no handoff.
    pub const fn is_inline(&self) -> bool {
        matches!(self.trigger, Trigger::Inline { .. })
    }

    /// What it is waiting for.
    pub fn phase(&self, thread: &Thread) -> ThreadPhase {
        if !self.approved {
            ThreadPhase::AwaitingApproval
        } else if self.is_inline() {
            ThreadPhase::Compacting
        } else if self.handoff.is_some() || self.compacted() {
            ThreadPhase::AwaitingHandoff
        } else if self.compact.is_some() {
            ThreadPhase::Compacting
        } else if self.packet.is_some() {
            match thread.host.can.compact_by_person {
                true => ThreadPhase::AwaitingCompaction,
                false => ThreadPhase::Compacting,
            }
        } else {
            let turn =
                self.turns().nth(self.turns_issued.saturating_sub(1)).unwrap_or(&self.requests);
            match purpose(turn) {
                MessagePurpose::HeadsUp => ThreadPhase::AwaitingHeadsUp,
                MessagePurpose::ScratchWrite => ThreadPhase::AwaitingScratchWrite,
                MessagePurpose::PacketRequest
                | MessagePurpose::Handoff
                | MessagePurpose::Notice => ThreadPhase::AwaitingPacket,
            }
        }
    }

    /// Whether the handoff only informs. After a compaction that was not rawr's, or that a refused request made necessary,
    /// and inside of a turn that did not wait for it, the agent does what it was asked last.
    pub const fn only_informs(&self) -> bool {
        let not_ours = matches!(self.trigger, Trigger::Host | Trigger::User);
        self.recovers || self.late && (not_ours || self.turn.is_some())
    }

    /// Whether the history has been rewritten.
    pub fn compacted(&self) -> bool {
        self.compaction == CompactionSeen::Completed
    }

    /// Whether a compaction that completes now counts as this sequence's, no matter who started it.
    pub const fn takes_compaction(&self) -> bool {
        self.approved && self.cancelled.is_none()
    }

    /// Whether the owner has acted on a person's answer. Until then the first answer counts, and later ones are
    /// refused.
    pub const fn has_acted_on_answer(&self) -> bool {
        self.cancelled.is_none() && self.turns_issued > 0
    }

    /// Whether a person can still stop it. A compaction that was asked for runs.
    pub fn can_be_stopped(&self) -> bool {
        self.compact.is_none() && !self.compacted()
    }

    /// The requests, grouped into turns. An agent gets all of them in one turn, because each turn costs a full request.
    /// A sample is separate, because it cannot write the scratch file.
    pub(crate) fn turns(&self) -> impl Iterator<Item = &[AgentRequest]> {
        let has = |request| self.requests.contains(&request);
        let size = match has(AgentRequest::Packet) {
            false => 1,
            true if self.sampled && has(AgentRequest::ScratchWrite) => self.requests.len() - 1,
            true => self.requests.len(),
        };
        self.requests.chunks(size.max(1))
    }

    /// Whether the host can be asked for something now: it is idle, or the sequence runs inside the running turn.
    pub fn may_act(&self, thread: &Thread) -> bool {
        thread.is_idle() || self.is_inside(thread)
    }

    pub(crate) fn is_inside(&self, thread: &Thread) -> bool {
        self.turn.as_ref().is_some_and(|turn| thread.is_in_turn(turn))
    }

    /// Whether the turn that carries out the newest action is running.
    pub(crate) fn runs(&self, thread: &Thread) -> bool {
        let turn = self.newest_action(thread).and_then(|issued| issued.turn.as_ref());
        turn.and_then(|turn| thread.turn(turn)).is_some_and(Turn::is_open)
    }

    /// Whether an answer to the newest action may still come. A host may report an action as done when its turn begins.
    pub(crate) fn awaits_answer(&self, thread: &Thread) -> bool {
        self.newest_action(thread).is_some_and(|issued| {
            issued.is_open() || issued.progress == Progress::Completed(None) && self.runs(thread)
        })
    }

    pub(crate) fn newest_action<'t>(&self, thread: &'t Thread) -> Option<&'t Issued> {
        thread.action(self.current.as_ref()?)
    }

    /// When the current wait times out; `None` while nothing times out.
    pub fn deadline(&self, thread: &Thread, deadlines: &Deadlines) -> Option<Timestamp> {
        let asked = self.awaits_answer(thread);
        let compacts = self.compact.is_some() && !self.compacted();
        let waits = !self.approved || asked || compacts || !self.may_act(thread);
        let seconds = match self.phase(thread) {
            ThreadPhase::AwaitingApproval => deadlines.approval,
            ThreadPhase::AwaitingHeadsUp => deadlines.heads_up,
            ThreadPhase::AwaitingScratchWrite => deadlines.scratch_write,
            ThreadPhase::AwaitingPacket => deadlines.packet,
            ThreadPhase::AwaitingHandoff if self.handoff.is_some() => deadlines.handoff,
            ThreadPhase::Compacting | ThreadPhase::AwaitingHandoff => deadlines.compaction,
            ThreadPhase::Idle
            | ThreadPhase::AwaitingJudgment
            | ThreadPhase::Deferred
            | ThreadPhase::Proposed
            | ThreadPhase::AwaitingCompaction => {
                return None;
            }
        };
        // A running turn may take its time, as long as something is heard of it.
        let outlasts_turn = self.packet.is_some()
            && self.can_be_stopped()
            && self.is_inside(thread)
            && !thread.host.can.mid_turn_compact;
        let since = if outlasts_turn { thread.updated_at } else { self.since };
        ((waits || outlasts_turn) && !self.overdue).then(|| since.plus_seconds(seconds))
    }

    /// Takes note of an action that was issued for it.
    pub fn issued(&mut self, issued: &ActionIssued, at: Timestamp) {
        self.actions += 1;
        self.since = at;
        self.overdue = false;
        self.current = Some(issued.action.clone());
        match &issued.kind {
            HostAction::Compact { local, .. } => {
                self.compact = Some(issued.action.clone());
                self.fell_back = *local;
                self.compaction = CompactionSeen::Nothing;
            }
            HostAction::InjectTurn {
                purpose: MessagePurpose::Handoff | MessagePurpose::Notice,
                ..
            }
            | HostAction::DeliverInput { .. } => {
                self.handoff = Some(issued.action.clone());
            }
            HostAction::InjectTurn { purpose, .. } => {
                self.turns_issued += 1;
                self.packet_requests += u32::from(*purpose == MessagePurpose::PacketRequest);
            }
            HostAction::SamplePacket { .. } => {
                self.turns_issued += 1;
                self.packet_requests += 1;
            }
            HostAction::Judge { .. } => {}
        }
    }

    /// Takes note of its packet.
    pub fn took(&mut self, packet: &Packet, at: Timestamp) {
        self.packet = Some(packet.clone());
        self.since = at;
        self.overdue = false;
    }

    /// Takes note of a person's answer.
    pub fn responded(&mut self, responded: &Responded, at: Timestamp) {
        match responded.choice {
            UserChoice::CompactNow | UserChoice::Approve => {
                self.approved = true;
                self.since = at;
            }
            UserChoice::Snooze | UserChoice::Cancel => {
                self.cancelled = responded.choice.stops().map(str::to_owned);
            }
            UserChoice::EditPacket => {
                if let Some(text) = &responded.packet {
                    let resume = packet::resume_state(text);
                    self.packet = Some(Packet {
                        author: PacketSource::Person,
                        resume,
                        text: text.clone(),
                        added: Vec::new(),
                    });
                }
            }
        }
    }

    /// Work was done since the packet was written: drops it, so that it is asked for again.
    pub fn packet_grew_stale(&mut self) {
        let edited =
            self.packet.as_ref().is_some_and(|packet| packet.author == PacketSource::Person);
        if self.can_be_stopped() && !edited {
            self.packet = None;
            if self.requests.contains(&AgentRequest::Packet) {
                self.turns_issued = self.turns().count() - 1;
                self.packet_requests = 0;
                self.current = None;
            }
        }
    }

    /// Takes note of a report about its compaction.
    pub fn compaction_reported(&mut self, reported: &CompactionReported) {
        match reported.status {
            CompactionProgress::Started => {}
            CompactionProgress::Completed => self.compaction = CompactionSeen::Completed,
            CompactionProgress::Failed if self.compact.is_some() && !self.compacted() => {
                let error =
                    reported.error.clone().unwrap_or_else(|| "the host gave no reason".to_owned());
                self.compaction = CompactionSeen::Failed(error);
            }
            CompactionProgress::Failed => {}
        }
    }
}

pub(crate) fn purpose(turn: &[AgentRequest]) -> MessagePurpose {
    if turn.contains(&AgentRequest::Packet) {
        MessagePurpose::PacketRequest
    } else if turn.contains(&AgentRequest::ScratchWrite) {
        MessagePurpose::ScratchWrite
    } else {
        MessagePurpose::HeadsUp
    }
}

/// The marker of an injected message, for hosts that cannot tell synthetic turns from others.
pub fn marker(sequence: &SequenceId, purpose: MessagePurpose) -> String {
    format!("[rawr:{sequence}:{}]", purpose.name())
}

/// The text with its marker.
pub fn marked(text: &str, sequence: &SequenceId, purpose: MessagePurpose) -> String {
    format!("{}\n\n{}", text.trim_end(), marker(sequence, purpose))
}
