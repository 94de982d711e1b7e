//! `rawr/compaction/rewrite`: rewrites the history for a host without a compaction of its own. The rules are in the
//! core.

use super::tokens::error;
use super::{ClientSession, Module, on_slow};
use crate::tokens::CountMethod;
use crate::wire::RpcError;
use jsonrpsee::core::RegisterMethodError;
use rawr_core::prompt::PromptName;
use rawr_core::rewrite::{
    RECENT_USER_TOKENS, RewriteItem, RewriteItemKind, RewriteRole, Summary, rewrite,
};
use rawr_protocol::methods::CompactionRewrite;
use rawr_protocol::{
    CompactionRewriteParams, CompactionRewriteResult, HistoryItem, HistoryKind, HistoryRole,
};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_slow::<CompactionRewrite, _>(module, compaction_rewrite)
}

async fn compaction_rewrite(
    session: Arc<ClientSession>,
    params: CompactionRewriteParams,
) -> Result<CompactionRewriteResult, RpcError> {
    let summary = summary(&session, &params.summary).await?;
    let method = CountMethod::choose(params.encoding.as_deref(), params.model.as_deref());
    let budget = params.recent_user_tokens.unwrap_or(RECENT_USER_TOKENS);
    let items: Vec<_> = params.items.into_iter().map(from_wire).collect();
    let work = move |count: &mut dyn FnMut(&str) -> u64| rewrite(items, summary, budget, count);
    let rewritten = session.tokens.with(method, work).await.map_err(error)?;
    Ok(CompactionRewriteResult {
        items: rewritten.items.into_iter().map(to_wire).collect(),
        tokens_before: rewritten.tokens_before,
        tokens_after: rewritten.tokens_after,
        method: method.name().to_owned(),
    })
}

/// With the current summary prefix.
async fn summary(session: &ClientSession, text: &str) -> Result<Summary, RpcError> {
    let prompts = session.workspace()?.refreshed_prompts().await;
    let prefix = prompts.prompts().text(PromptName::SummaryPrefix);
    Summary::new(prefix, text).ok_or_else(|| {
        let mut error = RpcError::bad_field("summary", "the summary is blank");
        "keep the history as it is, or send what the model wrote".clone_into(&mut error.data.hint);
        error
    })
}

fn from_wire(item: HistoryItem) -> RewriteItem {
    RewriteItem {
        role: match item.role {
            HistoryRole::System => RewriteRole::System,
            HistoryRole::User => RewriteRole::User,
            HistoryRole::Assistant => RewriteRole::Assistant,
            HistoryRole::Tool => RewriteRole::Tool,
        },
        kind: match item.kind {
            None | Some(HistoryKind::Message) => RewriteItemKind::Message,
            Some(HistoryKind::InitialContext) => RewriteItemKind::InitialContext,
            Some(HistoryKind::Snapshot) => RewriteItemKind::Snapshot,
            Some(HistoryKind::Summary) => RewriteItemKind::Summary,
        },
        text: item.text,
        id: item.id,
    }
}

fn to_wire(item: RewriteItem) -> HistoryItem {
    HistoryItem {
        role: match item.role {
            RewriteRole::System => HistoryRole::System,
            RewriteRole::User => HistoryRole::User,
            RewriteRole::Assistant => HistoryRole::Assistant,
            RewriteRole::Tool => HistoryRole::Tool,
        },
        kind: match item.kind {
            RewriteItemKind::Message => None,
            RewriteItemKind::InitialContext => Some(HistoryKind::InitialContext),
            RewriteItemKind::Snapshot => Some(HistoryKind::Snapshot),
            RewriteItemKind::Summary => Some(HistoryKind::Summary),
        },
        text: item.text,
        id: item.id,
    }
}
