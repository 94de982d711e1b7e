//! HTTP requests to the endpoint: errors with hints, and the decision whether to retry.

use std::time::{Duration, SystemTime};

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde::Serialize;
use serde_json::Value;

use super::{ChatError, RetrySettings};
use crate::host::ContextOverflow;
use crate::host::embedded::history::beginning;
use crate::host::embedded::model::ModelError;

/// Posts to the endpoint.
pub(super) struct ChatClient {
    client: Client,
    key: Option<HeaderValue>,
    retry: RetrySettings,
}

/// A failed request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestFailure {
    problem: FailureKind,
    message: String,
    /// The endpoint's `RetrySettings-After`.
    retry_after: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// The request may succeed when it is sent again later.
    Passing,
    /// The request fails again whenever it is sent again.
    Lasting,
    /// The endpoint does not support a request of this form.
    Refused,
    /// The conversation is longer than the model's window.
    TooLong,
}

/// The retries of one request.
#[derive(Debug)]
pub(super) struct RetryPlan {
    retry: RetrySettings,
    done: u32,
}

/// The next retry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RetryWait {
    pub(super) time: Duration,
    pub(super) why: String,
}

const CONNECT: Duration = Duration::from_secs(20);
/// Read timeout. A model may think for a long time before its first token.
const SILENCE: Duration = Duration::from_secs(300);

/// The largest part of an error page to show.
const ERROR_BYTES: usize = 500;

impl ChatClient {
    pub(super) fn new(key: Option<String>, retry: RetrySettings) -> Result<Self, ChatError> {
        let key = key.map(|key| {
            let mut value =
                HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| ChatError::Key)?;
            value.set_sensitive(true);
            Ok::<_, ChatError>(value)
        });
        // Fails if a provider is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("rawr/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            // A redirect must not receive the key and the conversation.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { client, key: key.transpose()?, retry })
    }

    pub(super) fn retry(&self) -> RetrySettings {
        self.retry
    }

    /// Sends a request and returns a successful response.
    pub(super) async fn post(
        &self,
        url: &Url,
        body: &impl Serialize,
    ) -> Result<Response, RequestFailure> {
        let mut headers = HeaderMap::new();
        headers.extend(self.key.clone().map(|key| (AUTHORIZATION, key)));
        let sent = self.client.post(url.clone()).headers(headers).json(body).send().await;
        let response = sent.map_err(|error| RequestFailure::of_transport(url, &error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, retry_after) = (response.status(), retry_after(response.headers()));
        // If the page cannot be read, the status is enough.
        let page = response.text().await.unwrap_or_default();
        Err(RequestFailure::of_status(url, status, &page, retry_after))
    }
}

/// Whether the answer is one JSON document instead of a stream.
pub(super) fn is_whole(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.contains("json"))
}

pub(super) async fn text(response: Response, url: &Url) -> Result<String, RequestFailure> {
    response.text().await.map_err(|error| RequestFailure::of_transport(url, &error))
}

pub(super) async fn chunk(
    response: &mut Response,
    url: &Url,
) -> Result<Option<impl AsRef<[u8]> + use<>>, RequestFailure> {
    response.chunk().await.map_err(|error| RequestFailure::of_transport(url, &error))
}

impl RequestFailure {
    pub(super) fn new(problem: FailureKind, message: String) -> Self {
        Self { problem, message, retry_after: None }
    }

    fn of_transport(url: &Url, error: &reqwest::Error) -> Self {
        let mut message = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(inner) = cause {
            message = inner.to_string();
            cause = inner.source();
        }
        let hint = if error.is_connect() { "; is the endpoint running?" } else { "" };
        Self::new(FailureKind::Passing, format!("POST {url}: {message}{hint}"))
    }

    fn of_status(url: &Url, status: StatusCode, page: &str, wait: Option<Duration>) -> Self {
        let words = words(page);
        let problem = match status.as_u16() {
            408 | 409 | 425 | 429 | 500..=599 => FailureKind::Passing,
            400 | 413 | 422 => FailureKind::of_words(&words, FailureKind::Refused),
            _ => FailureKind::Lasting,
        };
        let hint = match status.as_u16() {
            300..=399 => "; the endpoint redirects: use its final base URL",
            401 | 403 => "; check the key in the variable that --api-key-env names",
            404 => "; check the base URL and the model's name",
            _ => "",
        };
        let colon = if words.is_empty() { "" } else { ": " };
        let message = format!("POST {url}: {status}{colon}{words}{hint}");
        Self { problem, message, retry_after: wait }
    }
}

impl FailureKind {
    pub(super) fn of_words(words: &str, otherwise: Self) -> Self {
        if ContextOverflow::read(words).is_some() { Self::TooLong } else { otherwise }
    }
}

/// The message of an error page: its `error.message` if it is JSON, otherwise its beginning.
fn words(page: &str) -> String {
    let read: Option<Value> = serde_json::from_str(page).ok();
    let told = read.as_ref().and_then(|read| {
        let error = &read["error"];
        error["message"].as_str().or(error.as_str()).or(read["message"].as_str())
    });
    let code = read.as_ref().and_then(|read| read["error"]["code"].as_str());
    let text = told.unwrap_or(page).split_whitespace().collect::<Vec<_>>().join(" ");
    let text = beginning(&text, ERROR_BYTES).to_owned();
    match code {
        Some(code) if !text.contains(code) => format!("{text} ({code})"),
        _ => text,
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(value).ok()?;
    Some(until.duration_since(SystemTime::now()).unwrap_or_default())
}

impl RetryPlan {
    pub(super) fn new(retry: RetrySettings) -> Self {
        Self { retry, done: 0 }
    }

    /// When to retry; an error if the request should not be retried.
    pub(super) fn after(&mut self, failure: RequestFailure) -> Result<RetryWait, ModelError> {
        let RequestFailure { problem, message, retry_after } = failure;
        match problem {
            FailureKind::Passing if self.done < self.retry.times => {}
            FailureKind::Passing if self.done > 0 => {
                let message = format!("{message} (tried {} times)", self.done + 1);
                return Err(ModelError::Failed(message));
            }
            FailureKind::Passing | FailureKind::Lasting => return Err(ModelError::Failed(message)),
            FailureKind::Refused => return Err(ModelError::Refused(message)),
            FailureKind::TooLong => return Err(ModelError::TooLong(message)),
        }
        let own = self.retry.first_wait.saturating_mul(1 << self.done.min(16));
        let time = retry_after.unwrap_or(own);
        if time > self.retry.longest_wait {
            let asked = time.as_secs();
            return Err(ModelError::Failed(format!("{message}; it asks to wait for {asked} s")));
        }
        self.done += 1;
        let (done, times, seconds) = (self.done, self.retry.times, time.as_secs_f64());
        let why = format!("{message}; trying again in {seconds:.1} s ({done} of {times})");
        Ok(RetryWait { time, why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> Url {
        "http://127.0.0.1:1/v1/chat/completions".parse().unwrap()
    }

    fn failed(status: u16, page: &str, wait: Option<u64>) -> RequestFailure {
        let status = StatusCode::from_u16(status).unwrap();
        RequestFailure::of_status(&url(), status, page, wait.map(Duration::from_secs))
    }

    fn check_told(status: u16, page: &str, problem: FailureKind, words: &[&str]) {
        let failure = failed(status, page, None);
        assert_eq!(failure.problem, problem, "{failure:?}");
        for word in words {
            assert!(failure.message.contains(word), "{failure:?}");
        }
    }

    #[test]
    fn an_error_shows_the_endpoints_message_and_a_hint() {
        let page = r#"{"error": {"message": "No such key", "code": "invalid_api_key"}}"#;
        let told = ["401 Unauthorized: No such key (invalid_api_key)", "--api-key-env"];
        check_told(401, page, FailureKind::Lasting, &told);
        check_told(404, "", FailureKind::Lasting, &["404 Not Found; check the base URL"]);
        check_told(307, "", FailureKind::Lasting, &["its final base URL"]);
        check_told(400, r#"{"error": "no tools here"}"#, FailureKind::Refused, &["no tools here"]);
        check_told(503, "<html>busy</html>", FailureKind::Passing, &["<html>busy</html>"]);
        let page =
            r#"{"error": {"message": "too many tokens", "code": "context_length_exceeded"}}"#;
        check_told(400, page, FailureKind::TooLong, &[]);
    }

    fn waits(failures: impl IntoIterator<Item = RequestFailure>) -> Vec<Result<u64, String>> {
        let retry = RetrySettings {
            times: 2,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
        };
        let mut again = RetryPlan::new(retry);
        let wait = |failure| {
            let wait = again.after(failure);
            wait.map(|wait| wait.time.as_secs()).map_err(|error| error.to_string())
        };
        failures.into_iter().map(wait).collect()
    }

    #[test]
    fn a_transient_failure_is_retried_with_doubled_waits() {
        let waits = waits([failed(429, "", None), failed(500, "", None), failed(502, "", None)]);
        assert_eq!(waits[..2], [Ok(1), Ok(2)]);
        let error = waits[2].as_ref().unwrap_err();
        assert!(error.ends_with("(tried 3 times)"), "{error}");
    }

    #[test]
    fn retry_after_is_respected_up_to_a_limit() {
        let waits = waits([failed(429, "", Some(7)), failed(429, "", Some(3600))]);
        assert_eq!(waits[0], Ok(7));
        assert!(waits[1].as_ref().unwrap_err().contains("asks to wait for 3600 s"));
    }

    #[test]
    fn a_permanent_failure_is_not_retried() {
        assert!(waits([failed(401, "", None)])[0].is_err());
        assert!(waits([failed(400, "", None)])[0].is_err());
    }

    #[test]
    fn an_invalid_key_is_refused_without_showing_it() {
        let error =
            ChatClient::new(Some("se\ncret".to_owned()), RetrySettings::default()).err().unwrap();
        assert!(!error.to_string().contains("cret"), "{error}");
    }
}
