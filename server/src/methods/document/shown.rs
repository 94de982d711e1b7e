//! Texts of ours as files, for clients that cannot ask for them. Only the user can read them. They are removed with the
//! session, and leftovers of a killed one by a later session.

use super::uri::ServedText;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const PREFIX: &str = "shown-";
/// An editor may show a file for as long as a day.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// The files of one session.
#[derive(Debug, Default)]
pub struct ShownFiles {
    folder: Option<TempDir>,
}

impl ShownFiles {
    /// Writes the text to its file, which an editor may already show.
    pub fn write(
        &mut self,
        home: &Path,
        served: ServedText,
        text: &str,
    ) -> Result<PathBuf, (PathBuf, io::Error)> {
        let folder = self.folder(home).map_err(|error| (home.join("rawr"), error))?;
        let path = folder.join(served.file_name());
        let write = || {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            options.open(&path)?.write_all(text.as_bytes())
        };
        write().map_err(|error| (path.clone(), error))?;
        Ok(path)
    }

    /// Updates the file if there is one.
    pub fn update(&self, served: ServedText, text: &str) {
        let Some(path) = self.folder.as_ref().map(|of| of.path().join(served.file_name())) else {
            return;
        };
        if path.exists()
            && let Err(error) = fs::write(&path, text)
        {
            tracing::warn!(path = %path.display(), %error, "failed to update a preview");
        }
    }

    fn folder(&mut self, home: &Path) -> io::Result<&Path> {
        if self.folder.is_none() {
            let parent = home.join("rawr");
            DirBuilder::new().recursive(true).mode(0o700).create(&parent)?;
            remove_stale(&parent);
            let private = Permissions::from_mode(0o700);
            let mut builder = tempfile::Builder::new();
            self.folder = Some(builder.prefix(PREFIX).permissions(private).tempdir_in(parent)?);
        }
        self.folder.as_ref().map(TempDir::path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn remove_stale(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let changed = entry.metadata().and_then(|about| about.modified());
        let is_old = changed
            .is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > STALE));
        if is_ours && is_old {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
