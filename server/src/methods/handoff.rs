//! `rawr/handoff/build`: the message that gives a packet back.

use super::{ClientSession, Module, on};
use crate::query;
use crate::registry::OpenThread;
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::event::{Packet, Purpose};
use rawr_core::packet;
use rawr_core::policy::PacketAuthor;
use rawr_core::thread::sequence::{marked, marker};
use rawr_protocol::methods::HandoffBuild;
use rawr_protocol::{HandoffBuildParams, HandoffBuildResult};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<HandoffBuild, _>(module, build)
}

async fn build(
    session: Arc<ClientSession>,
    params: HandoffBuildParams,
) -> Result<HandoffBuildResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let built = session.registry()?.read(&id, |open| built(open, params.packet));
    Ok(built.await?)
}

fn built(open: &OpenThread, text: String) -> HandoffBuildResult {
    let resume = packet::resume_state(&text);
    let given = Packet { author: PacketAuthor::Agent, resume, text, added: Vec::new() };
    let thread = open.thread();
    // The running sequence knows the author of its packet.
    let taken = thread.sequence().and_then(|running| running.packet.clone());
    let packet = taken.filter(|taken| taken.text == given.text).unwrap_or(given);
    let running =
        thread.sequence().map_or_else(|| thread.next_sequence_id(), |running| running.id.clone());
    let marker = marker(&running, Purpose::Handoff);
    let handoff = query::handoff(thread, &open.rules(), &packet);
    let text = marked(&handoff, &running, Purpose::Handoff);
    HandoffBuildResult { text, marker }
}
