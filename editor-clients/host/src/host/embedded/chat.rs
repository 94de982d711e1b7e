//! A model behind an OpenAI-compatible endpoint: chat completions with tools, streamed. It keeps nothing of a conversation.

mod body;
mod send;
mod stream;

use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};

use self::send::{RetryPlan, Sender};
use self::stream::Stream;
use super::history::Item;
use super::model::{DeltaSink, Model, ModelDelta, ModelError, ModelRequest, Reply};
use crate::host::Tuning;

/// Where the model is and how it is asked.
#[derive(Clone)]
pub struct ChatSettings {
    pub model: String,
    /// What `/chat/completions` is put behind.
    pub base_url: String,
    pub key: Option<String>,
    /// Whether the endpoint also offers `/responses/compact`.
    pub compacts: bool,
    pub retry: Retry,
}

/// What is done about a request that failed for a passing reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    pub times: u32,
    /// Before the first repetition; each further one waits twice as long.
    pub first_wait: Duration,
    /// Who asks for more patience than this is not waited for.
    pub longest_wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        let (first_wait, longest_wait) = (Duration::from_millis(500), Duration::from_secs(60));
        Self { times: 4, first_wait, longest_wait }
    }
}

/// The endpoint, ready to be asked.
pub struct Chat {
    model: String,
    completions: Url,
    compaction: Option<Url>,
    sender: Sender,
}

/// Why there is no asking.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    #[error("{url:?} is no base URL ({why}): it looks like http://127.0.0.1:8080/v1")]
    Url { url: String, why: String },
    #[error("the API key contains characters that are not allowed in an HTTP header")]
    Key,
    #[error("failed to create the HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

impl Chat {
    /// Looks at the settings; asks nobody yet.
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
        Ok(Self { model, completions, compaction, sender: Sender::new(key, retry)? })
    }

    /// One request until its stream has ended well.
    async fn complete(&self, body: &Value, hear: DeltaSink<'_>) -> Result<Reply, ModelError> {
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

    async fn stream(&self, body: &Value, hear: DeltaSink<'_>) -> Result<Reply, send::Failure> {
        let mut response = self.sender.post(&self.completions, body).await?;
        if send::is_whole(&response) {
            // Some servers do not stream whatever they are told.
            let text = send::text(response, &self.completions).await?;
            return Stream::read_whole(&text).map_err(|error| error.at(&self.completions));
        }
        let mut stream = Stream::default();
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
        history: &[Item],
        want: ModelRequest<'_>,
        hear: DeltaSink<'_>,
    ) -> Result<Reply, ModelError> {
        let body = body::of(&self.model, history, want);
        match self.complete(&body, hear).await {
            // Not every endpoint knows how to be held to a schema; the instructions ask for JSON as well.
            Err(ModelError::Refused(_)) if body.get("response_format").is_some() => {
                let mut body = body;
                if let Some(fields) = body.as_object_mut() {
                    fields.remove("response_format");
                }
                self.complete(&body, hear).await
            }
            done => done,
        }
    }

    async fn rewrite(
        &self,
        history: &[Item],
        tuning: &Tuning,
    ) -> Option<Result<Vec<Item>, ModelError>> {
        let url = self.compaction.as_ref()?;
        Some(self.rewrite_at(url, history, tuning).await)
    }
}

/// What an endpoint's own compaction answers.
#[derive(Deserialize)]
struct Rewritten {
    output: Vec<Value>,
}

impl Chat {
    async fn rewrite_at(
        &self,
        url: &Url,
        history: &[Item],
        tuning: &Tuning,
    ) -> Result<Vec<Item>, ModelError> {
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
        let answer: Rewritten = serde_json::from_str(&text).map_err(|error| {
            ModelError::Failed(format!("POST {url}: the answer is not understood: {error}"))
        })?;
        body::from_responses_output(&answer.output)
    }
}
