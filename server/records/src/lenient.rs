//! How records are read: a value of another kind than expected counts as absent, so that it costs only itself. Programs
//! change what they write, and older records stay.

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};

/// A text of a line. An optional `Cow` is always copied; this one only where it has escapes.
#[derive(Debug, Default)]
pub(crate) struct Text<'l>(Cow<'l, str>);

impl Text<'_> {
    pub(crate) fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl<'l> From<&'l str> for Text<'l> {
    fn from(text: &'l str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// A value of any kind, of which an object is an `O` and the entries of a list are `E`s.
pub(crate) enum AnyValue<'l, O = IgnoredAny, E = IgnoredAny> {
    Null,
    Flag(bool),
    Count(u64),
    /// Negative, or with a fraction.
    Number(f64),
    Text(Text<'l>),
    List(Vec<E>),
    Object(O),
}

struct AnyVisitor<'l, O, E>(PhantomData<(&'l str, O, E)>);

/// An entry of a list. Entries that nothing reads are not kept.
pub(crate) trait ListEntry {
    fn is_kept(&self) -> bool;
}

impl ListEntry for IgnoredAny {
    fn is_kept(&self) -> bool {
        false
    }
}

impl<O, E> ListEntry for AnyValue<'_, O, E> {
    fn is_kept(&self) -> bool {
        matches!(self, AnyValue::Object(_) | AnyValue::Text(_))
    }
}

/// Lists of messages have fewer entries.
const MOST_ENTRIES: usize = 100_000;

impl<'de, O, E> Deserialize<'de> for AnyValue<'de, O, E>
where
    O: Deserialize<'de>,
    E: Deserialize<'de> + ListEntry,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyVisitor(PhantomData))
    }
}

impl<'de, O, E> Visitor<'de> for AnyVisitor<'de, O, E>
where
    O: Deserialize<'de>,
    E: Deserialize<'de> + ListEntry,
{
    type Value = AnyValue<'de, O, E>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<Error>(self) -> Result<Self::Value, Error> {
        Ok(AnyValue::Null)
    }

    fn visit_bool<Error>(self, flag: bool) -> Result<Self::Value, Error> {
        Ok(AnyValue::Flag(flag))
    }

    fn visit_u64<Error>(self, count: u64) -> Result<Self::Value, Error> {
        Ok(AnyValue::Count(count))
    }

    fn visit_i64<Error>(self, number: i64) -> Result<Self::Value, Error> {
        Ok(AnyValue::Number(number as f64))
    }

    fn visit_f64<Error>(self, number: f64) -> Result<Self::Value, Error> {
        Ok(AnyValue::Number(number))
    }

    fn visit_borrowed_str<Error>(self, text: &'de str) -> Result<Self::Value, Error> {
        Ok(AnyValue::Text(Text(Cow::Borrowed(text))))
    }

    fn visit_str<Error>(self, text: &str) -> Result<Self::Value, Error> {
        Ok(AnyValue::Text(Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element::<E>()? {
            if entry.is_kept() && entries.len() < MOST_ENTRIES {
                entries.push(entry);
            }
        }
        Ok(AnyValue::List(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        O::deserialize(MapAccessDeserializer::new(object)).map(AnyValue::Object)
    }
}

/// A text, or a number as its digits, because ids may be either.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Text<'de>>, D::Error> {
    Ok(match AnyValue::<IgnoredAny>::deserialize(from)? {
        AnyValue::Text(text) => Some(text),
        AnyValue::Count(number) => Some(Text(Cow::Owned(number.to_string()))),
        _ => None,
    })
}

/// [`text`], copied.
pub(crate) fn owned<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(text(from)?.map(Text::into_owned))
}

pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(match AnyValue::<IgnoredAny>::deserialize(from)? {
        AnyValue::Flag(flag) => flag,
        AnyValue::Text(text) => &*text == "true",
        _ => false,
    })
}

/// A count, of which it matters whether something else stands in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Count {
    #[default]
    Absent,
    Known(u64),
    /// What is negative or endless, or no number.
    Odd,
}

impl Count {
    pub(crate) fn known(self) -> Option<u64> {
        match self {
            Self::Known(count) => Some(count),
            Self::Absent | Self::Odd => None,
        }
    }

    pub(crate) fn or_zero(self) -> u64 {
        self.known().unwrap_or(0)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let whole = |number: f64| (0.0..1e15).contains(&number).then_some(number as u64);
        let count = match AnyValue::<IgnoredAny>::deserialize(from)? {
            AnyValue::Null => return Ok(Self::Absent),
            AnyValue::Count(count) => Some(count),
            AnyValue::Number(number) => whole(number),
            AnyValue::Text(digits) => digits.trim().parse().ok().and_then(whole),
            _ => None,
        };
        Ok(count.map_or(Self::Odd, Self::Known))
    }
}

/// A count, where there is one.
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(Count::deserialize(from)?.known())
}

/// A number of either sign.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    Ok(match AnyValue::<IgnoredAny>::deserialize(from)? {
        AnyValue::Count(count) => i64::try_from(count).ok(),
        AnyValue::Number(number) if number.abs() < 1e15 => Some(number as i64),
        AnyValue::Text(digits) => digits.trim().parse().ok(),
        _ => None,
    })
}

pub(crate) fn object<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(match AnyValue::<T>::deserialize(from)? {
        AnyValue::Object(object) => Some(object),
        _ => None,
    })
}

/// The objects of a list.
pub(crate) fn list<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(match AnyValue::<IgnoredAny, AnyValue<'de, T>>::deserialize(from)? {
        AnyValue::List(entries) => objects(entries),
        _ => Vec::new(),
    })
}

pub(crate) fn objects<T>(entries: Vec<AnyValue<'_, T>>) -> Vec<T> {
    let object = |entry| match entry {
        AnyValue::Object(object) => Some(object),
        _ => None,
    };
    entries.into_iter().filter_map(object).collect()
}

/// A list of texts. One text is a list of one.
pub(crate) fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(match AnyValue::<IgnoredAny, AnyValue<'de>>::deserialize(from)? {
        AnyValue::Text(text) => vec![text.into_owned()],
        AnyValue::List(entries) => {
            let text = |entry| match entry {
                AnyValue::Text(text) => Some(text.into_owned()),
                _ => None,
            };
            entries.into_iter().filter_map(text).collect()
        }
        _ => Vec::new(),
    })
}

/// Parses a line. What is not read may be of any bytes.
pub(crate) fn parse<'l, T: Deserialize<'l>>(line: &'l [u8]) -> serde_json::Result<T> {
    match str::from_utf8(line) {
        // Checked once for all texts in it.
        Ok(line) => serde_json::from_str(line),
        Err(_) => serde_json::from_slice(line),
    }
}

/// What a line holds besides one record, found only if it is none.
pub(crate) enum OddLine {
    /// One record, in valid texts.
    Mended(String),
    /// Several records, or one after an incomplete one.
    Records {
        records: Vec<Range<usize>>,
        /// Something else is there, too.
        is_torn: bool,
    },
    Unreadable,
}

/// So many incomplete records are passed in a line, and so many places of each beginning are tried after one, so that a line
/// costs no more than its length.
const MOST_TRIED: usize = 32;

/// How the lines of this record begin, up to the colon after the first key: a text in a record cannot contain that, because
/// its quotes are escaped.
#[derive(Debug, Default)]
pub(crate) struct Openings(Vec<Box<[u8]>>);

impl Openings {
    const MOST: usize = 8;
    const LONGEST: usize = 32;

    pub(crate) fn learn(&mut self, line: &[u8]) {
        if self.0.len() == Self::MOST || self.0.iter().any(|known| line.starts_with(known)) {
            return;
        }
        let colon = line.iter().take(Self::LONGEST).position(|byte| *byte == b':');
        self.0.extend(colon.map(|at| line[..=at].into()));
    }

    /// Where a record begins after an incomplete one, and reaches to the end of this text or to another one.
    fn next_record(&self, text: &[u8]) -> Option<usize> {
        let places = self.0.iter().flat_map(|opening| {
            memchr::memmem::find_iter(&text[1..], opening).map(|at| at + 1).take(MOST_TRIED)
        });
        let mut places: Vec<_> = places.collect();
        places.sort_unstable();
        places.into_iter().find(|at| {
            length_of_record(&text[*at..]).is_some_and(|length| {
                let rest = text[at + length..].trim_ascii_start();
                matches!(rest.first(), None | Some(b'{' | 0))
            })
        })
    }
}

impl OddLine {
    /// Looks for records in a line that is not one. Programs that end in the middle of a line leave a part of a record or
    /// zeros, after which the next one goes on.
    pub(crate) fn of(line: &[u8], openings: &Openings) -> Self {
        let start = line.iter().position(|byte| *byte == b'{').unwrap_or(line.len());
        let is_none = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
        let end = line.iter().rposition(|byte| !is_none(byte)).map_or(start, |last| last + 1);
        let mut records: Vec<Range<usize>> = Vec::new();
        let (mut at, mut torn) = (start, 0);
        while at < end {
            match length_of_record(&line[at..end]) {
                Some(length) => {
                    records.push(at..at + length);
                    at += length;
                    at += line[at..end].iter().take_while(|byte| is_none(byte)).count();
                }
                None => {
                    torn += 1;
                    match openings.next_record(&line[at..end]) {
                        Some(next) if torn <= MOST_TRIED => at += next,
                        _ => break,
                    }
                }
            }
        }
        let is_whole_line = records.first().is_some_and(|first| *first == (0..line.len()));
        if !records.is_empty() && !is_whole_line {
            return Self::Records { records, is_torn: torn > 0 };
        }
        // Where a key is there twice, the last one counts.
        let once = || Some(serde_json::from_slice::<Value>(line).ok()?.to_string());
        rawr_protocol::mended_json(line).or_else(once).map_or(Self::Unreadable, Self::Mended)
    }
}

/// The length of the object at the beginning of this text.
fn length_of_record(text: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset()).filter(|_| text.first() == Some(&b'{'))
}

/// The object in this value.
pub(crate) fn object_in<'l, T: Deserialize<'l>>(
    raw: &'l RawValue,
) -> serde_json::Result<Option<T>> {
    object(&mut serde_json::Deserializer::from_str(raw.get()))
}

/// A value that is parsed later. Half an emoji in it was not looked for.
pub(crate) fn value_in<T: DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json)
        .ok()
        .or_else(|| serde_json::from_str(&rawr_protocol::mended_json(json.as_bytes())?).ok())
}
