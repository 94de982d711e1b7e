//! Searches an agent's notes, paragraph by paragraph.

use super::SearchError;
use super::{HitKind, RecallSearch, RecallSource, RecalledText, SearchPosition, time};
use rawr_records::lines::FileLines;
use std::path::Path;

impl RecallSearch<'_> {
    pub(super) fn notes(&mut self, source: &RecallSource) {
        let file = source.cwd.join(&source.scratch_file);
        if let Err(problem) = self.paragraphs(source, &file) {
            self.mark_failed(&file, &problem);
        }
    }

    fn paragraphs(&mut self, source: &RecallSource, file: &Path) -> Result<(), SearchError> {
        // A symbolic link could lead anywhere.
        match (file.canonicalize(), source.cwd.canonicalize()) {
            (Ok(file), Ok(cwd)) if !file.starts_with(&cwd) => return Err(SearchError::Outside),
            _ => {}
        }
        let Some(mut lines) = FileLines::of(file)? else { return Ok(()) };
        let (at, mut begins, mut paragraph) = (time::of_file(file), 1, String::new());
        loop {
            let next = lines.next_line()?.filter(|_| !self.is_over());
            let line = next.map(|(number, line)| (number, String::from_utf8_lossy(line)));
            match &line {
                Some((number, line)) if !line.trim().is_empty() => {
                    if paragraph.is_empty() {
                        begins = *number;
                    }
                    paragraph.push_str(line);
                    paragraph.push('\n');
                    if paragraph.len() < LONGEST {
                        continue;
                    }
                }
                _ => {}
            }
            let said = RecalledText { kind: HitKind::Scratch, at, text: &paragraph };
            self.met(&SearchPosition { thread: &source.thread, file, line: begins }, &said);
            paragraph.clear();
            if line.is_none() {
                return Ok(());
            }
        }
    }
}

/// Longer paragraphs are split.
const LONGEST: usize = 64 << 10;
