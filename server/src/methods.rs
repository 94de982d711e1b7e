//! The protocol's methods: parse the params, call the registry, answer. One file per noun. Rules belong in the core.

mod action;
mod capsule;
mod compaction;
mod decision;
mod directive;
mod document;
mod errors;
mod guard;
mod handoff;
mod input;
mod judgment;
mod large_answer;
mod lifecycle;
mod long_work;
mod packet;
mod prompt;
mod recall;
mod replay;
mod rewrite;
mod scratch;
mod sequence;
mod session;
mod signal;
mod thread;
mod tokens;
mod turn;

pub use session::ClientSession;

use crate::wire::RpcError;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use jsonrpsee::RpcModule;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::ErrorObjectOwned;
use large_answer::SerializedResult;
use rawr_protocol::{ErrorCode, Request, params_text, read_params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use session::{aside, now};
use std::sync::Arc;

type Module = RpcModule<Arc<ClientSession>>;

/// All methods. Fails only if two have the same name.
pub fn module(session: Arc<ClientSession>) -> Result<Module, RegisterMethodError> {
    let mut module = RpcModule::new(session);
    lifecycle::register(&mut module)?;
    thread::register(&mut module)?;
    turn::register(&mut module)?;
    signal::register(&mut module)?;
    input::register(&mut module)?;
    action::register(&mut module)?;
    compaction::register(&mut module)?;
    guard::register(&mut module)?;
    sequence::register(&mut module)?;
    directive::register(&mut module)?;
    decision::register(&mut module)?;
    judgment::register(&mut module)?;
    packet::register(&mut module)?;
    handoff::register(&mut module)?;
    scratch::register(&mut module)?;
    capsule::register(&mut module)?;
    recall::register(&mut module)?;
    replay::register(&mut module)?;
    prompt::register(&mut module)?;
    rewrite::register(&mut module)?;
    tokens::register(&mut module)?;
    document::register(&mut module)?;
    Ok(module)
}

/// Params in, result out, both as JSON. The module's methods have this one type, so that what is around a handler is compiled
/// once and not for each.
type Handler = dyn Fn(Option<&str>, &ClientSession) -> HandlerResult + Send + Sync;

/// Like [`Handler`], for a method that waits.
type AsyncHandler =
    dyn Fn(Option<&str>, Arc<ClientSession>) -> BoxFuture<'static, HandlerResult> + Send + Sync;

type HandlerResult = Result<Box<RawValue>, RpcError>;

fn register_handler(
    module: &mut Module,
    name: &'static str,
    handler: Box<Handler>,
) -> Result<(), RegisterMethodError> {
    module.register_method(name, move |params, session, _| {
        handler(params.as_str(), session).map_err(ErrorObjectOwned::from)
    })?;
    Ok(())
}

fn register_async_handler(
    module: &mut Module,
    name: &'static str,
    handler: Arc<AsyncHandler>,
) -> Result<(), RegisterMethodError> {
    module.register_async_method(name, move |params, session, _| {
        let handler = Arc::clone(&handler);
        async move {
            let work = handler(params.as_str(), Arc::clone(&session));
            work.await.map_err(ErrorObjectOwned::from)
        }
    })?;
    Ok(())
}

fn parsed<P: DeserializeOwned>(params: Option<&str>) -> Result<P, RpcError> {
    read_params(params).map_err(|error| RpcError::bad_params(params_text(params), &error))
}

fn serialized<R: Serialize>(result: &R) -> HandlerResult {
    to_raw_value(result).map_err(|error| {
        let message = format!("failed to serialize the result: {error}");
        RpcError::new(ErrorCode::InternalError, message, "this is a bug in rawr; see the log")
    })
}

/// Registers a request that waits for nothing.
fn on_sync<M: Request + 'static>(
    module: &mut Module,
    handler: fn(&ClientSession, M::Params) -> Result<M::Result, RpcError>,
) -> Result<(), RegisterMethodError> {
    let handler = move |params: Option<&str>, session: &ClientSession| {
        serialized(&handler(session, parsed(params)?)?)
    };
    register_handler(module, M::METHOD, Box::new(handler))
}

/// Registers a request of this protocol. It is sent to the task that it concerns when its future is first polled, so that
/// requests are handled in the order in which they came, and it is answered even if the input ends meanwhile. If the client
/// cancels it before its turn, nothing happens.
fn on<M: Request + 'static, Work>(
    module: &mut Module,
    handler: fn(Arc<ClientSession>, M::Params) -> Work,
) -> Result<(), RegisterMethodError>
where
    Work: Future<Output = Result<M::Result, RpcError>> + Send + 'static,
{
    on_async_named(module, M::METHOD, handler, |result| serialized(&result?))
}

/// Like [`on`], for a request that reads many files or has a large answer. Few of them are in progress at once.
fn on_large<M: Request + 'static, Work>(
    module: &mut Module,
    handler: fn(Arc<ClientSession>, M::Params) -> Work,
) -> Result<(), RegisterMethodError>
where
    Work: Future<Output = Result<M::Result, RpcError>> + Send + 'static,
{
    on_slow_named(
        module,
        M::METHOD,
        move |session, params| {
            let owed = session.owe_answer();
            handler(session, params).inspect(move |_| drop(owed))
        },
        |result| serialized(&result?),
    )
}

/// Like [`on`], for work that may be left unfinished at the end of the input. If the client cancels it, its future is
/// dropped.
fn on_slow<M: Request + 'static, Work>(
    module: &mut Module,
    handler: fn(Arc<ClientSession>, M::Params) -> Work,
) -> Result<(), RegisterMethodError>
where
    Work: Future<Output = Result<M::Result, RpcError>> + Send + 'static,
{
    on_slow_named(module, M::METHOD, handler, |result| serialized(&result?))
}

/// Like [`on_slow`], for a method whose result may be large: the thread that makes it also serializes it.
fn on_serialized<M: Request + 'static, Work>(
    module: &mut Module,
    handler: fn(Arc<ClientSession>, M::Params) -> Work,
) -> Result<(), RegisterMethodError>
where
    Work: Future<Output = Result<SerializedResult<M::Result>, RpcError>> + Send + 'static,
{
    on_slow_named(module, M::METHOD, handler, |result| result.map(SerializedResult::into_json))
}

fn on_async_named<P: DeserializeOwned + 'static, Work>(
    module: &mut Module,
    name: &'static str,
    handler: impl Fn(Arc<ClientSession>, P) -> Work + Send + Sync + 'static,
    to_json: fn(Work::Output) -> HandlerResult,
) -> Result<(), RegisterMethodError>
where
    Work: Future + Send + 'static,
{
    let handler = move |params: Option<&str>, session: Arc<ClientSession>| match parsed(params) {
        Ok(params) => {
            let counted = (session.owe_answer(), session.begin_brief());
            let work = handler(session, params).map(to_json);
            work.inspect(move |_| drop(counted)).boxed()
        }
        Err(error) => ready(Err(error)).boxed(),
    };
    register_async_handler(module, name, Arc::new(handler))
}

fn on_slow_named<P: DeserializeOwned + 'static, Work>(
    module: &mut Module,
    name: &'static str,
    handler: impl Fn(Arc<ClientSession>, P) -> Work + Send + Sync + 'static,
    to_json: fn(Work::Output) -> HandlerResult,
) -> Result<(), RegisterMethodError>
where
    Work: Future + Send + 'static,
{
    let handler = move |params: Option<&str>, session| match parsed(params) {
        Ok(params) => handler(session, params).map(to_json).boxed(),
        Err(error) => ready(Err(error)).boxed(),
    };
    register_async_handler(module, name, Arc::new(handler))
}

#[cfg(test)]
mod tests;
