//! The cases, in the order of the tables of the file. They are data: what is played and how is said elsewhere.

mod deadlines;
mod general;
mod judgment;
mod outside;
mod prompts;
mod tiers;

use super::Case;

pub fn all() -> Vec<Case> {
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
