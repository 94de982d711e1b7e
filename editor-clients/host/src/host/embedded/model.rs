//! The interface of a model for the embedded agent, independent of a provider.

use std::future::Future;

use serde_json::Value;

use super::history::{AgentItem, TokenCount, tokens_of};
use super::tools::ModelToolCall;
use crate::host::SummaryTuning;

/// A model. Several requests may run at a time: the turn's request, and questions outside the turn.
pub trait Model: Send + Sync + 'static {
    /// The model's name.
    fn name(&self) -> &str;

    /// Sends one sampling request. `hear` receives the pieces of the answer.
    fn sample(
        &self,
        history: &[AgentItem],
        want: ModelRequest<'_>,
        hear: DeltaSink<'_>,
    ) -> impl Future<Output = Result<SampleReply, ModelError>> + Send;

    /// Compacts the history with the provider's compaction; `None` if the provider has none.
    fn rewrite(
        &self,
        history: &[AgentItem],
        tuning: &SummaryTuning,
    ) -> impl Future<Output = Option<Result<Vec<AgentItem>, ModelError>>> + Send;
}

/// The purpose of a sampling request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ModelRequest<'w> {
    /// The next message or tool calls.
    Step,
    /// A summary of the history.
    Summary {
        /// The request for the summary.
        instructions: &'w str,
        /// The model that writes it.
        tuning: &'w SummaryTuning,
    },
    /// The answer to a question about the history, without adding to it.
    Aside { question: &'w str },
    /// The answer to a question without the history, as JSON.
    Judgment {
        /// The system prompt.
        instructions: &'w str,
        question: &'w str,
        /// JSON Schema of the answer.
        schema: &'w Value,
    },
}

/// Receives the pieces of an answer while a request runs.
pub type DeltaSink<'h> = &'h mut (dyn FnMut(ModelDelta<'_>) + Send);

/// A piece of an answer, or a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelDelta<'h> {
    /// A piece of the message.
    Text(&'h str),
    /// A piece of a tool call.
    Call(&'h str),
    /// The request failed and is retried. Discard the earlier pieces.
    RetryPlan {
        /// The error and the wait.
        why: &'h str,
    },
}

/// A model's answer. An answer without calls ends the turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleReply {
    pub message: Option<String>,
    /// The tool calls.
    pub calls: Vec<ModelToolCall>,
    /// The provider's token count. Without it the size is estimated.
    pub counted: Option<TokenCount>,
}

/// Why a model gave no answer. The texts are for users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The conversation is larger than the context window.
    #[error("the conversation does not fit the model's context window: {0}")]
    TooLong(String),
    /// The endpoint does not support a request of this form.
    #[error("{0}")]
    Refused(String),
    /// Any other failure, after all retries.
    #[error("{0}")]
    Failed(String),
}

impl SampleReply {
    /// The provider's count, otherwise an estimate with `before` input tokens.
    pub(super) fn counted(&self, before: u64) -> TokenCount {
        self.counted.unwrap_or_else(|| TokenCount {
            input: before,
            output: self.estimate(),
            ..TokenCount::default()
        })
    }

    /// An estimate of its size in tokens.
    pub(super) fn estimate(&self) -> u64 {
        let calls = self.calls.iter().map(|call| call.name.len() + call.arguments.len());
        let bytes = self.message.as_ref().map_or(0, String::len) + calls.sum::<usize>();
        tokens_of(bytes)
    }
}
