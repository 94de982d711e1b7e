//! Why there is no judgment. What the error of each means for the compaction is decided elsewhere; nothing in here may
//! hold a key.

use rawr_core::policy::JudgeBackend;
use std::time::Duration;

/// Texts of the endpoint and of the model are redacted and cut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JudgeError {
    #[error("the judgment backend {backend:?} is no endpoint")]
    NoEndpoint { backend: JudgeBackend },
    #[error("no model is set: `rawr_auto_compaction.judgment.model`")]
    NoModel,
    #[error("the environment variable `{variable}`, which should hold the API key, is not set")]
    NoKey { variable: String },
    #[error("the key in the environment variable `{variable}` cannot be sent in a header")]
    UnusableKey { variable: String },
    #[error("`rawr_auto_compaction.judgment.base_url` is no address of an endpoint: {detail}")]
    BadAddress { detail: String },
    #[error("no HTTP client could be made: {detail}")]
    NoClient { detail: String },
    #[error("`{endpoint}` cannot be reached: {detail}")]
    Unreachable { endpoint: String, detail: String },
    #[error("the connection to `{endpoint}` broke off: {detail}")]
    BrokenOff { endpoint: String, detail: String },
    #[error("no answer within {limit:?}, in {requests} request(s)")]
    TimedOut { limit: Duration, requests: u32 },
    /// The transcript and the key go where the user said, and nowhere else.
    #[error("the endpoint answers {status} and points to `{to}`, which is not followed")]
    Redirected { status: u16, to: String },
    #[error("the endpoint answers {status}: {message}")]
    Status {
        status: u16,
        /// As the endpoint names it, such as `rate_limit_exceeded`.
        code: Option<String>,
        message: String,
        retry_after: Option<Duration>,
    },
    #[error("the endpoint's answer is longer than {max_bytes} bytes")]
    TooLong { max_bytes: usize },
    #[error("the endpoint's answer is not of its API: {detail}")]
    NotOfTheApi { detail: String },
    #[error("the endpoint failed: {message}")]
    Failed { message: String },
    #[error("the model did not finish: {reason}")]
    Unfinished { reason: String },
    #[error("the model refused: {text}")]
    Refused { text: String },
    #[error("the model said nothing")]
    Empty,
    #[error("the model's answer is not JSON: {detail}")]
    NotJson { detail: String },
    #[error("the model's answer is against the schema: {detail}")]
    AgainstSchema { detail: String },
}
