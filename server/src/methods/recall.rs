//! `rawr/recall/search`. It takes its time on a thread of its own, and is given up with its request.

use super::{Module, Session, on_async};
use crate::recall::{self, Found, Kind, RecallHit, Words};
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::RecallSearch;
use rawr_protocol::{
    ErrorCode, RecallKind, RecallPlace, RecallSearchParams, RecallSearchResult, Unread,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many places are named unless it is said, and at most.
const LIMIT: u64 = 50;
const MOST: u64 = 1000;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_async::<RecallSearch, _>(module, search)
}

/// Says that nobody waits any more.
struct Waits(Arc<AtomicBool>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn search(
    session: Arc<Session>,
    params: RecallSearchParams,
) -> Result<RecallSearchResult, RpcError> {
    let Some(words) = Words::new(params.words.iter().map(String::as_str)) else {
        return Err(RpcError::bad_field("words", "there is no word to look for"));
    };
    let id = params.thread_id.as_deref().map(wire::thread_id).transpose()?;
    let sources = session.registry()?.sources(id.as_ref())?;
    let limit = params.limit.unwrap_or(LIMIT).clamp(1, MOST) as usize;
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let _waits = Waits(Arc::clone(&is_cancelled));
    let work = move || recall::search(&sources(), &words, limit, &is_cancelled);
    let found = tokio::task::spawn_blocking(work).await.map_err(|error| {
        RpcError::new(ErrorCode::InternalError, error.to_string(), "try again with other words")
    })?;
    Ok(shown(found))
}

fn shown(found: Found) -> RecallSearchResult {
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

const fn kind(kind: Kind) -> RecallKind {
    match kind {
        Kind::Packet => RecallKind::Packet,
        Kind::Handoff => RecallKind::Handoff,
        Kind::Directive => RecallKind::Directive,
        Kind::Scratch => RecallKind::Scratch,
        Kind::UserMessage => RecallKind::UserMessage,
        Kind::AgentMessage => RecallKind::AgentMessage,
        Kind::ToolCall => RecallKind::ToolCall,
        Kind::ToolOutput => RecallKind::ToolOutput,
        Kind::Summary => RecallKind::Summary,
    }
}
