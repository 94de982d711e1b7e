//! Payloads of the LSP base protocol, as lenient subsets of LSP 3.17: what rawr does not read, it does not check.

use crate::PROTOCOL_VERSION;
use crate::names::names;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Nothing to say. Written as `{}`; whatever it is read from is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Empty {}

impl<'de> Deserialize<'de> for Empty {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self {})
    }
}

/// `initialize`: the first request, from any LSP client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// The client's process; the sidecar ends when it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_id: Option<i64>,
    /// The client, for the log; nothing branches on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_info: Option<PeerInfo>,
    /// What the client can do, in LSP's words.
    #[serde(default, deserialize_with = "crate::lenient::object")]
    pub capabilities: Map<String, Value>,
    /// The folders that are open.
    #[serde(default, deserialize_with = "crate::lenient::list")]
    pub workspace_folders: Vec<WorkspaceFolder>,
    /// The folder that is open, in the words of older clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_uri: Option<String>,
    /// How much of its work the sidecar tells.
    #[serde(
        default,
        deserialize_with = "crate::lenient::if_known",
        skip_serializing_if = "Option::is_none"
    )]
    pub trace: Option<Trace>,
    /// What only rawr reads.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub initialization_options: InitializationOptions,
}

/// A program's name and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PeerInfo {
    /// The program's name.
    pub name: String,
    /// The program's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A folder that is open in an editor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceFolder {
    /// Where it is.
    pub uri: String,
    /// What the editor calls it.
    pub name: String,
}

names! {
    /// How much of its work the sidecar tells.
    pub enum Trace {
        /// Nothing.
        Off = "off",
        /// In short.
        Messages = "messages",
        /// In full.
        Verbose = "verbose",
    }
}

/// rawr's own part of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct InitializationOptions {
    /// The home folder, absolute; docs/spec/recovery.md#files names the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// The configuration file, absolute; `rawr.toml` in the home folder if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_file: Option<String>,
    /// The prompt folder, absolute; `auto-compact` in the home folder if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_dir: Option<String>,
    /// Configuration values that go before every file's, under the file's keys.
    #[serde(deserialize_with = "crate::lenient::object", skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
}

/// Answer to `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// What the sidecar can do, in LSP's words; rawr's own under `experimental.rawr`.
    #[serde(default, deserialize_with = "crate::lenient::object")]
    pub capabilities: Map<String, Value>,
    /// The sidecar.
    pub server_info: PeerInfo,
}

impl InitializeResult {
    /// The answer of a sidecar that speaks this release of the protocol.
    pub fn new(server_version: &str) -> Self {
        let capabilities = [
            ("positionEncoding", json!("utf-16")),
            ("experimental", json!({ "rawr": { "protocolVersion": PROTOCOL_VERSION } })),
        ];
        Self {
            capabilities: capabilities
                .map(|(key, value)| (key.to_owned(), value))
                .into_iter()
                .collect(),
            server_info: PeerInfo {
                name: "rawr".to_owned(),
                version: Some(server_version.to_owned()),
            },
        }
    }

    /// With more that the sidecar can do.
    #[must_use]
    pub fn with(mut self, capabilities: Map<String, Value>) -> Self {
        self.capabilities.extend(capabilities);
        self
    }

    /// The release of the protocol that the sidecar speaks; none if it is not a rawr sidecar.
    pub fn protocol_version(&self) -> Option<u64> {
        self.capabilities.get("experimental")?.get("rawr")?.get("protocolVersion")?.as_u64()
    }
}

/// `$/cancelRequest`: the answer is no longer wanted; there will still be one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CancelParams {
    /// The request.
    pub id: RequestId,
}

/// A request's id, chosen by who asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum RequestId {
    /// As most clients do.
    Number(i64),
    /// As others do.
    Text(String),
}

/// `$/logTrace`: one piece of the sidecar's work, for a client that asked for it by `$/setTrace` or `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LogTraceParams {
    /// What was done, and how long it took.
    pub message: String,
    /// The threads, sequences and actions that it concerned, a line each; with the trace `verbose` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verbose: Option<String>,
}

/// `$/setTrace`: tell more, or less.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SetTraceParams {
    /// How much.
    pub value: Trace,
}

/// `window/logMessage`: a line for the log that the client shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LogMessageParams {
    /// How bad it is.
    #[serde(rename = "type")]
    pub level: MessageType,
    /// The line.
    pub message: String,
}

/// How bad a log line is; a number on the wire, as in LSP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "u32", into = "u32")]
pub enum MessageType {
    /// 1
    Error,
    /// 2
    Warning,
    /// 3
    Info,
    /// 4, and every number that LSP may yet give a meaning.
    Log,
}

impl From<u32> for MessageType {
    fn from(number: u32) -> Self {
        match number {
            1 => Self::Error,
            2 => Self::Warning,
            3 => Self::Info,
            _ => Self::Log,
        }
    }
}

impl From<MessageType> for u32 {
    fn from(level: MessageType) -> Self {
        match level {
            MessageType::Error => 1,
            MessageType::Warning => 2,
            MessageType::Info => 3,
            MessageType::Log => 4,
        }
    }
}
