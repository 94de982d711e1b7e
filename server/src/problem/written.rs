//! What a person wrote, as a tree with spans: the common form of TOML, YAML and JSON. Typed reading happens here;
//! which keys there are is the business of the rooms that ask.

use super::Problem;
use std::ops::{Range, RangeInclusive};
use std::path::Path;

#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub what: What,
    /// `None` where the text is not to be had, as for JSON over the wire.
    pub span: Option<Range<usize>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// YAML and JSON only. It says the same as leaving the key out.
    Nothing,
    Switch(bool),
    Number(i128),
    Fraction(f64),
    Text(String),
    List(Vec<Written>),
    Table(Vec<(Name, Written)>),
    /// A date, for instance.
    Other(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Option<Range<usize>>,
}

impl What {
    const fn describe(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Switch(_) => "true or false",
            Self::Number(_) => "a whole number",
            Self::Fraction(_) => "a fraction",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(name) => name,
        }
    }
}

impl From<&serde_json::Value> for Written {
    fn from(json: &serde_json::Value) -> Self {
        use serde_json::Value;
        let what = match json {
            Value::Null => What::Nothing,
            Value::Bool(on) => What::Switch(*on),
            Value::Number(number) => match (number.as_i128(), number.as_f64()) {
                (Some(whole), _) => What::Number(whole),
                (None, fraction) => What::Fraction(fraction.unwrap_or(f64::NAN)),
            },
            Value::String(text) => What::Text(text.clone()),
            Value::Array(list) => What::List(list.iter().map(Self::from).collect()),
            Value::Object(table) => What::Table(
                table
                    .iter()
                    .map(|(name, value)| (Name { text: name.clone(), span: None }, value.into()))
                    .collect(),
            ),
        };
        Self { what, span: None }
    }
}

impl From<&Written> for serde_json::Value {
    fn from(written: &Written) -> Self {
        match &written.what {
            What::Nothing => Self::Null,
            What::Switch(on) => (*on).into(),
            What::Number(number) => {
                i64::try_from(*number).map_or_else(|_| Self::from(number.to_string()), Self::from)
            }
            What::Fraction(fraction) => (*fraction).into(),
            What::Text(text) => text.as_str().into(),
            What::List(list) => list.iter().map(Self::from).collect(),
            What::Table(table) => {
                table.iter().map(|(name, value)| (name.text.clone(), Self::from(value))).collect()
            }
            What::Other(name) => (*name).into(),
        }
    }
}

/// Reads typed values of one file and keeps what is wrong with them. Everything that it refuses is `None`.
#[derive(Debug)]
pub struct Reader<'r> {
    pub file: Option<&'r Path>,
    pub problems: &'r mut Vec<Problem>,
}

impl Reader<'_> {
    pub fn tell(&mut self, problem: Problem) {
        self.problems.push(problem.in_file(self.file));
    }

    pub fn table<'w>(&mut self, key: &str, written: &'w Written) -> Option<&'w [(Name, Written)]> {
        match &written.what {
            What::Table(table) => Some(table),
            _ => self.wrong_type(key, "a table", written),
        }
    }

    pub fn switch(&mut self, key: &str, written: &Written) -> Option<bool> {
        match written.what {
            What::Switch(on) => Some(on),
            _ => self.wrong_type(key, "true or false", written),
        }
    }

    pub fn number(
        &mut self,
        key: &str,
        range: &RangeInclusive<u64>,
        written: &Written,
    ) -> Option<u64> {
        let What::Number(number) = written.what else {
            return self.wrong_type(key, "a whole number", written);
        };
        let fits = u64::try_from(number).ok().filter(|number| range.contains(number));
        if fits.is_none() {
            let (low, high) = (range.start(), range.end());
            let message = format!("`{key}` must be from {low} to {high}, and is {number}");
            self.tell(Problem::error("out-of-range", message).at(written.span.clone()));
        }
        fits
    }

    pub fn text(&mut self, key: &str, written: &Written) -> Option<String> {
        match &written.what {
            What::Text(text) => Some(text.clone()),
            _ => self.wrong_type(key, "a text in quotes", written),
        }
    }

    pub fn word(
        &mut self,
        key: &str,
        words: &[&'static str],
        written: &Written,
    ) -> Option<&'static str> {
        let What::Text(text) = &written.what else {
            return self.wrong_type(key, &format!("one of {}", listed(words)), written);
        };
        let found = words.iter().find(|word| *word == text).copied();
        if found.is_none() {
            let help = format!("it may be one of {}", listed(words));
            let meant = self.meant(text, words.iter().copied());
            let message = format!("`{key}` cannot be `{}`", short(text));
            let problem = Problem::error("unknown-value", message).at(written.span.clone());
            self.tell(problem.help(help).meant(meant));
        }
        found
    }

    /// One bad entry makes the whole list bad: half of what was meant is not what was meant.
    pub fn words(
        &mut self,
        key: &str,
        words: &[&'static str],
        written: &Written,
    ) -> Option<Vec<&'static str>> {
        let list = self.list(key, written)?;
        let found: Vec<_> = list.iter().map(|entry| self.word(key, words, entry)).collect();
        found.into_iter().collect()
    }

    pub fn texts(&mut self, key: &str, written: &Written) -> Option<Vec<String>> {
        let list = self.list(key, written)?;
        let found: Vec<_> = list.iter().map(|entry| self.text(key, entry)).collect();
        found.into_iter().collect()
    }

    fn list<'w>(&mut self, key: &str, written: &'w Written) -> Option<&'w [Written]> {
        match &written.what {
            What::List(list) => Some(list),
            _ => self.wrong_type(key, "a list", written),
        }
    }

    fn wrong_type<T>(&mut self, key: &str, wanted: &str, written: &Written) -> Option<T> {
        let message = format!("`{key}` must be {wanted}, and is {}", written.what.describe());
        self.tell(Problem::error("wrong-type", message).at(written.span.clone()));
        None
    }

    /// The known name that was likely meant. In a text with so much that is unknown nothing was a slip of the pen, and
    /// looking for it would take its time.
    pub fn meant(
        &self,
        written: &str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> Option<&'static str> {
        const MOST_GUESSED: usize = 100;
        if self.problems.len() < MOST_GUESSED { nearest(written, known) } else { None }
    }

    /// `place` is where the key was looked for, in words.
    pub fn unknown_key(
        &mut self,
        name: &Name,
        place: &str,
        help: Option<String>,
        meant: Option<&'static str>,
    ) {
        let message = format!("no key `{}` in {place}", short(&name.text));
        let problem = Problem::warning("unknown-key", message).at(name.span.clone());
        self.tell(problem.help(help).meant(meant));
    }
}

/// A message quotes what somebody wrote, but not a whole page of it.
fn short(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let cut = text.char_indices().nth(MAX_CHARS).map(|(at, _)| format!("{}…", &text[..at]));
    cut.unwrap_or_else(|| text.to_owned())
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The nearest of the known names, if any is near enough to be a slip of the pen.
pub fn nearest<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    /// Longer names are nobody's slip, and the measure is quadratic.
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
        read: impl FnOnce(&mut Reader<'_>, &Written) -> Option<T>,
        expected: Result<T, &str>,
    ) {
        let mut problems = Vec::new();
        let mut reader = Reader { file: None, problems: &mut problems };
        let found = read(&mut reader, &Written::from(&json));
        let told: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(found.ok_or(told.join("; ")), expected.map_err(str::to_owned), "{json}");
    }

    #[test]
    fn a_value_of_another_type_is_refused_with_both_types_named() {
        check(
            json!("yes"),
            |r, w| r.switch("k", w),
            Err("`k` must be true or false, and is a text"),
        );
        check(
            json!(1.5),
            |r, w| r.number("k", &(0..=9), w),
            Err("`k` must be a whole number, and is a fraction"),
        );
        check(
            json!(true),
            |r, w| r.text("k", w),
            Err("`k` must be a text in quotes, and is true or false"),
        );
        check(json!("a"), |r, w| r.texts("k", w), Err("`k` must be a list, and is a text"));
    }

    #[test]
    fn a_number_outside_of_its_range_is_refused() {
        check(json!(9), |r, w| r.number("k", &(0..=9), w), Ok(9));
        check(
            json!(-1),
            |r, w| r.number("k", &(0..=9), w),
            Err("`k` must be from 0 to 9, and is -1"),
        );
        check(
            json!(10),
            |r, w| r.number("k", &(0..=9), w),
            Err("`k` must be from 0 to 9, and is 10"),
        );
    }

    #[test]
    fn one_bad_entry_makes_a_list_bad() {
        let words = &["commit", "topic_shift"];
        check(json!(["commit"]), |r, w| r.words("k", words, w), Ok(vec!["commit"]));
        check(
            json!(["commit", "comit"]),
            |r, w| r.words("k", words, w),
            Err("`k` cannot be `comit`"),
        );
    }

    #[test]
    fn only_a_near_name_is_suggested() {
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
