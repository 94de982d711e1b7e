//! Rows of one run: medians over its samples, ratios to the peers of the same run, as a table or as JSON lines.
//! It does not print.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
};

use serde_json::{Map, Value, json};

use crate::{
    goals::{self, GoalVerdict},
    stats::median,
};

/// Named numbers of one sample. The unit is part of the name.
pub type Cells = Vec<(&'static str, f64)>;

/// What a table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Verified,
    Start,
    RoundTrip,
    Pipelined,
    Durable,
    Heard,
    Typed,
    Saved,
    Stored,
    Live,
    Soak,
    Append,
    Replay,
    Count,
    Grow,
    Hear,
    Records,
    Size,
    Code,
}

struct About {
    name: &'static str,
    title: &'static str,
    /// The cell whose ratios to `bases` are shown.
    key: &'static str,
    bases: &'static [&'static str],
}

const PEERS: &[&str] = &["cat", "lsp-server", "jsonrpsee", "vscode-jsonrpc"];

impl Measure {
    fn about(self) -> About {
        let (name, title, key, bases): (_, _, _, &[_]) = match self {
            Self::Verified => ("verified", "Replies read, each right and each once", "", &[]),
            Self::Start => {
                let bases = &["cat", "copy", "lsp-server", "vscode-jsonrpc"];
                ("start", "Process start to initialize answered", "ms", bases)
            }
            Self::RoundTrip => ("round_trip", "One request at a time", "p50Us", PEERS),
            Self::Pipelined => ("pipelined", "Many requests in flight", "kPerS", PEERS),
            Self::Durable => {
                let bases = &[BARE_SYNC, SYNCED_ECHO, SYNCED_APART];
                ("durable", "turn/completed, synced before the answer", "p50Us", bases)
            }
            Self::Heard => {
                ("heard", "A change, told by another client's sidecar", "p50Us", &[BARE_WATCH])
            }
            Self::Typed => ("typed", "Claude Code waits for rawr", "p99Us", &[BARE_SOCKET]),
            Self::Saved => {
                ("saved", "A prompt saved, and told to be in force", "p50Us", &[BARE_SAVE])
            }
            Self::Stored => ("stored", "Start, watch and list among many threads", "ms", &[]),
            Self::Live => ("live", "One thread's calls among many", "p99Us", &["alone"]),
            Self::Soak => ("soak", "Turn after turn of many hosts", "lastMb", &[]),
            Self::Append => ("append", "One observation appended", "meanUs", &[BARE_WRITE]),
            Self::Replay => ("replay", "Stored events read back", "mbPerS", &[SPLIT_LINES]),
            Self::Count => ("count", "Tokens of a text counted", "mbPerS", &[OTHER_TOKENIZER]),
            Self::Grow => ("grow", "Tokens counted after every 400 bytes", "meanUs", &[PIECES]),
            Self::Hear => {
                ("hear", "A report of 2 kB and the next message heard", "meanUs", &[LOWERCASE])
            }
            Self::Records => {
                ("records", "Recorded sessions replayed", "mbPerS", &[PYTHON, BARE_SERDE])
            }
            Self::Size => ("size", "The binary", "", &[]),
            Self::Code => ("code", "Its code", "", &[]),
        };
        About { name, title, key, bases }
    }

    pub fn name(self) -> &'static str {
        self.about().name
    }
}

/// The program itself.
pub const BINARY: &str = "rawr";
pub const BARE_SYNC: &str = "write+fdatasync";
/// The copying peer with nothing to copy, and a hook of rawr's with nothing to do: whole processes.
pub const COPY_TO_ITS_END: &str = "copy, whole";
pub const IDLE_HOOK: &str = "rawr hook, whole";
/// The peer on jsonrpsee, which writes and syncs as many bytes before it answers.
pub const SYNCED_ECHO: &str = "jsonrpsee+fdatasync";
/// Like `SYNCED_ECHO`, but on another thread, so that a slow disk does not keep the peer from answering others.
pub const SYNCED_APART: &str = "jsonrpsee+thread";
pub const BARE_WATCH: &str = "write+inotify";
pub const BARE_SOCKET: &str = "bare socket";
pub const BARE_SAVE: &str = "save+inotify+read";
pub const BARE_WRITE: &str = "write(2)";
pub const SPLIT_LINES: &str = "split-lines";
/// rawr's own store, in this process.
pub const STORE: &str = "store";
pub const OTHER_TOKENIZER: &str = "tiktoken-rs";
pub const PIECES: &str = "pieces alone";
/// rawr's own count, in this process.
pub const EXACT: &str = "exact";
pub const LOWERCASE: &str = "lowercase words";
/// A loop of `json.loads` over the lines.
pub const PYTHON: &str = "python3";
/// serde_json's check of each line, which keeps nothing.
pub const BARE_SERDE: &str = "serde_json";

/// One server in one table.
#[derive(Debug, Clone)]
pub struct Row {
    pub measure: Measure,
    pub variant: &'static str,
    pub server: Cow<'static, str>,
    pub cells: Cells,
    pub samples: usize,
}

impl Row {
    /// The median of each cell over the samples.
    pub fn of(
        measure: Measure,
        variant: &'static str,
        server: impl Into<Cow<'static, str>>,
        samples: &[Cells],
    ) -> Self {
        let names = samples.first().into_iter().flatten().map(|(name, _)| *name);
        let cells = names.enumerate().map(|(at, name)| {
            let mut values: Vec<f64> =
                samples.iter().filter_map(|cells| cells.get(at)).map(|it| it.1).collect();
            (name, median(&mut values))
        });
        let (server, cells) = (server.into(), cells.collect());
        Self { measure, variant, server, cells, samples: samples.len() }
    }

    pub fn cell(&self, name: &str) -> Option<f64> {
        self.cells.iter().find(|cell| cell.0 == name).map(|cell| cell.1)
    }
}

/// The results of a run.
#[derive(Debug, Default)]
pub struct Report {
    pub rows: Vec<Row>,
    pub absent: Vec<(&'static str, String)>,
    pub failed: Vec<(&'static str, String)>,
    /// Cores that other processes used during the samples of time that were kept: middle and worst.
    pub foreign: Option<(f64, f64)>,
}

impl Report {
    pub fn row(&self, measure: Measure, variant: &str, server: &str) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.measure == measure && row.variant == variant && row.server == server)
    }

    /// How often a row's cell holds the same cell of another server.
    pub fn ratio(&self, row: &Row, cell: &str, base: &str) -> Option<f64> {
        let base = self.row(row.measure, row.variant, base)?;
        Some(row.cell(cell)? / base.cell(cell)?)
    }

    /// One JSON object a line.
    pub fn json(&self) -> String {
        let mut lines: Vec<Value> = self.rows.iter().map(|row| self.row_json(row)).collect();
        let told = |event: &str, list: &[(&'static str, String)]| {
            let line = |(server, reason): &(_, String)| json!({"event": event, "server": server, "reason": reason});
            list.iter().map(line).collect::<Vec<_>>()
        };
        lines.extend(told("skipped", &self.absent));
        lines.extend(told("failed", &self.failed));
        lines.extend(goals::judge(self).iter().map(GoalVerdict::json));
        lines.push(json!({
            "event": "run",
            "foreignCoresMedian": self.foreign.map(|(middle, _)| middle),
            "foreignCoresWorst": self.foreign.map(|(_, worst)| worst),
            "optimised": optimised(),
        }));
        lines.iter().fold(String::new(), |text, line| text + &line.to_string() + "\n")
    }

    fn row_json(&self, row: &Row) -> Value {
        let about = row.measure.about();
        let ratios =
            about.bases.iter().filter_map(|base| Some((*base, self.ratio(row, about.key, base)?)));
        let ratios: Map<_, _> =
            ratios.map(|(base, ratio)| (base.to_owned(), ratio.into())).collect();
        let mut line = Map::new();
        line.extend(row.cells.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));
        line.extend([
            ("event".to_owned(), "row".into()),
            ("measure".to_owned(), about.name.into()),
            ("server".to_owned(), row.server.as_ref().into()),
            ("variant".to_owned(), row.variant.into()),
            ("samples".to_owned(), row.samples.into()),
            ("ratios".to_owned(), ratios.into()),
        ]);
        line.into()
    }

    fn table(&self, rows: &[&Row]) -> String {
        let Some(first) = rows.first() else { return String::new() };
        let about = first.measure.about();
        let mut header = vec!["server".to_owned(), "how".to_owned()];
        let mut names = Vec::new();
        for (name, _) in rows.iter().flat_map(|row| &row.cells) {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        header.extend(names.iter().map(|&name| name.to_owned()));
        header.extend(about.bases.iter().map(|base| format!("x {base}")));
        let mut lines = vec![header];
        for row in rows {
            let mut line = vec![row.server.to_string(), row.variant.to_owned()];
            line.extend(names.iter().map(|name| short(row.cell(name))));
            line.extend(about.bases.iter().map(|base| short(self.ratio(row, about.key, base))));
            lines.push(line);
        }
        format!("{}\n{}", about.title, align(&lines))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for block in self.rows.chunk_by(|one, next| one.measure == next.measure) {
            writeln!(f, "{}", self.table(&block.iter().collect::<Vec<_>>()))?;
        }
        let goals = goals::judge(self);
        if !goals.is_empty() {
            let mut lines = vec![GoalVerdict::header()];
            lines.extend(goals.iter().map(GoalVerdict::line));
            writeln!(f, "Goals: ratios within this run\n{}", align(&lines))?;
        }
        for (server, reason) in &self.absent {
            writeln!(f, "skipped {server}: {reason}")?;
        }
        for (server, reason) in &self.failed {
            writeln!(f, "FAILED {server}: {reason}")?;
        }
        if let Some((middle, worst)) = self.foreign {
            writeln!(
                f,
                "other processes used {middle:.2} cores in the median sample, {worst:.2} in the worst"
            )?;
        }
        if !optimised() {
            writeln!(f, "this is a debug build: its numbers mean nothing")?;
        }
        Ok(())
    }
}

fn optimised() -> bool {
    !cfg!(debug_assertions)
}

/// Three significant digits, or a dash for what is not known.
pub fn short(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return "-".to_owned() };
    match value.abs() {
        size if size >= 100.0 || (size.fract() == 0.0 && size < 100.0) => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Columns in line: the first two to the left, numbers to the right.
fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|it| it.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines {
        let mut padded = String::from(" ");
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let _ = match at {
                0 | 1 => write!(padded, " {cell:<width$}"),
                _ => write!(padded, "  {cell:>width$}"),
            };
        }
        text.push_str(padded.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let row = |server, values: &[f64]| {
            let samples: Vec<Cells> = values.iter().map(|ms| vec![("ms", *ms)]).collect();
            Row::of(Measure::Start, "free", server, &samples)
        };
        let rows = vec![row("cat", &[9.0, 0.8, 0.7]), row("rawr-usage", &[1.2])];
        Report { rows, ..Report::default() }
    }

    #[test]
    fn a_row_is_the_median_of_its_samples_beside_the_peers_of_the_same_run() {
        let report = report();
        let row = report.row(Measure::Start, "free", "rawr-usage").unwrap();
        let found = [report.ratio(row, "ms", "cat"), report.ratio(row, "ms", "lsp-server")];
        assert_eq!(found.map(short), ["1.50", "-"]);
    }

    #[test]
    fn a_table_has_a_column_for_each_cell_of_any_row() {
        let row = |server, cells: Cells| Row::of(Measure::Append, "free", server, &[cells]);
        let bare = row(BARE_WRITE, vec![("meanUs", 2.0)]);
        let store = row(STORE, vec![("meanUs", 4.0), ("peakMb", 8.0)]);
        let table = Report::default().table(&[&bare, &store]);
        let words: Vec<Vec<_>> = table.lines().map(|it| it.split_whitespace().collect()).collect();
        assert_eq!(words[1][2..], ["meanUs", "peakMb", "x", "write(2)"]);
        assert_eq!(words[2][2..], ["2", "-", "-"]);
        assert_eq!(words[3][2..], ["4", "8", "-"]);
    }

    #[test]
    fn json_is_one_object_a_line_with_an_event() {
        let text = report().json();
        let events: Vec<_> = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].take())
            .collect();
        assert_eq!(events, ["row", "row", "run"]);
    }
}
