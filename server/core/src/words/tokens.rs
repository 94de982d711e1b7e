//! A message as tokens: words in lowercase, and one token for each thing that is not prose (code, a path, a log line).
//! Only the beginning and the end of a message are read.

use super::line::{self, LineKind};
use super::model::{ByteHash, hash};
use crate::steps;

/// What a token is. Anything but a word is masked: its spelling does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// A name of code, or a path: masked, but compared with the work at hand.
    Name,
    /// Code, a quote, a log line, a number, an address.
    Masked,
    /// The mark of a heading or of a list entry.
    Mark,
    /// The end of a clause.
    Comma,
    /// The end of a sentence.
    Stop,
    /// The end of a question.
    Question,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub hash: u32,
    pub from: u32,
    pub to: u32,
}

/// What the lines of a message are, counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub lines: u32,
    pub code: u32,
    pub logs: u32,
    pub quoted: u32,
    pub headings: u32,
    pub entries: u32,
    pub numbered: u32,
    pub rows: u32,
    pub tags: u32,
    pub commands: u32,
    pub checks: u32,
    pub crosses: u32,
    pub numbers: u32,
}

/// What of a message's prose is masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Masking {
    /// Only code.
    Code,
    /// Code, and what stands in English quotation marks.
    Quotes,
    /// Code, and what stands in the quotation marks of any language. A name of code also ends at an ideograph.
    AllQuotes,
}

/// How a message is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadingWindow {
    /// Bytes at the beginning.
    pub head: usize,
    /// Bytes at the end.
    pub tail: usize,
    pub masking: Masking,
}

pub(super) struct TokenizedMessage {
    pub list: Vec<Token>,
    pub counts: Counts,
    /// Bytes of the message that were left out in the middle.
    pub skipped: usize,
}

pub(super) fn read(message: &str, reading: ReadingWindow) -> TokenizedMessage {
    let mut reader = MessageTokenizer {
        tokens: TokenizedMessage {
            list: Vec::with_capacity((reading.head + reading.tail).min(message.len()) / 4 + 8),
            counts: Counts::default(),
            skipped: 0,
        },
        reading,
        fenced: false,
    };
    let (head, tail) = ends(message, reading);
    reader.lines(&message[..head], 0);
    if head == message.len() {
        return reader.tokens;
    }
    reader.stop(TokenKind::Stop, head, head);
    // The end may begin inside a block of code.
    steps::add(tail);
    let fences = message[..tail].match_indices("```").filter(|(at, _)| line_start(message, *at));
    reader.fenced = fences.count() % 2 == 1;
    reader.tokens.skipped = tail - head;
    reader.lines(&message[tail..], tail);
    reader.tokens
}

/// Where the beginning that is read ends, and where the end that is read begins.
pub(super) fn ends(message: &str, reading: ReadingWindow) -> (usize, usize) {
    if message.len() <= reading.head + reading.tail {
        return (message.len(), message.len());
    }
    let head = floor(message, reading.head);
    let head = message[..head].rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(head);
    let tail = floor(message, message.len() - reading.tail).max(head);
    (head, tail + message[tail..].find(char::is_whitespace).unwrap_or(0))
}

/// At most four blanks before it: an indentation of any length would make the search quadratic.
fn line_start(message: &str, at: usize) -> bool {
    let before = &message.as_bytes()[..at];
    let blanks = before.iter().rev().take(4).take_while(|byte| **byte == b' ').count();
    matches!(before.len().checked_sub(blanks + 1).map(|at| before[at]), None | Some(b'\n'))
}

/// The nearest character boundary at or before `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

impl Token {
    /// Whether it is the mark of a list entry.
    pub(super) fn is_entry(&self) -> bool {
        self.is_mark("entry") || self.is_mark("numbered")
    }

    /// Whether it is the mark of a heading.
    pub(super) fn is_heading(&self) -> bool {
        self.is_mark("heading")
    }

    fn is_mark(&self, name: &str) -> bool {
        self.kind == TokenKind::Mark && self.hash == mark_hash(name)
    }
}

fn mark_hash(name: &str) -> u32 {
    hash(name.as_bytes(), 2)
}

/// A command of a host, with its slash.
pub(super) fn command_hash(name: &str) -> u32 {
    hash(name.as_bytes(), 6)
}

struct MessageTokenizer {
    tokens: TokenizedMessage,
    reading: ReadingWindow,
    fenced: bool,
}

impl MessageTokenizer {
    fn push(&mut self, kind: TokenKind, hash: u32, from: usize, to: usize) {
        self.tokens.list.push(Token { kind, hash, from: from as u32, to: to as u32 });
    }

    fn masked(&mut self, name: &str, from: usize, to: usize) {
        self.push(TokenKind::Masked, hash(name.as_bytes(), 1), from, to);
    }

    fn mark(&mut self, name: &str, from: usize, to: usize) {
        self.push(TokenKind::Mark, mark_hash(name), from, to);
    }

    /// One end is enough where several come together.
    fn stop(&mut self, kind: TokenKind, from: usize, to: usize) {
        let ended = self.tokens.list.last().is_none_or(|last| {
            matches!(last.kind, TokenKind::Stop | TokenKind::Question)
                || (kind == TokenKind::Comma && last.kind == TokenKind::Comma)
        });
        if !ended {
            self.push(kind, 3 + kind as u32, from, to);
        }
    }

    fn lines(&mut self, text: &str, base: usize) {
        steps::add(text.len());
        let mut at = base;
        for whole in text.split_inclusive('\n') {
            let (start, end) = (at, at + whole.len());
            at = end;
            let content = whole.trim();
            if content.is_empty() {
                self.stop(TokenKind::Stop, end, end);
                continue;
            }
            let offset = start + (whole.len() - whole.trim_start().len());
            self.line(content, offset);
            let end = offset + content.len();
            self.stop(TokenKind::Stop, end, end);
        }
    }

    fn line(&mut self, content: &str, offset: usize) {
        self.tokens.counts.lines += 1;
        let end = offset + content.len();
        if content.starts_with("```") || content.starts_with("~~~") {
            self.fenced = !self.fenced;
            if self.fenced {
                self.masked("code block", offset, end);
            }
            return;
        }
        if self.fenced {
            self.tokens.counts.code += 1;
            return;
        }
        let (kind, rest) = line::kind(content);
        let inside = offset + (content.len() - rest.len());
        let counts = &mut self.tokens.counts;
        match kind {
            LineKind::Log => {
                counts.logs += 1;
                self.masked("log", offset, end);
                return;
            }
            LineKind::Quoted => {
                counts.quoted += 1;
                self.masked("quoted", offset, end);
                return;
            }
            LineKind::Row => {
                counts.rows += 1;
                self.masked("row", offset, end);
                return;
            }
            LineKind::Heading => {
                counts.headings += 1;
                self.mark("heading", offset, inside);
            }
            LineKind::Entry => {
                counts.entries += 1;
                self.mark("entry", offset, inside);
            }
            LineKind::Numbered => {
                counts.numbered += 1;
                self.mark("numbered", offset, inside);
            }
            LineKind::Plain => {}
        }
        self.prose(rest, inside);
    }

    /// Masks code and quotes, and reads what is between them.
    fn prose(&mut self, text: &str, base: usize) {
        let (mut at, mut plain) = (0, 0);
        let all = self.reading.masking == Masking::AllQuotes;
        let first = if all { line::any_quote } else { line::quote };
        while let Some(found) = first(&text[at..]) {
            let open = at + found;
            let quote = text[open..].chars().next().unwrap_or('`');
            let inside = open + quote.len_utf8();
            at = inside;
            if quote != '`' && self.reading.masking == Masking::Code {
                continue;
            }
            let close = |text: &str| {
                if all { line::any_close(text, quote) } else { line::close(text, quote) }
            };
            let Some(length) = close(&text[inside..]) else { break };
            let end =
                inside + length + text[inside + length..].chars().next().map_or(0, char::len_utf8);
            self.chunks(&text[plain..open], base + plain);
            if quote == '`' {
                let name = &text.as_bytes()[inside..inside + length];
                self.push(TokenKind::Name, hash(name, 4), base + open, base + end);
            } else {
                self.masked("quote", base + open, base + end);
            }
            (at, plain) = (end, end);
        }
        self.chunks(&text[plain..], base + plain);
    }

    fn chunks(&mut self, text: &str, base: usize) {
        let mut at = 0;
        for chunk in text.split(char::is_whitespace) {
            let mut from = 0;
            if self.reading.masking == Masking::AllQuotes {
                while let Some(length) = line::script(&chunk[from..]) {
                    self.chunk(&chunk[from..from + length], base + at + from);
                    from += length;
                }
            }
            if from < chunk.len() {
                self.chunk(&chunk[from..], base + at + from);
            }
            // A blank may be of several bytes.
            at += chunk.len();
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }

    fn chunk(&mut self, mut chunk: &str, mut base: usize) {
        while let Some(rest) = chunk.strip_prefix('<')
            && let Some(length) = rest.find('>')
            && length < 40
        {
            let tag = &rest[..length];
            self.tokens.counts.tags += 1;
            self.push(TokenKind::Masked, hash(tag.as_bytes(), 5), base, base + length + 2);
            base += length + 2;
            chunk = &rest[length + 1..];
            if let Some(next) = chunk.find('<').filter(|next| *next > 0) {
                self.bare(&chunk[..next], base);
                base += next;
                chunk = &chunk[next..];
            }
        }
        self.bare(chunk, base);
    }

    fn bare(&mut self, chunk: &str, base: usize) {
        // Nearly every chunk is a word of ASCII letters with signs after it at most.
        if let Some(length) = line::simple_word(chunk.as_bytes()) {
            let mut hash = ByteHash::new(0);
            chunk[..length].bytes().for_each(|letter| hash.add(letter.to_ascii_lowercase()));
            self.push(TokenKind::Word, hash.finish(), base, base + length);
            self.punctuation(&chunk[length..], base + length);
            return;
        }
        let inner = chunk.trim_matches(line::is_edge);
        if inner.is_empty() {
            self.punctuation(chunk, base);
            return;
        }
        let before = chunk.len() - chunk.trim_start_matches(line::is_edge).len();
        let (from, to) = (base + before, base + before + inner.len());
        let sign = chunk[..before].chars().next_back();
        match line::name(inner, sign) {
            line::WordShape::Command => {
                self.tokens.counts.commands += 1;
                self.masked("command", from, to);
                self.push(TokenKind::Word, command_hash(inner), from, to);
            }
            line::WordShape::Address => self.masked("address", from, to),
            line::WordShape::Number => {
                self.tokens.counts.numbers += 1;
                self.masked(if sign == Some('#') { "reference" } else { "number" }, from, to);
            }
            line::WordShape::Hex => self.masked("hex", from, to),
            line::WordShape::Path | line::WordShape::Name => {
                self.push(TokenKind::Name, hash(inner.as_bytes(), 4), from, to);
            }
            line::WordShape::Words => self.words(inner, from),
        }
        self.punctuation(&chunk[before + inner.len()..], to);
    }

    fn words(&mut self, text: &str, base: usize) {
        let mut word: Option<(usize, ByteHash)> = None;
        for (at, c) in text.char_indices() {
            let c = if c == '\u{2019}' { '\'' } else { c };
            let at = base + at;
            let syllables = self.reading.masking != Masking::AllQuotes;
            let alone = line::is_ideograph(c) || syllables && line::is_syllable(c);
            if (c.is_alphanumeric() || c == '\'') && !alone {
                let (_, hash) = word.get_or_insert((at, ByteHash::new(0)));
                for lower in c.to_lowercase() {
                    lower.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| hash.add(byte));
                }
                continue;
            }
            self.word(word.take(), at);
            if alone {
                let hash = hash(c.encode_utf8(&mut [0; 4]).as_bytes(), 7);
                self.push(TokenKind::Word, hash, at, at + c.len_utf8());
            } else {
                self.sign(c, at);
            }
        }
        self.word(word, base + text.len());
    }

    fn word(&mut self, word: Option<(usize, ByteHash)>, to: usize) {
        if let Some((from, hash)) = word {
            self.push(TokenKind::Word, hash.finish(), from, to);
        }
    }

    fn punctuation(&mut self, text: &str, base: usize) {
        for (at, c) in text.char_indices() {
            self.sign(c, base + at);
        }
    }

    fn sign(&mut self, c: char, at: usize) {
        let to = at + c.len_utf8();
        match c {
            '?' | '\u{ff1f}' => {
                // "?!" and "...?" are questions too.
                if let Some(last) = self.tokens.list.last_mut()
                    && last.kind == TokenKind::Stop
                    && last.to as usize == at
                {
                    last.kind = TokenKind::Question;
                } else {
                    self.stop(TokenKind::Question, at, to);
                }
            }
            '.' | '!' | ';' | '\u{3002}' | '\u{ff01}' | '…' => self.stop(TokenKind::Stop, at, to),
            ',' | ':' | '(' | '—' | '–' | '\u{ff0c}' | '\u{3001}' | '\u{ff1a}' => {
                self.stop(TokenKind::Comma, at, to);
            }
            '✅' | '✓' | '✔' | '☑' | '🎉' => {
                self.tokens.counts.checks += 1;
                self.mark("check", at, to);
            }
            '❌' | '✗' | '✘' | '☐' | '⚠' => {
                self.tokens.counts.crosses += 1;
                self.mark("cross", at, to);
            }
            c if !c.is_ascii() => {
                let hash = hash(c.encode_utf8(&mut [0; 4]).as_bytes(), 7);
                self.push(TokenKind::Mark, hash, at, to);
            }
            _ => {}
        }
    }
}
