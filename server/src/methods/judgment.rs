//! `rawr/judgment/*`: asking the judge, and the host's answer to what it was asked.

use super::{Ctx, Module, now, on};
use crate::wire::{self, Fault};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Input;
use rawr_core::event::{Answer, Event, JudgeSource, JudgmentAnswered};
use rawr_core::units::RequestId;
use rawr_protocol::methods::{JudgmentAnswer, JudgmentEvaluate};
use rawr_protocol::{
    ErrorCode, JudgmentAnswerParams, JudgmentAnswerResult, JudgmentEvaluateParams,
    JudgmentEvaluateResult,
};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<JudgmentEvaluate>(module, evaluate)?;
    on::<JudgmentAnswer>(module, answer)
}

fn evaluate(ctx: &Ctx, params: JudgmentEvaluateParams) -> Result<JudgmentEvaluateResult, Fault> {
    ctx.desk()?.thread(&wire::thread_id(&params.thread_id)?)?;
    let hint = "set judgment.backend";
    Err(Fault::new(ErrorCode::JudgmentUnavailable, ErrorCode::JudgmentUnavailable.message(), hint))
}

/// A late one, or one to a question that nobody asked, leaves no trace.
fn answer(ctx: &Ctx, params: JudgmentAnswerParams) -> Result<JudgmentAnswerResult, Fault> {
    let id = wire::thread_id(&params.thread_id)?;
    let answered = JudgmentAnswered {
        request: RequestId::new(params.request_id),
        source: JudgeSource::Host,
        answer: Answer::Says { should_compact: params.should_compact, reason: params.reason },
        usage: None,
        rate_limits: Vec::new(),
    };
    let handled = ctx.desk()?.handle_as_owner(&id, Input::Judged(answered), now())?;
    let accepted =
        handled.records.iter().any(|record| matches!(record.event, Event::JudgmentAnswered(_)));
    Ok(JudgmentAnswerResult { accepted })
}
