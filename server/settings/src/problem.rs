//! A problem in a file that a person wrote, and its position. Used by every module that reads such files; knows none of
//! them and not the protocol.

mod render;
mod source;
mod toml_text;
pub mod written;

pub use render::{RenderMode, render};
pub use source::{FileStamp, MAX_BYTES, read_text};
pub use toml_text::{from_broken_toml, from_toml};

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How severe a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemSeverity {
    /// The file, or this part of it, is not used.
    Error,
    /// Used, but probably not what was intended.
    Warning,
    /// Could be better.
    Hint,
}

/// A problem in a file that a person wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// Short and stable, for filters and tests.
    pub code: &'static str,
    /// How severe it is.
    pub severity: ProblemSeverity,
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// `None` if the text was sent over the wire.
    pub file: Option<PathBuf>,
    /// A range of bytes in the file's text.
    pub span: Option<Range<usize>>,
    /// What to do about it.
    pub help: Option<ProblemHelp>,
}

/// What to do about a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemHelp {
    /// A sentence.
    Says(String),
    /// The suggested replacement of the name that the span covers, without quotes.
    Meant(&'static str),
}

impl fmt::Display for ProblemHelp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Says(help) => f.write_str(help),
            Self::Meant(name) => write!(f, "did you mean `{name}`?"),
        }
    }
}

impl FileProblem {
    /// A problem that prevents the file, or a part of it, from being used.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, ProblemSeverity::Error, message.into())
    }

    /// A probable mistake.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, ProblemSeverity::Warning, message.into())
    }

    /// A suggestion.
    pub fn hint(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, ProblemSeverity::Hint, message.into())
    }

    const fn new(code: &'static str, severity: ProblemSeverity, message: String) -> Self {
        Self { code, severity, message, file: None, span: None, help: None }
    }

    /// Sets the file.
    pub fn in_file(mut self, file: Option<&Path>) -> Self {
        self.file = file.map(Path::to_owned);
        self
    }

    /// Sets the byte range in the file's text.
    pub fn at(mut self, span: impl Into<Option<Range<usize>>>) -> Self {
        self.span = span.into();
        self
    }

    /// Sets what to do about it, as a sentence.
    pub fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into().map(ProblemHelp::Says);
        self
    }

    /// Sets the suggested name as help. For a typo, that is all the help that is needed.
    pub fn meant(mut self, meant: Option<&'static str>) -> Self {
        if let Some(meant) = meant {
            self.help = Some(ProblemHelp::Meant(meant));
        }
        self
    }
}

/// The most problems to report of one file, which may come from an untrusted repository.
pub const MOST_IN_A_FILE: usize = 100;

/// Truncates the problems of each file, and adds how many more there are.
pub fn capped(problems: Vec<FileProblem>) -> Vec<FileProblem> {
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
            kept.push(FileProblem::warning("more-problems", message).in_file(file.as_deref()));
        }
    }
    kept
}

/// A position as editors count: lines from 0, and UTF-16 code units from the start of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Utf16Position {
    /// From 0.
    pub line: u32,
    /// In UTF-16 code units, from 0.
    pub character: u32,
}

/// The start and end of a span. A span that does not fit the text, because the file has changed since, is clamped.
pub fn positions(source: &str, span: &Range<usize>) -> Range<Utf16Position> {
    position(source, span.start)..position(source, span.end.max(span.start))
}

fn position(source: &str, at: usize) -> Utf16Position {
    let before = &source[..floor_boundary(source, at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    let character = before[line_start..].chars().map(char::len_utf16).sum::<usize>();
    Utf16Position {
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
        let pair = |position: Utf16Position| (position.line, position.character);
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
