//! The paths of the user's files. Reads and creates nothing.

use crate::problem::FileProblem;
use rawr_records::profile::SHARED;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder of rawr's configuration, prompts and state. It may be the folder of an agent in whose file settings of rawr may
/// stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Absolute, or empty if no folder counts.
    pub dir: PathBuf,
    /// Replaces `rawr.toml`.
    config_file: Option<PathBuf>,
}

impl Home {
    /// A home in this folder.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), config_file: None }
    }

    /// Nothing but this file instead of `rawr.toml`.
    pub fn of_file(config_file: PathBuf) -> Self {
        Self { dir: PathBuf::new(), config_file: Some(config_file) }
    }

    /// An explicit folder takes precedence, then `$RAWR_HOME`, the agent's variable, `~/.rawr` if it exists, the agent's folder
    /// if it exists, and `~/.rawr`.
    pub fn resolve(
        explicit: Option<&Path>,
        config_file: Option<impl AsRef<Path>>,
    ) -> Result<Self, FileProblem> {
        let dir = find(explicit, |name| std::env::var_os(name), std::env::home_dir(), Path::is_dir)
            .ok_or_else(|| FileProblem::error("no-home", "cannot find the home folder"))?;
        let absolute = |path: &Path| {
            std::path::absolute(path).map_err(|error| {
                FileProblem::error("no-home", error.to_string()).in_file(Some(path))
            })
        };
        let config_file = config_file.map(|file| absolute(file.as_ref())).transpose()?;
        Ok(Self { dir: absolute(&dir)?, config_file })
    }

    /// The main configuration file.
    pub fn rawr_toml(&self) -> PathBuf {
        self.config_file.clone().unwrap_or_else(|| self.dir.join("rawr.toml"))
    }

    /// Whether the main configuration file was named, so that it must exist.
    pub(super) const fn names_its_config(&self) -> bool {
        self.config_file.is_some()
    }

    /// The agent's own file.
    pub fn host_toml(&self) -> PathBuf {
        self.dir.join(SHARED.configuration_file)
    }

    /// What requests cost, if the user wrote it down.
    pub fn prices_toml(&self) -> PathBuf {
        self.dir.join("prices.toml")
    }

    /// The folder of prompt files.
    pub fn prompt_folder(&self) -> PathBuf {
        self.dir.join("auto-compact")
    }
}

/// The file of a project, which may only narrow what the user's files allow.
pub fn project_toml(cwd: &Path) -> PathBuf {
    cwd.join(".rawr.toml")
}

fn find(
    explicit: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
    user: Option<PathBuf>,
    exists: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = explicit
        .map(Path::to_owned)
        .or_else(|| set("RAWR_HOME"))
        .or_else(|| set(SHARED.folder_variable));
    match (named, user) {
        // A setting of an editor, or a quoted variable, is expanded by no shell.
        (Some(named), Some(user)) => Some(match named.strip_prefix("~") {
            Ok(rest) if rest.as_os_str().is_empty() => user,
            Ok(rest) => user.join(rest),
            Err(_) => named,
        }),
        (named @ Some(_), None) => named,
        (None, user) => {
            let user = user?;
            let (own, shared) = (user.join(".rawr"), user.join(SHARED.folder));
            // If `~/.rawr` exists, installing the agent later must not move the state.
            Some(if !exists(&own) && exists(&shared) { shared } else { own })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(explicit: Option<&str>, variables: &[(&str, &str)], expected: Option<&str>) {
        check_with(&[], explicit, variables, expected);
    }

    fn check_with(
        folders: &[&str],
        explicit: Option<&str>,
        variables: &[(&str, &str)],
        expected: Option<&str>,
    ) {
        let variable = |name: &str| {
            variables.iter().find(|(of, _)| *of == name).map(|(_, value)| OsString::from(value))
        };
        let user = expected.is_some().then(|| PathBuf::from("/u"));
        let exists = |folder: &Path| folders.iter().any(|known| folder == Path::new(known));
        let found = find(explicit.map(Path::new), variable, user, exists);
        assert_eq!(found.as_deref(), expected.map(Path::new), "{explicit:?} {variables:?}");
    }

    // rule: recovery.home
    #[test]
    fn the_most_explicit_folder_wins() {
        check(Some("/x"), &[("RAWR_HOME", "/r"), ("CODEX_HOME", "/c")], Some("/x"));
        check(None, &[("RAWR_HOME", "/r"), ("CODEX_HOME", "/c")], Some("/r"));
        check(None, &[("CODEX_HOME", "/c")], Some("/c"));
    }

    #[test]
    fn a_tilde_is_the_folder_of_the_user() {
        check(Some("~/x"), &[], Some("/u/x"));
        check(Some("~"), &[], Some("/u"));
        check(None, &[("RAWR_HOME", "~/r/s")], Some("/u/r/s"));
        check(Some("/x/~/y"), &[], Some("/x/~/y"));
        check(Some("~ada/x"), &[], Some("~ada/x"));
    }

    #[test]
    fn without_codex_its_folder_is_not_used() {
        check(None, &[], Some("/u/.rawr"));
        check_with(&["/u/.codex"], None, &[], Some("/u/.codex"));
    }

    // rule: recovery.home
    #[test]
    fn installing_codex_later_keeps_the_home() {
        check_with(&["/u/.codex", "/u/.rawr"], None, &[], Some("/u/.rawr"));
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        check(None, &[("RAWR_HOME", ""), ("CODEX_HOME", "/c")], Some("/c"));
    }

    #[test]
    fn without_any_folder_there_is_no_home() {
        check(None, &[("RAWR_HOME", "")], None);
    }

    // rule: recovery.thread-folder
    // rule: prompt.home-folder
    #[test]
    fn the_paths_of_configuration_prompts_and_state() {
        let home = Home::at("/h");
        assert_eq!(home.rawr_toml(), Path::new("/h/rawr.toml"));
        assert_eq!(home.host_toml(), Path::new("/h/config.toml"));
        assert_eq!(home.prompt_folder(), Path::new("/h/auto-compact"));
        let other = Home::resolve(Some(Path::new("/h")), Some("/o.toml")).unwrap();
        assert_eq!((other.rawr_toml(), other.dir), ("/o.toml".into(), "/h".into()));
    }
}
