//! Decision prompts: instructions for the judge, by the path that a tier names. If one cannot be read, its last valid
//! text is used, or else `judgment.md`.

use super::parse;
use crate::problem::{FileProblem, FileStamp, read_text};
use rawr_core::prompt::PromptName;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[derive(Debug, Default)]
pub(super) struct DecisionPrompts {
    /// By the configured path.
    files: BTreeMap<String, DecisionPrompt>,
}

#[derive(Debug, Default)]
struct DecisionPrompt {
    stamp: Option<FileStamp>,
    read: bool,
    text: Option<String>,
    problems: Vec<FileProblem>,
}

impl DecisionPrompts {
    /// Uses exactly these from now on.
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

    pub(super) fn get(&self, path: &str) -> Option<(Option<&str>, &[FileProblem])> {
        let decision = self.files.get(path)?;
        Some((decision.text.as_deref(), &decision.problems))
    }

    /// Those that have changed since they were read.
    pub(super) fn changed(&self, folder: &Path) -> BTreeSet<String> {
        let looks_changed = |path: &str, decision: &DecisionPrompt| {
            !decision.read || FileStamp::of(&folder.join(path)) != decision.stamp
        };
        let changed = self.files.iter().filter(|(path, decision)| looks_changed(path, decision));
        changed.map(|(path, _)| path.clone()).collect()
    }

    /// Reads these and returns those whose text or problems have changed.
    pub(super) fn read(
        &mut self,
        folder: &Path,
        paths: &BTreeMap<String, Option<FileStamp>>,
    ) -> Vec<String> {
        let shipped_name = format!("{}.md", PromptName::Judgment.name());
        let mut changed = Vec::new();
        for (path, decision) in &mut self.files {
            let Some(stamp) = paths.get(path) else { continue };
            let file = folder.join(path);
            let parsed = match read_text(&file) {
                Ok(Some(source)) => parse(PromptName::Judgment, &source, Some(&file)),
                // The built-in text holds, as for any other prompt.
                Ok(None) if *path == shipped_name => Err(Vec::new()),
                Ok(None) => Err(vec![
                    FileProblem::warning("no-file", "decision prompt not found")
                        .help("rawr uses `judgment.md` instead".to_owned())
                        .in_file(Some(&file)),
                ]),
                Err(problem) => Err(vec![problem]),
            };
            if FileStamp::of(&file) != *stamp {
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

    pub(super) fn problems(&self) -> impl Iterator<Item = &FileProblem> {
        self.files.values().flat_map(|decision| &decision.problems)
    }
}
