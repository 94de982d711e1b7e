//! Medians and quantiles.

/// The middle of the values, or the mean of the two in the middle.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

/// The smallest value that at least `share` of the values do not exceed.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (share * values.len() as f64).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// An order that differs from run to run, so that no server always follows the same one.
pub struct Shuffle {
    state: u64,
}

impl Shuffle {
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed | 1 }
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            // Xorshift: quality enough for an order.
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
            items.swap(last, (self.state % (last as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_the_sample() {
        let mut values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let found = [0.0, 0.01, 0.5, 0.99, 1.0].map(|share| quantile(&mut values, share));
        assert_eq!(found, [1.0, 1.0, 50.0, 99.0, 100.0]);
        assert_eq!(median(&mut values), 50.5);
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        Shuffle::seeded(3).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
