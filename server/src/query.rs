//! Queries about one thread, answered from its state and its policy. Changes nothing and reads no file.

use crate::judge::JudgeQuestion;
use rawr_core::boundary::Boundaries;
use rawr_core::compose::{self, Continue};
use rawr_core::event::{Assessed, JudgeReply, JudgmentSource, Packet, Phase};
use rawr_core::judgment::{self, JudgmentCase};
use rawr_core::policy::{Mode, Policy, Silence, Tier};
use rawr_core::prompt::{PromptName, Prompts};
use rawr_core::thread::breaker::Hold;
use rawr_core::thread::fate::TrackedDecision;
use rawr_core::units::{Percent, SequenceId, ThreadId, Timestamp, Tokens};
use rawr_core::{Rules, Thread, assess, sequence};
use rawr_settings::config::JudgeSettings;
use rawr_storage::redact::redact;
use std::collections::BTreeMap;

/// A thread as lists show it.
#[derive(Debug, Clone)]
pub struct ThreadOverview {
    pub(crate) thread: ThreadId,
    pub(crate) cwd: String,
    /// The thread's title.
    pub(crate) title: Option<String>,
    pub(crate) phase: Phase,
    pub(crate) tier: Option<Tier>,
    pub(crate) percent: Option<Percent>,
    pub(crate) updated_at: Timestamp,
    /// A client has it open here.
    pub(crate) open: bool,
    /// The process that performs its actions now, this one included.
    pub(crate) owner: Option<String>,
    /// The host's name.
    pub(crate) host: String,
    pub(crate) sub_agent: Option<String>,
    /// The breaker, if it blocks compactions.
    pub(crate) held_back: Option<Hold>,
    /// The outcome of the last decision that had one.
    pub(crate) last_fate: Option<TrackedDecision>,
    /// The proposal that waits for a confirmation.
    pub(crate) proposal: Option<Assessed>,
    pub(crate) mode: Mode,
    /// The silence that would confirm it.
    pub(crate) silence: Silence,
    /// Whether the owner is the agent's hooks, which come and go.
    pub(crate) runs_by_hooks: bool,
    /// Until when an agent that calls through hooks counts as running.
    pub(crate) hooks_until: Option<Timestamp>,
}

/// An agent that calls rawr through hooks has no process between two of them. After this time it counts as ended.
const HOOKS_MS: u64 = 60 * 60 * 1000;

impl ThreadOverview {
    /// Whether the thread's agent runs.
    pub(crate) const fn is_running(&self) -> bool {
        self.owner.is_some() || self.hooks_until.is_some()
    }
}

/// A packet and the sequence that took it.
#[derive(Debug, Clone)]
pub(crate) struct PacketView {
    pub(crate) sequence: SequenceId,
    pub(crate) packet: Packet,
}

/// Without the owner, which only the disk knows.
pub(crate) fn overview(thread: &Thread, policy: &Policy, now: Timestamp) -> ThreadOverview {
    ThreadOverview {
        thread: thread.id.clone(),
        cwd: thread.session.cwd.clone(),
        title: thread.known.title(),
        phase: thread.phase(),
        tier: thread.tier(policy),
        percent: thread.percent_remaining(policy),
        updated_at: thread.updated_at,
        open: false,
        owner: None,
        host: thread.session.host.name.clone(),
        sub_agent: thread.session.agent.clone(),
        held_back: thread.held_back(policy, now),
        last_fate: thread.decided.fates.back().cloned(),
        proposal: thread.proposal().map(|proposed| proposed.assessed.clone()),
        mode: policy.mode,
        silence: policy.silence(thread.session.host.can.cache_seconds),
        runs_by_hooks: thread.session.host.can.compact_by_person,
        hooks_until: Some(thread.updated_at.plus_millis(HOOKS_MS))
            .filter(|until| thread.session.host.can.compact_by_person && now < *until),
    }
}

/// The packet that rawr would build now.
pub(crate) fn watcher_packet(thread: &Thread, rules: &Rules<'_>) -> Packet {
    let template = rules.prompts.text(PromptName::WatcherPacket);
    let max = rules.policy.packet_max_tail_chars;
    compose::by_watcher(thread, template, rules.notes(&thread.scratch_file(rules.policy)), max)
}

/// The message that would hand this packet off now.
pub(crate) fn handoff(thread: &Thread, rules: &Rules<'_>, packet: &Packet) -> String {
    let (template, go_on) = match thread.sequence() {
        Some(running) => {
            (running.terms.prompts.handoff.as_str(), sequence::continuation(thread, running))
        }
        None => (rules.prompts.text(PromptName::Handoff), Continue::AsInPacket),
    };
    let scratch_file = thread.scratch_file(rules.policy);
    compose::handoff(thread, template, packet, go_on, rules.notes(&scratch_file))
}

/// The packet of the running sequence, or of the last one that had a packet. With `sequence`, only the packet of that
/// sequence.
pub(crate) fn packet(thread: &Thread, sequence: Option<&SequenceId>) -> Option<PacketView> {
    let running =
        thread.sequence().and_then(|running| Some((running.id.clone(), running.packet.clone()?)));
    let last = thread
        .handoffs
        .last_packet
        .as_ref()
        .map(|last| (last.sequence.clone(), last.packet.clone()));
    running
        .into_iter()
        .chain(last)
        .find(|(of, _)| sequence.is_none_or(|wanted| wanted == of))
        .map(|(sequence, packet)| PacketView { sequence, packet })
}

/// The current values of a prompt's placeholders, by camelCase name.
pub(crate) fn placeholder_values(thread: &Thread, policy: &Policy) -> BTreeMap<String, String> {
    let number = |tokens: Option<Tokens>| tokens.map(|tokens| tokens.to_string());
    let (percent, tier) = (thread.percent_remaining(policy), thread.tier(policy));
    let boundaries: Vec<_> = thread.present(None).iter().map(|b| b.name()).collect();
    let values = [
        ("scratchFile", Some(thread.scratch_file(policy))),
        ("threadId", Some(thread.id.to_string())),
        ("turnId", thread.turns.back().map(|turn| turn.id.to_string())),
        ("tier", tier.map(|tier| tier.to_string())),
        ("percentRemaining", percent.map(|percent| percent.0.to_string())),
        ("boundariesJson", serde_json::to_string(&boundaries).ok()),
        ("lastAgentMessage", thread.known.last_message.clone()),
        ("totalUsageTokens", number(thread.gauge.context)),
        ("modelContextWindow", number(thread.gauge.window)),
        ("goal", thread.known.first_message.clone()),
        ("packet", packet(thread, None).map(|view| view.packet.text)),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// A case that a client gives to the judge, outside of any sequence.
#[derive(Debug)]
pub(crate) struct JudgeCase<'c> {
    pub(crate) tier: Tier,
    pub(crate) percent: Percent,
    pub(crate) boundaries: Boundaries,
    /// Replaces the thread's own last message.
    pub(crate) last_message: Option<&'c str>,
    pub(crate) excerpt: Option<&'c str>,
}

/// The judge to ask, and the question.
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub(crate) source: JudgmentSource,
    pub(crate) question: JudgeQuestion,
    /// The heuristic's answer.
    pub(crate) heuristic: JudgeReply,
    pub(crate) settings: JudgeSettings,
    pub(crate) deadline_seconds: u64,
    /// The sequence that a yes would start.
    pub(crate) sequence: SequenceId,
}

/// `None`: the judge is turned off.
pub(crate) fn inquiry(
    thread: &Thread,
    policy: &Policy,
    settings: &JudgeSettings,
    prompts: &Prompts,
    case: JudgeCase<'_>,
) -> Option<Inquiry> {
    let source = assess::judge(policy, case.tier, thread)?;
    let JudgeCase { tier, percent, boundaries, last_message, excerpt } = case;
    let last_message = last_message.or(thread.known.last_message.as_deref());
    let case = JudgmentCase {
        thread,
        tier,
        percent,
        boundaries,
        last_message,
        next_message: None,
        excerpt,
    };
    let path = policy.tiers.rule(tier).decision_prompt_path.as_deref().unwrap_or_default();
    // The client's own texts were not redacted before.
    let context = judgment::context(&case, prompts.text(PromptName::JudgmentContext));
    let context = redact(&context).into_owned();
    Some(Inquiry {
        source,
        question: JudgeQuestion { instructions: prompts.decision(path).to_owned(), context },
        heuristic: judgment::heuristic(&case),
        settings: settings.clone(),
        deadline_seconds: policy.deadlines.judgment,
        sequence: thread.next_sequence_id(),
    })
}
