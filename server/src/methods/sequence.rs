//! `rawr/sequence/respond`: a person's answer. Any client may call it, whichever process owns the thread.

use super::{ClientSession, Module, on};
use crate::wire::{self, RpcError, ToWire};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::event::Event;
use rawr_protocol::methods::SequenceRespond;
use rawr_protocol::{SequenceRespondParams, SequenceRespondResult};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<SequenceRespond, _>(module, respond)
}

async fn respond(
    session: Arc<ClientSession>,
    params: SequenceRespondParams,
) -> Result<SequenceRespondResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let asked = params.choice;
    let response = wire::response(params, session.client());
    let handled = session.registry()?.handle(&id, response, move |open, handled| {
        let recorded = handled.records.iter().rev().find_map(|record| match &record.event {
            Event::Responded(responded) => Some(responded.choice.to_wire()),
            _ => None,
        });
        let phase = open.thread().phase().to_wire();
        SequenceRespondResult { phase, choice: recorded.unwrap_or(asked) }
    });
    Ok(handled.await?)
}
