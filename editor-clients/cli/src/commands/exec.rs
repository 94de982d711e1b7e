//! `rawr exec`: an agent works on prompts with rawr at its side. Brings host, sidecar and loop together.

mod embedded;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use rawr_protocol::{ConfigGetParams, Directive, methods};
use serde_json::{Map, Value};

use super::{Common, exit_code, overrides, prompt, thread_folder};
use crate::args::{AgentArgs, ExecArgs, HostName};
use crate::render::{Reader, Renderer};
use rawr_host::drive::{self, Drive, DriveError, Prompts};
use rawr_host::event::{Level, Reporter, SessionEvent};
use rawr_host::host::claude::{Claude, ClaudeSettings, find_claude};
use rawr_host::host::codex::{Codex, CodexSettings, find_codex};
use rawr_host::host::{Host, OwnCompaction};
use rawr_host::session_files::SessionFiles;
use rawr_host::sidecar::{Launch, Sidecar, SidecarSettings};
use rawr_host::stop::Stop;

pub(super) async fn run(common: &Common, args: ExecArgs) -> anyhow::Result<ExitCode> {
    let cwd = folder(args.cd.as_deref())?;
    let settings = common.sidecar(overrides(&args.agent.config)?)?;
    let mut prompts = prompts(&args)?;
    if prompts.is_empty().await {
        bail!("no prompt: pass it as an argument or on stdin, one per line");
    }
    let reader = if args.output.json { Reader::Program } else { Reader::Person };
    let session = Session {
        settings,
        prompts,
        directives: Vec::new(),
        renderer: Renderer::stdout(reader),
        home: common.home()?.dir,
    };
    match args.host {
        HostName::Codex => {
            let settings = codex_settings(&args.agent, cwd)?;
            session
                .on_codex(async |own_compaction| {
                    let settings = CodexSettings { own_compaction, ..settings };
                    Ok(Codex::start(&settings).await?)
                })
                .await
        }
        HostName::Claude => session.on_claude(claude_settings(&args.agent, cwd)?).await,
        HostName::Embedded => session.on_embedded(&args.agent, cwd, None).await,
    }
}

/// Everything of a session but its host.
pub(super) struct Session {
    pub settings: SidecarSettings,
    pub prompts: Prompts,
    /// Standing instructions that the conversation brings along.
    pub directives: Vec<Directive>,
    pub renderer: Renderer,
    pub home: PathBuf,
}

/// Codex as the options say.
pub(super) fn codex_settings(args: &AgentArgs, cwd: PathBuf) -> anyhow::Result<CodexSettings> {
    not_for("Codex", "embedded", &of_embedded(args))?;
    not_for("Codex", "claude", &of_claude(args))?;
    let mut settings = CodexSettings::new(find_codex(args.codex.as_deref())?, cwd);
    settings.model = args.model.clone();
    settings.sandbox = args.sandbox.map(Into::into);
    Ok(settings)
}

/// Claude Code as the options say.
fn claude_settings(args: &AgentArgs, cwd: PathBuf) -> anyhow::Result<ClaudeSettings> {
    not_for("Claude Code", "embedded", &of_embedded(args))?;
    not_for("Claude Code", "codex", &of_codex(args))?;
    let mut settings = ClaudeSettings::new(find_claude(args.claude.as_deref())?, cwd);
    settings.model = args.model.clone();
    settings.permission_mode = args.permission_mode.clone();
    Ok(settings)
}

/// Options of one host, and whether they are given.
type RequiredSwitches = [(&'static str, bool)];

fn of_codex(args: &AgentArgs) -> [(&'static str, bool); 2] {
    [("codex", args.codex.is_some()), ("sandbox", args.sandbox.is_some())]
}

fn of_claude(args: &AgentArgs) -> [(&'static str, bool); 2] {
    [("claude", args.claude.is_some()), ("permission-mode", args.permission_mode.is_some())]
}

fn of_embedded(args: &AgentArgs) -> [(&'static str, bool); 5] {
    [
        ("base-url", args.base_url.is_some()),
        ("api-key-env", args.api_key_env.is_some()),
        ("context-window", args.context_window.is_some()),
        ("remote-compaction", args.remote_compaction),
        ("script", args.script.is_some()),
    ]
}

fn not_for(host: &str, theirs: &str, options: &RequiredSwitches) -> anyhow::Result<()> {
    match options.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => {
            bail!("--{name} is for --host {theirs}; {host} has its own configuration")
        }
        None => Ok(()),
    }
}

impl Session {
    /// On the Codex that `start` starts.
    pub(super) async fn on_codex(
        self,
        start: impl AsyncFnOnce(OwnCompaction) -> anyhow::Result<Codex>,
    ) -> anyhow::Result<ExitCode> {
        let stop = Stop::on_signals()?;
        // A sidecar that cannot start should not cost a Codex.
        let mut sidecar = self.settings.launch().await?;
        let started = async { start(switches(&mut sidecar).await?.own_compaction()).await };
        match started.await {
            Ok(host) => self.drive(host, sidecar, stop).await,
            Err(error) => {
                sidecar.stop().await;
                Err(error)
            }
        }
    }

    async fn on_claude(self, settings: ClaudeSettings) -> anyhow::Result<ExitCode> {
        let stop = Stop::on_signals()?;
        let mut sidecar = self.settings.launch().await?;
        let started = async {
            let own_compaction = switches(&mut sidecar).await?.own_compaction();
            let compact_instructions = prompt(&mut sidecar, "compact").await?;
            let settings = ClaudeSettings { own_compaction, compact_instructions, ..settings };
            Ok(Claude::start(&settings).await?)
        };
        match started.await {
            Ok(host) => self.drive(host, sidecar, stop).await,
            Err(error) => {
                sidecar.stop().await;
                Err(error)
            }
        }
    }

    /// With a history, an agent that goes on from there.
    pub(super) async fn on_embedded(
        self,
        args: &AgentArgs,
        cwd: PathBuf,
        history: Option<History>,
    ) -> anyhow::Result<ExitCode> {
        let chosen = embedded::choose(args)?;
        let stop = Stop::on_signals()?;
        let mut sidecar = self.settings.launch().await?;
        match embedded::start(chosen, args, cwd, history, &mut sidecar).await {
            Ok(host) => self.drive(host, sidecar, stop).await,
            Err(error) => {
                sidecar.stop().await;
                Err(error)
            }
        }
    }

    async fn drive(
        mut self,
        host: impl Host,
        sidecar: Sidecar,
        mut stop: Stop,
    ) -> anyhow::Result<ExitCode> {
        let thread_id = host.thread().thread_id.clone();
        if self.prompts.is_live() {
            let message = "type a message and press Enter; Ctrl-D ends";
            self.renderer.keep_still();
            self.renderer.report(&SessionEvent::Notice { level: Level::Info, message })?;
        }
        let (settings, renderer, prompts) = (self.settings, &mut self.renderer, &mut self.prompts);
        let (directives, asked_to_stop) = (self.directives, &mut stop);
        let done = async {
            let drive = Drive::open(host, settings, sidecar, renderer).await?;
            drive.direct(&directives).await?.run(prompts, asked_to_stop).await
        };
        let done = done.await;
        let packet = done.as_ref().ok().and_then(|done| done.packet.as_ref());
        if let Some(hold) = done.as_ref().ok().and_then(|done| done.paused.as_ref()) {
            let message = format!(
                "compactions are paused: {}; rawr compacts again when {}",
                hold.reason, hold.ends_when
            );
            self.renderer
                .report(&SessionEvent::Notice { level: Level::Warning, message: &message })?;
        }
        // What the agent was asked for is not done: for a script that is no success.
        if let Err(DriveError::Output(error)) = &done
            && error.kind() == ErrorKind::BrokenPipe
        {
            return Ok(ExitCode::from(READER_GONE));
        }
        if let Some(saved) = SessionFiles::list(thread_folder(&self.home, &thread_id), packet) {
            self.renderer.report(&SessionEvent::Saved(&saved))?;
        }
        exit_code(done, &stop)
    }
}

/// As a shell tells of a program that SIGPIPE has ended.
const READER_GONE: u8 = 141;

/// One session from its opening to its end.
pub(super) async fn drive<L: Launch>(
    host: impl Host,
    launch: L,
    sidecar: Sidecar,
    renderer: &mut Renderer,
    prompts: &mut Prompts,
    stop: &mut Stop,
) -> Result<drive::Session, DriveError> {
    Drive::open(host, launch, sidecar, renderer).await?.run(prompts, stop).await
}

/// Neither rawr nor its plain compaction is wanted.
const ALL_OFF: [(&str, bool); 2] =
    [("features.rawr_auto_compaction", false), ("auto_compact.enabled", false)];

/// A host leaves compaction to rawr, unless nothing of rawr's is wanted.
/// As a host gave it.
pub(super) type History = Vec<Map<String, Value>>;

/// What the user switched on and off.
pub(super) struct Switches(pub(super) Map<String, Value>);

async fn switches(sidecar: &mut Sidecar) -> anyhow::Result<Switches> {
    let params = ConfigGetParams { thread_id: None };
    let got = sidecar.call::<methods::ConfigGet>(params).await;
    Ok(Switches(got.context("failed to load configuration")?.effective))
}

impl Switches {
    /// What is left to Codex itself.
    pub(super) fn own_compaction(&self) -> OwnCompaction {
        match self.all_are(&ALL_OFF) {
            true => OwnCompaction::AsConfigured,
            false => OwnCompaction::EmergencyBrakeOnly,
        }
    }

    pub(super) fn all_are(&self, expected: &[(&str, bool)]) -> bool {
        expected.iter().all(|(key, value)| {
            self.0.get(*key).and_then(|entry| entry.get("value")) == Some(&Value::Bool(*value))
        })
    }

    /// The variable that holds the key of the judge's endpoint: one that the user named, or the usual one where a judge is
    /// asked by it.
    fn judge_key(&self) -> Option<&str> {
        let of = |key: &str, field: &str| {
            let entry = self.0.get(&format!("rawr_auto_compaction.judgment.{key}"))?;
            entry.get(field)?.as_str()
        };
        let is_named = of("api_key_env", "layer") != Some("built-in");
        let is_asked = matches!(of("backend", "value"), Some("responses" | "chat"));
        of("api_key_env", "value").filter(|_| is_named || is_asked)
    }
}

pub(super) fn folder(cd: Option<&Path>) -> anyhow::Result<PathBuf> {
    let cwd = match cd {
        Some(cd) => std::path::absolute(cd)?,
        None => std::env::current_dir().context("the current folder no longer exists")?,
    };
    if !cwd.is_dir() {
        bail!("{} is not a folder: name one with --cd DIR", cwd.display());
    }
    Ok(cwd)
}

fn prompts(args: &ExecArgs) -> anyhow::Result<Prompts> {
    if args.prompts.iter().any(|prompt| prompt.trim().is_empty()) {
        bail!("empty prompt: describe the task");
    }
    Ok(if args.prompts.is_empty() {
        Prompts::from_stdin()
    } else {
        Prompts::known(args.prompts.iter().cloned())
    })
}
