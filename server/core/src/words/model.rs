//! A linear model over hashed features: its table, its arithmetic and its evidence. Only operations that are exact on
//! every machine are used, so the same text has the same probability everywhere.

use super::probability::Evidence;
use std::ops::Range;

/// Most pieces of evidence that are told.
const MOST_EVIDENCE: usize = 3;
/// A longer quote is shortened to its beginning.
const LONGEST_QUOTE: usize = 60;

/// The bits of a feature's hash. At most 256 hashes may fall into a row, so that row and key name one.
pub const HASH_BITS: u32 = 22;

/// Keeps the hashes of traits apart from those of words.
const TRAIT: u32 = 0x7a17;

/// Where a feature was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureSource {
    /// Bytes of the message, from and up to.
    Text(u32, u32),
    /// A trait of the message as a whole.
    Trait(&'static str),
    /// A trait of the sentence from one byte up to another, which tells more than the trait's name.
    Sentence(u32, u32),
}

/// One hashed feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// The hash, of [`HASH_BITS`].
    pub hash: u32,
    /// Where it was found.
    pub source: FeatureSource,
}

/// The features of one message. Pieces of text share one weight among them, so that a long message weighs as much as a
/// short one; each trait counts in full.
#[derive(Debug, Clone, Default)]
pub struct Features {
    /// In the order in which they were found.
    pub list: Vec<Feature>,
}

impl Features {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { list: Vec::with_capacity(capacity) }
    }

    pub(super) fn text(&mut self, hash: u32, from: u32, to: u32) {
        self.push(hash, FeatureSource::Text(from, to));
    }

    pub(super) fn add_trait(&mut self, name: &'static str) {
        self.add_trait_of(name, 0);
    }

    /// A trait of a part of the message, or under a circumstance.
    pub(super) fn add_trait_of(&mut self, name: &'static str, part: u32) {
        self.push(trait_hash(name, part), FeatureSource::Trait(name));
    }

    /// A trait of one sentence, under a circumstance.
    pub(super) fn add_sentence_trait(&mut self, name: &str, part: u32, at: (u32, u32)) {
        self.push(trait_hash(name, part), FeatureSource::Sentence(at.0, at.1));
    }

    fn push(&mut self, hash: u32, source: FeatureSource) {
        self.list.push(Feature { hash: kept(hash), source });
    }

    /// Hashes of the traits.
    pub(super) fn traits(&self) -> impl Iterator<Item = u32> {
        let is_trait = |feature: &&Feature| !matches!(feature.source, FeatureSource::Text(..));
        self.list.iter().filter(is_trait).map(|feature| feature.hash)
    }

    /// Hashes of the pieces of text, and hashes of the traits.
    pub fn hashes(&self) -> (Vec<u32>, Vec<u32>) {
        let of = |text: bool| {
            self.list
                .iter()
                .filter(|feature| matches!(feature.source, FeatureSource::Text(..)) == text)
                .map(|feature| feature.hash)
                .collect()
        };
        (of(true), of(false))
    }
}

/// What each of `texts` pieces of text counts.
pub fn share(texts: usize) -> f64 {
    if texts == 0 { 0.0 } else { 4.0 / (texts as f64).sqrt() }
}

const fn trait_hash(name: &str, part: u32) -> u32 {
    hash(name.as_bytes(), TRAIT.wrapping_add(part))
}

/// The hash of the feature that a trait becomes.
pub(super) const fn trait_feature(name: &str, part: u32) -> u32 {
    kept(trait_hash(name, part))
}

const fn kept(hash: u32) -> u32 {
    hash >> (u32::BITS - HASH_BITS)
}

/// The row of a feature in a table of `rows`, and the key by which the row knows it.
pub fn row_and_key(hash: u32, rows: u32) -> (usize, u8) {
    let row = (u64::from(hash) * u64::from(rows)) >> HASH_BITS;
    (row as usize, hash as u8)
}

/// A table of weights of `HEADS` questions. Of the features that share a row, only one has weights: the one that had most
/// influence in training.
pub struct WeightTable<const HEADS: usize> {
    /// Added to each head.
    pub bias: [f64; HEADS],
    /// What a weight of 1 in the table stands for, per head.
    pub scale: [f64; HEADS],
    /// Row by row, the key of its feature and a weight per head.
    pub rows: &'static [u8],
}

impl<const HEADS: usize> WeightTable<HEADS> {
    /// Reads a trained table. Does not compile where a row could not tell its features apart.
    pub(super) const fn new(bias: [f64; HEADS], scale: [f64; HEADS], rows: &'static [u8]) -> Self {
        assert!(rows.len().is_multiple_of(HEADS + 1), "an incomplete row");
        let count = rows.len() / (HEADS + 1);
        assert!(1 << HASH_BITS <= count << u8::BITS, "two features of a row would share a key");
        Self { bias, scale, rows }
    }

    fn weights(&self, hash: u32) -> [i32; HEADS] {
        let size = HEADS + 1;
        let (row, key) = row_and_key(hash, (self.rows.len() / size) as u32);
        let row = self.rows.get(row * size..).and_then(<[u8]>::split_first);
        match row.and_then(|(own, rest)| Some((own, rest.first_chunk::<HEADS>()?))) {
            Some((own, weights)) if *own == key => weights.map(|w| i32::from(w as i8)),
            _ => [0; HEADS],
        }
    }

    /// The log-odds of each head.
    pub fn score(&self, features: &Features) -> [f64; HEADS] {
        let (mut texts, mut sums, mut traits) = (0, [0; HEADS], [0; HEADS]);
        for feature in &features.list {
            let sum = match feature.source {
                FeatureSource::Text(..) => {
                    texts += 1;
                    &mut sums
                }
                FeatureSource::Trait(_) | FeatureSource::Sentence(..) => &mut traits,
            };
            for (sum, weight) in sum.iter_mut().zip(self.weights(feature.hash)) {
                *sum += weight;
            }
        }
        let share = share(texts);
        let mut scores = self.bias;
        for (head, score) in scores.iter_mut().enumerate() {
            *score += self.scale[head] * (f64::from(sums[head]) * share + f64::from(traits[head]));
        }
        scores
    }

    /// The strongest reasons for `head` and against `others`. Quotes that overlap are told as one.
    pub fn evidence(&self, message: &str, features: &Features, head: usize) -> Vec<Evidence> {
        let texts =
            features.list.iter().filter(|f| matches!(f.source, FeatureSource::Text(..))).count();
        let share = share(texts);
        let weight = |feature: &Feature| {
            let weights = self.weights(feature.hash);
            let rivals = (0..HEADS).filter(|other| HEADS > 2 && *other != head);
            let against = rivals.map(|other| weights[other]).max().unwrap_or(0);
            let weight = f64::from(weights[head] - against);
            if matches!(feature.source, FeatureSource::Text(..)) { weight * share } else { weight }
        };
        let most = MOST_EVIDENCE * 4;
        let mut best: Vec<(f64, FeatureSource)> = Vec::with_capacity(most + 1);
        for feature in &features.list {
            let weight = weight(feature);
            let least = if best.len() < most { 0.0 } else { best[most - 1].0 };
            if weight > least {
                best.insert(best.partition_point(|old| old.0 >= weight), (weight, feature.source));
                best.truncate(most);
            }
        }
        quotes(message, best.into_iter().map(|(_, source)| source))
    }
}

fn quotes(message: &str, sources: impl Iterator<Item = FeatureSource>) -> Vec<Evidence> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut traits: Vec<&'static str> = Vec::new();
    for source in sources {
        match source {
            FeatureSource::Trait(name) if !traits.contains(&name) => traits.push(name),
            FeatureSource::Trait(_) => {}
            FeatureSource::Text(from, to) | FeatureSource::Sentence(from, to) => {
                let span = from as usize..to as usize;
                match spans.iter_mut().find(|old| old.start < span.end && span.start < old.end) {
                    Some(old) => *old = old.start.min(span.start)..old.end.max(span.end),
                    None => spans.push(span),
                }
            }
        }
        if spans.len() + traits.len() >= MOST_EVIDENCE {
            break;
        }
    }
    let quotes =
        spans.into_iter().filter_map(|span| message.get(span)).filter(tells).map(|quote| {
            let end = quote.char_indices().map(|(at, _)| at).nth(LONGEST_QUOTE);
            Evidence::Quote(match end {
                Some(end) => format!("{}…", &quote[..end]),
                None => quote.to_owned(),
            })
        });
    quotes.chain(traits.into_iter().map(|name| Evidence::Trait(name.to_owned()))).collect()
}

/// Whether a piece of a text tells a reader something: a word, and not a mark or a particle.
fn tells(quote: &&str) -> bool {
    const SHORTEST: usize = 4;
    let letters = quote.chars().filter(|c| c.is_alphanumeric());
    let weight: usize = letters.map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    weight >= SHORTEST
}

/// A hash of bytes as they come.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteHash(u32);

impl ByteHash {
    pub(super) const fn new(salt: u32) -> Self {
        Self(0x811c_9dc5 ^ salt.wrapping_mul(0x9e37_79b1))
    }

    pub(super) const fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u32).wrapping_mul(0x0100_0193);
    }

    /// FNV-1a with a final mix, because only the upper bits are kept.
    pub(super) const fn finish(self) -> u32 {
        mix(self.0)
    }
}

/// The hash of all of `bytes`.
pub(super) const fn hash(bytes: &[u8], salt: u32) -> u32 {
    let mut hash = ByteHash::new(salt);
    let mut at = 0;
    while at < bytes.len() {
        hash.add(bytes[at]);
        at += 1;
    }
    hash.finish()
}

/// Two hashes in their order.
pub(super) fn join(first: u32, second: u32) -> u32 {
    mix(first.rotate_left(9) ^ second.wrapping_mul(0x85eb_ca6b))
}

const fn mix(hash: u32) -> u32 {
    let hash = (hash ^ (hash >> 16)).wrapping_mul(0x7feb_352d);
    let hash = (hash ^ (hash >> 15)).wrapping_mul(0x846c_a68b);
    hash ^ (hash >> 16)
}

/// The weights of a model that combines `N` numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Combination<const N: usize> {
    /// Added to the sum.
    pub bias: f64,
    /// One for each input.
    pub weights: [f64; N],
}

impl<const N: usize> Combination<N> {
    /// The probability that it gives.
    pub fn share(&self, inputs: [f64; N]) -> f64 {
        let sum = inputs.iter().zip(self.weights).fold(self.bias, |sum, (x, w)| sum + x * w);
        logistic(sum)
    }
}

/// The logistic function.
pub fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + exp(-score))
}

/// Shares of the heads that sum up to 1.
pub fn softmax<const HEADS: usize>(scores: [f64; HEADS]) -> [f64; HEADS] {
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let powers = scores.map(|score| exp(score - most));
    let sum: f64 = powers.iter().sum();
    powers.map(|power| power / sum)
}

/// `f64::exp` may differ in its last bits between platforms; this does not.
pub fn exp(x: f64) -> f64 {
    let x = x.clamp(-60.0, 60.0);
    let halvings = (x / std::f64::consts::LN_2).round();
    let rest = x - halvings * std::f64::consts::LN_2;
    let series = (1..=14).rev().fold(1.0, |sum, n| 1.0 + sum * rest / f64::from(n));
    let power = f64::from_bits(((1023 + halvings as i64) as u64) << 52);
    series * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_weights_for_its_own_feature_only() {
        let rows = &[7, 3, 0xff, 9, 5, 5];
        let table = WeightTable::<2> { bias: [0.0; 2], scale: [1.0; 2], rows };
        let second = 1 << (HASH_BITS - 1);
        assert_eq!(table.weights(7), [3, -1]);
        assert_eq!(table.weights(8), [0, 0]);
        assert_eq!(table.weights(second + 9), [5, 5]);
        assert_eq!(table.weights(second + 7), [0, 0]);
        let torn = WeightTable::<2> { rows: &[7, 3], ..table };
        assert_eq!(torn.weights(7), [0, 0]);
    }
}
