//! The current values of a prompt's placeholders for a thread. The core renders them.

use super::PlaceholderValues;
use rawr_core::event::{Packet, ResumeState};
use rawr_core::judgment::{self, JudgmentCase};
use rawr_core::policy::{PacketAuthor, Policy, Tier};
use rawr_core::prompt::{Placeholder, PromptName, render};
use rawr_core::units::Percent;
use rawr_core::{Thread, compose};

/// Each placeholder is rendered as in the prompt itself.
pub(crate) fn values_of(thread: &Thread, policy: &Policy, name: PromptName) -> PlaceholderValues {
    let scratch_file = thread.scratch_file(policy);
    let value = |placeholder: &Placeholder| {
        let template = format!("{{{}}}", placeholder.camel);
        match name {
            PromptName::JudgmentContext => judged(thread, policy, placeholder.camel, &template),
            PromptName::WatcherPacket => {
                let max = policy.packet_max_tail_chars;
                Some(compose::by_watcher(thread, &template, &scratch_file, max).text)
            }
            PromptName::Handoff => handed_off(thread, placeholder.camel, &template, &scratch_file),
            name => {
                let finished = thread.known.finished.as_deref().map(compose::finished);
                let known = [
                    ("scratchFile", scratch_file.as_str()),
                    ("threadId", thread.id.as_str()),
                    ("finished", finished.as_deref().unwrap_or_default()),
                ];
                let known = |camel: &str| known.iter().find(|(of, _)| *of == camel).map(|of| of.1);
                known(placeholder.camel).map(|_| render(name, &template, known))
            }
        }
    };
    let placeholders = name.placeholders().iter();
    let values = placeholders.filter_map(|known| Some((known.camel, value(known)?))).collect();
    PlaceholderValues { thread: thread.id.to_string(), model: thread.session.model.clone(), values }
}

/// Without a tier the judge is not asked, so that there is no value for the tier.
fn judged(thread: &Thread, policy: &Policy, camel: &str, template: &str) -> Option<String> {
    let percent = thread.percent_remaining(policy);
    let tier = thread.tier(policy);
    match camel {
        "tier" if tier.is_none() => return None,
        "percentRemaining" if percent.is_none() => return None,
        _ => {}
    }
    let tier = tier.unwrap_or(Tier::Early);
    let case = JudgmentCase {
        thread,
        tier,
        percent: percent.unwrap_or(Percent(100)),
        boundaries: thread.present(None).and(policy.tiers.rule(tier).counting(tier)),
        last_message: thread.known.last_message.as_deref(),
        next_message: None,
        excerpt: None,
    };
    Some(judgment::context(&case, template))
}

/// The packet of the running sequence, or of the last one that had a packet.
fn handed_off(thread: &Thread, camel: &str, template: &str, scratch_file: &str) -> Option<String> {
    let running = thread.sequence().and_then(|running| running.packet.as_ref());
    let packet = running.or_else(|| thread.handoffs.last_packet.as_ref().map(|last| &last.packet));
    let none = Packet {
        author: PacketAuthor::Watcher,
        resume: ResumeState::Working,
        text: String::new(),
        added: Vec::new(),
    };
    let of_packet = matches!(camel, "packet" | "author" | "resume");
    if packet.is_none() && of_packet {
        return None;
    }
    let packet = packet.unwrap_or(&none);
    Some(compose::handoff(thread, template, packet, compose::Continue::AsInPacket, scratch_file))
}
