//! The sidecar session of one hook, as the owner of the thread: reports the agent's events, and passes requests to the agent.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::bail;
use rawr_protocol::{
    Action, ActionReportParams, ActionStatus, Choice, CompactionOrigin, CompactionReportParams,
    CompactionReportStatus, Host, HostCapabilities, PendingAction, Phase, Purpose, Request, Role,
    SequenceRespondParams, SessionSource, Signal, SignalReportParams, ThreadCloseParams,
    ThreadGetParams, ThreadOpenParams, TokenUsage, Transcript, TurnCompletedParams, TurnOrigin,
    TurnStartedParams, TurnStatus, Verdict, methods,
};
use serde_json::Map;
use tokio::time::timeout;

use super::input::{HookAnswer, HookInput};
use super::open::{AwaitedReply, PendingRequest};
use super::transcript::{LastTurn, TranscriptSummary};
use crate::args::{HookArgs, HookHost};
use crate::commands::common::{CommonOptions, now_ms};
use rawr_host::sidecar::{Launch, SidecarClient, SidecarNotification};

/// Handles the event. `None` if there is no answer for the agent.
pub(super) async fn go(
    common: &CommonOptions,
    args: &HookArgs,
    input: &HookInput,
    open: &PendingRequest,
) -> anyhow::Result<Option<HookAnswer>> {
    let mut talk = HookSession::begin(common, args, input).await?;
    let answer = match args.event.as_str() {
        "Stop" => talk.stopped(open).await,
        "PreCompact" => talk.compacts(open).await.map(|()| None),
        "SessionStart" => talk.compacted(open).await,
        _ => talk.went_on(open).await.map(|()| None),
    };
    talk.end().await;
    answer
}

struct HookSession<'i> {
    sidecar: SidecarClient,
    args: &'i HookArgs,
    input: &'i HookInput,
    summary: Option<TranscriptSummary>,
    last_turn: LastTurn,
    /// Whether the agent may be asked for a packet. Otherwise events are only recorded.
    may_ask: bool,
    asked: VecDeque<PendingAction>,
    /// The phase in which the hook before left the thread.
    opened_in: Phase,
    /// Why a sequence started, for the user.
    reason: Option<String>,
}

/// Timeout of the next action, which may need the repository or a judge.
const NEXT_ACTION: Duration = Duration::from_secs(40);

impl<'i> HookSession<'i> {
    async fn begin(
        common: &CommonOptions,
        args: &'i HookArgs,
        input: &'i HookInput,
    ) -> anyhow::Result<Self> {
        let said = input.last_assistant_message.as_deref();
        let last_turn = LastTurn::whole(args.host, input.transcript()?, said)?;
        let summary = TranscriptSummary::of(args, &last_turn);
        let may_ask = args.headless || !is_headless(args.host, &last_turn);
        let sidecar = common.sidecar(Map::new())?.launch().await?;
        let (asked, opened_in, reason) = (VecDeque::new(), Phase::Idle, None);
        let mut talk =
            Self { sidecar, args, input, summary, last_turn, may_ask, asked, opened_in, reason };
        match talk.open().await {
            Ok(()) => Ok(talk),
            Err(error) => {
                talk.sidecar.stop().await;
                Err(error)
            }
        }
    }

    /// Opens the thread. Fails if another program owns it.
    async fn open(&mut self) -> anyhow::Result<()> {
        let params = ThreadOpenParams {
            thread_id: self.input.session_id.clone(),
            cwd: self.input.cwd.clone(),
            role: Role::Owner,
            host: Host {
                name: self.args.host.name().to_owned(),
                version: None,
                capabilities: HostCapabilities {
                    inject_turn: true,
                    steer: false,
                    sample: false,
                    queue: false,
                    queue_in_place: false,
                    queue_above_tokens: None,
                    compact: self.may_ask,
                    compact_by_person: true,
                    judge: false,
                    mid_turn_compact: false,
                    inject_items: false,
                    // No process waits for the silence between two hooks.
                    cache_seconds: None,
                },
            },
            model: self.input.model.clone().or_else(|| self.summary.as_ref()?.model.clone()),
            context_window: self.summary.as_ref().map(|summary| summary.context_window),
            context_window_assumed: self.summary.as_ref().is_some_and(|summary| summary.is_assumed),
            compacts_above_tokens: self
                .summary
                .as_ref()
                .and_then(|summary| summary.compacts_above_tokens),
            baseline_tokens: self.summary.as_ref().map_or(0, |summary| summary.baseline_tokens),
            session_source: Some(SessionSource::User),
            transcript: Some(Transcript { path: self.input.transcript()?.display().to_string() }),
            // A hook reports complete turns.
            began_at_ms: None,
            running_turn: None,
        };
        let opened = self.call::<methods::ThreadOpen>(params).await?;
        self.opened_in = opened.phase;
        self.asked.extend(opened.pending_actions);
        Ok(())
    }

    /// The turn ended, or the agent answered a request instead of ending it.
    async fn stopped(&mut self, open: &PendingRequest) -> anyhow::Result<Option<HookAnswer>> {
        match open.read() {
            Some(AwaitedReply::Answer { action_id })
                if self.input.is_continued() && self.may_ask =>
            {
                let said = self.input.last_assistant_message.clone();
                let said = said.or_else(|| self.last_turn.said().map(str::to_owned));
                self.answered(&action_id, said).await?;
                return self.next(open).await;
            }
            // The user wrote while the agent answered a request. The turn was reported when it was asked.
            Some(AwaitedReply::TurnsEnd) if self.input.is_continued() => {
                open.write(None)?;
                return Ok(None);
            }
            // The hook that was to hand over has died, and the agent has gone on.
            _ if self.opened_in == Phase::AwaitingHandoff => self.drop_handoff().await?,
            // The agent was interrupted before it answered.
            Some(AwaitedReply::Answer { .. } | AwaitedReply::Compaction) => self.cancel().await,
            // The hook that was to ask has died.
            _ if !self.asked.is_empty() => self.cancel().await,
            _ => {}
        }
        open.write(None)?;
        let signals = std::mem::take(&mut self.last_turn.signals);
        let said = self.input.last_assistant_message.clone();
        let verdict = self.turn(TurnOrigin::User, None, signals, said).await?;
        match verdict.sequence_id {
            Some(_) if self.may_ask => self.next(open).await,
            Some(_) | None => Ok(None),
        }
    }

    /// A packet from before the turn that the agent has just ended would mislead it.
    async fn drop_handoff(&mut self) -> anyhow::Result<()> {
        match self.next_action().await? {
            Some(handoff) => self.report(&handoff.action_id, ActionStatus::Failed, None).await,
            None => Ok(()),
        }
    }

    fn saved(open: &PendingRequest) -> anyhow::Result<Option<HookAnswer>> {
        open.write(Some(&AwaitedReply::Compaction))?;
        let message = "rawr: the continuation packet is there. Type /compact now, and the agent gets it \
                       back; go on with another message, and it is dropped.";
        Ok(Some(HookAnswer::told(message.to_owned())))
    }

    /// A compaction without a packet starts: saves a capsule first.
    async fn compacts(&mut self, open: &PendingRequest) -> anyhow::Result<()> {
        let by_person = self.input.is_by_person();
        if let Some(AwaitedReply::Answer { .. }) = open.read() {
            self.cancel().await;
        }
        self.report_compaction(CompactionReportStatus::Started, origin(by_person)).await?;
        open.write(Some(&AwaitedReply::HostCompaction { by_person }))
    }

    /// A compaction ended, requested by rawr, the user or the agent.
    async fn compacted(&mut self, open: &PendingRequest) -> anyhow::Result<Option<HookAnswer>> {
        let begun = match open.read() {
            Some(AwaitedReply::Answer { .. }) => {
                self.cancel().await;
                None
            }
            Some(AwaitedReply::HostCompaction { by_person }) => Some(origin(by_person)),
            _ => None,
        };
        // The sequence may have been cancelled elsewhere.
        let by = match self.phase().await? {
            Phase::AwaitingCompaction => CompactionOrigin::Rawr,
            _ => begun.unwrap_or(CompactionOrigin::Host),
        };
        if begun.is_none() {
            self.report_compaction(CompactionReportStatus::Started, by).await?;
        }
        self.report_compaction(CompactionReportStatus::Completed, by).await?;
        // What it freed is measured at the end of the next turn, however small that is.
        open.write(Some(&AwaitedReply::Measurement))?;
        let Some(PendingAction { action_id, action, .. }) = self.next_action().await? else {
            return Ok(None);
        };
        match action {
            Action::InjectTurn { purpose: Purpose::Handoff, text, .. } => {
                self.report(&action_id, ActionStatus::Accepted, None).await?;
                self.report(&action_id, ActionStatus::Completed, None).await?;
                Ok(Some(HookAnswer::handoff(text)))
            }
            _ => Ok(None),
        }
    }

    async fn report_compaction(
        &mut self,
        status: CompactionReportStatus,
        origin: CompactionOrigin,
    ) -> anyhow::Result<()> {
        let params = CompactionReportParams {
            thread_id: self.input.session_id.clone(),
            status,
            origin,
            action_id: None,
            tokens_before: None,
            tokens_after: None,
            error: None,
        };
        self.call::<methods::CompactionReport>(params).await.map(drop)
    }

    /// Reports the agent's answer as a separate turn.
    async fn answered(&mut self, action_id: &str, said: Option<String>) -> anyhow::Result<()> {
        self.turn(TurnOrigin::Synthetic, Some(action_id), Vec::new(), said.clone()).await?;
        self.report(action_id, ActionStatus::Completed, said).await
    }

    /// The user sent another message.
    async fn went_on(&mut self, open: &PendingRequest) -> anyhow::Result<()> {
        self.cancel().await;
        open.write(Some(&AwaitedReply::TurnsEnd))
    }

    /// A refusal means that no sequence is left to cancel.
    async fn cancel(&mut self) {
        let params = SequenceRespondParams {
            thread_id: self.input.session_id.clone(),
            choice: Choice::Cancel,
            sequence_id: None,
            turns: None,
            minutes: None,
            packet: None,
        };
        let _ = self.call::<methods::SequenceRespond>(params).await;
        self.asked.clear();
    }

    /// Passes the next action of the sequence to the agent or the user.
    async fn next(&mut self, open: &PendingRequest) -> anyhow::Result<Option<HookAnswer>> {
        let Some(PendingAction { action_id, action, .. }) = self.next_action().await? else {
            if self.phase().await? == Phase::AwaitingCompaction {
                return Self::saved(open);
            }
            open.write(None)?;
            return Ok(None);
        };
        match action {
            Action::InjectTurn { text, .. } => {
                self.report(&action_id, ActionStatus::Accepted, None).await?;
                open.write(Some(&AwaitedReply::Answer { action_id }))?;
                let told = self.reason.as_ref().map(|reason| {
                    format!("rawr: {reason}. The agent writes its continuation packet.")
                });
                Ok(Some(HookAnswer::go_on(text, told)))
            }
            Action::Compact { .. }
            | Action::DeliverInput { .. }
            | Action::Judge { .. }
            | Action::SamplePacket { .. } => {
                bail!("the sequence requests an action that hooks cannot perform")
            }
        }
    }

    /// Reports a complete turn, of which nothing was reported before.
    async fn turn(
        &mut self,
        origin: TurnOrigin,
        action_id: Option<&str>,
        signals: Vec<Signal>,
        said: Option<String>,
    ) -> anyhow::Result<Verdict> {
        let turn_id = turn_id();
        let thread_id = self.input.session_id.clone();
        let params = TurnStartedParams {
            thread_id: thread_id.clone(),
            turn_id: turn_id.clone(),
            origin,
            action_id: action_id.map(str::to_owned),
            text: self.last_turn.prompt.clone().filter(|_| origin == TurnOrigin::User),
        };
        self.call::<methods::TurnStarted>(params).await?;
        for signal in signals {
            let (thread_id, turn_id) = (thread_id.clone(), Some(turn_id.clone()));
            let params = SignalReportParams { thread_id, turn_id, signal_id: None, signal };
            self.call::<methods::SignalReport>(params).await?;
        }
        let params = TurnCompletedParams {
            thread_id,
            turn_id,
            status: TurnStatus::Completed,
            failure: None,
            last_agent_message: said,
            usage: self.summary.as_ref().map(|summary| TokenUsage {
                context_tokens: summary.context_tokens,
                input_tokens: None,
                cached_input_tokens: None,
                output_tokens: None,
                reasoning_tokens: None,
                cache_seconds: None,
            }),
            queued_inputs: None,
            review_mode: None,
        };
        Ok(self.call::<methods::TurnCompleted>(params).await?.verdict)
    }

    async fn report(
        &mut self,
        action_id: &str,
        status: ActionStatus,
        text: Option<String>,
    ) -> anyhow::Result<()> {
        self.asked.retain(|asked| asked.action_id != action_id);
        let params = ActionReportParams {
            thread_id: self.input.session_id.clone(),
            action_id: action_id.to_owned(),
            status,
            turn_id: None,
            text,
            error: (status == ActionStatus::Failed).then(|| "the user continued".to_owned()),
        };
        self.call::<methods::ActionReport>(params).await.map(drop)
    }

    /// Waits while the sequence is in a phase that ends by itself.
    async fn next_action(&mut self) -> anyhow::Result<Option<PendingAction>> {
        loop {
            if let Some(asked) = self.asked.pop_front() {
                return Ok(Some(asked));
            }
            if !self.phase().await?.ends_by_itself() {
                return Ok(self.asked.pop_front());
            }
            if self.asked.is_empty() {
                match timeout(NEXT_ACTION, self.sidecar.next_note()).await {
                    Ok(Some(note)) => self.hear(note),
                    Ok(None) | Err(_) => bail!("sidecar closed the connection"),
                }
            }
        }
    }

    async fn phase(&mut self) -> anyhow::Result<Phase> {
        let params = ThreadGetParams { thread_id: self.input.session_id.clone() };
        Ok(self.call::<methods::ThreadGet>(params).await?.thread.phase)
    }

    async fn call<R: Request>(&mut self, params: R::Params) -> anyhow::Result<R::Result> {
        let answer = self.sidecar.call::<R>(params).await;
        for note in self.sidecar.notes() {
            self.hear(note);
        }
        Ok(answer?)
    }

    fn hear(&mut self, note: SidecarNotification) {
        match note {
            SidecarNotification::Perform(perform) if perform.thread_id == self.input.session_id => {
                self.asked.push_back(PendingAction {
                    action_id: perform.action_id,
                    sequence_id: perform.sequence_id,
                    issued_at_ms: None,
                    action: perform.action,
                });
            }
            SidecarNotification::HeadsUp(heads_up)
                if heads_up.thread_id == self.input.session_id =>
            {
                self.reason = Some(heads_up.reason);
            }
            _ => {}
        }
    }

    async fn end(mut self) {
        let params = ThreadCloseParams { thread_id: self.input.session_id.clone() };
        // If this fails, the end of the sidecar closes the thread.
        let _ = self.sidecar.call::<methods::ThreadClose>(params).await;
        self.sidecar.stop().await;
    }
}

/// Whether the run is non-interactive: a script may read its output, and a packet would replace the result.
fn is_headless(host: HookHost, last_turn: &LastTurn) -> bool {
    match host {
        HookHost::Claude => claude_is_headless(|name| std::env::var(name).ok()),
        HookHost::Codex => last_turn.is_headless,
    }
}

/// Whether Claude Code runs without a user. Older releases only report how they were started.
fn claude_is_headless(variable: impl Fn(&str) -> Option<String>) -> bool {
    match variable("CLAUDE_CODE_SESSION_ATTENDED") {
        Some(attended) => attended == "0",
        None => variable("CLAUDE_CODE_ENTRYPOINT").is_some_and(|name| name.starts_with("sdk-")),
    }
}

const fn origin(by_person: bool) -> CompactionOrigin {
    if by_person { CompactionOrigin::User } else { CompactionOrigin::Host }
}

/// A new turn id for every hook: agents report none, or the same id for several turns of rawr's kind.
fn turn_id() -> String {
    format!("hook-{}-{}", now_ms(), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claude_code_reports_whether_a_user_is_present() {
        for (attended, entrypoint, expected) in [
            (Some("0"), Some("sdk-cli"), true),
            (Some("1"), Some("cli"), false),
            // An editor drives the SDK and shows the session to a user.
            (Some("1"), Some("sdk-ts"), false),
            (None, Some("sdk-py"), true),
            (None, Some("cli"), false),
            (None, None, false),
        ] {
            let variable = |name: &str| {
                let value =
                    if name == "CLAUDE_CODE_SESSION_ATTENDED" { attended } else { entrypoint };
                value.map(str::to_owned)
            };
            assert_eq!(claude_is_headless(variable), expected, "{attended:?} {entrypoint:?}");
        }
    }
}
