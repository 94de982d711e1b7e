//! `rawr/turn/*`: what the host reports of turns.

use super::{ClientSession, Module, now, on};
use crate::registry::HandledInput;
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Input;
use rawr_protocol::methods::{TurnCompleted, TurnStarted, TurnUsage};
use rawr_protocol::{
    Empty, TurnCompletedParams, TurnCompletedResult, TurnStartedParams, TurnUsageParams,
    TurnUsageResult, Verdict,
};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<TurnStarted>(module, started)?;
    on::<TurnUsage>(module, usage)?;
    on::<TurnCompleted>(module, completed)
}

/// Handles one report of the thread's owner.
pub(super) fn report_as_owner(
    session: &ClientSession,
    thread: &str,
    input: Result<Input, RpcError>,
) -> Result<HandledInput, RpcError> {
    let id = wire::thread_id(thread)?;
    Ok(session.registry()?.handle_as_owner(&id, input?, now())?)
}

fn started(session: &ClientSession, params: TurnStartedParams) -> Result<Empty, RpcError> {
    let thread = params.thread_id.clone();
    report_as_owner(session, &thread, wire::turn_started(params)).map(|_| Empty {})
}

fn usage(session: &ClientSession, params: TurnUsageParams) -> Result<TurnUsageResult, RpcError> {
    let handled = report_as_owner(session, &params.thread_id, wire::turn_usage(&params))?;
    Ok(TurnUsageResult { verdict: handled.decision.as_ref().map(wire::verdict) })
}

/// A turn end that is reported twice gets the same verdict again.
fn completed(
    session: &ClientSession,
    params: TurnCompletedParams,
) -> Result<TurnCompletedResult, RpcError> {
    let thread = params.thread_id.clone();
    let turn = params.turn_id.clone();
    let handled = report_as_owner(session, &thread, wire::turn_completed(params))?;
    let verdict = match &handled.decision {
        Some(decision) => wire::verdict(decision),
        None => verdict_of(session, &thread, &turn)?,
    };
    Ok(TurnCompletedResult { verdict })
}

fn verdict_of(session: &ClientSession, thread: &str, turn: &str) -> Result<Verdict, RpcError> {
    let registry = session.registry()?;
    let id = wire::thread_id(thread)?;
    let open = registry.open_thread(&id)?;
    let percent = open.thread().percent_remaining(open.policy()).map(wire::percent);
    let last = open.thread().decided.last.clone();
    let waits = open.thread().unassessed.as_ref().is_some_and(|of| of.as_str() == turn);
    let same = last.filter(|last| last.turn.as_ref().is_some_and(|of| of.as_str() == turn));
    if let Some(decision) = same.and_then(|last| registry.decision(&id, &last.decision).ok()?) {
        return Ok(wire::verdict(&decision));
    }
    Ok(Verdict {
        decision_id: None,
        outcome: rawr_protocol::Outcome::Nothing,
        tier: None,
        percent_remaining: percent,
        reason: if waits {
            "not assessed yet: first the host reports which messages it delivered while the disk failed"
        } else {
            "the end of this turn was already assessed"
        }
        .to_owned(),
        sequence_id: None,
        confirm: None,
    })
}
