//! Headers, keys and values of TOML with their positions, also while they are being typed. Values are not interpreted.

use std::mem;
use std::ops::Range;
use toml_parser::decoder::Encoding;
use toml_parser::lexer::{Token, TokenKind};
use toml_parser::parser::{EventReceiver, parse_document};
use toml_parser::{ErrorSink, Source, Span};

/// One name of a dotted path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub text: String,
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TomlPart {
    Header(TomlHeader),
    Entry(TomlEntry),
}

/// `[a.b]`, closed or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TomlHeader {
    pub path: Vec<Segment>,
    /// Brackets included.
    pub span: Range<usize>,
}

/// `key = value`, or the beginning of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TomlEntry {
    /// The table that contains it.
    pub table: Vec<String>,
    pub key: Vec<Segment>,
    /// Behind the `=`, if there is one.
    pub after_sign: Option<usize>,
    pub value: Option<TomlValue>,
    /// The whole entry.
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TomlValue {
    pub span: Range<usize>,
    pub what: TomlValueKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TomlValueKind {
    /// A string, and its range between the quotes. `closed` is false if the line ends first.
    Text {
        inside: Range<usize>,
        closed: bool,
    },
    List(Vec<TomlValue>),
    /// A table, whose entries are separate parts.
    Table,
    Bare,
}

impl TomlEntry {
    /// The full path, including tables of models.
    pub fn path(&self) -> Vec<String> {
        self.table.iter().cloned().chain(self.key.iter().map(|of| of.text.clone())).collect()
    }

    pub fn key_span(&self) -> Range<usize> {
        let end = self.key.last().map_or(self.span.start, |last| last.span.end);
        self.key.first().map_or(self.span.start, |first| first.span.start)..end
    }
}

/// All parts in order, and the comments.
#[derive(Debug, Default)]
pub struct TomlOutline {
    pub parts: Vec<TomlPart>,
    pub comments: Vec<Range<usize>>,
}

impl TomlOutline {
    pub fn of(text: &str) -> Self {
        let tokens = Source::new(text).lex().into_vec();
        let mut outliner = Outliner { text, ..Outliner::default() };
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            let statements;
            (statements, rest) = rest.split_at(length_of_statements(rest));
            parse_document(statements, &mut outliner, &mut ());
            outliner.end_statement();
            outliner.open.clear();
        }
        outliner.outline
    }

    pub fn entries(&self) -> impl Iterator<Item = &TomlEntry> {
        self.parts.iter().filter_map(|part| match part {
            TomlPart::Entry(entry) => Some(entry),
            TomlPart::Header(_) => None,
        })
    }

    pub fn headers(&self) -> impl Iterator<Item = &TomlHeader> {
        self.parts.iter().filter_map(|part| match part {
            TomlPart::Header(header) => Some(header),
            TomlPart::Entry(_) => None,
        })
    }

    /// The table that contains a line at this position.
    pub fn table_at(&self, at: usize) -> Vec<String> {
        let before = self.headers().take_while(|header| header.span.end <= at).last();
        before.map_or_else(Vec::new, |header| {
            header.path.iter().map(|segment| segment.text.clone()).collect()
        })
    }
}

/// Up to the next line that looks like a statement. The parser would take it for a part of a list or a table that is not
/// closed yet.
fn length_of_statements(tokens: &[Token]) -> usize {
    let ends = tokens.iter().enumerate().filter(|(_, token)| token.kind() == TokenKind::Newline);
    let mut starts = ends.map(|(at, _)| at + 1);
    starts.find(|at| is_statement(&tokens[*at..])).unwrap_or(tokens.len())
}

/// Whether a line begins with a name and `=`, or is a header, closed or not.
fn is_statement(line: &[Token]) -> bool {
    let mut rest = line.iter().map(Token::kind).peekable();
    let mut skip = |skipped: &[TokenKind]| {
        let mut any = false;
        while rest.next_if(|kind| skipped.contains(kind)).is_some() {
            any = true;
        }
        (any, rest.peek().copied())
    };
    let name = [TokenKind::Atom, TokenKind::Dot, TokenKind::Whitespace];
    skip(&[TokenKind::Whitespace]);
    if !skip(&[TokenKind::LeftSquareBracket]).0 {
        let (named, next) = skip(&name);
        return named && next == Some(TokenKind::Equals);
    }
    skip(&[
        TokenKind::Atom,
        TokenKind::Dot,
        TokenKind::Whitespace,
        TokenKind::BasicString,
        TokenKind::LiteralString,
    ]);
    skip(&[TokenKind::RightSquareBracket]);
    let (_, next) = skip(&[TokenKind::Whitespace]);
    matches!(next, None | Some(TokenKind::Newline | TokenKind::Comment | TokenKind::Eof))
}

/// No known key is deeper.
const MAX_DEPTH: usize = 16;

/// What a value may belong to.
enum Open {
    /// The entry at this index.
    Entry(usize),
    List {
        start: usize,
        values: Vec<TomlValue>,
    },
    Table {
        start: usize,
    },
}

/// Builds the outline from what the parser finds.
#[derive(Default)]
struct Outliner<'t> {
    text: &'t str,
    outline: TomlOutline,
    /// The table whose entries are being read.
    table: Vec<String>,
    /// The start of the header that is being read.
    header: Option<usize>,
    /// The names of the header or the entry so far.
    names: Vec<Segment>,
    open: Vec<Open>,
}

impl Outliner<'_> {
    fn end_header(&mut self, end: usize) {
        let Some(start) = self.header.take() else { return };
        let path = mem::take(&mut self.names);
        self.table = path.iter().map(|segment| segment.text.clone()).collect();
        self.outline.parts.push(TomlPart::Header(TomlHeader { path, span: start..end }));
    }

    /// An entry whose value follows, unless it has no sign.
    fn entry(&mut self, after_sign: Option<usize>) {
        let key = mem::take(&mut self.names);
        let (Some(first), Some(last)) = (key.first(), key.last()) else { return };
        let span = first.span.start..after_sign.unwrap_or(last.span.end);
        let containing = self.open.iter().rev().find_map(|open| match open {
            Open::Entry(at) => Some(*at),
            Open::List { .. } | Open::Table { .. } => None,
        });
        let table = match containing.and_then(|at| self.outline.parts.get(at)) {
            Some(TomlPart::Entry(entry)) => entry.path(),
            _ => self.table.clone(),
        };
        let entry = TomlEntry { table, key, after_sign, value: None, span };
        self.outline.parts.push(TomlPart::Entry(entry));
    }

    fn end_statement(&mut self) {
        let end = self.names.last().map(|last| last.span.end);
        match self.header {
            Some(start) => self.end_header(end.unwrap_or(start + 1)),
            None => self.entry(None),
        }
    }

    /// A value that is missing ends its entry, too.
    fn value(&mut self, value: Option<TomlValue>) {
        match self.open.last_mut() {
            Some(Open::List { values, .. }) => values.extend(value),
            Some(Open::Entry(at)) => {
                if let Some(TomlPart::Entry(entry)) = self.outline.parts.get_mut(*at)
                    && let Some(value) = value
                {
                    entry.span.end = value.span.end;
                    entry.value = Some(value);
                }
                self.open.pop();
            }
            Some(Open::Table { .. }) | None => {}
        }
    }

    /// Ends the innermost list or table.
    fn close(&mut self, end: usize) {
        let closed = loop {
            match self.open.pop() {
                None => return,
                Some(Open::Entry(_)) => {}
                Some(Open::List { start, values }) => break (start, TomlValueKind::List(values)),
                Some(Open::Table { start }) => break (start, TomlValueKind::Table),
            }
        };
        let (start, what) = closed;
        self.value(Some(TomlValue { span: start..end, what }));
    }

    /// The range between the quotes, and whether the last is there.
    fn inside(&self, span: Span, encoding: Encoding) -> (Range<usize>, bool) {
        let mark = match encoding {
            Encoding::LiteralString => "'",
            Encoding::BasicString => "\"",
            Encoding::MlLiteralString => "'''",
            Encoding::MlBasicString => "\"\"\"",
        };
        let start = span.start() + mark.len();
        let rest = &self.text[start..span.end()];
        let closed = rest.strip_suffix(mark).filter(|inside| {
            let escapes = inside.len() - inside.trim_end_matches('\\').len();
            mark.starts_with('\'') || escapes.is_multiple_of(2)
        });
        let inside = closed.unwrap_or_else(|| rest.trim_end_matches('\r'));
        (start..start + inside.len(), closed.is_some())
    }
}

impl EventReceiver for Outliner<'_> {
    fn std_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.end_statement();
        self.header = Some(span.start());
    }

    fn std_table_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.end_header(span.end());
    }

    fn array_table_open(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.std_table_open(span, error);
    }

    fn array_table_close(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.std_table_close(span, error);
    }

    fn inline_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) -> bool {
        self.open.push(Open::Table { start: span.start() });
        self.open.len() < MAX_DEPTH
    }

    fn inline_table_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.entry(None);
        self.close(span.end());
    }

    fn array_open(&mut self, span: Span, _: &mut dyn ErrorSink) -> bool {
        self.open.push(Open::List { start: span.start(), values: Vec::new() });
        self.open.len() < MAX_DEPTH
    }

    fn array_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.close(span.end());
    }

    fn simple_key(&mut self, span: Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        let whole = span.start()..span.end();
        let inside = encoding.map_or(whole.clone(), |encoding| self.inside(span, encoding).0);
        self.names.push(Segment { text: self.text[inside].to_owned(), span: whole });
    }

    fn key_val_sep(&mut self, span: Span, _: &mut dyn ErrorSink) {
        let is_written = !span.is_empty();
        self.entry(is_written.then(|| span.end()));
        self.open.push(Open::Entry(self.outline.parts.len() - 1));
    }

    fn scalar(&mut self, span: Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        if span.is_empty() {
            return self.value(None);
        }
        let (end, what) = match encoding {
            None => (span.end(), TomlValueKind::Bare),
            Some(encoding) => {
                let (inside, closed) = self.inside(span, encoding);
                let end = if closed { span.end() } else { inside.end };
                (end, TomlValueKind::Text { inside, closed })
            }
        };
        self.value(Some(TomlValue { span: span.start()..end, what }));
    }

    fn value_sep(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.entry(None);
    }

    fn comment(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.outline.comments.push(span.start()..span.end());
    }

    fn newline(&mut self, _: Span, _: &mut dyn ErrorSink) {
        if self.open.is_empty() {
            self.end_statement();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let outline = TomlOutline::of(text);
        let shown: Vec<_> = outline
            .parts
            .iter()
            .map(|part| match part {
                TomlPart::Header(header) => format!("[{}]", &text[header.span.clone()]),
                TomlPart::Entry(entry) => {
                    let value = entry.value.as_ref().map(|value| &text[value.span.clone()]);
                    let sign = if entry.after_sign.is_some() { "=" } else { "" };
                    format!("{}{sign}{}", entry.path().join("/"), value.unwrap_or_default())
                }
            })
            .collect();
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn complete_files_are_parsed() {
        check("a = 1 # c\n[t.\"x.y\"]\nb.c = 'd'\n", &["a=1", "[[t.\"x.y\"]]", "t/x.y/b/c='d'"]);
        check(
            "a = [\n \"x\", # c\n \"y\",\n]\nb = true\r\n",
            &["a=[\n \"x\", # c\n \"y\",\n]", "b=true"],
        );
        check("a = [\n [1],\n [2],\n]\nb = 1", &["a=[\n [1],\n [2],\n]", "b=1"]);
        check(
            "a = { b = 1, c = \"}\" }\nd = \"\"\"x\n[y]\"\"\"\ne = 1",
            &["a={ b = 1, c = \"}\" }", "a/b=1", "a/c=\"}\"", "d=\"\"\"x\n[y]\"\"\"", "e=1"],
        );
        check("\u{feff}[a]\nb = \"\\\"#\" # c", &["[[a]]", "a/b=\"\\\"#\""]);
    }

    #[test]
    fn incomplete_statements_do_not_hide_what_follows() {
        check("mo\n[t", &["mo", "[[t]"]);
        check("a =\nb = \"x\n[t]\nc = 1", &["a=", "b=\"x", "[[t]]", "t/c=1"]);
        check("a = [\"x\", \nb = 1", &["a=[\"x\",", "b=1"]);
        check("a = [\"x\"\n[t]\nc = 1", &["a=[\"x\"", "[[t]]", "t/c=1"]);
        check("a = { b = \nc = 1", &["a={ b =", "a/b=", "c=1"]);
        check("= 3\n]\nb = 1", &["=3", "b=1"]);
        check("a.\nb = 1", &["a/", "b=1"]);
        check("a = \"x\\\"\r\nb = 1", &["a=\"x\\\"", "b=1"]);
    }

    #[test]
    fn parsing_always_terminates() {
        for text in ["[", "[[[", "\"", "'''", "{", "a={", "a=[[[", "=", ",", "}", "a = [}", "é = ["]
        {
            TomlOutline::of(text);
        }
        TomlOutline::of(&"a = [".repeat(40_000));
        TomlOutline::of(&format!("a = {}", "[{".repeat(40_000)));
    }
}
