//! `rawr/input/*`: messages that a user is about to send.

use super::turn::report_as_owner;
use super::{ClientSession, Module, now, on};
use crate::wire::{self, RpcError, ToCore};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Input;
use rawr_core::event::InputCancelled;
use rawr_protocol::methods::{InputCancel, InputQueued, InputSubmit};
use rawr_protocol::{
    Disposition, InputCancelParams, InputCancelResult, InputQueuedParams, InputQueuedResult,
    InputSubmitParams, InputSubmitResult,
};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<InputSubmit>(module, submit)?;
    on::<InputQueued>(module, queued)?;
    on::<InputCancel>(module, cancel)
}

fn submit(
    session: &ClientSession,
    params: InputSubmitParams,
) -> Result<InputSubmitResult, RpcError> {
    let input = wire::input_id(&params.input_id)?;
    let kind = params.kind.to_core();
    let text = params.text.clone();
    let submitted = Input::Submitted { input: input.clone(), text, kind };
    report_as_owner(session, &params.thread_id, Ok(submitted))?;
    let registry = session.registry()?;
    let held =
        registry.takes_care_of(&wire::thread_id(&params.thread_id)?, &input, &params.text)?;
    Ok(InputSubmitResult {
        disposition: if held { Disposition::Held } else { Disposition::Deliver },
    })
}

fn queued(
    session: &ClientSession,
    params: InputQueuedParams,
) -> Result<InputQueuedResult, RpcError> {
    let registry = session.registry()?;
    let thread = registry.thread(&wire::thread_id(&params.thread_id)?)?;
    Ok(InputQueuedResult {
        input_ids: thread.held.iter().map(|held| held.id.to_string()).collect(),
    })
}

fn cancel(
    session: &ClientSession,
    params: InputCancelParams,
) -> Result<InputCancelResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let input = wire::input_id(&params.input_id)?;
    let mut registry = session.registry()?;
    let waits =
        registry.thread(&id)?.held.iter().any(|held| held.id == input && held.action.is_none());
    if waits {
        registry.handle(&id, Input::Saw(InputCancelled { input }.into()), now())?;
    }
    Ok(InputCancelResult { cancelled: waits })
}
