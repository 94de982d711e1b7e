//! `rawr/guard/*`: what keeps a thread from being compacted. Any client may call them, whichever process owns the thread.

use super::{ClientSession, Module, now, on};
use crate::registry::{HandledInput, OpenThread};
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Input;
use rawr_core::event::{Event, GuardCleared};
use rawr_core::units::GuardId;
use rawr_protocol::methods::{GuardClear, GuardList, GuardSet};
use rawr_protocol::{
    ErrorCode, GuardClearParams, GuardClearResult, GuardListParams, GuardListResult,
    GuardSetParams, GuardSetResult,
};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<GuardSet, _>(module, set)?;
    on::<GuardClear, _>(module, clear)?;
    on::<GuardList, _>(module, list)
}

async fn set(
    session: Arc<ClientSession>,
    params: GuardSetParams,
) -> Result<GuardSetResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let by = Some(session.client().to_owned());
    let input = Input::SetGuard { until: wire::until(&params.until), note: params.note, by };
    let handled = session.registry()?.handle(&id, input, |_, handled| guard_set(&handled));
    let guard = handled.await?.ok_or_else(|| {
        RpcError::new(
            ErrorCode::InternalError,
            "the guard was not recorded",
            "this is a bug in rawr; see the log",
        )
    })?;
    Ok(GuardSetResult { guard_id: guard.to_string() })
}

fn guard_set(handled: &HandledInput) -> Option<GuardId> {
    handled.records.iter().find_map(|record| match &record.event {
        Event::GuardSet(set) => Some(set.guard.clone()),
        _ => None,
    })
}

async fn clear(
    session: Arc<ClientSession>,
    params: GuardClearParams,
) -> Result<GuardClearResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let cleared = move |open: &mut OpenThread| {
        let guards: Vec<_> = match params.guard_id {
            Some(guard) => vec![GuardId::new(guard)],
            None => open.thread().active_guards(now()).map(|guard| guard.id.clone()).collect(),
        };
        guards.into_iter().map(|guard| Input::Saw(GuardCleared { guard }.into())).collect()
    };
    let handled = session
        .registry()?
        .handle_all(&id, cleared, |_, handled| GuardClearResult { cleared: handled.len() as u64 });
    Ok(handled.await?)
}

async fn list(
    session: Arc<ClientSession>,
    params: GuardListParams,
) -> Result<GuardListResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let guards = session.registry()?.read(&id, |open| wire::guards(open.thread(), now()));
    Ok(GuardListResult { guards: guards.await? })
}
