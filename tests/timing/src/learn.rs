//! Logistic regression by stochastic gradient descent. Fixed order, fixed seed, and only operations that are exact on
//! every machine: the weights are the same everywhere.

use crate::vectors::Hashes;
use rawr_core::words::model::{Combination, HASH_BITS, logistic, row_and_key, softmax};
use std::num::NonZero;

/// How the heads of a model depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadRelation {
    /// Each head is a question of its own.
    Independent,
    /// Exactly one head is right.
    OneOf,
}

impl HeadRelation {
    fn shares<const HEADS: usize>(self, scores: [f64; HEADS]) -> [f64; HEADS] {
        match self {
            Self::Independent => scores.map(logistic),
            Self::OneOf => softmax(scores),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub epochs: usize,
    pub rate: f64,
    /// The pull of the weights toward zero.
    pub decay: f64,
}

pub struct Example<const HEADS: usize> {
    pub features: Hashes,
    pub truth: [f64; HEADS],
    /// Whether the truth of a head is known. An example says nothing about the others.
    pub known: [bool; HEADS],
    pub weight: f64,
}

/// As the table of the core: of the features that share a row, one has weights.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel<const HEADS: usize> {
    /// The key of each row's feature.
    pub keys: Vec<u8>,
    /// The weights of each row.
    pub weights: Weights<HEADS>,
    output: HeadRelation,
}

/// The features of one example that count, as columns of the weights.
struct Columns {
    texts: Vec<usize>,
    traits: Vec<usize>,
    /// What each of the texts counts. Those without a column dilute the others too.
    share: f64,
}

impl Columns {
    fn new(features: &Hashes, column: &dyn Fn(u32) -> Option<usize>) -> Self {
        let of = |hashes: &[u32]| hashes.iter().filter_map(|hash| column(*hash)).collect();
        Self { texts: of(&features.texts), traits: of(&features.traits), share: features.share() }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let texts = self.texts.iter().map(|column| (*column, self.share));
        texts.chain(self.traits.iter().map(|column| (*column, 1.0)))
    }
}

/// Weights by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights<const HEADS: usize> {
    pub bias: [f64; HEADS],
    pub list: Vec<[f64; HEADS]>,
}

impl<const HEADS: usize> Weights<HEADS> {
    fn score(&self, columns: &Columns) -> [f64; HEADS] {
        let mut scores = self.bias;
        for (column, value) in columns.iter() {
            let weights = &self.list[column];
            (0..HEADS).for_each(|head| scores[head] += weights[head] * value);
        }
        scores
    }

    fn train(
        count: usize,
        output: HeadRelation,
        examples: &[Example<HEADS>],
        columns: &[Columns],
        settings: Settings,
    ) -> Self {
        let mut model = Self { bias: [0.0; HEADS], list: vec![[0.0; HEADS]; count] };
        let mut moved = vec![[1e-3; HEADS]; count];
        let mut moved_bias = [1e-3; HEADS];
        let mut order: Vec<usize> = (0..examples.len()).collect();
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..settings.epochs {
            for last in (1..order.len()).rev() {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                order.swap(last, (random % (last as u64 + 1)) as usize);
            }
            for at in &order {
                let (example, columns) = (&examples[*at], &columns[*at]);
                let shares = output.shares(model.score(columns));
                let mut wrong = [0.0; HEADS];
                for h in (0..HEADS).filter(|h| example.known[*h]) {
                    wrong[h] = (shares[h] - example.truth[h]) * example.weight;
                }
                for h in 0..HEADS {
                    moved_bias[h] += wrong[h] * wrong[h];
                    model.bias[h] -= settings.rate * wrong[h] / moved_bias[h].sqrt();
                }
                for (column, value) in columns.iter() {
                    let (weights, moved) = (&mut model.list[column], &mut moved[column]);
                    for h in 0..HEADS {
                        let step = wrong[h] * value + settings.decay * weights[h];
                        moved[h] += step * step;
                        weights[h] -= settings.rate * step / moved[h].sqrt();
                    }
                }
            }
        }
        model
    }
}

impl<const HEADS: usize> LinearModel<HEADS> {
    pub fn score(&self, features: &Hashes) -> [f64; HEADS] {
        self.weights.score(&Columns::new(features, &|hash| row_of(&self.keys, hash)))
    }

    /// First with weights for all features, to see which of those that share a row has most influence, then with those alone.
    pub fn train(
        rows: u32,
        output: HeadRelation,
        examples: &[Example<HEADS>],
        settings: Settings,
    ) -> Self {
        let rough = Settings { epochs: settings.epochs / 3, ..settings };
        let keys = heaviest(rows, output, examples, rough);
        let columns: Vec<_> = examples
            .iter()
            .map(|example| Columns::new(&example.features, &|hash| row_of(&keys, hash)))
            .collect();
        let weights = Weights::train(rows as usize, output, examples, &columns, settings);
        Self { keys, weights, output }
    }

    pub fn shares(&self, features: &Hashes) -> [f64; HEADS] {
        self.output.shares(self.score(features))
    }
}

/// The row of a feature, if it is the one that has weights.
fn row_of(keys: &[u8], hash: u32) -> Option<usize> {
    let (row, key) = row_and_key(hash, keys.len() as u32);
    (keys[row] == key).then_some(row)
}

/// For each row, the key of the feature that moves the answers most over all examples.
fn heaviest<const HEADS: usize>(
    rows: u32,
    output: HeadRelation,
    examples: &[Example<HEADS>],
    settings: Settings,
) -> Vec<u8> {
    let mut hashes: Vec<u32> = Vec::new();
    let mut column_of: Vec<Option<NonZero<u32>>> = vec![None; 1 << HASH_BITS];
    for example in examples {
        for hash in example.features.texts.iter().chain(&example.features.traits) {
            let column = &mut column_of[*hash as usize];
            if column.is_none() {
                hashes.push(*hash);
                *column = NonZero::new(hashes.len() as u32);
            }
        }
    }
    let column_of = |hash: u32| column_of[hash as usize].map(|one| one.get() as usize - 1);
    let columns: Vec<_> =
        examples.iter().map(|example| Columns::new(&example.features, &column_of)).collect();
    let model = Weights::train(hashes.len(), output, examples, &columns, settings);
    let mut reach = vec![0.0; hashes.len()];
    for (example, columns) in examples.iter().zip(&columns) {
        for (column, value) in columns.iter() {
            reach[column] += value * value * example.weight;
        }
    }
    let mut keys = vec![0; rows as usize];
    let mut most = vec![0.0; rows as usize];
    for (column, hash) in hashes.iter().enumerate() {
        let (row, key) = row_and_key(*hash, rows);
        let squares: f64 = model.list[column].iter().map(|weight| weight * weight).sum();
        let influence = squares * reach[column];
        if influence > most[row] {
            (most[row], keys[row]) = (influence, key);
        }
    }
    keys
}

/// A few dense inputs, one answer, and what each example weighs: full gradient descent.
pub fn train_dense<const N: usize>(examples: &[([f64; N], f64, f64)]) -> Combination<N> {
    let mut model = Combination { bias: 0.0, weights: [0.0; N] };
    let (mut moved_bias, mut moved) = (1e-3, [1e-3; N]);
    for _ in 0..400 {
        let (mut slope_bias, mut slope) = (0.0, model.weights.map(|weight| weight * 2.0));
        for (inputs, truth, weight) in examples {
            let wrong = (model.share(*inputs) - truth) * weight;
            slope_bias += wrong;
            (0..N).for_each(|at| slope[at] += wrong * inputs[at]);
        }
        moved_bias += slope_bias * slope_bias;
        model.bias -= 0.5 * slope_bias / f64::sqrt(moved_bias);
        for at in 0..N {
            moved[at] += slope[at] * slope[at];
            model.weights[at] -= 0.5 * slope[at] / f64::sqrt(moved[at]);
        }
    }
    model
}
