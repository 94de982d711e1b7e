//! The tokens of a session, as the record has them and as a policy would have them.

use rawr_core::units::Tokens;
use rawr_records::tokens::TokenCounts;
use std::collections::BTreeMap;

/// The tokens of each model, by its name.
pub type ModelTokens = BTreeMap<String, TokenCounts>;

/// A model that the record does not name.
const UNNAMED: &str = "unknown";
/// The requests of a compaction that a replay starts: for the packet, and for the host's summary. The handoff's is the
/// next one.
const OWN_REQUESTS: u64 = 2;
/// What each of them writes, about.
const OWN_OUTPUT: u64 = 1_000;

/// Adds the tokens of each model to others.
pub(crate) fn add(sums: &mut ModelTokens, parts: &ModelTokens) {
    for (model, counts) in parts {
        with_sum(sums, Some(model), |sum| sum.add(counts));
    }
}

/// There are many requests and few models, so the name of each is copied once.
fn with_sum(sums: &mut ModelTokens, model: Option<&str>, change: impl FnOnce(&mut TokenCounts)) {
    let model = model.unwrap_or(UNNAMED);
    match sums.get_mut(model) {
        Some(sum) => change(sum),
        None => change(sums.entry(model.to_owned()).or_default()),
    }
}

/// Counts the tokens of a session twice: as recorded, and as a policy would have them.
#[derive(Debug, Default)]
pub(crate) struct TokenMeter {
    recorded: ModelTokens,
    played: ModelTokens,
    /// A compaction of the replay came since the last request, so that nothing is cached.
    compacted: bool,
    /// The last request was the first after one.
    cold: bool,
    /// What was read when it was last asked for.
    told: u64,
}

impl TokenMeter {
    /// A request completed, or one more part of an earlier one did.
    pub(crate) fn request(
        &mut self,
        model: Option<&str>,
        counts: TokenCounts,
        freed: u64,
        is_part: bool,
    ) {
        let mut played = counts;
        if !is_part {
            self.cold = std::mem::take(&mut self.compacted);
            played = counts.without(freed);
        }
        if self.cold {
            let again = std::mem::take(&mut played.cached);
            played.written = played.written.saturating_add(again);
        }
        with_sum(&mut self.recorded, model, |sum| sum.add(&counts));
        with_sum(&mut self.played, model, |sum| sum.add(&played));
    }

    /// The replay compacts: the packet and the summary are written from the whole context.
    pub(crate) fn compacts(&mut self, model: Option<&str>, context: Tokens) {
        let counts = compaction(context.0, OWN_REQUESTS);
        with_sum(&mut self.played, model, |sum| sum.add(&counts));
        self.compacted = true;
    }

    /// A compaction is in the record, whose own request is not.
    pub(crate) fn compacted(&mut self, model: Option<&str>, recorded: u64, played: u64) {
        for (sums, context) in [(&mut self.recorded, recorded), (&mut self.played, played)] {
            let counts = compaction(context, 1);
            with_sum(sums, model, |sum| sum.add(&counts));
        }
    }

    /// What was read since this was last asked, as the policy would have it.
    pub(crate) fn read_since(&mut self) -> u64 {
        let read = self.played.values().map(TokenCounts::read).fold(0, u64::saturating_add);
        read.saturating_sub(std::mem::replace(&mut self.told, read))
    }

    /// As the policy would have it, and as recorded.
    pub(crate) fn finish(self) -> (ModelTokens, ModelTokens) {
        (self.played, self.recorded)
    }
}

fn compaction(context: u64, requests: u64) -> TokenCounts {
    TokenCounts {
        requests,
        cached: context.saturating_mul(requests),
        output: OWN_OUTPUT * requests,
        ..TokenCounts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(cached: u64, input: u64, output: u64) -> TokenCounts {
        TokenCounts { requests: 1, cached, input, output, ..TokenCounts::default() }
    }

    #[test]
    fn the_parts_of_a_request_count_once() {
        let mut meter = TokenMeter::default();
        meter.request(Some("m"), counts(900, 100, 5), 0, false);
        meter.request(Some("m"), TokenCounts { output: 35, ..TokenCounts::default() }, 0, true);
        meter.request(Some("m"), counts(1_000, 50, 10), 0, false);
        let (played, recorded) = meter.finish();
        let sum = TokenCounts { requests: 2, ..counts(1_900, 150, 50) };
        assert_eq!((played["m"], recorded["m"]), (sum, sum));
    }

    #[test]
    fn after_a_compaction_the_rest_is_not_cached_and_less_is_read() {
        let mut meter = TokenMeter::default();
        meter.request(None, counts(90_000, 1_000, 0), 0, false);
        meter.compacts(None, Tokens(91_000));
        // 80,000 of the recorded 92,000 tokens are gone.
        meter.request(None, counts(91_000, 1_000, 0), 80_000, false);
        meter.request(None, counts(92_000, 1_000, 0), 80_000, false);
        let (played, recorded) = meter.finish();
        let expected = TokenCounts {
            requests: 5,
            input: 3_000,
            cached: 90_000 + 2 * 91_000 + 12_000,
            written: 11_000,
            output: 2_000,
            ..TokenCounts::default()
        };
        assert_eq!(played[UNNAMED], expected);
        assert_eq!(recorded[UNNAMED], TokenCounts { requests: 3, ..counts(273_000, 3_000, 0) });
    }

    #[test]
    fn more_than_was_read_cannot_be_missing() {
        let left = TokenCounts { written: 5, written_for_hour: 5, ..counts(5, 5, 1) }.without(18);
        assert_eq!(left, counts(0, 2, 1));
        assert_eq!(counts(5, 5, 1).without(u64::MAX), counts(0, 0, 1));
    }

    #[test]
    fn a_recorded_compaction_reads_once() {
        let mut meter = TokenMeter::default();
        meter.compacted(Some("m"), 100_000, 30_000);
        assert_eq!((meter.read_since(), meter.read_since()), (30_000, 0));
        assert_eq!(meter.finish().1["m"], counts(100_000, 0, 1_000));
    }
}
