//! `rawr exec`: runs an agent on prompts. Connects the host, the sidecar and the driver.

mod embedded;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use rawr_protocol::{ConfigGetParams, Directive, Host, methods};
use serde_json::{Map, Value};

use super::codex::profile;
use super::common::{CommonOptions, exit_code, overrides, prompt, thread_folder};
use super::threads::{StoredThread, stored_thread};
use crate::args::{AgentArgs, ExecArgs, HostName};
use crate::render::Renderer;
use rawr_host::drive::{self, Drive, DriveError, PromptQueue};
use rawr_host::event::{NextSteps, NoticeLevel, Reporter, SessionEvent};
use rawr_host::host::claude::{self, Claude, ClaudeSettings, find_claude};
use rawr_host::host::codex::{self, Codex, CodexSettings, find_codex};
use rawr_host::host::{AgentHost, HostThread, OwnCompaction};
use rawr_host::session_files::SessionFiles;
use rawr_host::sidecar::{Launch, SidecarClient, SidecarSettings};
use rawr_host::stop::StopRequest;

pub(super) async fn run(common: &CommonOptions, args: ExecArgs) -> anyhow::Result<ExitCode> {
    let resumed = match &args.resume {
        Some(wanted) => Some(resumed(common, wanted, args.host).await?),
        None => None,
    };
    let cwd = args.cd.as_deref().or(resumed.as_ref().and_then(|thread| thread.cwd.as_deref()));
    let cwd = folder(cwd)?;
    let resume = resumed.map(|thread| thread.id);
    let settings = common.sidecar(overrides(&args.agent.config)?)?;
    let mut prompts = prompts(&args)?;
    if prompts.is_empty().await {
        bail!("no prompt: pass it as an argument or on stdin");
    }
    let session = ExecSession {
        settings,
        prompts,
        directives: Vec::new(),
        renderer: Renderer::stdout(common.format(args.output.json)),
        home: common.home()?.dir,
        named_home: common.home.clone(),
    };
    match args.host {
        HostName::Codex => {
            let settings = CodexSettings { resume, ..codex_settings(&args.agent, cwd)? };
            session
                .on_codex(async |own_compaction| {
                    let settings = CodexSettings { own_compaction, ..settings };
                    Ok(Codex::start(&settings).await?)
                })
                .await
        }
        HostName::Claude => {
            let settings = ClaudeSettings { resume, ..claude_settings(&args.agent, cwd)? };
            session.on_claude(settings).await
        }
        HostName::Embedded => session.on_embedded(&args.agent, cwd, None).await,
    }
}

/// The thread to continue, which nothing else runs.
async fn resumed(
    common: &CommonOptions,
    wanted: &str,
    host: HostName,
) -> anyhow::Result<StoredThread> {
    let host = match host {
        HostName::Codex => codex::NAME,
        HostName::Claude => claude::NAME,
        HostName::Embedded => bail!(
            "the embedded agent stores no conversation; `rawr restore` continues one from a capsule"
        ),
    };
    let thread = stored_thread(common, wanted, host).await?;
    match &thread.owner {
        Some(owner) => bail!("thread {} is run by {owner}; end that session first", thread.id),
        None => Ok(thread),
    }
}

/// The parts of a session other than its host.
pub(super) struct ExecSession {
    pub settings: SidecarSettings,
    pub prompts: PromptQueue,
    /// Standing instructions of a restored conversation.
    pub directives: Vec<Directive>,
    pub renderer: Renderer,
    pub home: PathBuf,
    /// The home folder, if the command line names it.
    pub named_home: Option<PathBuf>,
}

/// Codex's settings from the options.
pub(super) fn codex_settings(args: &AgentArgs, cwd: PathBuf) -> anyhow::Result<CodexSettings> {
    not_for("Codex", "embedded", &of_embedded(args))?;
    not_for("Codex", "claude", &of_claude(args))?;
    let mut settings = CodexSettings::new(find_codex(args.codex.as_deref())?, cwd);
    settings.model = args.model.clone();
    settings.sandbox = args.sandbox.map(Into::into);
    if let Some(name) = &args.profile {
        settings.overrides = profile::settings(name)?.with_context(|| {
            format!("Codex has no profile `{name}`: {name}.config.toml is missing")
        })?;
    }
    settings.overrides.extend(args.codex_config.iter().cloned());
    settings.images =
        args.images.iter().map(|image| self::image(image)).collect::<Result<_, _>>()?;
    Ok(settings)
}

/// An image by its absolute path, because Codex reads it.
fn image(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    if !path.is_file() {
        bail!("no such image: {}", path.display());
    }
    Ok(path)
}

/// Claude Code's settings from the options.
fn claude_settings(args: &AgentArgs, cwd: PathBuf) -> anyhow::Result<ClaudeSettings> {
    not_for("Claude Code", "embedded", &of_embedded(args))?;
    not_for("Claude Code", "codex", &of_codex(args))?;
    let mut settings = ClaudeSettings::new(find_claude(args.claude.as_deref())?, cwd);
    settings.model = args.model.clone();
    settings.permission_mode = args.permission_mode.clone();
    settings.settings = args.claude_settings.clone();
    Ok(settings)
}

/// Options of one host, with whether they are given.
type RequiredSwitches = [(&'static str, bool)];

fn of_codex(args: &AgentArgs) -> [(&'static str, bool); 5] {
    [
        ("codex", args.codex.is_some()),
        ("sandbox", args.sandbox.is_some()),
        ("profile", args.profile.is_some()),
        ("codex-config", !args.codex_config.is_empty()),
        ("image", !args.images.is_empty()),
    ]
}

fn of_claude(args: &AgentArgs) -> [(&'static str, bool); 3] {
    [
        ("claude", args.claude.is_some()),
        ("permission-mode", args.permission_mode.is_some()),
        ("claude-settings", args.claude_settings.is_some()),
    ]
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

impl ExecSession {
    /// Runs the session on the Codex that `start` starts.
    pub(super) async fn on_codex(
        self,
        start: impl AsyncFnOnce(OwnCompaction) -> anyhow::Result<Codex>,
    ) -> anyhow::Result<ExitCode> {
        let stop = StopRequest::on_signals()?;
        // The sidecar first: if it cannot start, Codex need not be started.
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
        let stop = StopRequest::on_signals()?;
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

    /// Runs the session on the embedded agent, with a restored history if there is one.
    pub(super) async fn on_embedded(
        self,
        args: &AgentArgs,
        cwd: PathBuf,
        history: Option<HostHistory>,
    ) -> anyhow::Result<ExitCode> {
        let chosen = embedded::choose(args)?;
        let stop = StopRequest::on_signals()?;
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
        host: impl AgentHost + 'static,
        sidecar: SidecarClient,
        mut stop: StopRequest,
    ) -> anyhow::Result<ExitCode> {
        let HostThread { thread_id, host: Host { name: host_name, .. }, .. } =
            host.thread().clone();
        if self.prompts.is_live() {
            let message = "type a message and press Enter; Ctrl-D ends";
            self.renderer.keep_still();
            self.renderer.report(&SessionEvent::Notice { level: NoticeLevel::Info, message })?;
        }
        let (settings, renderer, prompts) = (self.settings, &mut self.renderer, &mut self.prompts);
        let (directives, asked_to_stop) = (self.directives, &mut stop);
        let done = async {
            let drive = Drive::open(host, settings, sidecar, renderer).await?;
            drive.with_directives(directives).run(prompts, asked_to_stop).await
        };
        let done = done.await;
        let packet = done.as_ref().ok().and_then(|done| done.packet.as_ref());
        if let Some(hold) = done.as_ref().ok().and_then(|done| done.paused.as_ref()) {
            let message = format!(
                "compaction is paused: {}; rawr compacts again when {}",
                hold.reason, hold.ends_when
            );
            self.renderer
                .report(&SessionEvent::Notice { level: NoticeLevel::Warning, message: &message })?;
        }
        // The agent's task is not done, so the command must not exit with success.
        if let Err(DriveError::Output(error)) = &done
            && error.kind() == ErrorKind::BrokenPipe
        {
            return Ok(ExitCode::from(READER_GONE));
        }
        if let Some(saved) = SessionFiles::list(thread_folder(&self.home, &thread_id), packet) {
            self.renderer.report(&SessionEvent::Saved(&saved))?;
            let next = next_steps(&host_name, &thread_id, self.named_home.as_deref());
            self.renderer.report(&SessionEvent::NextSteps(&next))?;
        }
        exit_code(done, &stop)
    }
}

/// What people may want to do after a session.
pub(super) fn next_steps(host: &str, thread_id: &str, home: Option<&Path>) -> NextSteps {
    let home = home.map(|home| quoted(&home.display().to_string()));
    let rawr = home.map_or_else(|| "rawr".to_owned(), |home| format!("rawr --home {home}"));
    let resume = match host {
        codex::NAME => Some(format!("{rawr} codex resume {thread_id}")),
        claude::NAME => Some(format!("{rawr} exec --host claude --resume {thread_id}")),
        _ => None,
    };
    NextSteps { resume, explain: format!("{rawr} explain {thread_id} --list") }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), Into::into)
}

/// A shell's exit code for a program that was ended by SIGPIPE.
const READER_GONE: u8 = 141;

/// Runs one session.
pub(super) async fn drive(
    host: impl AgentHost + 'static,
    launch: impl Launch + 'static,
    sidecar: SidecarClient,
    renderer: &mut Renderer,
    prompts: &mut PromptQueue,
    stop: &mut StopRequest,
) -> Result<drive::SessionResult, DriveError> {
    Drive::open(host, launch, sidecar, renderer).await?.run(prompts, stop).await
}

/// The switches of rawr's sequence and of its built-in compaction, both off.
const ALL_OFF: [(&str, bool); 2] =
    [("features.rawr_auto_compaction", false), ("auto_compact.enabled", false)];

/// A host's history.
pub(super) type HostHistory = Vec<Map<String, Value>>;

/// The effective feature switches.
pub(super) struct FeatureSwitches(pub(super) Map<String, Value>);

async fn switches(sidecar: &mut SidecarClient) -> anyhow::Result<FeatureSwitches> {
    let params = ConfigGetParams { thread_id: None };
    let got = sidecar.call::<methods::ConfigGet>(params).await;
    Ok(FeatureSwitches(got.context("failed to load configuration")?.effective))
}

impl FeatureSwitches {
    /// Whether the host may compact by itself: yes if rawr does not compact.
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

    /// The variable with the API key of the judge's endpoint: the configured one, or the default one if a judge uses it.
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

fn prompts(args: &ExecArgs) -> anyhow::Result<PromptQueue> {
    if args.prompts.iter().any(|prompt| prompt.trim().is_empty()) {
        bail!("empty prompt: describe the task");
    }
    let from_stdin = args.prompts.is_empty() || args.prompts == ["-"];
    if args.lines && !from_stdin {
        bail!("--lines reads stdin: remove the prompts");
    }
    Ok(match (from_stdin, args.lines) {
        (true, true) => PromptQueue::lines_of_stdin(),
        (true, false) => PromptQueue::from_stdin().context("failed to read stdin")?,
        (false, _) => PromptQueue::known(args.prompts.iter().cloned()),
    })
}
