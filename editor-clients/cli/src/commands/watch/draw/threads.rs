//! The list of threads, two lines each: name, then usage and phase. Only the visible ones are rendered.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span, Text};

use super::Drawing;
use crate::commands::watch::view::ThreadRow;
use crate::render::{BOLD, DIM, OURS, WARN, ago, pressure, thread_name, tier_style};
use rawr_host::text::{columns, one_line};
use rawr_protocol::Phase;

const LINES: usize = 2;
const BAR: u8 = 10;

pub(super) fn threads(drawing: &Drawing<'_>, frame: &mut Frame<'_>, area: Rect) {
    let view = drawing.view;
    if view.threads.is_empty() {
        let line = drawing.ink.span(DIM, "no threads yet: new ones appear here");
        frame.render_widget(Text::from(super::wrapped(&line.into(), area.width.into(), 0)), area);
        return;
    }
    let fit = (usize::from(area.height) / LINES).max(1);
    let at = view.position().unwrap_or(0);
    let first = at.saturating_sub(fit / 2).min(view.threads.len().saturating_sub(fit));
    let rows = view.threads.iter().enumerate().skip(first).take(fit);
    let lines = rows.flat_map(|(number, row)| row_lines(drawing, row, number == at, area.width));
    frame.render_widget(Text::from_iter(lines), area);
}

fn row_lines(
    drawing: &Drawing<'_>,
    row: &ThreadRow,
    is_selected: bool,
    width: u16,
) -> [Line<'static>; LINES] {
    let (ink, thread) = (drawing.ink, &row.thread);
    let mark = if is_selected { "›" } else { " " };
    let guarded = if row.guards > 0 { " guarded" } else { "" };
    let end = match &thread.owner {
        Some(owner) => format!("  {}", one_line(owner, width.into())),
        None => format!("  {}", ago(thread.updated_at_ms, drawing.now.ms)),
    };
    // The name matters more than who runs the thread.
    let room = usize::from(width).saturating_sub(2 + columns(guarded));
    let named = one_line(&thread_name(thread), room.saturating_sub(columns(&end)).max(room / 2));
    let name = vec![
        ink.span(OURS, format!("{mark} ")),
        ink.span(BOLD, named),
        ink.span(WARN, guarded),
        ink.span(DIM, end),
    ];
    let mut state = vec![Span::raw("  ")];
    if thread.phase == Phase::Idle {
        state.extend(bar(drawing, row));
        state.extend(ink.line(&pressure(thread.percent_remaining, thread.tier)).spans);
    } else {
        let (style, _) = tier_style(thread.tier);
        let left = thread.percent_remaining.map(|percent| format!("{percent}% left · "));
        let left = left.unwrap_or_default();
        let room = usize::from(width).saturating_sub(2 + columns(&left));
        state.push(ink.span(style, left));
        state.push(ink.span(WARN, one_line(thread.phase.label(), room)));
    }
    let style = match is_selected {
        true => Style::new().add_modifier(Modifier::REVERSED),
        false => Style::new(),
    };
    [Line::from(name).style(style), Line::from(state)]
}

/// A bar of the percentage left, in tenths.
fn bar(drawing: &Drawing<'_>, row: &ThreadRow) -> Vec<Span<'static>> {
    let Some(percent) = row.thread.percent_remaining else { return Vec::new() };
    let full = usize::from((percent.min(100) + BAR / 2) / BAR);
    let (style, _) = tier_style(row.thread.tier);
    let empty = usize::from(BAR) - full.min(BAR.into());
    vec![
        drawing.ink.span(style, "█".repeat(full)),
        drawing.ink.span(DIM, "░".repeat(empty)),
        Span::raw(" "),
    ]
}
