//! A text that is being edited: its lines, and positions in it as editors count them.

use line_index::{LineCol, LineIndex, TextSize, WideEncoding, WideLineCol};
use std::ops::Range;

/// The unit of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PositionEncoding {
    Utf8,
    #[default]
    Utf16,
}

/// Lines from 0, columns from 0 in units of the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EditorPosition {
    pub line: u32,
    pub character: u32,
}

/// One change of a text. Without a range, it replaces the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    pub at: Option<Range<EditorPosition>>,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorText {
    text: String,
    lines: LineIndex,
}

impl Default for EditorText {
    fn default() -> Self {
        Self::from(String::new())
    }
}

impl From<String> for EditorText {
    fn from(text: String) -> Self {
        let lines = line_index(&text);
        Self { text, lines }
    }
}

impl EditorText {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Positions outside of the text are clamped.
    pub fn change(&mut self, change: &TextChange, encoding: PositionEncoding) {
        match &change.at {
            None => self.text.clone_from(&change.text),
            Some(at) => {
                let (from, to) = (self.offset(at.start, encoding), self.offset(at.end, encoding));
                self.text.replace_range(from.min(to)..from.max(to), &change.text);
            }
        }
        self.lines = line_index(&self.text);
    }

    /// A column behind the end of its line is the end of the line; one inside a character, the start of the character.
    pub fn offset(&self, position: EditorPosition, encoding: PositionEncoding) -> usize {
        let EditorPosition { line, character: col } = position;
        let Some(range) = self.lines.line(line).map(Range::<usize>::from) else {
            return self.text.len();
        };
        let length = self.text[range.clone()].trim_end_matches(['\r', '\n']).len();
        let column = match encoding {
            PositionEncoding::Utf8 => Some(LineCol { line, col }),
            PositionEncoding::Utf16 => {
                self.lines.to_utf8(WideEncoding::Utf16, WideLineCol { line, col })
            }
        };
        let column = column.and_then(|at| usize::try_from(at.col).ok()).unwrap_or(length);
        floor(&self.text, range.start + column.min(length))
    }

    pub fn position(&self, offset: usize, encoding: PositionEncoding) -> EditorPosition {
        let offset = TextSize::try_from(floor(&self.text, offset)).ok();
        let at = offset.and_then(|offset| self.lines.try_line_col(offset));
        let at = at.unwrap_or(LineCol { line: 0, col: 0 });
        let character = match encoding {
            PositionEncoding::Utf8 => at.col,
            PositionEncoding::Utf16 => {
                self.lines.to_wide(WideEncoding::Utf16, at).map_or(0, |wide| wide.col)
            }
        };
        EditorPosition { line: at.line, character }
    }

    pub fn positions(
        &self,
        span: &Range<usize>,
        encoding: PositionEncoding,
    ) -> Range<EditorPosition> {
        self.position(span.start, encoding)..self.position(span.end.max(span.start), encoding)
    }
}

/// Editors end a line at `\n`, `\r\n` and a lone `\r`; the index knows `\n` alone.
fn line_index(text: &str) -> LineIndex {
    if text.contains('\r') {
        LineIndex::new(&text.replace("\r\n", " \n").replace('\r', "\n"))
    } else {
        LineIndex::new(text)
    }
}

fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOTH: [PositionEncoding; 2] = [PositionEncoding::Utf8, PositionEncoding::Utf16];

    fn check(text: &str, offset: usize, utf8: (u32, u32), utf16: (u32, u32)) {
        let text = EditorText::from(text.to_owned());
        for (encoding, (line, character)) in BOTH.into_iter().zip([utf8, utf16]) {
            let position = EditorPosition { line, character };
            assert_eq!(text.position(offset, encoding), position, "{text:?} {encoding:?}");
            assert_eq!(text.offset(position, encoding), offset, "{text:?} {encoding:?}");
        }
    }

    #[test]
    fn columns_count_bytes_or_utf_16_units() {
        check("a = 1", 4, (0, 4), (0, 4));
        check("é = 1", 5, (0, 5), (0, 4));
        check("\u{1f980}\t{x}", 5, (0, 5), (0, 3));
        check("\u{feff}ab", 4, (0, 4), (0, 2));
    }

    #[test]
    fn lines_end_with_any_line_end() {
        check("a\nb", 2, (1, 0), (1, 0));
        check("a\r\nb", 3, (1, 0), (1, 0));
        check("a\rb", 2, (1, 0), (1, 0));
        check("a\n", 2, (1, 0), (1, 0));
        check("", 0, (0, 0), (0, 0));
    }

    #[test]
    fn positions_outside_are_clamped() {
        let text = EditorText::from("é\u{1f980}\r\nb".to_owned());
        for encoding in BOTH {
            let at = |line, character| text.offset(EditorPosition { line, character }, encoding);
            assert_eq!(at(0, 900), 6, "the end of the line is before its line end");
            assert_eq!(at(9, 0), text.as_str().len());
            assert_eq!(at(u32::MAX, u32::MAX), text.as_str().len());
        }
        let inside = EditorPosition { line: 0, character: 2 };
        assert_eq!(text.offset(inside, PositionEncoding::Utf16), 2, "inside a surrogate pair");
        assert_eq!(
            text.position(900, PositionEncoding::Utf8),
            EditorPosition { line: 1, character: 1 }
        );
    }

    fn texts() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just("\r\n"),
            Just("\n"),
            Just("\r"),
            Just("\u{1f980}"),
            Just("é"),
            Just("\u{feff}"),
            Just("\t"),
            Just("{a}")
        ];
        proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn incremental_edits_equal_a_full_replace(
            before in texts(),
            edits in proptest::collection::vec((any::<u16>(), any::<u16>(), texts()), 1..6),
            encoding in prop_oneof![Just(PositionEncoding::Utf8), Just(PositionEncoding::Utf16)],
        ) {
            let mut edited = EditorText::from(before.clone());
            let mut whole = before;
            for (from, to, with) in edits {
                let place = |at: u16| {
                    let at = floor(&whole, usize::from(at) % (whole.len() + 1));
                    // No position can address the byte between `\r` and `\n`.
                    if whole[..at].ends_with('\r') && whole[at..].starts_with('\n') { at - 1 } else { at }
                };
                let (a, b) = (place(from), place(to));
                let span = a.min(b)..a.max(b);
                let at = edited.positions(&span, encoding);
                edited.change(&TextChange { at: Some(at), text: with.clone() }, encoding);
                whole.replace_range(span, &with);
                prop_assert_eq!(edited.as_str(), &whole);
                prop_assert_eq!(&edited, &EditorText::from(whole.clone()));
            }
        }
    }
}
