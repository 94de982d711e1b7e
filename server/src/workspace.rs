//! What all threads share: the user's configuration, prompts, and the watcher of their files. Knows no threads; the
//! registry, which owns it, passes in the relevant projects and applies changes.

mod edits;

pub(crate) use edits::EditNews;

use crate::config::{Config, ConfigSources, Home, UnsavedTexts, UserSources, project_toml};
use crate::problem::FileProblem;
use crate::prompts::{PacketFrontMatter, PromptStore};
use crate::watch::{ChangeNotifier, Watcher};
use edits::EditTracker;
use rawr_core::Thread;
use rawr_core::prompt::PromptName;
use rawr_core::units::Timestamp;
use std::io;
use std::path::{Path, PathBuf};

/// The user's files and the settings that the client sent.
#[derive(Debug, Clone)]
pub struct WorkspaceSetup {
    /// The folder that holds `rawr.toml` and the threads.
    pub home: Home,
    /// The folder of prompt files, if it is not the one in `home`.
    pub prompt_folder: Option<PathBuf>,
    /// The client's own configuration, as JSON with the structure of `[rawr_auto_compaction]`.
    pub overrides: Option<serde_json::Value>,
}

/// A notification about configuration and prompts.
#[derive(Debug)]
pub enum WorkspaceNotice<'n> {
    /// Problems of configuration and prompts.
    Problems {
        /// Problems that were not reported before.
        problems: &'n [FileProblem],
    },
    /// A prompt file was edited.
    PromptChanged {
        /// The prompt's name; for a decision prompt its path, as a tier names it.
        name: &'n str,
        /// The version of the current text.
        version: &'n str,
        /// Problems of the file. If it is invalid, the last valid text is used.
        problems: &'n [FileProblem],
    },
    /// A configuration file was edited.
    ConfigChanged {
        /// The configuration without a project and a model.
        config: &'n Config,
        /// Including those of every open thread.
        problems: &'n [FileProblem],
    },
}

type WorkspaceListener = Box<dyn FnMut(WorkspaceNotice<'_>) + Send>;

/// The user's configuration and prompts, as of the last time their files were complete.
///
/// Create it with [`Workspace::open`] and pass it to the registry of threads, which drives it.
pub struct Workspace {
    setup: WorkspaceSetup,
    prompts: PromptStore,
    watcher: Watcher,
    edits: EditTracker,
    /// The configuration without a project and a model, and its problems, which were already reported.
    base: (Config, Vec<FileProblem>),
    tell: WorkspaceListener,
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("setup", &self.setup).finish_non_exhaustive()
    }
}

/// What a thread's configuration depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct ConfigScope {
    cwd: String,
    model: Option<String>,
}

impl ConfigScope {
    pub(crate) fn new(cwd: String, model: Option<String>) -> Self {
        Self { cwd, model }
    }

    /// The folder and model that the thread's host last reported.
    pub(crate) fn recorded(thread: &Thread) -> Self {
        Self { cwd: thread.session.cwd.clone(), model: thread.session.model.clone() }
    }

    pub(crate) fn is_of(&self, thread: &Thread) -> bool {
        self.cwd == thread.session.cwd && self.model == thread.session.model
    }

    /// This scope's folder with another model.
    pub(crate) fn with_model(&self, model: &str) -> Self {
        Self { cwd: self.cwd.clone(), model: Some(model.to_owned()) }
    }

    fn project(&self) -> Option<&Path> {
        Some(Path::new(&self.cwd)).filter(|cwd| cwd.is_dir())
    }

    /// The project's configuration file, whether it exists or not.
    pub(crate) fn project_toml(&self) -> Option<PathBuf> {
        let cwd = Path::new(&self.cwd);
        cwd.is_absolute().then(|| project_toml(cwd))
    }
}

/// Reads configurations. Can be used on another thread.
#[derive(Debug, Clone)]
pub(crate) struct ConfigReader {
    setup: WorkspaceSetup,
    front_matter: PacketFrontMatter,
    last_good: UnsavedTexts,
}

impl ConfigReader {
    /// The current configuration.
    pub(crate) fn read(&self, scope: &ConfigScope) -> (Config, Vec<FileProblem>) {
        let sources = ConfigSources {
            project: scope.project(),
            model: scope.model.as_deref(),
            overrides: self.setup.overrides.as_ref(),
            front_matter: Some(&self.front_matter),
            last_good: Some(&self.last_good),
            ..ConfigSources::at(&self.setup.home)
        };
        sources.load()
    }
}

impl Workspace {
    /// Reads configuration and prompts, and reports their problems to `tell`. Watching starts with the first tick of
    /// the registry.
    pub fn open(
        setup: WorkspaceSetup,
        root: PathBuf,
        notifier: ChangeNotifier,
        tell: WorkspaceListener,
    ) -> Self {
        let folder = setup.prompt_folder.clone().unwrap_or_else(|| setup.home.prompt_folder());
        let mut edits = EditTracker::default();
        edits.takes_up([&setup.home.rawr_toml(), &setup.home.codex_toml()]);
        let overrides = setup.overrides.as_ref();
        let config = ConfigSources { overrides, ..ConfigSources::at(&setup.home) }.load().0;
        let mut prompts = PromptStore::open(&folder, &config.prompt_paths);
        prompts.use_decisions(config.decision_prompts());
        let reader = ConfigReader {
            setup: setup.clone(),
            front_matter: prompts.set().packet_front_matter().clone(),
            last_good: UnsavedTexts::new(),
        };
        let base = reader.read(&ConfigScope::default());
        let watcher = Watcher::new(root, notifier);
        let mut workspace = Self { setup, prompts, watcher, edits, base, tell };
        let mut problems = workspace.base.1.clone();
        problems.extend(workspace.prompts.set().problems());
        if !problems.is_empty() {
            (workspace.tell)(WorkspaceNotice::Problems { problems: &problems });
        }
        workspace
    }

    /// The prompt files and the current texts.
    pub(crate) const fn prompts(&self) -> &PromptStore {
        &self.prompts
    }

    /// The paths of the user's files.
    pub(crate) const fn home(&self) -> &Home {
        &self.setup.home
    }

    /// The configuration without a project and a model, and its problems.
    pub(crate) const fn base(&self) -> &(Config, Vec<FileProblem>) {
        &self.base
    }

    pub(crate) const fn watcher(&self) -> &Watcher {
        &self.watcher
    }

    /// Watches all threads of this home, also after it was replaced.
    pub(crate) fn watch_threads(&mut self) {
        self.watcher.watch_all();
        self.forget_files();
    }

    pub(crate) const fn watcher_mut(&mut self) -> &mut Watcher {
        &mut self.watcher
    }

    /// The paths of the user's files, for language features.
    pub(crate) fn user_sources(&self) -> UserSources {
        let (config, _) = &self.base;
        let folder = self.prompts.folder().to_owned();
        UserSources {
            home: self.setup.home.clone(),
            overrides: self.setup.overrides.clone(),
            prompts: PromptName::ALL.map(|name| (name, self.prompts.path(name))).to_vec(),
            decisions: config.decision_prompts().map(|path| folder.join(path)).collect(),
            front_matter: self.prompts.set().packet_front_matter().clone(),
            prompt_folder: folder,
        }
    }

    /// A reader with the current settings of this workspace.
    pub(crate) fn config_reader(&self) -> ConfigReader {
        ConfigReader {
            setup: self.setup.clone(),
            front_matter: self.prompts.set().packet_front_matter().clone(),
            last_good: self.edits.last_good().clone(),
        }
    }

    /// The configuration of a thread that is opened now. New problems are reported.
    pub(crate) fn configured(&mut self, scope: &ConfigScope) -> (Config, Vec<FileProblem>) {
        self.edits.takes_up(scope.project_toml().as_ref());
        let (config, problems) = self.config_reader().read(scope);
        let told = |problem: &&FileProblem| !self.base.1.contains(problem);
        let news: Vec<_> = problems.iter().filter(told).cloned().collect();
        if !news.is_empty() {
            (self.tell)(WorkspaceNotice::Problems { problems: &news });
        }
        (config, problems)
    }

    /// Writes a prompt's shipped text to its file. An error names the file.
    pub(crate) fn put_prompt_back(
        &mut self,
        name: PromptName,
    ) -> Result<PathBuf, (PathBuf, io::Error)> {
        let put = self.prompts.reset(name);
        put.map_err(|error| (self.prompts.path(name), error)).inspect(|_| self.refresh_prompts())
    }
}

/// Limits a deadline in case the clock was set back: nothing waits longer than intended.
pub(crate) fn within(at: Timestamp, milliseconds: u64, now: Timestamp) -> Timestamp {
    at.min(now.plus_millis(milliseconds))
}
