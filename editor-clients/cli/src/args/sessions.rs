//! Which recorded sessions a command replays.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use rawr_analysis::replay::ReplayRequest;
use rawr_settings::config::Home;

use super::since::{SinceTime, parse_since};

#[derive(Debug, Args)]
pub struct SessionArgs {
    /// Only sessions changed since: 12h, 7d, 4w, or a date such as 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub since: Option<SinceTime>,

    /// Only sessions whose model contains this text
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// Context window in tokens, instead of the recorded one [default for Claude Code: its model's]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub window: Option<u64>,
}

impl SessionArgs {
    /// A replay of these sessions.
    pub fn request(&self, home: Home, paths: &[PathBuf]) -> ReplayRequest {
        ReplayRequest {
            since: self.since.map(|since| since.before(SystemTime::now())),
            model: self.model.clone(),
            window: self.window,
            ..ReplayRequest::new(home, paths.to_owned())
        }
    }
}
