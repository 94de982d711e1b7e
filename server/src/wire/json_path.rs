//! Which field of a JSON text an error is about.

use serde_json::Error;

/// The path of the value that was being read at the error, such as `usage.contextTokens` or `items[2]`. `None` for the
/// outermost value.
///
/// It is found by position. A deserializer that keeps the path would be compiled once more for each type that is read.
pub fn path_of(error: &Error, text: &str) -> Option<String> {
    let before = error.line().checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    path_at(text.as_bytes().get(..start + error.column()).unwrap_or(text.as_bytes()))
}

enum Level<'t> {
    /// With the key whose value is being read.
    Object(Option<&'t [u8]>),
    Array(usize),
}

/// The path of the value at the end of the beginning of a JSON text.
fn path_at(read: &[u8]) -> Option<String> {
    let (mut levels, mut text, mut at) = (Vec::new(), None, 0);
    while let Some(&byte) = read.get(at) {
        at += 1;
        match (byte, levels.last_mut()) {
            (b'{', _) => levels.push(Level::Object(None)),
            (b'[', _) => levels.push(Level::Array(0)),
            (b'}' | b']', _) => drop(levels.pop()),
            (b':', Some(Level::Object(key))) => *key = text,
            (b',', Some(Level::Object(key))) => *key = None,
            (b',', Some(Level::Array(index))) => *index += 1,
            (b'"', _) => {
                let length = string_length(&read[at..]);
                text = Some(&read[at - 1..(at + length + 1).min(read.len())]);
                at += length + 1;
            }
            _ => {}
        }
    }
    let mut path = String::new();
    for level in levels {
        match level {
            Level::Object(None) => {}
            Level::Object(Some(key)) => {
                let dot = if path.is_empty() { "" } else { "." };
                // Errors are found behind the keys that they are about, so each key is whole.
                let key: String = serde_json::from_slice(key).unwrap_or_default();
                path.extend([dot, &key]);
            }
            Level::Array(index) => path.push_str(&format!("[{index}]")),
        }
    }
    Some(path).filter(|path| !path.is_empty())
}

/// The bytes of a string up to its closing quote.
fn string_length(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = text.iter().position(|&byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only parsed")]
    struct Params {
        id: u8,
        #[serde(default)]
        usage: Option<Usage>,
        #[serde(default)]
        items: Vec<Item>,
        #[serde(default)]
        named: BTreeMap<String, Item>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only parsed")]
    struct Usage {
        tokens: u64,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only parsed")]
    enum Item {
        Text(String),
        Pair(u8, u8),
        Whole { a: u8 },
    }

    fn path(text: &str) -> Option<String> {
        path_of(&serde_json::from_str::<Params>(text).unwrap_err(), text)
    }

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(path(text).as_deref(), expected, "{text}");
        // Any layout has the same paths.
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(path(&format!("\n {value:#}\n")).as_deref(), expected, "{value:#}");
    }

    #[test]
    fn an_error_names_the_value_that_was_read() {
        check("{}", None);
        check(r#"[1, {"tokens": "a"}]"#, Some("[1].tokens"));
        check(r#"{"id":-1}"#, Some("id"));
        check(r#"{"id":[1]}"#, Some("id"));
        check(r#"{"id":{"id":2}}"#, Some("id"));
        check(r#"{"id":1,"usage":{}}"#, Some("usage"));
        check(r#"{"id":1,"usage":{"a":"\"}]","tokens":"\\\""}}"#, Some("usage.tokens"));
        check(r#"{"id":1,"usage":7,"z":1}"#, Some("usage"));
        check(r#"{"id":1,"items":[{"text":"a"},{"text":2}]}"#, Some("items[1].text"));
        check(r#"{"id":1,"items":[{"pair":[1,2]},{"pair":[1,"2"]}]}"#, Some("items[1].pair[1]"));
        check(r#"{"id":1,"items":[{"whole":{"b":1}}]}"#, Some("items[0].whole"));
        check(r#"{"id":1,"named":{"a \"b\" ü":{"text":2}}}"#, Some("named.a \"b\" ü.text"));
    }

    #[test]
    fn a_key_is_no_value() {
        assert_eq!(path(r#"{"id":1,"id":1}"#), None);
    }
}
