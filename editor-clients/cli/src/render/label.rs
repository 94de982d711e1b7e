//! Prints a turn for `rawr label`: what was asked, what the agent said last, and what came next.

use std::fmt::Write as _;

use anstyle::Style;
use rawr_analysis::replay::{ReplayedTurn, TurnTexts};
use rawr_host::text::sanitize_terminal;

use super::palette::paint;
use super::text::number;

const BOLD: Style = Style::new().bold();

/// A turn to ask about.
pub(crate) struct Question<'r> {
    pub(crate) session: &'r str,
    pub(crate) turn: &'r ReplayedTurn,
    pub(crate) texts: &'r TurnTexts,
    pub(crate) next: Option<&'r str>,
}

pub(crate) fn show(question: &Question<'_>, at: usize, of: usize) -> String {
    let Question { session, turn, texts, next } = question;
    let head = format!("{at} of {of}: session {}, turn {}", sanitize_terminal(session), turn.turn);
    let mut out = format!("\n{}\n", paint(BOLD, &head));
    let (commands, failed) = (turn.commands, turn.failed_commands);
    let tokens = turn.tokens.map(|tokens| format!(", {} tokens", number(tokens.0)));
    let _ = writeln!(out, "{commands} commands, {failed} failed{}", tokens.unwrap_or_default());
    let parts = [
        ("You:", texts.request.as_deref()),
        ("Agent:", texts.last_message.as_deref()),
        ("Next:", *next),
    ];
    for (name, text) in parts {
        let text = sanitize_terminal(text.unwrap_or("(none)")).replace('\n', "\n    ");
        let _ = writeln!(out, "{} {text}", paint(BOLD, name));
    }
    out
}
