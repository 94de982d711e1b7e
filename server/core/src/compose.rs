//! Composes rawr's texts: packet requests, its own packet, and the handoff.

use crate::event::{Packet, ResumeState};
use crate::excerpt::{head, one_line, tail};
use crate::policy::PacketAuthor;
use crate::prompt::{PromptName, SequencePrompts, render};
use crate::signal::plan::StepStatus;
use crate::thread::Thread;

/// A packet from what rawr observed, for when the agent's is not wanted or did not come. Its template says who wrote
/// it.
pub fn by_watcher(
    thread: &Thread,
    template: &str,
    scratch_file: &str,
    max_tail_chars: usize,
) -> Packet {
    let known = &thread.known;
    let resume = if known.plan.is_empty() || known.open_steps().next().is_some() {
        ResumeState::Working
    } else {
        ResumeState::Done
    };
    let goal = or_none(known.first_message.as_deref().map(|text| head(text, max_tail_chars)));
    let plan = or_none(list(known.plan.iter().map(|step| {
        let mark = match step.status {
            StepStatus::Completed => "[x]",
            StepStatus::InProgress => "[>]",
            StepStatus::Pending => "[ ]",
        };
        format!("{mark} {}", step.step)
    })));
    let done = or_none(list(known.milestones.iter().cloned()));
    let directives = or_none(directives(thread));
    let last = or_none(known.last_message.as_deref().map(|text| tail(text, max_tail_chars)));
    let text = render(PromptName::WatcherPacket, template, |name| match name {
        "goal" => Some(&goal),
        "plan" => Some(&plan),
        "done" => Some(&done),
        "directives" => Some(&directives),
        "lastAgentMessage" => Some(&last),
        "state" => Some(resume.name()),
        "scratchFile" => Some(scratch_file),
        "threadId" => Some(thread.id.as_str()),
        _ => None,
    });
    Packet { author: PacketAuthor::Watcher, resume, text, added: Vec::new() }
}

/// What the agent does after a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    /// Continue as the packet says.
    AsInPacket,
    /// Do what the user asked last.
    AsAsked,
    /// Do what the user's message asks, which is delivered with the handoff.
    AsNextMessage,
}

/// The message after the compaction. It alone must be enough to continue.
pub fn handoff(
    thread: &Thread,
    template: &str,
    packet: &Packet,
    go_on: Continue,
    scratch_file: &str,
) -> String {
    let directives = or_none(directives(thread));
    let fenced = fenced(&packet.text);
    render(PromptName::Handoff, template, |name| match name {
        "packet" => Some(&fenced),
        "author" => Some(match packet.author {
            PacketAuthor::Agent => "you",
            PacketAuthor::Watcher => "rawr, from what it saw of the session",
            PacketAuthor::Person => "the user",
        }),
        "resume" => Some(match (go_on, packet.resume) {
            (Continue::AsAsked, _) => {
                "Take note of it, and start nothing because of it: do what the user asked last. If nothing is left to do, say so in one line and stop."
            }
            (Continue::AsNextMessage, _) => {
                "The user's next message follows. It comes first: do what it asks, and of the packet's next step only what belongs to it."
            }
            (Continue::AsInPacket, ResumeState::Working) => "Continue now with its next step.",
            (Continue::AsInPacket, ResumeState::WaitingForUser) => {
                "You were waiting for the user. Do not go on by yourself: if a question is open, repeat it in one line; then stop."
            }
            (Continue::AsInPacket, ResumeState::Done) => {
                "The work was done. Start nothing new: say so in one line and stop."
            }
        }),
        "directives" => Some(&directives),
        "scratchFile" => Some(scratch_file),
        "threadId" => Some(thread.id.as_str()),
        _ => None,
    })
}

/// Wraps text in a fence that is longer than any fence inside.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

fn directives(thread: &Thread) -> Option<String> {
    list(thread.known.in_force().map(|directive| directive.text.clone()))
}

fn list(lines: impl Iterator<Item = String>) -> Option<String> {
    let lines: Vec<_> = lines.map(|line| format!("- {line}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn or_none(text: Option<String>) -> String {
    text.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| "(none known)".to_owned())
}

/// The text of an injected turn: heads-up, then scratch instructions, then the packet request.
pub fn request_text(prompts: &SequencePrompts, parts: RequestParts<'_>) -> String {
    let finished = parts.finished.map(finished).unwrap_or_default();
    let fill = |name: PromptName, template: &str| {
        render(name, template, |placeholder| match placeholder {
            "reason" => Some(parts.reason),
            "finished" => Some(&finished),
            "scratchFile" => Some(parts.scratch_file),
            "threadId" => Some(parts.thread_id),
            _ => None,
        })
    };
    let mut texts = Vec::new();
    if parts.heads_up {
        texts.push(fill(PromptName::HeadsUp, &prompts.heads_up));
    }
    if parts.scratch_write {
        texts.push(fill(PromptName::ScratchWrite, &prompts.scratch_write));
    }
    if parts.packet {
        texts.push(fill(PromptName::AutoCompact, &prompts.packet_request));
    }
    texts.iter().map(|text| text.trim()).collect::<Vec<_>>().join("\n\n")
}

/// The value of `{finished}`: a sentence followed by a space, so that a template reads well without it too.
pub fn finished(what: &str) -> String {
    const LONGEST: usize = 160;
    format!("Finished last: {}. ", head(one_line(what).trim_end_matches('.'), LONGEST))
}

/// What one injected turn asks for.
#[derive(Debug, Clone, Copy)]
pub struct RequestParts<'a> {
    /// Begin with the heads-up.
    pub heads_up: bool,
    /// Include the instructions to update the scratch file.
    pub scratch_write: bool,
    /// Include the packet request.
    pub packet: bool,
    /// Why the compaction comes, in a few words.
    pub reason: &'a str,
    /// The step or the phase that ended here.
    pub finished: Option<&'a str>,
    /// The scratch file's path, relative to the thread's folder.
    pub scratch_file: &'a str,
    /// The host's id of the thread.
    pub thread_id: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fence_is_longer_than_any_inside() {
        let check = |text: &str, fence: &str| {
            assert_eq!(fenced(text), format!("{fence}\n{text}\n{fence}"));
        };
        check("plain", "```");
        check("`x` and ```rust\ncode\n```", "````");
        check("``````", "```````");
    }
}
