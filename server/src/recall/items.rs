//! Searches the conversations that hosts store as JSON lines. Skips duplicates.

use super::SearchError;
use super::{RecallSearch, RecallSource, RecalledText, SearchPosition, SeenTexts};
use rawr_core::units::Timestamp;
use rawr_records::lines::FileLines;
use rawr_records::said::{Said, SaidReader};
use std::path::Path;

impl RecallSearch<'_> {
    /// Returns whether the file exists and could be read. `at`: the time of lines without one. `seen`: texts that are
    /// not reported again.
    pub(super) fn items(
        &mut self,
        source: &RecallSource,
        file: &Path,
        at: Option<Timestamp>,
        seen: Option<&mut SeenTexts>,
    ) -> bool {
        match self.read_items(source, file, at, seen) {
            Ok(()) => true,
            Err(problem @ SearchError::Lines(_)) => {
                self.mark_failed(file, &problem);
                true
            }
            Err(problem) => {
                self.mark_failed(file, &problem);
                false
            }
        }
    }

    fn read_items(
        &mut self,
        source: &RecallSource,
        file: &Path,
        at: Option<Timestamp>,
        mut seen: Option<&mut SeenTexts>,
    ) -> Result<(), SearchError> {
        let gone = || SearchError::from(std::io::Error::from(std::io::ErrorKind::NotFound));
        let mut lines = FileLines::of(file)?.ok_or_else(gone)?;
        let (mut room, mut unreadable, mut records) = (Vec::new(), 0, SaidReader::default());
        while let Some((line, text)) = lines.next_line()?.filter(|_| !self.is_over()) {
            if !self.words.may_be_in(text, &mut room) {
                continue;
            }
            let Some(found) = records.read(text) else {
                unreadable += u64::from(!lines.is_torn());
                continue;
            };
            for Said { kind, at: told_at, text } in found {
                if seen.as_ref().is_some_and(|seen| seen.has(&text)) {
                    continue;
                }
                let spot = SearchPosition { thread: &source.thread, file, line };
                let said = RecalledText { kind: kind.into(), at: told_at.or(at), text: &text };
                let is_named = self.met(&spot, &said);
                if let Some(seen) = seen.as_mut().filter(|_| is_named) {
                    seen.note(&text);
                }
            }
        }
        match unreadable + lines.skipped {
            0 => Ok(()),
            many => Err(SearchError::Lines(many)),
        }
    }
}
