//! Cuts the middle out of a text and leaves a mark with the number of tokens.

use super::Count;
use std::fmt;

const MARK: (&str, &str) = ("\n[… ", " tokens cut …]\n");

/// Both ends of a text, and how many tokens were cut between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shortened<'t> {
    start: &'t str,
    end: &'t str,
    cut: u64,
}

impl<'t> Shortened<'t> {
    /// Splits a text at the mark of an earlier cut, or in the middle.
    pub(super) fn read(text: &'t str) -> Self {
        let marked = text.match_indices(MARK.0).find_map(|(at, _)| {
            let rest = &text[at + MARK.0.len()..];
            let (cut, rest) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
            let cut = cut.parse().ok().filter(|cut| *cut > 0)?;
            Some(Self { start: &text[..at], end: rest.strip_prefix(MARK.1)?, cut })
        });
        marked.unwrap_or_else(|| {
            let (start, end) = text.split_at(beginning(text, text.len() / 2).len());
            Self { start, end, cut: 0 }
        })
    }

    /// The text before and after a cut, or the whole text twice. A cut may join words that were never next to each
    /// other.
    pub(super) fn written(text: &'t str) -> (&'t str, &'t str) {
        let parts = Self::read(text);
        if parts.is_whole() { (text, text) } else { (parts.start, parts.end) }
    }

    pub(super) const fn is_whole(&self) -> bool {
        self.cut == 0
    }

    pub(super) fn tokens(&self, count: Count<'_>) -> u64 {
        count(self.start) + count(self.end)
    }

    /// Shortens both ends to at most this many tokens. `None` if nothing would be left.
    pub(super) fn within(self, tokens: u64, size: u64, count: Count<'_>) -> Option<Self> {
        let mut bytes = scaled(self.start.len() + self.end.len(), tokens, size);
        loop {
            let start = beginning(self.start, bytes / 2);
            let end = ending(self.end, bytes - bytes / 2);
            if start.is_empty() && end.is_empty() {
                return None;
            }
            let kept = Self { start, end, cut: 0 }.tokens(count);
            if kept <= tokens {
                // At least one: a mark with 0 would not be recognized later.
                let cut = self.cut.saturating_add(size.saturating_sub(kept).max(1));
                return Some(Self { start, end, cut });
            }
            bytes = scaled(bytes, tokens, kept).min(bytes.saturating_sub(1));
        }
    }
}

impl fmt::Display for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cut {
            0 => write!(f, "{}{}", self.start, self.end),
            cut => write!(f, "{}{}{cut}{}{}", self.start, MARK.0, MARK.1, self.end),
        }
    }
}

fn scaled(bytes: usize, part: u64, whole: u64) -> usize {
    let scaled = bytes as u128 * u128::from(part) / u128::from(whole.max(1));
    usize::try_from(scaled).unwrap_or(usize::MAX)
}

/// The start of a text, at most this many bytes and whole characters only.
fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

fn ending(text: &str, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    let start = (from..=text.len()).find(|at| text.is_char_boundary(*at));
    &text[start.unwrap_or(text.len())..]
}
