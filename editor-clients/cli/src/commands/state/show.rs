//! The output of `rawr state`, as text and JSON.

use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rawr_storage::store::StoreError;
use rawr_storage::store::archive::{ArchiveOutcome, ThreadFolder};
use rawr_storage::store::maintenance::{
    CheckedThread, CompactOutcome, Finding, FindingSeverity, RepairAction, RepairReport,
    StoredThreadInfo,
};
use serde_json::{Value, json};

use super::is_watched;
use crate::commands::common::now_ms;
pub(super) use crate::render::bytes;
use crate::render::{ago, number};
use rawr_host::event::json_line as event_line;
use rawr_host::text::one_line;

const WIDTH: usize = 160;
/// The number of threads from which on progress is shown.
const WORTH_WATCHING: usize = 20;

/// An output entry: a JSON line, or lines of text.
pub(super) struct StateEvent {
    event: &'static str,
    body: Value,
    lines: Vec<String>,
}

impl StateEvent {
    pub(super) fn new(event: &'static str, body: Value, line: String) -> Self {
        Self { event, body, lines: vec![line] }
    }
}

pub(super) struct ProblemPrinter {
    as_json: bool,
    progress: bool,
}

impl ProblemPrinter {
    pub(super) const fn new(as_json: bool) -> Self {
        Self { as_json, progress: false }
    }

    pub(super) fn print(&mut self, shown: &StateEvent) -> io::Result<()> {
        self.progress_ends();
        if self.as_json {
            return event_line(&mut io::stdout(), shown.event, &shown.body);
        }
        let mut out = anstream::stdout().lock();
        shown.lines.iter().try_for_each(|line| writeln!(out, "{}", one_line_kept(line)))
    }

    /// Text output only.
    pub(super) fn remark(&mut self, line: &str) -> io::Result<()> {
        if self.as_json { Ok(()) } else { writeln!(anstream::stdout(), "{line}") }
    }

    /// A progress line on stderr. A failure to print it is ignored.
    pub(super) fn progress(&mut self, verb: &str, done: usize, of: usize) {
        if of >= WORTH_WATCHING && !self.as_json && is_watched() {
            self.progress = true;
            let _ = write!(anstream::stderr(), "\r\u{1b}[K{verb} {} of {of}", done + 1);
        }
    }

    pub(super) fn progress_ends(&mut self) {
        if std::mem::take(&mut self.progress) {
            let _ = write!(anstream::stderr(), "\r\u{1b}[K");
        }
    }
}

/// A sanitized and shortened text with a leading space.
fn one_line_kept(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    format!("{}{}", &line[..indent], one_line(line, WIDTH))
}

pub(super) fn resting(resting: &StoredThreadInfo) -> StateEvent {
    let since = |at: SystemTime| {
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    };
    let touched = resting.touched.map(since);
    let mut body = of_place(&resting.place);
    body["bytes"] = json!(resting.bytes);
    if let Some(touched) = touched {
        body["touchedAtMs"] = json!(touched);
    }
    let when = touched.map_or_else(|| "no log".to_owned(), |at| ago(at, now_ms()));
    let line = format!("{}  {} · {when}", resting.place.thread, bytes(resting.bytes));
    StateEvent::new("stored_thread", body, line)
}

pub(super) fn folders(findings: &[Finding]) -> StateEvent {
    let body = json!({ "findings": findings });
    let mut shown =
        StateEvent::new("folders_checked", body, "the folders of all threads".to_owned());
    shown.lines.extend(findings.iter().flat_map(|finding| lines_of(finding, Path::new(""))));
    shown
}

pub(super) fn checked(checked: &CheckedThread) -> StateEvent {
    let mut body = of_place(&checked.place);
    body["events"] = json!(checked.events);
    body["decisions"] = json!(checked.decisions);
    body["bytes"] = json!(checked.bytes);
    body["findings"] = json!(checked.findings);
    let line = format!(
        "{} {}  {} events, {} decisions, {}",
        mark(checked.is_wrong()),
        name(&checked.place),
        number(checked.events),
        number(checked.decisions),
        bytes(checked.bytes)
    );
    let mut shown = StateEvent::new("thread_checked", body, line);
    let folder = &checked.place.folder;
    shown.lines.extend(checked.findings.iter().flat_map(|finding| lines_of(finding, folder)));
    shown
}

pub(super) fn folders_repaired(done: &[RepairAction]) -> StateEvent {
    let body = json!({ "done": done });
    let mut shown =
        StateEvent::new("folders_repaired", body, "the folders of all threads".to_owned());
    shown.lines.extend(done.iter().map(|done| done_line(done, Path::new(""))));
    shown
}

pub(super) fn repaired(place: &ThreadFolder, repaired: &RepairReport) -> StateEvent {
    let wrong: Vec<_> = repaired.left.iter().filter(|finding| finding.is_wrong()).collect();
    let mut body = of_place(place);
    body["done"] = json!(repaired.done);
    body["left"] = json!(wrong);
    if let Some(by) = &repaired.taken_by {
        body["takenBy"] = json!(by);
    }
    let what =
        if repaired.done.is_empty() && wrong.is_empty() { "  nothing to repair" } else { "" };
    let line = format!("{} {}{what}", mark(!wrong.is_empty()), name(place));
    let mut shown = StateEvent::new("thread_repaired", body, line);
    shown.lines.extend(repaired.done.iter().map(|done| done_line(done, &place.folder)));
    if let Some(by) = &repaired.taken_by {
        shown.lines.push(format!("    it is open ({by}): close it, then repair it"));
    }
    shown.lines.extend(wrong.iter().flat_map(|finding| lines_of(finding, &place.folder)));
    shown
}

pub(super) fn changed_nothing(compacted: &CompactOutcome) -> bool {
    matches!(compacted, CompactOutcome::Done { decisions_dropped: 0, cached: false, .. })
}

pub(super) fn compacted(place: &ThreadFolder, compacted: &CompactOutcome) -> StateEvent {
    let mut body = of_place(place);
    let line = match compacted {
        CompactOutcome::Done { bytes_before, bytes_after, decisions_dropped, cached } => {
            body["bytesBefore"] = json!(bytes_before);
            body["bytesAfter"] = json!(bytes_after);
            body["decisionsDropped"] = json!(decisions_dropped);
            body["cached"] = json!(cached);
            let dropped = match decisions_dropped {
                0 => String::new(),
                dropped => format!(", {} old decisions dropped", number(*dropped)),
            };
            let cached = if *cached { ", the next start is quick" } else { "" };
            format!(
                "✓ {}  {} → {}{dropped}{cached}",
                name(place),
                bytes(*bytes_before),
                bytes(*bytes_after)
            )
        }
        CompactOutcome::Taken { by } => {
            body["takenBy"] = json!(by);
            format!("· {}  skipped: it is open ({by})", name(place))
        }
        CompactOutcome::Damaged => {
            body["damaged"] = json!(true);
            format!("✗ {}  skipped: `rawr state check` shows its problems", name(place))
        }
    };
    StateEvent::new("thread_compacted", body, line)
}

pub(super) fn retired(thread: &str, retired: &Result<ArchiveOutcome, StoreError>) -> StateEvent {
    let (body, line) = match retired {
        Ok(ArchiveOutcome::Moved) => {
            (json!({ "threadId": thread }), format!("✓ {thread}  archived"))
        }
        Ok(ArchiveOutcome::Left { why }) => (
            json!({ "threadId": thread, "notArchived": why }),
            format!("· {thread}  not archived: {why}"),
        ),
        Err(error) => (
            json!({ "threadId": thread, "error": error.to_string() }),
            format!("✗ {thread}  not archived: {error}"),
        ),
    };
    StateEvent::new("thread_archived", body, line)
}

pub(super) fn failed(place: &ThreadFolder, error: &str) -> StateEvent {
    let mut body = of_place(place);
    body["error"] = json!(error);
    StateEvent::new("thread_failed", body, format!("✗ {}  {error}", name(place)))
}

fn of_place(place: &ThreadFolder) -> Value {
    json!({ "threadId": place.thread.as_str(), "archived": place.archived })
}

fn name(place: &ThreadFolder) -> String {
    let archived = if place.archived { " (archived)" } else { "" };
    format!("{}{archived}", place.thread)
}

const fn mark(is_wrong: bool) -> &'static str {
    if is_wrong { "✗" } else { "✓" }
}

fn done_line(done: &RepairAction, folder: &Path) -> String {
    format!("    ✓ {}  {}", below(&done.file, folder), done.message)
}

fn lines_of(finding: &Finding, folder: &Path) -> Vec<String> {
    let mark = match finding.weight {
        FindingSeverity::Wrong => "✗",
        FindingSeverity::Note => "·",
    };
    let at = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    let mut lines =
        vec![format!("    {mark} {}{at}  {}", below(&finding.file, folder), finding.message)];
    // The effect of a repair is described once, at the end.
    let todo = finding.todo.filter(|_| !finding.kind.is_repairable());
    lines.extend(todo.map(|todo| format!("      {todo}")));
    lines
}

/// The path of a file in its thread's folder.
fn below(file: &Path, folder: &Path) -> String {
    let short = file.strip_prefix(folder).unwrap_or(file);
    if short.as_os_str().is_empty() { "the folder".to_owned() } else { short.display().to_string() }
}
