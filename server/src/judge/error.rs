//! Why a judgment failed. No error may hold an API key.

use rawr_core::policy::JudgeBackend;
use std::time::Duration;

/// Texts of the endpoint and of the model are redacted and truncated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JudgeError {
    /// The backend does not use an endpoint.
    #[error("the judgment backend {backend:?} is not an endpoint")]
    NoEndpoint {
        /// The configured backend.
        backend: JudgeBackend,
    },
    /// No model is configured.
    #[error("no model is configured: set `rawr_auto_compaction.judgment.model`")]
    NoModel,
    /// The environment variable of the API key is not set.
    #[error("the environment variable `{variable}` is not set: set it to the API key")]
    NoKey {
        /// The name of the variable.
        variable: String,
    },
    /// The API key cannot be sent in a header.
    #[error("the API key in `{variable}` contains characters that a header cannot hold")]
    UnusableKey {
        /// The name of the variable.
        variable: String,
    },
    /// The configured address is not valid.
    #[error("`rawr_auto_compaction.judgment.base_url` is not a valid address: {detail}")]
    BadAddress {
        /// The cause.
        detail: String,
    },
    /// No HTTP client could be created.
    #[error("failed to create the HTTP client: {detail}")]
    NoClient {
        /// The cause.
        detail: String,
    },
    /// The endpoint could not be reached.
    #[error("failed to connect to `{endpoint}`: {detail}")]
    Unreachable {
        /// The address, without query and credentials.
        endpoint: String,
        /// The cause.
        detail: String,
    },
    /// The connection ended before the reply did.
    #[error("lost the connection to `{endpoint}`: {detail}")]
    BrokenOff {
        /// The address, without query and credentials.
        endpoint: String,
        /// The cause.
        detail: String,
    },
    /// The time limit was reached.
    #[error("no answer within {limit:?}, in {requests} request(s)")]
    TimedOut {
        /// The time limit of the judgment.
        limit: Duration,
        /// The number of requests until then.
        requests: u32,
    },
    /// Never followed: the transcript and the key go only to the configured endpoint.
    #[error("the endpoint answered {status} with a redirect to `{to}`, which rawr does not follow")]
    Redirected {
        /// The HTTP status.
        status: u16,
        /// The target of the redirect, without query and credentials.
        to: String,
    },
    /// The endpoint answered with an error status.
    #[error("the endpoint answered {status}: {message}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The endpoint's error code, such as `rate_limit_exceeded`.
        code: Option<String>,
        /// The endpoint's explanation.
        message: String,
        /// How long the endpoint asks to wait.
        retry_after: Option<Duration>,
    },
    /// The reply is too long.
    #[error("the endpoint's answer is longer than {max_bytes} bytes")]
    TooLong {
        /// The limit.
        max_bytes: usize,
    },
    /// The reply does not have the format of the API.
    #[error("the endpoint's answer does not match its API: {detail}")]
    NotOfTheApi {
        /// The cause.
        detail: String,
    },
    /// The endpoint reports an error with a success status.
    #[error("the endpoint failed: {message}")]
    Failed {
        /// The endpoint's error message.
        message: String,
    },
    /// The model stopped early, for example at a token limit.
    #[error("the model did not finish: {reason}")]
    Unfinished {
        /// The reason that the API reports.
        reason: String,
    },
    /// The model refused to answer.
    #[error("the model refused: {text}")]
    Refused {
        /// The model's text.
        text: String,
    },
    /// The model answered with an empty text.
    #[error("the model's answer is empty")]
    Empty,
    /// The model's answer is not JSON.
    #[error("the model's answer is not JSON: {detail}")]
    NotJson {
        /// The cause.
        detail: String,
    },
    /// The model's answer does not match the schema.
    #[error("the model's answer does not match the schema: {detail}")]
    AgainstSchema {
        /// The cause.
        detail: String,
    },
}
