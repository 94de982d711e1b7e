//! `rawr/turn/*`: what the host reports of turns.

use super::{ClientSession, Module, on};
use crate::registry::{HandledInput, OpenThread, RegistryError};
use crate::tasks::Answer;
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Input;
use rawr_protocol::methods::{TurnCompleted, TurnStarted, TurnUsage};
use rawr_protocol::{
    Empty, TurnCompletedParams, TurnCompletedResult, TurnStartedParams, TurnUsageParams,
    TurnUsageResult, Verdict,
};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<TurnStarted, _>(module, started)?;
    on::<TurnUsage, _>(module, usage)?;
    on::<TurnCompleted, _>(module, completed)
}

/// Handles one report of the thread's owner.
pub(super) fn report_as_owner<R: Send + 'static>(
    session: &ClientSession,
    thread: &str,
    input: Result<Input, RpcError>,
    answer: impl FnOnce(&OpenThread, HandledInput) -> R + Send + 'static,
) -> Result<Answer<Result<R, RegistryError>>, RpcError> {
    let id = wire::thread_id(thread)?;
    Ok(session.registry()?.handle_as_owner(&id, input?, answer))
}

async fn started(
    session: Arc<ClientSession>,
    params: TurnStartedParams,
) -> Result<Empty, RpcError> {
    let thread = params.thread_id.clone();
    let started = wire::turn_started(params);
    Ok(report_as_owner(&session, &thread, started, |_, _| Empty {})?.await?)
}

async fn usage(
    session: Arc<ClientSession>,
    params: TurnUsageParams,
) -> Result<TurnUsageResult, RpcError> {
    let usage = wire::turn_usage(&params);
    let handled = report_as_owner(&session, &params.thread_id, usage, |_, handled| {
        TurnUsageResult { verdict: handled.decision.as_ref().map(wire::verdict) }
    });
    Ok(handled?.await?)
}

/// A turn end that is reported twice gets the same verdict again.
async fn completed(
    session: Arc<ClientSession>,
    params: TurnCompletedParams,
) -> Result<TurnCompletedResult, RpcError> {
    let thread = params.thread_id.clone();
    let turn = params.turn_id.clone();
    let completed = wire::turn_completed(params);
    let handled = report_as_owner(&session, &thread, completed, move |open, handled| {
        let verdict = match &handled.decision {
            Some(decision) => wire::verdict(decision),
            None => verdict_of(open, &turn),
        };
        TurnCompletedResult { verdict }
    });
    Ok(handled?.await?)
}

fn verdict_of(open: &OpenThread, turn: &str) -> Verdict {
    let percent = open.thread().percent_remaining(open.policy()).map(wire::percent);
    let last = open.thread().decided.last.clone();
    let waits = open.thread().unassessed.as_ref().is_some_and(|of| of.as_str() == turn);
    let same = last.filter(|last| last.turn.as_ref().is_some_and(|of| of.as_str() == turn));
    if let Some(decision) = same.and_then(|last| open.decision(&last.decision).ok()?) {
        return wire::verdict(&decision);
    }
    Verdict {
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
    }
}
