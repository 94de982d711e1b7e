//! What a configuration should reach, in a person's words: "at most 1 per hour, at a commit or a finished plan step".

use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::excerpt::one_line;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// How often and where compactions should come.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TuneTarget {
    /// At most so many in an hour of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_per_hour: Option<f64>,
    /// Only at one of these boundaries; empty: wherever the configuration allows it.
    #[serde(serialize_with = "names")]
    pub boundaries: Boundaries,
}

fn names<S: Serializer>(boundaries: &Boundaries, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(boundaries.iter().map(Boundary::name))
}

/// Why a text is no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The text asks for nothing.
    #[error(
        "a target says how often, where, or both: \"at most 1 per hour, at a commit or a finished plan step\""
    )]
    Empty,
    /// The part about how often is not understood.
    #[error("`{0}` is no rate; write for example \"at most 1 per hour\" (of work)")]
    Rate(String),
    /// A place is not known.
    #[error("`{place}` is no place to compact at; known are: {}", known_places())]
    Place {
        /// As written.
        place: String,
    },
}

/// The first name of each is shown. The names of the configuration work, too.
const PLACES: [(Boundary, &[&str]); 13] = [
    (Boundary::Commit, &["commit"]),
    (Boundary::Pushed, &["push"]),
    (Boundary::Merged, &["merge"]),
    (Boundary::BranchChanged, &["change of branch", "branch change"]),
    (Boundary::TestsGreen, &["passing tests", "green tests", "tests pass"]),
    (Boundary::PhaseEnded, &["marked end of a phase", "end of a phase", "mark"]),
    (Boundary::PlanCheckpoint, &["finished plan step", "plan step", "finished step"]),
    (Boundary::PlanUpdate, &["change of plan"]),
    (Boundary::PrCheckpoint, &["pull request", "pr"]),
    (Boundary::AgentDone, &["finished work", "end of work"]),
    (Boundary::TopicShift, &["change of topic"]),
    (Boundary::ConcludingThought, &["conclusion"]),
    (Boundary::TurnComplete, &["end of a turn", "turn"]),
];

fn known_places() -> String {
    let names = PLACES.iter().filter_map(|(_, names)| names.first().copied());
    names.collect::<Vec<_>>().join(", ")
}

fn place(text: &str) -> Option<Boundary> {
    let named = |(boundary, names): &(Boundary, &[&str])| {
        (boundary.name() == text || names.contains(&text)).then_some(*boundary)
    };
    PLACES.iter().find_map(named)
}

const MOST: [&str; 8] = ["≤", "<=", "<", "at most", "no more than", "less than", "under", "max"];
const NUMBERS: [(&str, f64); 4] = [("once", 1.0), ("one", 1.0), ("two", 2.0), ("three", 3.0)];
/// Longest first.
const PER_HOUR: [&str; 7] =
    ["in an hour of work", "per hour of work", "in an hour", "per hour", "an hour", "/ h", "/h"];

fn rate(text: &str) -> Option<f64> {
    let after_most = MOST.iter().find_map(|most| text.strip_prefix(most)).unwrap_or(text);
    let number = PER_HOUR.iter().find_map(|unit| after_most.strip_suffix(unit))?.trim();
    let number = number.trim_end_matches("compactions").trim_end_matches("compaction").trim();
    let word = NUMBERS.iter().find(|(word, _)| *word == number).map(|(_, value)| *value);
    let rate = word.or_else(|| number.parse().ok())?;
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

impl FromStr for TuneTarget {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let text = one_line(&text.to_lowercase());
        // "at most" is no place.
        let at = text.match_indices("at ").map(|(at, _)| at).find(|&at| {
            let begins_a_word = at == 0 || text[..at].ends_with([' ', ',', ';']);
            begins_a_word && !text[at..].starts_with("at most")
        });
        let (often, places) = text.split_at(at.unwrap_or(text.len()));
        let often = often.trim_matches([' ', ',', ';', '.']);
        let places = places.strip_prefix("at ").unwrap_or_default().trim_end_matches('.');
        let most_per_hour = match often {
            "" => None,
            often => Some(rate(often).ok_or_else(|| TargetError::Rate(often.to_owned()))?),
        };
        let mut boundaries = Boundaries::NONE;
        let lists = places.split([',', ';']).flat_map(|part| part.split(" or "));
        for written in lists.map(str::trim).filter(|place| !place.is_empty()) {
            let written = written.trim_start_matches("or ").trim_start_matches("at ");
            let bare = ["a ", "an ", "the "].iter().find_map(|the| written.strip_prefix(the));
            let bare = bare.unwrap_or(written);
            let known = place(bare).ok_or_else(|| TargetError::Place { place: bare.to_owned() })?;
            boundaries = boundaries.or(Boundaries::of(&[known]));
        }
        if most_per_hour.is_none() && boundaries.is_empty() {
            return Err(TargetError::Empty);
        }
        Ok(Self { most_per_hour, boundaries })
    }
}

impl fmt::Display for TuneTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rate) = self.most_per_hour {
            write!(f, "at most {rate} in an hour of work")?;
        }
        if !self.boundaries.is_empty() {
            let names: Vec<_> = self.boundaries.iter().map(Boundary::name).collect();
            let comma = if self.most_per_hour.is_some() { ", " } else { "" };
            write!(f, "{comma}at {}", names.join(" or "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, TargetError> {
        TuneTarget::from_str(text).map(|target| target.to_string())
    }

    #[test]
    fn targets_are_read_as_people_write_them() {
        for (text, target) in [
            (
                "≤1 per hour, at a commit or a finished plan step",
                "at most 1 in an hour of work, at commit or plan_checkpoint",
            ),
            ("At most 0.5 per hour", "at most 0.5 in an hour of work"),
            ("<= 2/h", "at most 2 in an hour of work"),
            (
                "once an hour at a pull request, a push, or passing tests",
                "at most 1 in an hour of work, at pushed or tests_green or pr_checkpoint",
            ),
            ("no more than two compactions in an hour of work", "at most 2 in an hour of work"),
            ("at plan_update", "at plan_update"),
            ("at the end of a turn.", "at turn_complete"),
        ] {
            assert_eq!(read(text), Ok(target.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert_eq!(read(" "), Err(TargetError::Empty));
        for text in ["1 per day", "often", "-1 per hour", "0 per hour", "inf per hour"] {
            assert_eq!(read(text), Err(TargetError::Rate(text.to_owned())));
        }
        let error = read("≤1 per hour, at lunch").unwrap_err().to_string();
        assert!(error.starts_with("`lunch` is no place to compact at; known are: commit, push,"));
    }

    #[test]
    fn every_boundary_is_a_place() {
        for boundary in Boundary::ALL {
            assert_eq!(place(boundary.name()), Some(boundary));
            assert!(PLACES.iter().any(|(known, _)| *known == boundary));
        }
    }
}
