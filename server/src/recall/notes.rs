//! An agent's notes, paragraph by paragraph.

use super::lines::{Lines, Problem};
use super::{Kind, RecalledText, Search, Source, Spot, time};
use std::path::Path;

impl Search<'_> {
    pub(super) fn notes(&mut self, source: &Source) {
        let file = source.cwd.join(&source.scratch_file);
        if let Err(problem) = self.paragraphs(source, &file) {
            self.could_not(&file, &problem);
        }
    }

    fn paragraphs(&mut self, source: &Source, file: &Path) -> Result<(), Problem> {
        // A link could lead anywhere.
        match (file.canonicalize(), source.cwd.canonicalize()) {
            (Ok(file), Ok(cwd)) if !file.starts_with(&cwd) => return Err(Problem::Outside),
            _ => {}
        }
        let Some(mut lines) = Lines::of(file)? else { return Ok(()) };
        let (at, mut begins, mut paragraph) = (time::of_file(file), 1, String::new());
        loop {
            let next = lines.next()?.filter(|_| !self.is_over());
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
            let said = RecalledText { kind: Kind::Scratch, at, text: &paragraph };
            self.met(&Spot { thread: &source.thread, file, line: begins }, &said);
            paragraph.clear();
            if line.is_none() {
                return Ok(());
            }
        }
    }
}

/// A paragraph that goes on for longer is taken for several.
const LONGEST: usize = 64 << 10;
