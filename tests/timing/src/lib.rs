//! Trains the classifiers of `rawr_core::words` and prints what they would start. README.md says how to use it.

pub mod figures;
pub mod learn;
pub mod pieces;
pub mod sentences;
pub mod sessions;
pub mod table;
pub mod vectors;

use anyhow::{Context as _, Result, bail};
use sentences::Sentence;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use vectors::LabeledTurn;

const USAGE: &str = "usage: rawr-timing train | figures | turns | vectors SESSIONS LABELS";

pub fn run(args: &[&str]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match args {
        ["vectors", sessions, labels] => {
            let mut turns = sessions::turns(Path::new(sessions), Path::new(labels))?;
            let (pieces, sentences) = written()?;
            let pieces =
                pieces.into_iter().flat_map(|piece| [piece.features.claim, piece.features.message]);
            let messages = pieces.chain(sentences.iter().map(Sentence::hashes));
            let known = messages.flat_map(|message| message.texts).collect();
            vectors::without_rare(&mut turns, &known);
            let bytes = vectors::write(&turns);
            writeln!(out, "{} turns, {} bytes", turns.len(), bytes.len())?;
            fs::write(folder().join("turns.bin"), bytes)?;
        }
        ["figures"] => {
            let data = data()?;
            let told = figures::held_out(&data);
            let table = |name: &str, belongs: &dyn Fn(&LabeledTurn) -> bool| {
                let (turns, told): (Vec<_>, Vec<_>) = (data.turns.iter().zip(&told))
                    .filter(|(turn, _)| belongs(turn))
                    .map(|(turn, told)| (turn.clone(), *told))
                    .unzip();
                format!(
                    "{} turn ends of {name}, each project held out:\n\n{}\n",
                    turns.len(),
                    figures::table(&turns, &told)
                )
            };
            write!(out, "{}", table("all sessions", &|_| true))?;
            write!(out, "{}", table("sessions of hosts", &|turn| turn.is_of_host))?;
            write!(out, "{}", table("chats", &|turn| !turn.is_of_host))?;
            let languages: BTreeSet<_> = data.projects.values().map(|of| &of.language).collect();
            for language in languages {
                let belongs = |turn: &LabeledTurn| {
                    turn.is_of_host && data.projects[&turn.session].language == *language
                };
                let (turns, told): (Vec<_>, Vec<_>) = (data.turns.iter().zip(&told))
                    .filter(|(turn, _)| belongs(turn))
                    .map(|(turn, told)| (turn.clone(), *told))
                    .unzip();
                let curve = figures::curve(&turns, &told);
                writeln!(
                    out,
                    "{} of hosts in {language}, each project held out:\n\n{curve}",
                    turns.len()
                )?;
            }
            let judgments = fs::read_to_string(folder().join("judgments.txt"))?;
            write!(out, "{}", figures::with_a_judge(&data.turns, &told, &judgments)?)?;
        }
        ["turns"] => {
            let data = data()?;
            for (turn, told) in data.turns.iter().zip(figures::held_out(&data)) {
                let [done, announces] = told.claim;
                let [new, close, same] = told.next;
                writeln!(
                    out,
                    "{:08x}:t{} done {done:.3} announces {announces:.3} new {new:.3} close {close:.3} same {same:.3} ended {:.3}",
                    turn.session, turn.turn, told.phase
                )?;
            }
        }
        ["train"] => {
            for (path, content) in weights()? {
                fs::write(&path, content)
                    .with_context(|| format!("failed to write {}", path.display()))?;
            }
        }
        _ => bail!(USAGE),
    }
    Ok(())
}

/// The folder of the data.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// What the models learn from.
pub struct Data {
    /// Turn ends of real sessions.
    pub turns: Vec<LabeledTurn>,
    /// Conversation pieces that the project wrote.
    pub pieces: Vec<LabeledTurn>,
    /// Single sentences that the project wrote.
    pub sentences: Vec<Sentence>,
    /// The repository and the language of each real session, by the first digits of the session's id.
    pub projects: Projects,
}

/// The repository that a session is of, and the language that its person writes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub name: String,
    pub language: String,
    /// Whether its readers took fewer messages for an announcement of another phase than the others.
    pub is_narrow: bool,
}

/// By the first eight digits of a session's id.
pub type Projects = BTreeMap<u32, Project>;

/// The committed data.
pub fn data() -> Result<Data> {
    let turns = vectors::read(&fs::read(folder().join("turns.bin"))?)?;
    let (pieces, sentences) = written()?;
    let projects = projects(&fs::read_to_string(folder().join("projects.txt"))?)?;
    Ok(Data { turns, pieces, sentences, projects })
}

fn projects(lines: &str) -> Result<Projects> {
    let project = |line: &str| {
        let mut parts = line.split(' ');
        let mut part = || parts.next().context("a session, its project and its language");
        let (session, name, language) = (part()?, part()?, part()?);
        let is_narrow = parts.next() == Some("narrow");
        let project = Project { name: name.to_owned(), language: language.to_owned(), is_narrow };
        Ok((u32::from_str_radix(session, 16)?, project))
    };
    lines.lines().map(project).collect()
}

/// What the project wrote.
fn written() -> Result<(Vec<LabeledTurn>, Vec<Sentence>)> {
    let pieces = pieces::read(&fs::read_to_string(folder().join("pieces.jsonl"))?)?;
    let mut sentences = Vec::new();
    for name in ["agents.txt", "people.txt"] {
        sentences.extend(sentences::expand(&fs::read_to_string(folder().join(name))?)?);
    }
    sentences.extend(sentences::messages(&fs::read_to_string(folder().join("messages.jsonl"))?)?);
    Ok((pieces, sentences))
}

/// The generated files of the core, with their content.
pub fn weights() -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let data = data()?;
    let turns: Vec<_> = data.turns.iter().chain(&data.pieces).collect();
    Ok(table::files(&figures::train(&turns, &data.sentences, &data.projects)))
}
