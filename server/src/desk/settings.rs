//! The configuration that a thread works with: that of its folder and of its host's model. What the files say is read
//! in the config's room.

use super::{Desk, DeskError, Notice, Open, Opening, Setup, Staged};
use crate::config::Config;
use crate::problem::Problem;
use crate::prompts::PromptStore;
use rawr_core::machine::{self, Role};
use rawr_core::units::ThreadId;
use rawr_core::{Effect, Thread};
use std::path::Path;

/// What a thread's configuration depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Whose {
    cwd: String,
    model: Option<String>,
}

impl Whose {
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
}

pub(super) fn configure(
    setup: &Setup,
    prompts: &PromptStore,
    whose: &Whose,
) -> (Config, Vec<Problem>) {
    let project = Some(Path::new(&whose.cwd)).filter(|cwd| cwd.is_dir());
    let (overrides, front_matter) = (setup.overrides.as_ref(), prompts.set().packet_front_matter());
    Config::load_for(&setup.home, project, whose.model.as_deref(), overrides, front_matter)
}

impl Desk {
    /// Of one thread, or what a thread without a project and a model would have.
    pub fn config(&self, id: Option<&ThreadId>) -> Result<(Config, Vec<Problem>), DeskError> {
        match id {
            Some(id) => {
                let open = self.open_thread(id)?;
                Ok((open.config.clone(), open.problems.clone()))
            }
            None => Ok(configure(&self.setup, &self.prompts, &Whose::default())),
        }
    }

    /// What is wrong at home was told at the start.
    pub(super) fn configured(&mut self, whose: &Whose) -> (Config, Vec<Problem>) {
        let (config, problems) = configure(&self.setup, &self.prompts, whose);
        let told = |problem: &&Problem| !self.told.contains(problem);
        let news: Vec<_> = problems.iter().filter(told).cloned().collect();
        if !news.is_empty() {
            (self.tell)(Notice::Problems { problems: &news });
        }
        (config, problems)
    }

    /// For a thread that is only watched: as one of the same folder and model has it, where there is one.
    pub(super) fn configured_like_others(&mut self, whose: &Whose) -> (Config, Vec<Problem>) {
        match self.threads.values().find(|open| open.whose == *whose) {
            Some(open) => (open.config.clone(), open.problems.clone()),
            None => self.configured(whose),
        }
    }

    /// Takes up the configuration of what the host says of the thread now.
    pub(super) fn configure_again(&mut self, id: &ThreadId, whose: Whose) {
        if self.threads.get(id).is_none_or(|open| open.whose == whose) {
            return;
        }
        let (config, problems) = self.configured(&whose);
        let Some(open) = self.threads.get_mut(id) else { return };
        let tier = |open: &Open| {
            let percent = open.machine.thread().percent_remaining();
            percent.and_then(|percent| open.config.policy.tiers.pick(percent))
        };
        let before = tier(open);
        (open.whose, open.config, open.problems) = (whose, config, problems);
        if tier(open) != before {
            let effects = vec![Effect::Tell(machine::Notice::Changed)];
            let now = open.machine.thread().updated_at;
            self.staged.push(Staged { thread: id.clone(), effects, now });
        }
    }

    /// Where another process owns a thread, its host may have named another model since.
    pub(super) fn follow_hosts(&mut self) {
        let follows = |open: &Open| {
            let thread = open.machine.thread();
            let recorded = Whose::recorded(thread);
            let news = open.owner.is_none() && !thread.cwd.is_empty() && open.whose != recorded;
            news.then_some(recorded)
        };
        let news: Vec<_> = self
            .threads
            .iter()
            .filter_map(|(id, open)| Some((id.clone(), follows(open)?)))
            .collect();
        for (id, whose) in news {
            self.configure_again(&id, whose);
        }
    }
}
