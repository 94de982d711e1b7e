//! Recognizes and parses continuation packets in what an agent says.

use crate::event::{Packet, ResumeState};
use crate::policy::PacketAuthor;

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
        author: PacketAuthor::Agent,
        resume: resume_state(text),
        text: text.to_owned(),
        added: Vec::new(),
    })
}

/// Whether a message contains a packet in tags.
pub fn is_packet(message: &str) -> bool {
    from_agent(message, OPEN).is_some()
}

/// The newest packet in a message. A packet may quote its own tags: inside of a line, in a code block, and as a pair they are
/// text of the packet around them.
fn unwrap(message: &str) -> &str {
    // A message that is one code block has its packet in it.
    let start = newest(message, true).or_else(|| newest(message, false));
    // A tag inside of a line is text, unless there is no other.
    let start = start.or_else(|| message.find(OPEN).map(|at| at + OPEN.len()));
    let Some(start) = start else { return message.trim() };
    let inner = &message[start..];
    let end = end_of_line(inner, true).or_else(|| end_of_line(inner, false));
    inner[..end.or_else(|| end_in_line(inner)).unwrap_or(inner.len())].trim()
}

/// The lines of a text with their positions, and the tag that each may begin with: none in code, where that is skipped.
fn tagged_lines(text: &str, skips_code: bool) -> impl Iterator<Item = (usize, &str, &str)> {
    let (mut at, mut in_code) = (0, false);
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        let tag = line.trim_start();
        let is_fence = tag.starts_with("```") || tag.starts_with("~~~");
        in_code ^= is_fence;
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        (start, line, if skips_code && (in_code || is_indented) { "" } else { tag })
    })
}

/// Where the text of the newest packet begins.
fn newest(message: &str, skips_code: bool) -> Option<usize> {
    let (mut start, mut depth) = (None, 0_usize);
    for (at, line, tag) in tagged_lines(message, skips_code) {
        if tag.starts_with(OPEN) {
            if depth == 0 {
                start = Some(at + line.len() - tag.len() + OPEN.len());
            }
            depth += 1;
        }
        let closes = tag.starts_with(CLOSE) || tag.trim_end().ends_with(CLOSE);
        depth = depth.saturating_sub(usize::from(closes));
    }
    start
}

/// Where the tag begins that ends the packet, on a line of its own.
fn end_of_line(inner: &str, skips_code: bool) -> Option<usize> {
    let mut depth = 1_usize;
    for (at, _, tag) in tagged_lines(inner, skips_code) {
        if tag.starts_with(OPEN) {
            depth += 1;
        } else if tag.starts_with(CLOSE) {
            depth -= 1;
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The last tag at the end of a line with text. In quotes it is text.
fn end_in_line(inner: &str) -> Option<usize> {
    let ends = |(at, _): &(usize, &str)| {
        inner[at + CLOSE.len()..].chars().next().is_none_or(char::is_whitespace)
    };
    inner.rmatch_indices(CLOSE).find(ends).map(|(at, _)| at)
}

/// How to go on, by the packet's `State:` line. Without one the work counts as unfinished.
pub fn resume_state(packet: &str) -> ResumeState {
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
        Some("waiting_for_user" | "waiting") => ResumeState::WaitingForUser,
        Some("done") => ResumeState::Done,
        _ => ResumeState::Working,
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
        let code = "Goal: the end is\n```\n</continuation_packet>\n```\nor\n\n    </continuation_packet>\n\nNext: the tests";
        check(&format!("<continuation_packet>\n{code}\n</continuation_packet>"), code);
        let old = "```\n<continuation_packet>\nGoal: the one before, which is old\n</continuation_packet>\n```";
        check(
            &format!(
                "<continuation_packet>\nGoal: the right one, at last\n</continuation_packet>\nBefore:\n{old}"
            ),
            "Goal: the right one, at last",
        );
        let fenced =
            "```\n<continuation_packet>\nGoal: the right one, at last\n</continuation_packet>\n```";
        check(fenced, "Goal: the right one, at last");
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
            ResumeState::Done,
        );
        check("**State:** waiting_for_user\nGoal: ship the parser", ResumeState::WaitingForUser);
        check("State: working\nGoal: ship the parser", ResumeState::Working);
        check("Goal: ship the parser; next: tests", ResumeState::Working);
    }
}
