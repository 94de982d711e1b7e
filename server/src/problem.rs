//! What is wrong with something that a person wrote, and where. Used by every room that reads such files; it must
//! not know any of them, nor the protocol.

mod render;
mod source;
pub(crate) mod written;

pub use render::{RenderMode, render};
pub use source::{MAX_BYTES, Stamp, read_text};

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file, or this part of it, is not in force.
    Error,
    /// It is in force and likely not what was meant.
    Warning,
    /// It could be better.
    Hint,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Stable and short, for filters and tests.
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    /// `None` where the text came over the wire.
    pub file: Option<PathBuf>,
    /// Bytes of the file's text.
    pub span: Option<Range<usize>>,
    /// What to do about it.
    pub help: Option<Help>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Help {
    Says(String),
    /// The name that was likely meant by the one that the span covers, quotes left out.
    Meant(&'static str),
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Says(help) => f.write_str(help),
            Self::Meant(name) => write!(f, "did you mean `{name}`?"),
        }
    }
}

impl Problem {
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    pub fn hint(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Hint, message.into())
    }

    const fn new(code: &'static str, severity: Severity, message: String) -> Self {
        Self { code, severity, message, file: None, span: None, help: None }
    }

    pub fn in_file(mut self, file: Option<&Path>) -> Self {
        self.file = file.map(Path::to_owned);
        self
    }

    pub fn at(mut self, span: impl Into<Option<Range<usize>>>) -> Self {
        self.span = span.into();
        self
    }

    pub fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into().map(Help::Says);
        self
    }

    /// Where it is a slip of the pen, the name that was likely meant is all the help that it needs.
    pub fn meant(mut self, meant: Option<&'static str>) -> Self {
        if let Some(meant) = meant {
            self.help = Some(Help::Meant(meant));
        }
        self
    }
}

/// More than this in one file is noise, and a file of a stranger's could hold any number.
pub const MOST_IN_A_FILE: usize = 100;

/// The first problems of each file, and how many more it has.
pub fn capped(problems: Vec<Problem>) -> Vec<Problem> {
    let mut counts: BTreeMap<Option<PathBuf>, usize> = BTreeMap::new();
    let mut kept = problems;
    kept.retain(|problem| {
        let count = counts.entry(problem.file.clone()).or_default();
        *count += 1;
        *count <= MOST_IN_A_FILE
    });
    for (file, count) in counts {
        if let Some(more) = count.checked_sub(MOST_IN_A_FILE).filter(|more| *more > 0) {
            let message = format!("{more} more problems in this file are not shown");
            kept.push(Problem::warning("more-problems", message).in_file(file.as_deref()));
        }
    }
    kept
}

/// A place in a text as editors count: lines from 0, and UTF-16 code units from the start of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u32,
    pub character: u32,
}

/// Where a span begins and where it has ended. A span that does not fit the text, because the file has changed
/// since, is clamped to it.
pub fn positions(source: &str, span: &Range<usize>) -> Range<Position> {
    position(source, span.start)..position(source, span.end.max(span.start))
}

fn position(source: &str, at: usize) -> Position {
    let before = &source[..floor_boundary(source, at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    let character = before[line_start..].chars().map(char::len_utf16).sum::<usize>();
    Position {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        character: u32::try_from(character).unwrap_or(u32::MAX),
    }
}

fn floor_boundary(source: &str, at: usize) -> usize {
    let at = at.min(source.len());
    (0..=at).rev().find(|at| source.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, span: Range<usize>, start: (u32, u32), end: (u32, u32)) {
        let found = positions(source, &span);
        let pair = |position: Position| (position.line, position.character);
        assert_eq!((pair(found.start), pair(found.end)), (start, end), "{source:?} {span:?}");
    }

    #[test]
    fn columns_are_utf_16_units() {
        check("a = 1", 4..5, (0, 4), (0, 5));
        check("é = 1", 5..6, (0, 4), (0, 5));
        check("\u{1f980} = 1", 7..8, (0, 5), (0, 6));
    }

    #[test]
    fn lines_count_from_zero_and_a_span_may_cross_them() {
        check("a\nbc\nd", 3..6, (1, 1), (2, 1));
        check("a\r\nb", 3..4, (1, 0), (1, 1));
        check("a\n", 2..2, (1, 0), (1, 0));
    }

    #[test]
    fn a_span_outside_of_the_text_or_inside_a_character_is_clamped() {
        check("ab", 9..12, (0, 2), (0, 2));
        check("é", 1..2, (0, 0), (0, 1));
        check("", 0..1, (0, 0), (0, 0));
    }
}
