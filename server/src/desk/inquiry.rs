//! A case put to the judge by a client, without a sequence: who judges it, and what is said. Nothing is asked here.

use super::{Desk, DeskError};
use crate::config::JudgeSettings;
use crate::judge::Question;
use crate::redact::redact;
use rawr_core::assess;
use rawr_core::boundary::Boundaries;
use rawr_core::event::{Answer, JudgeSource};
use rawr_core::judgment::{self, JudgmentCase};
use rawr_core::policy::Tier;
use rawr_core::prompt::PromptName;
use rawr_core::units::{Percent, SequenceId, ThreadId};

#[derive(Debug)]
pub struct Inquiry {
    pub source: JudgeSource,
    pub question: Question,
    /// What the heuristic says to it.
    pub heuristic: Answer,
    pub settings: JudgeSettings,
    pub deadline_seconds: u64,
    /// The sequence that a yes would start.
    pub sequence: SequenceId,
}

impl Desk {
    /// `None`: judging is switched off.
    pub fn inquire(
        &self,
        id: &ThreadId,
        tier: Tier,
        percent: Percent,
        boundaries: Boundaries,
        last_message: Option<&str>,
        excerpt: Option<&str>,
    ) -> Result<Option<Inquiry>, DeskError> {
        let open = self.open_thread(id)?;
        let (thread, policy) = (open.machine.thread(), &open.config.policy);
        let Some(source) = assess::judge(policy.judge, thread) else { return Ok(None) };
        let last_message = last_message.or(thread.known.last_message.as_deref());
        let case = JudgmentCase { thread, tier, percent, boundaries, last_message, excerpt };
        let prompts = self.prompts.set().prompts();
        let path = policy.tiers.rule(tier).decision_prompt_path.as_deref().unwrap_or_default();
        // The client's own words have not passed the desk's cleaning.
        let context = judgment::context(&case, prompts.text(PromptName::JudgmentContext));
        let context = redact(&context).into_owned();
        Ok(Some(Inquiry {
            source,
            question: Question { instructions: prompts.decision(path).to_owned(), context },
            heuristic: judgment::heuristic(&case),
            settings: open.config.judgment.clone(),
            deadline_seconds: policy.deadlines.judgment,
            sequence: thread.next_sequence_id(),
        }))
    }
}
