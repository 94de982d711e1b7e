//! A parsed file as a tree with spans: the common form of TOML, YAML and JSON. Reads typed values; the callers know the
//! keys.

use super::FileProblem;
use std::ops::{Range, RangeInclusive};
use std::path::Path;

#[derive(Debug, Clone, PartialEq)]
pub struct WrittenValue {
    pub what: WrittenKind,
    /// `None` if there is no text, as for JSON over the wire.
    pub span: Option<Range<usize>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum WrittenKind {
    /// YAML and JSON only. Equivalent to omitting the key.
    Nothing,
    Switch(bool),
    Number(i128),
    Fraction(f64),
    Text(String),
    List(Vec<WrittenValue>),
    Table(Vec<(SpannedName, WrittenValue)>),
    /// For example a date.
    Other(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpannedName {
    pub text: String,
    pub span: Option<Range<usize>>,
}

impl WrittenKind {
    const fn describe(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Switch(_) => "a boolean",
            Self::Number(_) => "a whole number",
            Self::Fraction(_) => "a fraction",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(name) => name,
        }
    }
}

impl From<&serde_json::Value> for WrittenValue {
    fn from(json: &serde_json::Value) -> Self {
        use serde_json::Value;
        let what = match json {
            Value::Null => WrittenKind::Nothing,
            Value::Bool(on) => WrittenKind::Switch(*on),
            Value::Number(number) => match (number.as_i128(), number.as_f64()) {
                (Some(whole), _) => WrittenKind::Number(whole),
                (None, fraction) => WrittenKind::Fraction(fraction.unwrap_or(f64::NAN)),
            },
            Value::String(text) => WrittenKind::Text(text.clone()),
            Value::Array(list) => WrittenKind::List(list.iter().map(Self::from).collect()),
            Value::Object(table) => WrittenKind::Table(
                table
                    .iter()
                    .map(|(name, value)| {
                        (SpannedName { text: name.clone(), span: None }, value.into())
                    })
                    .collect(),
            ),
        };
        Self { what, span: None }
    }
}

impl From<&WrittenValue> for serde_json::Value {
    fn from(written: &WrittenValue) -> Self {
        match &written.what {
            WrittenKind::Nothing => Self::Null,
            WrittenKind::Switch(on) => (*on).into(),
            WrittenKind::Number(number) => {
                i64::try_from(*number).map_or_else(|_| Self::from(number.to_string()), Self::from)
            }
            WrittenKind::Fraction(fraction) => (*fraction).into(),
            WrittenKind::Text(text) => text.as_str().into(),
            WrittenKind::List(list) => list.iter().map(Self::from).collect(),
            WrittenKind::Table(table) => {
                table.iter().map(|(name, value)| (name.text.clone(), Self::from(value))).collect()
            }
            WrittenKind::Other(name) => (*name).into(),
        }
    }
}

/// Reads typed values of one file and collects problems. Invalid values are `None`.
#[derive(Debug)]
pub struct ValueReader<'r> {
    pub file: Option<&'r Path>,
    pub problems: &'r mut Vec<FileProblem>,
}

impl ValueReader<'_> {
    pub fn report(&mut self, problem: FileProblem) {
        self.problems.push(problem.in_file(self.file));
    }

    pub fn table<'w>(
        &mut self,
        key: &str,
        written: &'w WrittenValue,
    ) -> Option<&'w [(SpannedName, WrittenValue)]> {
        match &written.what {
            WrittenKind::Table(table) => Some(table),
            _ => self.wrong_type(key, "a table", written),
        }
    }

    pub fn switch(&mut self, key: &str, written: &WrittenValue) -> Option<bool> {
        match written.what {
            WrittenKind::Switch(on) => Some(on),
            _ => self.wrong_type(key, "true or false", written),
        }
    }

    pub fn number(
        &mut self,
        key: &str,
        range: &RangeInclusive<u64>,
        written: &WrittenValue,
    ) -> Option<u64> {
        let WrittenKind::Number(number) = written.what else {
            return self.wrong_type(key, "a whole number", written);
        };
        let fits = u64::try_from(number).ok().filter(|number| range.contains(number));
        if fits.is_none() {
            let (low, high) = (range.start(), range.end());
            let message = format!("`{key}` must be from {low} to {high}, but is {number}");
            self.report(FileProblem::error("out-of-range", message).at(written.span.clone()));
        }
        fits
    }

    /// A number, or a string with a number and `%`.
    pub fn percent(
        &mut self,
        key: &str,
        range: &RangeInclusive<u64>,
        written: &WrittenValue,
    ) -> Option<u64> {
        let number = match &written.what {
            WrittenKind::Text(text) => {
                text.strip_suffix('%').and_then(|text| text.trim().parse().ok())
            }
            _ => None,
        };
        let what = number.map_or_else(|| written.what.clone(), WrittenKind::Number);
        self.number(key, range, &WrittenValue { what, span: written.span.clone() })
    }

    pub fn text(&mut self, key: &str, written: &WrittenValue) -> Option<String> {
        match &written.what {
            WrittenKind::Text(text) => Some(text.clone()),
            _ => self.wrong_type(key, "a string", written),
        }
    }

    pub fn word(
        &mut self,
        key: &str,
        words: &[&'static str],
        written: &WrittenValue,
    ) -> Option<&'static str> {
        let WrittenKind::Text(text) = &written.what else {
            return self.wrong_type(key, &format!("one of {}", listed(words)), written);
        };
        let found = words.iter().find(|word| *word == text).copied();
        if found.is_none() {
            let help = format!("use one of {}", listed(words));
            let meant = self.meant(text, words.iter().copied());
            let message = format!("`{key}` cannot be `{}`", short(text));
            let problem = FileProblem::error("unknown-value", message).at(written.span.clone());
            self.report(problem.help(help).meant(meant));
        }
        found
    }

    /// One invalid entry makes the whole list invalid, because half of a list is not what the user meant.
    pub fn words(
        &mut self,
        key: &str,
        words: &[&'static str],
        written: &WrittenValue,
    ) -> Option<Vec<&'static str>> {
        let list = self.list(key, written)?;
        let found: Vec<_> = list.iter().map(|entry| self.word(key, words, entry)).collect();
        found.into_iter().collect()
    }

    pub fn texts(&mut self, key: &str, written: &WrittenValue) -> Option<Vec<String>> {
        let list = self.list(key, written)?;
        let found: Vec<_> = list.iter().map(|entry| self.text(key, entry)).collect();
        found.into_iter().collect()
    }

    pub fn list<'w>(&mut self, key: &str, written: &'w WrittenValue) -> Option<&'w [WrittenValue]> {
        match &written.what {
            WrittenKind::List(list) => Some(list),
            _ => self.wrong_type(key, "a list", written),
        }
    }

    fn wrong_type<T>(&mut self, key: &str, wanted: &str, written: &WrittenValue) -> Option<T> {
        let message = format!("`{key}` must be {wanted}, but is {}", written.what.describe());
        let mut problem = FileProblem::error("wrong-type", message).at(written.span.clone());
        if wanted == "a whole number"
            && let WrittenKind::Text(text) = &written.what
            && let Ok(number) = text.trim().parse::<i64>()
        {
            problem = problem.help(format!("write {number} without quotes"));
        }
        self.report(problem);
        None
    }

    /// The known name that was probably intended. If a text has many unknown names, they are not typos, and guessing
    /// would be slow.
    pub fn meant(
        &self,
        written: &str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> Option<&'static str> {
        const MOST_GUESSED: usize = 100;
        if self.problems.len() < MOST_GUESSED { nearest(written, known) } else { None }
    }

    /// `place` describes where the key was expected, if that is not clear.
    pub fn unknown_key(
        &mut self,
        name: &SpannedName,
        place: Option<&str>,
        help: Option<String>,
        meant: Option<&'static str>,
    ) {
        let place = place.map(|place| format!(" in {place}")).unwrap_or_default();
        let message = format!("unknown key `{}`{place}", short(&name.text));
        let problem = FileProblem::warning("unknown-key", message).at(name.span.clone());
        self.report(problem.help(help).meant(meant));
    }

    /// An unknown key in a file in which each key counts.
    pub fn refuse_key(&mut self, name: &SpannedName, place: &str, known: &[&'static str]) {
        let message = format!("unknown key `{}` in {place}", short(&name.text));
        let meant = self.meant(&name.text, known.iter().copied());
        let problem = FileProblem::error("unknown-key", message).at(name.span.clone());
        self.report(problem.help(format!("known keys: {}", listed(known))).meant(meant));
    }
}

/// Messages quote the file's text only up to a limit.
pub fn short(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let cut = text.char_indices().nth(MAX_CHARS).map(|(at, _)| format!("{}…", &text[..at]));
    cut.unwrap_or_else(|| text.to_owned())
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The most similar known name, if it is similar enough for a typo.
pub fn nearest<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    /// Longer names are not typos, and the comparison is quadratic.
    const MAX_CHARS: usize = 80;
    if written.chars().count() > MAX_CHARS {
        return None;
    }
    let plain = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
    let wanted = plain(written);
    known
        .into_iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(&wanted, &plain(name)), name))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check<T: PartialEq + std::fmt::Debug>(
        json: Value,
        read: impl FnOnce(&mut ValueReader<'_>, &WrittenValue) -> Option<T>,
        expected: Result<T, &str>,
    ) {
        let mut problems = Vec::new();
        let mut reader = ValueReader { file: None, problems: &mut problems };
        let found = read(&mut reader, &WrittenValue::from(&json));
        let told: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(found.ok_or(told.join("; ")), expected.map_err(str::to_owned), "{json}");
    }

    #[test]
    fn a_value_of_another_type_is_refused_with_both_types_named() {
        check(
            json!("yes"),
            |r, w| r.switch("k", w),
            Err("`k` must be true or false, but is a string"),
        );
        check(
            json!(1.5),
            |r, w| r.number("k", &(0..=9), w),
            Err("`k` must be a whole number, but is a fraction"),
        );
        check(json!(true), |r, w| r.text("k", w), Err("`k` must be a string, but is a boolean"));
        check(json!("a"), |r, w| r.texts("k", w), Err("`k` must be a list, but is a string"));
    }

    #[test]
    fn a_number_outside_of_its_range_is_refused() {
        check(json!(9), |r, w| r.number("k", &(0..=9), w), Ok(9));
        check(
            json!(-1),
            |r, w| r.number("k", &(0..=9), w),
            Err("`k` must be from 0 to 9, but is -1"),
        );
        check(
            json!(10),
            |r, w| r.number("k", &(0..=9), w),
            Err("`k` must be from 0 to 9, but is 10"),
        );
    }

    #[test]
    fn one_invalid_entry_makes_a_list_invalid() {
        let words = &["commit", "topic_shift"];
        check(json!(["commit"]), |r, w| r.words("k", words, w), Ok(vec!["commit"]));
        check(
            json!(["commit", "comit"]),
            |r, w| r.words("k", words, w),
            Err("`k` cannot be `comit`"),
        );
    }

    #[test]
    fn only_a_similar_name_is_suggested() {
        let known = ["rawr_auto_compaction", "mode", "packet_author"];
        for (written, expected) in [
            ("rawr_autocompaction", Some("rawr_auto_compaction")),
            ("packetAuthor", Some("packet_author")),
            ("mdoe", Some("mode")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, known), expected, "{written}");
        }
    }
}
