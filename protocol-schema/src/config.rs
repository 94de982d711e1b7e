//! Payloads about configuration. Shapes only; the keys are the configuration's own matter.

use crate::Problem;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `rawr/config/get`: the configuration in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfigGetParams {
    /// The thread whose project's file counts too; none if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// Answer to `rawr/config/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfigGetResult {
    /// Every key with the value in force, as in the file.
    #[serde(default, deserialize_with = "crate::lenient::object")]
    pub effective: Map<String, Value>,
    /// What is wrong with the files; the last good values stay in force (docs/spec/clients.md#configuration-files).
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub problems: Vec<Problem>,
    /// Where values came from, the strongest first: files as paths, others by name.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub layers: Vec<String>,
}

/// `rawr/config/changed`: a configuration file was edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfigChangedNotification {
    /// What is wrong with the files, those of the projects of open threads among them.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub problems: Vec<Problem>,
    /// Every key with the value in force, where no project and no model says otherwise. A file that cannot be read as a
    /// whole goes on to say what it said before.
    #[serde(default, deserialize_with = "crate::lenient::object")]
    pub effective: Map<String, Value>,
}
