//! Scratch files: the agent's own notes below its thread's folder. Notes are appended to and read, never rewritten, and
//! never outside of that folder.

mod place;
mod text;

use place::{MissingFolder, NotesFile};
use rawr_core::Thread;
use rawr_core::policy::Policy;
use rawr_core::units::Timestamp;
use rawr_storage::redact::redact_counting;
use std::io;
use std::path::{Path, PathBuf};

/// The longest note that can be appended, in bytes.
pub(crate) const MAX_NOTE: usize = 64 << 10;
/// The part of a scratch file that is read by default, in bytes.
const MAX_READ: u64 = 1 << 20;

/// The scratch file of one agent, as a list shows it.
#[derive(Debug)]
pub(crate) struct ListedNotes {
    pub(crate) file: String,
    pub(crate) bytes: u64,
    pub(crate) modified_at: Timestamp,
}

#[derive(Debug)]
pub(crate) struct AppendedNotes {
    pub(crate) file: String,
    /// The file's length now, in bytes.
    pub(crate) bytes: u64,
    /// The number of redacted secrets.
    pub(crate) redactions: usize,
}

#[derive(Debug)]
pub(crate) struct ReadNotes {
    pub(crate) file: String,
    /// The newest part, in whole lines.
    pub(crate) text: String,
    pub(crate) truncated: bool,
    pub(crate) redactions: usize,
}

/// A scratch file could not be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} {path}: {source}", path = path.display())]
pub(crate) struct NotesError {
    verb: &'static str,
    /// The scratch file.
    pub(crate) path: PathBuf,
    source: io::Error,
}

/// One agent's scratch file.
pub(crate) struct AgentNotes {
    cwd: PathBuf,
    /// Relative to the thread's folder.
    pub(crate) file: String,
    template: String,
}

impl AgentNotes {
    /// The scratch file of this thread's agent.
    pub(crate) fn of(thread: &Thread, policy: &Policy) -> Self {
        let template = policy.scratch_file_template.clone();
        Self {
            cwd: PathBuf::from(&thread.session.cwd),
            file: thread.scratch_file(policy),
            template,
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.cwd.join(&self.file)
    }

    fn find(&self, missing: MissingFolder) -> io::Result<Option<NotesFile>> {
        NotesFile::find(&self.cwd, Path::new(&self.file), missing)
    }

    fn failed(&self, verb: &'static str) -> impl FnOnce(io::Error) -> NotesError {
        let path = self.path();
        move |source| NotesError { verb, path, source }
    }

    /// In bytes. `None` if the file does not exist.
    pub(crate) fn length(&self) -> io::Result<Option<u64>> {
        self.find(MissingFolder::Stays)?.map_or(Ok(None), |place| place.length())
    }

    /// Whether a thread's file exists, or its agent is asked to write it. The disk is asked only if this matters, because it is
    /// asked for every event.
    pub(crate) fn may_be_named(thread: &Thread, policy: &Policy) -> bool {
        policy.scratch_write_enabled || Self::of(thread, policy).exists()
    }

    pub(crate) fn exists(&self) -> bool {
        self.length().is_ok_and(|length| length.is_some())
    }

    /// Appends a section with the time in its heading.
    pub(crate) fn append(&self, text: &str, now: Timestamp) -> Result<AppendedNotes, NotesError> {
        let (text, redactions) = redact_counting(text);
        let append = || {
            let place = self.find(MissingFolder::IsMade)?.ok_or(io::ErrorKind::NotFound)?;
            place.append(|end| text::section(end, &text, now))
        };
        let bytes = append().map_err(self.failed("append to"))?;
        Ok(AppendedNotes { file: self.file.clone(), bytes, redactions })
    }

    /// The newest lines, at most `max` bytes.
    pub(crate) fn read(&self, max: Option<u64>) -> Result<ReadNotes, NotesError> {
        let most = max.unwrap_or(MAX_READ).min(MAX_READ);
        let read = || {
            let Some(place) = self.find(MissingFolder::Stays)? else { return Ok(None) };
            let Some(file) = place.open_to_read()? else { return Ok(None) };
            text::newest(file, most).map(Some)
        };
        let (newest, truncated) = read().map_err(self.failed("read"))?.unwrap_or_default();
        let (text, redactions) = redact_counting(&newest);
        Ok(ReadNotes { file: self.file.clone(), text: text.into_owned(), truncated, redactions })
    }

    /// The scratch files of all agents in this folder, most recently changed first.
    pub(crate) fn list(&self) -> Result<Vec<ListedNotes>, NotesError> {
        let template = Path::new(&self.template);
        let template = template.file_name().unwrap_or_default().to_string_lossy();
        let folder = Path::new(&self.file).parent().unwrap_or(Path::new(""));
        let list = || {
            let Some(place) = self.find(MissingFolder::Stays)? else { return Ok(Vec::new()) };
            place.list(|name| is_notes(&template, name))
        };
        let mut list: Vec<_> = list()
            .map_err(self.failed("list"))?
            .into_iter()
            .map(|(name, bytes, modified_at)| ListedNotes {
                file: folder.join(name).display().to_string(),
                bytes,
                modified_at,
            })
            .collect();
        list.sort_by(|a, b| b.modified_at.cmp(&a.modified_at).then_with(|| a.file.cmp(&b.file)));
        Ok(list)
    }
}

/// Whether `name` is the scratch file of some agent by this template.
fn is_notes(template: &str, name: &str) -> bool {
    let agent =
        ["{agentName}", "{agent_name}"].into_iter().find_map(|agent| template.split_once(agent));
    match agent {
        Some((before, after)) => {
            let agent = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            agent.is_some_and(|agent| !agent.is_empty())
        }
        None => name == template,
    }
}

#[cfg(test)]
mod tests;
