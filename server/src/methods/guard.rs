//! `rawr/guard/*`: what keeps a thread from being compacted. Any client may call them, whichever process owns the thread.

use super::{ClientSession, Module, now, on};
use crate::registry::HandledInput;
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

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<GuardSet>(module, set)?;
    on::<GuardClear>(module, clear)?;
    on::<GuardList>(module, list)
}

fn set(session: &ClientSession, params: GuardSetParams) -> Result<GuardSetResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let by = Some(session.client().to_owned());
    let input = Input::SetGuard { until: wire::until(&params.until), note: params.note, by };
    let handled = session.registry()?.handle(&id, input, now())?;
    let guard = guard_set(&handled).ok_or_else(|| {
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

fn clear(session: &ClientSession, params: GuardClearParams) -> Result<GuardClearResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let mut registry = session.registry()?;
    let guards = match params.guard_id {
        Some(guard) => vec![GuardId::new(guard)],
        None => registry.thread(&id)?.active_guards(now()).map(|guard| guard.id.clone()).collect(),
    };
    let cleared = guards.len() as u64;
    for guard in guards {
        registry.handle(&id, Input::Saw(GuardCleared { guard }.into()), now())?;
    }
    Ok(GuardClearResult { cleared })
}

fn list(session: &ClientSession, params: GuardListParams) -> Result<GuardListResult, RpcError> {
    let registry = session.registry()?;
    let thread = registry.thread(&wire::thread_id(&params.thread_id)?)?;
    Ok(GuardListResult { guards: wire::guards(thread, now()) })
}
