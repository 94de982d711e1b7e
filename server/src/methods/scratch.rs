//! `rawr/scratch/*`: the agent's own notes.

use super::{ClientSession, Module, aside, now, on};
use crate::notes::{AgentNotes, MAX_NOTE};
use crate::registry::OpenThread;
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::{ScratchAppend, ScratchList, ScratchPath, ScratchRead};
use rawr_protocol::{
    ScratchAppendParams, ScratchAppendResult, ScratchFile, ScratchListParams, ScratchListResult,
    ScratchPathParams, ScratchPathResult, ScratchReadParams, ScratchReadResult,
};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<ScratchPath, _>(module, path)?;
    on::<ScratchAppend, _>(module, append)?;
    on::<ScratchRead, _>(module, read)?;
    on::<ScratchList, _>(module, list)
}

/// The scratch file of a thread's agent.
async fn notes_of(session: &ClientSession, thread: &str) -> Result<AgentNotes, RpcError> {
    let id = wire::thread_id(thread)?;
    Ok(session.registry()?.read(&id, |open| open.notes()).await?)
}

async fn path(
    session: Arc<ClientSession>,
    params: ScratchPathParams,
) -> Result<ScratchPathResult, RpcError> {
    let notes = notes_of(&session, &params.thread_id).await?;
    let path = notes.path().display().to_string();
    Ok(ScratchPathResult { exists: notes.exists(), path, scratch_file: notes.file })
}

async fn append(
    session: Arc<ClientSession>,
    params: ScratchAppendParams,
) -> Result<ScratchAppendResult, RpcError> {
    let length = params.text.len();
    if params.text.trim().is_empty() {
        return Err(RpcError::bad_field("text", "the text is empty"));
    }
    if length > MAX_NOTE {
        let message = format!("a note of {length} bytes is too long; {MAX_NOTE} are allowed");
        return Err(RpcError::bad_field("text", message));
    }
    let id = wire::thread_id(&params.thread_id)?;
    // In the thread's task, so that notes keep the order in which they were sent.
    let append = move |open: &mut OpenThread| {
        let notes = open.notes();
        notes.append(&params.text, now()).map(|appended| (notes.path(), appended))
    };
    let (path, appended) = session.registry()?.read(&id, append).await??;
    session.workspace()?.notes_appended(path, session.client().to_owned()).await;
    Ok(ScratchAppendResult {
        scratch_file: appended.file,
        bytes: appended.bytes,
        redactions: appended.redactions as u64,
    })
}

async fn read(
    session: Arc<ClientSession>,
    params: ScratchReadParams,
) -> Result<ScratchReadResult, RpcError> {
    let notes = notes_of(&session, &params.thread_id).await?;
    let notes = aside(move || notes.read(params.max_bytes)).await??;
    Ok(ScratchReadResult {
        scratch_file: notes.file,
        text: notes.text,
        truncated: notes.truncated,
        redactions: notes.redactions as u64,
    })
}

async fn list(
    session: Arc<ClientSession>,
    params: ScratchListParams,
) -> Result<ScratchListResult, RpcError> {
    let notes = notes_of(&session, &params.thread_id).await?;
    let listed = aside(move || notes.list()).await??;
    let files = listed.into_iter().map(|note| ScratchFile {
        scratch_file: note.file,
        bytes: note.bytes,
        modified_at_ms: note.modified_at.0,
    });
    Ok(ScratchListResult { files: files.collect() })
}
