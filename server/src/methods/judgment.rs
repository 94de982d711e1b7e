//! `rawr/judgment/*`: asking the judge about a given case, and the host's answers to judgments.

use super::{ClientSession, Module, now, on, on_async};
use crate::judge;
use crate::query::{self, Inquiry, JudgeCase};
use crate::wire::{self, RpcError, ToCore, ToWire};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::Input;
use rawr_core::event::{Event, JudgeReply, JudgmentAnswered, JudgmentSource};
use rawr_core::judgment::OUTPUT_SCHEMA;
use rawr_core::units::{JudgeRequestId, Percent, ThreadId};
use rawr_protocol::methods::{ActionPerform, JudgmentAnswer, JudgmentEvaluate};
use rawr_protocol::{
    Action, ActionPerformNotification, ErrorCode, JudgmentAnswerParams, JudgmentAnswerResult,
    JudgmentEvaluateParams, JudgmentEvaluateResult,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_async::<JudgmentEvaluate, _>(module, evaluate)?;
    on::<JudgmentAnswer>(module, answer)
}

/// Judgments that clients requested, one per thread. They belong to no sequence and are not recorded.
#[derive(Debug, Default)]
pub(super) struct Evaluations {
    open: Mutex<HashMap<ThreadId, OpenEvaluation>>,
    asked: Mutex<u64>,
}

#[derive(Debug)]
struct OpenEvaluation {
    request: String,
    /// Taken by the first answer.
    waiter: Option<oneshot::Sender<JudgeReply>>,
}

/// Frees the thread for the next judgment when the request ends or is cancelled.
struct EvaluationGuard<'e> {
    evaluations: &'e Evaluations,
    thread: ThreadId,
    answer: oneshot::Receiver<JudgeReply>,
}

impl Drop for EvaluationGuard<'_> {
    fn drop(&mut self) {
        self.evaluations.open().remove(&self.thread);
    }
}

impl Evaluations {
    fn open(&self) -> MutexGuard<'_, HashMap<ThreadId, OpenEvaluation>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, wanted: Option<String>) -> String {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked += 1;
        wanted.unwrap_or_else(|| format!("e{asked}"))
    }

    fn begin(&self, thread: &ThreadId, request: &str) -> Result<EvaluationGuard<'_>, RpcError> {
        let mut open = self.open();
        if open.contains_key(thread) {
            return Err(busy());
        }
        let (waiter, answer) = oneshot::channel();
        open.insert(
            thread.clone(),
            OpenEvaluation { request: request.to_owned(), waiter: Some(waiter) },
        );
        Ok(EvaluationGuard { evaluations: self, thread: thread.clone(), answer })
    }

    /// Returns whether the answer was waited for.
    pub(super) fn answered(&self, thread: &ThreadId, request: &str, answer: JudgeReply) -> bool {
        let mut open = self.open();
        let question = open.get_mut(thread).filter(|open| open.request == request);
        let waiter = question.and_then(|question| question.waiter.take());
        waiter.is_some_and(|waiter| waiter.send(answer).is_ok())
    }
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
    let tier = params.tier;
    let request = session.evaluations.name(params.request_id.clone());
    let alone = session.evaluations.begin(&id, &request)?;
    let asked = inquire(&session, &id, params)?;
    let source = asked.source;
    let answer = match source {
        JudgmentSource::Heuristic => asked.heuristic,
        JudgmentSource::Host => by_host(&session, alone, &request, &asked).await,
        JudgmentSource::Responses | JudgmentSource::Chat => {
            match judge::judge(&asked.settings, &asked.question).await {
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
    session: &ClientSession,
    id: &ThreadId,
    params: JudgmentEvaluateParams,
) -> Result<Inquiry, RpcError> {
    let mut registry = session.registry()?;
    if registry.thread(id)?.judging().is_some() {
        return Err(busy());
    }
    registry.workspace_mut().refresh_prompts();
    let open = registry.open_thread(id)?;
    let case = JudgeCase {
        tier: params.tier.to_core(),
        percent: Percent(params.percent_remaining.min(100)),
        boundaries: params.boundaries_present.into_iter().map(ToCore::to_core).collect(),
        last_message: params.last_agent_message.as_deref(),
        excerpt: params.transcript_excerpt.as_deref(),
    };
    let prompts = registry.workspace().prompts().set().prompts();
    let settings = &open.config().judgment;
    let asked = query::inquiry(open.thread(), open.policy(), settings, prompts, case);
    let asked = asked.ok_or_else(|| unavailable("judgment.backend is `off`"))?;
    let hosts = asked.source == JudgmentSource::Host;
    if hosts && !(registry.is_owner(id) && registry.thread(id)?.session.host.can.judge) {
        return Err(unavailable("the thread's host is not connected or cannot judge"));
    }
    Ok(asked)
}

async fn by_host(
    session: &ClientSession,
    mut alone: EvaluationGuard<'_>,
    request: &str,
    asked: &Inquiry,
) -> JudgeReply {
    session.outbox.order::<ActionPerform>(&ActionPerformNotification {
        thread_id: alone.thread.to_string(),
        sequence_id: asked.sequence.to_string(),
        action_id: request.to_owned(),
        action: Action::Judge {
            request_id: request.to_owned(),
            instructions: asked.question.instructions.clone(),
            context: asked.question.context.clone(),
            output_schema: OUTPUT_SCHEMA.clone(),
        },
    });
    let limit = Duration::from_secs(asked.deadline_seconds);
    match tokio::time::timeout(limit, &mut alone.answer).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) | Err(_) => {
            JudgeReply::Failed { error: format!("the host did not answer within {limit:?}") }
        }
    }
}

/// An answer that is late or was not requested is ignored.
fn answer(
    session: &ClientSession,
    params: JudgmentAnswerParams,
) -> Result<JudgmentAnswerResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let says = JudgeReply::Says { should_compact: params.should_compact, reason: params.reason };
    if session.evaluations.answered(&id, &params.request_id, says.clone()) {
        return Ok(JudgmentAnswerResult { accepted: true });
    }
    let answered = JudgmentAnswered {
        request: JudgeRequestId::new(params.request_id),
        source: JudgmentSource::Host,
        answer: says,
        usage: None,
        rate_limits: Vec::new(),
    };
    let handled = session.registry()?.handle_as_owner(&id, Input::Judged(answered), now())?;
    let accepted =
        handled.records.iter().any(|record| matches!(record.event, Event::JudgmentAnswered(_)));
    Ok(JudgmentAnswerResult { accepted })
}
