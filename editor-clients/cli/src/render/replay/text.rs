//! Prints what a replay found: sums for each configuration, one line for each session, a plot of its context.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use rawr_analysis::replay::{
    LabelScore, ModelTokens, ReplayCost, ReplayOrder, ReplayResult, ReplayTotals, ReplayedDecision,
    ReplayedFile, SessionReport, TokenCounts,
};
use rawr_protocol::{Boundary, Gate};

use crate::render::palette::paint;
use crate::render::text::{counted, number};
use rawr_host::text::sanitize_terminal;

/// The name of a compared configuration.
#[derive(Debug)]
pub(crate) struct ReplayColumn(pub(crate) String);

pub(crate) struct ReplayPrinter<'p> {
    pub(crate) columns: &'p [ReplayColumn],
    pub(crate) order: ReplayOrder,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const FIRE: Style = AnsiColor::Green.on_default().bold();
const HOST: Style = AnsiColor::Red.on_default();

/// All that was read, in millions.
fn tokens_read(tokens: &ModelTokens) -> String {
    let read: u64 = tokens.values().map(TokenCounts::read).fold(0, u64::saturating_add);
    format!("{:.1} M", read as f64 / 1e6)
}

/// So many files without a session are named.
const MOST_OTHERS: usize = 5;

fn share(part: u32, all: u32) -> String {
    if all == 0 {
        "-".to_owned()
    } else {
        format!("{:.0}%", f64::from(part) / f64::from(all) * 100.0)
    }
}

/// So many differences between two configurations are listed.
const MOST_DIFFERENCES: usize = 20;

/// Columns and rows of a plot.
const PLOT_WIDTH: usize = 72;
const PLOT_HEIGHT: usize = 10;

impl ReplayPrinter<'_> {
    /// The whole text.
    pub(crate) fn print(&self, result: &ReplayResult, each: bool, plot: bool) -> String {
        let mut out = String::new();
        if each || plot {
            for file in &result.files {
                let Some(report) = file.reports.first() else { continue };
                session(&mut out, file);
                if plot && report.turns > 0 {
                    self.plot(&mut out, report);
                }
            }
            out.push('\n');
        }
        self.sums(&mut out, &result.totals);
        self.costs(&mut out, &result.costs);
        self.differences(&mut out, result);
        self.notes(&mut out, result);
        out
    }

    /// How the configurations do by labels.
    pub(crate) fn score(&self, score: &LabelScore) -> String {
        let mut out = format!("\n{} labeled turn ends\n\n", number(score.labels as u64));
        let names = self.columns.iter().map(|column| sanitize_terminal(&column.0));
        let width = names.clone().map(|name| name.chars().count()).max().unwrap_or_default();
        let head = format!(
            "{:width$}  {:>9}  {:>8}  {:>8}  {:>8}  {:>14}",
            "", "begun", "true", "weak", "false", "found"
        );
        let _ = writeln!(out, "  {}", paint(BOLD, &head));
        for (name, counts) in names.zip(&score.counts) {
            let begun = counts.begun();
            let _ = writeln!(
                out,
                "  {name:width$}  {begun:>9}  {:>8}  {:>8}  {:>8}  {:>14}",
                share(counts.begun_at_yes, begun),
                share(counts.begun_at_weak, begun),
                share(counts.begun_at_no, begun),
                format!("{} of {}", counts.begun_at_yes, counts.yes),
            );
        }
        out
    }

    /// The sums, one column for each configuration.
    pub(crate) fn sums(&self, out: &mut String, totals: &[ReplayTotals]) {
        let Some(first) = totals.first() else { return };
        let hours = first.active_ms as f64 / 3_600_000.0;
        let _ = writeln!(
            out,
            "{}, {}, {hours:.1} hours of work",
            counted(first.sessions.into(), "session", "sessions"),
            counted(first.turns.into(), "turn", "turns"),
        );
        let row = |out: &mut String, name: &str, cell: &dyn Fn(&ReplayTotals) -> String| {
            self.row(out, name, totals.iter().map(cell));
        };
        let _ = write!(out, "\n  {:36}", "");
        for column in self.columns {
            let name = format!("{:>10}", sanitize_terminal(&column.0));
            let _ = write!(out, "  {}", paint(BOLD, &name));
        }
        out.push('\n');
        let count = |value: u32| number(value.into());
        row(out, "compactions", &|it| count(it.fires));
        row(out, "  in an hour of work", &|it| match it.fires_per_hour() {
            None => "-".to_owned(),
            Some(_) if it.is_too_short_for_a_rate() => "too short".to_owned(),
            Some(rate) => format!("{rate:.2}"),
        });
        row(out, "  inside a turn", &|it| count(it.fires_inside_turn));
        for tier in ["early", "ready", "asap", "emergency"] {
            if totals.iter().any(|it| it.fires_by_tier.contains_key(tier)) {
                let name = format!("  at {tier}");
                row(out, &name, &|it| count(it.fires_by_tier.get(tier).copied().unwrap_or(0)));
            }
        }
        let mut boundaries: Vec<_> =
            totals.iter().flat_map(|it| it.fires_by_boundary.keys()).collect();
        boundaries.sort_unstable();
        boundaries.dedup();
        for boundary in boundaries {
            let label =
                Boundary::from_name(boundary).map_or(boundary.as_str(), |known| known.label());
            let name = format!("  after {label}");
            row(out, &name, &|it| count(it.fires_by_boundary.get(boundary).copied().unwrap_or(0)));
        }
        row(out, "proposals", &|it| count(it.proposals));
        row(out, "  confirmed", &|it| count(it.confirmed));
        row(out, "  dropped by the next message", &|it| count(it.dropped));
        if totals.iter().any(|it| it.vetoes > 0) {
            row(out, "stopped by the judge alone", &|it| count(it.vetoes));
        }
        let mut gates: Vec<_> = totals.iter().flat_map(|it| it.near_misses.keys()).collect();
        gates.sort_unstable();
        gates.dedup();
        for gate in gates {
            let label = Gate::from_name(gate.name()).map_or(gate.name(), |known| known.label());
            let name = format!("only failed gate: {label}");
            row(out, &name, &|it| count(it.near_misses.get(gate).copied().unwrap_or(0)));
        }
        row(out, "compactions of the host by itself", &|it| count(it.host_compactions));
        row(out, "  inside a turn", &|it| count(it.host_compactions_inside_turn));
        row(out, "  before any compaction of rawr", &|it| count(it.host_compactions_unforeseen));
        row(out, "compactions that a person asked for", &|it| count(it.person_compactions));
        row(out, "files read again after these", &|it| count(it.files_read_again));
        row(out, "tokens read by requests", &|it| tokens_read(&it.tokens));
        row(out, "  as recorded", &|it| tokens_read(&it.recorded_tokens));
    }

    /// What the requests cost, in the same columns.
    fn costs(&self, out: &mut String, costs: &[ReplayCost]) {
        let Some(first) = costs.first() else { return };
        for (name, cents) in [
            ("cost of requests", (|it| it.cents) as fn(&ReplayCost) -> u64),
            ("  as recorded", |it| it.recorded_cents),
        ] {
            let cells = costs.iter().map(|cost| format!("{:.2}", cents(cost) as f64 / 100.0));
            self.row(out, name, cells);
        }
        if !first.unpriced.is_empty() {
            let names: Vec<_> = first.unpriced.iter().map(|name| sanitize_terminal(name)).collect();
            let text = format!("  without a price, and not in it: {}", names.join(", "));
            let _ = writeln!(out, "{}", paint(DIM, &text));
        }
    }

    /// One row, as wide as the names of the columns.
    fn row(&self, out: &mut String, name: &str, cells: impl Iterator<Item = String>) {
        let _ = write!(out, "  {name:36}");
        for (cell, column) in cells.zip(self.columns) {
            let width = column.0.chars().count().max(10);
            let _ = write!(out, "  {cell:>width$}");
        }
        out.push('\n');
    }

    /// The turns at which only one of two configurations compacts.
    fn differences(&self, out: &mut String, result: &ReplayResult) {
        let [first, second] = self.columns else { return };
        let mut lines = Vec::new();
        for file in &result.files {
            let [one, other] = file.reports.as_slice() else { continue };
            for (of, against, name) in [(one, other, first), (other, one, second)] {
                let others: Vec<_> =
                    against.decisions.iter().filter(|it| it.fires()).map(|it| it.turn).collect();
                let alone = |it: &&ReplayedDecision| it.fires() && !others.contains(&it.turn);
                for decision in of.decisions.iter().filter(alone) {
                    let line = format!(
                        "  {}, turn {}: only {}: {}",
                        one_line(&file.file),
                        decision.turn,
                        sanitize_terminal(&name.0),
                        sanitize_terminal(&decision.reason)
                    );
                    lines.push((file.file.clone(), decision.turn, line));
                }
            }
        }
        lines.sort();
        let _ = writeln!(
            out,
            "\n{} turns at which only one of the two compacts{}",
            number(lines.len() as u64),
            if lines.is_empty() { "" } else { ":" }
        );
        for (_, _, line) in lines.iter().take(MOST_DIFFERENCES) {
            let _ = writeln!(out, "{line}");
        }
        if let Some(more) = lines.len().checked_sub(MOST_DIFFERENCES + 1) {
            let _ = writeln!(out, "  and {} more; --jsonl prints all", number(more as u64 + 1));
        }
    }

    fn notes(&self, out: &mut String, result: &ReplayResult) {
        let order = match self.order {
            ReplayOrder::First => {
                "First order: compactions are counted and not carried out; the context grows on as recorded."
            }
            ReplayOrder::Second => {
                "Second order: after a compaction, 12% of the window counts as used, so that the next one comes later."
            }
        };
        let _ = writeln!(out, "\n{}", paint(DIM, order));
        let lines = result.totals.first().map(|totals| totals.lines).unwrap_or_default();
        if lines.unknown + lines.malformed + lines.oversized > 0 {
            let text = format!(
                "Of {} lines, {} are of an unknown kind, {} malformed, {} too long.",
                number(lines.lines),
                number(lines.unknown),
                number(lines.malformed),
                number(lines.oversized)
            );
            let _ = writeln!(out, "{}", paint(DIM, &text));
        }
        for other in result.others.iter().take(MOST_OTHERS) {
            let file = one_line(&other.file);
            let text = format!("{file} holds no session ({} lines)", number(other.lines.lines));
            let _ = writeln!(out, "{}", paint(DIM, &text));
        }
        if let Some(more) = result.others.len().checked_sub(MOST_OTHERS + 1) {
            let text = format!("{} more files hold no session", number(more as u64 + 1));
            let _ = writeln!(out, "{}", paint(DIM, &text));
        }
        for file in &result.files {
            if let Some(error) = &file.error {
                let name = one_line(&file.file);
                let _ = writeln!(out, "{name}: {}", sanitize_terminal(error));
            }
        }
        if result.is_stopped {
            let _ = writeln!(out, "Interrupted: the figures are of the sessions read so far.");
        }
    }

    /// Percent left over the requests of a session, with compactions below it.
    fn plot(&self, out: &mut String, report: &SessionReport) {
        let points = &report.context;
        let Some(last) = points.len().checked_sub(1) else { return };
        let width = PLOT_WIDTH.min(points.len());
        let at =
            |column: usize| points[column * last / width.saturating_sub(1).max(1)].percent_left.0;
        let _ = writeln!(out, "  {}", paint(DIM, "context left"));
        for row in (0..PLOT_HEIGHT).rev() {
            let floor = row * 100 / PLOT_HEIGHT;
            let label = if row % 2 == 0 { format!("{floor:>3}%") } else { "    ".to_owned() };
            let tiers: Vec<_> = report
                .tiers
                .iter()
                .filter(|(_, below)| {
                    usize::from(below.0).saturating_sub(1) * PLOT_HEIGHT / 100 == row
                })
                .map(|(tier, below)| format!("{tier} below {below}"))
                .collect();
            let empty = if tiers.is_empty() { ' ' } else { '┄' };
            let line: String = (0..width)
                .map(|column| if usize::from(at(column)) >= floor.max(1) { '█' } else { empty })
                .collect();
            let line = match tiers.is_empty() {
                true => line.trim_end().to_owned(),
                false => format!("{line} {}", paint(DIM, &tiers.join(", "))),
            };
            let _ = writeln!(out, "  {} {line}", paint(DIM, &label));
        }
        let mut marks = vec![' '; width];
        let mut mark = |time: i64, sign: char| {
            let point = points.partition_point(|point| point.at.0 < time).min(last);
            let column = point * width.saturating_sub(1).max(1) / last.max(1);
            marks[column.min(width - 1)] = sign;
        };
        for decision in &report.decisions {
            if decision.fires() {
                mark(decision.at.0, '▲');
            } else if decision.proposes {
                mark(decision.at.0, '·');
            }
        }
        for compaction in &report.recorded {
            mark(compaction.at.0, '✕');
        }
        let marks: String = marks
            .into_iter()
            .map(|sign| match sign {
                '▲' => paint(FIRE, "▲"),
                '✕' => paint(HOST, "✕"),
                other => other.to_string(),
            })
            .collect();
        let _ = writeln!(out, "       {}", marks.trim_end());
        let axis =
            format!("{} from left to right", counted(points.len() as u64, "request", "requests"));
        let _ = writeln!(out, "       {}", paint(DIM, &axis));
        let legend = "▲ rawr compacts   · proposes   ✕ the host compacted by itself, or a person";
        let _ = writeln!(out, "       {}", paint(DIM, legend));
    }
}

/// A path for a line of its own.
fn one_line(path: &Path) -> String {
    sanitize_terminal(&path.display().to_string()).replace('\n', "\u{fffd}")
}

fn session(out: &mut String, file: &ReplayedFile) {
    let (Some(first), Some(totals)) = (file.reports.first(), file.totals.first()) else { return };
    let host = first.format.map_or("", |format| format.name());
    let fires: Vec<_> = file.totals.iter().map(|totals| totals.fires.to_string()).collect();
    let _ = writeln!(
        out,
        "{}  {host}, {} turns: {} compactions, {} by the host itself",
        paint(BOLD, &one_line(&file.file)),
        number(first.turns.into()),
        fires.join(" against "),
        totals.host_compactions,
    );
}
