//! Renders capsules, restored threads and search results. Pure. Colors are always written; the output stream removes them if
//! they are disabled.

use anstyle::Style;
use rawr_protocol::{Capsule, CapsuleSummary, CompactionTrigger, RecallKind, RecallPlace};

use super::decisions::fact;
use super::palette::{BOLD, DIM, WARN, WIDTH, paint};
use super::text::{LocalNow, ago, number, when};
use rawr_host::host::codex::RestoreMethod;
use rawr_host::text::{one_line, sanitize_terminal};

/// A capsule in one line.
pub fn capsule_line(capsule: &CapsuleSummary, now: &LocalNow) -> String {
    let tokens = match capsule.tokens_before {
        Some(tokens) => format!("{} tokens", number(tokens)),
        None => "size unknown".to_owned(),
    };
    let packet = match capsule.packet_author {
        Some(by) => format!("packet by {}", by.label()),
        None => "no packet".to_owned(),
    };
    format!(
        "{}  {:>22}  {tokens:>16}  {packet}, {}",
        paint(BOLD, &format!("{:<14}", one_line(&capsule.capsule_id, WIDTH))),
        when(capsule.at_ms, now),
        trigger(&capsule.trigger),
    )
}

/// The goal and the next step of a packet.
pub fn packet_lines(packet: &str) -> Vec<String> {
    let part = |name: &'static str| Some(fact(name, &one_line(part_of(packet, name)?, WIDTH)));
    ["goal", "next"].into_iter().filter_map(part).collect()
}

/// What follows the first line `Name: …`, on this line or the next one.
fn part_of<'p>(packet: &'p str, name: &str) -> Option<&'p str> {
    let mut lines = packet.lines();
    let rest = lines.by_ref().find_map(|line| {
        let (key, rest) = line.trim_start_matches(['#', '*', '-', ' ']).split_once(':')?;
        key.get(..name.len())?.eq_ignore_ascii_case(name).then_some(rest)
    })?;
    let texts = std::iter::once(rest).chain(lines);
    let plain = |text: &'p str| text.trim_matches(['*', '-', ' ']);
    texts.map(plain).find(|text| !text.is_empty())
}

fn trigger(trigger: &CompactionTrigger) -> String {
    match trigger {
        CompactionTrigger::Rawr { tier, boundaries, .. } if boundaries.is_empty() => {
            tier.to_string()
        }
        CompactionTrigger::Rawr { tier, boundaries, .. } => {
            let labels: Vec<_> = boundaries.iter().map(|boundary| boundary.label()).collect();
            format!("{} at {}", tier.label(), labels.join(", "))
        }
        CompactionTrigger::Inline { .. } => "plain compaction".to_owned(),
        CompactionTrigger::Host => "the host's own".to_owned(),
        CompactionTrigger::User => "asked for".to_owned(),
    }
}

/// The planned restore: the capsule, the method, and the changed files.
pub fn restoring(
    capsule: &Capsule,
    way: Result<&str, &str>,
    differences: &[String],
    now: &LocalNow,
) -> Vec<String> {
    let summary = &capsule.summary;
    let mut lines = vec![
        capsule_line(summary, now),
        fact("thread", &one_line(&summary.thread_id, WIDTH)),
        fact("folder", &one_line(&capsule.cwd, WIDTH)),
        fact(
            "way",
            match way {
                Ok("fork") => "a fork of the thread, up to the last turn before the compaction",
                Ok("history") => "a new agent with the saved history",
                Ok(_) => "a new thread with the packet",
                Err(obstacle) => obstacle,
            },
        ),
    ];
    if let Some(turn) = &capsule.inside_turn_id {
        let turn = one_line(turn, WIDTH);
        lines.push(fact("left out", &format!("turn {turn}, in which the compaction happened")));
    }
    for input in &capsule.held_inputs {
        lines.push(fact("waited", &format!("your message: {}", one_line(&input.text, WIDTH))));
    }
    if !differences.is_empty() {
        lines.push(paint(WARN, "Your files have changed and will not be restored:"));
        let line = |line: &String| format!("  {}", one_line(line, 2 * WIDTH));
        lines.extend(differences.iter().map(line));
    }
    lines
}

/// A restored Codex thread, and how to continue it.
pub fn restored(thread_id: &str, way: RestoreMethod, tried: &[String]) -> Vec<String> {
    let how = match way {
        RestoreMethod::Fork => "its history is what it was before the compaction",
        RestoreMethod::ForkReverted => {
            "its history is what it was before the compaction; later turns were reverted"
        }
        RestoreMethod::Message => "its history could not be restored; it starts with the packet",
    };
    let id = one_line(thread_id, WIDTH);
    let mut lines = vec![format!("{} {how}", paint(BOLD, &format!("New thread {id}:")))];
    let why = |why: &String| paint(DIM, &format!("  {}", one_line(why, 2 * WIDTH)));
    lines.extend(tried.iter().map(why));
    lines.push(fact("resume", &format!("rawr codex resume {id}")));
    lines
}

/// A search result with the search words marked.
pub fn place(place: &RecallPlace, words: &[String], with_thread: bool, now_ms: i64) -> Vec<String> {
    let when = place.at_ms.map_or_else(String::new, |at| format!(" · {}", ago(at, now_ms)));
    let thread = match with_thread {
        true => format!(" · thread {}", one_line(&place.thread_id, WIDTH)),
        false => String::new(),
    };
    let file = sanitize_terminal(&place.file).replace('\n', "\u{fffd}");
    let about = paint(DIM, &format!("{}{when}{thread}", kind(place.kind)));
    let snippet = one_line(&place.snippet, usize::MAX);
    vec![format!("{file}:{}  {about}", place.line), format!("  {}", marked(&snippet, words))]
}

const fn kind(kind: RecallKind) -> &'static str {
    match kind {
        RecallKind::Packet => "packet",
        RecallKind::Handoff => "handoff",
        RecallKind::Directive => "directive",
        RecallKind::Scratch => "notes",
        RecallKind::UserMessage => "you",
        RecallKind::AgentMessage => "agent",
        RecallKind::ToolCall => "tool call",
        RecallKind::ToolOutput => "tool output",
        RecallKind::Summary => "summary",
    }
}

/// The style of a search word.
const MARK: Style = BOLD.underline();

fn marked(text: &str, words: &[String]) -> String {
    let words: Vec<String> =
        words.iter().flat_map(|word| word.split_whitespace()).map(str::to_lowercase).collect();
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(letter) = rest.chars().next() {
        let longest = words.iter().filter_map(|word| length(rest, word)).max();
        let (piece, after) = rest.split_at(longest.unwrap_or(letter.len_utf8()));
        match longest {
            Some(_) => shown.push_str(&paint(MARK, piece)),
            None => shown.push_str(piece),
        }
        rest = after;
    }
    shown
}

/// The length of a prefix of the text that equals the lowercase word.
fn length(text: &str, word: &str) -> Option<usize> {
    let mut left = word;
    for (at, letter) in text.char_indices() {
        if left.is_empty() {
            return (at > 0).then_some(at);
        }
        for lower in letter.to_lowercase() {
            left = left.strip_prefix(lower)?;
        }
    }
    left.is_empty().then_some(text.len()).filter(|length| *length > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_words_are_marked_in_any_case() {
        let check = |text: &str, words: &[&str], expected: &str| {
            let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
            let marked = marked(text, &words);
            let marked = marked.replace(&format!("{MARK}"), "<").replace(&format!("{MARK:#}"), ">");
            assert_eq!(marked, expected, "{words:?}");
        };
        check("The RETRY budget", &["retry", "get"], "The <RETRY> bud<get>");
        check("retries", &["retry"], "retries");
        check("aaa", &["a", "aa"], "<aa><a>");
        check("Größe", &["GRÖSSE", "größe"], "<Größe>");
        check("word", &[""], "word");
    }

    #[test]
    fn a_packets_goal_and_next_step_are_found() {
        let check = |packet: &str, goal: Option<&str>, next: Option<&str>| {
            assert_eq!(
                (part_of(packet, "goal"), part_of(packet, "next")),
                (goal, next),
                "{packet}"
            );
        };
        check("State: working\nGoal: a parser\nNext step: docs", Some("a parser"), Some("docs"));
        check(
            "## **Goal:**\n\n- a parser\n- **Next**: the docs",
            Some("a parser"),
            Some("the docs"),
        );
        check("Goal, in the user's first message:\na parser", Some("a parser"), None);
        check("We reached the goal.", None, None);
    }

    #[test]
    fn results_are_sanitized_for_the_terminal() {
        let found = RecallPlace {
            thread_id: "t\u{1b}[2J".to_owned(),
            kind: RecallKind::ToolOutput,
            file: "/w/a\u{1b}]0;x\nb".to_owned(),
            line: 7,
            at_ms: None,
            snippet: "x\u{1b}[31mneedle\u{202e}".to_owned(),
        };
        let lines = place(&found, &["needle".to_owned()], true, 0).join("\n");
        let ours = [MARK, DIM].map(|style| [format!("{style}"), format!("{style:#}")]).concat();
        let rest = ours.iter().fold(lines, |lines, ours| lines.replace(ours, ""));
        assert!(!rest.contains(['\u{1b}', '\u{202e}']), "{rest:?}");
        assert_eq!(rest.lines().count(), 2);
    }
}
