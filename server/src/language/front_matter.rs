//! A tolerant parser of front matter: keys and values with their positions, also while they are being typed. Never
//! fails, and does not interpret values.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontMatterField {
    /// The full path, with dots.
    pub path: String,
    /// The range of the key itself.
    pub span: Range<usize>,
    /// Behind the `:`, if there is one.
    pub after_sign: Option<usize>,
    /// To the end of the line without spaces and comments, or to the last item of a list below.
    pub value: Range<usize>,
}

#[derive(Debug, Default)]
pub struct FrontMatter {
    /// Between the two markers. Empty if there is no front matter.
    pub span: Range<usize>,
    pub fields: Vec<FrontMatterField>,
}

/// The start of each line, and the line without its line ending.
fn lines(text: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = from;
    text[from..].split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

impl FrontMatter {
    pub fn of(text: &str) -> Self {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut all = lines(text, start).peekable();
        if all.next().is_none_or(|(_, first)| first.trim_end() != "---") {
            return Self::default();
        }
        let begin = all.peek().map_or(text.len(), |(at, _)| *at);
        let mut found = Self { span: begin..text.len(), fields: Vec::new() };
        // The indentation of each level, and the path of its parent.
        let mut above: Vec<(usize, String)> = Vec::new();
        for (at, line) in all {
            if matches!(line.trim_end(), "---" | "...") {
                found.span.end = at;
                return found;
            }
            let indent = line.len() - line.trim_start().len();
            let content = line.trim_start();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            if content.starts_with('-') {
                if let Some(list) = found.fields.last_mut() {
                    if list.value.is_empty() {
                        list.value.start = at + indent;
                    }
                    list.value.end = at + line.trim_end().len();
                }
                continue;
            }
            above.retain(|(of, _)| *of < indent);
            let field = field(at + indent, content, above.last().map(|(_, path)| path.as_str()));
            above.push((indent, field.path.clone()));
            found.fields.push(field);
        }
        found
    }

    pub fn holds(&self, at: usize) -> bool {
        self.span.start <= at && at <= self.span.end && self.span.start > 0 && {
            // The closing marker begins at the end of the span.
            at < self.span.end || self.fields.last().is_some_and(|last| at <= last.value.end)
        }
    }

    /// The path of the parent of a line's key, given its indentation.
    pub fn parent_at(&self, text: &str, at: usize) -> String {
        let indent_of = |at: usize| {
            let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            (start, text[start..at].chars().take_while(|of| of.is_whitespace()).count())
        };
        let (line, mut indent) = indent_of(at);
        for field in self.fields.iter().rev().filter(|field| field.span.start < line) {
            let own = indent_of(field.span.start).1;
            if own < indent {
                return field.path.clone();
            }
            indent = indent.min(own + 1).min(indent);
        }
        String::new()
    }
}

fn field(at: usize, content: &str, parent: Option<&str>) -> FrontMatterField {
    let sign = content.find(':');
    let name = content[..sign.unwrap_or(content.len())].trim_end();
    let plain = name.trim_matches(['"', '\'']);
    let rest = sign.map_or("", |sign| &content[sign + 1..]);
    let rest = rest.find(" #").map_or(rest, |comment| &rest[..comment]);
    let blank = rest.len() - rest.trim_start().len();
    let value = at + sign.map_or(content.len(), |sign| sign + 1 + blank);
    FrontMatterField {
        path: parent.map_or_else(|| plain.to_owned(), |parent| format!("{parent}.{plain}")),
        span: at..at + name.len(),
        after_sign: sign.map(|sign| at + sign + 1),
        value: value..value + rest.trim().len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found = FrontMatter::of(text);
        let shown: Vec<_> = found
            .fields
            .iter()
            .map(|field| format!("{} = {}", field.path, &text[field.value.clone()]))
            .collect();
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn keys_are_nested_by_indentation() {
        check(
            "---\nversion: 1 # c\ntrigger:\n  early_percent: 80\n  list: [a, b]\npacket:\n    max: 3\n---\nx: y",
            &[
                "version = 1",
                "trigger = ",
                "trigger.early_percent = 80",
                "trigger.list = [a, b]",
                "packet = ",
                "packet.max = 3",
            ],
        );
        check("\u{feff}---\r\na: 1\r\n---\r\n", &["a = 1"]);
        check("---\na:\n  - x\n  - y\nb: 2\n---\n", &["a = - x\n  - y", "b = 2"]);
    }

    #[test]
    fn incomplete_front_matter_is_parsed() {
        check("---\ntrigger:\n  ear", &["trigger = ", "trigger.ear = "]);
        check("---\n", &[]);
        check("text\n---\na: 1", &[]);
        check("", &[]);
    }

    #[test]
    fn an_empty_line_is_nested_by_its_indentation() {
        for (text, expected) in [
            ("---\ntrigger:\n  |\n---\n", "trigger"),
            ("---\ntrigger:\n  a: 1\n  |\n---\n", "trigger"),
            ("---\ntrigger:\n  a: 1\n|\n---\n", ""),
            ("---\na: 1\n|\n---\n", ""),
        ] {
            let at = text.find('|').unwrap();
            let text = text.replace('|', "");
            assert_eq!(FrontMatter::of(&text).parent_at(&text, at), expected, "{text:?}");
        }
    }
}
