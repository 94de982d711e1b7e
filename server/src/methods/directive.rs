//! `rawr/directive/*`: the instructions that survive a compaction word for word. They are given by
//! `rawr/signal/report`; how long each holds is the core's business.

use super::{Ctx, Module, on};
use crate::wire::{self, Fault};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Thread;
use rawr_protocol::methods::DirectiveList;
use rawr_protocol::{Directive, DirectiveListParams, DirectiveListResult};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<DirectiveList>(module, list)
}

fn list(ctx: &Ctx, params: DirectiveListParams) -> Result<DirectiveListResult, Fault> {
    let desk = ctx.desk()?;
    let thread = desk.thread(&wire::thread_id(&params.thread_id)?)?;
    Ok(DirectiveListResult { directives: in_force(thread) })
}

/// Oldest first.
pub(super) fn in_force(thread: &Thread) -> Vec<Directive> {
    let numbered = (1_usize..).zip(&thread.directives);
    let shown = numbered.map(|(number, directive)| Directive {
        directive_id: format!("p{number}"),
        text: directive.text.clone(),
        pinned: directive.pinned,
        given_at_ms: 0,
        by: None,
    });
    shown.collect()
}
