//! `rawr/compaction/report`: compactions of the host, started by anyone.

use super::turn::report_as_owner;
use super::{ClientSession, Module, on};
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::CompactionReport;
use rawr_protocol::{CompactionReportParams, Empty};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<CompactionReport>(module, report)
}

fn report(session: &ClientSession, params: CompactionReportParams) -> Result<Empty, RpcError> {
    let thread = params.thread_id.clone();
    report_as_owner(session, &thread, wire::compaction_report(params)).map(|_| Empty {})
}
