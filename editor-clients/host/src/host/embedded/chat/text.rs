//! Texts of another program's JSON: in any of the shapes that endpoints write, and in pieces that may end inside of a
//! surrogate pair. Pure.

use rawr_protocol::read_json;
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A text of JSON in UTF-8, where a half of a surrogate pair is encoded like any other code point.
#[derive(Debug, Default)]
pub(super) struct TextPiece(Vec<u8>);

/// A text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct JoinedText {
    text: String,
    /// The first half of a surrogate pair whose second half may follow.
    half: Option<u16>,
}

/// A part of a content that is a list.
#[derive(Deserialize)]
struct ContentPart {
    text: Option<Box<RawValue>>,
}

/// The first byte of a surrogate in UTF-8. No other code point has a byte of `SECOND` after it.
const FIRST: u8 = 0xED;
const SECOND: std::ops::RangeInclusive<u8> = 0xA0..=0xBF;

/// A value of another program; `None` if it has another shape.
pub(super) fn known<T: DeserializeOwned>(value: Option<Box<RawValue>>) -> Option<T> {
    read_json(value?.get().as_bytes()).ok()
}

impl TextPiece {
    /// A content: a text, or a list of texts and of parts with a text. Other values have none.
    pub(super) fn of_content(value: &RawValue) -> Self {
        if let Some(text) = Self::of_string(value) {
            return text;
        }
        let parts: Vec<Box<RawValue>> = serde_json::from_str(value.get()).unwrap_or_default();
        let texts = parts.iter().filter_map(|part| {
            Self::of_string(part).or_else(|| {
                let part: ContentPart = serde_json::from_str(part.get()).ok()?;
                Self::of_string(&part.text?)
            })
        });
        Self(texts.flat_map(|text| text.0).collect())
    }

    /// The arguments of a call, which some endpoints write as JSON inside of a text and some as JSON.
    pub(super) fn of_arguments(value: &RawValue) -> Self {
        Self::of_string(value).unwrap_or_else(|| Self(value.get().into()))
    }

    fn of_string(value: &RawValue) -> Option<Self> {
        let is_string = value.get().starts_with('"');
        is_string.then(|| serde_json::from_str(value.get()).ok())?
    }
}

impl<'de> Deserialize<'de> for TextPiece {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a text")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }

        // As bytes, because as a text the parser refuses half of a surrogate pair.
        deserializer.deserialize_bytes(Bytes).map(Self)
    }
}

impl JoinedText {
    /// Adds a piece. Returns what is certain of the text since the last piece.
    pub(super) fn push(&mut self, piece: &TextPiece) -> &str {
        let before = self.text.len();
        let mut rest = piece.0.as_slice();
        while !rest.is_empty() {
            let is_surrogate = |pair: &[u8]| pair[0] == FIRST && SECOND.contains(&pair[1]);
            let plain = rest.windows(2).position(is_surrogate).unwrap_or(rest.len());
            if plain > 0 {
                self.end_half();
                self.text.push_str(&String::from_utf8_lossy(&rest[..plain]));
            }
            let [first, second, third, after @ ..] = &rest[plain..] else { break };
            let low_bits = |byte: u8| u16::from(byte & 0x3F);
            self.push_half(
                u16::from(*first & 0x0F) << 12 | low_bits(*second) << 6 | low_bits(*third),
            );
            rest = after;
        }
        &self.text[before..]
    }

    pub(super) fn end(mut self) -> String {
        self.end_half();
        self.text
    }

    fn push_half(&mut self, half: u16) {
        const SECOND_HALVES: std::ops::RangeInclusive<u16> = 0xDC00..=0xDFFF;
        match (self.half.take(), SECOND_HALVES.contains(&half)) {
            (Some(first), true) => self.text.extend(char::decode_utf16([first, half]).flatten()),
            (None, true) => self.text.push(char::REPLACEMENT_CHARACTER),
            (first, false) => {
                self.text.extend(first.map(|_| char::REPLACEMENT_CHARACTER));
                self.half = Some(half);
            }
        }
    }

    fn end_half(&mut self) {
        if self.half.take().is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
