//! `rawr state`: lists, checks, repairs, compacts and exports the stored threads. It needs no sidecar, because it must also work
//! if none can start. `rawr-storage` does the work on the files.

mod show;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use anyhow::{Context, bail};
use rawr_settings::config::{ConfigSources, Home};
use rawr_storage::store::archive::{ArchiveOutcome, ThreadFolder};
use rawr_storage::store::maintenance::{CompactOutcome, Finding, KEPT_DECISIONS, StoredThreads};
use serde_json::json;

use self::show::{ProblemPrinter, StateEvent};
use super::common::CommonOptions;
use super::stored::chosen;
use super::threads::{complain, no_thread};
use crate::args::{
    StateArgs, StateCheckArgs, StateCommand, StateCompactArgs, StateExportArgs, StateListArgs,
    StateRepairArgs,
};
use crate::render::causes;
use rawr_host::stop::StopRequest;

/// Runs the command. Ctrl-C stops it between two threads, so that the work on each thread is complete.
pub(super) async fn run(common: &CommonOptions, args: StateArgs) -> anyhow::Result<ExitCode> {
    let mut stop = StopRequest::on_signals()?;
    let stopped = Arc::new(AtomicBool::new(false));
    let home = common.home()?;
    let work = MaintenanceWork {
        threads: StoredThreads::new(&home.dir),
        home,
        nothing: no_thread(common)?,
        stopped: Arc::clone(&stopped),
    };
    let mut done = tokio::task::spawn_blocking(move || work.run(args.command));
    tokio::select! {
        done = &mut done => done?,
        () = stop.asked() => {
            stopped.store(true, Ordering::Relaxed);
            if let Err(error) = done.await? {
                complain(&causes(&error));
            }
            Ok(ExitCode::from(stop.exit_code()))
        }
    }
}

struct MaintenanceWork {
    threads: StoredThreads,
    home: Home,
    /// The message without threads.
    nothing: String,
    stopped: Arc<AtomicBool>,
}

impl MaintenanceWork {
    fn run(&self, command: StateCommand) -> anyhow::Result<ExitCode> {
        match command {
            StateCommand::List(args) => self.list(&args),
            StateCommand::Check(args) => self.check(&args),
            StateCommand::Repair(args) => self.repair(&args),
            StateCommand::Compact(args) => self.compact(&args),
            StateCommand::Export(args) => self.export(&args),
        }
    }

    fn list(&self, args: &StateListArgs) -> anyhow::Result<ExitCode> {
        let (mut resting, mut others) = (Vec::new(), 0);
        for place in self.threads.places()? {
            if place.archived == args.archived {
                resting.push(self.threads.resting(place)?);
            } else {
                others += 1;
            }
        }
        resting.sort_by_key(|resting| std::cmp::Reverse(resting.touched));
        let mut teller = ProblemPrinter::new(args.output.json);
        for resting in &resting {
            teller.print(&show::resting(resting))?;
        }
        if resting.is_empty() {
            teller.remark(&match (args.archived, others) {
                (true, _) => "no archived threads.".to_owned(),
                (false, 0) => format!("{}.", self.nothing),
                (false, _) => format!("no current threads; {others} archived (--archived)."),
            })?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn check(&self, args: &StateCheckArgs) -> anyhow::Result<ExitCode> {
        let mut teller = ProblemPrinter::new(args.output.json);
        let (mut wrong, mut repairable) = (0, false);
        let may_repair =
            |found: &[Finding]| found.iter().any(|of| of.is_wrong() && of.kind.is_repairable());
        let folders =
            if args.thread.id.is_none() { self.threads.check_folders() } else { Vec::new() };
        if !folders.is_empty() {
            wrong += usize::from(folders.iter().any(Finding::is_wrong));
            repairable |= may_repair(&folders);
            teller.print(&show::folders(&folders))?;
        }
        let seen =
            self.each(args.thread.id.as_deref(), "checking", &mut teller, |teller, place| {
                let checked = self.threads.check(place);
                if is_gone(place) {
                    return Ok(());
                }
                wrong += usize::from(checked.is_wrong());
                repairable |= may_repair(&checked.findings);
                let is_silent = checked.findings.is_empty() && args.thread.id.is_none();
                if args.output.json || !is_silent {
                    teller.print(&show::checked(&checked))
                } else {
                    Ok(())
                }
            })?;
        let todo = if repairable { "; repair with `rawr state repair`" } else { "" };
        let line = format!("{}, {} wrong{todo}.", seen.told("read"), or_none(wrong));
        teller.print(&StateEvent::new(
            "checked",
            json!({ "threads": seen.done, "wrong": wrong }),
            line,
        ))?;
        Ok(ExitCode::from(u8::from(wrong > 0)))
    }

    fn repair(&self, args: &StateRepairArgs) -> anyhow::Result<ExitCode> {
        let mut teller = ProblemPrinter::new(args.output.json);
        let (mut put_right, mut left) = (0, 0);
        let folders =
            if args.thread.id.is_none() { self.threads.repair_folders()? } else { Vec::new() };
        if !folders.is_empty() {
            put_right += folders.len();
            teller.print(&show::folders_repaired(&folders))?;
        }
        let seen =
            self.each(args.thread.id.as_deref(), "repairing", &mut teller, |teller, place| {
                let repaired = match self.threads.repair(place, SystemTime::now()) {
                    Ok(repaired) => repaired,
                    Err(_) if is_gone(place) => return Ok(()),
                    Err(error) => {
                        left += 1;
                        return teller.print(&show::failed(place, &error.to_string()));
                    }
                };
                put_right += repaired.done.len();
                let is_wrong = repaired.left.iter().any(Finding::is_wrong);
                left += usize::from(is_wrong);
                let is_silent = repaired.done.is_empty() && !is_wrong && args.thread.id.is_none();
                if args.output.json || !is_silent {
                    teller.print(&show::repaired(place, &repaired))
                } else {
                    Ok(())
                }
            })?;
        let line = format!(
            "{}, {} repaired, {} still wrong.",
            seen.told("seen to"),
            or_none(put_right),
            or_none(left)
        );
        let body = json!({ "threads": seen.done, "putRight": put_right, "wrong": left });
        teller.print(&StateEvent::new("repaired", body, line))?;
        Ok(ExitCode::from(u8::from(left > 0)))
    }

    fn compact(&self, args: &StateCompactArgs) -> anyhow::Result<ExitCode> {
        let mut teller = ProblemPrinter::new(args.output.json);
        let kept = args.keep_decisions.unwrap_or(KEPT_DECISIONS);
        let (mut saved, mut failed) = (0, 0);
        let seen =
            self.each(args.thread.id.as_deref(), "compacting", &mut teller, |teller, place| {
                let compacted = match self.threads.compact(place, kept) {
                    Ok(CompactOutcome::Damaged) | Err(_) if is_gone(place) => return Ok(()),
                    Ok(compacted) => compacted,
                    Err(error) => {
                        failed += 1;
                        return teller.print(&show::failed(place, &error.to_string()));
                    }
                };
                match &compacted {
                    CompactOutcome::Done { bytes_before, bytes_after, .. } => {
                        saved += bytes_before.saturating_sub(*bytes_after);
                    }
                    CompactOutcome::Damaged => failed += 1,
                    CompactOutcome::Taken { .. } => {}
                }
                let is_silent = show::changed_nothing(&compacted) && args.thread.id.is_none();
                if args.output.json || !is_silent {
                    teller.print(&show::compacted(place, &compacted))
                } else {
                    Ok(())
                }
            })?;
        let mut archived = 0;
        if args.thread.id.is_none() && !self.is_stopped() {
            let mut told = Ok(());
            let days = ConfigSources::at(&self.home).load().0.retention_days;
            self.threads.retire(SystemTime::now(), days, |thread, retired| {
                match &retired {
                    Ok(ArchiveOutcome::Moved) => archived += 1,
                    Ok(ArchiveOutcome::Left { .. }) => {}
                    Err(_) => failed += 1,
                }
                let shown = show::retired(thread.as_str(), &retired);
                told = std::mem::replace(&mut told, Ok(())).and_then(|()| teller.print(&shown));
            })?;
            told?;
        }
        let line = format!(
            "{}, {} saved, {} archived.",
            seen.told("seen to"),
            show::bytes(saved),
            or_none(archived)
        );
        let body = json!({ "threads": seen.done, "bytesSaved": saved, "archived": archived });
        teller.print(&StateEvent::new("compacted", body, line))?;
        Ok(ExitCode::from(u8::from(failed > 0)))
    }

    fn export(&self, args: &StateExportArgs) -> anyhow::Result<ExitCode> {
        let places = chosen(&self.threads, &[&args.thread.id], &self.nothing)?;
        let place = places.first().context("there is no thread")?;
        let Some(output) = &args.output else {
            let out = io::BufWriter::new(io::stdout().lock());
            self.threads.export(place, &mut UnlessStopped { out, stopped: &self.stopped })?;
            return Ok(ExitCode::SUCCESS);
        };
        if output.exists() {
            bail!("{} already exists; pass another file", output.display());
        }
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Atomic, and private to the user.
        let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
            .with_context(|| format!("{} cannot be written", output.display()))?;
        let out = io::BufWriter::new(file.as_file());
        self.threads.export(place, &mut UnlessStopped { out, stopped: &self.stopped })?;
        file.persist_noclobber(output)
            .map_err(|error| error.error)
            .with_context(|| format!("{} cannot be written", output.display()))?;
        let bytes = fs::metadata(output)?.len();
        let body = json!({ "threadId": place.thread.as_str(), "file": output, "bytes": bytes });
        let line = format!(
            "{} was written ({}). Review it before you share it.",
            output.display(),
            show::bytes(bytes)
        );
        ProblemPrinter::new(args.json).print(&StateEvent::new("exported", body, line))?;
        Ok(ExitCode::SUCCESS)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Works on each thread in turn until a stop is requested.
    fn each(
        &self,
        wanted: Option<&str>,
        verb: &str,
        teller: &mut ProblemPrinter,
        mut work: impl FnMut(&mut ProblemPrinter, &ThreadFolder) -> io::Result<()>,
    ) -> anyhow::Result<CacheRun> {
        let places = chosen(&self.threads, wanted.as_slice(), &self.nothing)?;
        let mut seen = CacheRun { done: 0, of: places.len() };
        for place in &places {
            if self.is_stopped() {
                complain("stopped; no thread is left half done");
                break;
            }
            teller.progress(verb, seen.done, seen.of);
            work(teller, place)?;
            seen.done += 1;
        }
        teller.progress_ends();
        Ok(seen)
    }
}

/// Whether the thread was archived or unarchived since it was listed, which is not an error.
fn is_gone(place: &ThreadFolder) -> bool {
    !place.folder.is_dir()
}

/// The progress of the work.
struct CacheRun {
    done: usize,
    of: usize,
}

impl CacheRun {
    fn told(&self, verb: &str) -> String {
        match (self.done, self.of) {
            (done, of) if done < of => format!("{done} of {of} threads {verb}"),
            (1, _) => format!("1 thread {verb}"),
            (done, _) => format!("{done} threads {verb}"),
        }
    }
}

fn or_none(count: usize) -> String {
    if count == 0 { "nothing".to_owned() } else { count.to_string() }
}

struct UnlessStopped<'s, W> {
    out: W,
    stopped: &'s AtomicBool,
}

impl<W: Write> Write for UnlessStopped<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether progress can be shown.
fn is_watched() -> bool {
    io::stderr().is_terminal()
}
