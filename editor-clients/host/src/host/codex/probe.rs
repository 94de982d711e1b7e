//! Detects the features and the configuration of an installed Codex, for `rawr doctor`. It must not start a conversation.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::connection::CodexConnection;
use super::message::CodexError;
use super::requests::{self, AppServerRequest};
use super::{CodexSettings, version};
use crate::host::HostError;

/// The features and settings of a Codex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodexProbe {
    /// The version of Codex.
    pub version: String,
    /// Whether it has `thread/sample` (experimental): a model answer outside the history.
    pub thread_sample: bool,
    /// Whether it has `thread/queue/*` (experimental): turns that Codex starts as soon as it is idle.
    pub thread_queue: bool,
    /// `[tools.update_plan] enabled`. If unset, the agent has no plan tool and Codex sends no plan signals. `None` if this
    /// Codex does not report its configuration.
    pub update_plan: Option<bool>,
    /// `[features.token_budget]`: Codex's own warning and reset, which conflicts with rawr.
    pub token_budget: Option<bool>,
    /// The hooks that it finds in `settings.cwd`. `None` if this Codex does not list hooks.
    pub hooks: Option<Vec<ListedHook>>,
}

/// A hook that runs a command, as Codex lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedHook {
    /// The command line.
    pub command: String,
    /// The file that defines it.
    pub file: PathBuf,
    /// Whether Codex runs it.
    pub standing: HookTrust,
}

/// Whether Codex runs a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookTrust {
    /// Codex runs the hook.
    Runs,
    /// Skipped silently, because the user has not trusted it or it changed since.
    Untrusted,
    /// The user disabled it.
    Off,
}

/// Starts an app-server in `settings.cwd`, reads its features and settings, and stops it.
///
/// # Errors
///
/// Fails if the process does not start or does not answer.
pub async fn probe(settings: &CodexSettings) -> Result<CodexProbe, HostError> {
    let version = version(&settings.binary).await?;
    let mut connection = CodexConnection::open(&settings.binary, settings.command()).await?;
    let thread_sample = knows_sample(&mut connection).await?;
    let thread_queue = knows_queue(&mut connection).await?;
    let layers = layers(&mut connection, &settings.cwd).await?;
    let hooks = hooks(&mut connection, &settings.cwd).await?;
    connection.close().await;
    let setting = |path| layers.as_ref().map(|layers| is_on(layers, path));
    Ok(CodexProbe {
        version,
        thread_sample,
        thread_queue,
        update_plan: setting(["tools", "update_plan"]),
        token_budget: setting(TOKEN_BUDGET),
        hooks,
    })
}

#[derive(Deserialize)]
struct Hooks {
    data: Vec<HooksOfFolder>,
}

#[derive(Deserialize)]
struct HooksOfFolder {
    hooks: Vec<HookAbout>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookAbout {
    /// Absent for other kinds of hooks.
    command: Option<String>,
    source_path: PathBuf,
    enabled: bool,
    trust_status: TrustStatus,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
enum TrustStatus {
    Untrusted,
    Modified,
    #[serde(other)]
    Trusted,
}

async fn hooks(
    connection: &mut CodexConnection,
    cwd: &Path,
) -> Result<Option<Vec<ListedHook>>, HostError> {
    let answer = connection.ask(requests::hooks_list(cwd)).await?;
    let listed = answer.ok().and_then(|answer| serde_json::from_value::<Hooks>(answer).ok());
    Ok(listed.map(|listed| {
        let hooks = listed.data.into_iter().flat_map(|folder| folder.hooks);
        hooks.filter_map(HookAbout::listed).collect()
    }))
}

impl HookAbout {
    fn listed(self) -> Option<ListedHook> {
        let standing = match self.trust_status {
            _ if !self.enabled => HookTrust::Off,
            TrustStatus::Untrusted | TrustStatus::Modified => HookTrust::Untrusted,
            TrustStatus::Trusted => HookTrust::Runs,
        };
        Some(ListedHook { command: self.command?, file: self.source_path, standing })
    }
}

const TOKEN_BUDGET: [&str; 2] = ["features", "token_budget"];

/// Whether `token_budget` is on in the configuration for all folders. False if this Codex does not report it.
pub(super) async fn has_token_budget(connection: &mut CodexConnection) -> Result<bool, HostError> {
    let answer = connection.ask(requests::config_read()).await?;
    Ok(layers_in(answer).is_some_and(|layers| is_on(&layers, TOKEN_BUDGET)))
}

pub(super) async fn knows_sample(connection: &mut CodexConnection) -> Result<bool, HostError> {
    knows(connection, requests::sample_nothing()).await
}

async fn knows_queue(connection: &mut CodexConnection) -> Result<bool, HostError> {
    knows(connection, requests::queue_of_nothing()).await
}

/// Whether Codex has a method: an unknown or disabled method fails with an error about the method, a known one with an error
/// about the thread.
async fn knows(
    connection: &mut CodexConnection,
    request: AppServerRequest,
) -> Result<bool, HostError> {
    let answer = connection.ask(request).await?;
    Ok(answer.err().is_none_or(|refusal| {
        !refusal.message.contains("unknown variant") && !refusal.message.contains("experimentalApi")
    }))
}

#[derive(Deserialize)]
struct CodexConfig {
    layers: Option<Vec<CodexConfigLayer>>,
}

#[derive(Deserialize)]
struct CodexConfigLayer {
    config: Value,
}

/// The configuration layers in `cwd`, highest precedence first.
async fn layers(
    connection: &mut CodexConnection,
    cwd: &Path,
) -> Result<Option<Vec<CodexConfigLayer>>, HostError> {
    let answer = connection.ask(requests::config_read_in(cwd)).await?;
    Ok(layers_in(answer))
}

fn layers_in(answer: Result<Value, CodexError>) -> Option<Vec<CodexConfigLayer>> {
    serde_json::from_value::<CodexConfig>(answer.ok()?).ok()?.layers
}

/// A feature may be a plain bool or a table with `enabled`.
fn is_on(layers: &[CodexConfigLayer], [table, key]: [&str; 2]) -> bool {
    let set = layers.iter().find_map(|layer| {
        let value = layer.config.get(table)?.get(key)?;
        value.as_bool().or_else(|| value.get("enabled")?.as_bool())
    });
    set.unwrap_or(false)
}
