//! The notices that an event gives rise to, in whichever process it was appended.

use super::{HeadsUp, Machine, Notice, PacketChange, Stage};
use crate::assess;
use crate::boundary::Boundaries;
use crate::event::{
    Action, ActionStatus, Assessed, Entrance, Event, Outcome, Record, Responded, Trigger,
};
use crate::policy::{PacketAuthor, Policy};
use crate::thread::{Judging, Thread};
use crate::units::SequenceId;

impl Machine {
    /// Folds in a record that another process appended, and returns the notices for clients of this process. What follows
    /// from it is left to the owner.
    pub fn follow(&mut self, record: &Record, policy: &Policy) -> Vec<Notice> {
        let mut told = self.fold(record, policy);
        if let Event::Responded(responded) = &record.event {
            told.insert(0, Notice::Responded(responded.clone()));
        }
        told
    }

    pub(super) fn fold(&mut self, record: &Record, policy: &Policy) -> Vec<Notice> {
        let running = self.thread.sequence.as_ref().filter(|running| running.takes_compaction());
        let running = running.map(|sequence| (sequence.id.clone(), sequence.trigger.clone()));
        let packet_before = packet_of(&self.thread);
        let unanswered = answer_of(&self.thread).is_none();
        let held = |thread: &Thread| thread.held_back(policy, record.at);
        let held_before = held(&self.thread).map(|hold| hold.tier);
        self.thread.apply(record);
        let told = self.announce(&record.event, running, policy);
        let held_now = held(&self.thread).filter(|hold| Some(hold.tier) != held_before);
        let answer = answer_of(&self.thread).filter(|_| unanswered);
        let packet = self.packet_changed(&record.event, packet_before);
        told.into_iter().chain(packet).chain(answer).chain(held_now.map(Notice::HeldBack)).collect()
    }

    fn packet_changed(
        &self,
        event: &Event,
        before: Option<(SequenceId, PacketAuthor)>,
    ) -> Option<Notice> {
        let now = packet_of(&self.thread);
        let told = |(sequence, author), change, by| Notice::Packet { sequence, author, change, by };
        match event {
            Event::PacketTaken(_) | Event::SequenceStarted(_) => {
                now.map(|packet| told(packet, PacketChange::Taken, None))
            }
            Event::Responded(Responded { packet: Some(_), by, .. }) => {
                now.map(|packet| told(packet, PacketChange::Edited, by.clone()))
            }
            _ => {
                let running = &self.thread.sequence.as_ref()?.id;
                let lost = before.filter(|(of, _)| of == running && now.is_none());
                lost.map(|packet| told(packet, PacketChange::Outdated, None))
            }
        }
    }

    fn announce(
        &self,
        event: &Event,
        running: Option<(SequenceId, Trigger)>,
        policy: &Policy,
    ) -> Option<Notice> {
        match event {
            Event::Assessed(assessed) => recommended(assessed, policy).map(Notice::HeadsUp),
            Event::SequenceStarted(_) => self.heads_up(policy).map(Notice::HeadsUp),
            Event::ActionIssued(issued) => match &issued.kind {
                Action::Judge { request, .. } => {
                    let tier = self.thread.judging.as_ref()?.asked_by.tier;
                    Some(Notice::JudgmentAsked { request: request.clone(), tier })
                }
                _ => None,
            },
            Event::CompactionReported(report) => {
                let (sequence, trigger) = running.unzip();
                Some(Notice::Compaction { report: report.clone(), sequence, trigger })
            }
            Event::SequenceEnded(ended) => Some(Notice::SequenceEnded(ended.clone())),
            Event::ActionReported(reported) if reported.status == ActionStatus::Failed => {
                let issued = self.thread.action(&reported.action)?;
                let Action::DeliverInput { input, .. } = &issued.kind else { return None };
                let error = reported.error.clone().unwrap_or_default();
                Some(Notice::InputRefused { input: input.clone(), error })
            }
            _ => None,
        }
    }

    /// The banner of the running sequence. There is none if no person can answer: for the built-in compaction, for a
    /// handoff after the compaction, and once the sequence was called off.
    pub fn heads_up(&self, policy: &Policy) -> Option<HeadsUp> {
        let sequence = self.thread.sequence.as_ref()?;
        if sequence.late || sequence.is_inline() || sequence.cancelled.is_some() {
            return None;
        }
        let (tier, percent, boundaries) = match &sequence.trigger {
            Trigger::Rawr { tier, percent, boundaries, .. } => {
                (Some(*tier), Some(*percent), *boundaries)
            }
            Trigger::Inline { .. } | Trigger::Host | Trigger::User => {
                (None, self.thread.percent_remaining(policy), Boundaries::NONE)
            }
        };
        let can_be_stopped = sequence.can_be_stopped();
        Some(HeadsUp {
            sequence: Some(sequence.id.clone()),
            stage: if sequence.approved { Stage::WillCompact } else { Stage::AwaitingApproval },
            tier,
            percent,
            reason: sequence.trigger.reason(),
            boundaries,
            author: sequence.author,
            deadline: self.next_deadline(policy).filter(|_| can_be_stopped),
            can_be_stopped,
        })
    }
}

/// The sequence that has a packet, and the packet's author.
fn packet_of(thread: &Thread) -> Option<(SequenceId, PacketAuthor)> {
    let sequence = thread.sequence.as_ref()?;
    Some((sequence.id.clone(), sequence.packet.as_ref()?.author))
}

/// The banner of a decision that starts no sequence.
fn recommended(assessed: &Assessed, policy: &Policy) -> Option<HeadsUp> {
    let stage = match (assessed.outcome, assessed.entrance) {
        (Outcome::Tag, _) => Stage::Tagged,
        (Outcome::Suggest, _) => Stage::Recommended,
        (Outcome::Defer, Entrance::Preflight) => Stage::Deferred,
        _ => return None,
    };
    Some(HeadsUp {
        sequence: None,
        stage,
        tier: assessed.tier,
        percent: assessed.percent,
        reason: assess::pressed(assessed.tier?, assessed.percent?, assessed.boundaries),
        boundaries: assessed.boundaries,
        author: policy.packet_author,
        deadline: None,
        can_be_stopped: true,
    })
}

/// The answer to the open question: given, reported as failed, or timed out.
fn answer_of(thread: &Thread) -> Option<Notice> {
    let Judging { request, asked_by, answer, .. } = thread.judging.as_ref()?;
    let (source, answer) = answer.clone()?;
    Some(Notice::JudgmentAnswered { request: request.clone(), tier: asked_by.tier, source, answer })
}
