//! `rawr/packet/*`: continuation packets.

use super::{ClientSession, Module, now, on};
use crate::query;
use crate::redact::redact_counting;
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

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<PacketBuild>(module, build)?;
    on::<methods::PacketCheck>(module, check)?;
    on::<PacketSubmit>(module, submit)?;
    on::<PacketGet>(module, get)
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

fn build(
    session: &ClientSession,
    params: PacketBuildParams,
) -> Result<PacketBuildResult, RpcError> {
    if params.author != rawr_protocol::PacketAuthor::Watcher {
        return Err(RpcError::bad_field(
            "author",
            "only `watcher` can be built: an agent writes its own packet",
        ));
    }
    let id = wire::thread_id(&params.thread_id)?;
    let registry = session.registry()?;
    let open = registry.open_thread(&id)?;
    let prompts = registry.workspace().prompts().set().prompts();
    let packet = query::watcher_packet(open.thread(), &open.rules(prompts));
    Ok(PacketBuildResult {
        checked: checked(open.thread(), &packet.text),
        author: packet.author.to_wire(),
        packet: packet.text,
    })
}

fn check(
    session: &ClientSession,
    params: PacketCheckParams,
) -> Result<PacketCheckResult, RpcError> {
    let registry = session.registry()?;
    let thread = registry.thread(&wire::thread_id(&params.thread_id)?)?;
    Ok(PacketCheckResult { checked: checked(thread, &params.packet) })
}

fn submit(
    session: &ClientSession,
    params: PacketSubmitParams,
) -> Result<PacketSubmitResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let checked = checked(session.registry()?.thread(&id)?, &params.packet);
    let response = Response {
        choice: Choice::EditPacket,
        sequence: params.sequence_id.map(SequenceId::new),
        turns: None,
        minutes: None,
        packet: Some(params.packet),
        by: Some(session.client().to_owned()),
    };
    let mut registry = session.registry()?;
    registry.handle(&id, Input::Respond(response), now())?;
    Ok(PacketSubmitResult { checked, phase: registry.thread(&id)?.phase().to_wire() })
}

fn get(session: &ClientSession, params: PacketGetParams) -> Result<PacketGetResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let wanted = params.sequence_id.map(SequenceId::new);
    let view =
        query::packet(session.registry()?.thread(&id)?, wanted.as_ref()).ok_or_else(|| {
            let hint = "wait until a sequence has taken a packet";
            let mut error =
                RpcError::new(ErrorCode::NoSequence, format!("no packet of {id}"), hint);
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
