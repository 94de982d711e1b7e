//! The continuation packet and the handoff that gives it back: how they are read, built and checked.

use crate::event::{Packet, Resume};
use crate::policy::PacketAuthor;
use crate::prompt::{PromptName, SequencePrompts, render};
use crate::signal::plan::StepStatus;
use crate::thread::Thread;

/// Shorter than this, a message says nothing that a packet could carry.
pub const TRIVIAL_CHARS: usize = 24;

const OPEN: &str = "<continuation_packet>";
const CLOSE: &str = "</continuation_packet>";

/// Whether an answer to this request has to be in the tags: only they tell a packet from whatever else an agent says.
/// A person's own request may ask for none.
pub fn asks_for_tags(request: &str) -> bool {
    request.contains(OPEN)
}

/// What the agent answered to the packet request, without its wrapping; `None` if it is no packet, or there is nothing
/// in it.
pub fn from_agent(message: &str, request: &str) -> Option<Packet> {
    if asks_for_tags(request) && !message.contains(OPEN) {
        return None;
    }
    let text = unwrap(message);
    (text.chars().count() >= TRIVIAL_CHARS).then(|| Packet {
        author: PacketAuthor::Agent,
        resume: resume_state(text),
        text: text.to_owned(),
        added: Vec::new(),
    })
}

/// A message that is a packet and says so.
pub fn is_packet(message: &str) -> bool {
    from_agent(message, OPEN).is_some()
}

fn unwrap(message: &str) -> &str {
    let inner = message.split_once(OPEN).map_or(message, |(_, rest)| rest);
    inner.split_once(CLOSE).map_or(inner, |(packet, _)| packet).trim()
}

/// A line `State: …` says it; a packet that does not say is taken for unfinished work.
pub fn resume_state(packet: &str) -> Resume {
    let says = packet.lines().find_map(|line| {
        let (key, value) = line.trim_start_matches(['#', '*', '-', ' ']).split_once(':')?;
        key.trim_matches(['*', ' ']).eq_ignore_ascii_case("state").then(|| value.to_lowercase())
    });
    let word = |value: &str| {
        let value = value.trim_start_matches([' ', '*', '`', '_']);
        value
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    match says.as_deref().map(word).as_deref() {
        Some("waiting_for_user" | "waiting") => Resume::WaitingForUser,
        Some("done") => Resume::Done,
        _ => Resume::Working,
    }
}

/// A packet from structured state, for when the agent's is not wanted or did not come. Its template labels it.
pub fn by_watcher(
    thread: &Thread,
    template: &str,
    scratch_file: &str,
    max_tail_chars: usize,
) -> Packet {
    let known = &thread.known;
    let resume = if known.plan.is_empty() || known.open_steps().next().is_some() {
        Resume::Working
    } else {
        Resume::Done
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
    /// What its packet says.
    AsInPacket,
    /// What it was asked anyway.
    AsAsked,
}

/// The message after the compaction. It alone must be enough to go on.
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
            (Continue::AsInPacket, Resume::Working) => "Continue now with its next step.",
            (Continue::AsInPacket, Resume::WaitingForUser) => {
                "You were waiting for the user. Do not go on by yourself: repeat the open question in one line and stop."
            }
            (Continue::AsInPacket, Resume::Done) => {
                "The work was done. Start nothing new: say so in one line and stop."
            }
        }),
        "directives" => Some(&directives),
        "scratchFile" => Some(scratch_file),
        "threadId" => Some(thread.id.as_str()),
        _ => None,
    })
}

/// Between fences that are longer than any inside, so that a packet's own code blocks end nothing.
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

/// The first part of a text: where a person says what is wanted.
fn head(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    let kept: String = text.chars().take(max_chars).collect();
    if kept.len() < text.len() { format!("{kept} …") } else { kept }
}

/// The last part of a text: what an agent says last is what it was about to do.
fn tail(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    let skip = text.chars().count().saturating_sub(max_chars);
    let kept: String = text.chars().skip(skip).collect();
    if skip > 0 { format!("… {kept}") } else { kept }
}

/// The parts that a packet should name, and which of them are missing.
pub fn missing_parts(packet: &str) -> Vec<&'static str> {
    const PARTS: [(&str, &[&str]); 4] = [
        ("goal", &["goal"]),
        ("state", &["state", "status", "done"]),
        ("decisions", &["decision", "invariant", "constraint"]),
        ("next step", &["next"]),
    ];
    let text = packet.to_lowercase();
    PARTS
        .iter()
        .filter(|(_, words)| !words.iter().any(|word| text.contains(word)))
        .map(|(part, _)| *part)
        .collect()
}

/// Text for the packet request: heads-up first, scratch instructions where scheduled, then the request itself.
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

/// A sentence of its own with the blank behind it, so that a template reads well with it and without.
pub fn finished(what: &str) -> String {
    const LONGEST: usize = 160;
    let line = what.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("Finished last: {}. ", head(line.trim_end_matches('.'), LONGEST))
}

/// What one injected turn asks for.
#[derive(Debug, Clone, Copy)]
pub struct RequestParts<'a> {
    pub heads_up: bool,
    pub scratch_write: bool,
    pub packet: bool,
    pub reason: &'a str,
    /// The step or the phase that ended here.
    pub finished: Option<&'a str>,
    pub scratch_file: &'a str,
    pub thread_id: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_or_trivial_answer_is_no_packet() {
        for answer in [
            "",
            "  \n",
            "ok",
            "<continuation_packet>\n</continuation_packet>",
            "<continuation_packet>hm",
        ] {
            assert_eq!(from_agent(answer, ""), None, "{answer:?}");
        }
    }

    #[test]
    fn what_is_not_in_the_tags_that_were_asked_for_is_no_packet() {
        let check = |answer: &str, request: &str, is_packet: bool| {
            assert_eq!(from_agent(answer, request).is_some(), is_packet, "{request:?}: {answer:?}");
        };
        let (chat, tagged) = (
            "I have read it. The parser skips comments.",
            "<continuation_packet>\nGoal: ship the parser, tested",
        );
        let asks_for_tags = "Write it in <continuation_packet> tags.";
        check(chat, asks_for_tags, false);
        check(tagged, asks_for_tags, true);
        check(chat, "Write down where you are.", true);
        check(tagged, "Write down where you are.", true);
    }

    #[test]
    fn the_fence_is_longer_than_any_inside() {
        let check = |text: &str, fence: &str| {
            assert_eq!(fenced(text), format!("{fence}\n{text}\n{fence}"));
        };
        check("plain", "```");
        check("`x` and ```rust\ncode\n```", "````");
        check("``````", "```````");
    }

    #[test]
    fn the_wrapping_is_taken_off_and_the_state_read() {
        let check = |answer: &str, resume| {
            let packet = from_agent(answer, "").expect("a packet");
            assert_eq!(
                (packet.resume, packet.text.contains("packet>")),
                (resume, false),
                "{answer:?}"
            );
        };
        check(
            "Here:\n<continuation_packet>\nState: done\nGoal: ship the parser\n</continuation_packet>\nBye",
            Resume::Done,
        );
        check("**State:** waiting_for_user\nGoal: ship the parser", Resume::WaitingForUser);
        check("State: working\nGoal: ship the parser", Resume::Working);
        check("Goal: ship the parser; next: tests", Resume::Working);
    }
}
