//! `rawr/directive/*`: instructions that survive a compaction word for word. They are added by `rawr/signal/report`;
//! the core decides how long each is kept.

use super::{ClientSession, Module, now, on};
use crate::registry::HandledInput;
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::event::{DirectiveCleared, Event};
use rawr_core::units::DirectiveId;
use rawr_core::{Input, Thread, thread};
use rawr_protocol::methods::{DirectiveClear, DirectiveList};
use rawr_protocol::{
    Directive, DirectiveClearParams, DirectiveClearResult, DirectiveListParams, DirectiveListResult,
};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<DirectiveList>(module, list)?;
    on::<DirectiveClear>(module, clear)
}

/// Records directives and boundaries that a person gives, from any client.
pub(super) fn give(
    session: &ClientSession,
    thread: &str,
    mut input: Input,
) -> Result<HandledInput, RpcError> {
    let by = Some(session.client().to_owned());
    match &mut input {
        Input::Saw(Event::DirectiveGiven(given)) => given.by = by,
        Input::Saw(Event::PhaseEnded(ended)) => ended.by = by,
        _ => {}
    }
    Ok(session.registry()?.handle(&wire::thread_id(thread)?, input, now())?)
}

fn clear(
    session: &ClientSession,
    params: DirectiveClearParams,
) -> Result<DirectiveClearResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let directive = DirectiveId::new(params.directive_id);
    let mut registry = session.registry()?;
    let known = registry.thread(&id)?.known.directives.iter().any(|known| known.id == directive);
    if known {
        registry.handle(&id, Input::Saw(DirectiveCleared { directive }.into()), now())?;
    }
    Ok(DirectiveClearResult { cleared: known })
}

fn list(
    session: &ClientSession,
    params: DirectiveListParams,
) -> Result<DirectiveListResult, RpcError> {
    let registry = session.registry()?;
    let thread = registry.thread(&wire::thread_id(&params.thread_id)?)?;
    Ok(DirectiveListResult { directives: in_force(thread) })
}

/// Oldest first.
pub(super) fn in_force(thread: &Thread) -> Vec<Directive> {
    thread.known.directives.iter().map(shown).collect()
}

pub(super) fn shown(directive: &thread::UserDirective) -> Directive {
    Directive {
        directive_id: directive.id.to_string(),
        text: directive.text.clone(),
        pinned: directive.pinned,
        given_at_ms: directive.given_at.0,
        by: directive.by.clone(),
    }
}
