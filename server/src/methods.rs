//! The protocol's methods: parse the params, call the registry, answer. One file per noun. Rules belong in the core.

mod capsule;
mod decision;
mod directive;
mod document;
mod errors;
mod guard;
mod host;
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
mod session;
mod thread;
mod tokens;

pub use session::{ClientSession, CommitResult};

use crate::wire::RpcError;
use jsonrpsee::RpcModule;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::ErrorObjectOwned;
use large_answer::SerializedResult;
use rawr_protocol::{ErrorCode, Request, read_params};
use session::{aside, now};
use std::sync::Arc;

type Module = RpcModule<Arc<ClientSession>>;

/// All methods. Fails only if two have the same name.
pub fn module(session: Arc<ClientSession>) -> Result<Module, RegisterMethodError> {
    let mut module = RpcModule::new(session);
    lifecycle::register(&mut module)?;
    thread::register(&mut module)?;
    host::register(&mut module)?;
    guard::register(&mut module)?;
    directive::register(&mut module)?;
    decision::register(&mut module)?;
    judgment::register(&mut module)?;
    packet::register(&mut module)?;
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

/// Parses again with a slower parser that reports the field.
fn bad_params<M: Request>(params: Option<&str>) -> RpcError {
    let nothing = |text: &&str| {
        matches!(text.split_whitespace().collect::<String>().as_str(), "" | "null" | "[]")
    };
    let text = params.filter(|text| !nothing(text)).unwrap_or("{}");
    let mut json = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, M::Params>(&mut json) {
        Ok(_) => RpcError::new(
            ErrorCode::InvalidParams,
            "trailing characters after the params",
            "send one object",
        ),
        Err(error) => RpcError::bad_params(&error.path().to_string(), &error.into_inner()),
    }
}

fn on<M: Request + 'static>(
    module: &mut Module,
    handler: fn(&ClientSession, M::Params) -> Result<M::Result, RpcError>,
) -> Result<(), RegisterMethodError>
where
    M::Result: Clone + 'static,
{
    module.register_method(
        M::METHOD,
        move |params, session, _| -> Result<M::Result, ErrorObjectOwned> {
            let params =
                read_params(params.as_str()).map_err(|_| bad_params::<M>(params.as_str()))?;
            Ok(handler(session, params)?)
        },
    )?;
    Ok(())
}

/// The same for a method that waits, while other requests are served. If the client cancels it, its future is dropped.
/// Records that it makes after it has waited belong to no request.
fn on_async<M: Request + 'static, Work>(
    module: &mut Module,
    handler: fn(Arc<ClientSession>, M::Params) -> Work,
) -> Result<(), RegisterMethodError>
where
    M::Params: Send,
    M::Result: Clone + 'static,
    Work: Future<Output = Result<M::Result, RpcError>> + Send + 'static,
{
    module.register_async_method(M::METHOD, move |params, session, _| async move {
        let params = read_params(params.as_str()).map_err(|_| bad_params::<M>(params.as_str()))?;
        handler(Arc::clone(&session), params).await.map_err(ErrorObjectOwned::from)
    })?;
    Ok(())
}

/// The same for a method whose result may be large: the thread that makes it also serializes it.
fn on_serialized<M: Request + 'static, Work>(
    module: &mut Module,
    handler: fn(Arc<ClientSession>, M::Params) -> Work,
) -> Result<(), RegisterMethodError>
where
    M::Params: Send,
    Work: Future<Output = Result<SerializedResult<M::Result>, RpcError>> + Send + 'static,
{
    module.register_async_method(M::METHOD, move |params, session, _| async move {
        let params = read_params(params.as_str()).map_err(|_| bad_params::<M>(params.as_str()))?;
        let result = handler(Arc::clone(&session), params).await;
        result.map(SerializedResult::into_json).map_err(ErrorObjectOwned::from)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
