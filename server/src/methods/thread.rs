//! `rawr/thread/*`.

use super::{ClientSession, Module, aside, directive, now, on, on_large};
use crate::publish::thread_summary;
use crate::registry::{OpenThread, Opening, RegistryError, WatchFilter};
use crate::wire::{self, RpcError, ToWire};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::event::{Capabilities, HostInfo};
use rawr_core::machine::ProcessRole;
use rawr_core::units::{Timestamp, Tokens};
use rawr_protocol::methods::{
    ThreadClose, ThreadGet, ThreadList, ThreadOpen, ThreadUnwatch, ThreadWatch,
};
use rawr_protocol::{
    BoundaryMark, Empty, HeldInput, SessionSource, ThreadCloseParams, ThreadGetParams,
    ThreadGetResult, ThreadListParams, ThreadListResult, ThreadOpenParams, ThreadOpenResult,
    ThreadUnwatchParams, ThreadWatchParams, ThreadWatchResult,
};
use std::path::PathBuf;
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<ThreadOpen, _>(module, open)?;
    on::<ThreadClose, _>(module, close)?;
    on_large::<ThreadList, _>(module, list)?;
    on::<ThreadWatch, _>(module, watch)?;
    on::<ThreadUnwatch, _>(module, unwatch)?;
    on::<ThreadGet, _>(module, get)
}

async fn open(
    session: Arc<ClientSession>,
    params: ThreadOpenParams,
) -> Result<ThreadOpenResult, RpcError> {
    let opening = opening(params, session.client())?;
    Ok(session.registry()?.open(opening, opened).await?)
}

fn opened(open: &mut OpenThread) -> ThreadOpenResult {
    let held_before = open.take_held_before();
    let (thread, policy) = (open.thread(), open.policy());
    ThreadOpenResult {
        thread_id: thread.id.to_string(),
        phase: thread.phase().to_wire(),
        scratch_file: thread.scratch_file(policy),
        percent_remaining: thread.percent_remaining(policy).map(wire::percent),
        pending_actions: wire::pending(&open.pending()),
        owner: open.is_owned(),
        held_before: held_before
            .map(|held| HeldInput { input_id: held.input.to_string(), text: held.text }),
    }
}

async fn close(session: Arc<ClientSession>, params: ThreadCloseParams) -> Result<Empty, RpcError> {
    session.registry()?.close(&wire::thread_id(&params.thread_id)?).await?;
    Ok(Empty {})
}

async fn list(
    session: Arc<ClientSession>,
    _: ThreadListParams,
) -> Result<ThreadListResult, RpcError> {
    let read = session.registry()?.list().await;
    let threads = aside(read).await?.map_err(RegistryError::from)?;
    Ok(ThreadListResult { threads: threads.iter().map(thread_summary).collect() })
}

async fn watch(
    session: Arc<ClientSession>,
    params: ThreadWatchParams,
) -> Result<ThreadWatchResult, RpcError> {
    let filter = watch_filter(params.thread_id.as_deref(), params.workspace_folder)?;
    let threads = session.registry()?.watch(filter).await?;
    Ok(ThreadWatchResult { threads: threads.iter().map(thread_summary).collect() })
}

async fn unwatch(
    session: Arc<ClientSession>,
    params: ThreadUnwatchParams,
) -> Result<Empty, RpcError> {
    let filter = watch_filter(params.thread_id.as_deref(), params.workspace_folder)?;
    session.registry()?.unwatch(filter).await;
    Ok(Empty {})
}

async fn get(
    session: Arc<ClientSession>,
    params: ThreadGetParams,
) -> Result<ThreadGetResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    Ok(session.registry()?.read(&id, |open| shown(open)).await?)
}

fn shown(open: &OpenThread) -> ThreadGetResult {
    let thread = open.thread();
    ThreadGetResult {
        thread: thread_summary(&open.overview_with_owner()),
        transcript: thread.session.transcript.clone(),
        plan: wire::plan(thread),
        guards: wire::guards(thread, now()),
        directives: directive::in_force(thread),
        boundaries: thread
            .boundaries
            .iter()
            .map(|mark| BoundaryMark {
                boundary: mark.boundary.to_wire(),
                turn_id: mark.turn.as_ref().map(ToString::to_string),
                spent_by: mark.spent_by.as_ref().map(ToString::to_string),
                label: mark.label.clone(),
                by: mark.by.clone(),
            })
            .collect(),
        last_compaction: thread.compactions.last.as_ref().map(wire::last_compaction),
        pending_actions: wire::pending(&open.pending()),
        held_inputs: thread.held.iter().map(wire::held_input).collect(),
        sequence_id: thread.sequence().map(|sequence| sequence.id.to_string()),
        pre_compact_requests: thread
            .sequence()
            .map(|sequence| wire::pre_compact_requests(thread, &sequence.id))
            .unwrap_or_default(),
        heads_up: open.heads_up().map(|heads_up| wire::heads_up(thread, &heads_up)),
        judgments: wire::judgment_usage(thread),
        packets_ahead: wire::packets_ahead(thread),
        compaction_asked_for: thread.asked_at.is_some(),
        turn_running: !thread.is_idle(),
    }
}

fn watch_filter(thread: Option<&str>, folder: Option<String>) -> Result<WatchFilter, RpcError> {
    let folder = folder.map(PathBuf::from);
    if folder.as_ref().is_some_and(|folder| !folder.is_absolute()) {
        let problem = "workspaceFolder must be an absolute path";
        return Err(RpcError::bad_field("workspaceFolder", problem));
    }
    Ok(WatchFilter { thread: thread.map(wire::thread_id).transpose()?, folder })
}

fn opening(params: ThreadOpenParams, client: &str) -> Result<Opening, RpcError> {
    let can = params.host.capabilities;
    Ok(Opening {
        thread: wire::thread_id(&params.thread_id)?,
        cwd: params.cwd,
        role: match params.role {
            rawr_protocol::Role::Owner => ProcessRole::Owner,
            rawr_protocol::Role::Observer => ProcessRole::Observer,
        },
        holder: format!("{} for {}", client, params.host.name),
        host: HostInfo {
            name: params.host.name,
            version: params.host.version,
            can: Capabilities {
                inject_turn: can.inject_turn,
                steer: can.steer,
                sample: can.sample,
                queue: can.queue,
                queue_in_place: can.queue_in_place,
                queue_above_tokens: can.queue_above_tokens,
                compact: can.compact,
                compact_by_person: can.compact_by_person,
                mid_turn_compact: can.mid_turn_compact,
                inject_items: can.inject_items,
                judge: can.judge,
                cache_seconds: can.cache_seconds,
            },
        },
        model: params.model,
        window: params.context_window.map(Tokens),
        window_is_assumed: params.context_window_assumed,
        compacts_above: params.compacts_above_tokens.map(Tokens),
        baseline: Tokens(params.baseline_tokens),
        agent: match params.session_source {
            Some(SessionSource::Subagent { name }) => Some(name),
            Some(SessionSource::User) | None => None,
        },
        transcript: params.transcript.map(|transcript| transcript.path),
        began_at: params.began_at_ms.and_then(|ms| i64::try_from(ms).ok()).map(Timestamp),
        running_turn: params.running_turn.as_deref().map(wire::turn_id).transpose()?,
    })
}
