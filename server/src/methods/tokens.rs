//! `rawr/tokens/count`. The module `tokens` counts.

use super::{ClientSession, Module, on_slow};
use crate::tokens::{CountMethod, TokenCountError};
use crate::wire::RpcError;
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::TokensCount;
use rawr_protocol::{ErrorCode, TokensCountParams, TokensCountResult};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_slow::<TokensCount, _>(module, count)
}

async fn count(
    session: Arc<ClientSession>,
    params: TokensCountParams,
) -> Result<TokensCountResult, RpcError> {
    let method = CountMethod::choose(params.encoding.as_deref(), params.model.as_deref());
    let tokens = session.tokens.count(method, params.text).await.map_err(error)?;
    Ok(TokensCountResult { tokens, method: method.name().to_owned() })
}

pub fn error(error: TokenCountError) -> RpcError {
    let hint = "omit `encoding` and `model` to get an estimate";
    RpcError::new(ErrorCode::InternalError, error.to_string(), hint)
}
