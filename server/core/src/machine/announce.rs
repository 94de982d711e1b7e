//! The notices that an event gives rise to, in whichever process it was appended.

use super::banner::advice;
use super::{Machine, Notice, PacketChange};
use crate::event::{ActionStatus, Event, HostAction, Record, Trigger};
use crate::policy::{PacketAuthor, Policy};
use crate::thread::{Judging, Thread};
use crate::units::SequenceId;

impl Machine {
    /// Folds in a record that another process appended, and returns the notices for clients of this process. What follows
    /// from it is left to the owner.
    pub fn follow(&mut self, record: &Record, policy: &Policy) -> Vec<Notice> {
        let mut notices = self.fold(record, policy);
        if let Event::Responded(responded) = &record.event {
            notices.insert(0, Notice::Responded(responded.as_ref().clone()));
        }
        notices
    }

    pub(super) fn fold(&mut self, record: &Record, policy: &Policy) -> Vec<Notice> {
        let running = self.thread.sequence().filter(|running| running.takes_compaction());
        let running = running.map(|sequence| (sequence.id.clone(), sequence.trigger.clone()));
        let packet_before = packet_of(&self.thread);
        let unanswered = answer_of(&self.thread).is_none();
        let held = |thread: &Thread| thread.held_back(policy, record.at);
        let held_before = held(&self.thread).map(|hold| hold.tier);
        self.thread.apply(record);
        let notices = self.announce(&record.event, running, policy);
        let held_now = held(&self.thread).filter(|hold| Some(hold.tier) != held_before);
        let answer = answer_of(&self.thread).filter(|_| unanswered);
        let packet = self.packet_changed(&record.event, packet_before);
        notices
            .into_iter()
            .chain(packet)
            .chain(answer)
            .chain(held_now.map(Notice::HeldBack))
            .collect()
    }

    fn packet_changed(
        &self,
        event: &Event,
        before: Option<(SequenceId, PacketAuthor)>,
    ) -> Option<Notice> {
        let now = packet_of(&self.thread);
        let notice =
            |(sequence, author), change, by| Notice::Packet { sequence, author, change, by };
        match event {
            Event::PacketTaken(_) | Event::SequenceStarted(_) => {
                now.map(|packet| notice(packet, PacketChange::Taken, None))
            }
            Event::Responded(responded) if responded.packet.is_some() => {
                now.map(|packet| notice(packet, PacketChange::Edited, responded.by.clone()))
            }
            _ => {
                let running = &self.thread.sequence()?.id;
                let lost = before.filter(|(of, _)| of == running && now.is_none());
                lost.map(|packet| notice(packet, PacketChange::Outdated, None))
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
            Event::Assessed(assessed) => {
                advice(&self.thread, assessed, policy).map(Notice::HeadsUp)
            }
            Event::SequenceStarted(_) => self.heads_up(policy).map(Notice::HeadsUp),
            Event::ActionIssued(issued) => match &issued.kind {
                HostAction::Judge { request, .. } => {
                    let tier = self.thread.judging()?.asked_by.tier;
                    Some(Notice::JudgmentAsked { request: request.clone(), tier })
                }
                _ => None,
            },
            Event::CompactionReported(report) => {
                let (sequence, trigger) = running.unzip();
                Some(Notice::Compaction { report: report.as_ref().clone(), sequence, trigger })
            }
            Event::SequenceEnded(ended) => Some(Notice::SequenceEnded(ended.as_ref().clone())),
            Event::ActionReported(reported) if reported.status == ActionStatus::Failed => {
                let issued = self.thread.action(&reported.action)?;
                let HostAction::DeliverInput { input, .. } = &issued.kind else { return None };
                let error = reported.error.clone().unwrap_or_default();
                Some(Notice::InputRefused { input: input.clone(), error })
            }
            _ => None,
        }
    }
}

/// The sequence that has a packet, and the packet's author.
fn packet_of(thread: &Thread) -> Option<(SequenceId, PacketAuthor)> {
    let sequence = thread.sequence()?;
    Some((sequence.id.clone(), sequence.packet.as_ref()?.author))
}

/// The judge's word on the open question, however it came: said, reported as failed, or never.
fn answer_of(thread: &Thread) -> Option<Notice> {
    let Judging { request, asked_by, answer, .. } = thread.judging()?;
    let (source, answer) = answer.clone()?;
    Some(Notice::JudgmentAnswered { request: request.clone(), tier: asked_by.tier, source, answer })
}
