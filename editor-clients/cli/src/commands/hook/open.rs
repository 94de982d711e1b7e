//! The pending request of a session between two hooks, in a small file, so that most hooks need no sidecar.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use rawr_host::private_fs::make_folder;

/// The session's file, which may not exist.
#[derive(Debug, Clone)]
pub(super) struct PendingRequest {
    path: PathBuf,
}

/// The state that a hook leaves for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "awaits", rename_all = "snake_case")]
pub(super) enum AwaitedReply {
    /// The agent is answering a text from rawr.
    Answer,
    /// The packet is ready; the user or the agent compacts next.
    Compaction,
    /// The agent compacts without a packet, and the start is reported.
    HostCompaction { by_person: bool },
    /// The user continued instead: at the end of that turn the packet is outdated.
    TurnsEnd,
    /// The next turn is to be reported, however small it is: it tells what a compaction has freed.
    Measurement,
}

impl PendingRequest {
    /// Fails if the session id is not a file name.
    pub(super) fn of(home: &Path, session_id: &str) -> anyhow::Result<Self> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if session_id.is_empty() || session_id.len() > 200 || !session_id.chars().all(plain) {
            bail!("the session id is not a valid file name");
        }
        Ok(Self { path: home.join("rawr").join("hooks").join(format!("{session_id}.json")) })
    }

    pub(super) fn is_there(&self) -> bool {
        self.path.exists()
    }

    /// The stored state. An invalid file counts as none.
    pub(super) fn read(&self) -> Option<AwaitedReply> {
        serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()
    }

    pub(super) fn write(&self, awaits: Option<&AwaitedReply>) -> anyhow::Result<()> {
        let done = match awaits {
            Some(awaits) => self.put(&serde_json::to_vec(awaits)?),
            None => match std::fs::remove_file(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                done => done,
            },
        };
        done.with_context(|| self.path.display().to_string())
    }

    fn put(&self, text: &[u8]) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        make_folder(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        io::Write::write_all(&mut file, text)?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pending_request_is_stored_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let open = PendingRequest::of(home.path(), "0199-a_b").unwrap();
        assert!(!open.is_there() && open.read().is_none());
        open.write(None).unwrap();
        let awaits = AwaitedReply::Answer;
        open.write(Some(&awaits)).unwrap();
        assert_eq!(open.read(), Some(awaits));
        open.write(None).unwrap();
        assert!(!open.is_there());
    }

    #[test]
    fn a_session_id_that_is_a_path_is_refused() {
        for name in ["", "..", "a/b", "a\\b", "a.b", &"a".repeat(201)] {
            assert!(PendingRequest::of(Path::new("/home"), name).is_err(), "{name}");
        }
    }
}
