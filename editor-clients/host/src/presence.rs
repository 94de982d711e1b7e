//! Which processes of rawr's stand beside a Codex: each keeps a locked file in home, so that another can find and end it.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::private_fs::make_folder;

/// A line that `rawr detach` adds to what a process has written about itself.
const DETACHED: &str = "detached";

/// This process, for as long as it is kept.
#[derive(Debug)]
pub struct Presence {
    path: PathBuf,
    _locked: File,
}

/// Another process that is there now.
#[derive(Debug, PartialEq, Eq)]
pub struct Present {
    pub process: u32,
    /// Where its Codex listens.
    pub socket: PathBuf,
    /// Otherwise the number is another process's here: a home may be shared with a container or another machine.
    pub is_here: bool,
    path: PathBuf,
}

impl Present {
    /// That `rawr detach` is why the process is asked to stop. To be called before it is asked.
    pub fn tell_that_it_is_detached(&self) -> io::Result<()> {
        match File::options().append(true).open(&self.path) {
            Ok(mut file) => file.write_all(format!("\n{DETACHED}").as_bytes()),
            // It has just ended by itself.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn folder(home: &Path) -> PathBuf {
    home.join("rawr").join("attached")
}

impl Presence {
    pub fn announce(home: &Path, socket: &Path) -> io::Result<Self> {
        let folder = folder(home);
        make_folder(&folder)?;
        let process = std::process::id();
        // A process elsewhere may have the same number.
        let names = std::iter::once(process.to_string())
            .chain((2_u32..).map(|count| format!("{process}.{count}")));
        for name in names {
            let path = folder.join(name);
            let mut file = File::options().create(true).truncate(false).write(true).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(error),
            }
            file.set_len(0)?;
            write!(file, "{}\n{}", socket.display(), process_space())?;
            return Ok(Self { path, _locked: file });
        }
        Err(io::Error::other("no name is free"))
    }

    /// Whether `rawr detach` is why this process was asked to stop. If the file is gone, it was any signal.
    pub fn is_detached(&self) -> bool {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().any(|line| line == DETACHED)
    }
}

/// Processes have numbers of their own in each machine, each time that it is started, and in each container.
#[cfg(target_os = "linux")]
fn process_space() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), space.display())
}

#[cfg(not(target_os = "linux"))]
fn process_space() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

impl Drop for Presence {
    fn drop(&mut self) {
        // What stays is known by its lock to be nobody's.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Everybody who is there. What the dead have left is taken away.
pub fn present(home: &Path) -> io::Result<Vec<Present>> {
    let entries = match std::fs::read_dir(folder(home)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut present = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let process =
            path.file_name().and_then(|name| name.to_str()?.split('.').next()?.parse().ok());
        let (Some(process), Ok(mut file)) = (process, File::open(&path)) else { continue };
        // Only the process in the file's name holds its lock, so a held lock proves that the process id was not reused.
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                file.read_to_string(&mut text)?;
                // Older releases do not write their process namespace.
                let mut lines = text.lines().filter(|line| *line != DETACHED);
                let socket = lines.next().unwrap_or_default().into();
                let is_here = lines.next().is_none_or(|space| space == process_space());
                present.push(Present { process, socket, is_here, path });
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
        let (process, path) = (std::process::id(), presence.path.clone());
        let me = Present { process, socket: socket.to_owned(), is_here: true, path };
        assert_eq!(present(home.path()).unwrap(), [me]);
        drop(presence);
        assert_eq!(present(home.path()).unwrap(), []);
        assert_eq!(std::fs::read_dir(folder(home.path())).unwrap().count(), 0);
    }

    #[test]
    fn a_process_that_is_detached_knows_it_and_is_found_until_it_has_left() {
        let home = tempfile::tempdir().unwrap();
        let presence = Presence::announce(home.path(), Path::new("/run/codex.sock")).unwrap();
        assert!(!presence.is_detached());
        let found = present(home.path()).unwrap();
        found[0].tell_that_it_is_detached().unwrap();
        assert!(presence.is_detached());
        assert_eq!(present(home.path()).unwrap(), found);
        drop(presence);
        found[0].tell_that_it_is_detached().unwrap();
        assert_eq!(std::fs::read_dir(folder(home.path())).unwrap().count(), 0);
        let next = Presence::announce(home.path(), Path::new("/run/codex.sock")).unwrap();
        assert!(!next.is_detached());
    }

    #[test]
    fn a_number_of_another_machine_is_told_apart_and_not_waited_for() {
        let home = tempfile::tempdir().unwrap();
        let socket = Path::new("/run/codex.sock");
        make_folder(&folder(home.path())).unwrap();
        let process = std::process::id();
        let other = folder(home.path()).join(process.to_string());
        std::fs::write(&other, "/run/other.sock\nanother machine").unwrap();
        let locked = File::open(&other).unwrap();
        locked.lock().unwrap();
        let presence = Presence::announce(home.path(), socket).unwrap();
        let mut found = present(home.path()).unwrap();
        found.sort_by_key(|present| present.is_here);
        let of = |socket: &str, is_here, path: &Path| Present {
            process,
            socket: socket.into(),
            is_here,
            path: path.to_owned(),
        };
        let there = of("/run/other.sock", false, &other);
        assert_eq!(found, [there, of("/run/codex.sock", true, &presence.path)]);
        drop(presence);
        found.truncate(1);
        assert_eq!(present(home.path()).unwrap(), found);
    }
}
