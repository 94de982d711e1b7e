//! `rawr replay`: shows when a configuration would have compacted in recorded sessions. It needs no sidecar; `rawr-analysis`
//! does the work.

#[cfg(feature = "parquet")]
mod parquet;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail};
use rawr_analysis::replay::rows::turn_rows;
use rawr_analysis::replay::{
    FileWithoutSession, LabelScore, Labels, PolicySource, ReplayCost, ReplayDetail, ReplayOrder,
    ReplayRequest, ReplayResult, ReplayTotals, ReplayedFile, replay, replay_stream,
};
use rawr_host::stop::StopRequest;
use rawr_settings::config::Home;
use serde::Serialize;

use super::common::{CommonOptions, print_json, write_whole};
use super::long_read::{ReadProgress, until_stopped};
use crate::args::ReplayArgs;
use crate::render::replay::{ReplayColumn, ReplayPrinter, page};

/// Runs the command. Ctrl-C prints what has been replayed so far.
pub(super) async fn run(common: &CommonOptions, args: ReplayArgs) -> anyhow::Result<ExitCode> {
    let mut stop = StopRequest::on_signals()?;
    let labels = args.labels.as_deref().map(Labels::read).transpose()?;
    let request = request(common.home()?, &args)?;
    let policies = request.policies.clone();
    let done = until_stopped(&mut stop, move |stop| work(&request, &args, stop));
    let (result, output) = done.await?;
    let score = labels.map(|labels| labels.score(&result.files, policies.len()));
    print(&result, &policies, score.as_ref(), &output)?;
    if result.is_stopped {
        return Ok(ExitCode::from(stop.exit_code()));
    }
    if result.files.iter().all(|file| file.error.is_some()) {
        // A closed stderr leaves the exit code.
        let _ = writeln!(anstream::stderr(), "rawr: no session was replayed");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn request(home: Home, args: &ReplayArgs) -> anyhow::Result<ReplayRequest> {
    if args.paths.len() > 1 && args.paths.iter().any(|path| path == Path::new("-")) {
        bail!("`-` stands alone: standard input holds one session");
    }
    Ok(ReplayRequest {
        policies: policies(args),
        prices: args.prices.clone(),
        order: if args.first_order { ReplayOrder::First } else { ReplayOrder::Second },
        detail: match args {
            ReplayArgs { jsonl: true, .. } => ReplayDetail::Decisions,
            #[cfg(feature = "parquet")]
            ReplayArgs { parquet: Some(_), .. } => ReplayDetail::Decisions,
            ReplayArgs { json, html, plot, .. } if *json || html.is_some() || *plot => {
                ReplayDetail::Whole
            }
            // For the list of differences.
            ReplayArgs { against: Some(_), .. } | ReplayArgs { labels: Some(_), .. } => {
                ReplayDetail::Decisions
            }
            _ => ReplayDetail::Sums,
        },
        ..args.sessions.request(home, &args.paths)
    })
}

fn work(
    request: &ReplayRequest,
    args: &ReplayArgs,
    stopped: &AtomicBool,
) -> anyhow::Result<(ReplayResult, ReplayOutput)> {
    let output = ReplayOutput {
        json: args.json,
        jsonl: args.jsonl,
        each: args.each,
        plot: args.plot,
        html: args.html.clone(),
        #[cfg(feature = "parquet")]
        parquet: args.parquet.clone(),
        order: request.order,
    };
    if args.paths == [Path::new("-")] {
        let result = replay_stream(request, stopped, Path::new("-"), Box::new(io::stdin()))?;
        return Ok((result, output));
    }
    let progress = ReadProgress::of("sessions", !args.json && !args.jsonl);
    let result = replay(request, stopped, &|done, of| progress.show(done, of));
    progress.clear();
    Ok((result?, output))
}

/// How to print.
#[derive(Debug)]
struct ReplayOutput {
    json: bool,
    jsonl: bool,
    each: bool,
    plot: bool,
    html: Option<PathBuf>,
    #[cfg(feature = "parquet")]
    parquet: Option<PathBuf>,
    order: ReplayOrder,
}

/// The compared configurations.
fn policies(args: &ReplayArgs) -> Vec<PolicySource> {
    let own = args.config.clone().map_or(PolicySource::Own, PolicySource::File);
    let against = args.against.clone().map(PolicySource::File);
    let presets = ["calm", "spec"].into_iter().filter(|_| args.labels.is_some());
    std::iter::once(own).chain(against).chain(presets.map(PolicySource::Preset)).collect()
}

fn print(
    result: &ReplayResult,
    policies: &[PolicySource],
    score: Option<&LabelScore>,
    output: &ReplayOutput,
) -> anyhow::Result<()> {
    let columns: Vec<_> = policies.iter().map(|policy| ReplayColumn(policy.to_string())).collect();
    let whole = || WholeReplay::new(result, &columns, output.order, score);
    if let Some(file) = &output.html {
        let page = page(&serde_json::to_string(&whole())?);
        return write_file(file, page.as_bytes());
    }
    #[cfg(feature = "parquet")]
    if let Some(file) = &output.parquet {
        let mut bytes = Vec::new();
        parquet::write(&mut bytes, result.files.iter().flat_map(|it| turn_rows(it, policies)))?;
        return write_file(file, &bytes);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    if output.jsonl {
        for file in &result.files {
            for row in turn_rows(file, policies) {
                print_json(&mut out, &row)?;
            }
        }
    } else if output.json {
        print_json(&mut out, &whole())?;
    } else {
        let printer = ReplayPrinter { columns: &columns, order: output.order };
        let mut text = printer.print(result, output.each, output.plot);
        if let Some(score) = score {
            text.push_str(&printer.score(score));
        }
        let mut out = anstream::AutoStream::auto(io::stdout());
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

fn write_file(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    write_whole(file, content).with_context(|| format!("failed to write {}", file.display()))?;
    // The file is written, whatever becomes of this line.
    let _ = writeln!(anstream::stderr(), "written to {}", file.display());
    Ok(())
}

/// Everything in one object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WholeReplay<'r> {
    configurations: Vec<&'r str>,
    order: ReplayOrder,
    totals: &'r [ReplayTotals],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    costs: &'r [ReplayCost],
    files: &'r [ReplayedFile],
    others: &'r [FileWithoutSession],
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<&'r LabelScore>,
    is_stopped: bool,
}

impl<'r> WholeReplay<'r> {
    fn new(
        result: &'r ReplayResult,
        columns: &'r [ReplayColumn],
        order: ReplayOrder,
        labels: Option<&'r LabelScore>,
    ) -> Self {
        Self {
            configurations: columns.iter().map(|column| column.0.as_str()).collect(),
            order,
            totals: &result.totals,
            costs: &result.costs,
            files: &result.files,
            others: &result.others,
            labels,
            is_stopped: result.is_stopped,
        }
    }
}
