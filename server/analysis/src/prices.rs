//! What requests cost, by the prices that the user wrote down. rawr ships none: they change, and depend on the contract.

use crate::tokens::ModelTokens;
use rawr_records::tokens::TokenCounts;
use rawr_settings::config::{Home, ModelPattern};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Prices by model, the most specific pattern first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prices(Vec<(ModelPattern, ModelPrice)>);

/// For a million tokens, in any currency.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelPrice {
    input: f64,
    output: f64,
    /// As `input` if absent, and so are the others.
    cached: Option<f64>,
    written: Option<f64>,
    written_for_hour: Option<f64>,
}

/// What requests cost, in hundredths of the currency of the prices.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayCost {
    /// Under the policy.
    pub cents: u64,
    /// As recorded.
    pub recorded_cents: u64,
    /// Models without a price, whose requests are not in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
}

/// Why prices cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    /// The file cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file says something else than prices.
    #[error("{}: {message}\na price is [\"claude-*\"] with input = 3.0, output = 15.0 and, if you know them, cached, \
             written and written_for_hour, for a million tokens", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

impl Prices {
    /// Reads this file, or `prices.toml` in the home if there is one.
    ///
    /// # Errors
    ///
    /// [`PriceError`] if the file cannot be read, or does not hold prices.
    pub fn load(home: &Home, file: Option<&Path>) -> Result<Option<Self>, PriceError> {
        let path = file.map_or_else(|| home.prices_toml(), Path::to_owned);
        match fs::read_to_string(&path) {
            Ok(text) => {
                Self::parse(&text).map(Some).map_err(|message| PriceError::Wrong { path, message })
            }
            Err(error) if file.is_none() && error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(PriceError::Unreadable { path, source }),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let tables: BTreeMap<String, ModelPrice> =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let mut prices = Vec::new();
        for (name, price) in tables {
            let ModelPrice { input, output, cached, written, written_for_hour } = price;
            let all = [Some(input), Some(output), cached, written, written_for_hour];
            if all.iter().flatten().any(|price| !price.is_finite() || *price < 0.0) {
                return Err(format!("a price of {name:?} is below 0 or no number"));
            }
            prices.push((ModelPattern::of(&name), price));
        }
        prices.sort_by(|(one, _), (other, _)| other.cmp(one));
        Ok(Self(prices))
    }

    /// What these requests cost.
    pub fn cost(&self, tokens: &ModelTokens, recorded: &ModelTokens) -> ReplayCost {
        let has_none = |(model, _): &(&String, &TokenCounts)| self.of(model).is_none();
        ReplayCost {
            cents: self.cents(tokens),
            recorded_cents: self.cents(recorded),
            unpriced: tokens.iter().filter(has_none).map(|(model, _)| model.clone()).collect(),
        }
    }

    fn of(&self, model: &str) -> Option<&ModelPrice> {
        self.0.iter().find(|(pattern, _)| pattern.matches(model)).map(|(_, price)| price)
    }

    fn cents(&self, tokens: &ModelTokens) -> u64 {
        let priced = tokens.iter().filter_map(|(model, counts)| Some((self.of(model)?, counts)));
        let sum: f64 = priced.map(|(price, counts)| price.of(counts)).sum();
        (sum * 100.0).round() as u64
    }
}

impl ModelPrice {
    fn of(&self, counts: &TokenCounts) -> f64 {
        let Self { input, output, cached, written, written_for_hour } = *self;
        let each = [
            (counts.input, input),
            (counts.output, output),
            (counts.cached, cached.unwrap_or(input)),
            (counts.written, written.unwrap_or(input)),
            (counts.written_for_hour, written_for_hour.or(written).unwrap_or(input)),
        ];
        each.into_iter().map(|(tokens, price)| tokens as f64 * price).sum::<f64>() / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(model: &str) -> ModelTokens {
        let counts = TokenCounts {
            requests: 1,
            input: 1_000_000,
            cached: 10_000_000,
            written: 2_000_000,
            written_for_hour: 1_000_000,
            output: 100_000,
        };
        ModelTokens::from([(model.to_owned(), counts)])
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let prices = Prices::parse(
            "[\"claude-*\"]\ninput = 5\noutput = 25\ncached = 0.5\nwritten = 6.25\nwritten_for_hour = 10\n\
             [\"gpt-*\"]\ninput = 2\noutput = 10\n",
        )
        .unwrap();
        let cost = |model: &str| prices.cost(&tokens(model), &ModelTokens::new());
        // 5 + 5 + 12.5 + 10 + 2.5
        assert_eq!(cost("claude-opus-5"), ReplayCost { cents: 3_500, ..ReplayCost::default() });
        // (1 + 10 + 2 + 1) x 2 + 1
        assert_eq!(cost("gpt-6").cents, 2_900);
        let unpriced = ReplayCost { unpriced: vec!["glm".to_owned()], ..ReplayCost::default() };
        assert_eq!(cost("glm"), unpriced);
    }

    #[test]
    fn the_most_specific_pattern_counts() {
        let prices = Prices::parse(
            "[\"*\"]\ninput = 1\noutput = 0\n[\"claude-*\"]\ninput = 2\noutput = 0\n\
             [\"claude-opus\"]\ninput = 3\noutput = 0\n",
        )
        .unwrap();
        let input = |model: &str| prices.of(model).unwrap().input;
        assert_eq!([input("claude-opus"), input("claude-sonnet"), input("gpt")], [3.0, 2.0, 1.0]);
    }

    #[test]
    fn what_is_no_price_is_named() {
        for (text, expected) in [
            ("[a]\ninput = -1\noutput = 1\n", "a price of \"a\" is below 0 or no number"),
            ("[a]\ninput = inf\noutput = 1\n", "a price of \"a\" is below 0 or no number"),
            ("[a]\ninput = 1\n", "missing field `output`"),
            ("[a]\ninput = 1\noutput = 1\ncache = 1\n", "unknown field `cache`"),
        ] {
            let error = Prices::parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
