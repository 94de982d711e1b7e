//! The `events.jsonl` of a thread of rawr. What rawr did itself is left out: the replay decides again.

use super::{LineKind, RecordReader, Told};
use crate::moment::Moment;
use crate::tokens::TokenCounts;
use rawr_core::event::{CompactionOrigin, CompactionReportStatus, TurnOrigin};
use rawr_core::units::TurnId;
use rawr_core::{Event, Record};
use serde::de::IgnoredAny;

#[derive(Debug, Default)]
pub(super) struct EventReader {
    /// A turn of rawr's own that runs.
    own_turn: Option<TurnId>,
    /// The requests of the turn are reported one by one.
    has_requests: bool,
}

impl RecordReader for EventReader {
    fn line(&mut self, line: &[u8], told: &mut Told) -> LineKind {
        match str::from_utf8(line).ok().and_then(|line| Record::parse(line).ok()) {
            Some(record) => {
                told.at = told.at.max(record.at);
                self.event(record.event, told);
                LineKind::Known
            }
            None if serde_json::from_slice::<IgnoredAny>(line).is_ok() => LineKind::Unknown,
            None => LineKind::Malformed,
        }
    }

    fn end(&mut self, _told: &mut Told) {}
}

impl EventReader {
    fn is_own(&self, turn: &TurnId) -> bool {
        self.own_turn.as_ref() == Some(turn)
    }

    fn event(&mut self, event: Event, told: &mut Told) {
        match event {
            Event::TurnStarted(turn) if turn.origin == TurnOrigin::Synthetic => {
                self.own_turn = Some(turn.turn);
            }
            Event::TurnStarted(turn) => {
                (self.own_turn, self.has_requests) = (None, false);
                if let Some(text) = turn.text {
                    told.add(Moment::Prompt(text));
                }
                told.add(Moment::TurnStarted);
            }
            Event::UserMessage(message) => told.add(Moment::Prompt(message.text)),
            Event::UsageReported(report) if !self.is_own(&report.turn) => {
                if let Some(model) = report.model {
                    told.add(Moment::Model(model));
                }
                if let Some(text) = report.last_message {
                    told.add(Moment::Said(text));
                }
                self.has_requests = true;
                if let Some(usage) = report.usage {
                    told.add(Moment::Usage {
                        context: usage.context,
                        window: report.window,
                        counts: TokenCounts::of(&usage),
                        is_part: false,
                        needs_follow_up: report.needs_follow_up,
                    });
                }
            }
            Event::TurnCompleted(turn) if !self.is_own(&turn.turn) => {
                if let Some(text) = turn.last_message {
                    told.add(Moment::Said(text));
                }
                if let Some(usage) = turn.usage {
                    told.add(Moment::Usage {
                        context: usage.context,
                        window: None,
                        counts: TokenCounts::of(&usage),
                        is_part: self.has_requests,
                        needs_follow_up: false,
                    });
                }
                told.add(Moment::TurnEnded(turn.status));
            }
            Event::PlanUpdated(plan) => {
                told.add(Moment::Plan { items: plan.steps, explanation: plan.explanation });
            }
            Event::CommandFinished(command) => told.add(Moment::Command {
                id: command.signal.map(|id| id.as_str().to_owned()),
                words: vec![command.command],
                exit_code: command.exit_code,
                cwd: None,
            }),
            Event::CompactionReported(report)
                if report.status == CompactionReportStatus::Completed
                    && report.origin != CompactionOrigin::Rawr =>
            {
                told.add(Moment::Compacted(report.origin));
            }
            event @ (Event::ThreadOpened(_)
            | Event::CommitMade(_)
            | Event::PrCheckpoint(_)
            | Event::BranchChanged(_)
            | Event::ToolStarted(_)
            | Event::ToolFinished(_)
            | Event::PhaseEnded(_)
            | Event::DirectiveGiven(_)
            | Event::DirectiveCleared(_)
            | Event::RepoObserved(_)) => told.add(Moment::Recorded(Box::new(event))),
            Event::UsageReported(_)
            | Event::TurnCompleted(_)
            | Event::CompactionReported(_)
            | Event::ThreadClosed(_)
            | Event::TitleChanged(_)
            | Event::InputHeld(_)
            | Event::InputCancelled(_)
            | Event::GuardSet(_)
            | Event::GuardCleared(_)
            | Event::Assessed(_)
            | Event::JudgmentAnswered(_)
            | Event::SequenceStarted(_)
            | Event::ActionIssued(_)
            | Event::ActionReported(_)
            | Event::PacketTaken(_)
            | Event::Responded(_)
            | Event::DeadlinePassed(_)
            | Event::ClockSetBack(_)
            | Event::SequenceEnded(_) => {}
        }
    }
}
