//! How full the context is.

use super::Overflowed;
use crate::policy::Policy;
use crate::units::{Percent, Tokens};
use serde::{Deserialize, Serialize};

/// The context window and what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Gauge {
    /// The size of the context window, in tokens.
    pub window: Option<Tokens>,
    /// The window is a guess. It counts for every tier except `emergency`.
    pub window_is_assumed: bool,
    /// The host compacts by itself above this many tokens.
    pub compacts_above: Option<Tokens>,
    /// The most tokens that fit, learned from a request that the model refused. Counts instead of a larger window.
    pub learned_window: Option<Tokens>,
    /// The model refused the conversation as too long, and has answered nothing since.
    pub overflowed: Option<Overflowed>,
    /// Tokens of fixed instructions and tools, as the host reports them; 0 if it does not.
    pub baseline: Tokens,
    /// Tokens in the context now. Unknown between a compaction and the next sampling request, unless the host estimates
    /// it.
    pub context: Option<Tokens>,
    /// How many tokens the first sampling request found cached: instructions and tools.
    pub first_cached: Option<Tokens>,
    /// The smallest context at the start or right after a compaction, in tokens. No compaction gets below it.
    pub floor: Option<Tokens>,
}

impl Gauge {
    /// Percent of the window left with this many more tokens in the context, or of what the host fills of it before it
    /// compacts by itself.
    pub fn percent_remaining(&self, more: Tokens, policy: &Policy) -> Option<Percent> {
        let context = Tokens(self.context?.0.saturating_add(more.0));
        let window = self.window?;
        let baseline = self.baseline_under(window, policy);
        let own = self.compacts_above.filter(|own| *own > baseline);
        Percent::remaining(context, own.map_or(window, |own| own.min(window)), baseline)
    }

    /// Percent of the window left, wherever the host compacts by itself.
    pub fn percent_of_window(&self, policy: &Policy) -> Option<Percent> {
        let window = self.window?;
        Percent::remaining(self.context?, window, self.baseline_under(window, policy))
    }

    fn baseline_under(&self, window: Tokens, policy: &Policy) -> Tokens {
        let named = (self.baseline.0 > 0).then_some(self.baseline);
        let cached = || self.cached_baseline(window).filter(|_| policy.built_in_decides());
        named.or_else(cached).unwrap_or_default()
    }

    /// The baseline of the built-in compaction if the host reports none (rule `tier.baseline`): what the first
    /// request found cached. More than a quarter of the window is a resumed conversation and not a baseline.
    fn cached_baseline(&self, window: Tokens) -> Option<Tokens> {
        self.first_cached.filter(|cached| cached.0 <= window.0 / 4)
    }

    /// A window that is learned counts instead of a larger one that is reported, configured or assumed.
    pub(super) fn keep_learned_window(&mut self) {
        let Some(most) = self.learned_window else { return };
        if self.window.is_none_or(|window| most < window) {
            (self.window, self.window_is_assumed) = (Some(most), false);
        }
    }
}
