//! What is open in a session between two of its hooks: a small file, so that they need no sidecar to find that there is nothing.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use rawr_host::private_fs::make_folder;

/// The session's file, there or not.
#[derive(Debug)]
pub(super) struct PendingRequest {
    path: PathBuf,
}

/// What a hook left for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "awaits", rename_all = "snake_case")]
pub(super) enum AwaitedReply {
    /// The agent answers a text of rawr's.
    Answer { action_id: String },
    /// The packet is there, and the person, or the agent by itself, compacts.
    Compaction,
    /// The agent compacts without a packet, and its thread has heard of the beginning.
    HostCompaction { by_person: bool },
    /// The person went on: from the end of that turn on the packet is an old one, whatever else the turn was.
    TurnsEnd,
}

impl PendingRequest {
    /// A name that is a path is refused.
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

    /// A file that cannot be understood is as good as none.
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
    fn what_is_open_is_found_again_and_taken_away() {
        let home = tempfile::tempdir().unwrap();
        let open = PendingRequest::of(home.path(), "0199-a_b").unwrap();
        assert!(!open.is_there() && open.read().is_none());
        open.write(None).unwrap();
        let awaits = AwaitedReply::Answer { action_id: "s1.1".into() };
        open.write(Some(&awaits)).unwrap();
        assert_eq!(open.read(), Some(awaits));
        open.write(None).unwrap();
        assert!(!open.is_there());
    }

    #[test]
    fn a_session_whose_name_is_a_path_is_refused() {
        for name in ["", "..", "a/b", "a\\b", "a.b", &"a".repeat(201)] {
            assert!(PendingRequest::of(Path::new("/home"), name).is_err(), "{name}");
        }
    }
}
