//! The configuration that a thread works with: that of its folder and of its host's model. What the files say is read
//! in the config's room.

use super::{Desk, DeskError, Notice, Open, Opening, Setup, Staged};
use crate::config::{Config, Unsaved, project_toml};
use crate::problem::Problem;
use crate::prompts::PacketFrontMatter;
use rawr_core::event::{Event, UsageReported};
use rawr_core::machine::{self, Role};
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Effect, Input, Thread};
use std::path::{Path, PathBuf};

/// What a thread's configuration depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct ConfigScope {
    cwd: String,
    model: Option<String>,
}

impl ConfigScope {
    /// The host says it. Whoever only looks sees what the host said last.
    pub(super) fn of(opening: &Opening, thread: &Thread) -> Self {
        match opening.role {
            Role::Observer if !thread.cwd.is_empty() => Self::recorded(thread),
            _ => Self { cwd: opening.cwd.clone(), model: opening.model.clone() },
        }
    }

    pub(super) fn recorded(thread: &Thread) -> Self {
        Self { cwd: thread.cwd.clone(), model: thread.model.clone() }
    }

    fn is_of(&self, thread: &Thread) -> bool {
        self.cwd == thread.cwd && self.model == thread.model
    }

    fn project(&self) -> Option<&Path> {
        Some(Path::new(&self.cwd)).filter(|cwd| cwd.is_dir())
    }

    /// There or not.
    pub(super) fn project_toml(&self) -> Option<PathBuf> {
        let cwd = Path::new(&self.cwd);
        cwd.is_absolute().then(|| project_toml(cwd))
    }
}

pub(super) fn configure(
    setup: &Setup,
    front_matter: &PacketFrontMatter,
    scope: &ConfigScope,
) -> (Config, Vec<Problem>) {
    let project = scope.project();
    let overrides = setup.overrides.as_ref();
    Config::load_for(&setup.home, project, scope.model.as_deref(), overrides, front_matter)
}

/// The same, where a file that cannot be read as a whole says what it said when it could: `last_good`.
pub(super) fn configure_by(
    last_good: &Unsaved,
    setup: &Setup,
    front_matter: &PacketFrontMatter,
    scope: &ConfigScope,
) -> (Config, Vec<Problem>) {
    const UNUSABLE: [&str; 4] = ["syntax", "unreadable-file", "not-utf-8", "file-too-large"];
    let (config, mut problems) = configure(setup, front_matter, scope);
    let unusable = |problem: &Problem| {
        let file = problem.file.as_ref()?;
        let text = last_good.get(file).filter(|_| UNUSABLE.contains(&problem.code))?;
        Some((file.clone(), text.clone()))
    };
    let instead: Unsaved = problems.iter().filter_map(unusable).collect();
    if instead.is_empty() {
        return (config, problems);
    }
    let (project, overrides) = (scope.project(), setup.overrides.as_ref());
    let model = scope.model.as_deref();
    let (config, also) =
        Config::load_with(&instead, &setup.home, project, model, overrides, front_matter);
    // What is wrong with a text that is not there any more helps nobody.
    let others = also.into_iter().filter(|problem| {
        !problems.contains(problem)
            && problem.file.as_ref().is_none_or(|file| !instead.contains_key(file))
    });
    let others: Vec<_> = others.collect();
    problems.extend(others);
    (config, problems)
}

impl Desk {
    /// Of one thread, or what a thread without a project and a model would have.
    pub fn config(&self, id: Option<&ThreadId>) -> Result<(Config, Vec<Problem>), DeskError> {
        match id {
            Some(id) => {
                let open = self.open_thread(id)?;
                Ok((open.config.clone(), open.problems.clone()))
            }
            None => Ok(self.base.clone()),
        }
    }

    /// As the files say it now, and where one of them is broken, as it said it before.
    pub(super) fn configure(&self, scope: &ConfigScope) -> (Config, Vec<Problem>) {
        let front_matter = self.prompts.set().packet_front_matter();
        configure_by(self.live.last_good(), &self.setup, front_matter, scope)
    }

    /// What is wrong at home was told before.
    pub(super) fn configured(&mut self, scope: &ConfigScope) -> (Config, Vec<Problem>) {
        self.live.takes_up(scope.project_toml().as_ref());
        let (config, problems) = self.configure(scope);
        let told = |problem: &&Problem| !self.base.1.contains(problem);
        let news: Vec<_> = problems.iter().filter(told).cloned().collect();
        if !news.is_empty() {
            (self.tell)(Notice::Problems { problems: &news });
        }
        (config, problems)
    }

    /// For a thread that is only watched: as one of the same folder and model has it, where there is one.
    pub(super) fn configured_like_others(&mut self, scope: &ConfigScope) -> (Config, Vec<Problem>) {
        let same = self.threads.values().find(|open| open.scope == *scope);
        let known = same.map(|open| (open.config.clone(), open.problems.clone()));
        known.unwrap_or_else(|| self.configured(scope))
    }

    /// Takes up the configuration of what the host says of the thread now.
    pub(super) fn configure_again(&mut self, id: &ThreadId, scope: ConfigScope) {
        if self.threads.get(id).is_none_or(|open| open.scope == scope) {
            return;
        }
        let settings = self.configured(&scope);
        let Some(open) = self.threads.get_mut(id) else { return };
        open.scope = scope;
        let now = open.machine.thread().updated_at;
        self.go_by(id, settings, now);
    }

    /// From now on the thread goes by this configuration.
    pub(super) fn go_by(
        &mut self,
        id: &ThreadId,
        (config, problems): (Config, Vec<Problem>),
        now: Timestamp,
    ) {
        let Some(open) = self.threads.get_mut(id) else { return };
        let tier = |open: &Open| open.machine.thread().tier(&open.config.policy);
        let before = tier(open);
        (open.config, open.problems) = (config, problems);
        if tier(open) != before {
            let effects = vec![Effect::Tell(machine::Notice::Changed)];
            open.staged.push(Staged { effects, now });
            self.batch.push(id.clone());
        }
    }

    /// What follows from a report is decided by the rules for the model that it names.
    pub(super) fn follow_model(&mut self, id: &ThreadId, input: &Input) {
        if let Input::Saw(Event::UsageReported(UsageReported { model: Some(model), .. })) = input
            && let Some(open) = self.threads.get(id)
        {
            let scope = ConfigScope { cwd: open.scope.cwd.clone(), model: Some(model.clone()) };
            self.configure_again(id, scope);
        }
    }

    /// Where another process owns the thread, its host may have named another model since.
    pub(super) fn follow_host(&mut self, id: &ThreadId) {
        let Some(open) = self.threads.get(id).filter(|open| open.owner.is_none()) else { return };
        let thread = open.machine.thread();
        if !thread.cwd.is_empty() && !open.scope.is_of(thread) {
            self.configure_again(id, ConfigScope::recorded(thread));
        }
    }
}
