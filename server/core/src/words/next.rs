//! What the person's next message does: open something new, close what there is, or go on with the same.

use super::classes::OF_PEOPLE;
use super::model::{Features, join, softmax};
use super::offer::{Answer, Offer};
use super::probability::{Evidence, Probability};
use super::tokens::{self, Counts, Masking, ReadingWindow, TokenKind, TokenizedMessage};
use super::topic::{SharedTopic, Topic};
use super::traits::{self, ANYWHERE, FIRST, LAST};
use super::weights::NEXT;
use super::work::WorkAtHand;

/// Rows of the table.
pub const ROWS: u32 = 16_384;
/// What the classifier answers, in the order of the table.
pub const HEADS: [&str; 3] = ["new", "close", "same"];

pub(super) const READING: ReadingWindow =
    ReadingWindow { head: 500, tail: 250, masking: Masking::Code };

/// What a person's message is to the work at hand. The three probabilities sum up to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextMessage {
    /// That it opens something new.
    pub new: Probability,
    /// That it closes what there is: a commit, a push, thanks, a command of the host.
    pub close: Probability,
    /// That it goes on with the same, asks about it or corrects it.
    pub same: Probability,
    /// How much of it is about the work at hand.
    pub topic: SharedTopic,
    /// The strongest reasons for the likeliest of the three.
    pub evidence: Vec<Evidence>,
}

impl NextMessage {
    /// That the work before it has ended: it opens something new or closes.
    pub fn leaves(&self) -> Probability {
        Probability::of_thousandths(1000 - self.same.thousandths())
    }
}

/// Reads a person's message, knowing what was worked on.
pub fn of(message: &str, work: &WorkAtHand) -> NextMessage {
    let topic = topic(message, work);
    let features = features_of(message, work, topic);
    let shares = softmax(NEXT.score(&features));
    let head = (0..3).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap_or(2);
    let [new, close, same] = shares.map(Probability::of);
    NextMessage { new, close, same, topic, evidence: NEXT.evidence(message, &features, head) }
}

/// What a message shares with the work at hand. For the trainer.
pub fn topic(message: &str, work: &WorkAtHand) -> SharedTopic {
    Topic::of(message, READING).shared(&work.asked, &work.said)
}

/// The features that the weights belong to. For the trainer.
pub fn features(message: &str, work: &WorkAtHand) -> Features {
    features_of(message, work, topic(message, work))
}

fn features_of(message: &str, work: &WorkAtHand, topic: SharedTopic) -> Features {
    let tokens = tokens::read(message, READING);
    let mut features = Features::with_capacity(tokens.list.len() * 5 + 32);
    let sentences = traits::sentences(&tokens.list);
    let count = sentences.len();
    for (at, sentence) in sentences.iter().enumerate() {
        traits::words(&mut features, sentence, ANYWHERE);
        if at == 0 {
            traits::words(&mut features, sentence, FIRST);
            beginning(&mut features, sentence);
        }
        if at + 1 == count && count > 1 {
            traits::words(&mut features, sentence, LAST);
        }
    }
    classes(&mut features, &tokens, sentences.first().copied().unwrap_or_default(), work);
    let words = tokens.list.iter().filter(|token| token.kind == TokenKind::Word).count();
    let short = words <= 3;
    let mut add = |name| features.add_trait(name);
    add(match words {
        0 => "no words",
        1 => "one word",
        2..=3 => "a few words",
        4..=8 => "a short message",
        9..=18 => "one or two sentences",
        19..=45 => "a paragraph",
        46..=90 => "a long paragraph",
        _ => "a long message",
    });
    if tokens.skipped > 2000 {
        add("a very long message");
    }
    if sentences.last().is_some_and(|last| traits::asks(last)) {
        add(if count == 1 { "only a question" } else { "a question at the end" });
    } else if sentences.iter().any(|sentence| traits::asks(sentence)) {
        add("a question before the end");
    } else {
        add("no question");
    }
    structure(&mut add, &tokens.counts);
    relation(&mut add, work, work.known_names(&tokens.list), topic, short);
    if tokens.counts.commands > 0 {
        command(&mut features, &tokens.list, work);
    }
    features
}

/// What the classes of its words say, anywhere, in the first sentence, and after a claim to be done.
fn classes(
    features: &mut Features,
    message: &TokenizedMessage,
    first: &[tokens::Token],
    work: &WorkAtHand,
) {
    let all = &message.list;
    let found = OF_PEOPLE.of(all);
    for name in found.names() {
        features.add_trait(name);
        if work.claimed() >= 0.5 {
            features.add_trait_of(name, 1);
        }
    }
    let opening = OF_PEOPLE.of(&first[..first.len().min(5)]);
    for name in opening.names() {
        features.add_trait_of(name, 2);
    }
    let answer = Answer::of(all, &message.counts, found, opening);
    let name = match (answer, work.offer) {
        (Answer::None, _) => "more than an answer",
        (_, Offer::Nothing) => "a few words where nothing is offered",
        _ => "an answer to what the agent offers",
    };
    let to = answer as u32 * 8 + work.offer as u32;
    features.add_trait_of(name, to);
    let claimed = u32::from(work.claimed() >= 0.5);
    features.add_trait_of(name, 64 + to * 2 + claimed);
    if found.addresses_no_one() && all.len() >= 20 {
        let part = if work.claimed() >= 0.5 { 1 } else { 0 };
        features.add_trait("addresses no one");
        features.add_trait_of("addresses no one", 3 + part);
    }
}

/// Commands of hosts that end a conversation, and those that only set something up.
const LEAVING: [&str; 6] = ["/exit", "/quit", "/clear", "/new", "/compact", "/logout"];
const SETTINGS: [&str; 16] = [
    "/model",
    "/login",
    "/ide",
    "/config",
    "/status",
    "/mcp",
    "/help",
    "/cost",
    "/context",
    "/usage",
    "/permissions",
    "/hooks",
    "/agents",
    "/plugin",
    "/doctor",
    "/resume",
];

/// What a command does, after a claim to be done and after none.
fn command(features: &mut Features, tokens: &[tokens::Token], work: &WorkAtHand) {
    let has = |names: &[&str]| {
        names.iter().any(|name| {
            let hash = tokens::command_hash(name);
            tokens.iter().any(|token| token.hash == hash)
        })
    };
    let name = if has(&LEAVING) {
        "a command that leaves"
    } else if has(&SETTINGS) {
        "a command that sets something up"
    } else {
        "another command"
    };
    features.add_trait(name);
    features.add_trait_of(name, 30 + u32::from(work.claimed() >= 0.5));
    if work.closes_with_question {
        features.add_trait_of(name, 32);
    }
}

/// The first words together say the most.
fn beginning(features: &mut Features, sentence: &[tokens::Token]) {
    let mut all = 0x0be6;
    let Some(first) = sentence.first() else { return };
    for (at, token) in sentence.iter().take(4).enumerate() {
        all = join(all, token.hash);
        if at > 0 {
            features.text(all, first.from, token.to);
        }
    }
}

fn structure(add: &mut impl FnMut(&'static str), counts: &Counts) {
    let prose = counts.lines.saturating_sub(counts.logs + counts.code + counts.quoted);
    let pasted = counts.logs + counts.code + counts.quoted;
    add(traits::amount(
        pasted,
        ["nothing pasted", "a pasted line", "pasted lines", "a pasted log"],
    ));
    if pasted > prose {
        add("more pasted than written");
    }
    add(traits::amount(counts.tags, ["no tag", "a tag", "tags", "many tags"]));
    if counts.commands > 0 {
        add("a command");
    }
    add(traits::amount(
        counts.entries + counts.numbered,
        ["no list", "a list entry", "a list", "a long list"],
    ));
    add(match counts.lines {
        0..=1 => "one line",
        2..=3 => "a few lines",
        _ => "many lines",
    });
    if counts.numbers > 0 {
        add("a number");
    }
}

fn relation(
    add: &mut impl FnMut(&'static str),
    work: &WorkAtHand,
    names: (u32, u32),
    topic: SharedTopic,
    short: bool,
) {
    add(match names {
        (_, 0) => "no names",
        (0, 1) => "a name that is new",
        (0, _) => "names that are new",
        (known, all) if known == all => "names of the work at hand",
        _ => "names, some of them new",
    });
    let SharedTopic { words, shared, said, .. } = topic;
    if words == 0 {
        add("nothing that tells a topic");
    } else {
        add(match shared {
            0 => "no words of the work at hand",
            shared if shared * 4 < words => "few words of the work at hand",
            shared if shared * 2 < words => "some words of the work at hand",
            shared if shared * 4 < words * 3 => "many words of the work at hand",
            _ => "the words of the work at hand",
        });
        add(match said {
            0 => "no words of the agent",
            said if said * 3 < words => "few words of the agent",
            said if said * 3 < words * 2 => "many words of the agent",
            _ => "the words of the agent",
        });
        add(match words - shared {
            0 => "no new words",
            1 => "a new word",
            2..=3 => "a few new words",
            4..=8 => "new words",
            9..=18 => "many new words",
            _ => "very many new words",
        });
    }
    add(match work.claimed() {
        done if done < 0.15 => "after work that goes on",
        done if done < 0.5 => "after work that may go on",
        done if done < 0.85 => "after a likely claim to be done",
        _ => "after a claim to be done",
    });
    let claimed = work.claimed() >= 0.5;
    if work.closes_with_question {
        add(match (short, claimed) {
            (true, true) => "a short answer to a question after a claim to be done",
            (true, false) => "a short answer to a question",
            (false, true) => "an answer to a question after a claim to be done",
            (false, false) => "an answer to a question",
        });
        if short && work.speaks_of_commit {
            add("a short answer to a question about a commit");
        }
    } else if short {
        add(if claimed { "a few words after a claim to be done" } else { "a few words" });
    }
    if work.choices {
        add(if claimed { "after a list, and a claim to be done" } else { "after a list" });
    }
}
