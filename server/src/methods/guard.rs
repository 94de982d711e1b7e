//! A person's word: `rawr/guard/*` and `rawr/sequence/respond`. Any client may give it, whoever owns the thread.

use super::{Ctx, Module, now, on};
use crate::desk::Desk;
use crate::wire::{self, Fault, ToWire};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Input;
use rawr_core::event::{Event, GuardCleared};
use rawr_core::units::GuardId;
use rawr_protocol::methods::{GuardClear, GuardList, GuardSet, SequenceRespond};
use rawr_protocol::{
    ErrorCode, GuardClearParams, GuardClearResult, GuardListParams, GuardListResult,
    GuardSetParams, GuardSetResult, SequenceRespondParams, SequenceRespondResult,
};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<GuardSet>(module, set)?;
    on::<GuardClear>(module, clear)?;
    on::<GuardList>(module, list)?;
    on::<SequenceRespond>(module, respond)
}

fn set(ctx: &Ctx, params: GuardSetParams) -> Result<GuardSetResult, Fault> {
    let id = wire::thread_id(&params.thread_id)?;
    let by = Some(ctx.client().to_owned());
    let input = Input::SetGuard { until: wire::until(&params.until), note: params.note, by };
    let handled = ctx.desk()?.handle(&id, input, now())?;
    let guard = Desk::guard_set(&handled).ok_or_else(|| {
        Fault::new(
            ErrorCode::InternalError,
            "the guard was not recorded",
            "this is a defect; the log has more",
        )
    })?;
    Ok(GuardSetResult { guard_id: guard.to_string() })
}

fn clear(ctx: &Ctx, params: GuardClearParams) -> Result<GuardClearResult, Fault> {
    let id = wire::thread_id(&params.thread_id)?;
    let mut desk = ctx.desk()?;
    let guards = match params.guard_id {
        Some(guard) => vec![GuardId::new(guard)],
        None => desk.thread(&id)?.active_guards(now()).map(|guard| guard.id.clone()).collect(),
    };
    let cleared = guards.len() as u64;
    for guard in guards {
        desk.handle(&id, Input::Saw(Event::GuardCleared(GuardCleared { guard })), now())?;
    }
    Ok(GuardClearResult { cleared })
}

fn list(ctx: &Ctx, params: GuardListParams) -> Result<GuardListResult, Fault> {
    let desk = ctx.desk()?;
    let thread = desk.thread(&wire::thread_id(&params.thread_id)?)?;
    Ok(GuardListResult { guards: thread.active_guards(now()).map(wire::guard).collect() })
}

fn respond(ctx: &Ctx, params: SequenceRespondParams) -> Result<SequenceRespondResult, Fault> {
    let id = wire::thread_id(&params.thread_id)?;
    let mut desk = ctx.desk()?;
    desk.handle(&id, wire::response(params, ctx.client()), now())?;
    Ok(SequenceRespondResult { phase: desk.thread(&id)?.phase().to_wire() })
}
