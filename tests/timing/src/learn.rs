//! Logistic regression by stochastic gradient descent. Fixed order, fixed seed, and only operations that are exact on
//! every machine: the weights are the same everywhere.

use crate::vectors::Rows;
use rawr_core::words::model::{Combination, logistic, share, softmax};

/// How the heads of a model depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadRelation {
    /// Each head is a question of its own.
    Independent,
    /// Exactly one head is right.
    OneOf,
}

#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub epochs: usize,
    pub rate: f64,
    /// The pull of the weights toward zero.
    pub decay: f64,
}

pub struct Example<const HEADS: usize> {
    pub rows: Rows,
    pub truth: [f64; HEADS],
    pub weight: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel<const HEADS: usize> {
    pub bias: [f64; HEADS],
    pub weights: Vec<[f64; HEADS]>,
    output: HeadRelation,
}

impl<const HEADS: usize> LinearModel<HEADS> {
    pub fn score(&self, rows: &Rows) -> [f64; HEADS] {
        let mut sums = [0.0; HEADS];
        for row in &rows.texts {
            let weights = &self.weights[usize::from(*row)];
            (0..HEADS).for_each(|head| sums[head] += weights[head]);
        }
        let share = share(rows.texts.len());
        let mut scores = self.bias;
        (0..HEADS).for_each(|head| scores[head] += sums[head] * share);
        for row in &rows.traits {
            let weights = &self.weights[usize::from(*row)];
            (0..HEADS).for_each(|head| scores[head] += weights[head]);
        }
        scores
    }

    pub fn shares(&self, rows: &Rows) -> [f64; HEADS] {
        match self.output {
            HeadRelation::Independent => self.score(rows).map(logistic),
            HeadRelation::OneOf => softmax(self.score(rows)),
        }
    }

    pub fn train(
        rows: usize,
        output: HeadRelation,
        examples: &[Example<HEADS>],
        settings: Settings,
    ) -> Self {
        let mut model = Self { bias: [0.0; HEADS], weights: vec![[0.0; HEADS]; rows], output };
        let mut moved = vec![[1e-3; HEADS]; rows];
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
                let example = &examples[*at];
                let shares = model.shares(&example.rows);
                let mut wrong = [0.0; HEADS];
                (0..HEADS).for_each(|h| wrong[h] = (shares[h] - example.truth[h]) * example.weight);
                for h in 0..HEADS {
                    moved_bias[h] += wrong[h] * wrong[h];
                    model.bias[h] -= settings.rate * wrong[h] / moved_bias[h].sqrt();
                }
                let share = share(example.rows.texts.len());
                let texts = example.rows.texts.iter().map(|row| (row, share));
                let traits = example.rows.traits.iter().map(|row| (row, 1.0));
                for (row, value) in texts.chain(traits) {
                    let (weights, moved) =
                        (&mut model.weights[usize::from(*row)], &mut moved[usize::from(*row)]);
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
