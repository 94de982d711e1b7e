//! `rawr/sequence/respond`: a person's answer. Any client may call it, whichever process owns the thread.

use super::{ClientSession, Module, now, on};
use crate::wire::{self, RpcError, ToWire};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::event::Event;
use rawr_protocol::methods::SequenceRespond;
use rawr_protocol::{SequenceRespondParams, SequenceRespondResult};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<SequenceRespond>(module, respond)
}

fn respond(
    session: &ClientSession,
    params: SequenceRespondParams,
) -> Result<SequenceRespondResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let mut registry = session.registry()?;
    let asked = params.choice;
    let handled = registry.handle(&id, wire::response(params, session.client()), now())?;
    let recorded = handled.records.iter().rev().find_map(|record| match &record.event {
        Event::Responded(responded) => Some(responded.choice.to_wire()),
        _ => None,
    });
    let phase = registry.thread(&id)?.phase().to_wire();
    Ok(SequenceRespondResult { phase, choice: recorded.unwrap_or(asked) })
}
