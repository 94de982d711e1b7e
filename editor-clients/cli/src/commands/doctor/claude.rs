//! Checks Claude Code and rawr's hooks.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::{CheckStatus, DoctorCheck};
use crate::args::HookHost;
use crate::commands::hooks::{TRUST, installed_in, is_ours, settings_file, words_on_window};
use crate::render::causes;
use rawr_host::host::HostError;
use rawr_host::host::claude::{find_claude, version};
use rawr_host::host::codex::{HookTrust, ListedHook};

/// The second value is Claude Code's version.
pub(super) async fn claude(
    explicit: Option<&Path>,
    missing: CheckStatus,
) -> (DoctorCheck, Option<String>) {
    let check = |status, message: String| DoctorCheck::new("claude", status, message);
    let binary = match find_claude(explicit) {
        Ok(binary) => binary,
        Err(error @ HostError::ClaudeNotFound) => {
            let message = "not installed; needed for `rawr exec --host claude`, the plugin and Claude Code hooks";
            return (check(missing, message.to_owned()).todo(error.to_string()), None);
        }
        Err(error) => return (check(CheckStatus::Fail, error.to_string()), None),
    };
    match version(&binary).await {
        Ok(version) => {
            (check(CheckStatus::Ok, format!("{version} in {}", binary.display())), Some(version))
        }
        Err(error) => {
            let check = check(CheckStatus::Fail, error.to_string())
                .todo(format!("check whether `{} --version` works", binary.display()));
            (check, None)
        }
    }
}

/// Checks the hooks for all projects and for the current one, and what Codex reports of its hooks.
pub(super) async fn hooks(listed: Option<&[ListedHook]>) -> DoctorCheck {
    let here = std::env::current_dir().ok();
    let mut places = Vec::new();
    let mut window = None;
    let mut dead = Vec::new();
    for host in [HookHost::Claude, HookHost::Codex] {
        for project in [None, here.as_deref()] {
            let Ok(file) = settings_file(host, project) else { continue };
            match installed_in(host, &file) {
                Ok(Some(installed)) => {
                    places.push(file.display().to_string());
                    for program in installed.programs {
                        if rawr_version(&program).await.is_none() {
                            let file = file.display();
                            dead.push((
                                format!("{file} calls {program}, which is not a working rawr"),
                                host,
                                project,
                            ));
                        }
                    }
                    if host == HookHost::Claude {
                        window = Some(words_on_window(installed.context_window));
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    return DoctorCheck::new("hooks", CheckStatus::Warn, causes(&error));
                }
            }
        }
    }
    places.dedup();
    if places.is_empty() {
        let message = "none; only needed for sessions that neither rawr nor its plugin runs";
        return DoctorCheck::new("hooks", CheckStatus::Absent, message)
            .todo("install them with `rawr hooks install --claude` or `--codex`");
    }
    if let Some((message, host, project)) = dead.into_iter().next() {
        let place = project.map(|_| " --project .").unwrap_or_default();
        return DoctorCheck::new("hooks", CheckStatus::Warn, message)
            .todo(format!("reinstall them with `rawr hooks install --{}{place}`", host.name()));
    }
    if let Some(check) = listed.and_then(passed_over) {
        return check;
    }
    let check = DoctorCheck::new("hooks", CheckStatus::Ok, format!("in {}", places.join(", ")));
    match window {
        Some(window) => check.todo(window),
        None => check,
    }
}

/// rawr's hooks that Codex lists but does not run.
fn passed_over(listed: &[ListedHook]) -> Option<DoctorCheck> {
    let ours = listed.iter().filter(|hook| is_ours(HookHost::Codex, &hook.command));
    let (hook, why, todo) = ours
        .filter_map(|hook| match hook.standing {
            HookTrust::Runs => None,
            HookTrust::Untrusted => Some((hook, "not trusted yet", TRUST)),
            HookTrust::Off => {
                Some((hook, "disabled", "start `codex`, type /hooks and enable them"))
            }
        })
        .next()?;
    let message = format!("Codex skips those in {}: {why}", hook.file.display());
    Some(DoctorCheck::new("hooks", CheckStatus::Warn, message).todo(todo))
}

/// Runs a program like an agent does, with `--version`. `None` if it is not a working rawr.
pub(super) async fn rawr_version(program: impl AsRef<OsStr>) -> Option<String> {
    const PATIENCE: Duration = Duration::from_secs(10);
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let said = tokio::time::timeout(PATIENCE, command.output()).await;
    let output = said.ok()?.ok().filter(|output| output.status.success())?;
    let version = output.stdout.strip_prefix(b"rawr ")?;
    Some(String::from_utf8_lossy(version).split_whitespace().next().unwrap_or_default().to_owned())
}
