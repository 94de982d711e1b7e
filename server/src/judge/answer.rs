//! What the model may say, and reading it: strictly, because a half-understood answer must not pass for a judgment.

use super::JudgeError;
use super::foreign::Foreign;
use serde::Deserialize;
use serde::de::IgnoredAny;

pub(super) const SCHEMA_NAME: &str = "compaction_judgment";

const MAX_REASON_CHARS: usize = 500;

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verdict {
    pub should_compact: bool,
    pub reason: String,
}

pub(super) fn parse(text: &str, foreign: Foreign<'_>) -> Result<Verdict, JudgeError> {
    if text.trim().is_empty() {
        return Err(JudgeError::Empty);
    }
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    // A list of both values would pass for the object to serde.
    if is_json && !text.trim_start().starts_with('{') {
        return Err(JudgeError::AgainstSchema { detail: "it is no object".to_owned() });
    }
    let read: Result<Verdict, _> = serde_json::from_str(text);
    let mut verdict = read.map_err(|error| {
        let detail = foreign.told(&error.to_string());
        if is_json { JudgeError::AgainstSchema { detail } } else { JudgeError::NotJson { detail } }
    })?;
    verdict.reason = foreign.told_within(&verdict.reason, MAX_REASON_CHARS);
    Ok(verdict)
}
