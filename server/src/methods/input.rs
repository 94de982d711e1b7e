//! `rawr/input/*`: messages that a user is about to send.

use super::turn::report_as_owner;
use super::{ClientSession, Module, on};
use crate::registry::OpenThread;
use crate::wire::{self, RpcError, ToCore};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Input;
use rawr_core::event::InputCancelled;
use rawr_protocol::methods::{InputCancel, InputQueued, InputSubmit};
use rawr_protocol::{
    Disposition, InputCancelParams, InputCancelResult, InputQueuedParams, InputQueuedResult,
    InputSubmitParams, InputSubmitResult,
};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<InputSubmit, _>(module, submit)?;
    on::<InputQueued, _>(module, queued)?;
    on::<InputCancel, _>(module, cancel)
}

async fn submit(
    session: Arc<ClientSession>,
    params: InputSubmitParams,
) -> Result<InputSubmitResult, RpcError> {
    let InputSubmitParams { thread_id, input_id, text, kind, .. } = params;
    let input = wire::input_id(&input_id)?;
    let (submitted, kind) = (input.clone(), kind.to_core());
    let submitted = Input::Submitted { input: submitted, text: text.clone(), kind };
    let handled = report_as_owner(&session, &thread_id, Ok(submitted), move |open, _| {
        let is_held = open.takes_care_of(&input, &text);
        InputSubmitResult {
            disposition: if is_held { Disposition::Held } else { Disposition::Deliver },
        }
    });
    Ok(handled?.await?)
}

async fn queued(
    session: Arc<ClientSession>,
    params: InputQueuedParams,
) -> Result<InputQueuedResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let held = session
        .registry()?
        .read(&id, |open| open.thread().held.iter().map(|held| held.id.to_string()).collect());
    Ok(InputQueuedResult { input_ids: held.await? })
}

async fn cancel(
    session: Arc<ClientSession>,
    params: InputCancelParams,
) -> Result<InputCancelResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let input = wire::input_id(&params.input_id)?;
    let cancelled = move |open: &mut OpenThread| {
        let mut held = open.thread().held.iter();
        let waits = held.any(|held| held.id == input && held.action.is_none());
        waits.then(|| Input::Saw(InputCancelled { input }.into())).into_iter().collect()
    };
    let handled = session.registry()?.handle_all(&id, cancelled, |_, handled| InputCancelResult {
        cancelled: !handled.is_empty(),
    });
    Ok(handled.await?)
}
