//! How this crate reads more than it writes: null, Lua's empty table, entries of a newer peer, texts that no Rust string
//! can hold, and counts that are none. It never changes what is written.

use serde::de::{DeserializeOwned, Error, IgnoredAny};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Reads the `params` of a request or notification, as [`params_text`] has them. Half of a surrogate pair is U+FFFD.
pub fn read_params<P: DeserializeOwned>(params: Option<&str>) -> Result<P, serde_json::Error> {
    let text = params_text(params);
    serde_json::from_str(text).or_else(|error| match without_lone_surrogates(text) {
        Cow::Owned(mended) => serde_json::from_str(&mended),
        Cow::Borrowed(_) => Err(error),
    })
}

/// Reads JSON of another program. Bytes that are not UTF-8 and halves of surrogate pairs are U+FFFD, and a byte order
/// mark is skipped.
pub fn read_json<T: DeserializeOwned>(json: &[u8]) -> Result<T, serde_json::Error> {
    let json = json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(json);
    serde_json::from_slice(json).or_else(|error| match mended_json(json) {
        Some(mended) => serde_json::from_str(&mended),
        None => Err(error),
    })
}

/// What some programs write before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// JSON in which bytes that are not UTF-8 and halves of surrogate pairs are U+FFFD. `None` if there are none.
pub fn mended_json(json: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(json);
    match (without_lone_surrogates(&text), &text) {
        (Cow::Owned(mended), _) => Some(mended),
        (_, Cow::Owned(text)) => Some(text.clone()),
        (_, Cow::Borrowed(_)) => None,
    }
}

/// JSON in which each escaped half of a surrogate pair without the other half is U+FFFD. JavaScript writes such a half
/// where it cut a text inside of an emoji.
fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let unit = |at: usize| {
        let digits = json.as_bytes().get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut mended, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(escape) = json
        .as_bytes()
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'\\').map(|position| at + position))
    {
        at = match (unit(escape), unit(escape + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => escape + 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.push_str(&json[copied..escape]);
                mended.push_str("\\ufffd");
                copied = escape + 6;
                copied
            }
            (Some(_), _) => escape + 6,
            // A backslash that is escaped begins no escape of its own.
            (None, _) => escape + 2,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(&json[copied..]);
    Cow::Owned(mended)
}

/// Absent, `null` and `[]` (an empty table from Lua) mean `{}`.
pub fn params_text(params: Option<&str>) -> &str {
    let text = params.unwrap_or_default().trim_ascii();
    let nothing = matches!(text, "" | "null")
        || text.strip_prefix('[').is_some_and(|rest| rest.trim_ascii_start() == "]");
    if nothing { "{}" } else { text }
}

/// A list in which an entry that this release does not know is left out, so that a newer peer may add values.
/// For lists that are shown or chosen from; never for lists of which every entry counts.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Entry<T> {
        Known(T),
        Unknown(IgnoredAny),
    }

    let entries = Option::<Vec<Entry<T>>>::deserialize(deserializer)?.unwrap_or_default();
    let known = entries.into_iter().filter_map(|entry| match entry {
        Entry::Known(known) => Some(known),
        Entry::Unknown(_) => None,
    });
    Ok(known.collect())
}

/// For a field with a default: `null` is read as absent.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// An object of free keys. Lua cannot tell an empty one from an empty list.
pub(crate) fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Object<T> {
        Empty([(); 0]),
        Keys(T),
    }

    Ok(match Option::deserialize(deserializer)? {
        Some(Object::Keys(keys)) => keys,
        Some(Object::Empty([])) | None => T::default(),
    })
}

/// Counts by name, without entries that this release does not know.
pub(crate) fn counts<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Entry<T> {
        Known(T),
        Unknown(IgnoredAny),
    }

    let entries: BTreeMap<String, Entry<T>> = object(deserializer)?;
    let known = entries.into_iter().filter_map(|(name, entry)| match entry {
        Entry::Known(count) => Some((name, count)),
        Entry::Unknown(_) => None,
    });
    Ok(known.collect())
}

/// An optional value of another program's vocabulary, of which rawr needs only what it knows.
pub fn if_known<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Value<T> {
        Known(T),
        Unknown(IgnoredAny),
    }

    Ok(match Option::deserialize(deserializer)? {
        Some(Value::Known(known)) => Some(known),
        Some(Value::Unknown(_)) | None => None,
    })
}

/// The largest whole number that every program reads exactly.
const LARGEST_COUNT: u64 = (1 << 53) - 1;

/// A number in a report. Hosts take it from models and agents, whose JSON may hold any other value in its place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Count(u64),
    Whole(i64),
    Fraction(f64),
    Unknown(IgnoredAny),
}

impl Number {
    /// Rounded. `None` if it is negative, counts nothing real (such as the unsigned -1), or is no number.
    fn count(self) -> Option<u64> {
        let count = match self {
            Self::Count(count) => Some(count),
            Self::Fraction(fraction) => format!("{fraction:.0}").parse().ok(),
            Self::Whole(_) | Self::Unknown(_) => None,
        };
        count.filter(|count| *count <= LARGEST_COUNT)
    }
}

/// A count that is reported, if it is known: a fraction is rounded, and a negative count or another value is not known.
pub fn count_if_known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::<Number>::deserialize(deserializer)?.and_then(Number::count))
}

/// Like [`count_if_known`], where an unknown count means 0.
pub(crate) fn count_or_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(count_if_known(deserializer)?.unwrap_or_default())
}

/// Like [`count_if_known`], where nothing is known without the count.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    count_if_known(deserializer)?.ok_or_else(|| D::Error::custom("not a count"))
}

/// A whole number that is reported, such as an exit code. A fraction is rounded.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let whole = match Number::deserialize(deserializer)? {
        Number::Count(count) => i64::try_from(count).ok(),
        Number::Whole(whole) => Some(whole),
        Number::Fraction(fraction) => format!("{fraction:.0}").parse().ok(),
        Number::Unknown(_) => None,
    };
    whole.ok_or_else(|| D::Error::custom("not a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn what_is_no_count_is_unknown() {
        #[derive(Deserialize)]
        struct Usage {
            #[serde(default, deserialize_with = "count_if_known")]
            tokens: Option<u64>,
        }
        let check = |written: &str, expected: Option<u64>| {
            let usage = format!(r#"{{"tokens": {written}}}"#);
            assert_eq!(read_json::<Usage>(usage.as_bytes()).unwrap().tokens, expected, "{written}");
        };
        check("0", Some(0));
        check("1000", Some(1000));
        check("1000.0", Some(1000));
        check("9.6", Some(10));
        check("1e3", Some(1000));
        for unknown in
            ["null", "-1", "-0.6", "1e300", "18446744073709551615", r#""10""#, "[]", "{}"]
        {
            check(unknown, None);
        }
        assert_eq!(read_json::<Usage>(b"{}").unwrap().tokens, None);
    }

    #[track_caller]
    fn check(json: &[u8], expected: &str) {
        assert_eq!(read_json::<Value>(json).ok(), Some(Value::from(expected)));
        if let Ok(text) = str::from_utf8(json) {
            assert_eq!(read_params::<Value>(Some(text)).ok(), Some(Value::from(expected)));
        }
    }

    #[test]
    fn half_of_a_surrogate_pair_is_a_replacement_character() {
        check(br#""cut \ud83d""#, "cut \u{fffd}");
        check(br#""\ude80 alone""#, "\u{fffd} alone");
        check(br#""\uD83D\uD83D\uDE80""#, "\u{fffd}\u{1f680}");
        check(br#""\ud83d\u0041""#, "\u{fffd}A");
        check(br#""\ud83d \ud83d\n""#, "\u{fffd} \u{fffd}\n");
        check("\"\u{e4} \\ud83d \u{1f680}\"".as_bytes(), "\u{e4} \u{fffd} \u{1f680}");
    }

    #[test]
    fn an_escaped_backslash_begins_no_escape() {
        check(br#""\\ud83d \ud83d""#, "\\ud83d \u{fffd}");
        check(br#""\\\ud83d""#, "\\\u{fffd}");
    }

    #[test]
    fn valid_text_is_not_changed() {
        let json = r#""\ud83d\ude80 \\u00e4 \u00e4""#;
        assert!(matches!(without_lone_surrogates(json), Cow::Borrowed(_)));
        check(json.as_bytes(), "\u{1f680} \\u00e4 \u{e4}");
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replacement_characters() {
        assert_eq!(read_json::<Value>(b"\"a\xffb\"").ok(), Some(Value::from("a\u{fffd}b")));
        let both = b"\"a\xff \\ud83d\"";
        assert_eq!(read_json::<Value>(both).ok(), Some(Value::from("a\u{fffd} \u{fffd}")));
        assert_eq!(read_json::<Value>(b"\xef\xbb\xbf{}").ok(), Some(serde_json::json!({})));
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        for json in [&br#""\ud83d"#[..], br#""\ud8"#, br#"\ud83d"#, b"", br#""\"#, b"\xff"] {
            assert!(read_json::<Value>(json).is_err(), "{json:?}");
        }
    }
}
