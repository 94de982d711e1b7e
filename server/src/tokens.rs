//! Counts tokens: the encodings of models, and the thread that counts. Must not know the wire format or the registry,
//! and counting must not block other requests.

mod counter;
mod engine;
mod memory;
mod worker;

pub use counter::TokenCounter;

use memory::CountMemory;
use rawr_core::rewrite::estimate;
use std::io;
use worker::WorkerThread;

#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenCountError {
    #[error("failed to start the counting thread: {0}")]
    Start(io::Error),
    #[error("counting panicked; this is a bug in rawr")]
    Failed,
}

/// An encoding of OpenAI. Its vocabulary is built in with the feature `exact-tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenEncoding {
    /// For GPT-4o and later models.
    O200kBase,
    /// For gpt-oss models.
    O200kHarmony,
    /// For GPT-4 and GPT-3.5.
    Cl100kBase,
}

/// The first row that matches the start of a model's name, up to a `-`, a `:` or the end. A row that ends in a dot
/// matches every continuation.
const MODELS: [(&str, TokenEncoding); 14] = [
    ("gpt-oss", TokenEncoding::O200kHarmony),
    ("gpt-5", TokenEncoding::O200kBase),
    ("gpt-5.", TokenEncoding::O200kBase),
    ("gpt-4.5", TokenEncoding::O200kBase),
    ("gpt-4.1", TokenEncoding::O200kBase),
    ("gpt-4o", TokenEncoding::O200kBase),
    ("chatgpt-4o", TokenEncoding::O200kBase),
    ("codex", TokenEncoding::O200kBase),
    ("o4", TokenEncoding::O200kBase),
    ("o3", TokenEncoding::O200kBase),
    ("o1", TokenEncoding::O200kBase),
    ("gpt-4", TokenEncoding::Cl100kBase),
    ("gpt-3.5", TokenEncoding::Cl100kBase),
    ("gpt-35", TokenEncoding::Cl100kBase),
];

impl TokenEncoding {
    /// All encodings.
    pub const ALL: [Self; 3] = [Self::O200kBase, Self::O200kHarmony, Self::Cl100kBase];

    /// The name that OpenAI uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::O200kHarmony => "o200k_harmony",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    /// Ignores a provider's prefix and the prefix of a fine-tuned model.
    fn of_model(model: &str) -> Option<Self> {
        let model = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let model = model.strip_prefix("ft:").unwrap_or(&model);
        let fits = |row: &str| {
            let rest = model.strip_prefix(row);
            rest.is_some_and(|rest| {
                row.ends_with('.') || rest.is_empty() || rest.starts_with(['-', ':'])
            })
        };
        MODELS.into_iter().find(|(row, _)| fits(row)).map(|(_, encoding)| encoding)
    }
}

/// How a text is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountMethod {
    /// Four bytes per token.
    Estimate,
    /// With this encoding.
    Exact(TokenEncoding),
}

impl CountMethod {
    /// A given encoding takes precedence over the model, even if it is unknown: a count by another encoding would be
    /// mistaken for an exact one.
    pub fn choose(encoding: Option<&str>, model: Option<&str>) -> Self {
        let encoding = match encoding {
            Some(name) => TokenEncoding::from_name(name),
            None => model.and_then(TokenEncoding::of_model),
        };
        encoding.filter(|_| engine::BUILT_IN).map_or(Self::Estimate, Self::Exact)
    }

    /// The name for clients.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Estimate => "bytes/4",
            Self::Exact(encoding) => encoding.name(),
        }
    }
}

/// Estimates at once, and counts exactly on a thread of its own.
#[derive(Debug)]
pub(crate) struct TokenService {
    worker: WorkerThread<CountMemory>,
}

impl Default for TokenService {
    fn default() -> Self {
        Self { worker: WorkerThread::new("tokens") }
    }
}

impl TokenService {
    /// The tokens of one text. A long text that extends one that was counted recently costs only the new part.
    pub async fn count(&self, method: CountMethod, text: String) -> Result<u64, TokenCountError> {
        match method {
            CountMethod::Estimate => Ok(estimate(&text)),
            CountMethod::Exact(encoding) => {
                self.worker.run(move |memory| memory.count(encoding, text)).await
            }
        }
    }

    /// Runs work that counts many texts.
    pub async fn with<T: Send + 'static>(
        &self,
        method: CountMethod,
        work: impl FnOnce(&mut dyn FnMut(&str) -> u64) -> T + Send + 'static,
    ) -> Result<T, TokenCountError> {
        match method {
            CountMethod::Estimate => Ok(work(&mut estimate)),
            CountMethod::Exact(encoding) => {
                let work =
                    move |_: &mut CountMemory| work(&mut |text| engine::count(encoding, text));
                self.worker.run(work).await
            }
        }
    }
}

#[cfg(test)]
mod tests;
