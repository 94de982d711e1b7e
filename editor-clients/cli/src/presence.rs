//! Which processes of rawr's stand beside a Codex: each keeps a locked file in home, so that another can find and end it.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::private::make_folder;

/// This process, for as long as it is kept.
#[derive(Debug)]
pub(crate) struct Presence {
    path: PathBuf,
    _locked: File,
}

/// Another process that is there now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Present {
    pub(crate) process: u32,
    /// Where its Codex listens.
    pub(crate) socket: PathBuf,
}

fn folder(home: &Path) -> PathBuf {
    home.join("rawr").join("attached")
}

impl Presence {
    pub(crate) fn announce(home: &Path, socket: &Path) -> io::Result<Self> {
        let folder = folder(home);
        make_folder(&folder)?;
        let path = folder.join(std::process::id().to_string());
        let mut file = File::options().create(true).truncate(false).write(true).open(&path)?;
        file.lock()?;
        file.set_len(0)?;
        write!(file, "{}", socket.display())?;
        Ok(Self { path, _locked: file })
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // What stays is known by its lock to be nobody's.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Everybody who is there. What the dead have left is taken away.
pub(crate) fn present(home: &Path) -> io::Result<Vec<Present>> {
    let entries = match std::fs::read_dir(folder(home)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut present = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let process = path.file_name().and_then(|name| name.to_str()?.parse().ok());
        let (Some(process), Ok(mut file)) = (process, File::open(&path)) else { continue };
        // Only the process that the file is named after holds its lock, so that the number is nobody else's by now.
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                let mut socket = String::new();
                file.read_to_string(&mut socket)?;
                present.push(Present { process, socket: socket.into() });
            }
            Ok(()) => drop(std::fs::remove_file(&path)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(present)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_there_is_found_and_who_is_gone_is_not() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(present(home.path()).unwrap(), []);
        let socket = Path::new("/run/codex.sock");
        let presence = Presence::announce(home.path(), socket).unwrap();
        std::fs::write(folder(home.path()).join("4000000"), "/run/dead.sock").unwrap();
        let me = Present { process: std::process::id(), socket: socket.to_owned() };
        assert_eq!(present(home.path()).unwrap(), [me]);
        drop(presence);
        assert_eq!(present(home.path()).unwrap(), []);
        assert_eq!(std::fs::read_dir(folder(home.path())).unwrap().count(), 0);
    }
}
