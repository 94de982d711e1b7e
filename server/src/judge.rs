//! The judge behind an endpoint: one question to a model, one answer, outside of every transcript. It reaches out only
//! where the user's files name an endpoint. It must not decide what follows from an answer or from none, keep anything,
//! or let a key into a text.

mod answer;
mod endpoint;
mod error;
mod foreign;
mod key;
mod retry;
mod wire;

pub use error::JudgeError;

use crate::config::JudgeSettings;
use endpoint::{Call, Reply};
use foreign::Foreign;
use key::ApiKey;
use tokio::time::{Instant, sleep, timeout_at};
use wire::Wire;

/// The rendered prompts. What looks like a secret is taken out before they leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub instructions: String,
    pub context: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub should_compact: bool,
    /// One line, redacted, of at most 500 characters.
    pub reason: String,
    /// `None` where the endpoint does not say.
    pub usage: Option<JudgeUsage>,
    pub rate_limits: Vec<RateLimit>,
}

/// Tokens that the judgment took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgeUsage {
    pub input: u64,
    pub output: u64,
}

/// One `x-ratelimit-*` header, as it came: the endpoints agree on the prefix and on little else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    pub name: String,
    pub value: String,
}

/// Asks the endpoint of `settings`. Dropping the future ends the request.
pub async fn judge(settings: &JudgeSettings, question: &Question) -> Result<Answer, JudgeError> {
    let wire =
        Wire::of(settings.backend).ok_or(JudgeError::NoEndpoint { backend: settings.backend })?;
    let model = settings.model.as_deref().ok_or(JudgeError::NoModel)?;
    let key = settings.api_key_env.as_deref().map(ApiKey::from_env).transpose()?;
    let foreign = Foreign::beside(key.as_ref());
    let body = wire.body(model, settings.reasoning_effort.as_deref(), question);
    let call = Call::new(&settings.base_url, wire.path(), &body, key.as_ref(), foreign)?;

    let reply = persist(settings, &call).await?;
    let spoken = wire.read(&reply.body, foreign)?;
    let verdict = answer::parse(&spoken.text, foreign)?;
    Ok(Answer {
        should_compact: verdict.should_compact,
        reason: verdict.reason,
        usage: spoken.usage,
        rate_limits: reply.rate_limits,
    })
}

/// The limit is one for all requests and the pauses between them.
async fn persist(settings: &JudgeSettings, call: &Call<'_>) -> Result<Reply, JudgeError> {
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
            // Where the pause alone takes all the time that is left, its cause says more than a time-out would.
            Some(pause) if pause < deadline.duration_since(Instant::now()) => sleep(pause).await,
            _ => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
