//! Whether Claude Code is there, and whether hooks of rawr's are in place. Starts no conversation.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::{Check, Status};
use crate::args::HookHost;
use crate::commands::hooks::{TRUST, installed_in, is_ours, settings_file, words_on_window};
use crate::render::causes;
use rawr_host::host::HostError;
use rawr_host::host::claude::{find_claude, version};
use rawr_host::host::codex::{HookTrust, ListedHook};

pub(super) async fn claude(explicit: Option<&Path>, missing: Status) -> Check {
    let check = |status, message: String| Check::new("claude", status, message);
    let binary = match find_claude(explicit) {
        Ok(binary) => binary,
        Err(error @ HostError::ClaudeNotFound) => {
            let message =
                "not installed; `rawr exec --host claude` and hooks of Claude Code need it";
            return check(missing, message.to_owned()).todo(error.to_string());
        }
        Err(error) => return check(Status::Fail, error.to_string()),
    };
    match version(&binary).await {
        Ok(version) => check(Status::Ok, format!("{version} in {}", binary.display())),
        Err(error) => check(Status::Fail, error.to_string())
            .todo(format!("see whether `{} --version` works", binary.display())),
    }
}

/// For all projects, and for the current one. What Codex itself says of its hooks, where it is there to be asked.
pub(super) async fn hooks(listed: Option<&[ListedHook]>) -> Check {
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
                        if !is_rawr(&program).await {
                            let file = file.display();
                            dead.push((
                                format!("{program}, which {file} calls, is no rawr that runs"),
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
                    return Check::new("hooks", Status::Warn, causes(&error));
                }
            }
        }
    }
    places.dedup();
    if places.is_empty() {
        let message = "none; only sessions that rawr does not run itself need them";
        return Check::new("hooks", Status::Ok, message)
            .todo("`rawr hooks install --claude` or `--codex` puts them in place");
    }
    if let Some((message, host, project)) = dead.into_iter().next() {
        let place = project.map(|_| " --project .").unwrap_or_default();
        return Check::new("hooks", Status::Warn, message)
            .todo(format!("`rawr hooks install --{}{place}` puts this one in place", host.name()));
    }
    if let Some(check) = listed.and_then(passed_over) {
        return check;
    }
    let check = Check::new("hooks", Status::Ok, format!("in {}", places.join(", ")));
    match window {
        Some(window) => check.todo(window),
        None => check,
    }
}

/// Hooks of rawr's that Codex finds and does not run.
fn passed_over(listed: &[ListedHook]) -> Option<Check> {
    let ours = listed.iter().filter(|hook| is_ours(HookHost::Codex, &hook.command));
    let (hook, why, todo) = ours
        .filter_map(|hook| match hook.standing {
            HookTrust::Runs => None,
            HookTrust::Untrusted => Some((hook, "not trusted yet", TRUST)),
            HookTrust::Off => {
                Some((hook, "switched off", "start `codex`, type /hooks and switch them on"))
            }
        })
        .next()?;
    let message = format!("Codex passes over those in {}: {why}", hook.file.display());
    Some(Check::new("hooks", Status::Warn, message).todo(todo))
}

/// What an agent calls is run as an agent runs it, up to its name.
async fn is_rawr(program: &str) -> bool {
    const PATIENCE: Duration = Duration::from_secs(10);
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let said = tokio::time::timeout(PATIENCE, command.output()).await;
    let Ok(Ok(output)) = said else { return false };
    output.status.success() && output.stdout.starts_with(b"rawr ")
}
