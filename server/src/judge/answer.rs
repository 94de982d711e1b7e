//! Parses the model's answer. Strict, because a half-understood answer must not count as a judgment.

use super::JudgeError;
use super::foreign::ForeignText;
use serde::Deserialize;
use serde::de::IgnoredAny;

pub(super) const SCHEMA_NAME: &str = "compaction_judgment";

const MAX_REASON_CHARS: usize = 500;

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JudgeVerdict {
    pub should_compact: bool,
    pub reason: String,
}

pub(super) fn parse(text: &str, foreign: ForeignText<'_>) -> Result<JudgeVerdict, JudgeError> {
    if text.trim().is_empty() {
        return Err(JudgeError::Empty);
    }
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    // serde accepts an array of both values in place of the object.
    if is_json && !text.trim_start().starts_with('{') {
        return Err(JudgeError::AgainstSchema { detail: "not an object".to_owned() });
    }
    let read: Result<JudgeVerdict, _> = serde_json::from_str(text);
    let mut verdict = read.map_err(|error| {
        let detail = foreign.told(&error.to_string());
        if is_json { JudgeError::AgainstSchema { detail } } else { JudgeError::NotJson { detail } }
    })?;
    verdict.reason = foreign.sanitized(&verdict.reason, MAX_REASON_CHARS);
    Ok(verdict)
}
