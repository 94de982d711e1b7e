//! Prints what `rawr tune` found: the change, the replay of it beside the user's own configuration, and what to do.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use rawr_analysis::replay::ReplayOrder;
use rawr_analysis::tune::{TuneResult, TunedConfiguration};
use rawr_host::text::sanitize_terminal;

use super::palette::paint;
use super::replay::{ReplayColumn, ReplayPrinter};
use super::text::{counted, number};

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();

pub(crate) fn print_tuned(result: &TuneResult) -> String {
    let TuneResult { target, tried, own, proposal, .. } = result;
    let mut out = format!("Target: {target}; {tried} configurations replayed\n\n");
    let columns: Vec<_> = std::iter::once("your configuration")
        .chain(proposal.iter().map(|_| "proposed"))
        .map(|name| ReplayColumn(name.to_owned()))
        .collect();
    let totals: Vec<_> = std::iter::once(own).chain(proposal).map(|of| of.totals.clone()).collect();
    ReplayPrinter { columns: &columns, order: ReplayOrder::Second }.sums(&mut out, &totals);
    let _ = writeln!(out, "\n{}", verdict(result));
    if proposal.is_some() {
        let _ = write!(out, "\n{}", print_diff(result));
        let file = sanitize_terminal(&result.file.display().to_string());
        let _ = writeln!(
            out,
            "\nNothing is changed. To apply it, edit {file}, or pipe the same command with --diff to `patch {file}`."
        );
    }
    out
}

fn verdict(result: &TuneResult) -> String {
    let of = |of: &TunedConfiguration| {
        let late = number(of.late().into());
        let often = match of.totals.is_too_short_for_a_rate() {
            true => {
                let count = counted(of.totals.fires.into(), "compaction", "compactions");
                format!("{count} in less than ten minutes, too short for a rate")
            }
            false => {
                let rate = of.totals.fires_per_hour().unwrap_or_default();
                format!("{rate:.2} compactions in an hour")
            }
        };
        format!("{often}, {late} too late")
    };
    let own = format!("yours: {}", of(&result.own));
    let sentence = match &result.proposal {
        None if result.own.reaches_target => {
            let of_own = of(&result.own);
            format!(
                "Your configuration reaches the target, and none that was tried does better ({of_own})"
            )
        }
        None => {
            format!("No configuration that was tried reaches the target or comes nearer ({own})")
        }
        Some(best) => {
            let result = match (best.reaches_target, result.own.reaches_target) {
                (true, true) => {
                    "Your configuration reaches the target; the proposed one comes earlier"
                }
                (true, false) => "The proposed configuration reaches the target",
                (false, _) => "No configuration that was tried reaches the target; the nearest",
            };
            format!("{result}: {} ({own})", of(best))
        }
    };
    format!(
        "{sentence}.\nToo late is a compaction of the host that none of rawr's came before, or an emergency."
    )
}

/// The change alone, as `patch` reads it.
pub(crate) fn print_diff(result: &TuneResult) -> String {
    let mut out = String::new();
    for line in result.diff.iter().flat_map(|diff| diff.lines()) {
        let text = sanitize_terminal(line);
        let painted = match line.as_bytes().first() {
            Some(b'+') => paint(ADDED, &text),
            Some(b'-') => paint(REMOVED, &text),
            _ => text,
        };
        out.push_str(&painted);
        out.push('\n');
    }
    out
}
