//! The names of the scripts and cases that show configuration keys.

use rawr_core::policy::Tier;

/// The keys that a script or case with this name shows. `TIER` stands for every tier.
pub fn keys_shown_by(name: &str) -> Vec<String> {
    let mut keys: Vec<_> = Tier::ALL.iter().map(|tier| name.replace("TIER", tier.name())).collect();
    keys.dedup();
    keys
}
