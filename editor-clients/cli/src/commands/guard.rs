//! `rawr guard`: records a guard that blocks compaction until a condition is met. The thread's owner acts on it.

use std::process::ExitCode;

use anyhow::bail;
use rawr_protocol::{
    ErrorCode, Guard, GuardClearParams, GuardListParams, GuardSetParams, ThreadGetResult, Until,
    methods,
};
use serde_json::json;

use super::common::{CommonOptions, now_ms};
use super::threads::{OfThread, ThreadReader, on_thread, print_result, saved_for};
use crate::args::GuardArgs;
use crate::render;

pub(super) async fn run(common: &CommonOptions, args: GuardArgs) -> anyhow::Result<ExitCode> {
    if args.clear.as_ref().is_some_and(|id| id.is_empty() != args.all) {
        bail!("no guard id; pass `--clear ID`, or `--clear --all` for all guards");
    }
    on_thread(common, &args.thread.id, async |looker, thread| match (until(&args), &args.clear) {
        (Some(until), _) => set(looker, thread, until, &args).await,
        (None, Some(id)) => clear(looker, thread, id, args.output.json).await,
        (None, None) => list(looker, thread, args.output.json).await,
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}

fn until(args: &GuardArgs) -> Option<Until> {
    let turns = args.turns.map(|turns| Until::Turns { turns: turns.into() });
    let minutes = args.minutes.map(|minutes| Until::Minutes { minutes: minutes.into() });
    turns
        .or(minutes)
        .or(args.next_commit.then_some(Until::NextCommit))
        .or(args.tests_pass.then_some(Until::TestsPass))
        .or(args.until_released.then_some(Until::Released))
}

async fn set(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    until: Until,
    args: &GuardArgs,
) -> anyhow::Result<()> {
    let (thread_id, owner) = (thread.thread.thread_id.as_str(), thread.thread.owner.as_deref());
    let params = GuardSetParams {
        thread_id: thread_id.to_owned(),
        until: until.clone(),
        note: args.note.clone(),
    };
    let guard_id = looker.call::<methods::GuardSet>(params).await?.guard_id;
    let lines = [render::guarded(&guard_id, &until), saved_for(&thread.thread, &looker.threads)];
    let guard = guards(looker, thread_id).await?.into_iter().find(|it| it.guard_id == guard_id);
    let body = OfThread { thread_id, body: guard, owner };
    print_result(args.output.json, "guard_set", &body, &lines)
}

async fn clear(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    id: &str,
    as_json: bool,
) -> anyhow::Result<()> {
    let (thread_id, owner) = (thread.thread.thread_id.as_str(), thread.thread.owner.as_deref());
    let one = Some(id.to_owned()).filter(|id| !id.is_empty());
    let params = GuardClearParams { thread_id: thread_id.to_owned(), guard_id: one };
    let cleared = match looker.call::<methods::GuardClear>(params).await {
        Ok(answer) => answer.cleared,
        Err(error) if error.code() == Some(ErrorCode::UnknownName) => bail!(
            "thread {thread_id} has no guard `{id}`; list its guards with `rawr guard {thread_id} --list`"
        ),
        Err(error) => return Err(error.into()),
    };
    let mut lines = vec![render::cleared(cleared)];
    lines.extend((cleared > 0).then(|| saved_for(&thread.thread, &looker.threads)));
    let body = OfThread { thread_id, body: json!({ "cleared": cleared }), owner };
    print_result(as_json, "guard_cleared", &body, &lines)
}

async fn list(
    looker: &mut ThreadReader,
    thread: &ThreadGetResult,
    as_json: bool,
) -> anyhow::Result<()> {
    let thread_id = thread.thread.thread_id.as_str();
    let guards = guards(looker, thread_id).await?;
    for guard in &guards {
        let body = OfThread { thread_id, body: guard, owner: None };
        print_result(as_json, "guard", &body, &[render::guard(guard, now_ms())])?;
    }
    if guards.is_empty() && !as_json {
        let line = format!("Thread {thread_id} has no active guard.");
        print_result(false, "", &(), &[line])?;
    }
    Ok(())
}

async fn guards(looker: &mut ThreadReader, thread_id: &str) -> anyhow::Result<Vec<Guard>> {
    let params = GuardListParams { thread_id: thread_id.to_owned() };
    Ok(looker.call::<methods::GuardList>(params).await?.guards)
}
