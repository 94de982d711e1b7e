//! `rawr/signal/report`: what the host, an agent or a person says of the work.

use super::turn::report_as_owner;
use super::{ClientSession, Module, directive, on};
use crate::registry::{HandledInput, OpenThread};
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::SignalReport;
use rawr_protocol::{Signal, SignalReportParams, SignalReportResult};
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<SignalReport, _>(module, report)
}

async fn report(
    session: Arc<ClientSession>,
    params: SignalReportParams,
) -> Result<SignalReportResult, RpcError> {
    let thread_id = params.thread_id.clone();
    let is_by_a_person =
        matches!(params.signal, Signal::Directive { .. } | Signal::PhaseBoundary { .. });
    let input = wire::signal(params);
    let answer = |_: &OpenThread, handled: HandledInput| {
        let found = handled.records.iter().find_map(|record| record.event.boundaries());
        SignalReportResult { boundaries: found.map(wire::boundaries).unwrap_or_default() }
    };
    let handled = if is_by_a_person {
        directive::give(&session, &thread_id, input?, answer)?
    } else {
        report_as_owner(&session, &thread_id, input, answer)?
    };
    Ok(handled.await?)
}
