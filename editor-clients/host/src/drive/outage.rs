//! An outage of the sidecar's store. The driver delivers held inputs itself and queues its reports until the disk works again.

use std::collections::VecDeque;

use rawr_protocol::{ErrorCode, Request, StoreFailedNotification, methods};
use serde_json::value::{RawValue, to_raw_value};

use super::driver::DriverTask;
use super::result::DriveError;
use crate::event::{NoticeLevel, SessionEvent};
use crate::sidecar::SidecarError;

/// Reports and deliveries that the sidecar could not record.
#[derive(Debug, Default)]
pub(super) struct StoreOutage {
    pub(super) is_on: bool,
    /// In order.
    unsent: VecDeque<UnsentCall>,
}

/// A call that was not recorded.
#[derive(Debug, Clone)]
struct UnsentCall {
    method: &'static str,
    params: Box<RawValue>,
}

/// Methods that can be sent later. All others are sent now or dropped.
const MAY_WAIT: [&str; 8] = [
    methods::TurnStarted::METHOD,
    methods::TurnUsage::METHOD,
    methods::TurnCompleted::METHOD,
    methods::SignalReport::METHOD,
    methods::ActionReport::METHOD,
    methods::CompactionReport::METHOD,
    methods::JudgmentAnswer::METHOD,
    methods::InputCancel::METHOD,
];

impl StoreOutage {
    /// Queues a call, unless it cannot be sent later.
    pub(super) fn keep<R: Request>(&mut self, params: &R::Params) {
        let params = to_raw_value(params).ok().filter(|_| MAY_WAIT.contains(&R::METHOD));
        self.unsent.extend(params.map(|params| UnsentCall { method: R::METHOD, params }));
    }

    pub(super) fn delays(&self, method: &str) -> bool {
        (self.is_on || !self.unsent.is_empty()) && MAY_WAIT.contains(&method)
    }
}

impl DriverTask<'_> {
    /// The sidecar sends no more actions, so the messages that it holds are delivered here.
    pub(super) fn store_failed(
        &mut self,
        failed: &StoreFailedNotification,
    ) -> Result<(), DriveError> {
        self.link.outage.is_on = true;
        self.link.is_unsure = true;
        let message = &failed.error;
        self.reporter.report(&SessionEvent::Notice { level: NoticeLevel::Error, message })?;
        for input_id in &failed.held_inputs {
            if let Some(held) = self.held.remove(input_id) {
                self.deliver_without_sidecar(held);
            }
        }
        Ok(())
    }

    pub(super) fn store_recovered(&mut self) -> Result<(), DriveError> {
        self.link.outage.is_on = false;
        let message = "the thread's files are writable again";
        Ok(self.reporter.report(&SessionEvent::Notice { level: NoticeLevel::Info, message })?)
    }

    /// Sends the queued calls: first the cancellations, so that the sidecar does not deliver those inputs again, then the
    /// reports in order.
    pub(super) async fn send_unsent_calls(&mut self) -> Result<(), DriveError> {
        let is_first = |unsent: &UnsentCall| unsent.method == methods::InputCancel::METHOD;
        while !self.link.outage.is_on && !self.link.outage.unsent.is_empty() {
            let at = self.link.outage.unsent.iter().position(is_first).unwrap_or(0);
            let Some(unsent) = self.link.outage.unsent.remove(at) else { return Ok(()) };
            let answer = self.call_raw(unsent.method, unsent.params.clone()).await?;
            // If it fails again, it stays first in the queue.
            let refused =
                matches!(&answer, Err(error) if error.code() == Some(ErrorCode::StoreFailed));
            let lost = matches!(&answer, Err(error) if error.is_end());
            let method = unsent.method;
            if refused || lost {
                self.link.outage.unsent.push_front(unsent);
                self.link.outage.is_on = refused;
            }
            match answer {
                Ok(_) => {}
                Err(error) if lost => self.relaunch(Some(error)).await?,
                Err(_) if refused => {}
                Err(error) => self.call_refused(method, &error)?,
            }
        }
        Ok(())
    }

    fn call_refused(&mut self, method: &str, error: &SidecarError) -> Result<(), DriveError> {
        // The actions of a finished sequence may be unknown.
        if error.code() == Some(ErrorCode::UnknownAction) {
            return Ok(());
        }
        self.warn(&format!("{method}: {error}"))
    }
}
