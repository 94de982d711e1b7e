//! When slow work is started, and what becomes of its result. Nothing here blocks.

use super::clean::redacted;
use super::thread::OpenThread;
use crate::jobs::{Job, JobResult};
use crate::judge::{self, JudgeError, JudgeQuestion};
use rawr_core::event::{
    EndpointLimit, HostAction, JudgeReply, JudgeUsage, JudgmentAnswered, JudgmentSource,
    RepoObserved,
};
use rawr_core::policy::MidTurn;
use rawr_core::thread::Issued;
use rawr_core::units::{JudgeRequestId, Timestamp, Tokens};
use rawr_core::{Event, Input, Record, Thread};
use std::path::PathBuf;

/// Seconds after which a repository is inspected again without another reason.
const LOOK_AGAIN_AFTER: u64 = 60;

/// When a thread's repository was last inspected.
#[derive(Debug, Default)]
pub(super) struct RepoLook {
    asked_at: Option<Timestamp>,
    /// Git failed or is too slow: no retry for a while.
    in_vain: bool,
}

/// Requests an inspection of the repository if these records are a reason for it.
pub(super) fn repository_job(
    open: &mut OpenThread,
    records: &[Record],
    now: Timestamp,
) -> Option<Job> {
    let wanted = records.iter().any(|record| match record.event {
        Event::ThreadOpened(_) | Event::SequenceStarted(_) => true,
        Event::TurnCompleted(_) => under_pressure(open) || at_boundary(open) || is_due(open, now),
        _ => false,
    });
    let settings = open.config().repo_observation;
    let may = open.is_owned()
        && settings.enabled
        && open.policy().enabled
        && (!open.look.in_vain || is_due(open, now));
    if !(wanted && may) {
        return None;
    }
    open.look.asked_at = Some(now);
    let thread = open.thread();
    let (cwd, since) = (PathBuf::from(&thread.session.cwd), thread.known.compacted_head.clone());
    let last = thread.known.repo.clone();
    Some(Job::Observe { cwd, since, last, settings })
}

fn under_pressure(open: &OpenThread) -> bool {
    open.thread().tier(open.policy()).is_some()
}

fn at_boundary(open: &OpenThread) -> bool {
    open.thread().boundaries.iter().any(|mark| mark.spent_by.is_none())
}

fn is_due(open: &OpenThread, now: Timestamp) -> bool {
    // If the clock was set back, the last time means nothing, so that the repository is inspected again.
    open.look.asked_at.is_none_or(|at| now < at || now >= at.plus_seconds(LOOK_AGAIN_AFTER))
}

/// The judgments among these actions that the sidecar asks for itself.
pub(super) fn questions<'i>(
    open: &OpenThread,
    issued: impl IntoIterator<Item = &'i Issued>,
) -> Vec<Job> {
    let job = |issued: &Issued| match &issued.kind {
        HostAction::Judge { request, by, instructions, context }
            if issued.kind.is_for_sidecar() =>
        {
            Some(Job::Judge {
                request: request.clone(),
                source: *by,
                question: JudgeQuestion {
                    instructions: instructions.clone(),
                    context: context.clone(),
                },
                settings: open.config().judgment.clone(),
            })
        }
        _ => None,
    };
    issued.into_iter().filter_map(job).collect()
}

/// Converts an endpoint's answer to an input of the core.
fn answered(
    request: JudgeRequestId,
    source: JudgmentSource,
    answer: Result<judge::EndpointJudgment, JudgeError>,
) -> JudgmentAnswered {
    match answer {
        Ok(said) => JudgmentAnswered {
            request,
            source,
            answer: JudgeReply::Says { should_compact: said.should_compact, reason: said.reason },
            usage: said.usage.map(|usage| JudgeUsage {
                input: Tokens(usage.input),
                output: Tokens(usage.output),
            }),
            rate_limits: said
                .rate_limits
                .into_iter()
                .map(|limit| EndpointLimit { name: limit.name, value: limit.value })
                .collect(),
        },
        Err(error) => JudgmentAnswered {
            request,
            source,
            answer: JudgeReply::Failed { error: error.to_string() },
            usage: None,
            rate_limits: Vec::new(),
        },
    }
}

impl OpenThread {
    /// The jobs that were asked for and whose records are stored.
    pub(super) fn take_jobs(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.batch.jobs)
    }

    /// Handles the result of a job.
    pub(super) async fn finish_job(&mut self, result: JobResult) {
        // The thread may have been closed or lost to another owner in the meantime.
        if !self.is_owned() {
            return;
        }
        match result {
            JobResult::Observed(seen) => {
                self.look.in_vain = seen.is_none();
                if let Some(seen) = seen {
                    self.observed(seen).await;
                }
            }
            // One may be made at any time, and to look for it costs nothing.
            JobResult::NoRepository => self.look = RepoLook::default(),
            JobResult::Judged { request, source, answer } => {
                let answered = answered(request, source, answer);
                self.handle_in_time(Input::Judged(answered)).await;
            }
        }
    }

    async fn observed(&mut self, seen: RepoObserved) {
        // The stored state is redacted.
        let (seen, _) = redacted(Input::Saw(seen.into()));
        if !is_known(self.thread(), &seen) {
            self.handle_in_time(seen).await;
        }
    }
}

/// Unchanged results are not recorded again, unless there was a compaction since.
fn is_known(thread: &Thread, seen: &Input) -> bool {
    let Input::Saw(Event::RepoObserved(seen)) = seen else { return false };
    let compacted_at = thread.compactions.last.as_ref().map(|compaction| compaction.at);
    thread.known.repo.as_ref() == Some(&seen.repo) && thread.known.repo_seen_at >= compacted_at
}

/// Before a sequence may start or the judge is asked, the prompts are read from disk.
pub(super) fn may_start_a_sequence(input: &Input, open: &OpenThread) -> bool {
    let (thread, policy) = (open.thread(), open.policy());
    match input {
        Input::Saw(Event::TurnCompleted(_)) | Input::Respond(_) | Input::Judged(_) => true,
        Input::Submitted { .. } => thread.stage.waiting().is_some(),
        Input::Saw(Event::UsageReported(reported)) => {
            let pressed = thread.tier(policy).is_some();
            reported.needs_follow_up && pressed && policy.mid_turn != MidTurn::Off
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
