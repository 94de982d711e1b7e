//! What an installed Codex can do and how it is configured, for `rawr doctor`. Starts no conversation and calls no model.

use std::path::Path;

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
}

/// Asks a Codex of its own, started in `settings.cwd`.
pub async fn probe(settings: &CodexSettings) -> Result<CodexProbe, HostError> {
    let version = version(&settings.binary).await?;
    let mut connection = Connection::open(&settings.binary, settings.command()).await?;
    let thread_sample = knows_sample(&mut connection).await?;
    let thread_queue = knows_queue(&mut connection).await?;
    let layers = layers(&mut connection, &settings.cwd).await?;
    connection.close().await;
    let setting = |path| layers.as_ref().map(|layers| is_on(layers, path));
    Ok(CodexProbe {
        version,
        thread_sample,
        thread_queue,
        update_plan: setting(["tools", "update_plan"]),
        token_budget: setting(TOKEN_BUDGET),
    })
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
