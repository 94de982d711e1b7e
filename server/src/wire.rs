//! Conversions between the protocol and the core: names, ids and payloads. Contains no rules.

mod banner;
mod json_path;
mod rpc_error;
mod to_wire;

pub use banner::{heads_up, heads_up_notification};
pub use rpc_error::RpcError;
pub use to_wire::{
    action, boundaries, breaker_hold, compaction_update, decision, fact, guards, held_input,
    judgment_result, judgment_usage, last_compaction, last_fate, new_decision, packets_ahead,
    pending, percent, plan, pre_compact_requests, problems, proposal, responded, thread_changed,
    trigger, verdict,
};

use rawr_core::boundary::Boundaries;
use rawr_core::event::{self, Usage};
use rawr_core::machine::{Input, InputKind, Response, ShellCommand};
use rawr_core::signal::plan::PlanItem;
use rawr_core::units::{ActionId, CallId, InputId, SequenceId, SignalId, ThreadId, Tokens, TurnId};
use rawr_protocol as wire;

/// From the core to the protocol. The enums of both have the same names, and a change of the core that would change the
/// wire format does not compile. So the disk format and the wire format can evolve independently.
pub trait ToWire {
    type Wire;
    fn to_wire(self) -> Self::Wire;
}

pub trait ToCore {
    type Core;
    fn to_core(self) -> Self::Core;
}

macro_rules! mirror_enums {
    ($($core:path = $wire:path { $($name:ident),* $(,)? })*) => {$(
        impl ToWire for $core {
            type Wire = $wire;
            fn to_wire(self) -> $wire {
                match self { $(<$core>::$name => <$wire>::$name,)* }
            }
        }

        impl ToCore for $wire {
            type Core = $core;
            fn to_core(self) -> $core {
                match self { $(<$wire>::$name => <$core>::$name,)* }
            }
        }
    )*};
}

mirror_enums! {
    rawr_core::policy::Tier = wire::Tier { Early, Ready, Asap, Emergency }
    rawr_core::boundary::Boundary = wire::Boundary {
        Commit, Pushed, Merged, BranchChanged, TestsGreen, PhaseEnded, PlanCheckpoint, PlanUpdate, PrCheckpoint, AgentDone,
        TopicShift, ConcludingThought, TurnComplete,
    }
    event::Phase = wire::Phase {
        Idle, AwaitingJudgment, AwaitingApproval, Deferred, Proposed, AwaitingHeadsUp, AwaitingScratchWrite,
        AwaitingPacket, AwaitingCompaction, Compacting, AwaitingHandoff,
    }
    rawr_core::assess::Gate = wire::Gate {
        Feature, Pressure, Origin, ModeOfHost, Guard, Breaker, Rearm, Cooldown, Boundary, WeakBoundary, SemanticBreak,
        ActiveWork, PacketWorth, Confirmation, Judgment, Mode,
    }
    rawr_core::assess::GateOutcome = wire::GateOutcome { Pass, Fail, Bypassed, NotReached }
    rawr_core::thread::sequence::RequestState = wire::RequestState { Queued, Asked, Answered, Failed }
    event::Entrance = wire::Entrance { TurnComplete, Preflight, MidTurn, Inline }
    event::Purpose = wire::Purpose { HeadsUp, ScratchWrite, PacketRequest, Handoff, Notice }
    rawr_core::policy::PacketAuthor = wire::PacketAuthor { Agent, Watcher, Person }
    event::ResumeState = wire::ResumeState { Working, WaitingForUser, Done }
    rawr_core::signal::plan::StepStatus = wire::StepStatus { Pending, InProgress, Completed }
    event::CompactionOrigin = wire::CompactionOrigin { Rawr, Host, User }
    event::CompactionReportStatus = wire::CompactionReportStatus { Started, Completed, Failed }
    event::TurnOrigin = wire::TurnOrigin { User, Synthetic, Host }
    event::TurnStatus = wire::TurnStatus { Completed, Interrupted, Failed }
    event::ActionStatus = wire::ActionStatus { Accepted, Completed, Failed }
    event::Choice = wire::Choice { CompactNow, Approve, Snooze, Cancel, EditPacket }
    event::Outcome = wire::Outcome { Nothing, Tag, Suggest, Ask, Judge, Defer, Compact }
    event::ItemRole = wire::ItemRole { Handoff, Notice, Input }
    rawr_core::machine::PacketChange = wire::PacketChange { Taken, Edited, Outdated }
    rawr_core::machine::BannerStage = wire::BannerStage { WillCompact, AwaitingApproval, Recommended, Tagged, Deferred }
    event::JudgmentSource = wire::JudgmentSource { Host, Responses, Chat, Heuristic }
    InputKind = wire::InputKind { Message, LocalCommand }
    rawr_core::policy::Preset = wire::Preset { Calm, Spec }
    rawr_analysis::report::ReplayOrder = wire::ReplayOrder { First, Second }
    rawr_records::read::RecordFormat = wire::RecordFormat { Codex, Claude, Rawr }
}

/// Ids become folder names, so that each one from outside is validated.
pub fn thread_id(id: &str) -> Result<ThreadId, RpcError> {
    checked("threadId", id).map(ThreadId::new)
}

pub fn turn_id(id: &str) -> Result<TurnId, RpcError> {
    checked("turnId", id).map(TurnId::new)
}

fn signal_id(id: &str) -> Result<SignalId, RpcError> {
    checked("signalId", id).map(SignalId::new)
}

pub fn input_id(id: &str) -> Result<InputId, RpcError> {
    checked("inputId", id).map(InputId::new)
}

pub fn action_id(id: &str) -> Result<ActionId, RpcError> {
    checked("actionId", id).map(ActionId::new)
}

/// Ids of capsules become file names.
pub fn capsule_id(id: &str) -> Result<&str, RpcError> {
    checked("capsuleId", id)
}

fn checked<'i>(field: &str, id: &'i str) -> Result<&'i str, RpcError> {
    wire::check_id(id)
        .map(|()| id)
        .map_err(|problem| RpcError::bad_field(field, format!("{field} {problem}")))
}

pub fn turn_started(params: wire::TurnStartedParams) -> Result<Input, RpcError> {
    let action = params.action_id.as_deref().map(action_id).transpose()?;
    Ok(Input::Saw(
        event::TurnStarted {
            turn: turn_id(&params.turn_id)?,
            origin: params.origin.to_core(),
            action,
            text: params.text,
            directives: Vec::new(),
        }
        .into(),
    ))
}

pub fn turn_usage(params: &wire::TurnUsageParams) -> Result<Input, RpcError> {
    Ok(Input::Saw(
        event::UsageReported {
            turn: turn_id(&params.turn_id)?,
            usage: params.usage.as_ref().map(usage),
            window: params.context_window.map(Tokens),
            compacts_above: params.compacts_above_tokens.map(Tokens),
            cache_seconds: params.usage.as_ref().and_then(|usage| usage.cache_seconds),
            model: params.model.clone(),
            needs_follow_up: params.needs_follow_up.unwrap_or(false),
            last_message: params.last_agent_message.clone(),
            boundaries: Boundaries::NONE,
            heard: None,
        }
        .into(),
    ))
}

pub fn turn_completed(params: wire::TurnCompletedParams) -> Result<Input, RpcError> {
    Ok(Input::Saw(
        event::TurnCompleted {
            turn: turn_id(&params.turn_id)?,
            status: params.status.to_core(),
            overflow: params.failure.map(|failure| match failure {
                wire::TurnFailure::ContextFull { request_tokens, context_window } => {
                    event::Overflow {
                        size: request_tokens.map(Tokens),
                        window: context_window.map(Tokens),
                    }
                }
            }),
            last_message: params.last_agent_message,
            usage: params.usage.as_ref().map(usage),
            queued_inputs: u32::try_from(params.queued_inputs.unwrap_or(0)).unwrap_or(u32::MAX),
            review_mode: params.review_mode.unwrap_or(false),
            boundaries: Boundaries::NONE,
            heard: None,
        }
        .into(),
    ))
}

fn usage(usage: &wire::TokenUsage) -> Usage {
    Usage {
        context: Tokens(usage.context_tokens),
        input: usage.input_tokens.map(Tokens),
        cached: usage.cached_input_tokens.map(Tokens),
        output: usage.output_tokens.map(Tokens),
        reasoning: usage.reasoning_tokens.map(Tokens),
    }
}

pub fn signal(params: wire::SignalReportParams) -> Result<Input, RpcError> {
    let turn = params.turn_id.as_deref().map(turn_id).transpose()?;
    let signal = params.signal_id.as_deref().map(signal_id).transpose()?;
    let call = |id: &str| checked("callId", id).map(CallId::new);
    Ok(Input::Saw(match params.signal {
        wire::Signal::CommandFinished { command, exit_code, cwd } => {
            let command = match command {
                wire::CommandLine::Line(line) => ShellCommand::Line(line),
                wire::CommandLine::Words(words) => ShellCommand::Words(words),
            };
            return Ok(Input::Command { turn, signal, command, exit_code, cwd });
        }
        wire::Signal::PlanUpdated { steps, explanation } => event::PlanUpdated {
            turn,
            signal,
            steps: steps
                .into_iter()
                .map(|s| PlanItem { step: s.step, status: s.status.to_core() })
                .collect(),
            explanation,
            boundaries: Boundaries::NONE,
        }
        .into(),
        wire::Signal::Commit { hash, subject } => {
            event::CommitMade { turn, signal, hash, subject }.into()
        }
        wire::Signal::PrCheckpoint { action, url } => {
            event::PrCheckpoint { turn, signal, action, url }.into()
        }
        wire::Signal::BranchChanged { branch } => {
            event::BranchChanged { branch, boundaries: Boundaries::NONE }.into()
        }
        wire::Signal::TitleChanged { title } => event::TitleChanged { title }.into(),
        wire::Signal::ToolStarted { call_id, name } => {
            event::ToolStarted { call: call(&call_id)?, name }.into()
        }
        wire::Signal::ToolFinished { call_id } => {
            event::ToolFinished { call: call(&call_id)? }.into()
        }
        wire::Signal::PhaseBoundary { label } => {
            event::PhaseEnded { turn, signal, label, by: None, boundaries: Boundaries::NONE }.into()
        }
        wire::Signal::UserMessage { text } => {
            event::UserMessage { turn, text, directives: Vec::new() }.into()
        }
        wire::Signal::Directive { text, pinned } => {
            event::DirectiveGiven { text, pinned, by: None }.into()
        }
    }))
}

pub fn action_report(params: wire::ActionReportParams) -> Result<Input, RpcError> {
    let turn = params.turn_id.as_deref().map(turn_id).transpose()?;
    Ok(Input::Saw(
        event::ActionReported {
            action: action_id(&params.action_id)?,
            status: params.status.to_core(),
            turn,
            text: params.text,
            error: params.error,
        }
        .into(),
    ))
}

pub fn compaction_report(params: wire::CompactionReportParams) -> Result<Input, RpcError> {
    let action = params.action_id.as_deref().map(action_id).transpose()?;
    Ok(Input::Saw(
        event::CompactionReported {
            status: params.status.to_core(),
            origin: params.origin.to_core(),
            action,
            tokens_before: params.tokens_before.map(Tokens),
            tokens_after: params.tokens_after.map(Tokens),
            error: params.error,
        }
        .into(),
    ))
}

pub fn response(params: wire::SequenceRespondParams, client: &str) -> Input {
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Input::Respond(Response {
        choice: params.choice.to_core(),
        sequence: params.sequence_id.map(SequenceId::new),
        turns: params.turns.map(small),
        minutes: params.minutes.map(small),
        packet: params.packet,
        by: Some(client.to_owned()),
    })
}

pub fn until(until: &wire::Until) -> event::GuardEnd {
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    match until {
        wire::Until::Turns { turns } => event::GuardEnd::Turns(small(*turns)),
        wire::Until::Minutes { minutes } => event::GuardEnd::Minutes(small(*minutes)),
        wire::Until::NextCommit => event::GuardEnd::NextCommit,
        wire::Until::TestsPass => event::GuardEnd::TestsPass,
        wire::Until::Released => event::GuardEnd::Released,
    }
}
