//! Settings of the embedded agent for `rawr exec`: the model, the system prompt, the environment of its tools.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{anyhow, bail};

use super::{HostHistory, RequiredSwitches, of_claude, of_codex, switches};
use crate::args::AgentArgs;
use crate::commands::common::compaction_prompts;
use rawr_host::host::embedded::{
    Chat, ChatSettings, Embedded, EmbeddedSettings, Model, RetrySettings, Scene, SceneCue, Script,
    ScriptLine,
};
use rawr_host::sidecar::SidecarClient;

/// The default variable with the API key.
const KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// The default context window in tokens.
const CONTEXT_WINDOW: u64 = 128_000;
const SCRIPT_WINDOW: u64 = 32_000;

/// Tokens of an answer between two usage estimates.
const ESTIMATE_EVERY: u64 = 256;

const INSTRUCTIONS: &str = "\
You are a coding agent. You work in the current folder with the tools that you are given, until the task is done or \
only the user can go on.

- Look before you change anything, and check what you did by running it.
- For work of several steps keep a plan with update_plan. Mark a step when it begins and when it is done.
- Change only what the task needs.
- Messages that begin with [rawr] come from the program that looks after your context. Do what they ask.
- End with a short message: what you did, and what is open.";

/// The model that the options select.
pub(super) enum ModelChoice {
    Endpoint { chat: Box<Chat>, key_variable: OsString },
    Script(Script),
}

/// Checks the options before anything is started.
pub(super) fn choose(args: &AgentArgs) -> anyhow::Result<ModelChoice> {
    let foreign: [(&RequiredSwitches, &str); 2] =
        [(&of_codex(args), "codex"), (&of_claude(args), "claude")];
    for (options, host) in foreign {
        if let Some((name, _)) = options.iter().find(|(_, is_given)| *is_given) {
            bail!("--{name} is for --host {host}");
        }
    }
    let (model, base_url) = match (&args.model, &args.base_url) {
        (Some(model), Some(base_url)) => (model.clone(), base_url.clone()),
        (Some(_), None) => bail!(
            "no endpoint for the model; pass one with --base-url, such as http://127.0.0.1:8080/v1"
        ),
        (None, Some(_)) => bail!("no model for the endpoint; pass --model"),
        (None, None) => return script(args).map(ModelChoice::Script),
    };
    if args.script.is_some() {
        bail!("--script replaces the model; remove --model and --base-url");
    }
    let (key, key_variable) = key(args)?;
    let compacts = args.remote_compaction;
    let settings = ChatSettings { model, base_url, key, compacts, retry: RetrySettings::default() };
    Ok(ModelChoice::Endpoint { chat: Box::new(Chat::new(settings)?), key_variable })
}

fn script(args: &AgentArgs) -> anyhow::Result<Script> {
    for (name, is_given) in
        [("api-key-env", args.api_key_env.is_some()), ("remote-compaction", args.remote_compaction)]
    {
        if is_given {
            bail!("--{name} needs a model; pass one with --model and --base-url");
        }
    }
    match &args.script {
        Some(file) => Script::read(file).map_err(|error| anyhow!("{}: {error}", file.display())),
        None => Ok(stand_in()),
    }
}

/// The API key. Local endpoints need none, so only an explicitly named variable must be set.
fn key(args: &AgentArgs) -> anyhow::Result<(Option<String>, OsString)> {
    let name = args.api_key_env.as_deref().unwrap_or(KEY_VARIABLE);
    let key = match std::env::var(name) {
        Ok(key) if !key.trim().is_empty() => Some(key.trim().to_owned()),
        _ if args.api_key_env.is_some() => {
            bail!("the variable {name} is empty; set it to the API key")
        }
        _ => None,
    };
    Ok((key, name.into()))
}

/// Starts the agent on the model.
pub(super) async fn start(
    chosen: ModelChoice,
    args: &AgentArgs,
    cwd: PathBuf,
    history: Option<HostHistory>,
    sidecar: &mut SidecarClient,
) -> anyhow::Result<Embedded> {
    let switches = switches(sidecar).await?;
    let mut hidden: Vec<_> = switches.judge_key().map(OsString::from).into_iter().collect();
    let window = match &chosen {
        ModelChoice::Endpoint { key_variable, .. } => {
            hidden.push(key_variable.clone());
            CONTEXT_WINDOW
        }
        ModelChoice::Script(script) => script.context_window.unwrap_or(SCRIPT_WINDOW),
    };
    let settings = EmbeddedSettings {
        cwd,
        environment: Vec::new(),
        hidden,
        pretended: None,
        context_window: args.context_window.unwrap_or(window),
        instructions: INSTRUCTIONS.to_owned(),
        prompts: compaction_prompts(sidecar).await?,
        pace: Duration::ZERO,
        estimate_every: switches.all_are(&MAY_INTERRUPT).then_some(ESTIMATE_EVERY),
    };
    match chosen {
        ModelChoice::Endpoint { chat, .. } => begin(settings, *chat, history),
        ModelChoice::Script(script) => begin(settings, script, history),
    }
}

fn begin(
    settings: EmbeddedSettings,
    model: impl Model,
    history: Option<HostHistory>,
) -> anyhow::Result<Embedded> {
    Ok(match history {
        Some(history) => Embedded::resume(settings, model, history)?,
        None => Embedded::start(settings, model),
    })
}

/// Estimates are only needed if a running request may be aborted for a compaction.
const MAY_INTERRUPT: [(&str, bool); 3] = [
    ("features.rawr_auto_compaction", false),
    ("auto_compact.enabled", true),
    ("auto_compact.interrupt_mid_turn", true),
];

/// The script of an agent without a model, which explains that to the user.
fn stand_in() -> Script {
    let reply = ScriptLine::says(
        "I am a script, not a model: I have read your message and can do nothing with it. `rawr demo` shows me at work, \
         and `--model NAME --base-url URL` puts a model in my place.",
    );
    let packet = ScriptLine::says(
        "<continuation_packet>\nState: waiting_for_user\nGoal: none, this is a script\nDecisions: none\nNext step: wait for the user\n</continuation_packet>",
    );
    let judgment =
        ScriptLine::says(r#"{"should_compact": true, "reason": "the agent is scripted"}"#);
    let scene = |cue, reply: ScriptLine| Scene { cue, replies: vec![reply] };
    Script::new(vec![
        scene(SceneCue::Summary, reply.clone()),
        scene(SceneCue::Aside, packet.clone()),
        scene(SceneCue::Judgment, judgment),
        scene(SceneCue::words(":packet_request]"), packet),
        scene(SceneCue::Anything, reply),
    ])
}
