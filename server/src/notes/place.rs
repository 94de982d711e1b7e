//! Opens the folder of a scratch file, step by step from the thread's folder. No step is a symbolic link, and none can
//! be replaced by one in the meantime. Does not interpret notes.

use rawr_core::units::Timestamp;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat, open, openat, statat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path};

/// What to do about a missing folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingFolder {
    Stays,
    IsMade,
}

pub(super) struct NotesFile {
    folder: OwnedFd,
    name: OsString,
}

/// How a file ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileEnd {
    pub length: u64,
    pub last: Option<u8>,
}

/// Not to read what is in it. Unlike other ways to open a folder, that of Linux is no event to those who watch the folder, of
/// which this process is one.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = FOLDER_TO_READ;
const FOLDER_TO_READ: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Without blocking, because the file may be a named pipe.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

impl NotesFile {
    /// `None` if the folder is missing and not to be created. The thread's own folder is never created.
    pub(super) fn find(
        cwd: &Path,
        file: &Path,
        missing: MissingFolder,
    ) -> io::Result<Option<Self>> {
        if !cwd.is_absolute() {
            return Err(refused("the thread's folder is not an absolute path"));
        }
        let mut steps = Vec::new();
        for component in file.components() {
            match component {
                Component::Normal(step) => steps.push(step),
                Component::CurDir => {}
                _ => return Err(refused("the notes would be outside of the thread's folder")),
            }
        }
        let Some(name) = steps.pop() else { return Err(refused("the notes have no name")) };
        let mut folder = match open(cwd, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) if missing == MissingFolder::Stays => return Ok(None),
            folder => folder?,
        };
        for step in steps {
            folder = match enter(&folder, step) {
                Err(Errno::NOENT) if missing == MissingFolder::Stays => return Ok(None),
                Err(Errno::NOENT) => made(&folder, step)?,
                Err(error) => return Err(why_not(&folder, step, error)),
                Ok(folder) => folder,
            };
        }
        Ok(Some(Self { folder, name: name.to_owned() }))
    }

    /// `None` if there is no such file.
    pub(super) fn open_to_read(&self) -> io::Result<Option<File>> {
        match self.open_file(OFlags::RDONLY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => file.map(Some),
        }
    }

    /// In bytes. `None` if there is no such file.
    pub(super) fn length(&self) -> io::Result<Option<u64>> {
        match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(stat) if file_type(&stat) == FileType::RegularFile => {
                Ok(Some(u64::try_from(stat.st_size).unwrap_or(0)))
            }
            Ok(stat) if file_type(&stat) == FileType::Symlink => Err(link_refused(&self.name)),
            Ok(_) => Err(self.is_no_file()),
        }
    }

    fn is_no_file(&self) -> io::Error {
        refused(format!("`{}` is not a regular file", self.name.display()))
    }

    /// Appends the text that `made_for` returns for the end of the file, with a single write, so that other writers
    /// cannot get in between. Returns the file's new length.
    pub(super) fn append(&self, made_for: impl FnOnce(FileEnd) -> String) -> io::Result<u64> {
        let file = self.open_file(OFlags::RDWR | OFlags::CREATE | OFlags::APPEND)?;
        let length = file.metadata()?.len();
        let mut last = [0];
        let known = length > 0 && file.read_at(&mut last, length - 1)? == 1;
        let text = made_for(FileEnd { length, last: known.then_some(last[0]) });
        let written = rustix::io::write(&file, text.as_bytes())?;
        if written < text.len() {
            let message = format!("only {written} of {} bytes were written", text.len());
            return Err(io::Error::new(io::ErrorKind::StorageFull, message));
        }
        Ok(file.metadata()?.len())
    }

    fn open_file(&self, how: OFlags) -> io::Result<File> {
        let file = openat(&self.folder, &self.name, how | FILE, Mode::RUSR | Mode::WUSR)
            .map_err(|error| why_not(&self.folder, &self.name, error))?;
        if file_type(&fstat(&file)?) != FileType::RegularFile {
            return Err(self.is_no_file());
        }
        Ok(file.into())
    }

    /// Name, length and modification time of the files whose name is `wanted`.
    pub(super) fn list(
        &self,
        wanted: impl Fn(&str) -> bool,
    ) -> io::Result<Vec<(String, u64, Timestamp)>> {
        let mut files = Vec::new();
        let folder = openat(&self.folder, ".", FOLDER_TO_READ, Mode::empty())?;
        for entry in Dir::new(folder)? {
            let entry = entry?;
            let Some(name) = entry.file_name().to_str().ok().filter(|name| wanted(name)) else {
                continue;
            };
            let stat = match statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if file_type(&stat) == FileType::RegularFile => stat,
                // A symbolic link, or removed since.
                _ => continue,
            };
            let bytes = u64::try_from(stat.st_size).unwrap_or(0);
            files.push((name.to_owned(), bytes, modified_at(&stat)));
        }
        Ok(files)
    }
}

fn enter(folder: &OwnedFd, step: &OsStr) -> rustix::io::Result<OwnedFd> {
    openat(folder, step, FOLDER | OFlags::NOFOLLOW, Mode::empty())
}

/// With the default permissions of the user, because the files in it are private themselves.
fn made(folder: &OwnedFd, step: &OsStr) -> io::Result<OwnedFd> {
    match mkdirat(folder, step, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
        // Another process created it at the same moment.
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    enter(folder, step).map_err(|error| why_not(folder, step, error))
}

/// The OS error for a symbolic link differs between systems and is unclear.
fn why_not(folder: &OwnedFd, step: &OsStr, error: Errno) -> io::Error {
    let is_link = statat(folder, step, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| file_type(&stat) == FileType::Symlink);
    match is_link {
        true => link_refused(step),
        false => error.into(),
    }
}

fn link_refused(step: &OsStr) -> io::Error {
    let step = step.display();
    refused(format!("`{step}` is a symbolic link; rawr does not write notes through links"))
}

fn refused(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why.into())
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn modified_at(stat: &Stat) -> Timestamp {
    let nanoseconds = signed(stat.st_mtime_nsec);
    Timestamp(stat.st_mtime.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000))
}

/// Systems differ in the type of a file's nanoseconds.
fn signed(nanoseconds: impl TryInto<i64>) -> i64 {
    nanoseconds.try_into().unwrap_or(0)
}
