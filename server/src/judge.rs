//! The judge's endpoint: one question to a model, one answer, outside of every transcript. It connects only to an
//! endpoint that the user's files name. It must not act on the answer, store anything, or write an API key into a text.

mod answer;
mod endpoint;
mod error;
mod foreign;
mod key;
mod retry;
mod wire;

pub use error::JudgeError;

use endpoint::{EndpointCall, EndpointReply};
use foreign::ForeignText;
use key::ApiKey;
use rawr_settings::config::JudgeSettings;
use tokio::time::{Instant, sleep, timeout_at};
use wire::JudgeApi;

/// The rendered prompts. Secrets are redacted before they are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeQuestion {
    /// The system prompt.
    pub instructions: String,
    /// The case to judge.
    pub context: String,
}

/// An endpoint's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointJudgment {
    /// Whether to compact.
    pub should_compact: bool,
    /// One redacted line of at most 500 characters.
    pub reason: String,
    /// `None` if the endpoint does not report it.
    pub usage: Option<EndpointUsage>,
    /// The rate limits that the endpoint reported.
    pub rate_limits: Vec<RateLimitHeader>,
}

/// Tokens that the judgment used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointUsage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
}

/// One `x-ratelimit-*` header, unparsed: endpoints agree only on the prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimitHeader {
    /// The name of the header.
    pub name: String,
    /// The redacted value of the header.
    pub value: String,
}

/// Asks the endpoint of `settings`. Dropping the future cancels the request.
pub async fn judge(
    settings: &JudgeSettings,
    question: &JudgeQuestion,
) -> Result<EndpointJudgment, JudgeError> {
    let wire = JudgeApi::of(settings.backend)
        .ok_or(JudgeError::NoEndpoint { backend: settings.backend })?;
    let model = settings.model.as_deref().ok_or(JudgeError::NoModel)?;
    let key = settings.api_key_env.as_deref().map(ApiKey::from_env).transpose()?;
    let foreign = ForeignText::beside(key.as_ref());
    let body = wire.body(model, settings.reasoning_effort.as_deref(), question);
    let call = EndpointCall::new(&settings.base_url, wire.path(), &body, key.as_ref(), foreign)?;

    let reply = persist(settings, &call).await?;
    let spoken = wire.read(&reply.body, foreign)?;
    let verdict = answer::parse(&spoken.text, foreign)?;
    Ok(EndpointJudgment {
        should_compact: verdict.should_compact,
        reason: verdict.reason,
        usage: spoken.usage,
        rate_limits: reply.rate_limits,
    })
}

/// Repeats requests until one succeeds, with one time limit for all requests and pauses.
async fn persist(
    settings: &JudgeSettings,
    call: &EndpointCall<'_>,
) -> Result<EndpointReply, JudgeError> {
    let deadline = Instant::now() + settings.timeout;
    let mut requests = 0;
    loop {
        requests += 1;
        let Ok(outcome) = timeout_at(deadline, call.send()).await else {
            return Err(JudgeError::TimedOut { limit: settings.timeout, requests });
        };
        let error = match outcome {
            Ok(reply) => return Ok(reply),
            Err(error) if requests > settings.max_retries => return Err(error),
            Err(error) => error,
        };
        match retry::pause(&error, requests) {
            // If the pause would exceed the time limit, the cause of the retry is a better error than a time-out.
            Some(pause) if pause < deadline.duration_since(Instant::now()) => sleep(pause).await,
            _ => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
