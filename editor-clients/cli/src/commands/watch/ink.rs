//! Converts the styled text of other commands to styled, sanitized and wrapped lines of a screen. Pure.

use anstream::adapter::WinconBytes;
use anstyle::{AnsiColor, Effects};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// Whether there are colors. Bold and dim are always used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScreenColors {
    Colored,
    Plain,
}

impl ScreenColors {
    pub(super) fn style(self, style: anstyle::Style) -> Style {
        let mut drawn = Style::new();
        let effects = style.get_effects();
        if effects.contains(Effects::BOLD) {
            drawn = drawn.add_modifier(Modifier::BOLD);
        }
        if effects.contains(Effects::DIMMED) {
            drawn = drawn.add_modifier(Modifier::DIM);
        }
        match (self, style.get_fg_color()) {
            (Self::Colored, Some(anstyle::Color::Ansi(color))) => drawn.fg(shade(color)),
            _ => drawn,
        }
    }

    pub(super) fn span(self, style: anstyle::Style, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.style(style))
    }

    /// Converts a line with ANSI styles.
    pub(super) fn line(self, printed: &str) -> Line<'static> {
        let mut bytes = WinconBytes::new();
        let parts = bytes.extract_next(printed.as_bytes());
        parts.map(|(style, text)| self.span(style, text)).collect::<Vec<_>>().into()
    }

    pub(super) fn lines<'l>(
        self,
        printed: impl IntoIterator<Item = &'l String>,
    ) -> Vec<Line<'static>> {
        printed.into_iter().map(|line| self.line(line)).collect()
    }
}

/// Converts a style that other commands use.
const fn shade(color: AnsiColor) -> Color {
    match color {
        AnsiColor::Red => Color::Red,
        AnsiColor::Green => Color::Green,
        AnsiColor::Yellow => Color::Yellow,
        AnsiColor::Cyan => Color::Cyan,
        _ => Color::Reset,
    }
}

/// Wraps lines to `width` columns between words, with indented continuation lines.
pub(super) fn wrapped(line: &Line<'_>, width: usize, indent: usize) -> Vec<Line<'static>> {
    let mut wrapping = Wrapping { lines: Vec::new(), line: Vec::new(), used: 0, width, indent };
    let mut word: Vec<(String, Style, usize)> = Vec::new();
    for letter in line.styled_graphemes(Style::default()) {
        let columns = Span::raw(letter.symbol).width();
        if letter.symbol == " " {
            wrapping.write_word(&std::mem::take(&mut word));
            wrapping.space(letter.style);
        } else {
            word.push((letter.symbol.to_owned(), letter.style, columns));
        }
    }
    wrapping.write_word(&word);
    wrapping.lines.push(wrapping.line.into());
    wrapping.lines
}

struct Wrapping {
    lines: Vec<Line<'static>>,
    line: Vec<Span<'static>>,
    used: usize,
    width: usize,
    indent: usize,
}

impl Wrapping {
    fn write_word(&mut self, word: &[(String, Style, usize)]) {
        let columns: usize = word.iter().map(|(_, _, columns)| columns).sum();
        let begun = self.used > self.indent.min(self.width / 2);
        if begun && self.used + columns > self.width {
            self.next_line();
        }
        for (letter, style, columns) in word {
            if self.used + columns > self.width && self.used > 0 {
                self.next_line();
            }
            self.write(letter, *style, *columns);
        }
    }

    fn space(&mut self, style: Style) {
        if self.used < self.width {
            self.write(" ", style, 1);
        }
    }

    fn write(&mut self, letter: &str, style: Style, columns: usize) {
        self.used += columns;
        match self.line.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(letter),
            _ => self.line.push(Span::styled(letter.to_owned(), style)),
        }
    }

    fn next_line(&mut self) {
        self.lines.push(std::mem::take(&mut self.line).into());
        self.used = 0;
        let indent = self.indent.min(self.width / 2);
        if indent > 0 {
            self.write(&" ".repeat(indent), Style::default(), indent);
        }
    }
}
