//! Counting tokens: which encoding a name or a model stands for, and the thread that counts by it. It must not know the
//! wire or the registry, and whoever asks must not make others wait.

mod counter;
mod engine;
mod memory;
mod worker;

pub use counter::Counter;

use memory::Memory;
use rawr_core::rewrite::estimate;
use std::io;
use worker::Worker;

#[derive(Debug, thiserror::Error)]
pub(crate) enum TokensError {
    #[error("the counting thread could not be started: {0}")]
    Start(io::Error),
    #[error("the counting failed inside the sidecar")]
    Failed,
}

/// An encoding of OpenAI's, whose vocabulary may be built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    O200kBase,
    O200kHarmony,
    Cl100kBase,
}

/// The first row that fits a model's name up to a `-`, a `:` or its end; a row that ends in a dot fits all that begin
/// with it.
const MODELS: [(&str, Encoding); 14] = [
    ("gpt-oss", Encoding::O200kHarmony),
    ("gpt-5", Encoding::O200kBase),
    ("gpt-5.", Encoding::O200kBase),
    ("gpt-4.5", Encoding::O200kBase),
    ("gpt-4.1", Encoding::O200kBase),
    ("gpt-4o", Encoding::O200kBase),
    ("chatgpt-4o", Encoding::O200kBase),
    ("codex", Encoding::O200kBase),
    ("o4", Encoding::O200kBase),
    ("o3", Encoding::O200kBase),
    ("o1", Encoding::O200kBase),
    ("gpt-4", Encoding::Cl100kBase),
    ("gpt-3.5", Encoding::Cl100kBase),
    ("gpt-35", Encoding::Cl100kBase),
];

impl Encoding {
    pub const ALL: [Self; 3] = [Self::O200kBase, Self::O200kHarmony, Self::Cl100kBase];

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

    /// A provider's name before the model's and the mark of a fine-tuned one change nothing.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Estimate,
    Exact(Encoding),
}

impl Method {
    /// An encoding that is named goes before the model's, even where it is not known: a count by another encoding than
    /// the one that was asked for would be taken for exact.
    pub fn choose(encoding: Option<&str>, model: Option<&str>) -> Self {
        let encoding = match encoding {
            Some(name) => Encoding::from_name(name),
            None => model.and_then(Encoding::of_model),
        };
        encoding.filter(|_| engine::BUILT_IN).map_or(Self::Estimate, Self::Exact)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Estimate => "bytes/4",
            Self::Exact(encoding) => encoding.name(),
        }
    }
}

/// Counts by estimate at once, and exactly on a thread of its own.
#[derive(Debug)]
pub(crate) struct Tokens {
    worker: Worker<Memory>,
}

impl Default for Tokens {
    fn default() -> Self {
        Self { worker: Worker::new("tokens") }
    }
}

impl Tokens {
    /// Of one text. A long one that begins with one that was counted lately costs no more than what was added.
    pub async fn count(&self, method: Method, text: String) -> Result<u64, TokensError> {
        match method {
            Method::Estimate => Ok(estimate(&text)),
            Method::Exact(encoding) => {
                self.worker.run(move |memory| memory.count(encoding, text)).await
            }
        }
    }

    /// Does work that counts many texts.
    pub async fn with<T: Send + 'static>(
        &self,
        method: Method,
        work: impl FnOnce(&mut dyn FnMut(&str) -> u64) -> T + Send + 'static,
    ) -> Result<T, TokensError> {
        match method {
            Method::Estimate => Ok(work(&mut estimate)),
            Method::Exact(encoding) => {
                let work = move |_: &mut Memory| work(&mut |text| engine::count(encoding, text));
                self.worker.run(work).await
            }
        }
    }
}

#[cfg(test)]
mod tests;
