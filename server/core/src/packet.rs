//! Recognizes and parses continuation packets in what an agent says.

use crate::event::{Packet, Resume};
use crate::policy::PacketSource;

/// A message with fewer characters than this says nothing worth carrying over.
pub const TRIVIAL_CHARS: usize = 24;

const OPEN: &str = "<continuation_packet>";
const CLOSE: &str = "</continuation_packet>";

/// Whether an answer to this request must be in the tags, which distinguish a packet from anything else an agent says.
/// A customized request may ask for none.
pub fn asks_for_tags(request: &str) -> bool {
    request.contains(OPEN)
}

/// The packet in an answer to this request, without its tags; `None` if there is none or it is trivial.
pub fn from_agent(message: &str, request: &str) -> Option<Packet> {
    if asks_for_tags(request) && !message.contains(OPEN) {
        return None;
    }
    let text = unwrap(message);
    (text.chars().count() >= TRIVIAL_CHARS).then(|| Packet {
        author: PacketSource::Agent,
        resume: resume_state(text),
        text: text.to_owned(),
        added: Vec::new(),
    })
}

/// Whether a message contains a packet in tags.
pub fn is_packet(message: &str) -> bool {
    from_agent(message, OPEN).is_some()
}

/// The newest packet in a message. A packet may quote its own tags: inside of a line they are text, and a pair of them on
/// lines of their own is part of the packet around it.
fn unwrap(message: &str) -> &str {
    let Some(start) = newest(message) else { return message.trim() };
    let inner = &message[start..];
    let (mut depth, mut at) = (1, 0);
    for line in inner.split_inclusive('\n') {
        let tag = line.trim_start();
        match (tag.starts_with(OPEN), tag.starts_with(CLOSE)) {
            (true, _) => depth += 1,
            (_, true) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return inner[..at].trim();
        }
        at += line.len();
    }
    // At the end of a line with text. In quotes it is text.
    let ends = |(at, _): &(usize, &str)| {
        inner[at + CLOSE.len()..].chars().next().is_none_or(char::is_whitespace)
    };
    let end = inner.rmatch_indices(CLOSE).find(ends).map_or(inner.len(), |(at, _)| at);
    inner[..end].trim()
}

/// Where the text of the newest packet begins. A tag inside of a line is text, unless there is no other.
fn newest(message: &str) -> Option<usize> {
    let (mut start, mut depth, mut at) = (None, 0_usize, 0);
    for line in message.split_inclusive('\n') {
        let tag = line.trim_start();
        if tag.starts_with(OPEN) {
            if depth == 0 {
                start = Some(at + line.len() - tag.len() + OPEN.len());
            }
            depth += 1;
        }
        let closes = tag.starts_with(CLOSE) || line.trim_end().ends_with(CLOSE);
        depth = depth.saturating_sub(usize::from(closes));
        at += line.len();
    }
    start.or_else(|| message.find(OPEN).map(|at| at + OPEN.len()))
}

/// How to go on, by the packet's `State:` line. Without one the work counts as unfinished.
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

/// The parts that a packet should name and does not.
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

    // rule: packet.in-tags
    #[test]
    fn an_answer_without_the_requested_tags_is_no_packet() {
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

    // rule: packet.whole
    #[test]
    fn a_packet_that_quotes_its_tags_is_whole_and_the_newest_counts() {
        let check = |answer: &str, expected: &str| {
            let found = from_agent(answer, OPEN).map(|packet| packet.text);
            assert_eq!(found.as_deref(), Some(expected), "{answer:?}");
        };
        let quoted = "Goal: mend unwrap() in packet.rs, it cuts at `</continuation_packet>`, like\nsplit(</continuation_packet>) does\nNext: the tests";
        check(&format!("<continuation_packet>\n{quoted}\n</continuation_packet>"), quoted);
        check(
            &format!("Sure:\n<continuation_packet>\n{quoted}\n</continuation_packet> Bye"),
            quoted,
        );
        check(&format!("<continuation_packet>\n{quoted}"), quoted);
        let nested = "Goal: parse tags such as\n<continuation_packet>\nState: done\n</continuation_packet>\nNext: the tests";
        check(&format!("<continuation_packet>\n{nested}\n</continuation_packet>"), nested);
        let two = "<continuation_packet>\nGoal: the wrong one, sorry\n</continuation_packet>\nNo:\n<continuation_packet>\nGoal: the right one, at last\n</continuation_packet>";
        check(two, "Goal: the right one, at last");
        let one_line = "<continuation_packet>Goal: the wrong one</continuation_packet>\n<continuation_packet>Goal: the right one, at last</continuation_packet>";
        check(one_line, "Goal: the right one, at last");
        let inside = "I write <continuation_packet>Goal: all of it on one line";
        check(inside, "Goal: all of it on one line");
        check(
            "I use the tag <continuation_packet> now.\n<continuation_packet>\nGoal: ship the parser, tested\n</continuation_packet>",
            "Goal: ship the parser, tested",
        );
    }

    #[test]
    fn tags_are_removed_and_the_state_is_parsed() {
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
