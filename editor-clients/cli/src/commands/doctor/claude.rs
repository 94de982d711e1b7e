//! Whether Claude Code is there, and whether hooks of rawr's are in place. Starts no conversation.

use std::path::Path;

use super::{Check, Status};
use crate::args::HookHost;
use crate::commands::hooks::{installed_in, settings_file, words_on_window};
use crate::host::HostError;
use crate::host::claude::{find_claude, version};

pub(super) async fn claude(explicit: Option<&Path>) -> Check {
    let check = |status, message: String| Check::new("claude", status, message);
    let binary = match find_claude(explicit) {
        Ok(binary) => binary,
        Err(error @ HostError::ClaudeNotFound) => {
            let message = "not installed; only `rawr exec --host claude` needs it";
            return check(Status::Ok, message.to_owned()).todo(error.to_string());
        }
        Err(error) => return check(Status::Fail, error.to_string()),
    };
    match version(&binary).await {
        Ok(version) => check(Status::Ok, format!("{version} in {}", binary.display())),
        Err(error) => check(Status::Fail, error.to_string())
            .todo(format!("see whether `{} --version` works", binary.display())),
    }
}

/// For all projects, and for the current one.
pub(super) fn hooks() -> Check {
    let here = std::env::current_dir().ok();
    let mut places = Vec::new();
    let mut window = None;
    for host in [HookHost::Claude, HookHost::Codex] {
        for project in [None, here.as_deref()] {
            let Ok(file) = settings_file(host, project) else { continue };
            match installed_in(host, &file) {
                Ok(Some(installed)) => {
                    places.push(file.display().to_string());
                    if host == HookHost::Claude {
                        window = Some(words_on_window(installed.context_window));
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    return Check::new("hooks", Status::Warn, format!("{error:#}"));
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
    let check = Check::new("hooks", Status::Ok, format!("in {}", places.join(", ")));
    match window {
        Some(window) => check.todo(window),
        None => check,
    }
}
