//! A tolerant parser of TOML: headers, keys and values with their positions, also while they are being typed. Never
//! fails, and does not interpret values.

use std::ops::Range;

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
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut scan = TomlScanner { text, at: start, depth: 0, outline: Self::default() };
        let mut table = Vec::new();
        while scan.skip_to_statement() {
            if scan.peek() == Some('[') {
                table = scan.header();
            } else {
                scan.entry(&table, &['\n']);
            }
        }
        scan.outline
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

/// No known key is deeper.
const MAX_DEPTH: u8 = 16;

struct TomlScanner<'t> {
    text: &'t str,
    at: usize,
    depth: u8,
    outline: TomlOutline,
}

impl TomlScanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.bump();
        }
    }

    fn line_end(&self) -> usize {
        let rest = &self.text[self.at..];
        self.at + rest.find(['\n', '\r']).unwrap_or(rest.len())
    }

    /// Returns false at the end of the text.
    fn skip_to_statement(&mut self) -> bool {
        loop {
            match self.peek() {
                None => return false,
                Some('#') => self.comment(),
                Some(character) if character.is_whitespace() => self.bump(),
                Some(_) => return true,
            }
        }
    }

    fn comment(&mut self) {
        let end = self.line_end();
        self.outline.comments.push(self.at..end);
        self.at = end;
    }

    /// Skips the rest of a line that cannot be parsed.
    fn end_line(&mut self) {
        self.skip_blanks();
        if self.peek() == Some('#') {
            self.comment();
        }
        self.at = self.line_end();
    }

    fn header(&mut self) -> Vec<String> {
        let start = self.at;
        while self.peek() == Some('[') {
            self.bump();
        }
        let path = self.path();
        self.skip_blanks();
        while self.peek() == Some(']') {
            self.bump();
        }
        let names = path.iter().map(|segment| segment.text.clone()).collect();
        self.outline.parts.push(TomlPart::Header(TomlHeader { path, span: start..self.at }));
        self.end_line();
        names
    }

    /// Names with dots between them. The last may be empty while it is being typed.
    fn path(&mut self) -> Vec<Segment> {
        let mut path = Vec::new();
        loop {
            self.skip_blanks();
            path.push(self.name());
            self.skip_blanks();
            if self.peek() != Some('.') {
                return path;
            }
            self.bump();
        }
    }

    fn name(&mut self) -> Segment {
        let start = self.at;
        if let Some(quote @ ('"' | '\'')) = self.peek() {
            let value = self.quoted(quote);
            let TomlValueKind::Text { inside, .. } = value.what else {
                return Segment { text: String::new(), span: value.span };
            };
            return Segment { text: self.text[inside].to_owned(), span: value.span };
        }
        let is_end = |of: char| of.is_whitespace() || "=.[]{}#,\"'".contains(of);
        while self.peek().is_some_and(|of| !is_end(of)) {
            self.bump();
        }
        Segment { text: self.text[start..self.at].to_owned(), span: start..self.at }
    }

    fn entry(&mut self, table: &[String], ends: &[char]) {
        let start = self.at;
        let key = self.path();
        self.skip_blanks();
        let index = self.outline.parts.len();
        let mut entry = TomlEntry {
            table: table.to_vec(),
            key,
            after_sign: None,
            value: None,
            span: start..start,
        };
        entry.span.end = self.at;
        self.outline.parts.push(TomlPart::Entry(entry.clone()));
        if self.peek() == Some('=') {
            self.bump();
            entry.after_sign = Some(self.at);
            self.skip_blanks();
            entry.value = self.value(&entry.path(), ends);
        }
        entry.span.end = self.at;
        if ends == ['\n'] {
            self.end_line();
        }
        // Always advance, even at an unexpected character.
        if self.at == start {
            self.bump();
        }
        self.outline.parts[index] = TomlPart::Entry(entry);
    }

    fn value(&mut self, path: &[String], ends: &[char]) -> Option<TomlValue> {
        match self.peek()? {
            '\n' | '\r' | '#' => None,
            quote @ ('"' | '\'') => Some(self.quoted(quote)),
            '[' if self.depth < MAX_DEPTH => Some(self.deeper(|scan| scan.list(path))),
            '{' if self.depth < MAX_DEPTH => Some(self.deeper(|scan| scan.inline_table(path))),
            _ => {
                let start = self.at;
                let is_end = |of: char| matches!(of, '\n' | '\r' | '#') || ends.contains(&of);
                while self.peek().is_some_and(|of| !is_end(of)) {
                    self.bump();
                }
                let length = self.text[start..self.at].trim_end().len();
                self.at = start + length;
                (length > 0)
                    .then_some(TomlValue { span: start..self.at, what: TomlValueKind::Bare })
            }
        }
    }

    fn deeper(&mut self, scan: impl FnOnce(&mut Self) -> TomlValue) -> TomlValue {
        self.depth += 1;
        let value = scan(self);
        self.depth -= 1;
        value
    }

    /// A single quote ends at the end of its line at the latest; triple quotes may span lines.
    fn quoted(&mut self, quote: char) -> TomlValue {
        let start = self.at;
        let three = quote.to_string().repeat(3);
        let (mark, limit) = if self.text[start..].starts_with(&three) {
            (three, self.text.len())
        } else {
            (quote.to_string(), self.line_end())
        };
        self.at += mark.len();
        let inside = self.at;
        while self.at < limit {
            if self.text[self.at..].starts_with(&mark) {
                let end = self.at;
                self.at += mark.len();
                let what = TomlValueKind::Text { inside: inside..end, closed: true };
                return TomlValue { span: start..self.at, what };
            }
            if quote == '"' && self.peek() == Some('\\') {
                self.bump();
            }
            self.bump();
        }
        self.at = limit.max(inside);
        let what = TomlValueKind::Text { inside: inside..self.at, closed: false };
        TomlValue { span: start..self.at, what }
    }

    /// An unclosed list ends where a line looks like the next statement.
    fn list(&mut self, path: &[String]) -> TomlValue {
        let start = self.at;
        self.bump();
        let mut entries = Vec::new();
        loop {
            let before = self.at;
            while self.peek().is_some_and(|of| of.is_whitespace() || of == ',' || of == '#') {
                if self.peek() == Some('#') { self.comment() } else { self.bump() }
            }
            let first_of_line = self.text[before..self.at].contains('\n');
            match self.peek() {
                None => break,
                Some(']') => {
                    self.bump();
                    break;
                }
                Some('[') if first_of_line => {
                    self.at = before;
                    break;
                }
                Some(of) if first_of_line && self.is_statement(of) => {
                    self.at = before;
                    break;
                }
                Some(_) => match self.value(path, &[',', ']']) {
                    Some(value) => entries.push(value),
                    None => self.bump(),
                },
            }
        }
        TomlValue { span: start..self.at, what: TomlValueKind::List(entries) }
    }

    fn is_statement(&self, first: char) -> bool {
        let line = &self.text[self.at..self.line_end()];
        let key = line.split_once('=').map(|(key, _)| key.trim());
        first.is_ascii_alphabetic() && key.is_some_and(|key| !key.contains(['"', '\'', ',']))
    }

    fn inline_table(&mut self, path: &[String]) -> TomlValue {
        let start = self.at;
        self.bump();
        loop {
            while matches!(self.peek(), Some(' ' | '\t' | ',')) {
                self.bump();
            }
            match self.peek() {
                None | Some('\n' | '\r' | '#') => break,
                Some('}') => {
                    self.bump();
                    break;
                }
                Some(_) => self.entry(path, &[',', '}']),
            }
        }
        TomlValue { span: start..self.at, what: TomlValueKind::Table }
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
        check("a = [\"x\", \nb = 1", &["a=[\"x\"", "b=1"]);
        check("a = [\"x\"\n[t]\nc = 1", &["a=[\"x\"", "[[t]]", "t/c=1"]);
        check("a = { b = \nc = 1", &["a={ b = ", "a/b=", "c=1"]);
        check("= 3\n]\nb = 1", &["=3", "", "b=1"]);
        check("a.\nb = 1", &["a/", "b=1"]);
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
