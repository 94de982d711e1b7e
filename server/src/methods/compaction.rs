//! `rawr/compaction/report`: compactions of the host, started by anyone.

use super::turn::report_as_owner;
use super::{ClientSession, Module, on};
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::CompactionReport;
use rawr_protocol::{CompactionReportParams, Empty};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<CompactionReport, _>(module, report)
}

async fn report(
    session: Arc<ClientSession>,
    params: CompactionReportParams,
) -> Result<Empty, RpcError> {
    let thread = params.thread_id.clone();
    let report = wire::compaction_report(params);
    Ok(report_as_owner(&session, &thread, report, |_, _| Empty {})?.await?)
}
