//! `rawr status`: shows the state of all threads, or of one. Changes nothing.

use std::process::ExitCode;

use rawr_protocol::{
    DecisionExplainParams, ErrorCode, ThreadGetResult, ThreadSummary, Verdict, methods,
};
use serde::Serialize;

use super::common::{CommonOptions, now_ms};
use super::threads::{ThreadReader, complain, no_thread, on_thread, tell};
use crate::args::StatusArgs;
use crate::render;
use rawr_host::sidecar::SidecarError;

pub(super) async fn run(common: &CommonOptions, args: StatusArgs) -> anyhow::Result<ExitCode> {
    if let Some(wanted) = &args.thread.id {
        on_thread(common, wanted, async |looker, thread| {
            show(looker, thread, args.output.json).await
        })
        .await?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(mut looker) = ThreadReader::start(common).await? else {
        if !args.output.json {
            tell(false, "", &(), &[format!("{}.", no_thread(common)?)])?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let done = all(&mut looker, args.output.json).await;
    looker.leave().await;
    done
}

/// Shows all threads. An unreadable one does not hide the others.
async fn all(looker: &mut ThreadReader, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for (number, summary) in looker.threads.clone().into_iter().enumerate() {
        let id = summary.thread_id.clone();
        let thread = match looker.open(summary).await {
            Ok(thread) => thread,
            Err(error) => {
                complain(&format!("thread {id}: {error}"));
                code = ExitCode::FAILURE;
                continue;
            }
        };
        if number > 0 && !as_json {
            tell(false, "", &(), &[String::new()])?;
        }
        show(looker, &thread, as_json).await?;
    }
    Ok(code)
}

/// A thread's state as a flat object, for status bars.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThreadStatusLine<'s> {
    #[serde(flatten)]
    summary: &'s ThreadSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence_id: Option<&'s str>,
    compaction_asked_for: bool,
    held_inputs: &'s [String],
    boundaries: &'s [rawr_protocol::BoundaryMark],
    guards: &'s [rawr_protocol::Guard],
    directives: &'s [rawr_protocol::Directive],
    #[serde(skip_serializing_if = "Option::is_none")]
    last_decision: Option<&'s Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_compaction: Option<&'s rawr_protocol::LastCompaction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judgments: Option<&'s rawr_protocol::JudgmentTotals>,
}

async fn show(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    as_json: bool,
) -> anyhow::Result<()> {
    let last = last_decision(looker, &thread.thread.thread_id).await?;
    let body = ThreadStatusLine {
        summary: &thread.thread,
        sequence_id: thread.sequence_id.as_deref(),
        compaction_asked_for: thread.compaction_asked_for,
        held_inputs: &thread.held_inputs,
        boundaries: &thread.boundaries,
        guards: &thread.guards,
        directives: &thread.directives,
        last_decision: last.as_ref(),
        last_compaction: thread.last_compaction.as_ref(),
        judgments: thread.judgments.as_ref(),
    };
    tell(as_json, "status", &body, &render::status(thread, last.as_ref(), now_ms()))
}

async fn last_decision(
    looker: &mut ThreadReader,
    thread_id: &str,
) -> Result<Option<Verdict>, SidecarError> {
    let params = DecisionExplainParams { thread_id: thread_id.to_owned(), decision_id: None };
    match looker.call::<methods::DecisionExplain>(params).await {
        Ok(found) => Ok(Some(found.decision.verdict())),
        Err(error) if error.code() == Some(ErrorCode::UnknownName) => Ok(None),
        Err(error) => Err(error),
    }
}
