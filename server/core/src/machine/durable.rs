//! Which events must be on disk before their request is answered.

use crate::event::{CompactionReportStatus, Event};

/// Whether an event must be synced to disk before its request is answered: everything that a sequence depends on, and
/// everything that a person said.
pub const fn must_be_durable(event: &Event) -> bool {
    match event {
        Event::UsageReported(_)
        | Event::PlanUpdated(_)
        | Event::CommandFinished(_)
        | Event::CommitMade(_)
        | Event::PrCheckpoint(_)
        | Event::BranchChanged(_)
        | Event::TitleChanged(_)
        | Event::ToolStarted(_)
        | Event::ToolFinished(_)
        | Event::PhaseEnded(_)
        | Event::TurnStarted(_)
        | Event::RepoObserved(_)
        | Event::ThreadClosed(_) => false,
        Event::CompactionReported(reported) => {
            !matches!(reported.status, CompactionReportStatus::Started)
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
