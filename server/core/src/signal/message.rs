//! Semantic breaks in the agent's messages, and standing instructions in the user's.

use crate::boundary::{Boundaries, Boundary};
use crate::policy::Phrases;
use crate::steps;
use crate::words::claim::{self, HEARD_FROM, POSSIBLE_FROM};
use crate::words::standing;

/// A phrase after one of these in the same clause does not count.
const NEGATIONS: [&str; 12] = [
    "not", "n't", "never", "no", "without", "before", "until", "unless", "once", "when", "if",
    "cannot",
];

/// What a message of the agent says of the end of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageSignals {
    /// The semantic breaks.
    pub boundaries: Boundaries,
    /// The words that they were read from, for people.
    pub because: Option<String>,
}

/// The semantic breaks that a message of the agent contains (rule `boundary.semantic-break`). The classifier hears that
/// the work is done or that another phase follows; the user's phrases add to it and veto it.
pub fn signals(message: &str, phrases: &Phrases) -> MessageSignals {
    // Most reports have no message.
    if message.is_empty() {
        return MessageSignals::default();
    }
    let text = comparable(message);
    let Phrases { not_done, agent_done, topic_shift, concluding_thought, .. } = phrases;
    let [vetoes, done, shifts, concludes] =
        first_said(&text, [not_done, agent_done, topic_shift, concluding_thought]);
    if vetoes.is_some() {
        return MessageSignals::default();
    }
    let claim = claim::of(message);
    let groups = [
        (Boundary::AgentDone, claim.done >= HEARD_FROM, done),
        (Boundary::TopicShift, claim.announces >= HEARD_FROM, shifts),
        (Boundary::ConcludingThought, false, concludes),
    ];
    let mut signals = MessageSignals::default();
    let mut because = Vec::new();
    for (boundary, classified, phrase) in groups {
        if classified || phrase.is_some() {
            signals.boundaries = signals.boundaries.or(Boundaries::of(&[boundary]));
        }
        because.extend(phrase.map(|phrase| format!("'{phrase}'")));
        if classified && because.is_empty() {
            because.extend(claim.evidence.iter().map(ToString::to_string));
        }
    }
    signals.because = (!because.is_empty()).then(|| because.join(", "));
    signals
}

/// Whether a message of the agent claims, at least faintly, that a phase of work has ended or that another one follows, and
/// no phrase of the user's vetoes it.
pub fn may_have_ended(message: &str, phrases: &Phrases) -> bool {
    let claim = claim::of(message);
    if claim.done.max(claim.announces) < POSSIBLE_FROM {
        return false;
    }
    let text = comparable(message);
    first_said(&text, [&phrases.not_done]) == [None]
}

/// The standing instructions in a user's message, word for word: those that are heard, and the sentences that begin with
/// a phrase of the user's.
pub fn directives(message: &str, phrases: &Phrases) -> Vec<String> {
    const MOST: usize = 10;
    let begins = |sentence: &str| {
        let sentence = comparable(sentence);
        phrases.directive.iter().any(|phrase| {
            let phrase = phrase.trim();
            !phrase.is_empty()
                && sentence.starts_with(phrase)
                && whole_words(&sentence, 0, phrase.len())
        })
    };
    standing::sentences(message)
        .into_iter()
        .filter(|sentence| sentence.stands || begins(sentence.text))
        .take(MOST)
        .map(|sentence| sentence.text.to_owned())
        .collect()
}

/// As phrases are written: in lowercase, with straight apostrophes.
fn comparable(text: &str) -> String {
    text.to_lowercase().replace('\u{2019}', "'")
}

/// The first phrase of each list that the text says. One pass over the text, because nearly all of it begins no phrase.
fn first_said<'p, const LISTS: usize>(
    text: &str,
    lists: [&'p [String]; LISTS],
) -> [Option<&'p str>; LISTS] {
    let in_order = |(list, phrases): (usize, &'p [String])| {
        let phrases = phrases.iter().map(|phrase| phrase.trim().as_bytes()).enumerate();
        phrases.filter_map(move |(nth, phrase)| Some((*phrase.first()?, phrase, list, nth)))
    };
    let mut phrases = Vec::with_capacity(lists.iter().map(|list| list.len()).sum());
    lists.into_iter().enumerate().for_each(|list| phrases.extend(in_order(list)));
    let mut begins = [false; 256];
    phrases.iter().for_each(|(first, ..)| begins[usize::from(*first)] = true);
    let mut found = [None; LISTS];
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if !begins[usize::from(*byte)] {
            continue;
        }
        let after_word =
            at.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_alphanumeric());
        if after_word && byte.is_ascii_alphanumeric() {
            continue;
        }
        for (first, phrase, list, nth) in &phrases {
            if first == byte
                && found[*list].is_none_or(|known| *nth < known)
                && says_at(text, at, phrase)
            {
                found[*list] = Some(*nth);
            }
        }
    }
    let mut lists = lists.into_iter();
    found.map(|nth| lists.next()?.get(nth?).map(String::as_str))
}

fn says_at(text: &str, at: usize, phrase: &[u8]) -> bool {
    text.as_bytes()[at..].starts_with(phrase)
        && whole_words(text, at, at + phrase.len())
        && !negated(&text[..at])
}

fn whole_words(text: &str, start: usize, end: usize) -> bool {
    let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (first, last) = (text[start..].chars().next(), text[..end].chars().next_back());
    !(inside(first) && inside(text[..start].chars().next_back())
        || inside(last) && inside(text[end..].chars().next()))
}

/// Looks back only so far: a phrase may occur at every word of one long clause, and the work must stay linear.
fn negated(before: &str) -> bool {
    const FARTHEST: usize = 200;
    let stretch = last_bytes(before, FARTHEST);
    steps::add(stretch.len());
    let clause = stretch.rsplit(['.', '!', '?', ';', ',', ':', '\n']).next().unwrap_or_default();
    let mut words = clause.split_whitespace().rev().take(5);
    words.any(|word| NEGATIONS.contains(&word) || word.ends_with("n't"))
}

/// The end of a text, at most this many bytes and whole words only.
fn last_bytes(text: &str, most: usize) -> &str {
    let Some(cut) = text.len().checked_sub(most).filter(|cut| *cut > 0) else { return text };
    let tail = (cut..).find_map(|at| text.get(at..)).unwrap_or_default();
    tail.find(char::is_whitespace).map_or("", |blank| &tail[blank..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: &str) {
        let signals = signals(message, &Phrases::default());
        assert_eq!(signals.boundaries.to_string(), expected, "{message}");
    }

    fn says(text: &str, phrase: &str) -> bool {
        first_said(text, [&[phrase.to_owned()]]) == [Some(phrase)]
    }

    // rule: boundary.semantic-break
    #[test]
    fn each_kind_of_break_is_found() {
        check("All done: the tests pass.", "agent_done");
        check("The refactoring is finished. Next, I'll write the docs.", "agent_done, topic_shift");
        check("To summarise: three files changed.", "agent_done, concluding_thought");
        check("To summarise: it may be either.", "concluding_thought");
        check("I looked at three files.", "none");
    }

    #[test]
    fn a_faint_claim_may_be_an_end() {
        let veto = Phrases { not_done: vec!["for now".to_owned()], ..Phrases::default() };
        let check = |message: &str, expected: [bool; 2]| {
            let found =
                [&Phrases::default(), &veto].map(|phrases| may_have_ended(message, phrases));
            assert_eq!(found, expected, "{message}");
        };
        check("Sessions live too long because `is_expired` compares days.", [true, true]);
        check("It now compares days, for now, because the store keeps no seconds.", [true, false]);
        check("Which of the two files do you mean?", [false, false]);
        check("", [false, false]);
    }

    // rule: boundary.negations
    #[test]
    fn negations_do_not_count() {
        check("The task is not yet complete; the work isn't all done", "none");
        check("I will tell you once everything is done", "none");
        check("We can't say that the work is done", "none");
        check("No errors, and the work is done", "agent_done");
    }

    #[test]
    fn a_word_that_the_look_back_cuts_negates_nothing() {
        let word = format!("{}not", "x".repeat(300));
        assert!(says(&format!("{word} done is the build, all done"), "all done"));
        assert!(says(&format!("{word} all done"), "all done"));
        assert!(!says(&format!("{} not all done", "é ".repeat(300)), "all done"));
    }

    // rule: state.what-is-a-directive
    #[test]
    fn standing_instructions_are_found_word_for_word() {
        let check = |message: &str, expected: &[&str]| {
            assert_eq!(directives(message, &Phrases::default()), expected, "{message}");
        };
        check(
            "Write the parser. Never touch main.rs! - Always run the tests.",
            &["Never touch main.rs!", "Always run the tests."],
        );
        check(
            "- always use tabs\n- Remember: no new crates",
            &["always use tabs", "Remember: no new crates"],
        );
        check(
            "Don't push. Use tabs, e.g. in C. 提交前先跑测试。Danke!",
            &["Don't push.", "Use tabs, e.g. in C.", "提交前先跑测试。"],
        );
        check("It never worked. Nevertheless, go on.", &[]);
        check(&format!("always {}", "x".repeat(300)), &[]);
        check(&"Don't push. ".repeat(11), &["Don't push."; 10]);
    }

    // rule: state.what-is-a-directive
    #[test]
    fn quotes_and_questions_are_no_instructions() {
        for message in [
            "She wrote: \"Never push.\" and left.",
            "> Never push.",
            "```\nNever push.\n```",
            "Er sagte „niemals pushen“ dazu.",
            "Il a dit « ne pousse jamais » hier.",
            "他说「不要推送」。",
            "Don't you ever push?",
        ] {
            assert_eq!(directives(message, &Phrases::default()), [""; 0], "{message}");
        }
    }

    #[test]
    fn the_entries_of_a_list_of_rules_are_instructions() {
        let found = |message| directives(message, &Phrases::default());
        let rules = ["Rust only", "docs with each feature"];
        assert_eq!(found("Ground rules:\n1. Rust only\n2. docs with each feature\nThanks."), rules);
        assert_eq!(found("## Rules\n\n- Rust only\n- docs with each feature\n\nFix it."), rules);
        assert_eq!(found("To do:\n- the parser\n- the docs"), [""; 0]);
    }

    #[test]
    fn the_phrases_of_the_user_add_instructions() {
        let directive = vec!["mit tests".to_owned()];
        let phrases = Phrases { directive, ..Phrases::default() };
        let found = directives("Mit Tests, ja. Don't push.", &phrases);
        assert_eq!(found, ["Mit Tests, ja.", "Don't push."]);
    }

    #[test]
    fn the_first_phrase_of_a_list_is_told_wherever_it_occurs() {
        let lists =
            [["all done", " ✅ "], ["ünder way", "next"]].map(|list| list.map(str::to_owned));
        let check = |text: &str, expected: [Option<&str>; 2]| {
            assert_eq!(first_said(text, [&lists[0], &lists[1]]), expected, "{text}");
        };
        check("next: a✅b, then all done", [Some("all done"), Some("next")]);
        check("a✅b. it is ünder way, and next", [Some(" ✅ "), Some("ünder way")]);
        check("not all done, nextish, ünder ways", [None, None]);
    }

    #[test]
    fn a_phrase_inside_a_longer_word_does_not_count() {
        check("the ball donee said so", "none");
    }

    #[test]
    fn a_phrase_again_and_again_in_one_clause_costs_linear_work() {
        let cost = |times: usize| {
            steps::take();
            assert!(!says(&"not all done ".repeat(times), "all done"));
            steps::take()
        };
        assert!(cost(20_000) <= cost(10_000) * 2 + 10_000);
    }
}
