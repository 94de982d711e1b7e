//! The cases as data, in the order of the tables of the file.

mod deadlines;
mod general;
mod judgment;
mod outside;
mod prompts;
mod tiers;

use super::KeyCase;

pub fn all() -> Vec<KeyCase> {
    [
        general::cases(),
        tiers::cases(),
        deadlines::cases(),
        judgment::cases(),
        outside::cases(),
        prompts::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
