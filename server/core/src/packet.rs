//! What counts as a continuation packet: an agent's answer as text, read and checked.

use crate::event::{Packet, Resume};
use crate::policy::PacketAuthor;

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
