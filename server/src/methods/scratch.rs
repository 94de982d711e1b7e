//! `rawr/scratch/*`: the agent's own notes.

use super::{Ctx, Module, on};
use crate::wire::{self, Fault};
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

fn path(ctx: &Ctx, params: ScratchPathParams) -> Result<ScratchPathResult, Fault> {
    let (scratch_file, path) = ctx.desk()?.scratch_path(&wire::thread_id(&params.thread_id)?)?;
    Ok(ScratchPathResult { scratch_file, exists: path.is_file(), path: path.display().to_string() })
}

fn append(ctx: &Ctx, params: ScratchAppendParams) -> Result<ScratchAppendResult, Fault> {
    let id = wire::thread_id(&params.thread_id)?;
    let desk = ctx.desk()?;
    let bytes = desk.scratch_append(&id, &params.text)?;
    Ok(ScratchAppendResult { scratch_file: desk.scratch_file(&id)?, bytes })
}

fn read(ctx: &Ctx, params: ScratchReadParams) -> Result<ScratchReadResult, Fault> {
    let id = wire::thread_id(&params.thread_id)?;
    let desk = ctx.desk()?;
    let (text, truncated) = desk.scratch_read(&id, params.max_bytes)?;
    Ok(ScratchReadResult { scratch_file: desk.scratch_file(&id)?, text, truncated })
}

fn list(ctx: &Ctx, params: ScratchListParams) -> Result<ScratchListResult, Fault> {
    let notes = ctx.desk()?.scratch_list(&wire::thread_id(&params.thread_id)?)?;
    let files = notes.into_iter().map(|note| ScratchFile {
        scratch_file: note.file,
        bytes: note.bytes,
        modified_at_ms: note.modified_at.0,
    });
    Ok(ScratchListResult { files: files.collect() })
}
