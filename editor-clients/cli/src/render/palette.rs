//! The colors and the width of everything that is shown to people.

use anstyle::{AnsiColor, Style};

/// The widest line of running text.
pub(super) const WIDTH: usize = 96;

pub const DIM: Style = Style::new().dimmed();
pub const BOLD: Style = Style::new().bold();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const WARN: Style = AnsiColor::Yellow.on_default();
pub const OURS: Style = AnsiColor::Cyan.on_default();

pub(super) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
