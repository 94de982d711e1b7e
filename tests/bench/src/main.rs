//! The command line of the bench: reads the arguments, runs, prints the table or the JSON lines.
//! A missed goal does not make it fail; only a wrong answer does.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::print_stderr, reason = "progress, for a person who waits")]

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Result;
use clap::Parser;
use rawr_bench::plan::{self, Amount, BenchSelection};

/// Measures the sidecar and its peers in one interleaved run.
#[derive(Parser)]
struct Args {
    /// Less than 20 seconds: shows that everything works, not how fast
    #[arg(long)]
    quick: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Only this server (cat, copy, lsp-server, jsonrpsee, vscode-jsonrpc, rawr), `store`, `tokens`, `words`, `records`,
    /// `size` or `soak`; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// How often everything is measured (starts: at least 20 times)
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// How long a hundred hosts work in one sidecar (a minute; with --quick a second)
    #[arg(long, value_name = "SECONDS")]
    soak: Option<u64>,
    /// The binary under test, instead of the one built beside this program
    #[arg(long, value_name = "PATH")]
    rawr: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let mut amount = if args.quick { Amount::quick() } else { Amount::full() };
    if let Some(rounds) = args.rounds {
        amount.rounds = rounds.max(1);
        amount.starts = amount.starts.max(rounds);
    }
    if let Some(seconds) = args.soak {
        amount.soak = Duration::from_secs(seconds);
    }
    let choice = BenchSelection { only: args.only, rawr: args.rawr };
    let report = plan::run(&choice, amount, &|line| eprintln!("{line}"))?;
    if args.json {
        print!("{}", report.json());
    } else {
        print!("{report}");
    }
    let ended_well = report.failed.is_empty() && !report.rows.is_empty();
    Ok(if ended_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
