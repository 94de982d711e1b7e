//! `rawr/decision/*` and `rawr/judgment/*`: why, and why not.

use super::{Ctx, Module, on};
use crate::wire::{self, Fault};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::policy::PacketAuthor;
use rawr_core::units::DecisionId;
use rawr_protocol::methods::{DecisionExplain, DecisionList, JudgmentAnswer, JudgmentEvaluate};
use rawr_protocol::{
    DecisionExplainParams, DecisionExplainResult, DecisionListParams, DecisionListResult,
    ErrorCode, JudgmentAnswerParams, JudgmentAnswerResult, JudgmentEvaluateParams,
    JudgmentEvaluateResult,
};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<DecisionExplain>(module, explain)?;
    on::<DecisionList>(module, list)?;
    on::<JudgmentEvaluate>(module, evaluate)?;
    on::<JudgmentAnswer>(module, answer)
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
    Ok(DecisionExplainResult { decision: wire::decision(&decision, PacketAuthor::Agent) })
}

/// The newest last.
fn list(ctx: &Ctx, params: DecisionListParams) -> Result<DecisionListResult, Fault> {
    let id = wire::thread_id(&params.thread_id)?;
    let mut decisions = ctx.desk()?.decisions(&id)?;
    if let Some(before) = params.before {
        let at = decisions.iter().position(|decision| decision.id.as_str() == before);
        decisions.truncate(at.unwrap_or(decisions.len()));
    }
    let limit = params.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let skip = decisions.len().saturating_sub(limit);
    let shown =
        decisions.iter().skip(skip).map(|decision| wire::decision(decision, PacketAuthor::Agent));
    Ok(DecisionListResult { decisions: shown.collect() })
}

fn evaluate(ctx: &Ctx, params: JudgmentEvaluateParams) -> Result<JudgmentEvaluateResult, Fault> {
    ctx.desk()?.thread(&wire::thread_id(&params.thread_id)?)?;
    let hint = "this release has no judge; leave decision_prompt_path out of the policy";
    Err(Fault::new(ErrorCode::JudgmentUnavailable, ErrorCode::JudgmentUnavailable.message(), hint))
}

/// No judgment is ever asked of a host here, so no answer is waited for.
fn answer(ctx: &Ctx, params: JudgmentAnswerParams) -> Result<JudgmentAnswerResult, Fault> {
    ctx.desk()?.thread(&wire::thread_id(&params.thread_id)?)?;
    Ok(JudgmentAnswerResult { accepted: false })
}
