//! `rawr hooks install`: adds rawr's hooks to an agent's configuration, or removes them. Other settings are not changed, and
//! the old file is backed up.

mod settings;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

pub(super) use self::settings::InstalledHooks;
use self::settings::{WINDOW, WantedHook, install, installed, uninstall};
use super::backup::keep;
use super::common::CommonOptions;
use crate::args::{HookHost, HooksArgs, HooksCommand, HooksInstallArgs};
use crate::render::number;
use rawr_host::host::find::in_path;

pub(super) fn run(common: &CommonOptions, args: &HooksArgs) -> anyhow::Result<ExitCode> {
    let HooksCommand::Install(args) = &args.command;
    let project = args.project.as_deref().map(folder).transpose()?;
    let mut out = anstream::stdout().lock();
    for (host, is_wanted) in [(HookHost::Claude, args.claude), (HookHost::Codex, args.codex)] {
        if !is_wanted {
            continue;
        }
        let path = settings_file(host, project.as_deref())?;
        let wanted = if args.uninstall { Vec::new() } else { wanted(common, args, host)? };
        let done = change(&path, |text| match args.uninstall {
            true => uninstall(text, host),
            false => install(text, host, &wanted),
        })?;
        let shown = path.display();
        match (done, args.uninstall) {
            (InstallOutcome::Nothing, true) => {
                writeln!(out, "kept  {shown} (rawr's hooks are not in it)")?
            }
            (InstallOutcome::Nothing, false) => {
                writeln!(out, "kept  {shown} (rawr's hooks are in it)")?
            }
            (InstallOutcome::Removed, _) => {
                writeln!(out, "removed {shown} (nothing else was in it)")?
            }
            (InstallOutcome::Written { old: None }, _) => writeln!(out, "wrote {shown}")?,
            (InstallOutcome::Written { old: Some(old) }, _) => {
                writeln!(out, "wrote {shown} (backup: {})", old.display())?;
            }
        }
        match host {
            _ if args.uninstall => {}
            HookHost::Claude => {
                writeln!(out, "{}", words_on_window(args.context_window))?;
                writeln!(out, "{PLUGIN}")?;
            }
            HookHost::Codex => writeln!(out, "Next: {TRUST}; until then Codex skips them.")?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Points to the plugin, which starts compactions itself.
const PLUGIN: &str =
    "The plugin for Claude Code does more, and both may be installed: see `rawr doctor`.";

/// Describes the window, which Claude Code does not report to its hooks.
pub(super) fn words_on_window(told: Option<u64>) -> String {
    match told {
        Some(tokens) => format!("Claude Code's window: {} tokens.", number(tokens)),
        None => format!(
            "Claude Code's window is assumed by its model: {} tokens, {} for older ones (Haiku 4.5, Sonnet 4, Opus up \
             to 4.6). Set another: rawr hooks install --claude --context-window TOKENS",
            number(1_000_000),
            number(200_000),
        ),
    }
}

fn folder(named: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(named)?;
    if !path.is_dir() {
        bail!("{} is not a folder; pass the project with --project DIR", path.display());
    }
    Ok(path)
}

/// The file with an agent's hooks. For a project, the one that is not shared, because rawr's path differs between machines.
pub(super) fn settings_file(host: HookHost, project: Option<&Path>) -> anyhow::Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = |folder: &str| -> anyhow::Result<PathBuf> {
        let home = set("HOME").context("HOME is not set; pass a project with --project DIR")?;
        Ok(Path::new(&home).join(folder))
    };
    Ok(match (host, project) {
        (HookHost::Claude, Some(project)) => project.join(".claude/settings.local.json"),
        (HookHost::Codex, Some(project)) => project.join(".codex/hooks.json"),
        (HookHost::Claude, None) => match set("CLAUDE_CONFIG_DIR") {
            Some(folder) => Path::new(&folder).join("settings.json"),
            None => home(".claude/settings.json")?,
        },
        (HookHost::Codex, None) => match set("CODEX_HOME") {
            Some(folder) => Path::new(&folder).join("hooks.json"),
            None => home(".codex/hooks.json")?,
        },
    })
}

/// rawr's hooks in a file, if there are any.
pub(super) fn installed_in(host: HookHost, path: &Path) -> anyhow::Result<Option<InstalledHooks>> {
    let text = read(path)?;
    installed(text.as_deref(), host).with_context(|| path.display().to_string())
}

/// Whether an agent's hook is rawr's.
pub(super) fn is_ours(host: HookHost, command: &str) -> bool {
    settings::ours(command, host).is_some()
}

/// How to make Codex run hooks that it skips.
pub(super) const TRUST: &str = "start `codex`, type /hooks and trust them";

/// The hooks to install.
fn wanted(
    common: &CommonOptions,
    args: &HooksInstallArgs,
    host: HookHost,
) -> anyhow::Result<Vec<WantedHook>> {
    let mut words = vec![utf8(&this_program()?)?];
    // Without --home, the agent's environment determines the home.
    if common.home.is_some() {
        words.extend(["--home".to_owned(), utf8(&common.home()?.dir)?]);
    }
    let wanted = [
        ("Stop", None, 60),
        ("SessionStart", Some("compact|resume"), 30),
        ("UserPromptSubmit", None, 30),
        ("PreCompact", None, 30),
    ];
    wanted
        .into_iter()
        .map(|(event, matcher, timeout)| {
            let mut words = words.clone();
            words.extend(["hook", event, "--host", host.name()].map(str::to_owned));
            if let Some(tokens) = args.context_window {
                words.extend([WINDOW.to_owned(), tokens.to_string()]);
            }
            words.extend(args.headless.then(|| "--headless".to_owned()));
            let command = shlex::try_join(words.iter().map(String::as_str))?;
            Ok(WantedHook { event, matcher, command, timeout })
        })
        .collect()
}

/// The path of this program as it was called, if that leads to this executable: the path of a link survives an upgrade, its
/// target may not.
fn this_program() -> anyhow::Result<PathBuf> {
    let program =
        std::env::current_exe().context("cannot determine the path of the rawr executable")?;
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let is_a_path = called.components().count() > 1;
    let named = match is_a_path {
        true => Some(called),
        false => in_path(&called, std::env::var_os("PATH").as_deref()),
    };
    let real = program.canonicalize()?;
    let named = named.filter(|named| named.canonicalize().is_ok_and(|found| found == real));
    Ok(named.unwrap_or(program))
}

fn utf8(path: &Path) -> anyhow::Result<String> {
    let path = std::path::absolute(path)?;
    let text = path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))?;
    Ok(text.to_owned())
}

/// The suffix of the backup.
const BEFORE: &str = "before-rawr";

enum InstallOutcome {
    Nothing,
    Removed,
    Written { old: Option<PathBuf> },
}

/// Replaces the file atomically, following links.
fn change(
    path: &Path,
    edit: impl Fn(Option<&str>) -> Result<Option<String>, settings::SettingsProblem>,
) -> anyhow::Result<InstallOutcome> {
    let text = read(path)?;
    let edited =
        edit(text.as_deref()).with_context(|| format!("{} was not changed", path.display()))?;
    let Some(edited) = edited else { return Ok(InstallOutcome::Nothing) };
    // Without a backup, the file was created by installing.
    let kept = PathBuf::from(format!("{}.{BEFORE}", path.display()));
    if edited.trim() == "{}" && !kept.exists() {
        std::fs::remove_file(path).with_context(|| path.display().to_string())?;
        return Ok(InstallOutcome::Removed);
    }
    let path = if text.is_some() { path.canonicalize()? } else { path.to_owned() };
    let cannot = || format!("{} cannot be written", path.display());
    let folder = path.parent().context("a file without a folder")?;
    std::fs::create_dir_all(folder).with_context(cannot)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(cannot)?;
    file.write_all(edited.as_bytes()).with_context(cannot)?;
    let mut old = None;
    if text.is_some() {
        file.as_file().set_permissions(path.metadata()?.permissions()).with_context(cannot)?;
        old = Some(keep(&path, &format!(".{BEFORE}"))?);
    }
    file.as_file().sync_all().with_context(cannot)?;
    file.persist(&path).map_err(|error| error.error).with_context(cannot)?;
    Ok(InstallOutcome::Written { old })
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}
