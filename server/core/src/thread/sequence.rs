//! The state of a sequence: heads-up, packet, compaction, handoff. Part of the fold. The module `sequence` of the crate
//! derives the next event from it, so that a restart continues at any point.

mod requests;

pub use requests::{PreCompactRequest, QueuedRequest, RequestQueue, RequestState};
pub(crate) use requests::{asks_for, purpose};

use super::{Issued, Progress, Proposed, Thread, Turn};
use crate::event::{
    ActionIssued, Choice, CompactionReportStatus, CompactionReported, HostAction, Packet, Phase,
    Purpose, Responded, SequenceStarted, Trigger,
};
use crate::packet;
use crate::policy::{Deadlines, PacketAuthor, Worth};
use crate::prompt::SequencePrompts;
use crate::units::{ActionId, DecisionId, InputId, SequenceId, Timestamp, TurnId};
use serde::{Deserialize, Serialize};

/// A sequence that runs, or one that ended before its compaction was reported.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sequence {
    pub id: SequenceId,
    /// Why it started.
    pub trigger: Trigger,
    /// What it is for.
    pub aim: Aim,
    /// The turn that it runs in. It continues between turns if that one ends first.
    pub turn: Option<TurnId>,
    /// What a person said before it.
    pub occasion: Occasion,
    /// What was in force when it started.
    pub terms: Terms,
    /// What the agent is asked for before the compaction.
    pub requests: RequestQueue,
    /// How many actions were issued; counts their ids.
    pub actions: u32,
    /// The newest action. The sequence waits for its progress.
    pub current: Option<ActionId>,
    /// The packet, once there is one.
    pub packet: Option<Packet>,
    /// How far it has come.
    pub step: Step,
    /// How long it has been waiting there.
    pub wait: Wait,
}

/// What a sequence is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// To compact, and to hand the packet over.
    Compact,
    /// To compact because the model refused the conversation as too long. The agent continues with what it was doing.
    Recover,
    /// To hand a packet over after a compaction that came first.
    HandOver,
    /// To tell the agent that an announced compaction did not come.
    CallOff,
}

/// What a person said before a sequence started. Without it, the sequence is not wanted any more.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Occasion {
    /// The held message that it started before.
    pub message: Option<InputId>,
    /// The decision that waited for the turn of a message that closes the work. A later message says something else.
    pub closing: Option<DecisionId>,
    /// A closing decision whose turn has not ended yet: it waits on when this sequence, which only tells, has ended.
    pub closes_later: Option<Box<Proposed>>,
}

/// What was in force when a sequence started.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Terms {
    /// Who was to write the packet.
    pub author: PacketAuthor,
    /// The scratch file's path, relative to the thread's folder.
    pub scratch_file: String,
    /// The rule that its compaction is measured by.
    pub worth: Worth,
    pub prompts: SequencePrompts,
}

/// How far a sequence has come, with what only this step needs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A person has to approve it.
    Approval,
    /// The agent is asked for what stands in the queue. With the packet, the host is to be asked to compact.
    Preparing,
    /// The host was asked to compact.
    Compacting {
        /// The action that asks it.
        action: ActionId,
        /// The compaction failed; the host's error.
        failure: Option<String>,
    },
    /// The packet is to be given back.
    HandingOff {
        /// How the history was rewritten.
        rewrite: Rewrite,
        /// The action that gives it back.
        action: Option<ActionId>,
    },
    /// A person or a message called the compaction off: the sequence ends.
    CalledOff {
        why: String,
        /// The phase that clients show until the owner has ended the sequence.
        shown: Phase,
        /// The context was compacted meanwhile.
        rewrite: Option<Rewrite>,
    },
    /// The context was compacted while the approval was awaited: the sequence ends.
    Overtaken,
}

/// How the history came to be rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rewrite {
    /// By what the host was asked for.
    Asked(ActionId),
    /// The host was asked, and says that it is done, but not that it compacted.
    Unconfirmed(ActionId),
    /// By someone else.
    Unasked,
}

/// A wait, or one whose deadline has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// The wait began then.
    Since(Timestamp),
    /// The deadline has passed.
    Overdue,
}

impl Sequence {
    /// A sequence as it starts.
    pub fn new(started: &SequenceStarted, at: Timestamp) -> Self {
        let step = match (started.needs_approval, started.only_tells()) {
            (true, _) => Step::Approval,
            (false, true) => Step::HandingOff { rewrite: Rewrite::Unasked, action: None },
            (false, false) => Step::Preparing,
        };
        let aim = match (started.closes, &started.late, started.recovers) {
            (true, ..) => Aim::CallOff,
            (false, Some(_), _) => Aim::HandOver,
            (false, None, true) => Aim::Recover,
            (false, None, false) => Aim::Compact,
        };
        Self {
            id: started.sequence.clone(),
            trigger: started.trigger.clone(),
            aim,
            turn: started.turn.clone(),
            occasion: Occasion::default(),
            terms: Terms {
                author: started.author,
                scratch_file: started.scratch_file.clone(),
                worth: started.worth,
                prompts: started.prompts.clone(),
            },
            requests: RequestQueue::new(&started.requests, started.sampled),
            actions: 0,
            current: None,
            packet: started.late.clone(),
            step,
            wait: Wait::Since(at),
        }
    }

    /// Takes a sample that was asked for before it started, as if it had asked itself.
    pub(super) fn adopt(&mut self, draft: &ActionId) {
        self.requests.asked(Purpose::PacketRequest, draft);
        self.current = Some(draft.clone());
    }

    /// Whether it is the built-in compaction, which has no packet and no handoff.
    pub const fn is_inline(&self) -> bool {
        matches!(self.trigger, Trigger::Inline { .. })
    }

    /// What clients show of it.
    pub fn phase(&self, thread: &Thread) -> Phase {
        match &self.step {
            Step::Approval | Step::Overtaken => Phase::AwaitingApproval,
            Step::CalledOff { shown, .. } => *shown,
            // Nothing is compacted any more.
            _ if self.aim == Aim::CallOff => Phase::Idle,
            _ if self.is_inline() => Phase::Compacting,
            Step::Preparing => match &self.packet {
                Some(_) if thread.session.host.can.compact_by_person => Phase::AwaitingCompaction,
                Some(_) => Phase::Compacting,
                None => self.requests.phase(),
            },
            Step::Compacting { .. } => Phase::Compacting,
            Step::HandingOff { .. } => Phase::AwaitingHandoff,
        }
    }

    /// When the current wait times out; `None` while nothing times out.
    pub fn deadline(&self, thread: &Thread, deadlines: &Deadlines) -> Option<Timestamp> {
        let Wait::Since(since) = self.wait else { return None };
        let can = thread.session.host.can;
        let waits = self.awaits_answer(thread) || !self.may_act(thread);
        let if_it_waits = |seconds| waits.then(|| since.plus_seconds(seconds));
        match &self.step {
            Step::Approval => Some(since.plus_seconds(deadlines.approval)),
            Step::Preparing if self.is_inline() => if_it_waits(deadlines.compaction),
            Step::Preparing if self.packet.is_none() => {
                if_it_waits(self.requests.deadline(deadlines))
            }
            Step::Preparing if can.compact_by_person => None,
            // A running turn may take its time, as long as something is heard of it.
            Step::Preparing if self.is_inside(thread) && !can.mid_turn_compact => {
                Some(thread.updated_at.plus_seconds(deadlines.compaction))
            }
            Step::Preparing => if_it_waits(deadlines.compaction),
            Step::Compacting { .. } => Some(since.plus_seconds(deadlines.compaction)),
            Step::HandingOff { rewrite: Rewrite::Unconfirmed(_), .. } => {
                Some(since.plus_seconds(deadlines.handoff))
            }
            Step::HandingOff { action: Some(_), .. } => if_it_waits(deadlines.handoff),
            Step::HandingOff { action: None, .. } => if_it_waits(deadlines.compaction),
            // The owner ends it at once. One that has missed why is woken.
            Step::CalledOff { .. } | Step::Overtaken => {
                Some(since.plus_seconds(deadlines.approval))
            }
        }
    }

    /// Whether the deadline of the current wait has passed.
    pub fn is_overdue(&self) -> bool {
        self.wait == Wait::Overdue
    }

    /// Whether the handoff only informs. After a compaction that was not rawr's, or that a refused request made necessary,
    /// and inside of a turn that did not wait for it, the agent does what it was asked last.
    pub const fn only_informs(&self) -> bool {
        match self.aim {
            Aim::Recover => true,
            Aim::HandOver => {
                matches!(self.trigger, Trigger::Host | Trigger::User) || self.turn.is_some()
            }
            Aim::Compact | Aim::CallOff => false,
        }
    }

    /// Whether the history has been rewritten.
    pub const fn compacted(&self) -> bool {
        match &self.step {
            Step::HandingOff { rewrite, .. } | Step::CalledOff { rewrite: Some(rewrite), .. } => {
                !matches!(rewrite, Rewrite::Unconfirmed(_))
            }
            Step::Overtaken => true,
            Step::Approval
            | Step::Preparing
            | Step::Compacting { .. }
            | Step::CalledOff { rewrite: None, .. } => false,
        }
    }

    /// The action that asked the host to compact.
    pub const fn compact(&self) -> Option<&ActionId> {
        match &self.step {
            Step::Compacting { action, .. }
            | Step::HandingOff {
                rewrite: Rewrite::Asked(action) | Rewrite::Unconfirmed(action),
                ..
            } => Some(action),
            Step::Approval
            | Step::Preparing
            | Step::HandingOff { rewrite: Rewrite::Unasked, .. }
            | Step::CalledOff { .. }
            | Step::Overtaken => None,
        }
    }

    /// The action that gives the packet back.
    pub const fn handoff(&self) -> Option<&ActionId> {
        match &self.step {
            Step::HandingOff { action, .. } => action.as_ref(),
            Step::Approval
            | Step::Preparing
            | Step::Compacting { .. }
            | Step::CalledOff { .. }
            | Step::Overtaken => None,
        }
    }

    /// Whether a compaction that completes now counts as this sequence's, no matter who started it.
    pub const fn takes_compaction(&self) -> bool {
        matches!(self.step, Step::Preparing | Step::Compacting { .. } | Step::HandingOff { .. })
    }

    /// Whether the owner has acted on a person's answer. Until then the first answer counts, and later ones are
    /// refused.
    pub fn has_acted_on_answer(&self) -> bool {
        self.takes_compaction() && (self.requests.has_begun() || self.packet.is_some())
    }

    /// Whether a person can still stop it. A compaction that was asked for runs.
    pub const fn can_be_stopped(&self) -> bool {
        matches!(self.step, Step::Approval | Step::Preparing)
    }

    /// What a person can answer, the default first. A compaction that the host was asked for cannot be stopped.
    pub const fn allowed_answers(&self) -> &'static [Choice] {
        use Choice::{Approve, Cancel, EditPacket, Snooze};
        match self.step {
            Step::Approval => &[Approve, Snooze, Cancel, EditPacket],
            Step::Preparing if self.is_inline() => &[Snooze, Cancel],
            Step::Preparing => &[Snooze, Cancel, EditPacket],
            Step::Compacting { .. }
            | Step::HandingOff { .. }
            | Step::CalledOff { .. }
            | Step::Overtaken => &[],
        }
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

    /// Takes note of an action that was issued for it.
    pub fn issued(&mut self, issued: &ActionIssued, at: Timestamp) {
        self.actions += 1;
        self.wait = Wait::Since(at);
        self.current = Some(issued.action.clone());
        let action = issued.action.clone();
        match &issued.kind {
            HostAction::Compact { .. } => self.step = Step::Compacting { action, failure: None },
            HostAction::InjectTurn { purpose: Purpose::Handoff | Purpose::Notice, .. }
            | HostAction::DeliverInput { .. } => {
                let rewrite = match &self.step {
                    Step::Compacting { action, .. } => Rewrite::Unconfirmed(action.clone()),
                    Step::HandingOff { rewrite, .. } => rewrite.clone(),
                    Step::Approval | Step::Preparing | Step::CalledOff { .. } | Step::Overtaken => {
                        Rewrite::Unasked
                    }
                };
                self.step = Step::HandingOff { rewrite, action: Some(action) };
            }
            HostAction::InjectTurn { purpose, .. } => self.requests.asked(*purpose, &action),
            HostAction::SamplePacket { .. } => {
                self.requests.asked(Purpose::PacketRequest, &action);
            }
            HostAction::Judge { .. } => {}
        }
    }

    /// Takes note of its packet.
    pub fn took(&mut self, packet: &Packet, at: Timestamp) {
        self.packet = Some(packet.clone());
        self.wait = Wait::Since(at);
    }

    /// Takes note of a person's answer, given while clients showed this phase.
    pub(super) fn responded(&mut self, responded: &Responded, shown: Phase, at: Timestamp) {
        match responded.choice {
            Choice::CompactNow | Choice::Approve => {
                if self.step == Step::Approval {
                    (self.step, self.wait) = (Step::Preparing, Wait::Since(at));
                }
            }
            Choice::Snooze | Choice::Cancel => {
                if let Some(why) = responded.choice.stops().filter(|_| self.can_be_stopped()) {
                    self.step = Step::CalledOff { why: why.to_owned(), shown, rewrite: None };
                }
            }
            Choice::EditPacket => {
                if let Some(text) = &responded.packet {
                    let resume = packet::resume_state(text);
                    self.packet = Some(Packet {
                        author: PacketAuthor::Person,
                        resume,
                        text: text.clone(),
                        added: Vec::new(),
                    });
                }
            }
        }
    }

    /// A message says that its compaction is not wanted any more. What a person has yet to approve stays theirs to
    /// decide.
    pub(super) fn call_off(&mut self, why: &str, shown: Phase) {
        if self.step == Step::Preparing {
            self.step = Step::CalledOff { why: why.to_owned(), shown, rewrite: None };
        }
    }

    /// Work was done since the packet was written: drops it, so that it is asked for again.
    pub fn packet_grew_stale(&mut self) {
        let edited =
            self.packet.as_ref().is_some_and(|packet| packet.author == PacketAuthor::Person);
        if self.can_be_stopped() && !edited {
            self.packet = None;
            if self.requests.ask_packet_again() {
                self.current = None;
            }
        }
    }

    /// Takes note of a report about its compaction.
    pub fn compaction_reported(&mut self, reported: &CompactionReported) {
        match reported.status {
            CompactionReportStatus::Started => {}
            CompactionReportStatus::Completed => self.history_rewritten(),
            CompactionReportStatus::Failed => {
                if let Some(action) = self.compact().filter(|_| !self.compacted()).cloned() {
                    let error = reported.error.as_deref().unwrap_or("the host gave no reason");
                    self.step = Step::Compacting { action, failure: Some(error.to_owned()) };
                }
            }
        }
    }

    fn history_rewritten(&mut self) {
        match &mut self.step {
            Step::Approval => self.step = Step::Overtaken,
            Step::Preparing => {
                self.step = Step::HandingOff { rewrite: Rewrite::Unasked, action: None };
            }
            Step::Compacting { action, .. } => {
                let rewrite = Rewrite::Asked(action.clone());
                self.step = Step::HandingOff { rewrite, action: None };
            }
            Step::HandingOff { rewrite, .. } => {
                if let Rewrite::Unconfirmed(action) = rewrite {
                    *rewrite = Rewrite::Asked(action.clone());
                }
            }
            Step::CalledOff { rewrite, .. } => *rewrite = Some(Rewrite::Unasked),
            Step::Overtaken => {}
        }
    }
}

impl Wait {
    /// When it began; none once its deadline has passed.
    pub const fn since_mut(&mut self) -> Option<&mut Timestamp> {
        match self {
            Self::Since(since) => Some(since),
            Self::Overdue => None,
        }
    }
}

/// The marker of an injected message, for hosts that cannot tell synthetic turns from others.
pub fn marker(sequence: &SequenceId, purpose: Purpose) -> String {
    format!("[rawr:{sequence}:{}]", purpose.name())
}

/// The text with its marker.
pub fn marked(text: &str, sequence: &SequenceId, purpose: Purpose) -> String {
    format!("{}\n\n{}", text.trim_end(), marker(sequence, purpose))
}
