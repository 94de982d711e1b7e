//! `rawr/replay/run`: replays recorded sessions as `rawr replay` does. Changes nothing.

mod shown;

use super::large_answer::{AnswerError, SerializedResult};
use super::long_work::WorkLabels;
use super::{ClientSession, Module, on_serialized};
use crate::wire::{RpcError, ToCore};
use jsonrpsee::core::RegisterMethodError;
use rawr_analysis::replay::{
    PolicySource, ReplayDetail, ReplayError, ReplayOrder, ReplayRequest, replay,
};
use rawr_protocol::framing::BODY_LIMIT;
use rawr_protocol::methods::ReplayRun;
use rawr_protocol::{
    ErrorCode, MOST_REPLAY_CONFIGURATIONS, ReplayConfiguration, ReplayDetailName, ReplayRunParams,
    ReplayRunResult,
};
use rawr_settings::config::Home;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const LABELS: WorkLabels = WorkLabels {
    title: "Replaying sessions",
    things: "sessions",
    busy: "a replay is already running",
};

/// The largest result. A frame holds twice as much, but it must also fit among the answers that a slow client has not
/// read yet, which are limited as well.
const MOST_BYTES: usize = BODY_LIMIT as usize / 2;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_serialized::<ReplayRun, _>(module, run)
}

async fn run(
    session: Arc<ClientSession>,
    params: ReplayRunParams,
) -> Result<SerializedResult<ReplayRunResult>, RpcError> {
    let token = params.work_done_token.clone();
    let home = session.workspace()?.ask(|workspace| workspace.home().clone()).await;
    let request = request(home, params)?;
    let work = move |stop: &AtomicBool, progress: &(dyn Fn(usize, usize) + Sync)| {
        let result = replay(&request, stop, progress).map_err(|error| refusal(&error, &request))?;
        SerializedResult::within(MOST_BYTES, &shown::result(result, &request)).map_err(unsent)
    };
    session.replays.run(&LABELS, (&session.outbox, token), work).await
}

fn request(home: Home, params: ReplayRunParams) -> Result<ReplayRequest, RpcError> {
    let paths = params.paths.into_iter().map(|path| absolute("paths", path));
    let paths: Vec<_> = paths.collect::<Result<_, _>>()?;
    if params.window == Some(0) {
        return Err(RpcError::bad_field("window", "a window has at least 1 token"));
    }
    Ok(ReplayRequest {
        home,
        paths,
        policies: policies(params.configurations)?,
        since: params.since.map(since).transpose()?,
        model: params.model,
        order: params.order.map_or(ReplayOrder::Second, ToCore::to_core),
        window: params.window,
        detail: match params.detail {
            None | Some(ReplayDetailName::Sums) => ReplayDetail::Sums,
            Some(ReplayDetailName::Decisions) => ReplayDetail::Decisions,
            Some(ReplayDetailName::Whole) => ReplayDetail::Whole,
        },
        prices: None,
    })
}

/// The sidecar's own folder means nothing to a client.
fn absolute(field: &str, path: String) -> Result<PathBuf, RpcError> {
    let path = PathBuf::from(path);
    if path.is_absolute() {
        return Ok(path);
    }
    Err(RpcError::bad_field(field, format!("`{}` is not an absolute path", path.display())))
}

fn policies(configurations: Vec<ReplayConfiguration>) -> Result<Vec<PolicySource>, RpcError> {
    if configurations.len() > MOST_REPLAY_CONFIGURATIONS {
        let found = configurations.len();
        let message = format!("{found} configurations, and at most {MOST_REPLAY_CONFIGURATIONS}");
        return Err(RpcError::bad_field("configurations", message));
    }
    if configurations.is_empty() {
        return Ok(vec![PolicySource::Own]);
    }
    let source = |configuration| {
        Ok(match configuration {
            ReplayConfiguration::Own => PolicySource::Own,
            ReplayConfiguration::File { file } => {
                PolicySource::File(absolute("configurations", file)?)
            }
            ReplayConfiguration::Preset { preset } => PolicySource::Preset(preset.to_core().name()),
        })
    };
    configurations.into_iter().map(source).collect()
}

fn since(at_ms: i64) -> Result<SystemTime, RpcError> {
    let at = u64::try_from(at_ms).ok().map(Duration::from_millis);
    at.and_then(|at| UNIX_EPOCH.checked_add(at)).ok_or_else(|| {
        RpcError::bad_field("since", format!("{at_ms} is no time in Unix milliseconds"))
    })
}

fn refusal(error: &ReplayError, request: &ReplayRequest) -> RpcError {
    let is_configuration = |path| request.policies.contains(&PolicySource::File(path));
    let (field, file) = match error {
        ReplayError::Unreadable { path, .. } if is_configuration(path.clone()) => {
            ("configurations", Some(path))
        }
        ReplayError::Unreadable { path, .. } => ("paths", Some(path)),
        ReplayError::Configuration { .. } | ReplayError::Prices(_) => ("configurations", None),
        ReplayError::Nothing(_) => ("paths", None),
    };
    let mut answer = RpcError::bad_field(field, error.to_string());
    answer.data.file = file.map(|file| file.display().to_string());
    answer
}

fn unsent(error: AnswerError) -> RpcError {
    let message = error.to_string();
    match error {
        AnswerError::TooLarge { .. } => {
            let mut answer = RpcError::bad_field("detail", message);
            answer.data.hint = "ask for less `detail`, or for fewer `paths`".to_owned();
            answer
        }
        AnswerError::Json(_) => RpcError::new(
            ErrorCode::InternalError,
            message,
            "this is a bug in rawr; ask for less `detail`",
        ),
    }
}
