//! The `rawr` processes that are attached to a Codex. Each keeps a locked file in rawr's home, so that `rawr detach` can find
//! and stop it.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::private_fs::make_folder;

/// The line that `rawr detach` appends to a process's file.
const DETACHED: &str = "detached";

/// This process's entry. Dropping it removes the file.
#[derive(Debug)]
pub struct Presence {
    path: PathBuf,
    _locked: File,
}

/// An attached process that is running now.
#[derive(Debug, PartialEq, Eq)]
pub struct AttachedProcess {
    /// The process id.
    pub process: u32,
    /// The socket of its Codex app-server.
    pub socket: PathBuf,
    /// Whether the process id is valid in this process namespace. A home may be shared with a container or another machine.
    pub is_here: bool,
    path: PathBuf,
}

impl AttachedProcess {
    /// Records that `rawr detach` stops the process. Call it before the signal is sent.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. A process that has just ended is no error.
    pub fn mark_detached(&self) -> io::Result<()> {
        match File::options().append(true).open(&self.path) {
            Ok(mut file) => file.write_all(format!("\n{DETACHED}").as_bytes()),
            // The process has just ended by itself.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn folder(home: &Path) -> PathBuf {
    home.join("rawr").join("attached")
}

impl Presence {
    /// Creates and locks the entry of this process.
    ///
    /// # Errors
    ///
    /// Fails if rawr's home is not writable.
    pub fn announce(home: &Path, socket: &Path) -> io::Result<Self> {
        let folder = folder(home);
        make_folder(&folder)?;
        // Locked and complete before it has a name that others look for, because they remove what is not locked. A name is
        // never used again, so that they remove no other file.
        let mut file = tempfile::Builder::new().prefix(".").tempfile_in(&folder)?;
        file.as_file().lock()?;
        write!(file, "{}\n{}", socket.display(), process_space())?;
        let mut name = OsString::from(std::process::id().to_string());
        name.extend(file.path().file_name());
        let path = folder.join(name);
        let locked = file.persist_noclobber(&path).map_err(|failed| failed.error)?;
        Ok(Self { path, _locked: locked })
    }

    /// Whether `rawr detach` asked this process to stop. False if the file is gone.
    pub fn is_detached(&self) -> bool {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().any(|line| line == DETACHED)
    }
}

/// Identifies the namespace of process ids: one per machine, boot and container.
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
        // A file that remains is not locked and is ignored.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Lists the attached processes and removes the files of those that ended.
///
/// # Errors
///
/// Fails if the folder cannot be read.
pub fn present(home: &Path) -> io::Result<Vec<AttachedProcess>> {
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
                present.push(AttachedProcess { process, socket, is_here, path });
            }
            Ok(()) => drop(std::fs::remove_file(&path)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(present)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_running_process_is_listed_and_an_ended_one_is_not() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(present(home.path()).unwrap(), []);
        let socket = Path::new("/run/codex.sock");
        let presence = Presence::announce(home.path(), socket).unwrap();
        std::fs::write(folder(home.path()).join("4000000"), "/run/dead.sock").unwrap();
        let (process, path) = (std::process::id(), presence.path.clone());
        let me = AttachedProcess { process, socket: socket.to_owned(), is_here: true, path };
        assert_eq!(present(home.path()).unwrap(), [me]);
        drop(presence);
        assert_eq!(present(home.path()).unwrap(), []);
        assert_eq!(std::fs::read_dir(folder(home.path())).unwrap().count(), 0);
    }

    #[test]
    fn a_detached_process_knows_it_and_is_listed_until_it_ends() {
        let home = tempfile::tempdir().unwrap();
        let presence = Presence::announce(home.path(), Path::new("/run/codex.sock")).unwrap();
        assert!(!presence.is_detached());
        let found = present(home.path()).unwrap();
        found[0].mark_detached().unwrap();
        assert!(presence.is_detached());
        assert_eq!(present(home.path()).unwrap(), found);
        drop(presence);
        found[0].mark_detached().unwrap();
        assert_eq!(std::fs::read_dir(folder(home.path())).unwrap().count(), 0);
        let next = Presence::announce(home.path(), Path::new("/run/codex.sock")).unwrap();
        assert!(!next.is_detached());
    }

    #[test]
    fn a_process_id_of_another_machine_is_marked_as_foreign() {
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
        let of = |socket: &str, is_here, path: &Path| AttachedProcess {
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

    #[test]
    fn an_entry_is_found_also_if_others_look_while_it_is_made() {
        let home = tempfile::tempdir().unwrap();
        let has_ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !has_ended.load(Ordering::Relaxed) {
                    present(home.path()).unwrap();
                }
            });
            let mut missed = 0;
            for _ in 0..1000 {
                let presence =
                    Presence::announce(home.path(), Path::new("/run/codex.sock")).unwrap();
                let found = present(home.path()).unwrap();
                missed += usize::from(found.iter().all(|found| found.path != presence.path));
            }
            has_ended.store(true, Ordering::Relaxed);
            assert_eq!(missed, 0);
        });
    }
}
