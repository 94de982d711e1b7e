//! Which configuration a thread uses, and what it takes at any time besides requests.

use super::follow::{LOOK_AGAIN_AFTER_MS, TRY_AGAIN_AFTER_MS};
use super::thread::{OpenThread, StagedEffects, ThreadControl};
use crate::workspace::{ConfigScope, Settings, WorkspaceNews};
use rawr_core::event::Event;
use rawr_core::machine::Notice;
use rawr_core::units::Timestamp;
use rawr_core::{Effect, Input};
use std::sync::Arc;

impl OpenThread {
    /// A report that names a model is decided by the rules for that model.
    pub(super) async fn follow_model(&mut self, input: &Input) {
        if let Input::Saw(Event::UsageReported(report)) = input
            && let Some(model) = &report.model
        {
            Box::pin(self.rescope(self.scope.with_model(model))).await;
        }
    }

    /// If another process owns the thread, its host may have reported another model since.
    pub(super) async fn follow_host(&mut self) {
        let thread = self.thread();
        if !self.is_owned() && !thread.session.cwd.is_empty() && !self.scope.is_of(thread) {
            Box::pin(self.rescope(ConfigScope::recorded(thread))).await;
        }
    }

    /// Loads the configuration again after the host reported another folder or model.
    pub(super) async fn rescope(&mut self, scope: ConfigScope) {
        if self.scope == scope {
            return;
        }
        self.scope = scope.clone();
        let settings = self.context.workspace.move_thread(self.id(), scope).await;
        let now = self.thread().updated_at;
        self.use_settings(settings, now);
    }

    fn use_settings(&mut self, settings: Arc<Settings>, now: Timestamp) {
        let tier = |open: &Self| open.thread().tier(open.policy());
        let before = tier(self);
        self.settings = settings;
        if tier(self) != before {
            let effects = vec![Effect::Tell(Notice::Changed)];
            self.batch.staged.push(StagedEffects { effects, now });
            self.batch.is_open = true;
        }
    }

    /// Takes what is taken at any time.
    pub(super) fn control(&mut self, control: ThreadControl) {
        match control {
            ThreadControl::Peek(peek) => peek(self),
            ThreadControl::List(filter, reply) => drop(reply.send(self.listed(&filter))),
            ThreadControl::LookAgain => {
                self.schedule_read(LOOK_AGAIN_AFTER_MS);
                self.schedule_read(TRY_AGAIN_AFTER_MS);
            }
            ThreadControl::Watched(filters) => {
                self.filters = filters;
                self.choose_watched();
            }
            ThreadControl::Workspace(news) => self.workspace_changed(*news),
        }
    }

    fn workspace_changed(&mut self, news: WorkspaceNews) {
        match news {
            WorkspaceNews::Prompts(prompts) => self.prompts = prompts,
            // Sent before its folder or model changed.
            WorkspaceNews::Settings(scope, _) if scope != self.scope => {}
            WorkspaceNews::Settings(_, settings) => {
                self.has_new_policy |= settings.config.policy != *self.policy();
                let now = self.now();
                self.use_settings(settings, now);
            }
            WorkspaceNews::Notes { path, by } => self.report_notes(&path, by.as_deref()),
        }
    }
}
