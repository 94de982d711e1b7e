//! The sentences that the project wrote, expanded from their file. See `agents.txt` for the format.

use crate::vectors::Hashes;
use anyhow::{Context as _, Result, bail};
use rawr_core::words::{WorkAtHand, claim, next};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A pattern yields at most so many sentences: none may outweigh the others.
const MOST_OF_A_PATTERN: usize = 40;

/// What a sentence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SentenceKind {
    /// An agent's: the work is done.
    Done,
    /// An agent's: another phase comes next.
    Announces,
    /// An agent's: both.
    DoneAndAnnounces,
    /// An agent's: neither, though it may sound so.
    Decoy,
    /// A person's: something new.
    New,
    /// A person's: closes.
    Close,
    /// A person's: the same work.
    Same,
    /// A person's: how to work from now on. Not trained on.
    Directive,
}

impl SentenceKind {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "done" => Self::Done,
            "announces" => Self::Announces,
            "done+announces" => Self::DoneAndAnnounces,
            "decoy" => Self::Decoy,
            "new" => Self::New,
            "close" => Self::Close,
            "same" => Self::Same,
            "directive" => Self::Directive,
            _ => return None,
        })
    }

    pub fn is_agents(self) -> bool {
        matches!(self, Self::Done | Self::Announces | Self::DoneAndAnnounces | Self::Decoy)
    }

    /// Neither a claim nor a transition.
    pub fn is_decoy(self) -> bool {
        matches!(self, Self::Decoy | Self::Same)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sentence {
    pub kind: SentenceKind,
    pub language: String,
    pub text: String,
}

impl Sentence {
    pub fn hashes(&self) -> Hashes {
        if self.kind.is_agents() {
            return Hashes::from(&claim::features(&self.text));
        }
        // There is no work at hand beside a sentence that stands alone, so its traits say nothing.
        Hashes::from(&next::features(&self.text, &WorkAtHand::default())).without_traits()
    }
}

#[derive(Deserialize)]
struct Message {
    text: String,
    done: bool,
    announces: bool,
}

/// Whole messages of agents, one JSON object a line.
pub fn messages(file: &str) -> Result<Vec<Sentence>> {
    let numbered = file.lines().enumerate();
    numbered
        .map(|(at, line)| {
            let message: Message =
                serde_json::from_str(line).with_context(|| format!("line {}", at + 1))?;
            let kind = match (message.done, message.announces) {
                (true, true) => SentenceKind::DoneAndAnnounces,
                (true, false) => SentenceKind::Done,
                (false, true) => SentenceKind::Announces,
                (false, false) => SentenceKind::Decoy,
            };
            Ok(Sentence { kind, language: String::new(), text: message.text })
        })
        .collect()
}

/// All sentences of a file, each once, in the order of the file.
pub fn expand(file: &str) -> Result<Vec<Sentence>> {
    let mut slots: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut section: Option<(Option<SentenceKind>, String)> = None;
    let mut sentences = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (number, line) in file.lines().enumerate() {
        let line = line.trim_end();
        if line.is_empty() || line == "#" || line.starts_with("# ") {
            continue;
        }
        let wrong = || format!("line {} of the sentences: {line}", number + 1);
        if let Some(title) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'))
            && let Some((kind, language)) = title.split_once(' ')
            && language.len() == 2
        {
            let kind = match kind {
                "slots" => None,
                kind => Some(SentenceKind::from_name(kind).with_context(wrong)?),
            };
            section = Some((kind, language.to_owned()));
            continue;
        }
        match section.as_ref().with_context(wrong)? {
            (None, language) => {
                let (name, values) = line.split_once(" = ").with_context(wrong)?;
                let values = values.split(" | ").map(str::to_owned).collect();
                slots.insert((language.clone(), name.to_owned()), values);
            }
            (Some(kind), language) => {
                for text in filled(line, language, &slots).with_context(wrong)? {
                    if seen.insert((*kind, text.clone())) {
                        sentences.push(Sentence { kind: *kind, language: language.clone(), text });
                    }
                }
            }
        }
    }
    Ok(sentences)
}

/// A pattern with its slots filled, evenly over all ways to fill them. `\n` is a line break.
fn filled(
    pattern: &str,
    language: &str,
    slots: &BTreeMap<(String, String), Vec<String>>,
) -> Result<Vec<String>> {
    let mut parts: Vec<(&str, &[String])> = Vec::new();
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|at| open + at) else { break };
        let name = &rest[open + 1..close];
        let values = slots.get(&(language.to_owned(), name.to_owned()));
        let Some(values) = values else { bail!("no slot named {name}") };
        parts.push((&rest[..open], values));
        rest = &rest[close + 1..];
    }
    let ways = parts.iter().fold(1_usize, |ways, (_, values)| ways.saturating_mul(values.len()));
    let count = ways.min(MOST_OF_A_PATTERN);
    let texts = (0..count).map(|at| {
        let mut way = at * ways / count;
        // A different value of the last slot for each sentence, not of the first alone.
        let mut text = String::new();
        let mut turn = at;
        for (before, values) in &parts {
            text.push_str(before);
            text.push_str(&values[(way + turn) % values.len()]);
            way /= values.len();
            turn /= 2;
        }
        text.push_str(rest);
        text.replace("\\n", "\n")
    });
    Ok(texts.collect())
}
