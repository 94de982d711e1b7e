//! Which configuration each open thread uses, and what an edit of its files changes.

use super::{NO_REQUEST, OpenThread, Opening, RegistryError, StagedEffects, ThreadRegistry};
use crate::config::Config;
use crate::problem::FileProblem;
use crate::prompts::FileStamps;
use crate::watch::ChangeSet;
use crate::workspace::{ConfigScope, EditNews};
use rawr_core::event::Event;
use rawr_core::machine::{self, ProcessRole};
use rawr_core::units::{ThreadId, Timestamp};
use rawr_core::{Effect, Input, Thread};

/// The host names folder and model. For an observer, the host's last report counts.
pub(super) fn scope_of(opening: &Opening, thread: &Thread) -> ConfigScope {
    match opening.role {
        ProcessRole::Observer if !thread.session.cwd.is_empty() => ConfigScope::recorded(thread),
        _ => ConfigScope::new(opening.cwd.clone(), opening.model.clone()),
    }
}

impl ThreadRegistry {
    /// The configuration of an open thread, or without an id the one without a project and a model. With its problems.
    pub fn config(
        &self,
        id: Option<&ThreadId>,
    ) -> Result<(Config, Vec<FileProblem>), RegistryError> {
        match id {
            Some(id) => {
                let open = self.open_thread(id)?;
                Ok((open.config.clone(), open.problems.clone()))
            }
            None => Ok(self.workspace.base().clone()),
        }
    }

    /// For a thread that is only watched: reuses the configuration of a thread with the same folder and model.
    pub(super) fn shared_config(&mut self, scope: &ConfigScope) -> (Config, Vec<FileProblem>) {
        let same = self.threads.values().find(|open| open.scope == *scope);
        let known = same.map(|open| (open.config.clone(), open.problems.clone()));
        known.unwrap_or_else(|| self.workspace.configured(scope))
    }

    /// Loads the configuration again after the host reported another folder or model.
    pub(super) fn reload_config_for(&mut self, id: &ThreadId, scope: ConfigScope) {
        if self.threads.get(id).is_none_or(|open| open.scope == scope) {
            return;
        }
        let settings = self.workspace.configured(&scope);
        let Some(open) = self.threads.get_mut(id) else { return };
        open.scope = scope;
        let now = open.machine.thread().updated_at;
        self.use_config(id, settings, now);
    }

    /// Makes this the thread's configuration from now on.
    pub(super) fn use_config(
        &mut self,
        id: &ThreadId,
        (config, problems): (Config, Vec<FileProblem>),
        now: Timestamp,
    ) {
        let Some(open) = self.threads.get_mut(id) else { return };
        let tier = |open: &OpenThread| open.machine.thread().tier(&open.config.policy);
        let before = tier(open);
        (open.config, open.problems) = (config, problems);
        if tier(open) != before {
            let effects = vec![Effect::Tell(machine::Notice::Changed)];
            open.staged.push(StagedEffects { effects, now });
            self.batch.push(id.clone());
        }
    }

    /// A report that names a model is decided by the rules for that model.
    pub(super) fn follow_model(&mut self, id: &ThreadId, input: &Input) {
        if let Input::Saw(Event::UsageReported(report)) = input
            && let Some(model) = &report.model
            && let Some(open) = self.threads.get(id)
        {
            let scope = open.scope.with_model(model);
            self.reload_config_for(id, scope);
        }
    }

    /// If another process owns the thread, its host may have reported another model since.
    pub(super) fn follow_host(&mut self, id: &ThreadId) {
        let Some(open) = self.threads.get(id).filter(|open| open.owner.is_none()) else { return };
        let thread = open.machine.thread();
        if !thread.session.cwd.is_empty() && !open.scope.is_of(thread) {
            self.reload_config_for(id, ConfigScope::recorded(thread));
        }
    }

    /// Handles changes of edited files that the watcher reported.
    pub(crate) fn record_edits(&mut self, changes: &ChangeSet, now: Timestamp) {
        let projects = self.threads.values().filter_map(|open| open.scope.project_toml());
        self.workspace.record_edits(changes, projects, now);
        self.take_up_edits(now);
    }

    pub(super) fn take_up_edits(&mut self, now: Timestamp) {
        if self.workspace.next_edit(now).is_none_or(|at| at > now) {
            return;
        }
        self.ticket = NO_REQUEST;
        let notes = self.threads.values().map(|open| open.notes().path());
        for notes in self.workspace.changed_notes(notes.filter(|path| path.is_absolute()), now) {
            self.report_notes(&notes, None);
        }
        let projects = self.threads.values().filter_map(|open| open.scope.project_toml());
        let settled = self.workspace.look_at_files(projects, now);
        if !settled.is_empty() || self.workspace.can_reconfigure() {
            self.reload(&settled, now);
        }
    }

    /// Reads changed configuration files now, except those that are being saved at this moment.
    pub(crate) fn refresh_config(&mut self, now: Timestamp) {
        let files = self.workspace.changed_configs();
        if !files.is_empty() {
            self.reload(&files, now);
        }
    }

    fn reload(&mut self, files: &FileStamps, now: Timestamp) {
        let (configs, mut news) = self.workspace.begin_reload(files);
        self.reconfigure(&configs, &mut news, now);
        self.workspace.reload_prompts(files, &mut news);
        self.reconfigure(&FileStamps::new(), &mut news, now);
        let problems = self.threads.values().flat_map(|open| &open.problems);
        self.workspace.end_reload(files, &news, problems, now);
    }

    fn reconfigure(&mut self, whole: &FileStamps, news: &mut EditNews, now: Timestamp) {
        let scopes = self.threads.iter().map(|(id, open)| (id.clone(), open.scope.clone()));
        let Some(mut read) = self.workspace.read_again(whole, scopes, now) else { return };
        let threads = std::mem::take(&mut read.threads);
        news.config |= threads.iter().any(|(id, settings)| self.is_news(id, settings));
        self.workspace.use_base(read, news);
        for (id, settings) in threads {
            self.use_edited_config(&id, settings, now);
        }
    }

    fn is_news(&self, id: &ThreadId, (config, problems): &(Config, Vec<FileProblem>)) -> bool {
        self.threads.get(id).is_some_and(|open| {
            *problems != open.problems || config.effective() != open.config.effective()
        })
    }

    fn use_edited_config(
        &mut self,
        id: &ThreadId,
        settings: (Config, Vec<FileProblem>),
        now: Timestamp,
    ) {
        let Some(open) = self.threads.get(id) else { return };
        let is_news = open.config.policy != settings.0.policy;
        let owned = open.owner.is_some();
        self.use_config(id, settings, now);
        // The deadlines of the new configuration may have passed already.
        if is_news
            && owned
            && let Err(error) = self.handle_in_time(id, Input::Tick, now)
        {
            tracing::error!(thread = %id, %error, "failed to apply the edited configuration");
        }
    }
}
