//! The policies that a replay compares, loaded once for each model and project.

use super::{PolicySource, ReplayError, ReplayRequest};
use rawr_core::policy::Policy;
use rawr_settings::config::{ConfigSources, Home, UnsavedTexts, project_toml};
use rawr_settings::problem::{FileProblem, ProblemSeverity, read_text};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Policies depend on the model, because a configuration may have tables of models, and on the project, whose file may
/// narrow them.
pub(super) struct Policies<'r> {
    home: &'r Home,
    /// The text that stands in for the user's `rawr.toml`.
    texts: Vec<UnsavedTexts>,
    known: Mutex<BTreeMap<PolicyKey, Vec<Policy>>>,
}

/// The text of a regular file; a pipe would be waited for.
fn whole_text(path: &Path) -> io::Result<String> {
    std::fs::metadata(path)?;
    match read_text(path) {
        Ok(text) => text.ok_or_else(|| io::ErrorKind::NotFound.into()),
        Err(problem) => Err(io::Error::other(problem.message)),
    }
}

/// What a policy depends on.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PolicyKey {
    model: String,
    project: Option<PathBuf>,
}

impl<'r> Policies<'r> {
    pub(super) fn new(request: &'r ReplayRequest) -> Result<Self, ReplayError> {
        let text = |source: &PolicySource| -> Result<UnsavedTexts, ReplayError> {
            let text = match source {
                PolicySource::Own => return Ok(UnsavedTexts::new()),
                PolicySource::File(path) => whole_text(path)
                    .map_err(|source| ReplayError::Unreadable { path: path.clone(), source })?,
                PolicySource::Preset(name) => {
                    format!("[rawr_auto_compaction]\npreset = \"{name}\"\n")
                }
                PolicySource::Text { text, .. } => text.clone(),
            };
            let file = request.home.rawr_toml();
            let unsaved = UnsavedTexts::from([(file.clone(), text)]);
            let sources =
                ConfigSources { unsaved: Some(&unsaved), ..ConfigSources::at(&request.home) };
            let is_wrong = |problem: &FileProblem| {
                problem.severity == ProblemSeverity::Error && problem.file.as_ref() == Some(&file)
            };
            let problem = sources.load().1.into_iter().find(is_wrong);
            match problem {
                Some(problem) => Err(ReplayError::Configuration {
                    name: source.to_string(),
                    message: problem.message,
                }),
                None => Ok(unsaved),
            }
        };
        let texts = request.policies.iter().map(text).collect::<Result<_, _>>()?;
        Ok(Self { home: &request.home, texts, known: Mutex::default() })
    }

    pub(super) fn of(&self, model: Option<&str>, folder: Option<&Path>) -> Vec<Policy> {
        let project = folder.filter(|it| it.is_absolute() && project_toml(it).exists());
        let load = |unsaved| {
            let unsaved = Some(unsaved);
            let sources = ConfigSources { model, project, unsaved, ..ConfigSources::at(self.home) };
            sources.load().0.policy
        };
        let key = PolicyKey {
            model: model.unwrap_or_default().to_owned(),
            project: project.map(Path::to_owned),
        };
        if let Ok(known) = self.known.lock()
            && let Some(policies) = known.get(&key)
        {
            return policies.clone();
        }
        let policies: Vec<Policy> = self.texts.iter().map(load).collect();
        if let Ok(mut known) = self.known.lock() {
            known.insert(key, policies.clone());
        }
        policies
    }
}
