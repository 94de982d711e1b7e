//! The API key: read for each judgment, sent in one header, never shown.

use super::JudgeError;
use reqwest::header::HeaderValue;
use std::fmt;

pub(super) struct ApiKey {
    secret: String,
    header: HeaderValue,
}

impl ApiKey {
    /// Reads the variable. Called for each judgment, so that no copy stays in memory in between.
    pub(super) fn from_env(variable: &str) -> Result<Self, JudgeError> {
        let unusable = || JudgeError::UnusableKey { variable: variable.to_owned() };
        let secret = std::env::var_os(variable).unwrap_or_default();
        // A key that was read from a file often ends with a newline.
        let secret = secret.to_str().ok_or_else(unusable)?.trim().to_owned();
        if secret.is_empty() {
            return Err(JudgeError::NoKey { variable: variable.to_owned() });
        }
        let mut header =
            HeaderValue::from_str(&format!("Bearer {secret}")).map_err(|_| unusable())?;
        header.set_sensitive(true);
        Ok(Self { secret, header })
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    pub(super) fn masked_in(&self, text: &str) -> String {
        text.replace(&self.secret, "[redacted:key]")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(***)")
    }
}
