//! What an installed Codex can do and how it is configured, for `rawr doctor`. Starts no conversation and calls no model.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::connection::Connection;
use super::message::Refusal;
use super::{CodexSettings, version};
use crate::host::HostError;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodexProbe {
    pub version: String,
    /// `thread/sample`, experimental: a model answer outside the history.
    pub thread_sample: bool,
    /// `thread/queue/*`, experimental: a turn that Codex starts as soon as it is idle.
    pub thread_queue: bool,
    /// `[tools.update_plan] enabled`; while it is unset the agent has no plan, and Codex sends no plan signals.
    /// `None` when this Codex does not tell.
    pub update_plan: Option<bool>,
    /// `[features.token_budget]`: Codex's own heads-up and reset, which works against rawr's.
    pub token_budget: Option<bool>,
    /// The hooks that it finds in `settings.cwd`. `None` when this Codex does not tell.
    pub hooks: Option<Vec<ListedHook>>,
}

/// A hook that runs a command, as Codex lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedHook {
    pub command: String,
    pub file: PathBuf,
    pub standing: HookTrust,
}

/// What Codex does with a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookTrust {
    Runs,
    /// Passed over without a word: a person has not trusted it, or not as it stands now.
    Untrusted,
    /// A person has switched it off.
    Off,
}

/// Asks a Codex of its own, started in `settings.cwd`.
pub async fn probe(settings: &CodexSettings) -> Result<CodexProbe, HostError> {
    let version = version(&settings.binary).await?;
    let mut connection = Connection::open(&settings.binary, settings.command()).await?;
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
    /// Other kinds run none.
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
    connection: &mut Connection,
    cwd: &Path,
) -> Result<Option<Vec<ListedHook>>, HostError> {
    let answer = connection.ask("hooks/list", json!({"cwds": [cwd]})).await?;
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

/// As Codex is configured for all folders. A Codex that does not tell has none.
pub(super) async fn has_token_budget(connection: &mut Connection) -> Result<bool, HostError> {
    let answer = connection.ask("config/read", json!({"includeLayers": true})).await?;
    Ok(layers_in(answer).is_some_and(|layers| is_on(&layers, TOKEN_BUDGET)))
}

/// No conversation has this id, so that asking about it changes nothing.
const NO_THREAD: &str = "00000000-0000-7000-8000-000000000000";

pub(super) async fn knows_sample(connection: &mut Connection) -> Result<bool, HostError> {
    let params = json!({"threadId": NO_THREAD, "expectedTurnId": NO_THREAD, "prompt": "."});
    knows(connection, "thread/sample", params).await
}

async fn knows_queue(connection: &mut Connection) -> Result<bool, HostError> {
    knows(connection, "thread/queue/list", json!({"threadId": NO_THREAD})).await
}

/// A method that Codex has fails for want of the thread; one that it lacks, or keeps back, fails by its name.
async fn knows(
    connection: &mut Connection,
    method: &'static str,
    params: Value,
) -> Result<bool, HostError> {
    let answer = connection.ask(method, params).await?;
    Ok(answer.err().is_none_or(|refusal| {
        !refusal.message.contains("unknown variant") && !refusal.message.contains("experimentalApi")
    }))
}

#[derive(Deserialize)]
struct Config {
    layers: Option<Vec<Layer>>,
}

#[derive(Deserialize)]
struct Layer {
    config: Value,
}

/// The configuration files and flags that hold in `cwd`, the strongest first.
async fn layers(connection: &mut Connection, cwd: &Path) -> Result<Option<Vec<Layer>>, HostError> {
    let answer = connection.ask("config/read", json!({"includeLayers": true, "cwd": cwd})).await?;
    Ok(layers_in(answer))
}

fn layers_in(answer: Result<Value, Refusal>) -> Option<Vec<Layer>> {
    serde_json::from_value::<Config>(answer.ok()?).ok()?.layers
}

/// A feature may be a plain bool or a table with `enabled`.
fn is_on(layers: &[Layer], [table, key]: [&str; 2]) -> bool {
    let set = layers.iter().find_map(|layer| {
        let value = layer.config.get(table)?.get(key)?;
        value.as_bool().or_else(|| value.get("enabled")?.as_bool())
    });
    set.unwrap_or(false)
}
