//! Prints how compaction went: the sums as a table, and each thread with its compactions. Pure.

use std::fmt::Write as _;

use rawr_analysis::stats::{
    CompactionRun, CompactionStart, CompactionTokens, FactCounts, StatsResult, StatsTotals,
    ThreadStats,
};
use rawr_host::text::{columns, one_line};

use crate::render::palette::{BAD, BOLD, DIM, paint};
use crate::render::text::{ago, counted, number, span};

pub(crate) struct StatsPrinter {
    pub(crate) now_ms: i64,
}

/// So many reasons of sequences that were not completed are listed.
const MOST_REASONS: usize = 8;
const REASON_WIDTH: usize = 60;
const NOT_RECORDED: &str = "not recorded";
const TIERS: [&str; 4] = ["early", "ready", "asap", "emergency"];

/// The words of each phase, by its name on the wire.
const PHASES: [(&str, &str); 7] = [
    ("awaiting_approval", "your approval"),
    ("awaiting_heads_up", "heads-up"),
    ("awaiting_scratch_write", "scratch notes"),
    ("awaiting_packet", "packet"),
    ("awaiting_compaction", "until you compact"),
    ("compacting", "compaction"),
    ("awaiting_handoff", "handoff"),
];

impl StatsPrinter {
    /// The whole text.
    pub(crate) fn print(&self, result: &StatsResult, each: bool) -> String {
        let mut out = String::new();
        if each {
            result.threads.iter().for_each(|thread| self.thread(&mut out, thread));
        }
        if !result.threads.is_empty() {
            totals(&mut out, &result.totals);
        }
        notes(&mut out, result);
        out
    }

    fn thread(&self, out: &mut String, thread: &ThreadStats) {
        let agent = thread.agent.as_deref().map(|agent| format!(", sub-agent {agent}"));
        let about = format!(
            "{}{}, {} turns, {}",
            thread.host,
            agent.unwrap_or_default(),
            number(thread.turns.into()),
            thread.cwd
        );
        let name = paint(BOLD, &one_line(thread.thread.as_str(), usize::MAX));
        let _ = writeln!(out, "{name}  {}", one_line(&about, usize::MAX));
        for run in &thread.runs {
            let when = ago(run.at.0, self.now_ms);
            let _ = writeln!(out, "  {when:12}  {}", story(run));
        }
        out.push('\n');
    }
}

/// One line on a sequence or a compaction.
fn story(run: &CompactionRun) -> String {
    let tier = run.tier.filter(|_| run.start != CompactionStart::Emergency);
    let tier = tier.map(|tier| format!("{}, ", tier.name())).unwrap_or_default();
    let inside = if run.inside_turn { ", inside a turn" } else { "" };
    let mut text = format!("{tier}{}{inside}", start_words(run.start));
    if let Some(compaction) = &run.compaction {
        let _ = write!(text, ": {}", tokens(compaction));
    }
    if let Some(packet) = &run.packet {
        let _ = write!(text, "; packet by {}", packet.author());
        if packet.facts.known > 0 {
            let _ = write!(text, ", {} of {} facts named", packet.facts.named, packet.facts.known);
        }
    }
    if let Some(requests) = run.requests_until_work {
        let _ = write!(text, "; work went on with request {requests}");
    }
    let mut text = one_line(&text, usize::MAX);
    for end in run.endings.iter().filter(|end| end.ending_name() != "completed") {
        let _ = write!(text, "; {}", paint(BAD, &reason(end.ending_name(), &end.reason)));
    }
    if run.sequence.is_some() && run.endings.is_empty() {
        text.push_str("; not ended");
    }
    text
}

fn tokens(compaction: &CompactionTokens) -> String {
    let known = |tokens: Option<u64>| tokens.map_or_else(|| NOT_RECORDED.to_owned(), number);
    let estimate = if compaction.is_measured { "" } else { " (host's estimate)" };
    let estimate = if compaction.after.is_some() { estimate } else { "" };
    let (before, after) = (compaction.before.map(|it| it.0), compaction.after.map(|it| it.0));
    format!("{} → {} tokens{estimate}", known(before), known(after))
}

/// How and why a sequence ended. Some reasons only repeat how.
fn reason(ending: &str, reason: &str) -> String {
    match one_line(reason, REASON_WIDTH) {
        reason if reason == ending => reason,
        reason => format!("{ending}: {reason}"),
    }
}

/// How a compaction came about, in a sentence.
fn start_words(start: CompactionStart) -> &'static str {
    match start {
        CompactionStart::Message => "confirmed by the next message",
        CompactionStart::Silence => "confirmed by silence",
        CompactionStart::Approval => "confirmed by a person",
        CompactionStart::Boundary => "at a boundary, without a proposal",
        CompactionStart::Emergency => "in an emergency",
        CompactionStart::BuiltIn => "built-in ([auto_compact])",
        CompactionStart::Person => "asked for by a person",
        CompactionStart::Host => "by the host itself",
        CompactionStart::NotRecorded => "start not recorded",
    }
}

/// `3 of 4 (75%)`.
fn part(of: u64, all: u64) -> String {
    let Some(percent) = (of * 200 + all).checked_div(all * 2) else { return "-".to_owned() };
    format!("{} of {} ({percent}%)", number(of), number(all))
}

/// Rows of a name and a value.
#[derive(Default)]
struct StatsTable(Vec<(String, String)>);

impl StatsTable {
    fn row(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    fn count(&mut self, name: impl Into<String>, value: u32) {
        self.row(name, number(value.into()));
    }

    /// Only where there is something.
    fn count_if_any(&mut self, name: impl Into<String>, value: u32) {
        if value > 0 {
            self.count(name, value);
        }
    }

    fn write(self, out: &mut String) {
        let name_width = self.0.iter().map(|(name, _)| columns(name)).max().unwrap_or_default();
        let width = self.0.iter().map(|(_, value)| columns(value)).max().unwrap_or_default();
        for (name, value) in self.0 {
            let gap = " ".repeat(name_width - columns(&name) + 2 + width - columns(&value));
            let line = format!("  {name}{gap}{value}");
            let _ = writeln!(out, "{}", if value.is_empty() { line.trim_end() } else { &line });
        }
    }
}

fn totals(out: &mut String, totals: &StatsTotals) {
    let head = format!(
        "{}, {}",
        counted(totals.threads.into(), "thread", "threads"),
        counted(totals.turns.into(), "turn", "turns")
    );
    let _ = writeln!(out, "{}\n", paint(BOLD, &head));
    let mut table = StatsTable::default();
    compactions(&mut table, totals);
    people(&mut table, totals);
    packets(&mut table, totals);
    work(&mut table, totals);
    sequences(&mut table, totals);
    table.write(out);
}

fn compactions(table: &mut StatsTable, totals: &StatsTotals) {
    table.count("compactions", totals.compactions);
    table.count("  at a confirmed end", totals.confirmed());
    for start in CompactionStart::ALL {
        let count = totals.by_start.get(&start).copied().unwrap_or_default();
        let words = start_words(start);
        match start {
            _ if start.is_confirmed() => table.count(format!("    {words}"), count),
            CompactionStart::Boundary | CompactionStart::Emergency | CompactionStart::Host => {
                table.count(format!("  {words}"), count);
            }
            _ => table.count_if_any(format!("  {words}"), count),
        }
    }
    for tier in TIERS {
        let count = totals.by_tier.get(tier).copied().unwrap_or_default();
        table.count_if_any(format!("  tier {tier}"), count);
    }
    table.count_if_any("  inside a turn", totals.inside_turn);
    let proposals = totals.proposals;
    table.count("proposals", proposals.made);
    table.count("  confirmed", proposals.confirmed());
    table.count("  dropped by the next message", proposals.dropped);
    table.count("  stopped by a person", proposals.stopped);
    table.count_if_any("  overtaken", proposals.overtaken);
}

fn people(table: &mut StatsTable, totals: &StatsTotals) {
    let answers = totals.answers;
    table.count("approved", answers.approved);
    table.count("snoozed (\"Not now\")", answers.snoozed);
    table.count("skipped (\"Skip this one\")", answers.cancelled);
    table.count_if_any("asked for at once", answers.asked);
    table.count_if_any("packets edited", answers.edited);
    table.count("vetoes of the judge", totals.judge.vetoes);
    table.count_if_any("  questions to it", totals.judge.asked);
    table.count_if_any("  without an answer", totals.judge.failed);
}

fn packets(table: &mut StatsTable, totals: &StatsTotals) {
    let packets = &totals.packets;
    table.count("packets", packets.by_agent + packets.by_rawr + packets.by_person);
    table.count("  by the agent", packets.by_agent);
    table.count("  by rawr", packets.by_rawr);
    table.count_if_any("  by a person", packets.by_person);
    let of = |counts: FactCounts, count: u32| part(count.into(), counts.known.into());
    let (facts, directives) = (packets.agent_facts, packets.directives);
    table.row("facts that agents named", of(facts, facts.named));
    table.row("  after rawr's additions", of(facts, facts.kept));
    table.row("standing instructions in packets", of(directives, directives.named));
    table.row("  after rawr's additions", of(directives, directives.kept));
}

fn work(table: &mut StatsTable, totals: &StatsTotals) {
    let tokens = &totals.tokens;
    let told = match (tokens.before.median(), tokens.after.median()) {
        (Some(before), Some(after)) => format!("{} → {}", number(before), number(after)),
        _ => none_of(totals.compactions),
    };
    table.row("tokens before → after, median", told);
    table.row("  freed in sum", number(tokens.freed));
    table.count_if_any("  estimated by the host", tokens.estimated);
    let untold = u64::from(totals.compactions) - tokens.before.count() as u64;
    table.count_if_any("  not recorded", u32::try_from(untold).unwrap_or(u32::MAX));
    let work = &totals.work;
    let requests = work.requests.median().map_or_else(|| none_of(work.handoffs), number);
    table.row("requests until work went on, median", requests);
    let untold = work.handoffs.saturating_sub(u32::try_from(work.requests.count()).unwrap_or(0));
    if work.requests.count() > 0 {
        table.count_if_any("  not recorded", untold);
    }
    let commands = match work.compactions_with_commands {
        0 => none_of(totals.compactions),
        _ => format!(
            "{} of {}",
            number(work.commands.again.into()),
            number(work.commands.ran.into())
        ),
    };
    table.row("commands run again soon after", commands);
    table.row("files read again", NOT_RECORDED);
}

/// The value where no event tells one: nothing to tell of, or nothing recorded.
fn none_of(count: u32) -> String {
    (if count == 0 { "-" } else { NOT_RECORDED }).to_owned()
}

fn sequences(table: &mut StatsTable, totals: &StatsTotals) {
    if !totals.phases.is_empty() {
        table.row("time of each phase, median (p90)", "");
    }
    for time in &totals.phases {
        let name = PHASES.iter().find(|(name, _)| *name == time.phase.name());
        let name = name.map_or(time.phase.name(), |(_, words)| words);
        if let (Some(median), Some(p90)) = (time.ms.median(), time.ms.p90()) {
            table.row(format!("  {name}"), format!("{} ({})", span(median), span(p90)));
        }
    }
    let ended: u32 = totals.not_completed.iter().map(|end| end.count).sum();
    table.count("sequences not completed", ended);
    for end in totals.not_completed.iter().take(MOST_REASONS) {
        table.count(format!("  {}", reason(end.ending_name(), &end.reason)), end.count);
    }
    let others: u32 = totals.not_completed.iter().skip(MOST_REASONS).map(|end| end.count).sum();
    table.count_if_any("  for other reasons; --json lists them", others);
    table.count_if_any("sequences without an end", totals.not_ended);
}

fn notes(out: &mut String, result: &StatsResult) {
    let lines = result.totals.lines;
    if lines.unknown + lines.malformed + lines.oversized > 0 {
        let text = format!(
            "Of {} lines, {} are of an unknown kind, {} malformed, {} too long; \
             `rawr state check` names them.",
            number(lines.lines),
            number(lines.unknown),
            number(lines.malformed),
            number(lines.oversized)
        );
        let _ = writeln!(out, "\n{}", paint(DIM, &text));
    }
    for unread in &result.unread {
        let (thread, error) = (unread.place.thread.as_str(), unread.error.as_str());
        let _ = writeln!(out, "{}", one_line(&format!("{thread}: {error}"), usize::MAX));
    }
    if result.is_stopped {
        let _ = writeln!(out, "Interrupted: the figures are of the threads read so far.");
    }
}
