//! Yardstick of the bench: an echo server on jsonrpsee's `RpcModule`, called through its method callbacks.
//! It must not do more than answer `initialize` and return the params of any request. Replies are flushed when no
//! complete frame is left to answer. With the arguments `FILE BYTES`, it first appends that many bytes for each
//! request but `initialize`, and syncs them. With a third argument, `apart`, it does so for `initialize`, too, and on
//! another thread, as a server must that is to serve others meanwhile.

use std::{
    env,
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::fd::AsFd,
    sync::Arc,
};

use anyhow::Context as _;

use jsonrpsee::{
    Extensions, MethodCallback, MethodResponse, RpcModule,
    types::{ErrorCode, ErrorObject, Params, Request},
};
use rawr_bench::frame;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut input = pipe::Receiver::from_owned_fd(io::stdin().as_fd().try_clone_to_owned()?)?;
    let mut output = pipe::Sender::from_owned_fd(io::stdout().as_fd().try_clone_to_owned()?)?;
    let line = SyncedLine::of_arguments()?.map(Arc::new);
    let apart = line.clone().filter(|line| line.apart);
    let module = echo(line.filter(|line| !line.apart))?;
    let mut unread = Vec::with_capacity(1 << 16);
    let mut replies = Vec::with_capacity(1 << 16);
    while input.read_buf(&mut unread).await? != 0 {
        let mut answered = 0;
        while let Some(body) = frame::split(&unread[answered..])? {
            if let Some(line) = apart.clone() {
                tokio::task::spawn_blocking(move || line.write()).await??;
            }
            answer(&module, &unread[answered..][body.clone()], &mut replies);
            answered += body.end;
        }
        unread.drain(..answered);
        output.write_all(&replies).await?;
        replies.clear();
    }
    Ok(())
}

/// What is written before an answer.
struct SyncedLine {
    file: File,
    line: Vec<u8>,
    /// On another thread.
    apart: bool,
}

impl SyncedLine {
    fn of_arguments() -> anyhow::Result<Option<Self>> {
        let mut args = env::args_os().skip(1);
        let Some(path) = args.next() else { return Ok(None) };
        let bytes = args.next().context("the number of bytes is missing")?;
        let bytes: usize = bytes.to_str().context("no number of bytes")?.parse()?;
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        let mut line = vec![b'x'; bytes.saturating_sub(1)];
        line.push(b'\n');
        let apart = args.next().is_some_and(|word| word == "apart");
        Ok(Some(Self { file, line, apart }))
    }

    fn write(&self) -> io::Result<()> {
        (&self.file).write_all(&self.line)?;
        self.file.sync_data()
    }
}

fn echo(written: Option<Arc<SyncedLine>>) -> anyhow::Result<RpcModule<Option<Arc<SyncedLine>>>> {
    let mut module = RpcModule::new(written);
    module.register_method("initialize", |_, _, _| json!({ "capabilities": {} }))?;
    module.register_method("echo", |params, written, _| {
        if let Some(written) = written {
            let failed = |error: io::Error| {
                ErrorObject::owned(ErrorCode::InternalError.code(), error.to_string(), None::<()>)
            };
            written.write().map_err(failed)?;
        }
        params.parse::<Value>()
    })?;
    Ok(module)
}

fn answer(module: &RpcModule<Option<Arc<SyncedLine>>>, body: &[u8], replies: &mut Vec<u8>) {
    // A notification has no id and is no `Request` to jsonrpsee; nothing is owed for it.
    let Ok(request) = serde_json::from_slice::<Request<'_>>(body) else { return };
    let params = Params::new(request.params.as_ref().map(|raw| raw.get()));
    let method = module.method(&request.method).or_else(|| module.method("echo"));
    let response = match method {
        Some(MethodCallback::Sync(call)) => call(request.id, params, usize::MAX, Extensions::new()),
        _ => MethodResponse::error(request.id, ErrorObject::from(ErrorCode::MethodNotFound)),
    };
    frame::write(response.as_json().get().as_bytes(), replies);
}
