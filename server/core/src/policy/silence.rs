//! How long nothing must be said until a proposal counts as confirmed, with regard to the provider's prompt cache.

use super::Policy;
use crate::units::Seconds;
use std::fmt;

/// A packet request has to reach the provider while the conversation is still cached; the rest of a lifetime is for that.
const BEFORE_THE_END: u64 = 60;

/// The silence that confirms a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// How long it lasts.
    pub seconds: u64,
    /// The lifetime of the prompt cache, where it is known and counts.
    pub cache: Option<u64>,
}

impl Policy {
    /// The silence on a host that reports this lifetime of its prompt cache: `idle_seconds`, and at most until a minute
    /// before the cache ends. A cache that lasts less than two minutes is not waited for: so short a silence says
    /// nothing.
    pub fn silence(&self, host_cache: Option<u64>) -> Silence {
        let known = self.cache_seconds.or(host_cache);
        let cache = known.filter(|lifetime| *lifetime >= 2 * BEFORE_THE_END);
        let seconds = cache
            .map_or(self.idle_seconds, |lifetime| self.idle_seconds.min(lifetime - BEFORE_THE_END));
        Silence { seconds, cache }
    }
}

/// For people: `4 minutes (the prompt cache lasts 5 minutes)`.
impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Seconds(self.seconds))?;
        match self.cache {
            Some(cache) => write!(f, " (the prompt cache lasts {})", Seconds(cache)),
            None => Ok(()),
        }
    }
}
