//! Checks that a packet names the facts that rawr knows. Missing facts are added under a heading; the author's text is
//! not changed.

use crate::event::{Fact, FactKind, Packet};
use crate::excerpt::{head, one_line};
use crate::policy::PacketAuthor;
use crate::thread::Thread;

/// How many changed files are checked. A longer list can be looked up.
const MOST_FILES: usize = 20;
/// How many files without a check are named: more are the rule where a project has no checks.
const MOST_UNCHECKED: usize = 6;
/// So many messages of the user make a list that is worth its tokens.
const FEWEST_REQUESTS: usize = 3;
/// A packet and what is added to it, in bytes: with the text around it a handoff of about 1,400 tokens. The list of
/// messages takes what is left of it.
const FULL: usize = 5_000;
/// A message that is cut to fewer characters tells nothing.
const FEWEST_CHARS: usize = 16;
/// How many steps are checked: each is searched for in the whole packet.
const MOST_STEPS: usize = 100;
/// How many words of a step are searched for.
const WORDS_LOOKED_FOR: usize = 40;
/// A step counts as named if this share of its longer words occurs.
const WORDS_OF_A_STEP: (usize, usize) = (3, 4);
const LONG_WORD: usize = 4;

const HEADING: &str = "Added by rawr, because the packet did not say it:";

struct FactRule {
    kind: FactKind,
    title: &'static str,
    covered: fn(packet: &str, fact: &str) -> bool,
}

/// In the order in which they are added.
const FACT_RULES: [FactRule; 7] = [
    FactRule {
        kind: FactKind::Directive,
        title: "Standing instructions of the user, word for word",
        covered: says,
    },
    FactRule {
        kind: FactKind::OpenStep,
        title: "Steps of the plan that are not done",
        covered: names_step,
    },
    FactRule {
        kind: FactKind::ChangedFile,
        title: "Files changed since the last compaction",
        covered: names_file,
    },
    FactRule { kind: FactKind::RunningJob, title: "Still running", covered: says },
    FactRule { kind: FactKind::Branch, title: "Branch", covered: says },
    FactRule {
        kind: FactKind::UncheckedFile,
        title: "Changed after the last check that passed",
        covered: lists,
    },
    FactRule { kind: FactKind::FailedCommand, title: "Failed, not run again", covered: says },
];

/// Rawr's own part of each packet. Never searched for: the list is worth its order, and a short message is a part of many lines.
const OWN_PART: (FactKind, &str) =
    (FactKind::Request, "The user's messages in order, how each begins");

/// The facts of this thread that a packet must name.
pub fn facts(thread: &Thread) -> Vec<Fact> {
    let known = &thread.known;
    let directives = known.in_force().map(|d| fact(FactKind::Directive, &d.text));
    let steps = known.open_steps().take(MOST_STEPS);
    let steps = steps.map(|step| fact(FactKind::OpenStep, &step.step));
    let files = known.changed_files.iter().take(MOST_FILES);
    let files = files.map(|file| fact(FactKind::ChangedFile, file));
    let jobs = known
        .tools_running
        .iter()
        .map(|(call, name)| fact(FactKind::RunningJob, name.as_deref().unwrap_or(call.as_str())));
    let branch = known.branch.iter().map(|branch| fact(FactKind::Branch, branch));
    let unchecked = known.unchecked_files.iter();
    let has_checks = thread.turns.iter().any(|turn| turn.checked.is_some());
    let names_them = has_checks && known.unchecked_files.len() <= MOST_UNCHECKED;
    let unchecked = unchecked.filter(|_| names_them);
    let unchecked = unchecked.map(|file| fact(FactKind::UncheckedFile, file));
    let failed = known.failed_commands.iter().map(|command| fact(FactKind::FailedCommand, command));
    let work = directives.chain(steps).chain(files).chain(jobs).chain(branch);
    let all = work.chain(unchecked).chain(failed);
    all.filter(|fact| !fact.text.is_empty()).collect()
}

fn fact(kind: FactKind, text: &str) -> Fact {
    Fact { kind, text: text.trim().to_owned() }
}

/// How the user's messages begin, where they are many enough: as much of each as there is room for.
fn requests(thread: &Thread, packet: &str, added: &[Fact]) -> Vec<Fact> {
    let asked = &thread.known.asked;
    if asked.len() < FEWEST_REQUESTS {
        return Vec::new();
    }
    let listed = |chars| -> Vec<Fact> {
        asked.iter().map(|text| fact(FactKind::Request, &head(text, chars))).collect()
    };
    let room = FULL.saturating_sub(packet.trim_end().len());
    let fits = |list: &Vec<Fact>| text_with("", &[added, list].concat()).len() <= room;
    let longest = asked.iter().map(|text| text.chars().count()).max().unwrap_or_default();
    let lengths = (FEWEST_CHARS..=longest.max(FEWEST_CHARS)).rev();
    lengths.map(listed).find(fits).unwrap_or_default()
}

/// The facts that a packet does not name.
pub fn missing(packet: &str, facts: &[Fact]) -> Vec<Fact> {
    let packet = plain(packet);
    let covered = |fact: &Fact| {
        FACT_RULES
            .iter()
            .any(|kind| kind.kind == fact.kind && (kind.covered)(&packet, &plain(&fact.text)))
    };
    facts.iter().filter(|fact| !covered(fact)).cloned().collect()
}

/// The packet with missing facts and rawr's own part added. A person's packet is left as it is.
pub fn completed(packet: Packet, thread: &Thread) -> Packet {
    if packet.author == PacketAuthor::Person {
        return packet;
    }
    let mut added = missing(&packet.text, &facts(thread));
    if !packet.added.iter().any(|fact| fact.kind == OWN_PART.0) {
        added.extend(requests(thread, &packet.text, &added));
    }
    with_added(packet, added)
}

fn with_added(mut packet: Packet, added: Vec<Fact>) -> Packet {
    if added.is_empty() {
        return packet;
    }
    packet.text = text_with(&packet.text, &added);
    packet.added.extend(added);
    packet
}

/// The packet's text with these facts, of which there is at least one.
fn text_with(packet: &str, added: &[Fact]) -> String {
    let mut text = format!("{}\n\n{HEADING}", packet.trim_end());
    for (kind, title) in
        FACT_RULES.map(|rule| (rule.kind, rule.title)).into_iter().chain([OWN_PART])
    {
        let lines: Vec<_> =
            added.iter().filter(|fact| fact.kind == kind).map(|fact| fact.text.as_str()).collect();
        if !lines.is_empty() {
            text.push_str(&format!("\n{title}:\n- {}", lines.join("\n- ")));
        }
    }
    text
}

/// Case and line breaks do not matter.
fn plain(text: &str) -> String {
    one_line(text).to_lowercase()
}

fn says(packet: &str, fact: &str) -> bool {
    packet.contains(fact)
}

/// Only a line of its own counts: the list is worth its order.
fn lists(packet: &str, fact: &str) -> bool {
    packet.contains(&format!("- {fact}"))
}

/// An agent may put its plan in other words.
fn names_step(packet: &str, step: &str) -> bool {
    let words: Vec<_> = step
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= LONG_WORD)
        .take(WORDS_LOOKED_FOR)
        .collect();
    let there = words.iter().filter(|word| packet.contains(**word)).count();
    let (share, of) = WORDS_OF_A_STEP;
    says(packet, step) || !words.is_empty() && there * of >= words.len() * share
}

fn names_file(packet: &str, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    packet.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ResumeState;
    use crate::units::ThreadId;

    const FACTS: [(FactKind, &str); 5] = [
        (FactKind::Directive, "Never touch main.rs!"),
        (FactKind::OpenStep, "Write the tokenizer tests"),
        (FactKind::ChangedFile, "src/parser/tokens.rs"),
        (FactKind::RunningJob, "npm run dev"),
        (FactKind::Branch, "feature/parser"),
    ];

    fn facts() -> Vec<Fact> {
        FACTS.map(|(kind, text)| Fact { kind, text: text.to_owned() }).to_vec()
    }

    fn check(packet: &str, expected: &[FactKind]) {
        let kinds: Vec<_> = missing(packet, &facts()).iter().map(|fact| fact.kind).collect();
        assert_eq!(kinds, expected, "{packet}");
    }

    #[test]
    fn each_kind_of_fact_is_matched_by_its_own_rule() {
        use FactKind::{Branch, ChangedFile, Directive, OpenStep, RunningJob};
        check("", &[Directive, OpenStep, ChangedFile, RunningJob, Branch]);
        check("never\ntouch MAIN.rs!", &[OpenStep, ChangedFile, RunningJob, Branch]);
        check("Do not touch main.rs", &[Directive, OpenStep, ChangedFile, RunningJob, Branch]);
        check(
            "next: tests for the tokenizer, write them",
            &[Directive, ChangedFile, RunningJob, Branch],
        );
        check("edited tokens.rs on feature/parser", &[Directive, OpenStep, RunningJob]);
        check("`npm run dev` still runs", &[Directive, OpenStep, ChangedFile, Branch]);
    }

    fn packet(author: PacketAuthor, text: &str) -> Packet {
        Packet { author, resume: ResumeState::Working, text: text.to_owned(), added: Vec::new() }
    }

    fn thread(asked: &[&str]) -> Thread {
        let mut thread = Thread::new(ThreadId::new("t1"));
        thread.known.branch = Some("feature/parser".to_owned());
        thread.known.asked = asked.iter().map(|&text| text.to_owned()).collect();
        thread
    }

    #[test]
    fn missing_facts_are_added_under_a_heading() {
        let goal = packet(PacketAuthor::Agent, "Goal: the parser on feature/parser");
        let done = with_added(goal.clone(), missing(&goal.text, &facts()));
        assert!(done.text.starts_with("Goal: the parser on feature/parser\n\nAdded by rawr"));
        assert!(done.text.contains("word for word:\n- Never touch main.rs!"));
        assert_eq!(done.added.len(), 4);
    }

    #[test]
    fn the_list_of_messages_is_whole_and_added_once() {
        let thread = thread(&["fix the parser", "commit", "push"]);
        let written = packet(PacketAuthor::Agent, "Done:\n- commit a1b2c3 on feature/parser");
        let done = completed(written, &thread);
        assert!(
            done.text.ends_with("begins:\n- fix the parser\n- commit\n- push"),
            "{}",
            done.text
        );
        assert_eq!(completed(done.clone(), &thread), done);
    }

    #[test]
    fn the_list_of_messages_takes_what_room_is_left() {
        let thread = thread(&["fix the parser of numbers, and look at dates", "commit", "push"]);
        let known = "on feature/parser ";
        let done = |length: usize| {
            let text = format!("{known}{}", "x".repeat(length - known.len()));
            completed(packet(PacketAuthor::Agent, &text), &thread)
        };
        let beginnings = |length| {
            let first = done(length).added.into_iter().next();
            first.map(|fact| fact.text.chars().count())
        };
        let whole = "fix the parser of numbers, and look at dates".len();
        let around = done(1_000).text.len() - 1_000 - whole;
        assert_eq!(beginnings(FULL - around - whole), Some(whole));
        // The mark of what is left out takes two characters in four bytes.
        assert_eq!(beginnings(FULL - around - whole + 1), Some(whole - 1 - 4 + 2));
        let shortest = FEWEST_CHARS + 2;
        assert_eq!(beginnings(FULL - around - shortest - 2), Some(shortest));
        assert_eq!(beginnings(FULL - around - shortest - 1), None);
        assert_eq!(beginnings(FULL + 1), None);
        assert_eq!(done(FULL - around - shortest - 2).text.len(), FULL);
    }

    #[test]
    fn the_packet_of_a_person_is_left_as_it_is() {
        let written = packet(PacketAuthor::Person, "Go on.");
        assert_eq!(completed(written.clone(), &thread(&["a", "b", "c"])), written);
    }
}
