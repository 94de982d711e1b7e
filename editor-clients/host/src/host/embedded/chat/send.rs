//! Requests to the endpoint: what goes wrong with them, for whom it is told, and whether trying again is of use. Knows nothing of models.

use std::time::{Duration, SystemTime};

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;

use super::{ChatError, Retry};
use crate::host::embedded::history::beginning;
use crate::host::embedded::model::ModelError;

/// Posts to one endpoint.
pub(super) struct Sender {
    client: Client,
    key: Option<HeaderValue>,
    retry: Retry,
}

/// Why a request has no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    problem: Problem,
    message: String,
    /// How long the endpoint asks to be left alone.
    retry_after: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    /// The same request may well succeed later.
    Passing,
    /// The same request will fail again.
    Lasting,
    /// The endpoint does not want a request of this form.
    Refused,
    /// The conversation is longer than the model's window.
    TooLong,
}

/// Repetitions of one request.
#[derive(Debug)]
pub(super) struct RetryPlan {
    retry: Retry,
    done: u32,
}

/// A repetition to come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) time: Duration,
    pub(super) why: String,
}

const CONNECT: Duration = Duration::from_secs(20);
/// A model may think for long before its first word.
const SILENCE: Duration = Duration::from_secs(300);

/// What of an error page is worth showing.
const ERROR_BYTES: usize = 500;

impl Sender {
    pub(super) fn new(key: Option<String>, retry: Retry) -> Result<Self, ChatError> {
        let key = key.map(|key| {
            let mut value =
                HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| ChatError::Key)?;
            value.set_sensitive(true);
            Ok::<_, ChatError>(value)
        });
        // Another one may have been chosen before in this process; it will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("rawr/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            // A key and a conversation go where they were sent and nowhere else.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { client, key: key.transpose()?, retry })
    }

    pub(super) fn retry(&self) -> Retry {
        self.retry
    }

    /// The answer's head; an error unless it says that the answer is a good one.
    pub(super) async fn post(&self, url: &Url, body: &Value) -> Result<Response, Failure> {
        let mut headers = HeaderMap::new();
        headers.extend(self.key.clone().map(|key| (AUTHORIZATION, key)));
        let sent = self.client.post(url.clone()).headers(headers).json(body).send().await;
        let response = sent.map_err(|error| Failure::of_transport(url, &error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, retry_after) = (response.status(), retry_after(response.headers()));
        // What the status says is enough where the page cannot be read.
        let page = response.text().await.unwrap_or_default();
        Err(Failure::of_status(url, status, &page, retry_after))
    }
}

/// Whether the answer comes as one piece. What is not called JSON is taken for the stream that was asked for.
pub(super) fn is_whole(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.contains("json"))
}

pub(super) async fn text(response: Response, url: &Url) -> Result<String, Failure> {
    response.text().await.map_err(|error| Failure::of_transport(url, &error))
}

pub(super) async fn chunk(
    response: &mut Response,
    url: &Url,
) -> Result<Option<impl AsRef<[u8]> + use<>>, Failure> {
    response.chunk().await.map_err(|error| Failure::of_transport(url, &error))
}

impl Failure {
    pub(super) fn new(problem: Problem, message: String) -> Self {
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
        Self::new(Problem::Passing, format!("POST {url}: {message}{hint}"))
    }

    fn of_status(url: &Url, status: StatusCode, page: &str, wait: Option<Duration>) -> Self {
        let words = words(page);
        let problem = match status.as_u16() {
            408 | 409 | 425 | 429 | 500..=599 => Problem::Passing,
            400 | 413 | 422 => Problem::of_words(&words, Problem::Refused),
            _ => Problem::Lasting,
        };
        let hint = match status.as_u16() {
            300..=399 => "; the endpoint is elsewhere: give its own base URL",
            401 | 403 => "; is the right key in the variable that --api-key-env names?",
            404 => "; are the base URL and the model's name right?",
            _ => "",
        };
        let colon = if words.is_empty() { "" } else { ": " };
        let message = format!("POST {url}: {status}{colon}{words}{hint}");
        Self { problem, message, retry_after: wait }
    }
}

impl Problem {
    /// Endpoints have a code of their own each for a conversation that is too long, and the same few words.
    pub(super) fn of_words(words: &str, otherwise: Self) -> Self {
        const TOO_LONG: [&str; 5] = [
            "context_length_exceeded",
            "context length",
            "context window",
            "maximum context",
            "prompt is too long",
        ];
        let words = words.to_lowercase();
        if TOO_LONG.iter().any(|sign| words.contains(sign)) { Self::TooLong } else { otherwise }
    }
}

/// What an error page says: its `error.message` if it is JSON, else its beginning.
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
    pub(super) fn new(retry: Retry) -> Self {
        Self { retry, done: 0 }
    }

    /// When to try again; the failure itself if that is of no use.
    pub(super) fn after(&mut self, failure: Failure) -> Result<Wait, ModelError> {
        let Failure { problem, message, retry_after } = failure;
        match problem {
            Problem::Passing if self.done < self.retry.times => {}
            Problem::Passing if self.done > 0 => {
                let message = format!("{message} (tried {} times)", self.done + 1);
                return Err(ModelError::Failed(message));
            }
            Problem::Passing | Problem::Lasting => return Err(ModelError::Failed(message)),
            Problem::Refused => return Err(ModelError::Refused(message)),
            Problem::TooLong => return Err(ModelError::TooLong(message)),
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
        Ok(Wait { time, why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> Url {
        "http://127.0.0.1:1/v1/chat/completions".parse().unwrap()
    }

    fn failed(status: u16, page: &str, wait: Option<u64>) -> Failure {
        let status = StatusCode::from_u16(status).unwrap();
        Failure::of_status(&url(), status, page, wait.map(Duration::from_secs))
    }

    fn check_told(status: u16, page: &str, problem: Problem, words: &[&str]) {
        let failure = failed(status, page, None);
        assert_eq!(failure.problem, problem, "{failure:?}");
        for word in words {
            assert!(failure.message.contains(word), "{failure:?}");
        }
    }

    #[test]
    fn an_error_is_told_in_the_endpoints_own_words_with_what_to_do() {
        let page = r#"{"error": {"message": "No such key", "code": "invalid_api_key"}}"#;
        let told = ["401 Unauthorized: No such key (invalid_api_key)", "--api-key-env"];
        check_told(401, page, Problem::Lasting, &told);
        check_told(404, "", Problem::Lasting, &["404 Not Found; are the base URL"]);
        check_told(307, "", Problem::Lasting, &["its own base URL"]);
        check_told(400, r#"{"error": "no tools here"}"#, Problem::Refused, &["no tools here"]);
        check_told(503, "<html>busy</html>", Problem::Passing, &["<html>busy</html>"]);
        let page =
            r#"{"error": {"message": "too many tokens", "code": "context_length_exceeded"}}"#;
        check_told(400, page, Problem::TooLong, &[]);
    }

    fn waits(failures: impl IntoIterator<Item = Failure>) -> Vec<Result<u64, String>> {
        let retry = Retry {
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
    fn what_passes_is_tried_again_each_time_after_twice_as_long() {
        let waits = waits([failed(429, "", None), failed(500, "", None), failed(502, "", None)]);
        assert_eq!(waits[..2], [Ok(1), Ok(2)]);
        let error = waits[2].as_ref().unwrap_err();
        assert!(error.ends_with("(tried 3 times)"), "{error}");
    }

    #[test]
    fn an_endpoint_that_names_a_time_is_heeded_within_reason() {
        let waits = waits([failed(429, "", Some(7)), failed(429, "", Some(3600))]);
        assert_eq!(waits[0], Ok(7));
        assert!(waits[1].as_ref().unwrap_err().contains("asks to wait for 3600 s"));
    }

    #[test]
    fn what_will_fail_again_is_not_tried_again() {
        assert!(waits([failed(401, "", None)])[0].is_err());
        assert!(waits([failed(400, "", None)])[0].is_err());
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_refused_without_being_shown() {
        let error = Sender::new(Some("se\ncret".to_owned()), Retry::default()).err().unwrap();
        assert!(!error.to_string().contains("cret"), "{error}");
    }
}
