//! `rawr/decision/*`: decisions and their explanations.

use super::errors::unknown_name;
use super::{ClientSession, Module, aside, on_large};
use crate::registry::{OpenThread, RegistryError};
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::assess::DecisionRecord;
use rawr_core::units::DecisionId;
use rawr_protocol::methods::{DecisionExplain, DecisionList};
use rawr_protocol::{
    DecisionExplainParams, DecisionExplainResult, DecisionListParams, DecisionListResult, ErrorCode,
};
use rawr_storage::store::{DecisionFile, StoreError};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_large::<DecisionExplain, _>(module, explain)?;
    on_large::<DecisionList, _>(module, list)
}

async fn explain(
    session: Arc<ClientSession>,
    params: DecisionExplainParams,
) -> Result<DecisionExplainResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let wanted = params.decision_id.map(DecisionId::new);
    let is_wanted = |decision: &DecisionRecord| wanted.as_ref().is_none_or(|id| decision.id == *id);
    let registry = session.registry()?;
    let last = registry.read(&id, |open| open.last_decision().cloned()).await?;
    let decision = match last {
        Some(last) if is_wanted(&last) => Some(last),
        _ => {
            let (wanted, file) = (wanted.clone(), registry.context().store.decisions(&id));
            let is_wanted = move |decision: &DecisionRecord| {
                wanted.as_ref().is_none_or(|id| decision.id == *id)
            };
            let find = move || Ok(file.newest_first()?.find(is_wanted));
            aside(find).await?.map_err(RegistryError::Store)?
        }
    };
    let unknown = || match &wanted {
        Some(id) => unknown_name("stored decision", id.as_str()),
        None => {
            RpcError::new(ErrorCode::UnknownName, "no decision yet", "wait for the end of a turn")
        }
    };
    let decision = decision.ok_or_else(unknown)?;
    let explain = move |open: &mut OpenThread| wire::decision(open.thread(), &decision);
    Ok(DecisionExplainResult { decision: registry.read(&id, explain).await? })
}

/// Oldest first.
async fn list(
    session: Arc<ClientSession>,
    params: DecisionListParams,
) -> Result<DecisionListResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let registry = session.registry()?;
    registry.read(&id, |_| ()).await?;
    let file = registry.context().store.decisions(&id);
    let limit = params.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let read = move || newest(&file, params.before.as_deref(), limit);
    let decisions = aside(read).await?.map_err(RegistryError::from)?;
    let explain = move |open: &mut OpenThread| {
        let thread = open.thread();
        decisions.iter().rev().map(|decision| wire::decision(thread, decision)).collect()
    };
    Ok(DecisionListResult { decisions: registry.read(&id, explain).await? })
}

/// Newest first. If no decision has the id `before`, starts from the newest.
fn newest(
    file: &DecisionFile,
    before: Option<&str>,
    limit: usize,
) -> Result<Vec<DecisionRecord>, StoreError> {
    if let Some(before) = before {
        let mut older = file.newest_first()?;
        if older.any(|decision| decision.id.as_str() == before) {
            return Ok(older.take(limit).collect());
        }
    }
    Ok(file.newest_first()?.take(limit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rawr_core::Thread;
    use rawr_core::assess::{Question, assess};
    use rawr_core::policy::Policy;
    use rawr_core::steps;
    use rawr_core::units::{ThreadId, Timestamp};
    use rawr_storage::store::{Store, StoredDecision};

    #[test]
    fn reading_the_newest_decision_takes_constant_time() {
        let cost = |decisions: usize| {
            let home = tempfile::TempDir::new().unwrap();
            let store = Store::new(home.path());
            let id = ThreadId::new("t");
            std::fs::create_dir_all(store.folder(&id)).unwrap();
            let thread = Thread::new(id.clone());
            let decision =
                assess(&thread, &Policy::default(), Question::Person, Timestamp(1_000_000));
            let mut line = serde_json::to_vec(&StoredDecision::of(&decision)).unwrap();
            line.push(b'\n');
            let mut file = store.decisions(&id);
            file.append(&line.repeat(decisions)).unwrap();
            steps::take();
            assert_eq!(newest(&file, None, 1).unwrap(), [decision]);
            steps::take()
        };
        assert!(cost(1000) > 0);
        assert_eq!(cost(4000), cost(1000));
    }
}
