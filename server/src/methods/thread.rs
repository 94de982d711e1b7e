//! `rawr/thread/*`.

use super::{Ctx, Module, aside, directive, now, on, on_async};
use crate::desk::DeskError;
use crate::wire::{self, Fault, ToWire};
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::{
    ThreadClose, ThreadGet, ThreadList, ThreadOpen, ThreadUnwatch, ThreadWatch,
};
use rawr_protocol::{
    BoundaryMark, Empty, ThreadCloseParams, ThreadGetParams, ThreadGetResult, ThreadListParams,
    ThreadListResult, ThreadOpenParams, ThreadOpenResult, ThreadUnwatchParams, ThreadWatchParams,
    ThreadWatchResult,
};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<ThreadOpen>(module, open)?;
    on::<ThreadClose>(module, close)?;
    on_async::<ThreadList, _>(module, list)?;
    on::<ThreadWatch>(module, watch)?;
    on::<ThreadUnwatch>(module, unwatch)?;
    on::<ThreadGet>(module, get)
}

fn open(ctx: &Ctx, params: ThreadOpenParams) -> Result<ThreadOpenResult, Fault> {
    let opening = wire::opening(params, ctx.client())?;
    let id = opening.thread.clone();
    let mut desk = ctx.desk()?;
    desk.open(opening, now())?;
    let thread = desk.thread(&id)?;
    Ok(ThreadOpenResult {
        thread_id: id.to_string(),
        phase: thread.phase().to_wire(),
        scratch_file: desk.scratch_file(&id)?,
        percent_remaining: desk.percent_remaining(&id)?.map(wire::percent),
        pending_actions: wire::pending(&desk.pending(&id)?),
        owner: desk.is_owner(&id),
    })
}

fn close(ctx: &Ctx, params: ThreadCloseParams) -> Result<Empty, Fault> {
    ctx.desk()?.close(&wire::thread_id(&params.thread_id)?, now())?;
    Ok(Empty {})
}

async fn list(ctx: Arc<Ctx>, _: ThreadListParams) -> Result<ThreadListResult, Fault> {
    let read = ctx.desk()?.list(now());
    let threads = aside(&ctx, read).await?.map_err(DeskError::from)?;
    Ok(ThreadListResult { threads: threads.iter().map(wire::summary).collect() })
}

fn watch(ctx: &Ctx, params: ThreadWatchParams) -> Result<ThreadWatchResult, Fault> {
    let wish = wire::wish(params.thread_id.as_deref(), params.workspace_folder.as_deref())?;
    let threads = ctx.desk()?.watch(wish, now())?;
    Ok(ThreadWatchResult { threads: threads.iter().map(wire::summary).collect() })
}

fn unwatch(ctx: &Ctx, params: ThreadUnwatchParams) -> Result<Empty, Fault> {
    let wish = wire::wish(params.thread_id.as_deref(), params.workspace_folder.as_deref())?;
    ctx.desk()?.unwatch(&wish);
    Ok(Empty {})
}

fn get(ctx: &Ctx, params: ThreadGetParams) -> Result<ThreadGetResult, Fault> {
    let id = wire::thread_id(&params.thread_id)?;
    let desk = ctx.desk()?;
    let thread = desk.thread(&id)?;
    Ok(ThreadGetResult {
        thread: wire::summary(&desk.summary_of_open(&id, now())?),
        plan: wire::plan(thread),
        guards: thread.guards.iter().map(wire::guard).collect(),
        directives: directive::in_force(thread),
        boundaries: thread
            .boundaries
            .iter()
            .map(|mark| BoundaryMark {
                boundary: mark.boundary.to_wire(),
                turn_id: mark.turn.as_ref().map(ToString::to_string),
                spent_by: mark.spent_by.as_ref().map(ToString::to_string),
                label: mark.label.clone(),
            })
            .collect(),
        last_compaction: thread.last_compaction.as_ref().map(wire::last_compaction),
        pending_actions: wire::pending(&desk.pending(&id)?),
        held_inputs: thread.held.iter().map(|held| held.id.to_string()).collect(),
        sequence_id: thread.sequence.as_ref().map(|sequence| sequence.id.to_string()),
        heads_up: desk.heads_up(&id)?.map(|heads_up| wire::heads_up(thread, &heads_up)),
        judgments: wire::judgment_usage(thread),
        compaction_asked_for: thread.asked_for,
    })
}
