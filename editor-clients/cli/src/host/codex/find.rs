//! Where Codex is and which version. Looks at the file system and runs `codex --version`; starts no conversation.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::host::HostError;

/// The binary to run: the one that a person named, else the first `codex` in the PATH.
pub fn find_codex(explicit: Option<&Path>) -> Result<PathBuf, HostError> {
    find_in(explicit, std::env::var_os("PATH").as_deref())
}

/// What `codex --version` says, without the program's name.
pub async fn version(binary: &Path) -> Result<String, HostError> {
    let output = Command::new(binary)
        .arg("--version")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    let output =
        output.map_err(|source| HostError::NotStarted { path: binary.to_owned(), source })?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.split_whitespace().last() {
        Some(version) if output.status.success() => Ok(version.to_owned()),
        _ => Err(HostError::NotAProgram { path: binary.to_owned() }),
    }
}

fn find_in(explicit: Option<&Path>, path: Option<&OsStr>) -> Result<PathBuf, HostError> {
    if let Some(named) = explicit {
        let named = named.to_owned();
        return if is_program(&named) {
            Ok(named)
        } else {
            Err(HostError::NotAProgram { path: named })
        };
    }
    let folders = std::env::split_paths(path.unwrap_or_default());
    let mut candidates = folders.flat_map(|folder| NAMES.map(|name| folder.join(name)));
    candidates.find(|candidate| is_program(candidate)).ok_or(HostError::CodexNotFound)
}

/// npm installs a `.cmd` on Windows.
#[cfg(windows)]
const NAMES: [&str; 2] = ["codex.exe", "codex.cmd"];
#[cfg(not(windows))]
const NAMES: [&str; 1] = ["codex"];

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_first_program_of_that_name_in_the_path_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for (folder, mode) in [("no-program", 0o644), ("first", 0o755), ("second", 0o755)] {
            let folder = root.join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("codex"), "").unwrap();
            std::fs::set_permissions(folder.join("codex"), PermissionsExt::from_mode(mode))
                .unwrap();
        }
        let path = std::env::join_paths(
            ["absent", "no-program", "first", "second"].map(|name| root.join(name)),
        )
        .unwrap();
        assert_eq!(find_in(None, Some(&path)).unwrap(), root.join("first/codex"));
        assert!(matches!(
            find_in(Some(&root.join("no-program/codex")), Some(&path)),
            Err(HostError::NotAProgram { .. })
        ));
    }

    #[test]
    fn without_a_path_nothing_is_found() {
        assert!(matches!(find_in(None, None), Err(HostError::CodexNotFound)));
    }
}
