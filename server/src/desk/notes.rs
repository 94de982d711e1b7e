//! Scratch files: an agent's own notes under its thread's folder. A link that leads out of that folder is not followed.

use super::{Desk, DeskError};
use crate::redact::redact;
use rawr_core::units::{ThreadId, Timestamp};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A scratch file is read to this length unless less is asked for.
const MAX_READ: u64 = 1 << 20;

#[derive(Debug)]
pub struct Note {
    pub file: String,
    pub bytes: u64,
    pub modified_at: Timestamp,
}

impl Desk {
    /// Relative and absolute.
    pub fn scratch_path(&self, id: &ThreadId) -> Result<(String, PathBuf), DeskError> {
        let file = self.scratch_file(id)?;
        let path = Path::new(&self.thread(id)?.cwd).join(&file);
        Ok((file, path))
    }

    /// Returns the file's length afterwards.
    pub fn scratch_append(&self, id: &ThreadId, text: &str) -> Result<u64, DeskError> {
        let (_, path) = self.scratch_path(id)?;
        let cwd = PathBuf::from(&self.thread(id)?.cwd);
        let append = || -> io::Result<_> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            stay_inside(&cwd, &path)?;
            let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
            file.write_all(redact(text).as_bytes())?;
            Ok(file.metadata()?.len())
        };
        append().map_err(|source| DeskError::Notes {
            verb: "append to",
            path: path.clone(),
            source,
        })
    }

    /// The newest part of the notes, and whether there is more.
    pub fn scratch_read(
        &self,
        id: &ThreadId,
        max: Option<u64>,
    ) -> Result<(String, bool), DeskError> {
        let (_, path) = self.scratch_path(id)?;
        let cwd = PathBuf::from(&self.thread(id)?.cwd);
        let read = || -> io::Result<_> {
            stay_inside(&cwd, &path)?;
            let mut file = fs::File::open(&path)?;
            let (length, limit) = (file.metadata()?.len(), max.unwrap_or(MAX_READ).min(MAX_READ));
            io::Seek::seek(&mut file, io::SeekFrom::Start(length.saturating_sub(limit)))?;
            let mut bytes = Vec::new();
            file.take(limit).read_to_end(&mut bytes)?;
            Ok((String::from_utf8_lossy(&bytes).into_owned(), length > limit))
        };
        match read() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((String::new(), false)),
            result => result.map_err(|source| DeskError::Notes {
                verb: "read",
                path: path.clone(),
                source,
            }),
        }
    }

    /// All agents' notes beside this thread's own.
    pub fn scratch_list(&self, id: &ThreadId) -> Result<Vec<Note>, DeskError> {
        let (file, path) = self.scratch_path(id)?;
        let Some(folder) = path.parent() else { return Ok(Vec::new()) };
        let prefix = Path::new(&file).parent().map(Path::to_path_buf).unwrap_or_default();
        let list = || -> io::Result<_> {
            let mut notes = Vec::new();
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                let metadata = entry.metadata()?;
                let name = entry.file_name();
                if let Some(name) =
                    name.to_str().filter(|name| metadata.is_file() && name.ends_with(".md"))
                {
                    let modified =
                        metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
                    notes.push(Note {
                        file: prefix.join(name).display().to_string(),
                        bytes: metadata.len(),
                        modified_at: Timestamp(i64::try_from(modified.as_millis()).unwrap_or(0)),
                    });
                }
            }
            notes.sort_by(|a, b| a.file.cmp(&b.file));
            Ok(notes)
        };
        match list() {
            Err(error) if io::ErrorKind::NotFound == error.kind() => Ok(Vec::new()),
            result => result.map_err(|source| DeskError::Notes {
                verb: "list",
                path: folder.to_owned(),
                source,
            }),
        }
    }
}

fn stay_inside(cwd: &Path, path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path).canonicalize()?;
    let leads_out = !folder.starts_with(cwd.canonicalize()?)
        || fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if leads_out {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "a link leads out of the thread's folder",
        ));
    }
    Ok(())
}
