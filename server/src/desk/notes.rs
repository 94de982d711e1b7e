//! Scratch files: an agent's own notes under its thread's folder. Notes are added to and read, never rewritten, and
//! never leave that folder.

mod place;
mod text;

use super::{Desk, DeskError, Notice, Open};
use crate::redact::redact_counting;
use place::{Missing, NotesFile};
use rawr_core::scratch;
use rawr_core::units::{ThreadId, Timestamp};
use std::io;
use std::path::{Path, PathBuf};

/// More than this is no note.
pub const MAX_NOTE: usize = 64 << 10;
/// A scratch file is read to this length unless less is asked for.
const MAX_READ: u64 = 1 << 20;

/// One agent's notes, as a list shows them.
#[derive(Debug)]
pub struct Note {
    pub file: String,
    pub bytes: u64,
    pub modified_at: Timestamp,
}

#[derive(Debug)]
pub struct Appended {
    pub file: String,
    /// Its length now.
    pub bytes: u64,
    /// Secrets that were taken out.
    pub redactions: usize,
}

#[derive(Debug)]
pub struct Notes {
    pub file: String,
    /// The newest part, in whole lines.
    pub text: String,
    pub truncated: bool,
    pub redactions: usize,
}

/// Where a thread's notes are.
pub(super) struct Whereabouts {
    cwd: PathBuf,
    /// Relative to it.
    pub(super) file: String,
}

impl Whereabouts {
    fn path(&self) -> PathBuf {
        self.cwd.join(&self.file)
    }

    fn find(&self, missing: Missing) -> io::Result<Option<NotesFile>> {
        NotesFile::find(&self.cwd, Path::new(&self.file), missing)
    }

    /// `None` where there are none.
    fn length(&self) -> io::Result<Option<u64>> {
        let Some(place) = self.find(Missing::Stays)? else { return Ok(None) };
        let Some(file) = place.open_to_read()? else { return Ok(None) };
        Ok(Some(file.metadata()?.len()))
    }

    fn failed(&self, verb: &'static str) -> impl FnOnce(io::Error) -> DeskError {
        let path = self.path();
        move |source| DeskError::Notes { verb, path, source }
    }
}

pub(super) fn of_open(open: &Open) -> Whereabouts {
    let thread = open.machine.thread();
    let template = &open.config.policy.scratch_file_template;
    let file = scratch::file(template, &thread.id, thread.agent.as_deref());
    Whereabouts { cwd: PathBuf::from(&thread.cwd), file }
}

impl Desk {
    fn whereabouts(&self, id: &ThreadId) -> Result<Whereabouts, DeskError> {
        Ok(of_open(self.open_thread(id)?))
    }

    /// Relative and absolute, and whether it is there.
    pub fn scratch_path(&self, id: &ThreadId) -> Result<(String, PathBuf, bool), DeskError> {
        let notes = self.whereabouts(id)?;
        let exists = notes.find(Missing::Stays).is_ok_and(|place| {
            place.is_some_and(|place| place.open_to_read().is_ok_and(|file| file.is_some()))
        });
        let path = notes.path();
        Ok((notes.file, path, exists))
    }

    /// Adds one section, under the time in its heading.
    pub fn scratch_append(
        &mut self,
        id: &ThreadId,
        text: &str,
        by: &str,
        now: Timestamp,
    ) -> Result<Appended, DeskError> {
        let notes = self.whereabouts(id)?;
        let (text, redactions) = redact_counting(text);
        let append = || {
            let place = notes.find(Missing::IsMade)?.ok_or(io::ErrorKind::NotFound)?;
            place.append(|end| text::section(end, &text, now))
        };
        let bytes = append().map_err(notes.failed("append to"))?;
        let path = notes.path();
        self.live.has_heard_of_notes(&path);
        self.tell_of_notes(&path, Some(by));
        Ok(Appended { file: notes.file, bytes, redactions })
    }

    pub fn scratch_read(&self, id: &ThreadId, max: Option<u64>) -> Result<Notes, DeskError> {
        let notes = self.whereabouts(id)?;
        let most = max.unwrap_or(MAX_READ).min(MAX_READ);
        let read = || {
            let Some(place) = notes.find(Missing::Stays)? else { return Ok(None) };
            let Some(file) = place.open_to_read()? else { return Ok(None) };
            text::newest(file, most).map(Some)
        };
        let (newest, truncated) = read().map_err(notes.failed("read"))?.unwrap_or_default();
        let (text, redactions) = redact_counting(&newest);
        Ok(Notes { file: notes.file, text: text.into_owned(), truncated, redactions })
    }

    /// From now on clients are told when its notes change.
    pub(super) fn look_at_notes(&mut self, id: &ThreadId) {
        if let Some(open) = self.threads.get(id) {
            self.live.looks_at_notes(of_open(open).path());
        }
    }

    /// The files of all threads that are open here, there or not.
    pub(super) fn notes_files(&self) -> impl Iterator<Item = PathBuf> {
        self.threads.values().map(|open| of_open(open).path()).filter(|path| path.is_absolute())
    }

    /// Every thread whose notes they are is told of. What cannot be reached without a link is nobody's notes.
    pub(super) fn tell_of_notes(&mut self, path: &Path, by: Option<&str>) {
        for (id, open) in self.threads.iter() {
            let notes = of_open(open);
            if notes.path() != path {
                continue;
            }
            match notes.length() {
                Ok(bytes) => {
                    (self.tell)(Notice::Notes { thread: id, file: &notes.file, path, bytes, by });
                }
                Err(error) => tracing::warn!(thread = %id, %error, "these notes cannot be read"),
            }
        }
    }

    /// All agents' notes beside this thread's own, the latest first.
    pub fn scratch_list(&self, id: &ThreadId) -> Result<Vec<Note>, DeskError> {
        let notes = self.whereabouts(id)?;
        let template = Path::new(&self.open_thread(id)?.config.policy.scratch_file_template);
        let template = template.file_name().unwrap_or_default().to_string_lossy();
        let folder = Path::new(&notes.file).parent().unwrap_or(Path::new(""));
        let list = || {
            let Some(place) = notes.find(Missing::Stays)? else { return Ok(Vec::new()) };
            place.list(|name| is_notes(&template, name))
        };
        let mut list: Vec<_> = list()
            .map_err(notes.failed("list"))?
            .into_iter()
            .map(|(name, bytes, modified_at)| Note {
                file: folder.join(name).display().to_string(),
                bytes,
                modified_at,
            })
            .collect();
        list.sort_by(|a, b| b.modified_at.cmp(&a.modified_at).then_with(|| a.file.cmp(&b.file)));
        Ok(list)
    }
}

/// Whether the template gives some agent's file this name.
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
