//! `rawr replay`: shows when a configuration would have compacted in recorded sessions. It needs no sidecar; the server crate
//! does the work.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use rawr_host::stop::StopRequest;
use rawr_server::config::Home;
use rawr_server::replay::{
    FileWithoutSession, ReplayDetail, ReplayOrder, ReplayRequest, ReplayResult, ReplayTotals,
    ReplayedFile, replay, replay_stream,
};
use serde::Serialize;
use serde_json::json;

use super::common::{CommonOptions, write_whole};
use crate::args::{ReplayArgs, ReplaySince};
use crate::render::replay::{ReplayColumn, ReplayPrinter, page};

/// Runs the command. Ctrl-C prints what has been replayed so far.
pub(super) async fn run(common: &CommonOptions, args: ReplayArgs) -> anyhow::Result<ExitCode> {
    let mut stop = StopRequest::on_signals()?;
    let stopped = Arc::new(AtomicBool::new(false));
    let request = request(common.home()?, &args)?;
    let columns = columns(&args);
    let stops = Arc::clone(&stopped);
    let mut work = tokio::task::spawn_blocking(move || work(&request, &args, &stops));
    let done = tokio::select! {
        done = &mut work => done?,
        () = stop.asked() => {
            stopped.store(true, Ordering::Relaxed);
            match tokio::time::timeout(STOPS_WITHIN, work).await {
                Ok(done) => done?,
                // It waits for standard input, or for a slow disk.
                Err(_) => bail!("interrupted"),
            }
        }
    };
    let (result, output) = done?;
    print(&result, &columns, &output)?;
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

/// How long an interrupted replay may take to end.
const STOPS_WITHIN: Duration = Duration::from_secs(2);

fn request(home: Home, args: &ReplayArgs) -> anyhow::Result<ReplayRequest> {
    let is_default = args.paths.is_empty();
    if args.paths.len() > 1 && args.paths.iter().any(|path| path == Path::new("-")) {
        bail!("`-` stands alone: standard input holds one session");
    }
    let since = args.since.map(|since| match since {
        ReplaySince::Ago(seconds) => SystemTime::now() - Duration::from_secs(seconds),
        ReplaySince::At(ms) => {
            SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or_default())
        }
    });
    Ok(ReplayRequest {
        home,
        paths: if is_default { default_places() } else { args.paths.clone() },
        may_be_missing: is_default,
        policies: std::iter::once(args.config.clone())
            .chain(args.against.clone().map(Some))
            .collect(),
        since,
        model: args.model.clone(),
        order: if args.first_order { ReplayOrder::First } else { ReplayOrder::Second },
        window: args.window,
        detail: match args {
            ReplayArgs { jsonl: true, .. } => ReplayDetail::Decisions,
            ReplayArgs { json, html, plot, .. } if *json || html.is_some() || *plot => {
                ReplayDetail::Whole
            }
            // For the list of differences.
            ReplayArgs { against: Some(_), .. } => ReplayDetail::Decisions,
            _ => ReplayDetail::Sums,
        },
    })
}

/// Where Codex and Claude Code keep their records.
fn default_places() -> Vec<PathBuf> {
    let folder = |variable: &str, name: &str| {
        let set = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        set.or_else(|| std::env::home_dir().map(|home| home.join(name)))
    };
    let codex = folder("CODEX_HOME", ".codex");
    let claude = folder("CLAUDE_CONFIG_DIR", ".claude");
    let of_codex = ["sessions", "archived_sessions"];
    let of_codex = codex.iter().flat_map(|codex| of_codex.map(|name| codex.join(name)));
    of_codex.chain(claude.iter().map(|claude| claude.join("projects"))).collect()
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
        order: request.order,
    };
    if args.paths == [Path::new("-")] {
        let result = replay_stream(request, stopped, Path::new("-"), Box::new(io::stdin()))?;
        return Ok((result, output));
    }
    let shows_progress = io::stderr().is_terminal() && !args.json && !args.jsonl;
    let progress = |done: usize, of: usize| {
        if shows_progress {
            // A failure to show it is ignored.
            let _ = write!(io::stderr(), "\r{done} of {of} sessions\x1b[K");
        }
    };
    let result = replay(request, stopped, &progress);
    if shows_progress {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
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
    order: ReplayOrder,
}

/// The names of the compared configurations.
fn columns(args: &ReplayArgs) -> Vec<ReplayColumn> {
    let name = |path: &Option<PathBuf>| match path {
        Some(path) => path.display().to_string(),
        None => "your configuration".to_owned(),
    };
    std::iter::once(&args.config)
        .chain(args.against.is_some().then_some(&args.against))
        .map(|path| ReplayColumn(name(path)))
        .collect()
}

fn print(
    result: &ReplayResult,
    columns: &[ReplayColumn],
    output: &ReplayOutput,
) -> anyhow::Result<()> {
    if let Some(file) = &output.html {
        let page = page(&serde_json::to_string(&WholeReplay::new(result, columns, output.order))?);
        write_whole(file, &page).with_context(|| format!("failed to write {}", file.display()))?;
        let mut errors = anstream::stderr();
        // The page is written, whatever becomes of this line.
        let _ = writeln!(errors, "written to {}", file.display());
        return Ok(());
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    if output.jsonl {
        for file in &result.files {
            rows(file, columns, &mut out)?;
        }
    } else if output.json {
        serde_json::to_writer(&mut out, &WholeReplay::new(result, columns, output.order))?;
        writeln!(out)?;
    } else {
        let printer = ReplayPrinter { columns, order: output.order };
        let text = printer.print(result, output.each, output.plot);
        let mut out = anstream::AutoStream::auto(io::stdout());
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

/// Everything in one object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WholeReplay<'r> {
    configurations: Vec<&'r str>,
    order: ReplayOrder,
    totals: &'r [ReplayTotals],
    files: &'r [ReplayedFile],
    others: &'r [FileWithoutSession],
    is_stopped: bool,
}

impl<'r> WholeReplay<'r> {
    fn new(result: &'r ReplayResult, columns: &'r [ReplayColumn], order: ReplayOrder) -> Self {
        Self {
            configurations: columns.iter().map(|column| column.0.as_str()).collect(),
            order,
            totals: &result.totals,
            files: &result.files,
            others: &result.others,
            is_stopped: result.is_stopped,
        }
    }
}

/// One row for each decision, with the session that it belongs to.
fn rows(file: &ReplayedFile, columns: &[ReplayColumn], out: &mut impl Write) -> anyhow::Result<()> {
    for (report, column) in file.reports.iter().zip(columns) {
        for decision in &report.decisions {
            let mut row = serde_json::to_value(decision)?;
            if let Some(row) = row.as_object_mut() {
                row.insert("file".to_owned(), json!(file.file.display().to_string()));
                row.insert("session".to_owned(), json!(report.session));
                row.insert("configuration".to_owned(), json!(column.0));
                row.insert("fires".to_owned(), json!(decision.fires()));
            }
            writeln!(out, "{row}")?;
        }
    }
    Ok(())
}
