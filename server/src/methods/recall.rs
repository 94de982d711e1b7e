//! `rawr/recall/search`. Runs on a thread of its own and stops when its request is cancelled.

use super::long_work::CancelOnDrop;
use super::{ClientSession, Module, on_slow};
use crate::recall::{self, HitKind, RecallHit, RecallResult, SearchWords};
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::RecallSearch;
use rawr_protocol::{
    ErrorCode, RecallKind, RecallPlace, RecallSearchParams, RecallSearchResult, Unread,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The default and the maximum of results.
const LIMIT: u64 = 50;
const MOST: u64 = 1000;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_slow::<RecallSearch, _>(module, search)
}

async fn search(
    session: Arc<ClientSession>,
    params: RecallSearchParams,
) -> Result<RecallSearchResult, RpcError> {
    let Some(words) = SearchWords::new(params.words.iter().map(String::as_str)) else {
        return Err(RpcError::bad_field("words", "no word to search for"));
    };
    let id = params.thread_id.as_deref().map(wire::thread_id).transpose()?;
    let sources = session.registry()?.sources(id.as_ref()).await?;
    let limit = params.limit.unwrap_or(LIMIT).clamp(1, MOST) as usize;
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let _waits = CancelOnDrop(Arc::clone(&is_cancelled));
    let work = move || recall::search(&sources(), &words, limit, &is_cancelled);
    let found = tokio::task::spawn_blocking(work).await.map_err(|error| {
        RpcError::new(ErrorCode::InternalError, error.to_string(), "retry with other words")
    })?;
    Ok(shown(found))
}

fn shown(found: RecallResult) -> RecallSearchResult {
    let place = |place: RecallHit| RecallPlace {
        thread_id: place.thread.to_string(),
        kind: kind(place.kind),
        file: place.file.display().to_string(),
        line: place.line,
        at_ms: place.at.map(|at| at.0),
        snippet: place.snippet,
    };
    let unread = |(file, error): (std::path::PathBuf, String)| Unread {
        file: file.display().to_string(),
        error,
    };
    RecallSearchResult {
        places: found.places.into_iter().map(place).collect(),
        more: found.more,
        unread: found.unread.into_iter().map(unread).collect(),
    }
}

const fn kind(kind: HitKind) -> RecallKind {
    match kind {
        HitKind::Packet => RecallKind::Packet,
        HitKind::Handoff => RecallKind::Handoff,
        HitKind::Directive => RecallKind::Directive,
        HitKind::Scratch => RecallKind::Scratch,
        HitKind::UserMessage => RecallKind::UserMessage,
        HitKind::AgentMessage => RecallKind::AgentMessage,
        HitKind::ToolCall => RecallKind::ToolCall,
        HitKind::ToolOutput => RecallKind::ToolOutput,
        HitKind::Summary => RecallKind::Summary,
    }
}
