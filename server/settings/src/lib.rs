//! What people write: [`config`] reads the layers of `rawr.toml`, [`prompts`] the folder of prompt files, and [`problem`]
//! shows what is wrong with them, with a span. A file with an error never breaks the service; the last good value stays in
//! force.

pub mod config;
pub mod problem;
pub mod prompts;
