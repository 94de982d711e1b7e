//! The tokens that requests read and write.

use rawr_core::event::Usage;
use rawr_core::units::Tokens;
use serde::Serialize;

/// Tokens of requests, by what a provider charges for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenCounts {
    pub requests: u64,
    /// Read, neither from the cache nor into it.
    pub input: u64,
    /// Read from the cache.
    pub cached: u64,
    /// Read and put into the cache for some minutes.
    pub written: u64,
    /// Read and put into the cache for an hour.
    pub written_for_hour: u64,
    /// Written by the model.
    pub output: u64,
}

impl TokenCounts {
    /// One request, of which a host may tell only the size of the context: then it counts as cached, as most of it is.
    pub fn of(usage: &Usage) -> Self {
        let count = |tokens: Option<Tokens>| tokens.map(|tokens| tokens.0);
        let output = count(usage.output).unwrap_or(0);
        let read = count(usage.input).unwrap_or(usage.context.0.saturating_sub(output));
        let cached = count(usage.cached).unwrap_or(read).min(read);
        Self { requests: 1, input: read - cached, cached, output, ..Self::default() }
    }

    /// All that was read.
    pub fn read(&self) -> u64 {
        [self.input, self.cached, self.written, self.written_for_hour]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.change(other, u64::saturating_add);
    }

    /// Takes other counts off.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.change(other, u64::saturating_sub);
    }

    fn change(&mut self, other: &Self, by: fn(u64, u64) -> u64) {
        let Self { requests, input, cached, written, written_for_hour, output } = other;
        for (count, change) in [
            (&mut self.requests, requests),
            (&mut self.input, input),
            (&mut self.cached, cached),
            (&mut self.written, written),
            (&mut self.written_for_hour, written_for_hour),
            (&mut self.output, output),
        ] {
            *count = by(*count, *change);
        }
    }

    /// Without this many tokens of what is read. What is missing lay far back, so it came from the cache if any did.
    #[must_use]
    pub fn without(mut self, mut freed: u64) -> Self {
        let read =
            [&mut self.cached, &mut self.written, &mut self.written_for_hour, &mut self.input];
        for count in read {
            let part = freed.min(*count);
            *count -= part;
            freed -= part;
        }
        self
    }
}
