//! `rawr/action/report`: how far the host has come with an action.

use super::turn::report_as_owner;
use super::{ClientSession, Module, on};
use crate::wire::{self, RpcError};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::event::JudgeReply;
use rawr_protocol::methods::ActionReport;
use rawr_protocol::{ActionReportParams, ActionStatus, Empty};

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<ActionReport>(module, report)
}

fn report(session: &ClientSession, params: ActionReportParams) -> Result<Empty, RpcError> {
    let thread = params.thread_id.clone();
    if params.status == ActionStatus::Failed {
        let why = params.error.clone().unwrap_or_else(|| "the host gave no reason".to_owned());
        let failed = JudgeReply::Failed { error: why };
        if session.evaluations.answered(&wire::thread_id(&thread)?, &params.action_id, failed) {
            return Ok(Empty {});
        }
    }
    report_as_owner(session, &thread, wire::action_report(params)).map(|_| Empty {})
}
