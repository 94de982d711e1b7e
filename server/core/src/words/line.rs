//! What a line and a word look like, whatever they say.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Plain,
    Heading,
    Entry,
    Numbered,
    Quoted,
    Log,
    Row,
}

/// The kind of a line that begins with no blank, and what is left after its mark.
pub(super) fn kind(line: &str) -> (LineKind, &str) {
    let hashes = line.len() - line.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
        return (LineKind::Heading, line[hashes..].trim_start());
    }
    if line.starts_with('>') {
        return (LineKind::Quoted, "");
    }
    if line.starts_with('|') {
        return (LineKind::Row, "");
    }
    if is_log(line) {
        return (LineKind::Log, "");
    }
    for mark in ["- ", "* ", "+ ", "• "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return (LineKind::Entry, rest);
        }
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if (1..=2).contains(&digits) && line[digits..].starts_with([')', '.']) {
        let rest = &line[digits + 1..];
        if rest.starts_with(' ') {
            return (LineKind::Numbered, rest.trim_start());
        }
    }
    (LineKind::Plain, line)
}

/// Output of programs: more signs than words, or one of the usual beginnings.
fn is_log(line: &str) -> bool {
    const BEGINNINGS: [&str; 20] = [
        "=== ",
        "--- ",
        "+++ ",
        "@@ ",
        "$ ",
        "% ",
        "❯",
        "⎿",
        "│",
        "├",
        "└",
        "╭",
        "╰",
        "Traceback",
        "Error: ",
        "ERROR",
        "error: ",
        "fatal: ",
        "FAIL",
        "remote: ",
    ];
    if BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)) {
        return true;
    }
    if line.starts_with('<') {
        return false;
    }
    // Counts of up to 200 fit into a byte each, so one sum is enough.
    let sum: u32 = line.bytes().take(200).map(|byte| CHAR_COUNTS[usize::from(byte)]).sum();
    let [signs, digits, others, _] = sum.to_le_bytes().map(u32::from);
    let all = signs + digits + others;
    // A date or a clock time at the beginning.
    let stamp = line.bytes().take(20).filter(u8::is_ascii_digit).count() >= 6 && all > 20;
    all > 15 && (signs * 5 > all || stamp || (signs + digits) * 3 > all)
}

/// A sign counts 1 in the first byte, a digit in the second, a blank nowhere, and everything else in the third.
const CHAR_COUNTS: [u32; 256] = {
    let mut counts = [0; 256];
    let mut byte = 0;
    while byte < counts.len() {
        counts[byte] = match byte as u8 {
            b'{' | b'}' | b'[' | b']' | b'=' | b'<' | b'>' | b'/' | b'\\' | b'|' | b':' | b';'
            | b'_' | b'$' | b'&' | b'"' | b'(' | b')' => 1,
            b'0'..=b'9' => 1 << 8,
            b' ' => 0,
            _ => 1 << 16,
        };
        byte += 1;
    }
    counts
};

/// The length of a word of ASCII letters that only punctuation follows, unless it is a name such as `camelCase`.
pub(super) fn simple_word(chunk: &[u8]) -> Option<usize> {
    let (mut length, mut lower) = (0, false);
    while let Some(letter) = chunk.get(length).filter(|byte| byte.is_ascii_alphabetic()) {
        if lower && letter.is_ascii_uppercase() {
            return None;
        }
        lower = letter.is_ascii_lowercase();
        length += 1;
    }
    let is_edge = |byte: &u8| byte.is_ascii() && is_edge(char::from(*byte));
    (length > 0 && chunk[length..].iter().all(is_edge)).then_some(length)
}

/// Where the first quote begins.
pub(super) fn quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().position(|(at, byte)| match byte {
        b'`' | b'"' => true,
        0xe2 => text[at..].starts_with('\u{201c}'),
        _ => false,
    })
}

/// Where the text in a quote ends.
pub(super) fn close(text: &str, quote: char) -> Option<usize> {
    text.find(if quote == '\u{201c}' { '\u{201d}' } else { quote })
}

/// Where the first quote of any language begins. An apostrophe is one only before a word.
pub(super) fn any_quote(text: &str) -> Option<usize> {
    let mut inside_word = false;
    text.char_indices().find_map(|(at, c)| {
        let opens =
            matches!(c, '`' | '"' | '\u{201c}' | '\u{201e}' | '«' | '「' | '『' | '\u{2018}')
                || c == '\'' && !inside_word;
        inside_word = c.is_alphanumeric();
        opens.then_some(at)
    })
}

/// Where the text in such a quote ends.
pub(super) fn any_close(text: &str, quote: char) -> Option<usize> {
    let closes: &[char] = match quote {
        '\u{201c}' => &['\u{201d}'],
        '\u{201e}' => &['\u{201c}', '\u{201d}', '"'],
        '«' => &['»'],
        '「' => &['」'],
        '『' => &['』'],
        '\u{2018}' => &['\u{2019}'],
        _ => return text.find(quote),
    };
    text.find(closes)
}

/// Punctuation around a word.
pub(super) fn is_edge(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '/' | '@' | '_' | '~' | '\'' | '\u{2019}')
}

/// Written without blanks between words.
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// A syllable of Korean. Endings follow its words without a blank.
pub(super) fn is_syllable(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

/// How much of a chunk is written either in ideographs or in letters, if the other follows.
pub(super) fn script(chunk: &str) -> Option<usize> {
    let mut letters = chunk.char_indices().filter(|(_, c)| c.is_alphanumeric());
    let first = is_ideograph(letters.next()?.1);
    letters.find(|(_, c)| is_ideograph(*c) != first).map(|(at, _)| at)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordShape {
    Words,
    Command,
    Address,
    Path,
    Name,
    Number,
    Hex,
}

/// What a word without the punctuation around it is, and the sign that stood before it.
pub(super) fn name(word: &str, sign: Option<char>) -> WordShape {
    if let Some(rest) = word.strip_prefix('/')
        && rest.len() > 1
        && sign.is_none_or(|sign| sign == '>')
        && rest.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b':' | b'_'))
    {
        return WordShape::Command;
    }
    if word.contains("://") {
        return WordShape::Address;
    }
    let (mut digits, mut letters, mut hex, mut inner) = (0, 0, 0, false);
    let (mut slash, mut lower) = (false, false);
    let mut before = ' ';
    for c in word.chars() {
        match c {
            '0'..='9' => digits += 1,
            'a'..='f' => hex += 1,
            '/' | '\\' | '~' | '@' => slash = true,
            '_' => inner = true,
            _ => letters += 1,
        }
        // "main.rs", "core::words" and "camelCase", but not "e.g." or "2.5".
        inner |= matches!(before, '.' | ':' | '(') && c.is_alphanumeric() && letters + hex > 1;
        inner |= lower && c.is_ascii_uppercase();
        lower = c.is_ascii_lowercase();
        before = c;
    }
    if letters == 0 && hex == 0 && !slash {
        return WordShape::Number;
    }
    if letters == 0 && digits > 0 && hex + digits >= 7 && !slash {
        return WordShape::Hex;
    }
    match (slash && word.len() > 3, inner) {
        (true, _) => WordShape::Path,
        (_, true) => WordShape::Name,
        _ if digits > 0 && digits >= letters + hex => WordShape::Number,
        _ => WordShape::Words,
    }
}
