//! What all threads share: the user's configuration, prompts, and the watcher of their files. One task owns it, reads the
//! files that people save, and sends each thread what concerns it.

mod edits;
mod task;

pub use task::WorkspaceHandle;

use crate::watch::{ChangeNotifier, Watcher};
use edits::EditTracker;
use rawr_core::Thread;
use rawr_core::prompt::PromptName;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_settings::config::{Config, ConfigSources, Home, UnsavedTexts, UserSources, project_toml};
use rawr_settings::problem::FileProblem;
use rawr_settings::prompts::{PacketFrontMatter, PromptSet, PromptStore};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// A configuration and the problems of its files.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) problems: Vec<FileProblem>,
}

/// What a thread is sent when files change that concern it.
#[derive(Debug)]
pub(crate) enum WorkspaceNews {
    /// For a thread of this folder and model.
    Settings(ConfigScope, Arc<Settings>),
    Prompts(Arc<PromptSet>),
    /// A scratch file was written: by this client, or else by the agent or another process.
    Notes {
        path: PathBuf,
        by: Option<String>,
    },
}

pub(crate) type NewsListener = Box<dyn Fn(WorkspaceNews) + Send>;

/// A thread that is open in this process.
struct WorkspaceThread {
    scope: ConfigScope,
    settings: Arc<Settings>,
    /// The path of the scratch file.
    notes: Option<PathBuf>,
    listener: NewsListener,
}

/// The user's configuration and prompts, as of the last time their files were complete.
///
/// Create it with [`Workspace::open`], and start its task with [`WorkspaceHandle::start`].
pub struct Workspace {
    setup: WorkspaceSetup,
    prompts: PromptStore,
    watcher: Watcher,
    edits: EditTracker,
    /// The configuration without a project and a model, and its problems, which were already reported.
    base: Settings,
    threads: BTreeMap<ThreadId, WorkspaceThread>,
    listener: WorkspaceListener,
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
    pub(crate) fn read(&self, scope: &ConfigScope) -> Settings {
        let sources = ConfigSources {
            project: scope.project(),
            model: scope.model.as_deref(),
            overrides: self.setup.overrides.as_ref(),
            front_matter: Some(&self.front_matter),
            last_good: Some(&self.last_good),
            ..ConfigSources::at(&self.setup.home)
        };
        let (config, problems) = sources.load();
        Settings { config, problems }
    }
}

impl Workspace {
    /// Reads configuration and prompts, and reports their problems to `listener`.
    pub fn open(
        setup: WorkspaceSetup,
        root: PathBuf,
        notifier: ChangeNotifier,
        listener: WorkspaceListener,
    ) -> Self {
        let folder = setup.prompt_folder.clone().unwrap_or_else(|| setup.home.prompt_folder());
        let mut edits = EditTracker::default();
        edits.takes_up([&setup.home.rawr_toml(), &setup.home.host_toml()]);
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
        let threads = BTreeMap::new();
        let mut workspace = Self { setup, prompts, watcher, edits, base, threads, listener };
        let mut problems = workspace.base.problems.clone();
        problems.extend(workspace.prompts.set().problems());
        if !problems.is_empty() {
            (workspace.listener)(WorkspaceNotice::Problems { problems: &problems });
        }
        workspace
    }

    /// The paths of the user's files.
    pub(crate) const fn home(&self) -> &Home {
        &self.setup.home
    }

    /// The configuration without a project and a model.
    pub(crate) const fn base(&self) -> &Settings {
        &self.base
    }

    /// Watches all threads of this home, also after it was replaced.
    fn watch_threads(&mut self) {
        self.watcher.watch_all();
        self.edits.mark_moved();
    }

    /// The paths of the user's files, for language features.
    pub(crate) fn user_sources(&self) -> UserSources {
        let config = &self.base.config;
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
    fn configured(&mut self, scope: &ConfigScope) -> Arc<Settings> {
        let known = self.threads.values().find(|thread| thread.scope == *scope);
        if let Some(known) = known
            && self.edits.changed_configs().next().is_none()
        {
            return Arc::clone(&known.settings);
        }
        self.edits.takes_up(scope.project_toml().as_ref());
        let settings = self.config_reader().read(scope);
        let is_news = |problem: &&FileProblem| !self.base.problems.contains(problem);
        let news: Vec<_> = settings.problems.iter().filter(is_news).cloned().collect();
        if !news.is_empty() {
            (self.listener)(WorkspaceNotice::Problems { problems: &news });
        }
        Arc::new(settings)
    }

    fn add_thread(
        &mut self,
        id: ThreadId,
        scope: ConfigScope,
        listener: NewsListener,
    ) -> (Arc<Settings>, Arc<PromptSet>) {
        self.refresh_prompts_now();
        let settings = self.configured(&scope);
        let thread =
            WorkspaceThread { scope, settings: Arc::clone(&settings), notes: None, listener };
        self.threads.insert(id, thread);
        (settings, Arc::clone(self.prompts.set()))
    }

    /// The thread's host has reported another folder or model.
    fn move_thread(&mut self, id: &ThreadId, scope: ConfigScope) -> Arc<Settings> {
        let settings = self.configured(&scope);
        if let Some(thread) = self.threads.get_mut(id) {
            (thread.scope, thread.settings) = (scope, Arc::clone(&settings));
        }
        settings
    }

    fn remove_thread(&mut self, id: &ThreadId) {
        self.threads.remove(id);
        // The file of its project need not be watched any more.
        self.edits.mark_moved();
    }

    fn watch_notes(&mut self, id: &ThreadId, path: PathBuf) {
        if let Some(thread) = self.threads.get_mut(id) {
            self.edits.looks_at_notes(path.clone());
            thread.notes = Some(path);
        }
    }

    /// Reports a scratch file that was written to every thread that uses it.
    fn report_notes(&self, path: &Path, by: Option<&str>) {
        for thread in self.threads.values().filter(|thread| thread.notes.as_deref() == Some(path)) {
            let (path, by) = (path.to_owned(), by.map(str::to_owned));
            (thread.listener)(WorkspaceNews::Notes { path, by });
        }
    }

    /// The project files of open threads.
    fn projects(&self) -> impl Iterator<Item = PathBuf> {
        self.threads.values().filter_map(|thread| thread.scope.project_toml())
    }

    /// Writes a prompt's shipped text to its file. An error names the file.
    pub(crate) fn reset_prompt(
        &mut self,
        name: PromptName,
    ) -> Result<PathBuf, (PathBuf, io::Error)> {
        let put = self.prompts.reset(name);
        put.map_err(|error| (self.prompts.path(name), error))
            .inspect(|_| self.refresh_prompts_now())
    }
}

/// A deadline that was set so many milliseconds ahead. One that is farther away than that is due at once, because the clock
/// was set back: nothing waits longer than intended.
pub(crate) fn within(at: Timestamp, milliseconds: u64, now: Timestamp) -> Timestamp {
    if at > now.plus_millis(milliseconds) { now } else { at }
}
