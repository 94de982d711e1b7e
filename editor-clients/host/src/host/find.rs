//! Finds a host's program and its version.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::host::HostError;

/// A host's program.
#[derive(Debug)]
pub(super) struct HostProgram {
    pub(super) name: &'static str,
    /// The command-line option that sets its path.
    pub(super) option: &'static str,
}

/// Finds the executable: the explicit one, otherwise the first of its name in the PATH.
pub(super) fn find(
    program: &HostProgram,
    explicit: Option<&Path>,
) -> Result<Option<PathBuf>, HostError> {
    match explicit {
        Some(named) if is_program(named) => Ok(Some(named.to_owned())),
        Some(named) => Err(program.is_not(named)),
        None => Ok(in_path(program.name, std::env::var_os("PATH").as_deref())),
    }
}

/// The version in the output of `--version`.
pub(super) async fn version(program: &HostProgram, binary: &Path) -> Result<String, HostError> {
    let output = Command::new(binary)
        .arg("--version")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    let output =
        output.map_err(|source| HostError::NotStarted { path: binary.to_owned(), source })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let number = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
    match said.split_whitespace().find(number) {
        Some(version) if output.status.success() => Ok(version.to_owned()),
        _ => Err(program.is_not(binary)),
    }
}

impl HostProgram {
    fn is_not(&self, path: &Path) -> HostError {
        HostError::NotAProgram { path: path.to_owned(), option: self.option }
    }
}

/// The first program of that name in a PATH.
pub fn in_path(name: impl AsRef<Path>, path: Option<&OsStr>) -> Option<PathBuf> {
    let folders = std::env::split_paths(path.unwrap_or_default());
    let mut candidates = folders.map(|folder| folder.join(&name));
    candidates.find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const AGENT: HostProgram = HostProgram { name: "agent", option: "--agent" };

    #[test]
    fn the_first_executable_in_the_path_is_found() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for (folder, mode) in [("no-program", 0o644), ("first", 0o755), ("second", 0o755)] {
            let folder = root.join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("agent"), "").unwrap();
            std::fs::set_permissions(folder.join("agent"), PermissionsExt::from_mode(mode))
                .unwrap();
        }
        let path = std::env::join_paths(
            ["absent", "no-program", "first", "second"].map(|name| root.join(name)),
        )
        .unwrap();
        assert_eq!(in_path(AGENT.name, Some(&path)).unwrap(), root.join("first/agent"));
        assert!(matches!(
            find(&AGENT, Some(&root.join("no-program/agent"))),
            Err(HostError::NotAProgram { option: "--agent", .. })
        ));
    }

    #[test]
    fn without_a_path_nothing_is_found() {
        assert_eq!(in_path(AGENT.name, None), None);
    }
}
