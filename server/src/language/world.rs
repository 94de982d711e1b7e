//! The context of language features: the user's files, unsaved texts, and the state of a thread. Determines the kind of
//! each document.

use rawr_core::prompt::PromptName;
use rawr_settings::config::{Config, ConfigSources, UnsavedTexts, UserSources};
use rawr_settings::problem::{FileProblem, read_text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    Prompt(PromptName),
    /// A prompt that a tier names for its judge.
    Decision,
    Config(ConfigFile),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigFile {
    Rawr,
    /// Most of its keys are not ours.
    Host,
    Project,
}

/// A text that is being edited.
#[derive(Debug, Clone, Copy)]
pub struct Doc<'d> {
    pub kind: DocumentKind,
    /// The path by which the configuration names it.
    pub path: &'d Path,
    pub text: &'d str,
}

impl DocumentKind {
    /// The prompt whose placeholders it may contain.
    pub const fn prompt(self) -> Option<PromptName> {
        match self {
            Self::Prompt(name) => Some(name),
            Self::Decision => Some(PromptName::Judgment),
            Self::Config(_) => None,
        }
    }
}

/// The current values of one prompt's placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceholderValues {
    pub thread: String,
    pub model: Option<String>,
    /// By camelCase name.
    pub values: BTreeMap<&'static str, String>,
}

/// What answers depend on besides the document.
#[derive(Debug, Clone)]
pub struct LanguageContext {
    pub files: UserSources,
    /// The texts of open documents, which replace their files.
    pub unsaved: UnsavedTexts,
}

impl LanguageContext {
    /// The kind of a file, and the path by which the configuration names it. `None`: not one of ours.
    pub fn kind_of(&self, path: &Path) -> Option<(DocumentKind, PathBuf)> {
        let known = self
            .files
            .prompts
            .iter()
            .map(|(name, path)| (DocumentKind::Prompt(*name), path.clone()));
        let decisions =
            self.files.decisions.iter().map(|path| (DocumentKind::Decision, path.clone()));
        let files = [
            (DocumentKind::Config(ConfigFile::Rawr), self.files.home.rawr_toml()),
            (DocumentKind::Config(ConfigFile::Host), self.files.home.host_toml()),
        ];
        let known: Vec<_> = known.chain(decisions).chain(files).collect();
        let same = |(_, of): &&(DocumentKind, PathBuf)| of == path;
        if let Some(found) = known.iter().find(same) {
            return Some(found.clone());
        }
        let real = real_path(path);
        let same = |(_, of): &&(DocumentKind, PathBuf)| real.is_some() && real_path(of) == real;
        if let Some(found) = known.iter().find(same) {
            return Some(found.clone());
        }
        let project = path.file_name().is_some_and(|name| name == ".rawr.toml");
        project.then(|| (DocumentKind::Config(ConfigFile::Project), path.to_owned()))
    }

    /// The configuration with the unsaved texts, and its problems.
    pub fn config(&self, doc: &Doc<'_>, model: Option<&str>) -> (Config, Vec<FileProblem>) {
        let project = match doc.kind {
            DocumentKind::Config(ConfigFile::Project) => doc.path.parent(),
            _ => None,
        };
        let UserSources { home, overrides, front_matter, .. } = &self.files;
        let (overrides, front_matter) = (overrides.as_ref(), Some(front_matter));
        let unsaved = Some(&self.unsaved);
        let own = ConfigSources::at(home);
        ConfigSources { project, model, overrides, front_matter, unsaved, ..own }.load()
    }

    /// Resolves a path of a prompt in a configuration.
    pub fn prompt_path(&self, written: &str) -> PathBuf {
        self.files.prompt_folder.join(written)
    }

    /// The current text of a file, saved or not.
    pub fn text_of(&self, path: &Path) -> Option<String> {
        self.unsaved.get(path).cloned().or_else(|| read_text(path).ok().flatten())
    }
}

/// For a missing file, the real path of its folder is used.
fn real_path(path: &Path) -> Option<PathBuf> {
    path.canonicalize()
        .ok()
        .or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))
}
