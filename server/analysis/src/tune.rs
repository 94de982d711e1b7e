//! Searches for a configuration that reaches a target on recorded sessions: replays each candidate beside the user's own, all in
//! one pass. Proposes a change as a text and never makes it.

mod change;
mod target;

pub use change::ChangedKey;
pub use target::{TargetError, TuneTarget};

use crate::replay::{PolicySource, ReplayError, ReplayRequest, ReplayTotals, replay};
use change::Change;
use rawr_core::boundary::Boundaries;
use rawr_core::policy::{Policy, Tier};
use rawr_settings::config::ConfigSources;
use rawr_storage::parallel::ProgressListener;
use serde::Serialize;
use similar::TextDiff;
use std::cmp::Ordering;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use toml_edit::DocumentMut;

/// When early, ready and asap begin: percent left and tokens used. The tokens lie where the percentages do in a window of
/// 200,000 tokens or above.
const PRESSURES: [[(u8, u64); 3]; 4] = [
    [(75, 80_000), (65, 120_000), (50, 160_000)],
    [(60, 100_000), (50, 150_000), (35, 200_000)],
    [(50, 150_000), (40, 200_000), (30, 250_000)],
    [(40, 200_000), (32, 250_000), (25, 300_000)],
];
const COOLDOWNS: [u32; 3] = [1, 4, 10];
const CONFIRM_PERCENTS: [u8; 3] = [50, 60, 85];

/// A configuration of the search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TunedConfiguration {
    /// What it changes; nothing in the user's own.
    pub changes: Vec<ChangedKey>,
    /// Whether the target is reached.
    pub reaches_target: bool,
    /// The sums of its replay.
    pub totals: ReplayTotals,
    /// The text of the whole file.
    #[serde(skip)]
    text: String,
}

impl TunedConfiguration {
    /// What a compaction should have come before: the host's own, and emergencies.
    pub fn late(&self) -> u32 {
        let emergencies = self.totals.fires_by_tier.get(Tier::Emergency.name());
        self.totals.host_compactions_unforeseen + emergencies.copied().unwrap_or_default()
    }

    /// The best one first. Of two that miss the target, the one that is nearer to it.
    fn by_rank(&self, other: &Self) -> Ordering {
        let rate = |of: &Self| {
            let excess = of.totals.fires_per_hour().filter(|_| !of.reaches_target);
            excess.unwrap_or_default()
        };
        let counts = |of: &Self| (of.late(), of.changes.len(), of.totals.fires);
        (other.reaches_target.cmp(&self.reaches_target))
            .then(rate(self).total_cmp(&rate(other)))
            .then_with(|| counts(self).cmp(&counts(other)))
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TuneResult {
    pub target: TuneTarget,
    /// The file that the change is for.
    pub file: PathBuf,
    /// How many configurations were replayed, the user's own among them.
    pub tried: usize,
    /// The user's own.
    pub own: TunedConfiguration,
    /// The best one, or the one nearest to the target; absent where the user's own is that.
    pub proposal: Option<TunedConfiguration>,
    /// The change as a unified diff.
    pub diff: Option<String>,
    /// Whether the search was stopped before all sessions were replayed.
    pub is_stopped: bool,
}

impl TuneResult {
    /// The proposal, or the user's own configuration where that is the best.
    pub fn best(&self) -> &TunedConfiguration {
        self.proposal.as_ref().unwrap_or(&self.own)
    }
}

/// Why nothing was searched.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The sessions cannot be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// No session fits.
    #[error("no session was replayed; `rawr replay` with the same paths shows what they hold")]
    NoSession,
    /// The configuration cannot be changed.
    #[error("{}: {message}; `rawr config check` shows what is wrong", path.display())]
    Configuration {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// Searches. `request.policies` names one configuration, the one to change: the user's own, or a file.
///
/// # Errors
///
/// [`TuneError`] if there is nothing to replay, or the configuration cannot be read.
pub fn tune(
    mut request: ReplayRequest,
    target: TuneTarget,
    stop: &AtomicBool,
    progress: ProgressListener<'_>,
) -> Result<TuneResult, TuneError> {
    let (file, may_be_missing) = match request.policies.first() {
        Some(PolicySource::File(path)) => (path.clone(), false),
        _ => (request.home.rawr_toml(), true),
    };
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if may_be_missing && error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(ReplayError::Unreadable { path: file, source }.into()),
    };
    let wrong = |message: String| TuneError::Configuration { path: file.clone(), message };
    let unsaved = [(request.home.rawr_toml(), text.clone())].into();
    let sources = ConfigSources { unsaved: Some(&unsaved), ..ConfigSources::at(&request.home) };
    let policy = sources.load().0.policy;
    let candidates = candidates(&text, &policy, target.boundaries).map_err(wrong)?;
    let of_text = |(at, it): (usize, &Candidate)| PolicySource::Text {
        name: format!("candidate {at}"),
        text: it.text.clone(),
    };
    request.policies = candidates.iter().enumerate().map(of_text).collect();
    let replayed = replay(&request, stop, progress)?;
    let mut tuned: Vec<_> = (candidates.into_iter().zip(replayed.totals))
        .map(|(candidate, totals)| candidate.replayed(totals, target))
        .collect();
    let tried = tuned.len();
    let own = tuned.remove(0);
    if own.totals.sessions == 0 && !replayed.is_stopped {
        return Err(TuneError::NoSession);
    }
    let best = tuned.into_iter().min_by(TunedConfiguration::by_rank);
    let best = best.filter(|best| best.by_rank(&own).is_lt());
    let diff = best.as_ref().map(|best| diff(&file, &own.text, &best.text));
    Ok(TuneResult {
        target,
        file,
        tried,
        own,
        proposal: best,
        diff,
        is_stopped: replayed.is_stopped,
    })
}

#[cfg(test)]
mod tests;

struct Candidate {
    changes: Vec<ChangedKey>,
    text: String,
    /// Compactions come only where the target wants them.
    is_at_places: bool,
}

impl Candidate {
    fn replayed(self, totals: ReplayTotals, target: TuneTarget) -> TunedConfiguration {
        let Self { changes, text, is_at_places } = self;
        let rate = totals.fires_per_hour().unwrap_or_default();
        let is_rare = target.most_per_hour.is_none_or(|most| rate <= most);
        TunedConfiguration { changes, reaches_target: is_at_places && is_rare, totals, text }
    }
}

/// The user's own configuration first.
fn candidates(text: &str, policy: &Policy, places: Boundaries) -> Result<Vec<Candidate>, String> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        error.message().lines().collect::<Vec<_>>().join(" ")
    })?;
    let is_at_places = change::is_only_at(policy, places);
    let mut found = vec![Candidate { changes: Vec::new(), text: text.to_owned(), is_at_places }];
    let kept = || std::iter::once(None);
    let other = |change: Change| (!change.is_in(policy)).then_some(Some(change));
    let confirms = change::is_confirmed_by_message(policy);
    let confirm_percents = CONFIRM_PERCENTS.iter().filter(|_| confirms);
    let confirm_percents: Vec<_> = kept()
        .chain(confirm_percents.filter_map(|percent| other(Change::ConfirmPercent(*percent))))
        .collect();
    let cooldowns = COOLDOWNS.iter().filter_map(|turns| other(Change::CooldownTurns(*turns)));
    let cooldowns: Vec<_> = kept().chain(cooldowns).collect();
    let places = (!is_at_places).then_some(Change::Boundaries(places));
    for pressure in kept().chain(PRESSURES.iter().filter_map(|of| other(Change::Pressure(*of)))) {
        for cooldown in &cooldowns {
            for confirm in &confirm_percents {
                let made = [places, pressure, *cooldown, *confirm].into_iter().flatten();
                let mut document = document.clone();
                let mut changes = Vec::new();
                for change in made {
                    changes.extend(change.make(&mut document)?);
                }
                if !changes.is_empty() {
                    let text = document.to_string();
                    found.push(Candidate { changes, text, is_at_places: true });
                }
            }
        }
    }
    Ok(found)
}

fn diff(file: &Path, before: &str, after: &str) -> String {
    let name = file.display().to_string();
    TextDiff::from_lines(before, after).unified_diff().header(&name, &name).to_string()
}
