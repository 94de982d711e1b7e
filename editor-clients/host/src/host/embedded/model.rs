//! What the embedded agent needs of a model. Knows no provider.

use std::future::Future;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::history::{Item, tokens_of};
use super::tools::Tool;
use crate::host::Tuning;

/// Answers over a history. Several requests may run at a time: the turn's, and questions beside it.
pub trait Model: Send + Sync + 'static {
    fn name(&self) -> &str;

    /// One sampling request. What it hears on the way is told to `hear`.
    fn sample(
        &self,
        history: &[Item],
        want: ModelRequest<'_>,
        hear: DeltaSink<'_>,
    ) -> impl Future<Output = Result<Reply, ModelError>> + Send;

    /// The history as the provider itself compacts it; `None` where it does not offer that.
    fn rewrite(
        &self,
        history: &[Item],
        tuning: &Tuning,
    ) -> impl Future<Output = Option<Result<Vec<Item>, ModelError>>> + Send;
}

/// What a sampling request is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ModelRequest<'w> {
    /// The next message or tool calls.
    Step,
    /// A summary of the history, by these instructions.
    Summary { instructions: &'w str, tuning: &'w Tuning },
    /// The answer to a question about the history, outside of it.
    Aside { question: &'w str },
    /// The answer to a question that stands alone, as JSON of this schema.
    Judgment { instructions: &'w str, question: &'w str, schema: &'w Value },
}

/// Listens to a request while it runs.
pub type DeltaSink<'h> = &'h mut (dyn FnMut(ModelDelta<'_>) + Send);

/// What a request says while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelDelta<'h> {
    /// A piece of the message.
    Text(&'h str),
    /// A piece of a tool call.
    Call(&'h str),
    /// It failed and is made again: what was heard so far does not count.
    RetryPlan { why: &'h str },
}

/// What a model answers. One without calls ends the turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    pub message: Option<String>,
    pub calls: Vec<Call>,
    /// As the provider counts; without it the size is estimated.
    pub counted: Option<TokenCount>,
}

/// The tokens of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCount {
    pub input: u64,
    pub cached_input: Option<u64>,
    pub output: u64,
    /// Of the output; it does not stay in the context.
    pub reasoning: Option<u64>,
}

/// A tool call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's name for it, by which its result is known; empty if there is none.
    pub id: String,
    pub name: String,
    /// JSON, if the model keeps to what it was told.
    pub arguments: String,
}

/// Why a model gave no answer, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("the conversation does not fit the model's context window: {0}")]
    TooLong(String),
    /// The endpoint does not want a request of this form.
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    Failed(String),
}

impl TokenCount {
    /// What the next request carries at least.
    pub(super) fn context(&self) -> u64 {
        (self.input + self.output).saturating_sub(self.reasoning.unwrap_or(0))
    }
}

impl Reply {
    /// The provider's count, else an estimate over a context of this size.
    pub(super) fn counted(&self, before: u64) -> TokenCount {
        let estimate = || {
            let calls = self.calls.iter().map(|call| call.name.len() + call.arguments.len());
            let bytes = self.message.as_ref().map_or(0, String::len) + calls.sum::<usize>();
            TokenCount { input: before, output: tokens_of(bytes), ..TokenCount::default() }
        };
        self.counted.unwrap_or_else(estimate)
    }
}

impl From<&Tool> for Call {
    fn from(tool: &Tool) -> Self {
        let (name, arguments) = tool.written();
        Self { id: String::new(), name, arguments }
    }
}
