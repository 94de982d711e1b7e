//! `rawr replay`, with its help text.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  rawr replay                              your own sessions of Codex and Claude Code
  rawr replay --since 30d --each           one line for each session of the last 30 days
  rawr replay --against calm.toml          your configuration beside another
  rawr replay session.jsonl --plot         context and compactions of one session over time
  rawr replay --html report.html           a page to look at and to share
  rawr replay --jsonl | jq 'select(.compactions > 0)'
  rawr replay - < rollout.jsonl            one session from standard input

Nothing is changed and no model is asked. After a compaction that the replay starts, 12% of the window counts as used.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReplayArgs {
    /// Recorded sessions and folders of them; `-` reads one from standard input [default: those of Codex and Claude Code]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Replay under this rawr.toml instead of your own
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Compare with this rawr.toml
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,

    /// Only sessions changed since: 12h, 7d, 4w, or a date such as 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub since: Option<ReplaySince>,

    /// Only sessions whose model contains this text
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// Context window in tokens, instead of the recorded one [default for Claude Code: 200000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub window: Option<u64>,

    /// Count compactions without carrying them out: the context grows on as recorded
    #[arg(long)]
    pub first_order: bool,

    /// Show each session
    #[arg(long)]
    pub each: bool,

    /// Plot each session
    #[arg(long)]
    pub plot: bool,

    /// Write a page with everything, which needs no network
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "jsonl", "each", "plot"])]
    pub html: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["jsonl", "each", "plot"])]
    pub json: bool,

    /// Compare with labels of turn ends, as `rawr label` writes them; adds the presets to the comparison
    #[arg(long, value_name = "FILE", conflicts_with_all = ["html", "jsonl"])]
    pub labels: Option<PathBuf>,

    /// Print one JSON object for each turn
    #[arg(long, conflicts_with_all = ["each", "plot"])]
    pub jsonl: bool,
}

/// How far back to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaySince {
    /// So many seconds ago.
    Ago(u64),
    /// Milliseconds since 1970.
    At(i64),
}

pub(super) fn parse_since(text: &str) -> Result<ReplaySince, String> {
    if let Some(at) = rawr_server::replay::parse_time(&format!("{text}T00:00:00Z")) {
        return Ok(ReplaySince::At(at.0));
    }
    let unknown = || "expected a number with h, d or w, or a date such as 2026-11-01".to_owned();
    let unit = text.chars().last().ok_or_else(unknown)?;
    let seconds = match unit {
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(unknown()),
    };
    let count: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| unknown())?;
    count.checked_mul(seconds).map(ReplaySince::Ago).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_date_or_a_span() {
        assert_eq!(parse_since("7d"), Ok(ReplaySince::Ago(604_800)));
        assert_eq!(parse_since("12h"), Ok(ReplaySince::Ago(43_200)));
        assert_eq!(parse_since("1970-01-02"), Ok(ReplaySince::At(86_400_000)));
        for wrong in ["", "d", "7", "7m", "-1d", "99999999999999999999w", "yesterday", "7é"] {
            assert!(parse_since(wrong).is_err(), "{wrong}");
        }
    }
}
