//! `rawr/judgment/*`: asking the judge about a given case, and the host's answers to judgments.

use super::{ClientSession, Module, on, on_slow};
use crate::judge;
use crate::query::{self, Inquiry, JudgeCase};
use crate::registry::OpenThread;
use crate::wire::{self, RpcError, ToCore, ToWire};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Input;
use rawr_core::event::{Event, JudgeReply, JudgmentAnswered, JudgmentSource};
use rawr_core::judgment::OUTPUT_SCHEMA;
use rawr_core::units::{JudgeRequestId, Percent};
use rawr_protocol::methods::{ActionPerform, JudgmentAnswer, JudgmentEvaluate};
use rawr_protocol::{
    Action, ActionPerformNotification, ErrorCode, JudgmentAnswerParams, JudgmentAnswerResult,
    JudgmentEvaluateParams, JudgmentEvaluateResult,
};
use rawr_settings::prompts::PromptSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::oneshot;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_slow::<JudgmentEvaluate, _>(module, evaluate)?;
    on::<JudgmentAnswer, _>(module, answer)
}

fn busy() -> RpcError {
    let hint = "wait for its answer: one judgment per thread at a time";
    RpcError::new(ErrorCode::NotNow, "a judgment of this thread is in progress", hint)
}

fn unavailable(why: impl Into<String>) -> RpcError {
    let hint = "configure a judge in rawr_auto_compaction.judgment of rawr.toml";
    RpcError::new(ErrorCode::JudgmentUnavailable, why, hint)
}

async fn evaluate(
    session: Arc<ClientSession>,
    params: JudgmentEvaluateParams,
) -> Result<JudgmentEvaluateResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let (tier, thread) = (params.tier, params.thread_id.clone());
    let number = session.judgments.fetch_add(1, Ordering::Relaxed) + 1;
    let request = params.request_id.clone().unwrap_or_else(|| format!("e{number}"));
    let prompts = session.workspace()?.refreshed_prompts().await;
    let named = request.clone();
    let inquire = move |open: &mut OpenThread| inquire(open, &prompts, named, &params);
    let (asked, reply) = session.registry()?.read(&id, inquire).await??;
    let source = asked.source;
    let answer = match source {
        JudgmentSource::Heuristic => asked.heuristic,
        JudgmentSource::Host => by_host(&session, reply, (thread, request.clone()), &asked).await,
        JudgmentSource::Responses | JudgmentSource::Chat => {
            let judged = judge::judge(&asked.settings, &asked.question).await;
            // Until now, the thread had no other judgment.
            drop(reply);
            match judged {
                Ok(said) => {
                    JudgeReply::Says { should_compact: said.should_compact, reason: said.reason }
                }
                Err(error) => JudgeReply::Failed { error: error.to_string() },
            }
        }
    };
    match answer {
        JudgeReply::Says { should_compact, reason } => Ok(JudgmentEvaluateResult {
            request_id: request,
            tier,
            should_compact,
            reason,
            source: source.to_wire(),
        }),
        JudgeReply::Failed { error } => Err(unavailable(error)),
    }
}

fn inquire(
    open: &mut OpenThread,
    prompts: &PromptSet,
    request: String,
    params: &JudgmentEvaluateParams,
) -> Result<(Inquiry, oneshot::Receiver<JudgeReply>), RpcError> {
    if open.is_asked() || open.thread().judging().is_some() {
        return Err(busy());
    }
    let case = JudgeCase {
        tier: params.tier.to_core(),
        percent: Percent(params.percent_remaining.min(100)),
        boundaries: params.boundaries_present.iter().copied().map(ToCore::to_core).collect(),
        last_message: params.last_agent_message.as_deref(),
        excerpt: params.transcript_excerpt.as_deref(),
    };
    let settings = &open.config().judgment;
    let asked = query::inquiry(open.thread(), open.policy(), settings, prompts.prompts(), case);
    let asked = asked.ok_or_else(|| unavailable("judgment.backend is `off`"))?;
    let is_hosts = asked.source == JudgmentSource::Host;
    if is_hosts && !(open.is_owned() && open.thread().session.host.can.judge) {
        return Err(unavailable("the thread's host is not connected or cannot judge"));
    }
    Ok((asked, open.ask(request)))
}

async fn by_host(
    session: &ClientSession,
    mut reply: oneshot::Receiver<JudgeReply>,
    (thread_id, request_id): (String, String),
    asked: &Inquiry,
) -> JudgeReply {
    session.outbox.order::<ActionPerform>(&ActionPerformNotification {
        thread_id,
        sequence_id: asked.sequence.to_string(),
        action_id: request_id.clone(),
        action: Action::Judge {
            request_id,
            instructions: asked.question.instructions.clone(),
            context: asked.question.context.clone(),
            output_schema: OUTPUT_SCHEMA.clone(),
        },
    });
    let limit = Duration::from_secs(asked.deadline_seconds);
    match tokio::time::timeout(limit, &mut reply).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) | Err(_) => {
            JudgeReply::Failed { error: format!("the host did not answer within {limit:?}") }
        }
    }
}

/// An answer that is late or was not requested is ignored.
async fn answer(
    session: Arc<ClientSession>,
    params: JudgmentAnswerParams,
) -> Result<JudgmentAnswerResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let says = JudgeReply::Says { should_compact: params.should_compact, reason: params.reason };
    let request = params.request_id;
    let inputs = move |open: &mut OpenThread| {
        if open.answer_client(&request, &says) {
            return Vec::new();
        }
        vec![Input::Judged(JudgmentAnswered {
            request: JudgeRequestId::new(request),
            source: JudgmentSource::Host,
            answer: says,
            usage: None,
            rate_limits: Vec::new(),
        })]
    };
    let handled = session.registry()?.handle_all_as_owner(&id, inputs, |_, handled| {
        let is_answer = |event: &Event| matches!(event, Event::JudgmentAnswered(_));
        let mut records = handled.iter().flat_map(|handled| &handled.records);
        // Without an input, a client has the answer.
        let accepted = handled.is_empty() || records.any(|record| is_answer(&record.event));
        JudgmentAnswerResult { accepted }
    });
    Ok(handled.await?)
}
