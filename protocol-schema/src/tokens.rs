//! Payloads about counting tokens.

use serde::{Deserialize, Serialize};

/// `rawr/tokens/count`: how large is this text?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokensCountParams {
    /// The text. One that begins with a text that was counted lately by the same encoding costs no more than what was
    /// added: a host may send its whole context again and again.
    pub text: String,
    /// The encoding to count by: `o200k_base`, `o200k_harmony` or `cl100k_base`. Goes before `model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The model whose encoding to count by, such as `gpt-5` or `o4-mini`. Of the models of other makers, and where
    /// neither names an encoding that is built in, the count is an estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Answer to `rawr/tokens/count`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokensCountResult {
    /// How many. Text that looks like a special token is counted as the text that it is.
    pub tokens: u64,
    /// How they were counted: an encoding's name, which is exact, or `bytes/4` for the estimate. Measured against
    /// `o200k_base`, that is 10 to 28% low on large bodies of source code, a third low on lock files and tables, and
    /// up to a quarter high on plain English prose.
    pub method: String,
}
