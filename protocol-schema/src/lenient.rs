//! How this crate reads more than it writes: null, Lua's empty table, and entries of a newer peer. It never changes
//! what is written.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// Reads the `params` of a request or notification, as [`params_text`] has them.
pub fn read_params<P: DeserializeOwned>(params: Option<&str>) -> Result<P, serde_json::Error> {
    serde_json::from_str(params_text(params))
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

/// An optional value of another protocol's vocabulary, of which rawr needs only what it knows.
pub(crate) fn if_known<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
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
