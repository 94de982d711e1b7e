//! Labels of turn ends: where a person says that work ended, and how a configuration compares with that. A label holds no
//! text of the session.

use super::{ReplayedDecision, ReplayedFile, SessionReport};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Whether work ended with a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEndLabel {
    /// A piece of work is complete.
    Yes,
    /// A part of it is; a compaction is acceptable.
    Weak,
    /// The work goes on.
    No,
}

/// What the next message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextKind {
    /// New work.
    New,
    /// Closes the work: thanks, commit, push.
    Close,
    /// Goes on with the same work.
    Same,
}

/// A line of a file of labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabeledEnd {
    /// The host's id of the session.
    pub session: String,
    /// The turn, as `rawr replay` counts it.
    pub turn: u32,
    /// Whether work ended with it.
    pub end: TurnEndLabel,
    /// What came next, if a message did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<NextKind>,
}

/// Why labels could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// The system refused.
    #[error("failed to read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line is no label.
    #[error(
        "{} line {line}: {source}; a label is {{\"session\":…,\"turn\":…,\"end\":\"yes\"}}",
        path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
}

/// Labels by session and turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels(BTreeMap<(String, u32), LabeledEnd>);

impl Labels {
    /// Reads a file of labels. The newest label of a turn counts.
    ///
    /// # Errors
    ///
    /// [`LabelError`] if the file cannot be read, or a line is no label.
    pub fn read(path: &Path) -> Result<Self, LabelError> {
        let text = fs::read_to_string(path)
            .map_err(|source| LabelError::Io { path: path.to_owned(), source })?;
        let mut labels = Self::default();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let label: LabeledEnd = serde_json::from_str(line).map_err(|source| {
                LabelError::Line { path: path.to_owned(), line: at + 1, source }
            })?;
            labels.0.insert((label.session.clone(), label.turn), label);
        }
        Ok(labels)
    }

    /// The label of a turn.
    pub fn of(&self, session: &str, turn: u32) -> Option<&LabeledEnd> {
        self.0.get(&(session.to_owned(), turn))
    }

    /// How the configurations of a replay do by these labels.
    pub fn score<'f>(
        &self,
        files: impl IntoIterator<Item = &'f ReplayedFile>,
        configurations: usize,
    ) -> LabelScore {
        let mut score =
            LabelScore { counts: vec![LabelCounts::default(); configurations], labels: 0 };
        let mut known = BTreeSet::new();
        for file in files {
            for (counts, report) in score.counts.iter_mut().zip(&file.reports) {
                self.count(report, counts, &mut known);
            }
        }
        score.labels = known.len();
        score
    }

    fn count<'r>(
        &self,
        report: &'r SessionReport,
        counts: &mut LabelCounts,
        known: &mut BTreeSet<(&'r str, u32)>,
    ) {
        // The last compaction of each turn: one inside it comes before its end. One that waits until a closing message is carried
        // out was decided with that message.
        let begins = |decision: &&ReplayedDecision| {
            decision.fires() && !decision.after_closing || decision.confirms
        };
        let fires = report.decisions.iter().filter(begins);
        let begun: BTreeMap<_, _> = fires.map(|decision| (decision.turn, decision.at)).collect();
        for turn in &report.ended {
            let Some(label) = self.of(&report.session, turn.turn) else { continue };
            known.insert((&report.session, turn.turn));
            let begins = begun.get(&turn.turn).is_some_and(|at| *at >= turn.ended_at);
            let (all, begun) = match label.end {
                TurnEndLabel::Yes => (&mut counts.yes, &mut counts.begun_at_yes),
                TurnEndLabel::Weak => (&mut counts.weak, &mut counts.begun_at_weak),
                TurnEndLabel::No => (&mut counts.no, &mut counts.begun_at_no),
            };
            *all += 1;
            *begun += u32::from(begins);
        }
    }
}

/// How configurations do by labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelScore {
    /// Labels whose turn is in the replayed sessions.
    pub labels: usize,
    /// One for each configuration.
    pub counts: Vec<LabelCounts>,
}

/// How many labeled turn ends there are, and at how many of them a compaction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelCounts {
    /// True ends.
    pub yes: u32,
    /// Acceptable ones.
    pub weak: u32,
    /// Work goes on.
    pub no: u32,
    /// Compactions begun at true ends.
    pub begun_at_yes: u32,
    /// At acceptable ones.
    pub begun_at_weak: u32,
    /// Where work goes on.
    pub begun_at_no: u32,
}

impl LabelCounts {
    /// Compactions at labeled turn ends.
    pub fn begun(&self) -> u32 {
        self.begun_at_yes + self.begun_at_weak + self.begun_at_no
    }
}
