//! Yardstick of the bench: an echo server on jsonrpsee's `RpcModule`, called through its method callbacks.
//! It must not do more than answer `initialize` and return the params of any request. Replies are flushed when no
//! complete frame is left to answer.

use std::{io, os::fd::AsFd};

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
    let module = echo()?;
    let mut unread = Vec::with_capacity(1 << 16);
    let mut replies = Vec::with_capacity(1 << 16);
    while input.read_buf(&mut unread).await? != 0 {
        let mut answered = 0;
        while let Some(body) = frame::split(&unread[answered..])? {
            answer(&module, &unread[answered..][body.clone()], &mut replies);
            answered += body.end;
        }
        unread.drain(..answered);
        output.write_all(&replies).await?;
        replies.clear();
    }
    Ok(())
}

fn echo() -> anyhow::Result<RpcModule<()>> {
    let mut module = RpcModule::new(());
    module.register_method("initialize", |_, _, _| json!({ "capabilities": {} }))?;
    module.register_method("echo", |params, _, _| params.parse::<Value>())?;
    Ok(module)
}

fn answer(module: &RpcModule<()>, body: &[u8], replies: &mut Vec<u8>) {
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
