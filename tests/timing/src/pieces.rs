//! Conversation pieces that the project wrote: what a person asked, what the agent said, what the person said next.

use crate::vectors::{LabeledTurn, PhaseEnd, TurnFeatures};
use anyhow::{Context as _, Result, bail};
use rawr_core::words::next;
use rawr_core::words::phase::TurnFacts;
use serde::Deserialize;

#[derive(Deserialize)]
struct Piece {
    asked: String,
    said: String,
    next: String,
    end: String,
    to: String,
    done: bool,
    announces: bool,
}

/// All pieces of a file, one JSON object a line.
pub fn read(text: &str) -> Result<Vec<LabeledTurn>> {
    let numbered = text.lines().enumerate();
    numbered
        .map(|(at, line)| {
            let piece = serde_json::from_str(line).with_context(|| format!("line {}", at + 1))?;
            turn(at, &piece).with_context(|| format!("line {}", at + 1))
        })
        .collect()
}

fn turn(at: usize, piece: &Piece) -> Result<LabeledTurn> {
    Ok(LabeledTurn {
        is_written: true,
        is_of_host: false,
        // Every piece is a session of its own.
        session: u32::try_from(at)?,
        turn: 1,
        end: match piece.end.as_str() {
            "yes" => PhaseEnd::Yes,
            "weak" => PhaseEnd::Weak,
            "no" => PhaseEnd::No,
            other => bail!("an unknown end: {other}"),
        },
        next: next::HEADS
            .iter()
            .position(|head| piece.to == *head)
            .with_context(|| format!("an unknown label: {}", piece.to))?,
        says_done: piece.done,
        announces: piece.announces,
        facts: TurnFacts::default(),
        features: TurnFeatures::of(&[&piece.asked], &piece.said, &piece.next),
    })
}
