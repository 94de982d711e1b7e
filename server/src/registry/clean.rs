//! Redacts secrets in everything that comes from outside, once, before anything else reads it.

use rawr_core::event::JudgeReply;
use rawr_core::machine::ShellCommand;
use rawr_core::{Event, Input};
use rawr_storage::redact::{redact_counting, redact_words};
use std::cell::Cell;

/// Redacts all texts of an input before they reach the disk or a model. Also returns the number of secrets.
pub(super) fn redacted(mut input: Input) -> (Input, usize) {
    let found = Cell::new(0);
    let clean = |text: &mut String| {
        let (cleaned, secrets) = redact_counting(text);
        if secrets > 0 {
            found.set(found.get() + secrets);
            *text = cleaned.into_owned();
        }
    };
    let maybe = |text: &mut Option<String>| text.iter_mut().for_each(clean);
    match &mut input {
        Input::Saw(event) => match event {
            Event::TurnStarted(started) => maybe(&mut started.text),
            Event::UserMessage(said) => clean(&mut said.text),
            Event::TurnCompleted(completed) => maybe(&mut completed.last_message),
            Event::UsageReported(reported) => maybe(&mut reported.last_message),
            Event::RepoObserved(observed) => {
                maybe(&mut observed.committed);
                let repo = &mut observed.repo;
                maybe(&mut repo.branch);
                maybe(&mut repo.stack);
                repo.files.iter_mut().chain(&mut repo.changed).for_each(clean);
            }
            Event::PlanUpdated(updated) => {
                updated.steps.iter_mut().for_each(|step| clean(&mut step.step));
                maybe(&mut updated.explanation);
            }
            Event::CommitMade(made) => maybe(&mut made.subject),
            Event::PrCheckpoint(pr) => {
                clean(&mut pr.action);
                maybe(&mut pr.url);
            }
            Event::BranchChanged(changed) => clean(&mut changed.branch),
            Event::TitleChanged(changed) => maybe(&mut changed.title),
            Event::ToolStarted(started) => maybe(&mut started.name),
            Event::PhaseEnded(ended) => clean(&mut ended.label),
            Event::DirectiveGiven(given) => clean(&mut given.text),
            Event::ActionReported(reported) => {
                maybe(&mut reported.text);
                maybe(&mut reported.error);
            }
            Event::CompactionReported(reported) => maybe(&mut reported.error),
            _ => {}
        },
        Input::Command { command, .. } => match command {
            ShellCommand::Line(line) => clean(line),
            ShellCommand::Words(words) => {
                if let Some((cleaned, secrets)) = redact_words(words) {
                    found.set(found.get() + secrets);
                    *words = cleaned;
                }
            }
        },
        Input::Judged(answered) => match &mut answered.answer {
            JudgeReply::Says { reason: text, .. } | JudgeReply::Failed { error: text } => {
                clean(text)
            }
        },
        Input::Respond(response) => maybe(&mut response.packet),
        Input::SetGuard { note, .. } => maybe(note),
        // If the message is held, its original text is delivered nevertheless.
        Input::Submitted { text, .. } => clean(text),
        Input::Tick => {}
    }
    (input, found.get())
}
