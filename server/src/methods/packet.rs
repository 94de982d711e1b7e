//! `rawr/packet/*`: continuation packets.

use super::{ClientSession, Module, on};
use crate::query;
use crate::registry::OpenThread;
use crate::wire::{self, RpcError, ToWire};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::event::{Choice, Fact};
use rawr_core::machine::Response;
use rawr_core::units::SequenceId;
use rawr_core::{Input, Thread, coverage, packet, rewrite};
use rawr_protocol::methods::{self, PacketBuild, PacketGet, PacketSubmit};
use rawr_protocol::{
    ErrorCode, PacketBuildParams, PacketBuildResult, PacketCheck, PacketCheckParams,
    PacketCheckResult, PacketGetParams, PacketGetResult, PacketSubmitParams, PacketSubmitResult,
};
use rawr_storage::redact::redact_counting;
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<PacketBuild, _>(module, build)?;
    on::<methods::PacketCheck, _>(module, check)?;
    on::<PacketSubmit, _>(module, submit)?;
    on::<PacketGet, _>(module, get)
}

/// A packet that no sequence has taken yet, checked against the state of the thread.
fn checked(thread: &Thread, text: &str) -> PacketCheck {
    check_of(text, &coverage::missing(text, &coverage::facts(thread)))
}

fn check_of(text: &str, facts: &[Fact]) -> PacketCheck {
    let missing: Vec<_> = packet::missing_parts(text).into_iter().map(str::to_owned).collect();
    PacketCheck {
        ok: missing.is_empty() && text.trim().chars().count() >= packet::TRIVIAL_CHARS,
        missing,
        missing_facts: facts.iter().map(wire::fact).collect(),
        tokens: rewrite::estimate(text),
        redactions: redact_counting(text).1 as u64,
    }
}

async fn build(
    session: Arc<ClientSession>,
    params: PacketBuildParams,
) -> Result<PacketBuildResult, RpcError> {
    if params.author != rawr_protocol::PacketAuthor::Watcher {
        return Err(RpcError::bad_field(
            "author",
            "only `watcher` can be built: an agent writes its own packet",
        ));
    }
    let id = wire::thread_id(&params.thread_id)?;
    let built = session.registry()?.read(&id, |open| {
        let packet = query::watcher_packet(open.thread(), &open.rules());
        PacketBuildResult {
            checked: checked(open.thread(), &packet.text),
            author: packet.author.to_wire(),
            packet: packet.text,
        }
    });
    Ok(built.await?)
}

async fn check(
    session: Arc<ClientSession>,
    params: PacketCheckParams,
) -> Result<PacketCheckResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let text = params.packet;
    let checked = session.registry()?.read(&id, move |open| checked(open.thread(), &text));
    Ok(PacketCheckResult { checked: checked.await? })
}

async fn submit(
    session: Arc<ClientSession>,
    params: PacketSubmitParams,
) -> Result<PacketSubmitResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let response = Response {
        choice: Choice::EditPacket,
        sequence: params.sequence_id.map(SequenceId::new),
        turns: None,
        minutes: None,
        packet: Some(params.packet.clone()),
        by: Some(session.client().to_owned()),
    };
    let (text, input) = (params.packet, Input::Respond(response));
    let handled = session.registry()?.handle(&id, input, move |open, _| PacketSubmitResult {
        checked: checked(open.thread(), &text),
        phase: open.thread().phase().to_wire(),
    });
    Ok(handled.await?)
}

async fn get(
    session: Arc<ClientSession>,
    params: PacketGetParams,
) -> Result<PacketGetResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let wanted = params.sequence_id.map(SequenceId::new);
    let read = move |open: &mut OpenThread| query::packet(open.thread(), wanted.as_ref());
    let view = session.registry()?.read(&id, read).await?.ok_or_else(|| {
        let hint = "wait until a sequence has taken a packet";
        let mut error = RpcError::new(ErrorCode::NoSequence, format!("no packet of {id}"), hint);
        error.data.thread_id = Some(id.to_string());
        error
    })?;
    Ok(PacketGetResult {
        checked: check_of(&view.packet.text, &view.packet.added),
        author: view.packet.author.to_wire(),
        sequence_id: view.sequence.to_string(),
        resume_state: view.packet.resume.to_wire(),
        packet: view.packet.text,
    })
}
