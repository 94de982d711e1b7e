//! Decision prompts: what the judge is told to be, by the path that a tier names. One that cannot be read leaves its last
//! good text in force, or `judgment.md`. Nothing is asked here.

use super::{Stamp, parse};
use crate::problem::{Problem, read_text};
use rawr_core::prompt::PromptName;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug, Default)]
pub(super) struct Decisions {
    /// By the path as it is configured.
    files: BTreeMap<String, Decision>,
}

#[derive(Debug, Default)]
struct Decision {
    stamp: Option<Stamp>,
    read: bool,
    text: Option<String>,
    problems: Vec<Problem>,
}

impl Decisions {
    /// From now on these, and no others.
    pub(super) fn use_paths(&mut self, paths: impl IntoIterator<Item = String>) {
        let mut before = std::mem::take(&mut self.files);
        self.files = paths
            .into_iter()
            .map(|path| {
                let known = before.remove(&path).unwrap_or_default();
                (path, known)
            })
            .collect();
    }

    /// Reads what looks changed; says whether anything did.
    pub(super) fn refresh(&mut self, folder: &Path) -> bool {
        let mut changed = false;
        for (path, decision) in &mut self.files {
            let path = folder.join(path);
            let stamp = Stamp::of(&path);
            if decision.read && stamp == decision.stamp {
                continue;
            }
            (decision.stamp, decision.read, changed) = (stamp, true, true);
            let parsed = match read_text(&path) {
                Ok(Some(source)) => parse(PromptName::Judgment, &source, Some(&path)),
                Ok(None) => Err(vec![
                    Problem::warning("no-file", "there is no such decision prompt")
                        .help("`judgment.md` is used instead".to_owned())
                        .in_file(Some(&path)),
                ]),
                Err(problem) => Err(vec![problem]),
            };
            match parsed {
                Ok(parsed) => {
                    (decision.text, decision.problems) = (Some(parsed.text), parsed.problems)
                }
                Err(problems) => decision.problems = problems,
            }
        }
        changed
    }

    pub(super) fn texts(&self) -> BTreeMap<String, String> {
        let texts = self
            .files
            .iter()
            .filter_map(|(path, decision)| Some((path.clone(), decision.text.clone()?)));
        texts.collect()
    }

    pub(super) fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.files.values().flat_map(|decision| &decision.problems)
    }
}
