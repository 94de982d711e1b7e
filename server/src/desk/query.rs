//! Reading: what clients may ask of threads without changing anything.

use super::settings::{ConfigScope, configure_by};
use super::{Desk, DeskError, Open, notes};
use crate::prompts::PromptStore;
use crate::store::{DecisionFile, OwnerLock, StoreError};
use rawr_core::Thread;
use rawr_core::compose::{self, Continue};
use rawr_core::event::{Packet, Phase};
use rawr_core::machine::HeadsUp;
use rawr_core::policy::{Policy, Tier};
use rawr_core::prompt::PromptName;
use rawr_core::thread::breaker::Hold;
use rawr_core::thread::fate::DecisionFate;
use rawr_core::units::{Percent, SequenceId, ThreadId, Timestamp};
use std::collections::{BTreeMap, HashMap};

/// A thread at a glance.
#[derive(Debug, Clone)]
pub struct Summary {
    pub thread: ThreadId,
    pub cwd: String,
    pub phase: Phase,
    pub tier: Option<Tier>,
    pub percent: Option<Percent>,
    pub updated_at: Timestamp,
    pub open: bool,
    /// Who performs its actions now, in this process or another.
    pub owner: Option<String>,
    pub sub_agent: Option<String>,
    /// Compactions that the breaker holds back.
    pub held_back: Option<Hold>,
    /// Of the last decision that something was to follow from.
    pub last_fate: Option<DecisionFate>,
    /// Its owner comes and goes with the agent's hooks.
    pub runs_by_hooks: bool,
}

#[derive(Debug, Clone)]
pub struct PacketView {
    pub sequence: SequenceId,
    pub packet: Packet,
}

impl Desk {
    /// All threads of this home, the most recently used first. A thread that cannot be read is told of in the log. Those
    /// that are not open here are read once the result is called, which takes its time.
    pub fn list(
        &self,
        now: Timestamp,
    ) -> impl FnOnce() -> Result<Vec<Summary>, StoreError> + Send + use<> {
        let (store, setup) = (self.store.clone(), self.setup.clone());
        let last_good = self.live.last_good().clone();
        let front_matter = self.prompts.set().packet_front_matter().clone();
        let known = |open: &Open| (open.summary(now), open.is_behind());
        let open: HashMap<_, _> =
            self.threads.iter().map(|(id, open)| (id.clone(), known(open))).collect();
        let policy = move |scope: &ConfigScope| {
            configure_by(&last_good, &setup, &front_matter, scope).0.policy
        };
        move || {
            // Many threads share their policy.
            let (mut summaries, mut known) = (Vec::new(), HashMap::new());
            for id in store.thread_ids()? {
                let owner = store.owner(&id);
                if let Some((summary, false)) = open.get(&id) {
                    summaries.push(Summary { owner, ..summary.clone() });
                    continue;
                }
                match store.glance(&id) {
                    Ok(thread) => {
                        let policy =
                            known.entry(ConfigScope::recorded(&thread)).or_insert_with_key(&policy);
                        let open = open.get(&id).is_some_and(|(summary, _)| summary.open);
                        summaries.push(Summary { owner, open, ..summary_of(&thread, policy, now) });
                    }
                    Err(error) => tracing::warn!(thread = %id, %error, "left out of the list"),
                }
            }
            summaries.sort_by_key(|summary| std::cmp::Reverse(summary.updated_at));
            Ok(summaries)
        }
    }

    /// The banner that stands now.
    pub fn heads_up(&self, id: &ThreadId) -> Result<Option<HeadsUp>, DeskError> {
        Ok(self.open_thread(id)?.heads_up())
    }

    pub fn summary_of_open(&self, id: &ThreadId, now: Timestamp) -> Result<Summary, DeskError> {
        let summary = self.open_thread(id)?.summary(now);
        Ok(Summary { owner: self.store.owner(id), ..summary })
    }

    pub fn percent_remaining(&self, id: &ThreadId) -> Result<Option<Percent>, DeskError> {
        let open = self.open_thread(id)?;
        Ok(open.machine.thread().percent_remaining(&open.config.policy))
    }

    /// To be read where it may take its time.
    pub fn decision_file(&self, id: &ThreadId) -> Result<DecisionFile, DeskError> {
        self.open_thread(id)?;
        Ok(self.store.decisions(id))
    }

    pub fn scratch_file(&self, id: &ThreadId) -> Result<String, DeskError> {
        Ok(notes::of_open(self.open_thread(id)?).file)
    }

    /// The packet that rawr would build now.
    pub fn build_packet(&self, id: &ThreadId) -> Result<Packet, DeskError> {
        let open = self.open_thread(id)?;
        let template = self.prompt_text(PromptName::WatcherPacket);
        let max = open.config.policy.packet_max_tail_chars;
        Ok(compose::by_watcher(open.machine.thread(), template, &self.scratch_file(id)?, max))
    }

    /// The message that would hand this packet back now.
    pub fn build_handoff(&self, id: &ThreadId, packet: &Packet) -> Result<String, DeskError> {
        let thread = self.thread(id)?;
        let running = thread.sequence.as_ref().map(|running| running.prompts.handoff.as_str());
        let template = running.unwrap_or_else(|| self.prompt_text(PromptName::Handoff));
        Ok(compose::handoff(
            thread,
            template,
            packet,
            Continue::AsInPacket,
            &self.scratch_file(id)?,
        ))
    }

    /// The packet of the running sequence, or of the last one that had any.
    pub fn packet(
        &self,
        id: &ThreadId,
        sequence: Option<&SequenceId>,
    ) -> Result<PacketView, DeskError> {
        let thread = self.thread(id)?;
        let running = thread
            .sequence
            .as_ref()
            .and_then(|running| Some((running.id.clone(), running.packet.clone()?)));
        let last =
            thread.last_packet.as_ref().map(|last| (last.sequence.clone(), last.packet.clone()));
        running
            .into_iter()
            .chain(last)
            .find(|(of, _)| sequence.is_none_or(|wanted| wanted == of))
            .map(|(sequence, packet)| PacketView { sequence, packet })
            .ok_or_else(|| DeskError::NoPacket(id.clone()))
    }

    /// What a prompt's placeholders would say now, by their camelCase names.
    pub fn placeholder_values(&self, id: &ThreadId) -> Result<BTreeMap<String, String>, DeskError> {
        let open = self.open_thread(id)?;
        let (thread, policy) = (open.machine.thread(), &open.config.policy);
        let number =
            |tokens: Option<rawr_core::units::Tokens>| tokens.map(|tokens| tokens.to_string());
        let (percent, tier) = (thread.percent_remaining(policy), thread.tier(policy));
        let boundaries: Vec<_> = thread.present(None).iter().map(|b| b.name()).collect();
        let packet = self.packet(id, None).ok().map(|view| view.packet.text);
        let values = [
            ("scratchFile", Some(self.scratch_file(id)?)),
            ("threadId", Some(id.to_string())),
            ("turnId", thread.turns.back().map(|turn| turn.id.to_string())),
            ("tier", tier.map(|tier| tier.to_string())),
            ("percentRemaining", percent.map(|percent| percent.0.to_string())),
            ("boundariesJson", serde_json::to_string(&boundaries).ok()),
            ("lastAgentMessage", thread.known.last_message.clone()),
            ("totalUsageTokens", number(thread.context)),
            ("modelContextWindow", number(thread.window)),
            ("goal", thread.known.first_message.clone()),
            ("packet", packet),
        ];
        Ok(values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
    }

    fn prompt_text(&self, name: PromptName) -> &str {
        let prompts: &PromptStore = &self.prompts;
        prompts.set().prompts().text(name)
    }
}

impl Open {
    /// Who owns it is to be asked of the disk.
    /// What no process runs stands still: there is nothing to announce and no one to act on an answer.
    pub(super) fn heads_up(&self) -> Option<HeadsUp> {
        let heads_up = self.machine.heads_up(&self.config.policy)?;
        let is_run = self.owner.is_some()
            || self.machine.thread().host.can.compact_by_person
            || OwnerLock::holder(&self.folder).is_some();
        is_run.then_some(heads_up)
    }

    fn summary(&self, now: Timestamp) -> Summary {
        let summary = summary_of(self.machine.thread(), &self.config.policy, now);
        Summary { open: self.by_client, ..summary }
    }
}

fn summary_of(thread: &Thread, policy: &Policy, now: Timestamp) -> Summary {
    Summary {
        thread: thread.id.clone(),
        cwd: thread.cwd.clone(),
        phase: thread.phase(),
        tier: thread.tier(policy),
        percent: thread.percent_remaining(policy),
        updated_at: thread.updated_at,
        open: false,
        owner: None,
        sub_agent: thread.agent.clone(),
        held_back: thread.held_back(policy, now),
        last_fate: thread.fates.back().cloned(),
        runs_by_hooks: thread.host.can.compact_by_person,
    }
}
