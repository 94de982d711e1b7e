//! Messages that wait and hold secrets: the log has them redacted, and until they are delivered their
//! text lies in a file beside it, from which the host gets it back.

use super::{OpenThread, RegistryError, ThreadRegistry};
use crate::redact::{is_redacted, redact};
use crate::store::held::{self, Original};
use rawr_core::event::{Action, ItemRole};
use rawr_core::thread::Issued;
use rawr_core::units::{InputId, ThreadId};
use rawr_core::{Event, Input, Record};
use std::path::{Path, PathBuf};

/// The files of this thread.
#[derive(Debug, Default)]
pub(super) struct Originals {
    files: Vec<PathBuf>,
    are_known: bool,
}

impl Originals {
    /// What the disk has is right.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// A message before anything was taken out of it.
pub(super) fn written(input: &Input) -> Option<String> {
    let Input::Submitted { text, .. } = input else { return None };
    Some(text.clone())
}

impl OpenThread {
    /// Keeps what was `written` if it waits from now on, and removes what waits no longer, both with this batch.
    pub(super) fn keep_originals(&mut self, mut written: Option<String>, records: &[Record]) {
        let Self { machine, log, folder, originals, owner, .. } = self;
        let Some(log) = log.as_mut() else { return };
        // Only the owner knows of every message that comes to wait.
        if !originals.are_known || owner.is_none() {
            match held::files(folder) {
                Ok(files) => *originals = Originals { files, are_known: true },
                Err(error) => {
                    tracing::warn!(%error, "texts of messages that wait no longer may stay")
                }
            }
        }
        for record in records {
            let Event::InputHeld(held) = &record.event else { continue };
            if is_redacted(&held.text)
                && let Some(text) = written.take()
            {
                let original = Original::new(held.input.clone(), held.text.clone(), text);
                originals.files.push(original.file(folder));
                log.keep(original);
            }
        }
        if originals.files.is_empty() {
            return;
        }
        let waiting: Vec<_> = held::of_waiting(machine.thread(), folder, is_redacted).collect();
        let settled = originals.files.extract_if(.., |file| !waiting.contains(file));
        settled.for_each(|file| log.settle(file));
    }
}

/// The action with the person's message as it was written.
pub(super) fn with_original(folder: &Path, mut issued: Issued) -> Issued {
    if let Action::DeliverInput { input, items } = &mut issued.kind {
        let of_person = items.iter_mut().filter(|item| item.role == ItemRole::Input);
        for item in of_person.filter(|item| is_redacted(&item.text)) {
            match held::read(folder, input, &item.text) {
                Ok(text) => item.text = text,
                Err(error) => {
                    tracing::warn!(%input, %error, "a message is delivered without its secrets");
                }
            }
        }
    }
    issued
}

impl ThreadRegistry {
    /// The actions that the host was asked for and has not reported, as it must perform them.
    pub fn pending(&self, id: &ThreadId) -> Result<Vec<Issued>, RegistryError> {
        let open = self.open_thread(id)?;
        let pending = open.machine.thread().pending_actions();
        Ok(pending.map(|issued| with_original(&open.folder, issued.clone())).collect())
    }

    /// Whether rawr delivers this message, so that the host must not.
    pub(crate) fn takes_care_of(
        &self,
        id: &ThreadId,
        input: &InputId,
        text: &str,
    ) -> Result<bool, RegistryError> {
        // Compared as it is stored.
        Ok(self.thread(id)?.takes_care_of(input, &redact(text)))
    }
}
