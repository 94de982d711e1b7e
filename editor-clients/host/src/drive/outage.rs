//! While the sidecar cannot store anything: what it held is delivered here, what it is to hear waits, and both are told it when its disk is back.

use std::collections::{HashSet, VecDeque};

use rawr_protocol::{ErrorCode, Request, StoreFailedNotification, methods};
use serde_json::Value;

use super::{Drive, DriveError};
use crate::event::{Level, SessionEvent};
use crate::host::Host;
use crate::sidecar::{Launch, SidecarError};

/// What is owed to a sidecar whose disk fails.
#[derive(Debug, Default)]
pub(super) struct Outage {
    pub(super) is_on: bool,
    /// Inputs that went to the host without the sidecar's word: should it hand them over all the same, they are known.
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

/// What counts later just as well. The rest is asked now or not at all.
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

impl Outage {
    /// False for what cannot be said later.
    pub(super) fn keep<R: Request>(&mut self, params: &R::Params) -> bool {
        let params = serde_json::to_value(params).ok().filter(|_| MAY_WAIT.contains(&R::METHOD));
        let kept =
            params.map(|params| self.unsaid.push_back(UnsentCall { method: R::METHOD, params }));
        kept.is_some()
    }

    pub(super) fn waits<R: Request>(&self) -> bool {
        (self.is_on || !self.unsaid.is_empty()) && MAY_WAIT.contains(&R::METHOD)
    }

    /// Should the sidecar hand it over all the same, it is known.
    pub(super) fn delivered_already(&mut self, input_id: String) {
        self.delivered.insert(input_id);
    }

    pub(super) fn has_delivered(&self, input_id: &str) -> bool {
        self.delivered.contains(input_id)
    }
}

impl<H: Host, L: Launch> Drive<'_, H, L> {
    /// The sidecar asks for nothing from here on; messages that wait for it would wait for ever.
    pub(super) fn store_failed(
        &mut self,
        failed: &StoreFailedNotification,
    ) -> Result<(), DriveError> {
        self.outage.is_on = true;
        self.is_unsure = true;
        let message = &failed.error;
        self.reporter.report(&SessionEvent::Notice { level: Level::Error, message })?;
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
        let message = "the thread's files can be written again";
        Ok(self.reporter.report(&SessionEvent::Notice { level: Level::Info, message })?)
    }

    /// First what was delivered: the sidecar would hand it over. Then what happened, in order.
    pub(super) async fn say_what_waits(&mut self) -> Result<(), DriveError> {
        let is_first = |unsaid: &UnsentCall| unsaid.method == methods::InputCancel::METHOD;
        while !self.outage.is_on && !self.outage.unsaid.is_empty() {
            let at = self.outage.unsaid.iter().position(is_first).unwrap_or(0);
            let Some(unsaid) = self.outage.unsaid.remove(at) else { return Ok(()) };
            let answer = self.sidecar.repeat(unsaid.method, &unsaid.params).await;
            // Should it fail again, it is the first to be said then.
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
        // A sequence that is over may have forgotten its actions.
        if error.code() == Some(ErrorCode::UnknownAction) {
            return Ok(());
        }
        self.warn(&format!("{method}: {error}"))
    }
}
