//! Numbers that a seed decides.

/// `splitmix64`: small, and the same in each release.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// One of these, each as often as its weight says.
    pub fn pick<T: Copy>(&mut self, weighted: &[(u64, T)]) -> T {
        let total: u64 = weighted.iter().map(|(weight, _)| weight).sum();
        let mut at = self.between(1, total);
        for (weight, choice) in weighted {
            if at <= *weight {
                return *choice;
            }
            at -= weight;
        }
        unreachable!("the weights were added up")
    }
}
