//! Replays recorded sessions under the user's configuration, or under others beside it: finds the records, loads the
//! policies, and plays several sessions at a time. Changes nothing.

mod labels;
mod policies;
pub mod rows;

use crate::play::{PlayMode, Player, ReplaySettings};
use crate::prices::{PriceError, Prices};
use policies::Policies;
use rawr_core::prompt::Prompts;
use rawr_core::units::Tokens;
use rawr_records::lines::{FileLines, ReadError};
use rawr_records::moment::{Moment, TimedMoment};
use rawr_records::profile::PROFILES;
use rawr_records::read::{LineCounts, read};
use rawr_settings::config::Home;
use rawr_settings::prompts::PromptSet;
use rawr_storage::parallel::{ProgressListener, on_each};
use serde::{Serialize, Serializer};
use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

pub use crate::prices::ReplayCost;
pub use labels::{LabelCounts, LabelError, LabelScore, LabeledEnd, Labels, NextKind, TurnEndLabel};

pub use crate::report::{
    ContextPoint, RecordedCompaction, ReplayOrder, ReplayTotals, ReplayedDecision, ReplayedTurn,
    SessionReport, TurnTexts,
};
pub use crate::tokens::ModelTokens;
pub use rawr_records::time::parse as parse_time;
pub use rawr_records::tokens::TokenCounts;

/// The folders in which agents keep the user's sessions. They need not exist.
fn default_places() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name);
    let home = std::env::home_dir();
    PROFILES.iter().flat_map(|agent| agent.session_folders(variable, home.as_deref())).collect()
}

/// What to replay, and how.
#[derive(Debug)]
pub struct ReplayRequest {
    /// The user's files.
    pub home: Home,
    /// Records and folders of records. Empty: the user's own sessions of all agents.
    pub paths: Vec<PathBuf>,
    /// What to decide by, one column each.
    pub policies: Vec<PolicySource>,
    /// Only records that were changed since.
    pub since: Option<SystemTime>,
    /// Only sessions whose model contains this text.
    pub model: Option<String>,
    /// What becomes of the context after a compaction.
    pub order: ReplayOrder,
    /// The context window in tokens, instead of the records'.
    pub window: Option<u64>,
    /// What is kept of each session, beside the sums.
    pub detail: ReplayDetail,
    /// The file of prices; `prices.toml` of the home, if it exists, unless named.
    pub prices: Option<PathBuf>,
}

impl ReplayRequest {
    /// The sums of these records, under the user's own configuration.
    pub fn new(home: Home, paths: Vec<PathBuf>) -> Self {
        Self {
            home,
            paths,
            policies: vec![PolicySource::Own],
            since: None,
            model: None,
            order: ReplayOrder::Second,
            window: None,
            detail: ReplayDetail::Sums,
            prices: None,
        }
    }
}

/// Where a policy comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicySource {
    /// The user's own files.
    Own,
    /// This file in place of the user's `rawr.toml`.
    File(PathBuf),
    /// A preset without any other key.
    Preset(&'static str),
    /// This text in place of the user's `rawr.toml`, under a name.
    Text { name: String, text: String },
}

impl fmt::Display for PolicySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("your configuration"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::Text { name, .. } => f.write_str(name),
        }
    }
}

/// What is kept of each session. Everything takes memory for as many requests as there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayDetail {
    /// No decisions and no context over time.
    Sums,
    /// The decisions and the turns.
    Decisions,
    /// These, with what was said in each turn.
    Texts,
    /// All.
    Whole,
}

/// One record under each policy.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedFile {
    /// The record.
    #[serde(serialize_with = "lossy")]
    pub file: PathBuf,
    /// One report for each policy, in their order.
    pub reports: Vec<SessionReport>,
    /// The sums of each report.
    #[serde(skip)]
    pub totals: Vec<ReplayTotals>,
    /// Why it was read only in part, or not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A file that holds no session of a known format.
#[derive(Debug, Serialize)]
pub struct FileWithoutSession {
    #[serde(serialize_with = "lossy")]
    pub file: PathBuf,
    /// What its lines were.
    pub lines: LineCounts,
}

/// Paths need not be valid text.
fn lossy<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// All records.
#[derive(Debug, Default)]
pub struct ReplayResult {
    /// In the order of their paths, without those that hold no session.
    pub files: Vec<ReplayedFile>,
    /// The sums for each policy.
    pub totals: Vec<ReplayTotals>,
    /// What the requests of each of these cost, where the user wrote down prices.
    pub costs: Vec<ReplayCost>,
    /// Files that hold no session of a known format.
    pub others: Vec<FileWithoutSession>,
    /// Whether the replay was stopped before the end.
    pub is_stopped: bool,
}

/// Why nothing was replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A path or a configuration cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A configuration is wrong.
    #[error("{name}: {message}; `rawr config check` shows where")]
    Configuration {
        /// The file, or the name of the configuration.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// The prices are wrong.
    #[error(transparent)]
    Prices(#[from] PriceError),
    /// There is nothing to replay.
    #[error("no recorded sessions in {0}; pass the path of a file or folder")]
    Nothing(String),
}

/// Replays. `progress` is called after each record with how many are done, of how many.
///
/// # Errors
///
/// [`ReplayError`] if there is nothing to replay. What is wrong in single records is reported with them.
pub fn replay(
    request: &ReplayRequest,
    stop: &AtomicBool,
    progress: ProgressListener<'_>,
) -> Result<ReplayResult, ReplayError> {
    let files = records(request)?;
    let policies = Policies::new(request)?;
    let prices = Prices::load(&request.home, request.prices.as_deref())?;
    let shipped = PromptSet::shipped();
    let prompts = shipped.prompts();
    let play = |file: &RecordFile| {
        let lines = FileLines::of(&file.path);
        play_lines(&file.path, lines, request, &policies, prompts, stop)
    };
    let instead = |file: &RecordFile| ReplayedFile {
        file: file.path.clone(),
        reports: Vec::new(),
        totals: Vec::new(),
        error: Some("the replay failed; please report this".to_owned()),
    };
    let mut found = on_each(&files, stop, progress, play, instead);
    found.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(summed(found, request, prices.as_ref(), stop))
}

fn summed(
    found: Vec<ReplayedFile>,
    request: &ReplayRequest,
    prices: Option<&Prices>,
    stop: &AtomicBool,
) -> ReplayResult {
    let mut result = ReplayResult {
        totals: vec![ReplayTotals::default(); request.policies.len()],
        is_stopped: stop.load(Ordering::Relaxed),
        ..ReplayResult::default()
    };
    let wanted = request.model.as_deref().unwrap_or_default().to_lowercase();
    for file in found {
        let first = file.reports.first();
        let lines = first.map(|first| first.lines).unwrap_or_default();
        if file.error.is_some() {
            result.files.push(file);
        } else if first.is_none_or(|first| first.format.is_none() || first.turns == 0) {
            result.others.push(FileWithoutSession { file: file.file, lines });
        } else if first.is_some_and(|it| {
            it.model.as_deref().unwrap_or_default().to_lowercase().contains(&wanted)
        }) {
            for (total, of_file) in result.totals.iter_mut().zip(&file.totals) {
                total.add(of_file);
            }
            result.files.push(file);
        }
    }
    if let Some(prices) = prices {
        let cost = |totals: &ReplayTotals| prices.cost(&totals.tokens, &totals.recorded_tokens);
        result.costs = result.totals.iter().map(cost).collect();
    }
    result
}

/// Replays one session from a stream, such as standard input.
///
/// # Errors
///
/// [`ReplayError`] if a configuration cannot be read.
pub fn replay_stream(
    request: &ReplayRequest,
    stop: &AtomicBool,
    name: &Path,
    bytes: Box<dyn io::Read>,
) -> Result<ReplayResult, ReplayError> {
    let policies = Policies::new(request)?;
    let prices = Prices::load(&request.home, request.prices.as_deref())?;
    let shipped = PromptSet::shipped();
    let prompts = shipped.prompts();
    let lines = Ok(Some(FileLines::new(bytes)));
    let file = play_lines(name, lines, request, &policies, prompts, stop);
    Ok(summed(vec![file], request, prices.as_ref(), stop))
}

struct RecordFile {
    path: PathBuf,
    size: u64,
}

/// The records to read, the largest first, so that the workers end together.
fn records(request: &ReplayRequest) -> Result<Vec<RecordFile>, ReplayError> {
    let is_default = request.paths.is_empty();
    let paths = if is_default { &default_places() } else { &request.paths };
    let mut files = Vec::new();
    for place in paths {
        let unreadable = |source| ReplayError::Unreadable { path: place.clone(), source };
        match place.metadata() {
            Ok(about) if about.is_dir() => walk(place, &mut files).map_err(unreadable)?,
            Ok(about) => files.push(RecordFile { path: place.clone(), size: about.len() }),
            Err(_) if is_default => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
    if let Some(since) = request.since {
        files.retain(|file| {
            let changed = file.path.metadata().and_then(|about| about.modified());
            changed.is_ok_and(|changed| changed >= since)
        });
    }
    if files.is_empty() {
        let names: Vec<_> = paths.iter().map(|place| place.display().to_string()).collect();
        return Err(ReplayError::Nothing(names.join(", ")));
    }
    files.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.path.cmp(&b.path)));
    // A file may be named twice, or be linked to.
    let mut known = HashSet::new();
    files.retain(|file| {
        known.insert(file.path.canonicalize().unwrap_or_else(|_| file.path.clone()))
    });
    Ok(files)
}

/// Symbolic links to folders are not followed, so that a walk ends. A folder that cannot be read is passed over.
fn walk(folder: &Path, files: &mut Vec<RecordFile>) -> io::Result<()> {
    for entry in folder.read_dir()? {
        let Ok(entry) = entry else { continue };
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&path, files).unwrap_or_default(),
            Ok(_) if is_record(&path) => {
                let size = path.metadata().map_or(0, |about| about.len());
                files.push(RecordFile { path, size });
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn is_record(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")
}

/// So many moments may come before the first request names the model.
const BEFORE_THE_MODEL: usize = 1000;

fn play_lines(
    path: &Path,
    lines: Result<Option<FileLines>, ReadError>,
    request: &ReplayRequest,
    policies: &Policies<'_>,
    prompts: &Prompts,
    stop: &AtomicBool,
) -> ReplayedFile {
    let settings = ReplaySettings {
        mode: PlayMode::Record,
        order: request.order,
        window: request.window.map(Tokens),
        keeps_texts: request.detail == ReplayDetail::Texts,
    };
    let mut players: Vec<Player<'_>> = Vec::new();
    let mut waiting: Vec<TimedMoment> = Vec::new();
    let (mut model, mut folder) = (None, None);
    let begin = |waiting: &mut Vec<TimedMoment>,
                 model: Option<&str>,
                 folder: Option<&Path>|
     -> Vec<Player<'_>> {
        let mut players: Vec<_> = (policies.of(model, folder).iter())
            .map(|policy| Player::new(policy, prompts, settings))
            .collect();
        for moment in waiting.drain(..) {
            players.iter_mut().for_each(|player| player.play(moment.clone()));
        }
        players
    };
    let mut told = |moment: TimedMoment| {
        if let Moment::Model(name) = &moment.what {
            model.get_or_insert_with(|| name.clone());
        }
        if let Moment::Opened(host) = &moment.what {
            folder.get_or_insert_with(|| PathBuf::from(&host.cwd));
        }
        if players.is_empty() {
            let is_known = matches!(moment.what, Moment::Usage { .. });
            waiting.push(moment);
            if is_known || waiting.len() >= BEFORE_THE_MODEL {
                players = begin(&mut waiting, model.as_deref(), folder.as_deref());
            }
        } else if let Some((last, others)) = players.split_last_mut() {
            others.iter_mut().for_each(|player| player.play(moment.clone()));
            last.play(moment);
        }
    };
    let done = match lines {
        Ok(Some(mut lines)) => read(&mut lines, stop, &mut told),
        Ok(None) => Err(io::Error::from(io::ErrorKind::NotFound).into()),
        Err(error) => Err(error),
    };
    if players.is_empty() {
        players = begin(&mut waiting, model.as_deref(), folder.as_deref());
    }
    let mut reports: Vec<_> = players.into_iter().map(Player::finish).collect();
    let error = match done {
        Ok((format, lines)) => {
            for report in &mut reports {
                (report.format, report.lines) = (format, lines);
            }
            None
        }
        Err(error) => Some(error.to_string()),
    };
    let totals = reports.iter().map(ReplayTotals::of).collect();
    for report in &mut reports {
        if request.detail != ReplayDetail::Whole {
            report.context = Vec::new();
        }
        if request.detail == ReplayDetail::Sums {
            report.decisions = Vec::new();
            report.ended = Vec::new();
        }
    }
    ReplayedFile { file: path.to_owned(), reports, totals, error }
}
