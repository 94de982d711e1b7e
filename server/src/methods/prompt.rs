//! What people configure: `rawr/prompt/*` and `rawr/config/get`.

use super::{ClientSession, Module, now, on};
use crate::prompts::{Prompt, PromptSource, parse, sample};
use crate::query::placeholder_values;
use crate::registry::ThreadRegistry;
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
use std::collections::BTreeMap;
use std::path::Path;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<PromptList>(module, list)?;
    on::<PromptGet>(module, get)?;
    on::<PromptRender>(module, render_in_force)?;
    on::<PromptPreview>(module, preview)?;
    on::<ConfigGet>(module, config)
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

fn problems(problems: &[crate::problem::FileProblem]) -> Vec<rawr_protocol::Problem> {
    wire::problems(problems)
}

fn list(session: &ClientSession, _: PromptListParams) -> Result<PromptListResult, RpcError> {
    let mut registry = session.registry()?;
    registry.workspace_mut().refresh_prompts();
    let summary = |prompt: &Prompt| PromptSummary {
        name: prompt.name.name().to_owned(),
        path: path(prompt.path.as_deref()),
        origin: origin(prompt),
        version: prompt.version.clone(),
        problems: problems(&prompt.problems),
    };
    Ok(PromptListResult {
        prompts: registry.workspace().prompts().set().iter().map(summary).collect(),
    })
}

fn get(session: &ClientSession, params: PromptGetParams) -> Result<PromptGetResult, RpcError> {
    let name = named(&params.name)?;
    let mut registry = session.registry()?;
    registry.workspace_mut().refresh_prompts();
    let prompt = registry.workspace().prompts().set().get(name);
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
fn fill(
    registry: &ThreadRegistry,
    name: PromptName,
    text: &str,
    thread: Option<&str>,
    given: &BTreeMap<String, String>,
) -> Result<String, RpcError> {
    let known = match thread {
        Some(thread) => {
            let open = registry.open_thread(&wire::thread_id(thread)?)?;
            placeholder_values(open.thread(), open.policy())
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

fn render_in_force(
    session: &ClientSession,
    params: PromptRenderParams,
) -> Result<PromptRenderResult, RpcError> {
    let name = named(&params.name)?;
    let mut registry = session.registry()?;
    registry.workspace_mut().refresh_prompts();
    let prompt = registry.workspace().prompts().set().get(name);
    let text = fill(&registry, name, &prompt.text, params.thread_id.as_deref(), &params.values)?;
    Ok(PromptRenderResult { text, problems: problems(&prompt.problems) })
}

fn preview(
    session: &ClientSession,
    params: PromptPreviewParams,
) -> Result<PromptPreviewResult, RpcError> {
    let name = named(&params.name)?;
    let (text, found) = match parse(name, &params.text, None) {
        Ok(parsed) => (parsed.text, parsed.problems),
        Err(problems) => (params.text, problems),
    };
    let text =
        fill(&*session.registry()?, name, &text, params.thread_id.as_deref(), &BTreeMap::new())?;
    Ok(PromptPreviewResult { tokens: rewrite::estimate(&text), text, problems: problems(&found) })
}

fn config(session: &ClientSession, params: ConfigGetParams) -> Result<ConfigGetResult, RpcError> {
    let thread = params.thread_id.as_deref().map(wire::thread_id).transpose()?;
    let mut registry = session.registry()?;
    registry.refresh_config(now());
    let (config, found) = registry.config(thread.as_ref())?;
    Ok(ConfigGetResult {
        effective: config.effective(),
        problems: problems(&found),
        layers: config.layers().map(str::to_owned).collect(),
    })
}
