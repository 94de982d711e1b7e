//! `rawr compact`: records a request for a compaction, or the answer to one. The thread's owner acts on it.

use std::process::ExitCode;

use rawr_protocol::{Choice, ThreadGetResult};
use serde::Serialize;

use super::common::CommonOptions;
use super::respond::{UserResponse, record, respond};
use super::threads::{OfThread, ThreadReader, complain, no_thread, on_thread, print_result};
use crate::args::CompactArgs;
use crate::render::causes;

pub(super) async fn run(common: &CommonOptions, args: CompactArgs) -> anyhow::Result<ExitCode> {
    let as_json = args.output.json;
    let choice = match (args.approve, args.cancel) {
        (true, _) => Choice::Approve,
        (_, true) => Choice::Cancel,
        (false, false) => Choice::CompactNow,
    };
    let wish = UserResponse { choice, until: None };
    // The arguments are a thread or --all-idle.
    if let Some(wanted) = &args.thread.id {
        on_thread(common, wanted, async |looker, thread| {
            respond(looker, thread, &wish, as_json).await
        })
        .await?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(mut looker) = ThreadReader::start(common).await? else {
        return nothing_to_ask(as_json, &format!("{}.", no_thread(common)?));
    };
    let done = all_idle(&mut looker, &wish, as_json).await;
    looker.leave().await;
    done
}

/// Asks each running thread that is idle. One that cannot be asked does not keep the others from it.
async fn all_idle(
    looker: &mut ThreadReader,
    wish: &UserResponse,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let running = looker.threads.iter().filter(|thread| thread.owner.is_some());
    let running: Vec<_> = running.cloned().collect();
    if running.is_empty() {
        const NONE: &str = "No thread is running. `rawr status` shows all threads; `rawr compact THREAD` requests a compaction for when one runs again.";
        return nothing_to_ask(as_json, NONE);
    }
    let mut code = ExitCode::SUCCESS;
    for summary in running {
        let id = summary.thread_id.clone();
        let done = match looker.open(summary).await {
            Ok(thread) => ask(looker, &thread, wish, as_json).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = done {
            complain(&format!("thread {id}: {}", causes(&error)));
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

fn nothing_to_ask(as_json: bool, line: &str) -> anyhow::Result<ExitCode> {
    if !as_json {
        print_result(false, "", &(), &[line.to_owned()])?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Serialize)]
struct SkippedLine {
    reason: String,
}

async fn ask(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    wish: &UserResponse,
    as_json: bool,
) -> anyhow::Result<()> {
    let (thread_id, owner) = (thread.thread.thread_id.as_str(), thread.thread.owner.as_deref());
    if let Some(reason) = why_skipped(thread) {
        let line = format!("skipped  {thread_id}: {reason}");
        let body = OfThread { thread_id, body: SkippedLine { reason }, owner };
        return print_result(as_json, "skipped", &body, &[line]);
    }
    let by = owner.map_or_else(String::new, |owner| format!(" of {owner}"));
    let line = format!("asked    {thread_id}{by}");
    record(looker, thread, wish).await?.print(as_json, &[line])
}

/// Why a thread is not asked, if it is not idle.
fn why_skipped(thread: &ThreadGetResult) -> Option<String> {
    let phase = thread.thread.phase;
    if !phase.is_settled() {
        return Some(format!("a compaction is already in progress ({phase})"));
    }
    if thread.turn_running {
        return Some("a turn is running".to_owned());
    }
    match thread.held_inputs.len() {
        0 if thread.compaction_asked_for => Some("a compaction is already requested".to_owned()),
        0 => None,
        1 => Some("a message is waiting".to_owned()),
        count => Some(format!("{count} messages are waiting")),
    }
}
