//! `rawr stats`: shows how compaction went in the threads that rawr lived through. It needs no sidecar; `rawr-analysis`
//! reads their logs.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::bail;
use rawr_analysis::stats::{
    StatsRequest, StatsResult, StatsTotals, ThreadStats, UnreadThread, stats,
};
use rawr_host::stop::StopRequest;
use rawr_storage::store::maintenance::StoredThreads;
use serde::Serialize;

use super::common::{CommonOptions, now_ms, print_json};
use super::long_read::{ReadProgress, until_stopped};
use super::stored::chosen;
use super::threads::{complain, no_thread};
use crate::args::StatsArgs;
use crate::render::stats::StatsPrinter;

/// Runs the command. Ctrl-C prints the figures so far.
pub(super) async fn run(common: &CommonOptions, args: StatsArgs) -> anyhow::Result<ExitCode> {
    let mut stop = StopRequest::on_signals()?;
    let threads = StoredThreads::new(&common.home()?.dir);
    let wanted: Vec<_> = args.threads.iter().map(String::as_str).collect();
    let nothing = no_thread(common)?;
    let places = chosen(&threads, &wanted, &nothing)?;
    if places.is_empty() {
        bail!("{nothing}");
    }
    let since = args.since.map(|since| since.before(SystemTime::now()));
    let request = StatsRequest { places, since };
    let progress = ReadProgress::of("threads", !args.json);
    let result = until_stopped(&mut stop, move |stop| {
        let result = stats(&request, stop, &|done, of| progress.show(done, of));
        progress.clear();
        Ok(result)
    });
    let result = result.await?;
    print(&result, &args)?;
    if result.is_stopped {
        return Ok(ExitCode::from(stop.exit_code()));
    }
    if result.threads.is_empty() {
        let why =
            if result.unread.is_empty() { "nothing was recorded" } else { "no thread was read" };
        let since = if since.is_some() { " since then" } else { "" };
        complain(&format!("{why}{since}"));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn print(result: &StatsResult, args: &StatsArgs) -> anyhow::Result<()> {
    if args.json {
        let mut out = io::BufWriter::new(io::stdout().lock());
        print_json(&mut out, &WholeStats::of(result))?;
        return Ok(out.flush()?);
    }
    let text = StatsPrinter { now_ms: now_ms() }.print(result, args.each);
    let mut out = anstream::AutoStream::auto(io::stdout());
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Everything in one object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WholeStats<'s> {
    totals: &'s StatsTotals,
    threads: &'s [ThreadStats],
    unread: &'s [UnreadThread],
    is_stopped: bool,
}

impl<'s> WholeStats<'s> {
    fn of(result: &'s StatsResult) -> Self {
        let StatsResult { threads, unread, totals, is_stopped } = result;
        Self { totals, threads, unread, is_stopped: *is_stopped }
    }
}
