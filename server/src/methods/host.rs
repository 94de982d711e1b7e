//! Reports of a host: `rawr/turn/*`, `rawr/signal/report`, `rawr/input/*`, `rawr/action/report`,
//! `rawr/compaction/report`.

use super::{ClientSession, Module, directive, now, on};
use crate::registry::HandledInput;
use crate::wire::{self, RpcError, ToCore};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Input;
use rawr_core::event::{Event, InputCancelled, JudgeReply};
use rawr_protocol::methods::{
    ActionReport, CompactionReport, InputCancel, InputQueued, InputSubmit, SignalReport,
    TurnCompleted, TurnStarted, TurnUsage,
};
use rawr_protocol::{
    ActionReportParams, ActionStatus, CompactionReportParams, Disposition, Empty,
    InputCancelParams, InputCancelResult, InputQueuedParams, InputQueuedResult, InputSubmitParams,
    InputSubmitResult, Signal, SignalReportParams, SignalReportResult, TurnCompletedParams,
    TurnCompletedResult, TurnStartedParams, TurnUsageParams, TurnUsageResult, Verdict,
};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<TurnStarted>(module, turn_started)?;
    on::<TurnUsage>(module, turn_usage)?;
    on::<TurnCompleted>(module, turn_completed)?;
    on::<SignalReport>(module, signal_report)?;
    on::<InputSubmit>(module, input_submit)?;
    on::<InputQueued>(module, input_queued)?;
    on::<InputCancel>(module, input_cancel)?;
    on::<ActionReport>(module, action_report)?;
    on::<CompactionReport>(module, compaction_report)
}

/// Handles one report of the thread's owner.
fn report(
    session: &ClientSession,
    thread: &str,
    input: Result<Input, RpcError>,
) -> Result<HandledInput, RpcError> {
    let id = wire::thread_id(thread)?;
    Ok(session.registry()?.handle_as_owner(&id, input?, now())?)
}

fn turn_started(session: &ClientSession, params: TurnStartedParams) -> Result<Empty, RpcError> {
    let thread = params.thread_id.clone();
    report(session, &thread, wire::turn_started(params)).map(|_| Empty {})
}

fn turn_usage(
    session: &ClientSession,
    params: TurnUsageParams,
) -> Result<TurnUsageResult, RpcError> {
    let handled = report(session, &params.thread_id, wire::turn_usage(&params))?;
    Ok(TurnUsageResult { verdict: handled.decision.as_ref().map(wire::verdict) })
}

/// A turn end that is reported twice gets the same verdict again.
fn turn_completed(
    session: &ClientSession,
    params: TurnCompletedParams,
) -> Result<TurnCompletedResult, RpcError> {
    let thread = params.thread_id.clone();
    let turn = params.turn_id.clone();
    let handled = report(session, &thread, wire::turn_completed(params))?;
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
        decision_id: String::new(),
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

fn signal_report(
    session: &ClientSession,
    params: SignalReportParams,
) -> Result<SignalReportResult, RpcError> {
    let thread_id = params.thread_id.clone();
    let is_by_a_person =
        matches!(params.signal, Signal::Directive { .. } | Signal::PhaseBoundary { .. });
    let input = wire::signal(params);
    let handled = if is_by_a_person {
        directive::give(session, &thread_id, input?)?
    } else {
        report(session, &thread_id, input)?
    };
    let found = handled.records.iter().find_map(|record| match &record.event {
        Event::PlanUpdated(updated) => Some(updated.boundaries),
        Event::CommandFinished(finished) => Some(finished.boundaries),
        Event::CommitMade(_) => Some([rawr_core::boundary::Boundary::Commit].into_iter().collect()),
        Event::PrCheckpoint(_) => {
            Some([rawr_core::boundary::Boundary::PrCheckpoint].into_iter().collect())
        }
        Event::PhaseEnded(ended) => Some(ended.boundaries),
        _ => None,
    });
    Ok(SignalReportResult { boundaries: found.map(wire::boundaries).unwrap_or_default() })
}

fn input_submit(
    session: &ClientSession,
    params: InputSubmitParams,
) -> Result<InputSubmitResult, RpcError> {
    let input = wire::input_id(&params.input_id)?;
    let kind = params.kind.to_core();
    let text = params.text.clone();
    let submitted = Input::Submitted { input: input.clone(), text, kind };
    report(session, &params.thread_id, Ok(submitted))?;
    let registry = session.registry()?;
    let held =
        registry.takes_care_of(&wire::thread_id(&params.thread_id)?, &input, &params.text)?;
    Ok(InputSubmitResult {
        disposition: if held { Disposition::Held } else { Disposition::Deliver },
    })
}

fn input_queued(
    session: &ClientSession,
    params: InputQueuedParams,
) -> Result<InputQueuedResult, RpcError> {
    let registry = session.registry()?;
    let thread = registry.thread(&wire::thread_id(&params.thread_id)?)?;
    Ok(InputQueuedResult {
        input_ids: thread.held.iter().map(|held| held.id.to_string()).collect(),
    })
}

fn input_cancel(
    session: &ClientSession,
    params: InputCancelParams,
) -> Result<InputCancelResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let input = wire::input_id(&params.input_id)?;
    let mut registry = session.registry()?;
    let waits =
        registry.thread(&id)?.held.iter().any(|held| held.id == input && held.action.is_none());
    if waits {
        registry.handle(&id, Input::Saw(InputCancelled { input }.into()), now())?;
    }
    Ok(InputCancelResult { cancelled: waits })
}

fn action_report(session: &ClientSession, params: ActionReportParams) -> Result<Empty, RpcError> {
    let thread = params.thread_id.clone();
    if params.status == ActionStatus::Failed {
        let why = params.error.clone().unwrap_or_else(|| "the host gave no reason".to_owned());
        let failed = JudgeReply::Failed { error: why };
        if session.evaluations.answered(&wire::thread_id(&thread)?, &params.action_id, failed) {
            return Ok(Empty {});
        }
    }
    report(session, &thread, wire::action_report(params)).map(|_| Empty {})
}

fn compaction_report(
    session: &ClientSession,
    params: CompactionReportParams,
) -> Result<Empty, RpcError> {
    let thread = params.thread_id.clone();
    report(session, &thread, wire::compaction_report(params)).map(|_| Empty {})
}
