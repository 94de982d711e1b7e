//! `rawr status`: shows the state of all threads, or of one. Changes nothing.

use std::process::ExitCode;

use rawr_protocol::{
    DecisionExplainParams, ErrorCode, ThreadGetResult, ThreadSummary, Verdict, methods,
};
use serde::Serialize;

use super::common::{CommonOptions, local_now};
use super::threads::{ThreadReader, complain, no_thread, on_thread, print_result};
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
            print_result(false, "", &(), &[format!("{}.", no_thread(common)?)])?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let done = match looker.threads.as_slice() {
        [_, _, ..] if !args.output.json => {
            print_result(false, "", &(), &list(&looker.threads, args.all))
                .map(|()| ExitCode::SUCCESS)
        }
        _ => all(&mut looker, args.output.json).await,
    };
    looker.leave().await;
    done
}

/// Shows all threads in full. An unreadable one does not hide the others.
async fn all(looker: &mut ThreadReader, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for summary in looker.threads.clone() {
        let id = summary.thread_id.clone();
        match looker.open(summary).await {
            Ok(thread) => show(looker, &thread, as_json).await?,
            Err(error) => {
                complain(&format!("thread {id}: {error}"));
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// How many threads that do not run are listed.
const STOPPED: usize = 10;

/// One line for each thread: those that run, then the others, each the latest first.
fn list(threads: &[ThreadSummary], lists_all: bool) -> Vec<String> {
    let (running, stopped): (Vec<_>, Vec<_>) = threads.iter().partition(|thread| thread.running);
    let most = if lists_all { usize::MAX } else { STOPPED };
    let (width, now) = (render::terminal_columns().unwrap_or(usize::MAX), local_now());
    let shown: Vec<_> = running.into_iter().chain(stopped.iter().take(most).copied()).collect();
    let ids: Vec<_> = shown.iter().map(|thread| thread.thread_id.as_str()).collect();
    let lines = shown.iter().zip(render::handles(&ids, &ids));
    let mut lines: Vec<_> =
        lines.map(|(thread, name)| render::thread_line(thread, name, width, &now)).collect();
    let rest = stopped.len().saturating_sub(most);
    if rest > 0 {
        lines.push(format!("… {rest} more: rawr status --all"));
    }
    lines.push("For one thread: rawr status THREAD".to_owned());
    lines
}

/// A thread's state as a flat object, for status bars.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThreadStatusLine<'s> {
    #[serde(flatten)]
    summary: &'s ThreadSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence_id: Option<&'s str>,
    compaction_asked_for: bool,
    held_inputs: &'s [rawr_protocol::HeldInput],
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
        transcript: thread.transcript.as_deref(),
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
    print_result(as_json, "status", &body, &render::status(thread, last.as_ref(), &local_now()))
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
