//! The desk's side of work that is done outside of it: when it is asked for, and what becomes of its result. Nothing
//! here waits.

use super::clean::redacted;
use super::{Desk, Open};
use crate::jobs::{Done, Job};
use crate::judge::{self, JudgeError, Question};
use rawr_core::event::{
    Action, Answer, JudgeSource, JudgeUsage, JudgmentAnswered, RateLimit, RepoObserved,
};
use rawr_core::thread::Issued;
use rawr_core::units::{RequestId, ThreadId, Timestamp, Tokens};
use rawr_core::{Event, Input, Record, Thread};
use std::path::PathBuf;

/// A repository is looked at again after so many seconds, even where nothing speaks for it.
const LOOK_AGAIN_AFTER: u64 = 60;

/// When a thread's repository was last looked at.
#[derive(Debug, Default)]
pub(super) struct RepoLook {
    asked_at: Option<Timestamp>,
    /// There is none, or it is too slow: it is left alone for a while, whatever happens.
    in_vain: bool,
}

/// Asks for a look at the repository where these records make it worth one.
pub(super) fn look(
    open: &mut Open,
    id: &ThreadId,
    records: &[Record],
    now: Timestamp,
) -> Option<Job> {
    let wanted = records.iter().any(|record| match record.event {
        Event::ThreadOpened(_) | Event::SequenceStarted(_) => true,
        Event::TurnCompleted(_) => under_pressure(open) || at_boundary(open) || is_due(open, now),
        _ => false,
    });
    let settings = open.config.repo_observation;
    let may = open.owner.is_some()
        && settings.enabled
        && open.config.policy.enabled
        && (!open.look.in_vain || is_due(open, now));
    if !(wanted && may) {
        return None;
    }
    open.look.asked_at = Some(now);
    let thread = open.machine.thread();
    let (cwd, since) = (PathBuf::from(&thread.cwd), thread.known.compacted_head.clone());
    let last = thread.known.repo.clone();
    Some(Job::Observe { thread: id.clone(), cwd, since, last, settings })
}

fn under_pressure(open: &Open) -> bool {
    open.machine.thread().tier(&open.config.policy).is_some()
}

fn at_boundary(open: &Open) -> bool {
    open.machine.thread().boundaries.iter().any(|mark| mark.spent_by.is_none())
}

fn is_due(open: &Open, now: Timestamp) -> bool {
    // A clock that was set back since says nothing: it is looked at once more.
    open.look.asked_at.is_none_or(|at| now < at || now >= at.plus_seconds(LOOK_AGAIN_AFTER))
}

/// The questions among these actions that the sidecar puts itself.
pub(super) fn questions<'i>(
    open: &Open,
    id: &ThreadId,
    issued: impl IntoIterator<Item = &'i Issued>,
) -> Vec<Job> {
    let job = |issued: &Issued| match &issued.kind {
        Action::Judge { request, by, instructions, context } if issued.kind.is_for_sidecar() => {
            Some(Job::Judge {
                thread: id.clone(),
                request: request.clone(),
                source: *by,
                question: Question { instructions: instructions.clone(), context: context.clone() },
                settings: open.config.judgment.clone(),
            })
        }
        _ => None,
    };
    issued.into_iter().filter_map(job).collect()
}

/// What an endpoint said, as the core takes it.
fn answered(
    request: RequestId,
    source: JudgeSource,
    answer: Result<judge::Answer, JudgeError>,
) -> JudgmentAnswered {
    match answer {
        Ok(said) => JudgmentAnswered {
            request,
            source,
            answer: Answer::Says { should_compact: said.should_compact, reason: said.reason },
            usage: said.usage.map(|usage| JudgeUsage {
                input: Tokens(usage.input),
                output: Tokens(usage.output),
            }),
            rate_limits: said
                .rate_limits
                .into_iter()
                .map(|limit| RateLimit { name: limit.name, value: limit.value })
                .collect(),
        },
        Err(error) => JudgmentAnswered {
            request,
            source,
            answer: Answer::Failed { error: error.to_string() },
            usage: None,
            rate_limits: Vec::new(),
        },
    }
}

impl Desk {
    /// What is to be done outside, since the last time it was asked.
    pub fn take_jobs(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.jobs)
    }

    /// A job came to its end.
    pub fn done(&mut self, done: Done, now: Timestamp) {
        match done {
            Done::Observed { thread, seen } => {
                // Closed, or lost to another owner, while somebody looked.
                let Some(open) = self.threads.get_mut(&thread).filter(|open| open.owner.is_some())
                else {
                    return;
                };
                open.look.in_vain = seen.is_none();
                if let Some(seen) = seen {
                    self.observed(&thread, seen, now);
                }
            }
            Done::Judged { thread, request, source, answer } => {
                if self.is_owner(&thread) {
                    let answered = answered(request, source, answer);
                    self.record(&thread, Input::Judged(answered), now);
                }
            }
        }
    }

    fn observed(&mut self, id: &ThreadId, seen: RepoObserved, now: Timestamp) {
        // Compared as it is stored.
        let (seen, _) = redacted(Input::Saw(seen.into()));
        if self.thread(id).is_ok_and(|thread| is_known(thread, &seen)) {
            return;
        }
        self.record(id, seen, now);
    }

    fn record(&mut self, id: &ThreadId, found: Input, now: Timestamp) {
        if let Err(error) = self.handle_in_time(id, found, now) {
            tracing::error!(thread = %id, %error, "what was found out could not be recorded");
        }
    }
}

/// What has not changed is not written again, unless a compaction has made it news.
fn is_known(thread: &Thread, seen: &Input) -> bool {
    let Input::Saw(Event::RepoObserved(seen)) = seen else { return false };
    let compacted_at = thread.last_compaction.as_ref().map(|compaction| compaction.at);
    thread.known.repo.as_ref() == Some(&seen.repo) && thread.known.repo_seen_at >= compacted_at
}

#[cfg(test)]
mod tests;
