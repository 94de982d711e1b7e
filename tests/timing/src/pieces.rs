//! Conversation pieces that the project wrote: what a person asked, what the agent said, what the person said next.

use crate::vectors::{CLAIM_STEPS, Hashes, LabeledTurn, PhaseEnd};
use anyhow::{Context as _, Result, bail};
use rawr_core::words::phase::TurnFacts;
use rawr_core::words::{WorkAtHand, claim, next};
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
    let work = WorkAtHand::new(&[&piece.asked], &piece.said);
    let hashes =
        |log_odds| Hashes::from(&next::features(&piece.next, &work.clone().with_claim(log_odds)));
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
        claim: Hashes::from(&claim::features(&piece.said)),
        message: Hashes { traits: Vec::new(), ..hashes(0.0) },
        topic: next::topic(&piece.next, &work),
        relation: CLAIM_STEPS.map(|step| hashes(step).traits),
    })
}
