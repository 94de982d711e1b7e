//! Payloads about counting tokens. Shapes only.

use serde::{Deserialize, Serialize};

/// `rawr/tokens/count`: how large is this text?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokensCountParams {
    /// The text.
    pub text: String,
    /// The encoding to count by, such as `o200k_base`; an estimate if absent or not built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
}

/// Answer to `rawr/tokens/count`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokensCountResult {
    /// How many.
    pub tokens: u64,
    /// How they were counted: an encoding's name, or `bytes/4` for the estimate.
    pub method: String,
}
