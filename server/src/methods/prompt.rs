//! What people configure: `rawr/prompt/*` and `rawr/config/get`.

use super::{ClientSession, Module, on};
use crate::query::placeholder_values;
use crate::registry::OpenThread;
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::prompt::{PromptName, render};
use rawr_core::rewrite;
use rawr_protocol::methods::{ConfigGet, PromptGet, PromptList, PromptPreview, PromptRender};
use rawr_protocol::{
    ConfigGetParams, ConfigGetResult, ErrorCode, PromptGetParams, PromptGetResult,
    PromptListParams, PromptListResult, PromptOrigin, PromptPreviewParams, PromptPreviewResult,
    PromptRenderParams, PromptRenderResult, PromptSummary,
};
use rawr_settings::prompts::{Prompt, PromptSource, parse, sample};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<PromptList, _>(module, list)?;
    on::<PromptGet, _>(module, get)?;
    on::<PromptRender, _>(module, render_in_force)?;
    on::<PromptPreview, _>(module, preview)?;
    on::<ConfigGet, _>(module, config)
}

fn named(name: &str) -> Result<PromptName, RpcError> {
    PromptName::from_name(name).ok_or_else(|| {
        let all = PromptName::ALL.map(PromptName::name).join(", ");
        let mut error =
            RpcError::new(ErrorCode::UnknownName, format!("unknown prompt `{name}`"), all);
        error.data.field = Some("name".to_owned());
        error
    })
}

fn path(path: Option<&Path>) -> Option<String> {
    path.map(|path| path.display().to_string())
}

const fn origin(prompt: &Prompt) -> PromptOrigin {
    match prompt.origin {
        PromptSource::Shipped => PromptOrigin::Shipped,
        PromptSource::User => PromptOrigin::User,
    }
}

fn problems(problems: &[rawr_settings::problem::FileProblem]) -> Vec<rawr_protocol::Problem> {
    wire::problems(problems)
}

async fn list(
    session: Arc<ClientSession>,
    _: PromptListParams,
) -> Result<PromptListResult, RpcError> {
    let prompts = session.workspace()?.refreshed_prompts().await;
    let summary = |prompt: &Prompt| PromptSummary {
        name: prompt.name.name().to_owned(),
        path: path(prompt.path.as_deref()),
        origin: origin(prompt),
        version: prompt.version.clone(),
        problems: problems(&prompt.problems),
    };
    Ok(PromptListResult { prompts: prompts.iter().map(summary).collect() })
}

async fn get(
    session: Arc<ClientSession>,
    params: PromptGetParams,
) -> Result<PromptGetResult, RpcError> {
    let name = named(&params.name)?;
    let prompts = session.workspace()?.refreshed_prompts().await;
    let prompt = prompts.get(name);
    Ok(PromptGetResult {
        name: params.name,
        path: path(prompt.path.as_deref()),
        origin: origin(prompt),
        version: prompt.version.clone(),
        text: prompt.text.clone(),
        front_matter: prompt.front_matter.clone(),
        placeholders: name
            .placeholders()
            .iter()
            .map(|placeholder| placeholder.camel.to_owned())
            .collect(),
        problems: problems(&prompt.problems),
    })
}

/// The caller's values override those of the thread. Other placeholders show an example.
async fn fill(
    session: &ClientSession,
    name: PromptName,
    text: &str,
    thread: Option<&str>,
    given: &BTreeMap<String, String>,
) -> Result<String, RpcError> {
    let known = match thread {
        Some(thread) => {
            let values = |open: &mut OpenThread| placeholder_values(open.thread(), open.policy());
            session.registry()?.read(&wire::thread_id(thread)?, values).await?
        }
        None => BTreeMap::new(),
    };
    let spelled =
        |camel: &str| name.placeholders().iter().find(|p| p.camel == camel).map_or("", |p| p.snake);
    Ok(render(name, text, |camel| {
        let value =
            given.get(camel).or_else(|| given.get(spelled(camel))).or_else(|| known.get(camel));
        value.map(String::as_str).or_else(|| sample(camel))
    }))
}

async fn render_in_force(
    session: Arc<ClientSession>,
    params: PromptRenderParams,
) -> Result<PromptRenderResult, RpcError> {
    let name = named(&params.name)?;
    let prompts = session.workspace()?.refreshed_prompts().await;
    let prompt = prompts.get(name);
    let thread = params.thread_id.as_deref();
    let text = fill(&session, name, &prompt.text, thread, &params.values).await?;
    Ok(PromptRenderResult { text, problems: problems(&prompt.problems) })
}

async fn preview(
    session: Arc<ClientSession>,
    params: PromptPreviewParams,
) -> Result<PromptPreviewResult, RpcError> {
    let name = named(&params.name)?;
    let (text, found) = match parse(name, &params.text, None) {
        Ok(parsed) => (parsed.text, parsed.problems),
        Err(problems) => (params.text, problems),
    };
    let thread = params.thread_id.as_deref();
    let text = fill(&session, name, &text, thread, &BTreeMap::new()).await?;
    Ok(PromptPreviewResult { tokens: rewrite::estimate(&text), text, problems: problems(&found) })
}

async fn config(
    session: Arc<ClientSession>,
    params: ConfigGetParams,
) -> Result<ConfigGetResult, RpcError> {
    let thread = params.thread_id.as_deref().map(wire::thread_id).transpose()?;
    let workspace = session.workspace()?;
    workspace.refresh_config().await;
    let settings = match thread {
        Some(id) => session.registry()?.read(&id, |open| Arc::clone(open.settings())).await?,
        None => Arc::new(workspace.ask(|workspace| workspace.base().clone()).await),
    };
    Ok(ConfigGetResult {
        effective: settings.config.effective(),
        problems: problems(&settings.problems),
        layers: settings.config.layers().map(str::to_owned).collect(),
    })
}
