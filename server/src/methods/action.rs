//! `rawr/action/report`: how far the host has come with an action.

use super::{ClientSession, Module, on};
use crate::registry::OpenThread;
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::event::JudgeReply;
use rawr_protocol::methods::ActionReport;
use rawr_protocol::{ActionReportParams, ActionStatus, Empty};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<ActionReport, _>(module, report)
}

async fn report(
    session: Arc<ClientSession>,
    params: ActionReportParams,
) -> Result<Empty, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let failed = (params.status == ActionStatus::Failed).then(|| {
        let why = params.error.clone().unwrap_or_else(|| "the host gave no reason".to_owned());
        (params.action_id.clone(), JudgeReply::Failed { error: why })
    });
    let input = wire::action_report(params)?;
    let inputs = move |open: &mut OpenThread| match failed {
        Some((action, failed)) if open.answer_client(&action, &failed) => Vec::new(),
        _ => vec![input],
    };
    Ok(session.registry()?.handle_all_as_owner(&id, inputs, |_, _| Empty {}).await?)
}
