//! Payloads about prompt files.

use crate::Problem;
use crate::names::names;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// `rawr/prompt/list`: the prompts in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptListParams {}

/// Answer to `rawr/prompt/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptListResult {
    /// By name.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub prompts: Vec<PromptSummary>,
}

/// One prompt in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptSummary {
    /// The name of the prompt's file without the ending, such as `heads-up`.
    pub name: String,
    /// The prompt's file, absolute; absent for one that is only embedded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whose text is in force.
    pub origin: PromptOrigin,
    /// Changes whenever the text in force does; opaque.
    pub version: String,
    /// What is wrong with the file; the last good text stays in force (docs/spec/prompts.md#files).
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub problems: Vec<Problem>,
}

names! {
    /// Whose text a prompt is.
    pub enum PromptOrigin {
        /// The one that came with rawr.
        Shipped = "shipped",
        /// The user's.
        User = "user",
    }
}

/// `rawr/prompt/get`: one prompt in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptGetParams {
    /// The prompt's name.
    pub name: String,
}

/// Answer to `rawr/prompt/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptGetResult {
    /// The prompt's name.
    pub name: String,
    /// The prompt's file, absolute; absent for one that is only embedded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whose text it is.
    pub origin: PromptOrigin,
    /// Changes whenever the text in force does; opaque.
    pub version: String,
    /// The text in force, without front matter, placeholders unfilled.
    pub text: String,
    /// The front matter, where the prompt has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_matter: Option<Map<String, Value>>,
    /// The placeholders that it may use, without braces, in camelCase.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub placeholders: Vec<String>,
    /// What is wrong with the file.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub problems: Vec<Problem>,
}

/// `rawr/prompt/render`: a prompt in force with its placeholders filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptRenderParams {
    /// The prompt's name.
    pub name: String,
    /// The thread to take values from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Values by placeholder; they go before the thread's.
    #[serde(
        default,
        deserialize_with = "crate::lenient::object",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub values: BTreeMap<String, String>,
}

/// Answer to `rawr/prompt/render`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptRenderResult {
    /// The text as it would be sent.
    pub text: String,
    /// Placeholders without a value, and the like.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub problems: Vec<Problem>,
}

/// `rawr/prompt/preview`: a text that is not saved yet, as it would be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptPreviewParams {
    /// The name of the prompt that it is to become.
    pub name: String,
    /// The whole file, front matter included.
    pub text: String,
    /// The thread to take values from; example values stand in if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// Answer to `rawr/prompt/preview`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptPreviewResult {
    /// The text as it would be sent.
    pub text: String,
    /// The text's size.
    pub tokens: u64,
    /// What is wrong with it; ranges are those of the text given.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub problems: Vec<Problem>,
}

/// `rawr/prompt/changed`: a prompt file was edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptChangedNotification {
    /// The prompt; of a decision prompt its path, as a tier names it.
    pub name: String,
    /// The version in force: still the old one if the new text does not parse.
    pub version: String,
    /// What is wrong with the file.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub problems: Vec<Problem>,
}

/// `rawr/prompt/previewChanged`: a prompt that is being edited reads otherwise now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptPreviewChangedNotification {
    /// The prompt.
    pub name: String,
    /// Where the text can be asked for: `rawr://preview/<name>`.
    pub uri: String,
    /// The text as it would be sent.
    pub text: String,
}
