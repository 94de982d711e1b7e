//! Trains the classifiers of `rawr_core::words` and prints what they would start. README.md says how to use it.

pub mod figures;
pub mod learn;
pub mod sentences;
pub mod sessions;
pub mod table;
pub mod vectors;

use anyhow::{Context as _, Result, bail};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const USAGE: &str = "usage: rawr-timing train | figures | turns | vectors SESSIONS LABELS";

pub fn run(args: &[&str]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match args {
        ["vectors", sessions, labels] => {
            let turns = sessions::turns(Path::new(sessions), Path::new(labels))?;
            let bytes = vectors::write(&turns);
            writeln!(out, "{} turns, {} bytes", turns.len(), bytes.len())?;
            fs::write(folder().join("turns.bin"), bytes)?;
        }
        ["figures"] => {
            let (turns, sentences) = data()?;
            let predictions = figures::held_out(&turns, &sentences);
            write!(out, "{}", figures::table(&turns, &predictions))?;
        }
        ["turns"] => {
            let (turns, sentences) = data()?;
            for (turn, told) in turns.iter().zip(figures::held_out(&turns, &sentences)) {
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

/// The committed turns and sentences.
pub fn data() -> Result<(Vec<vectors::LabeledTurn>, Vec<sentences::Sentence>)> {
    let turns = vectors::read(&fs::read(folder().join("turns.bin"))?)?;
    let mut written = Vec::new();
    for name in ["agents.txt", "people.txt"] {
        written.extend(sentences::expand(&fs::read_to_string(folder().join(name))?)?);
    }
    Ok((turns, written))
}

/// The generated files of the core, with their content.
pub fn weights() -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let (turns, sentences) = data()?;
    let turns: Vec<_> = turns.iter().collect();
    Ok(table::files(&figures::train(&turns, &sentences)))
}
