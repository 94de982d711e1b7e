//! `rawr/tokens/count`. Counts itself nothing.

use super::{Ctx, Module, on_async};
use crate::wire::Fault;
use jsonrpsee::core::RegisterMethodError;
use rawr_core::rewrite;
use rawr_protocol::methods::TokensCount;
use rawr_protocol::{TokensCountParams, TokensCountResult};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_async::<TokensCount, _>(module, count)
}

/// A rough count that needs no tables: four bytes a token.
async fn count(_: Arc<Ctx>, params: TokensCountParams) -> Result<TokensCountResult, Fault> {
    Ok(TokensCountResult { tokens: rewrite::estimate(&params.text), method: "bytes/4".to_owned() })
}
