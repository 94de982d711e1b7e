//! An outage of the sidecar's store. The driver delivers held inputs itself and queues its reports until the disk works again.

use std::collections::{HashSet, VecDeque};

use rawr_protocol::{ErrorCode, Request, StoreFailedNotification, methods};
use serde_json::Value;

use super::{Drive, DriveError};
use crate::event::{NoticeLevel, SessionEvent};
use crate::sidecar::SidecarError;

/// Reports and deliveries that the sidecar could not record.
#[derive(Debug, Default)]
pub(super) struct StoreOutage {
    pub(super) is_on: bool,
    /// Inputs that were delivered without the sidecar. If it asks for their delivery later, they are skipped.
    delivered: HashSet<String>,
    /// In order.
    unsaid: VecDeque<UnsentCall>,
}

/// A call that was not recorded.
#[derive(Debug)]
struct UnsentCall {
    method: &'static str,
    params: Value,
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
    /// Queues a call. Returns false if it cannot be sent later.
    pub(super) fn keep<R: Request>(&mut self, params: &R::Params) -> bool {
        let params = serde_json::to_value(params).ok().filter(|_| MAY_WAIT.contains(&R::METHOD));
        let kept =
            params.map(|params| self.unsaid.push_back(UnsentCall { method: R::METHOD, params }));
        kept.is_some()
    }

    pub(super) fn waits<R: Request>(&self) -> bool {
        (self.is_on || !self.unsaid.is_empty()) && MAY_WAIT.contains(&R::METHOD)
    }

    /// Records a delivery, so that a later delivery of the same input is skipped.
    pub(super) fn delivered_already(&mut self, input_id: String) {
        self.delivered.insert(input_id);
    }

    pub(super) fn has_delivered(&self, input_id: &str) -> bool {
        self.delivered.contains(input_id)
    }
}

impl Drive<'_> {
    /// The sidecar sends no more actions, so the messages that it holds are delivered here.
    pub(super) fn store_failed(
        &mut self,
        failed: &StoreFailedNotification,
    ) -> Result<(), DriveError> {
        self.outage.is_on = true;
        self.is_unsure = true;
        let message = &failed.error;
        self.reporter.report(&SessionEvent::Notice { level: NoticeLevel::Error, message })?;
        for input_id in &failed.held_inputs {
            if let Some(at) = self.held.iter().position(|held| held.input_id == *input_id) {
                let held = self.held.remove(at);
                self.deliver_myself(held);
            }
        }
        Ok(())
    }

    pub(super) fn store_recovered(&mut self) -> Result<(), DriveError> {
        self.outage.is_on = false;
        let message = "the thread's files are writable again";
        Ok(self.reporter.report(&SessionEvent::Notice { level: NoticeLevel::Info, message })?)
    }

    /// Sends the queued calls: first the cancellations, so that the sidecar does not deliver those inputs again, then the
    /// reports in order.
    pub(super) async fn say_what_waits(&mut self) -> Result<(), DriveError> {
        let is_first = |unsaid: &UnsentCall| unsaid.method == methods::InputCancel::METHOD;
        while !self.outage.is_on && !self.outage.unsaid.is_empty() {
            let at = self.outage.unsaid.iter().position(is_first).unwrap_or(0);
            let Some(unsaid) = self.outage.unsaid.remove(at) else { return Ok(()) };
            let answer = self.sidecar.repeat(unsaid.method, &unsaid.params).await;
            // If it fails again, it stays first in the queue.
            let refused =
                matches!(&answer, Err(error) if error.code() == Some(ErrorCode::StoreFailed));
            let lost = matches!(&answer, Err(error) if error.is_end());
            let method = unsaid.method;
            if refused || lost {
                self.outage.unsaid.push_front(unsaid);
                self.outage.is_on = refused;
            }
            for note in self.sidecar.notes() {
                self.hear(note)?;
            }
            match answer {
                Ok(()) => {}
                Err(error) if lost => self.relaunch(Some(error)).await?,
                Err(_) if refused => {}
                Err(error) => self.was_refused(method, &error)?,
            }
        }
        Ok(())
    }

    fn was_refused(&mut self, method: &str, error: &SidecarError) -> Result<(), DriveError> {
        // The actions of a finished sequence may be unknown.
        if error.code() == Some(ErrorCode::UnknownAction) {
            return Ok(());
        }
        self.warn(&format!("{method}: {error}"))
    }
}
