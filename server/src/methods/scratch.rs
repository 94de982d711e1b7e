//! `rawr/scratch/*`: the agent's own notes.

use super::{ClientSession, Module, now, on};
use crate::notes::MAX_NOTE;
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::{ScratchAppend, ScratchList, ScratchPath, ScratchRead};
use rawr_protocol::{
    ScratchAppendParams, ScratchAppendResult, ScratchFile, ScratchListParams, ScratchListResult,
    ScratchPathParams, ScratchPathResult, ScratchReadParams, ScratchReadResult,
};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<ScratchPath>(module, path)?;
    on::<ScratchAppend>(module, append)?;
    on::<ScratchRead>(module, read)?;
    on::<ScratchList>(module, list)
}

fn path(session: &ClientSession, params: ScratchPathParams) -> Result<ScratchPathResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let notes = session.registry()?.open_thread(&id)?.notes();
    let path = notes.path().display().to_string();
    Ok(ScratchPathResult { exists: notes.exists(), path, scratch_file: notes.file })
}

fn append(
    session: &ClientSession,
    params: ScratchAppendParams,
) -> Result<ScratchAppendResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let length = params.text.len();
    if params.text.trim().is_empty() {
        return Err(RpcError::bad_field("text", "the text is empty"));
    }
    if length > MAX_NOTE {
        let message = format!("a note of {length} bytes is too long; {MAX_NOTE} are allowed");
        return Err(RpcError::bad_field("text", message));
    }
    let mut registry = session.registry()?;
    let notes = registry.open_thread(&id)?.notes();
    let appended = notes.append(&params.text, now())?;
    registry.notes_appended(&notes.path(), session.client());
    Ok(ScratchAppendResult {
        scratch_file: appended.file,
        bytes: appended.bytes,
        redactions: appended.redactions as u64,
    })
}

fn read(session: &ClientSession, params: ScratchReadParams) -> Result<ScratchReadResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let notes = session.registry()?.open_thread(&id)?.notes().read(params.max_bytes)?;
    Ok(ScratchReadResult {
        scratch_file: notes.file,
        text: notes.text,
        truncated: notes.truncated,
        redactions: notes.redactions as u64,
    })
}

fn list(session: &ClientSession, params: ScratchListParams) -> Result<ScratchListResult, RpcError> {
    let notes =
        session.registry()?.open_thread(&wire::thread_id(&params.thread_id)?)?.notes().list()?;
    let files = notes.into_iter().map(|note| ScratchFile {
        scratch_file: note.file,
        bytes: note.bytes,
        modified_at_ms: note.modified_at.0,
    });
    Ok(ScratchListResult { files: files.collect() })
}
