//! Held messages that contain secrets. The log has them redacted; until they are delivered, their original text is in a
//! separate file, from which the host gets it back.

use super::thread::OpenThread;
use rawr_core::event::{HostAction, ItemRole};
use rawr_core::thread::Issued;
use rawr_core::units::InputId;
use rawr_core::{Event, Input, Record};
use rawr_storage::redact::{is_redacted, redact};
use rawr_storage::store::held::{self, OriginalText};
use std::path::{Path, PathBuf};

/// The original texts of one thread.
#[derive(Debug, Default)]
pub(super) struct HeldOriginals {
    files: Vec<PathBuf>,
    are_known: bool,
}

impl HeldOriginals {
    /// Discards what is known here, because the disk is right.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// The text of a message before redaction.
pub(super) fn written(input: &Input) -> Option<String> {
    let Input::Submitted { text, .. } = input else { return None };
    Some(text.clone())
}

impl OpenThread {
    /// With this batch, keeps the original text of a message that is held from now on, and removes those of messages
    /// that are no longer held.
    pub(super) fn keep_originals(&mut self, mut written: Option<String>, records: &[Record]) {
        let Self { machine, log, folder, originals, owner, .. } = self;
        let Some(log) = log.as_mut() else { return };
        // Only the owner sees every message that is held.
        if !originals.are_known || owner.is_none() {
            match held::files(folder) {
                Ok(files) => *originals = HeldOriginals { files, are_known: true },
                Err(error) => {
                    tracing::warn!(%error, "failed to remove the texts of messages that are no longer held")
                }
            }
        }
        for record in records {
            let Event::InputHeld(held) = &record.event else { continue };
            if is_redacted(&held.text)
                && let Some(text) = written.take()
            {
                let original = OriginalText::new(held.input.clone(), held.text.clone(), text);
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

/// The action with the original text of the message.
pub(super) fn with_original(folder: &Path, mut issued: Issued) -> Issued {
    if let HostAction::DeliverInput { input, items } = &mut issued.kind {
        let of_person = items.iter_mut().filter(|item| item.role == ItemRole::Input);
        for item in of_person.filter(|item| is_redacted(&item.text)) {
            match held::read(folder, input, &item.text) {
                Ok(text) => item.text = text,
                Err(error) => {
                    tracing::warn!(%input, %error, "failed to read the original message; delivering it redacted");
                }
            }
        }
    }
    issued
}

impl OpenThread {
    /// Whether rawr delivers this message, so that the host must not.
    pub(crate) fn takes_care_of(&self, input: &InputId, text: &str) -> bool {
        // The log has the redacted text.
        self.thread().takes_care_of(input, &redact(text))
    }
}
