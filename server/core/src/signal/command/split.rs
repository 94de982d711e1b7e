//! Splits a command line into simple commands and words.

use crate::steps;

#[derive(Debug)]
pub(super) struct Simple {
    pub words: Vec<String>,
    pub then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Then {
    And,
    Or,
    Pipe,
    Background,
    Next,
    End,
}

/// Cuts a line at its unquoted operators; the words of each piece are read by the shell-word library.
/// What that cannot parse (an open quote, for example) yields no words, and so no boundary.
pub(super) fn split(line: &str) -> Vec<Simple> {
    let mut commands: Vec<Simple> = Vec::new();
    let mut reader = Reader { rest: line, here_documents: Vec::new() };
    loop {
        let (piece, then) = reader.piece();
        steps::add(piece.len() + 1);
        let words = words(&piece);
        if !words.is_empty() {
            commands.push(Simple { words, then });
        } else if let Some(last) = commands.last_mut()
            && last.then == Then::Next
        {
            last.then = then;
        }
        if then == Then::End {
            return commands;
        }
    }
}

fn words(piece: &str) -> Vec<String> {
    // Most pieces are plain, and the library reads each byte for itself.
    if piece.bytes().any(|byte| matches!(byte, b'\\' | b'\'' | b'"' | b'#')) {
        return shlex::split(piece).unwrap_or_default();
    }
    let words = piece.split([' ', '\t', '\n']).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

struct Reader<'l> {
    rest: &'l str,
    /// The closing words of here-documents whose bodies begin after this line.
    here_documents: Vec<String>,
}

impl Reader<'_> {
    /// The text up to the next unquoted operator, without comments and here-documents, and that operator.
    fn piece(&mut self) -> (String, Then) {
        let mut piece = String::new();
        while let Some(c) = self.rest.chars().next() {
            let two = self.rest.as_bytes().get(..2).unwrap_or_default();
            let length = match c {
                '\\' => 1 + self.rest[1..].chars().next().map_or(0, char::len_utf8),
                '\'' | '"' => quoted(self.rest, c),
                '#' if piece.is_empty() || piece.ends_with(char::is_whitespace) => {
                    self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
                    continue;
                }
                '<' if self.rest.starts_with("<<<") => 3,
                '<' if two == b"<<" => {
                    self.here_documents.extend(closing_word(&self.rest[2..]));
                    2
                }
                '>' | '<' if matches!(two, b">&" | b"<&" | b">|") => 2,
                '&' if two == b"&>" => 2,
                '&' if two == b"&&" => return (piece, self.operator(2, Then::And)),
                '|' if two == b"||" => return (piece, self.operator(2, Then::Or)),
                '|' => return (piece, self.operator(1, Then::Pipe)),
                '&' => return (piece, self.operator(1, Then::Background)),
                ';' | '(' | ')' => return (piece, self.operator(1, Then::Next)),
                '\n' => {
                    self.skip(1);
                    self.skip_here_documents();
                    return (piece, Then::Next);
                }
                other => other.len_utf8() + plain(&self.rest[other.len_utf8()..]),
            };
            piece.push_str(&self.rest[..length]);
            self.skip(length);
        }
        (piece, Then::End)
    }

    fn skip(&mut self, length: usize) {
        self.rest = &self.rest[length..];
    }

    fn operator(&mut self, length: usize, then: Then) -> Then {
        self.skip(length);
        then
    }

    fn skip_here_documents(&mut self) {
        for word in std::mem::take(&mut self.here_documents) {
            while !self.rest.is_empty() {
                let line = self.rest.split_inclusive('\n').next().unwrap_or_default();
                self.skip(line.len());
                if line.trim() == word {
                    break;
                }
            }
        }
    }
}

/// The length of the text before the next sign that may mean something to a shell.
fn plain(text: &str) -> usize {
    let is_sign = |byte| {
        matches!(
            byte,
            b'\\' | b'\'' | b'"' | b'#' | b'<' | b'>' | b'&' | b'|' | b';' | b'(' | b')' | b'\n'
        )
    };
    text.bytes().position(is_sign).unwrap_or(text.len())
}

/// The length of quoted text including its quotes; an open quote extends to the end.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The word that closes a here-document, from the text after `<<`.
fn closing_word(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['-', ' ', '\t']);
    let end = text.find(|c: char| c.is_whitespace() || ";&|()<>".contains(c)).unwrap_or(text.len());
    shlex::split(&text[..end])?.into_iter().next()
}
