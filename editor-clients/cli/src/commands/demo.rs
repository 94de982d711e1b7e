//! `rawr demo`: a scripted session with one compaction, with real files, real commits and the real sidecar.

mod session;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Map;
use tempfile::TempDir;
use tokio::process::Command;

use super::common::{CommonOptions, compaction_prompts, exit_code, thread_folder};
use super::exec::{drive, next_steps};
use crate::args::DemoArgs;
use crate::render::Renderer;
use rawr_host::drive::{PromptQueue, SessionEnd};
use rawr_host::event::{NoticeLevel, Reporter, SessionEvent};
use rawr_host::host::AgentHost;
use rawr_host::host::embedded::{self, Embedded, EmbeddedSettings};
use rawr_host::private_fs::make_folder;
use rawr_host::session_files::SessionFiles;
use rawr_host::sidecar::Launch;
use rawr_host::stop::StopRequest;

/// The pause before each answer of the scripted model with --slow.
const PACE: Duration = Duration::from_millis(450);

pub(super) async fn run(common: &CommonOptions, args: DemoArgs) -> anyhow::Result<ExitCode> {
    if common.home.is_some() {
        bail!("the demo uses its own home folder; pass --keep DIR to keep it");
    }
    let mut stop = StopRequest::on_signals()?;
    let place = DemoFolder::new(args.keep.as_deref(), args.lend.as_deref())?;
    let mut renderer = Renderer::stdout(common.format(args.output.json));
    let (command, is_verbose) = (common.command.clone(), common.is_verbose);
    let common = CommonOptions { command, home: Some(place.home()), is_verbose };
    // What the agent of the demo runs.
    for (program, args) in [("sh", ["-c", ":"].as_slice()), ("cat", &["/dev/null"])] {
        if !runs(program, args).await {
            bail!("the demo runs `{program}`, which is not in the PATH");
        }
    }
    let has_git = runs("git", &["--version"]).await;
    if !has_git {
        let message = "git is not installed; the demo's commits are simulated";
        renderer.report(&SessionEvent::Notice { level: NoticeLevel::Warning, message })?;
    }
    prepare(&place.repository(), has_git).await?;

    let launch = common.sidecar(Map::new())?;
    let mut sidecar = launch.launch().await?;
    let settings = EmbeddedSettings {
        cwd: place.repository(),
        environment: environment(),
        hidden: Vec::new(),
        pretended: (!has_git).then_some("git"),
        context_window: session::CONTEXT_WINDOW,
        instructions: session::INSTRUCTIONS.to_owned(),
        prompts: compaction_prompts(&mut sidecar).await?,
        pace: if args.pace { PACE } else { Duration::ZERO },
        estimate_every: None,
    };
    let host = Embedded::start(settings, session::script());
    let thread_id = host.thread().thread_id.clone();
    let mut prompts = PromptQueue::known(session::PROMPTS.map(str::to_owned));
    let done = drive(host, launch, sidecar, &mut renderer, &mut prompts, &mut stop).await;

    let packet = done.as_ref().ok().and_then(|done| done.packet.as_ref());
    if let Some(saved) = SessionFiles::list(thread_folder(&place.home(), &thread_id), packet) {
        renderer.report(&SessionEvent::Saved(&saved))?;
    }
    if let DemoFolder::Kept(_) = &place {
        let next = next_steps(embedded::NAME, &thread_id, Some(&place.home()));
        renderer.report(&SessionEvent::NextSteps(&next))?;
    }
    let is_finished = done.as_ref().is_ok_and(|done| done.ended == SessionEnd::Finished);
    let compactions = done.as_ref().map_or(0, |done| done.compactions);
    if is_finished && compactions != 1 {
        bail!("the demo crossed {compactions} compactions instead of one; please report this");
    }
    let message = place.leave()?;
    renderer.report(&SessionEvent::Notice { level: NoticeLevel::Info, message: &message })?;
    exit_code(done, &stop)
}

/// The demo's folder.
enum DemoFolder {
    Kept(PathBuf),
    /// An editor's, which shows it and removes it.
    Lent(PathBuf),
    Temporary(TempDir),
}

impl DemoFolder {
    fn new(keep: Option<&Path>, lend: Option<&Path>) -> anyhow::Result<Self> {
        let place = match keep.or(lend) {
            Some(folder) => {
                let folder = std::path::absolute(folder)?;
                std::fs::create_dir_all(&folder)
                    .with_context(|| format!("failed to create {}", folder.display()))?;
                if folder.read_dir()?.next().is_some() {
                    bail!("{} is not empty: name a new folder with --keep", folder.display());
                }
                if lend.is_some() { Self::Lent(folder) } else { Self::Kept(folder) }
            }
            None => Self::Temporary(
                tempfile::Builder::new().prefix("rawr-demo-").tempdir().with_context(|| {
                    format!("no temporary folder in {}", std::env::temp_dir().display())
                })?,
            ),
        };
        make_folder(&place.home())?;
        std::fs::create_dir(place.repository())?;
        Ok(place)
    }

    fn folder(&self) -> &Path {
        match self {
            Self::Kept(folder) | Self::Lent(folder) => folder,
            Self::Temporary(folder) => folder.path(),
        }
    }

    fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    fn repository(&self) -> PathBuf {
        self.folder().join("repository")
    }

    /// Removes a temporary folder. Returns a message about the files.
    fn leave(self) -> anyhow::Result<String> {
        match self {
            Self::Kept(folder) => Ok(format!("kept in {}", folder.display())),
            Self::Lent(_) => Ok("the editor removes the demo's files".to_owned()),
            Self::Temporary(folder) => {
                folder.close()?;
                Ok("the demo's files are removed; --keep DIR keeps them".to_owned())
            }
        }
    }
}

async fn runs(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output().await;
    output.is_ok_and(|output| output.status.success())
}

/// Creates a repository with the sample files.
async fn prepare(repository: &Path, has_git: bool) -> anyhow::Result<()> {
    for (name, content) in session::samples() {
        let file = repository.join(name);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(file, content)?;
    }
    if has_git {
        for arguments in [
            &["init", "--quiet"][..],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "Begin with samples"],
        ] {
            let git = Command::new("git")
                .args(arguments)
                .current_dir(repository)
                .envs(environment())
                .output()
                .await?;
            if !git.status.success() {
                let words = String::from_utf8_lossy(&git.stderr);
                bail!("git {} failed: {}", arguments.join(" "), words.trim());
            }
        }
    }
    Ok(())
}

/// Runs git without the user's settings, such as signing or hooks.
fn environment() -> Vec<(OsString, OsString)> {
    let names = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_AUTHOR_NAME", "rawr demo"),
        ("GIT_AUTHOR_EMAIL", "demo@example.invalid"),
        ("GIT_COMMITTER_NAME", "rawr demo"),
        ("GIT_COMMITTER_EMAIL", "demo@example.invalid"),
    ];
    names.map(|(name, value)| (name.into(), value.into())).to_vec()
}
