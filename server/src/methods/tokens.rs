//! `rawr/tokens/count`. Counts itself nothing.

use super::{Ctx, Module, on_async};
use crate::tokens::{Method, TokensError};
use crate::wire::Fault;
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::TokensCount;
use rawr_protocol::{ErrorCode, TokensCountParams, TokensCountResult};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_async::<TokensCount, _>(module, count)
}

async fn count(ctx: Arc<Ctx>, params: TokensCountParams) -> Result<TokensCountResult, Fault> {
    let method = Method::choose(params.encoding.as_deref(), params.model.as_deref());
    let tokens = ctx.tokens.count(method, params.text).await.map_err(fault)?;
    Ok(TokensCountResult { tokens, method: method.name().to_owned() })
}

pub fn fault(error: TokensError) -> Fault {
    let hint = "leave out `encoding` and `model` to get an estimate";
    Fault::new(ErrorCode::InternalError, error.to_string(), hint)
}
