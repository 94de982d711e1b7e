//! Decision prompts: what the judge is told to be, by the path that a tier names. One that cannot be read leaves its last
//! good text in force, or `judgment.md`. Nothing is asked here.

use super::parse;
use crate::problem::{Problem, Stamp, read_text};
use rawr_core::prompt::PromptName;
use std::collections::{BTreeMap, BTreeSet};
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

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(super) fn get(&self, path: &str) -> Option<(Option<&str>, &[Problem])> {
        let decision = self.files.get(path)?;
        Some((decision.text.as_deref(), &decision.problems))
    }

    /// Those that look otherwise than when they were read.
    pub(super) fn changed(&self, folder: &Path) -> BTreeSet<String> {
        let looks_changed = |path: &str, decision: &Decision| {
            !decision.read || Stamp::of(&folder.join(path)) != decision.stamp
        };
        let changed = self.files.iter().filter(|(path, decision)| looks_changed(path, decision));
        changed.map(|(path, _)| path.clone()).collect()
    }

    /// Reads these, and names those that are not what they were, or whose problems are not.
    pub(super) fn read(
        &mut self,
        folder: &Path,
        paths: &BTreeMap<String, Option<Stamp>>,
    ) -> Vec<String> {
        let mut changed = Vec::new();
        for (path, decision) in &mut self.files {
            let Some(stamp) = paths.get(path) else { continue };
            let file = folder.join(path);
            let parsed = match read_text(&file) {
                Ok(Some(source)) => parse(PromptName::Judgment, &source, Some(&file)),
                Ok(None) => Err(vec![
                    Problem::warning("no-file", "there is no such decision prompt")
                        .help("`judgment.md` is used instead".to_owned())
                        .in_file(Some(&file)),
                ]),
                Err(problem) => Err(vec![problem]),
            };
            if Stamp::of(&file) != *stamp {
                continue;
            }
            (decision.stamp, decision.read) = (stamp.clone(), true);
            let (text, problems) = match parsed {
                Ok(parsed) => (Some(parsed.text), parsed.problems),
                Err(problems) => (decision.text.clone(), problems),
            };
            if (&decision.text, &decision.problems) != (&text, &problems) {
                (decision.text, decision.problems) = (text, problems);
                changed.push(path.clone());
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
