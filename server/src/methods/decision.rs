//! `rawr/decision/*`: why, and why not.

use super::{Ctx, Module, on};
use crate::wire::{self, Fault};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::units::DecisionId;
use rawr_protocol::methods::{DecisionExplain, DecisionList};
use rawr_protocol::{
    DecisionExplainParams, DecisionExplainResult, DecisionListParams, DecisionListResult, ErrorCode,
};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<DecisionExplain>(module, explain)?;
    on::<DecisionList>(module, list)
}

fn explain(ctx: &Ctx, params: DecisionExplainParams) -> Result<DecisionExplainResult, Fault> {
    let id = wire::thread_id(&params.thread_id)?;
    let desk = ctx.desk()?;
    let decision = match params.decision_id {
        Some(wanted) => desk.decision(&id, &DecisionId::new(wanted))?,
        None => match desk.last_decision(&id)? {
            Some(last) => last.clone(),
            None => desk.decisions(&id)?.pop().ok_or_else(|| {
                Fault::new(
                    ErrorCode::UnknownName,
                    "nothing was decided yet",
                    "wait for the end of a turn",
                )
            })?,
        },
    };
    Ok(DecisionExplainResult { decision: wire::decision(desk.thread(&id)?, &decision) })
}

/// The newest last.
fn list(ctx: &Ctx, params: DecisionListParams) -> Result<DecisionListResult, Fault> {
    let id = wire::thread_id(&params.thread_id)?;
    let desk = ctx.desk()?;
    let mut decisions = desk.decisions(&id)?;
    if let Some(before) = params.before {
        let at = decisions.iter().position(|decision| decision.id.as_str() == before);
        decisions.truncate(at.unwrap_or(decisions.len()));
    }
    let limit = params.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let skip = decisions.len().saturating_sub(limit);
    let thread = desk.thread(&id)?;
    let shown = decisions.iter().skip(skip).map(|decision| wire::decision(thread, decision));
    Ok(DecisionListResult { decisions: shown.collect() })
}
