//! The selected thread in full, like `rawr status`, with the steps of its sequence and the last decisions.

use ratatui::text::{Line, Span};
use rawr_protocol::{Decision, FateStatus, HeadsUp, Phase};

use super::Drawing;
use crate::commands::watch::link::ThreadDetails;
use crate::commands::watch::view::ThreadRow;
use crate::render::{self, BOLD, DIM, GOOD, OURS, ago, fact};

/// The number of listed decisions; `e` shows all.
const DECISIONS: usize = 8;

pub(super) fn details(drawing: &Drawing<'_>) -> Vec<Line<'static>> {
    let (view, ink, now) = (drawing.view, drawing.ink, drawing.now);
    let Some(row) = view.row() else { return Vec::new() };
    let Some(details) = &view.details else {
        return vec![ink.span(DIM, "…").into()];
    };
    let last = details.decisions.last().map(Decision::verdict);
    let mut lines = ink.lines(&render::status(&details.thread, last.as_ref(), now));
    if let Some(way) = way(drawing, row, details) {
        lines.push(Line::default());
        lines.push(way);
        let banner = view.banner_of(row.id());
        let told = banner.and_then(|banner| deadline(&banner.heads_up, now.ms));
        lines.extend(told.map(|text| Line::from(format!("  {text}"))));
    }
    if !details.thread.plan.is_empty() {
        lines.extend([Line::default(), ink.span(BOLD, "plan").into()]);
        lines.extend(details.thread.plan.iter().map(|step| ink.line(&render::plan_step(step))));
    }
    if !details.decisions.is_empty() {
        lines.extend([Line::default(), ink.span(BOLD, "decisions").into()]);
        let latest = details.decisions.iter().rev().take(DECISIONS);
        lines.extend(latest.flat_map(|decision| decided(drawing, decision)));
    }
    lines
}

/// What happens without an answer, and when.
pub(super) fn deadline(heads_up: &HeadsUp, now_ms: i64) -> Option<String> {
    let label = heads_up.deadline_label.as_ref()?;
    let seconds = heads_up.deadline_at_ms?.saturating_sub(now_ms).max(0) / 1_000;
    Some(match seconds {
        0..120 => format!("{label} {seconds} s."),
        _ => format!("{label} {} min.", seconds / 60),
    })
}

/// The completed, current and pending steps of a sequence.
fn way(drawing: &Drawing<'_>, row: &ThreadRow, details: &ThreadDetails) -> Option<Line<'static>> {
    const STEPS: [&str; 4] = ["heads-up", "packet", "compaction", "handoff"];
    let at = match row.thread.phase {
        Phase::Idle | Phase::Proposed => return None,
        Phase::AwaitingJudgment | Phase::AwaitingApproval | Phase::Deferred => None,
        Phase::AwaitingHeadsUp | Phase::AwaitingScratchWrite => Some(0),
        Phase::AwaitingPacket => Some(1),
        Phase::AwaitingCompaction | Phase::Compacting => Some(2),
        Phase::AwaitingHandoff => Some(3),
    };
    let steps = if details.is_inline() { &STEPS[2..3] } else { &STEPS[..] };
    let at = at.filter(|at| *at < steps.len()).or(at.map(|_| 0));
    let mut spans = vec![Span::raw("  ")];
    for (number, step) in steps.iter().enumerate() {
        if number > 0 {
            spans.push(drawing.ink.span(DIM, " → "));
        }
        let (mark, style) = match at {
            Some(at) if number < at => ("✓", GOOD),
            Some(at) if number == at => ("▸", OURS),
            _ => ("·", DIM),
        };
        spans.push(drawing.ink.span(style, format!("{mark} {step}")));
    }
    Some(spans.into())
}

fn decided(drawing: &Drawing<'_>, decision: &Decision) -> Vec<Line<'static>> {
    let when = ago(decision.at_ms, drawing.now.ms);
    let what = render::decided(&decision.verdict());
    let mut lines = vec![drawing.ink.line(&fact(&when, &what))];
    let tokens = decision.compaction.as_ref().map(render::compacted_to);
    let fate = decision.fate.as_ref();
    let fate = fate.filter(|fate| tokens.is_none() || fate.status != FateStatus::CarriedOut);
    let fate = fate.map(|fate| render::outcome_of(fate, drawing.now.ms));
    let came_of_it = tokens.into_iter().chain(fate);
    lines.extend(came_of_it.map(|came| drawing.ink.line(&fact("", &format!("→ {came}")))));
    lines
}
