//! `rawr/directive/*`: instructions that survive a compaction word for word. They are added by `rawr/signal/report`;
//! the core decides how long each is kept.

use super::{ClientSession, Module, on};
use crate::registry::{HandledInput, OpenThread, RegistryError};
use crate::tasks::Answer;
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::event::{DirectiveCleared, Event};
use rawr_core::units::DirectiveId;
use rawr_core::{Input, Thread, thread};
use rawr_protocol::methods::{DirectiveClear, DirectiveList};
use rawr_protocol::{
    Directive, DirectiveClearParams, DirectiveClearResult, DirectiveListParams, DirectiveListResult,
};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<DirectiveList, _>(module, list)?;
    on::<DirectiveClear, _>(module, clear)
}

/// Records directives and boundaries that a person gives, from any client.
pub(super) fn give<R: Send + 'static>(
    session: &ClientSession,
    thread: &str,
    mut input: Input,
    answer: impl FnOnce(&OpenThread, HandledInput) -> R + Send + 'static,
) -> Result<Answer<Result<R, RegistryError>>, RpcError> {
    let by = Some(session.client().to_owned());
    match &mut input {
        Input::Saw(Event::DirectiveGiven(given)) => given.by = by,
        Input::Saw(Event::PhaseEnded(ended)) => ended.by = by,
        _ => {}
    }
    Ok(session.registry()?.handle(&wire::thread_id(thread)?, input, answer))
}

async fn clear(
    session: Arc<ClientSession>,
    params: DirectiveClearParams,
) -> Result<DirectiveClearResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let directive = DirectiveId::new(params.directive_id);
    let cleared = move |open: &mut OpenThread| {
        let mut known = open.thread().known.directives.iter();
        let is_known = known.any(|known| known.id == directive);
        let cleared = is_known.then(|| Input::Saw(DirectiveCleared { directive }.into()));
        cleared.into_iter().collect()
    };
    let handled = session.registry()?.handle_all(&id, cleared, |_, handled| DirectiveClearResult {
        cleared: !handled.is_empty(),
    });
    Ok(handled.await?)
}

async fn list(
    session: Arc<ClientSession>,
    params: DirectiveListParams,
) -> Result<DirectiveListResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let directives = session.registry()?.read(&id, |open| in_force(open.thread()));
    Ok(DirectiveListResult { directives: directives.await? })
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
