//! The cases as data, in the order of the tables of the file.

mod judgment;
mod observation;
mod prompts;

use super::KeyCase;

pub fn all() -> Vec<KeyCase> {
    [judgment::cases(), observation::cases(), prompts::cases()].into_iter().flatten().collect()
}
