//! What answers depend on beside the text that they are about: the user's files, those of them that are being edited
//! and not saved, and what a thread knows. Which document is what is decided here.

use crate::config::{Config, ConfigSources, Unsaved, UserSources};
use crate::problem::{Problem, read_text};
use rawr_core::prompt::PromptName;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Prompt(PromptName),
    /// A prompt that a tier names for its judge.
    Decision,
    Config(File),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    Rawr,
    /// Most of it is none of our business.
    Codex,
    Project,
}

/// A text that is being edited.
#[derive(Debug, Clone, Copy)]
pub struct Doc<'d> {
    pub kind: Kind,
    /// As the configuration knows it.
    pub path: &'d Path,
    pub text: &'d str,
}

impl Kind {
    /// The prompt whose placeholders it may hold.
    pub const fn prompt(self) -> Option<PromptName> {
        match self {
            Self::Prompt(name) => Some(name),
            Self::Decision => Some(PromptName::Judgment),
            Self::Config(_) => None,
        }
    }
}

/// What the placeholders of one prompt would say now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    pub thread: String,
    pub model: Option<String>,
    /// By the camelCase name.
    pub values: BTreeMap<&'static str, String>,
}

/// What answers depend on.
#[derive(Debug, Clone)]
pub struct World {
    pub files: UserSources,
    /// The texts of open documents, which stand in for their files.
    pub unsaved: Unsaved,
}

impl World {
    /// What a file is, under the name that the configuration knows it by. `None`: nothing of ours.
    pub fn kind_of(&self, path: &Path) -> Option<(Kind, PathBuf)> {
        let known =
            self.files.prompts.iter().map(|(name, path)| (Kind::Prompt(*name), path.clone()));
        let decisions = self.files.decisions.iter().map(|path| (Kind::Decision, path.clone()));
        let files = [
            (Kind::Config(File::Rawr), self.files.home.rawr_toml()),
            (Kind::Config(File::Codex), self.files.home.codex_toml()),
        ];
        let known: Vec<_> = known.chain(decisions).chain(files).collect();
        let same = |(_, of): &&(Kind, PathBuf)| of == path;
        if let Some(found) = known.iter().find(same) {
            return Some(found.clone());
        }
        let real = real_path(path);
        let same = |(_, of): &&(Kind, PathBuf)| real.is_some() && real_path(of) == real;
        if let Some(found) = known.iter().find(same) {
            return Some(found.clone());
        }
        let project = path.file_name().is_some_and(|name| name == ".rawr.toml");
        project.then(|| (Kind::Config(File::Project), path.to_owned()))
    }

    /// The configuration as these texts have it, and what is wrong with them.
    pub fn config(&self, doc: &Doc<'_>, model: Option<&str>) -> (Config, Vec<Problem>) {
        let project = match doc.kind {
            Kind::Config(File::Project) => doc.path.parent(),
            _ => None,
        };
        let UserSources { home, overrides, front_matter, .. } = &self.files;
        let (overrides, front_matter) = (overrides.as_ref(), Some(front_matter));
        let unsaved = Some(&self.unsaved);
        ConfigSources { home, project, model, overrides, front_matter, unsaved }.load()
    }

    /// A path as a configuration names prompts.
    pub fn prompt_path(&self, written: &str) -> PathBuf {
        self.files.prompt_folder.join(written)
    }

    /// What a file says now, saved or not.
    pub fn text_of(&self, path: &Path) -> Option<String> {
        self.unsaved.get(path).cloned().or_else(|| read_text(path).ok().flatten())
    }
}

/// Also of a file that is not there yet: that of its folder.
fn real_path(path: &Path) -> Option<PathBuf> {
    path.canonicalize()
        .ok()
        .or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))
}
