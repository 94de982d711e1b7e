//! The driver's side of the sidecar: opens the thread, calls, and replaces a sidecar that died.

use std::time::{Duration, Instant};

use rawr_protocol::{
    ErrorCode, HeldInput, PendingAction, Phase, Purpose, Request, Role, SessionSource,
    ThreadOpenParams, Transcript, methods,
};
use serde_json::value::RawValue;

use super::driver::DriverTask;
use super::held::submitted_at_ms;
use super::outage::StoreOutage;
use super::port::{CallAnswer, Order};
use super::result::DriveError;
use crate::event::SessionEvent;
use crate::host::ThreadOrigin;
use crate::sidecar::{SidecarError, raw_params, read_answer};

/// What the driver knows of the sidecar.
#[derive(Debug)]
pub(super) struct SidecarLink {
    /// The phase that it reported last.
    pub(super) phase: Phase,
    /// A report was refused since then. The phase may never change, so do not wait for it.
    pub(super) is_unsure: bool,
    pub(super) outage: StoreOutage,
    /// The model that it was told of last.
    pub(super) known_model: Option<String>,
    /// The host's own limit that it was told of last.
    pub(super) known_limit: Option<u64>,
    relaunched_at: Option<Instant>,
    /// How long a restarted sidecar must live to be restarted once more.
    quiet: Duration,
}

impl SidecarLink {
    pub(super) fn new(quiet: Duration) -> Self {
        Self {
            phase: Phase::Idle,
            is_unsure: false,
            outage: StoreOutage::default(),
            known_model: None,
            known_limit: None,
            relaunched_at: None,
            quiet,
        }
    }

    /// Whether a sidecar that died now may be replaced.
    fn may_relaunch(&mut self, now: Instant) -> bool {
        let before = self.relaunched_at.replace(now);
        before.is_none_or(|before| now.duration_since(before) >= self.quiet)
    }
}

impl DriverTask<'_> {
    /// Calls the sidecar once. Notifications that arrived before the answer are handled first.
    pub(super) async fn call<R: Request>(
        &mut self,
        params: &R::Params,
    ) -> Result<R::Result, DriveError> {
        let answer = self.call_raw(R::METHOD, raw_params::<R>(params)?).await??;
        Ok(read_answer::<R>(&answer)?)
    }

    /// The outer error is the reporter's.
    pub(super) async fn call_raw(
        &mut self,
        method: &'static str,
        params: Box<RawValue>,
    ) -> Result<Result<Box<RawValue>, SidecarError>, DriveError> {
        let order = |reply| Order::Call { method, params, reply };
        let CallAnswer { answer, notices } = self.port.ask(order).await;
        for notice in notices {
            self.handle_notice(notice)?;
        }
        Ok(answer)
    }

    /// Calls the sidecar; restarts it and calls again if it dies.
    pub(super) async fn call_until_answered<R: Request>(
        &mut self,
        params: &R::Params,
    ) -> Result<R::Result, DriveError> {
        loop {
            match self.call::<R>(params).await {
                Err(DriveError::Sidecar(error)) if error.is_end() => {
                    self.relaunch(Some(error)).await?;
                }
                answer => return answer,
            }
        }
    }

    /// Calls the sidecar. A refusal is only reported; the host's work continues.
    pub(super) async fn report<R: Request>(
        &mut self,
        params: R::Params,
    ) -> Result<Option<R::Result>, DriveError> {
        if self.link.outage.delays(R::METHOD) {
            self.link.outage.keep::<R>(&params);
            return Ok(None);
        }
        match self.call_until_answered::<R>(&params).await {
            Ok(answer) => Ok(Some(answer)),
            // The sidecar reports this once itself.
            Err(DriveError::Sidecar(error))
                if error.code() == Some(ErrorCode::StoreFailed) && self.link.outage.is_on =>
            {
                self.link.outage.keep::<R>(&params);
                Ok(None)
            }
            // The actions of a finished sequence may be unknown.
            Err(DriveError::Sidecar(error)) if error.code() == Some(ErrorCode::UnknownAction) => {
                Ok(None)
            }
            Err(DriveError::Sidecar(
                error @ (SidecarError::Refused { .. } | SidecarError::NotUnderstood { .. }),
            )) => {
                self.link.is_unsure = true;
                self.warn(&format!("{}: {error}", R::METHOD))?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Opens the thread as its owner and queues its pending actions. Returns their number.
    pub(super) async fn open_thread(&mut self) -> Result<usize, DriveError> {
        let thread = self.port.thread();
        let running_turn = self.turns.running_turn().map(str::to_owned);
        let params = ThreadOpenParams {
            thread_id: self.thread_id.clone(),
            cwd: thread.cwd.display().to_string(),
            role: Role::Owner,
            host: thread.host.clone(),
            model: thread.model.clone(),
            context_window: thread.context_window,
            context_window_assumed: thread.context_window_assumed,
            compacts_above_tokens: thread.compacts_above_tokens,
            baseline_tokens: thread.baseline_tokens,
            session_source: Some(match thread.origin.clone() {
                ThreadOrigin::Person => SessionSource::User,
                ThreadOrigin::Parent { name } => SessionSource::Subagent { name },
            }),
            transcript: thread
                .transcript
                .as_ref()
                .map(|path| Transcript { path: path.display().to_string() }),
            began_at_ms: thread.began_at_ms,
            running_turn: running_turn.or_else(|| self.port.running_turn()),
        };
        let opened = self.call::<methods::ThreadOpen>(&params).await?;
        self.link.phase = opened.phase;
        self.link.known_model.clone_from(&thread.model);
        self.link.known_limit = thread.compacts_above_tokens;
        let sidecar = self.port.sidecar();
        self.reporter.report(&SessionEvent::Session { host: &thread, opened: &opened, sidecar })?;
        if let Some(HeldInput { input_id, text }) = opened.held_before
            && self.port.is_shared()
        {
            let since_ms = submitted_at_ms(&input_id);
            self.port.ask(|reply| Order::GiveBack { text, since_ms, reply }).await?;
        }
        let pending = opened.pending_actions.len();
        for action in opened.pending_actions {
            self.actions.in_doubt.insert(action.sequence_id.clone());
            self.take_up(action);
        }
        Ok(pending)
    }

    /// Queues an action. In a shared conversation a person's turn can start before the handoff, which then joins that turn.
    pub(super) fn take_up(&mut self, mut action: PendingAction) {
        let is_late = |purpose: Purpose| matches!(purpose, Purpose::Handoff | Purpose::Notice);
        if let rawr_protocol::Action::InjectTurn { purpose, via_steer, .. } = &mut action.action
            && is_late(*purpose)
        {
            *via_steer |= self.port.is_shared();
        }
        self.actions.take_up(action);
    }

    /// Replaces a sidecar that died. The new one reads the thread's log and repeats the pending actions.
    pub(super) async fn relaunch(&mut self, error: Option<SidecarError>) -> Result<(), DriveError> {
        let error = match error {
            Some(error) => error,
            None => self.port.ask(|reply| Order::DescribeExit { reply }).await,
        };
        if !self.link.may_relaunch(self.port.now().at) {
            return Err(DriveError::SidecarEndedAgain(error));
        }
        self.port.ask(|reply| Order::Relaunch { reply }).await?;
        self.link.outage.is_on = false;
        let pending = self.open_thread().await?;
        self.reporter
            .report(&SessionEvent::SidecarRestarted { error: &error.to_string(), pending })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sidecar_that_dies_again_at_once_is_not_replaced() {
        let mut link = SidecarLink::new(Duration::from_secs(60));
        let start = Instant::now();
        for (seconds, may) in [(0, true), (59, false), (118, false), (178, true)] {
            assert_eq!(link.may_relaunch(start + Duration::from_secs(seconds)), may, "{seconds}");
        }
    }
}
