//! A model behind an OpenAI-compatible endpoint: streamed chat completions with tools. Stateless.

mod body;
mod send;
mod stream;
mod text;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::send::{ChatClient, RetryPlan};
use self::stream::CompletionStream;
use super::history::AgentItem;
use super::model::{DeltaSink, Model, ModelDelta, ModelError, ModelRequest, SampleReply};
use crate::host::SummaryTuning;

/// Settings of an endpoint.
#[derive(Clone)]
pub struct ChatSettings {
    /// The model's name.
    pub model: String,
    /// The URL before `/chat/completions`.
    pub base_url: String,
    /// The API key.
    pub key: Option<String>,
    /// Whether the endpoint has `/responses/compact`.
    pub compacts: bool,
    /// When to retry a failed request.
    pub retry: RetrySettings,
}

/// When to retry a request after a transient failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrySettings {
    /// The number of retries.
    pub times: u32,
    /// The wait before the first retry. It doubles with each further one.
    pub first_wait: Duration,
    /// Fail if the endpoint asks for a longer wait.
    pub longest_wait: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        let (first_wait, longest_wait) = (Duration::from_millis(500), Duration::from_secs(60));
        Self { times: 4, first_wait, longest_wait }
    }
}

/// The client of an endpoint.
pub struct Chat {
    model: String,
    completions: Url,
    compaction: Option<Url>,
    sender: ChatClient,
    /// The endpoint refuses requests that ask for the usage.
    refuses_usage: AtomicBool,
}

/// Why settings are invalid.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The base URL is invalid.
    #[error("{url:?} is not a base URL ({why}): use one like http://127.0.0.1:8080/v1")]
    Url {
        /// The URL from the settings.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The key is not a valid header value.
    #[error("the API key contains characters that are not allowed in an HTTP header")]
    Key,
    /// The HTTP client could not be created.
    #[error("failed to create the HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

impl Chat {
    /// Checks the settings. Sends no request.
    ///
    /// # Errors
    ///
    /// Fails if the URL or the key is invalid.
    pub fn new(settings: ChatSettings) -> Result<Self, ChatError> {
        let ChatSettings { model, base_url, key, compacts, retry } = settings;
        let bad = |why: &dyn std::fmt::Display| ChatError::Url {
            url: base_url.clone(),
            why: why.to_string(),
        };
        let base = base_url.trim_end_matches('/');
        let under = |path: &str| format!("{base}/{path}").parse::<Url>().map_err(|it| bad(&it));
        let completions = under("chat/completions")?;
        if !["http", "https"].contains(&completions.scheme()) {
            return Err(bad(&"neither http nor https"));
        }
        let compaction = if compacts { Some(under("responses/compact")?) } else { None };
        let sender = ChatClient::new(key, retry)?;
        let refuses_usage = AtomicBool::new(false);
        Ok(Self { model, completions, compaction, sender, refuses_usage })
    }

    /// Sends one request, with retries, and reads its stream to the end.
    async fn complete(
        &self,
        body: &Map<String, Value>,
        hear: DeltaSink<'_>,
    ) -> Result<SampleReply, ModelError> {
        let mut again = RetryPlan::new(self.sender.retry());
        loop {
            let failure = match self.stream(body, hear).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let wait = again.after(failure)?;
            hear(ModelDelta::RetryPlan { why: &wait.why });
            tokio::time::sleep(wait.time).await;
        }
    }

    async fn stream(
        &self,
        body: &Map<String, Value>,
        hear: DeltaSink<'_>,
    ) -> Result<SampleReply, send::RequestFailure> {
        let mut response = self.sender.post(&self.completions, body).await?;
        if send::is_whole(&response) {
            // Some servers do not stream.
            let text = send::text(response, &self.completions).await?;
            return CompletionStream::read_whole(&text)
                .map_err(|error| error.at(&self.completions));
        }
        let mut stream = CompletionStream::default();
        while let Some(bytes) = send::chunk(&mut response, &self.completions).await? {
            stream.push(bytes.as_ref(), hear).map_err(|error| error.at(&self.completions))?;
            if stream.is_done() {
                break;
            }
        }
        stream.end().map_err(|error| error.at(&self.completions))
    }
}

impl Model for Chat {
    fn name(&self) -> &str {
        &self.model
    }

    async fn sample(
        &self,
        history: &[AgentItem],
        want: ModelRequest<'_>,
        hear: DeltaSink<'_>,
    ) -> Result<SampleReply, ModelError> {
        let mut body = body::of(&self.model, history, want);
        if self.refuses_usage.load(Ordering::Relaxed) {
            body.remove(body::USAGE);
        }
        loop {
            let refusal = match self.complete(&body, hear).await {
                Err(ModelError::Refused(refusal)) => refusal,
                done => return done,
            };
            let Some(field) = body::dispensable(&body, &refusal) else {
                return Err(ModelError::Refused(refusal));
            };
            body.remove(field);
            if field == body::USAGE {
                self.refuses_usage.store(true, Ordering::Relaxed);
            }
        }
    }

    async fn rewrite(
        &self,
        history: &[AgentItem],
        tuning: &SummaryTuning,
    ) -> Option<Result<Vec<AgentItem>, ModelError>> {
        let url = self.compaction.as_ref()?;
        Some(self.rewrite_at(url, history, tuning).await)
    }
}

/// The answer of `/responses/compact`.
#[derive(Deserialize)]
struct CompactResponse {
    output: Vec<Value>,
}

impl Chat {
    async fn rewrite_at(
        &self,
        url: &Url,
        history: &[AgentItem],
        tuning: &SummaryTuning,
    ) -> Result<Vec<AgentItem>, ModelError> {
        let model = tuning.model.as_ref().unwrap_or(&self.model);
        let (instructions, input) = body::as_responses_input(history);
        let body = json!({"model": model, "instructions": instructions, "input": input});
        let mut again = RetryPlan::new(self.sender.retry());
        let text = loop {
            let answer = async {
                let response = self.sender.post(url, &body).await?;
                send::text(response, url).await
            };
            match answer.await {
                Ok(text) => break text,
                Err(failure) => tokio::time::sleep(again.after(failure)?.time).await,
            }
        };
        let answer: CompactResponse =
            rawr_protocol::read_json(text.as_bytes()).map_err(|error| {
                ModelError::Failed(format!("POST {url}: failed to parse the answer: {error}"))
            })?;
        body::from_responses_output(&answer.output)
    }
}
