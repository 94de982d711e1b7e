//! Conversions from the core to payloads.

use super::ToWire;
use rawr_core::assess::{DecisionRecord, Judgment};
use rawr_core::boundary::Boundaries;
use rawr_core::event::{
    self, AgentRequest, Assessed, CompactionReportStatus, CompactionReported, Fact, FactKind,
    GuardEnd, JudgeReply, JudgmentSource, Responded, Trigger,
};
use rawr_core::judgment::OUTPUT_SCHEMA;
use rawr_core::machine::HeadsUpBanner;
use rawr_core::policy::{ConfirmRule, Mode, PacketAuthor, Policy, Silence, Tier};
use rawr_core::thread::breaker::Hold;
use rawr_core::thread::fate::{Fate, TrackedDecision};
use rawr_core::thread::sequence::PreCompactRequest;
use rawr_core::thread::{CompactionGuard, CompletedCompaction, Issued, Thread, WaitingInput};
use rawr_core::units::{JudgeRequestId, Percent, SequenceId, Timestamp};
use rawr_protocol as wire;
use rawr_settings::problem::{self, ProblemSeverity};
use std::collections::BTreeMap;
use std::path::Path;

pub fn boundaries(set: Boundaries) -> Vec<wire::Boundary> {
    set.iter().map(ToWire::to_wire).collect()
}

pub const fn percent(percent: Percent) -> u8 {
    percent.0
}

pub fn verdict(decision: &DecisionRecord) -> wire::Verdict {
    wire::Verdict {
        decision_id: Some(decision.id.to_string()),
        outcome: decision.outcome.to_wire(),
        tier: decision.tier.map(ToWire::to_wire),
        percent_remaining: decision.percent.map(percent),
        reason: decision.reason.clone(),
        sequence_id: decision.sequence.as_ref().map(SequenceId::to_string),
        confirm: decision.confirm.and_then(|by| confirm(by, decision.after_turn)),
    }
}

const fn confirm(by: ConfirmRule, after_turn: bool) -> Option<wire::Confirm> {
    match by {
        _ if after_turn => Some(wire::Confirm::TurnEnd),
        ConfirmRule::None => None,
        ConfirmRule::Message => Some(wire::Confirm::Message),
        ConfirmRule::Idle => Some(wire::Confirm::Idle),
        ConfirmRule::Either => Some(wire::Confirm::Either),
    }
}

/// The proposal that waits for a confirmation. Every client shows its text.
pub fn proposal(
    proposal: &Assessed,
    mode: Mode,
    silence: Silence,
) -> Option<wire::CompactionProposal> {
    let by = proposal.confirm?;
    let labels: Vec<_> = boundaries(proposal.boundaries).into_iter().map(|b| b.label()).collect();
    let decides = match proposal.after_turn {
        true => "confirmed, and comes when this turn ends".to_owned(),
        false => format!("{} decides", by.decides(silence)),
    };
    Some(wire::CompactionProposal {
        decision_id: proposal.decision.to_string(),
        confirm: confirm(by, proposal.after_turn)?,
        text: format!("{} ({}); {decides}", proposed(mode), labels.join(", ")),
    })
}

/// In modes that compact nothing, only the advice waits for a confirmation.
const fn proposed(mode: Mode) -> &'static str {
    match mode {
        Mode::Auto | Mode::Ask => "Compaction proposed",
        Mode::Suggest => "A compaction may be recommended",
        Mode::Tag => "A compaction may be tagged",
    }
}

/// As it is recorded, before anything was asked for: every client is told the same, however far its sequence has come when
/// the notification leaves.
pub fn new_decision(thread: &Thread, record: &DecisionRecord) -> wire::Decision {
    wire::Decision { pre_compact_requests: Vec::new(), ..decision(thread, record) }
}

/// With its outcome, as far as it is known.
pub fn decision(thread: &Thread, decision: &DecisionRecord) -> wire::Decision {
    let verdict = verdict(decision);
    let sequence = decision.sequence.as_ref();
    let running = thread.sequence().filter(|running| Some(&running.id) == sequence);
    let compaction = sequence.and_then(|sequence| thread.compactions.of(sequence));
    let author = compaction
        .and_then(|compaction| compaction.author)
        .or(running.map(|running| running.terms.author))
        .unwrap_or(PacketAuthor::Agent);
    let cause = sequence.map(|_| cause_of(decision));
    wire::Decision {
        decision_id: decision.id.to_string(),
        outcome: verdict.outcome,
        tier: verdict.tier,
        percent_remaining: verdict.percent_remaining,
        reason: verdict.reason,
        sequence_id: verdict.sequence_id,
        confirm: verdict.confirm,
        proposal_id: decision.proposal.as_ref().map(ToString::to_string),
        at_ms: decision.at.0,
        trigger: cause.zip(sequence).map(|(cause, sequence)| trigger(&cause, sequence, author)),
        entrance: decision.entrance.to_wire(),
        gates: decision
            .gates
            .iter()
            .map(|result| wire::GateResult {
                gate: result.gate.to_wire(),
                outcome: result.outcome.to_wire(),
                evidence: result.evidence.clone(),
            })
            .collect(),
        would_fire_if: decision.would_fire_if.clone(),
        requests: decision.requests.iter().copied().map(purpose).collect(),
        pre_compact_requests: sequence
            .map(|sequence| pre_compact_requests(thread, sequence))
            .unwrap_or_default(),
        judgment: decision.judgment.as_ref().map(judgment),
        compaction: compaction.map(|compaction| wire::DecisionCompaction {
            status: wire::CompactionStatus::Completed,
            tokens_before: compaction.before.map(|tokens| tokens.0),
            tokens_after: compaction.after.map(|tokens| tokens.0),
            packet_author: compaction.author.map(ToWire::to_wire),
            packet_added: compaction.added.iter().map(fact).collect(),
        }),
        fate: thread.fate_of(&decision.id).map(|known| match decision.confirm {
            Some(_) => fate_of_proposal(known),
            None => fate(known),
        }),
    }
}

const fn purpose(request: AgentRequest) -> wire::Purpose {
    match request {
        AgentRequest::HeadsUp => wire::Purpose::HeadsUp,
        AgentRequest::ScratchWrite => wire::Purpose::ScratchWrite,
        AgentRequest::Packet => wire::Purpose::PacketRequest,
    }
}

pub fn pre_compact_requests(
    thread: &Thread,
    sequence: &SequenceId,
) -> Vec<wire::PreCompactRequest> {
    let requests = thread.pre_compact_requests(sequence).into_iter();
    let to_wire = |request: PreCompactRequest| wire::PreCompactRequest {
        purpose: purpose(request.request),
        author: request.author.to_wire(),
        state: request.state.to_wire(),
        action_id: request.action.as_ref().map(ToString::to_string),
        result: request.result,
    };
    requests.map(to_wire).collect()
}

fn cause_of(decision: &DecisionRecord) -> Trigger {
    match (decision.entrance, decision.tier, decision.percent) {
        (event::Entrance::Inline, _, Some(percent)) => Trigger::Inline { percent },
        (entrance, Some(tier), Some(percent)) if decision.turn.is_some() => {
            Trigger::Rawr { entrance, tier, percent, boundaries: decision.boundaries }
        }
        _ => Trigger::User,
    }
}

fn judgment(judgment: &Judgment) -> wire::DecisionJudgment {
    let (should_compact, reason, error) = answer(&judgment.answer);
    wire::DecisionJudgment {
        request_id: judgment.request.as_ref().map(ToString::to_string),
        source: judgment.source.to_wire(),
        should_compact,
        reason,
        error,
    }
}

fn answer(answer: &JudgeReply) -> (Option<bool>, String, Option<String>) {
    match answer {
        JudgeReply::Says { should_compact, reason } => {
            (Some(*should_compact), reason.clone(), None)
        }
        JudgeReply::Failed { error } => (None, String::new(), Some(error.clone())),
    }
}

pub fn judgment_result(
    thread: &Thread,
    request: &JudgeRequestId,
    tier: Option<Tier>,
    source: JudgmentSource,
    said: &JudgeReply,
) -> wire::JudgmentResultNotification {
    let (should_compact, reason, error) = answer(said);
    wire::JudgmentResultNotification {
        thread_id: thread.id.to_string(),
        request_id: request.to_string(),
        tier: tier.map(ToWire::to_wire),
        source: source.to_wire(),
        should_compact,
        reason,
        error,
    }
}

pub fn responded(thread: &Thread, responded: &Responded) -> wire::SequenceRespondedNotification {
    wire::SequenceRespondedNotification {
        thread_id: thread.id.to_string(),
        sequence_id: responded.sequence.as_ref().map(ToString::to_string),
        choice: responded.choice.to_wire(),
        by: responded.by.clone(),
    }
}

pub fn judgment_usage(thread: &Thread) -> Option<wire::JudgmentTotals> {
    let judged = &thread.decided.judged;
    (judged.calls > 0).then(|| wire::JudgmentTotals {
        calls: judged.calls.into(),
        failures: judged.failures.into(),
        input_tokens: judged.usage.input.0,
        output_tokens: judged.usage.output.0,
        rate_limits: judged
            .rate_limits
            .iter()
            .map(|limit| wire::RateLimit { name: limit.name.clone(), value: limit.value.clone() })
            .collect(),
    })
}

pub fn packets_ahead(thread: &Thread) -> Option<wire::PacketsAhead> {
    let drafts = thread.decided.drafts;
    (drafts.asked > 0).then(|| wire::PacketsAhead {
        asked: drafts.asked.into(),
        used: drafts.used.into(),
        unused_tokens: drafts.unused_tokens.0,
    })
}

/// The fact as text.
pub fn fact(fact: &Fact) -> String {
    let what = match fact.kind {
        FactKind::OpenStep => "open step",
        FactKind::ChangedFile => "changed file",
        FactKind::Directive => "directive",
        FactKind::RunningJob => "still running",
        FactKind::Branch => "branch",
        FactKind::UncheckedFile => "unchecked file",
        FactKind::FailedCommand => "failed command",
        FactKind::Request => "request",
    };
    format!("{what}: {}", fact.text)
}

pub fn trigger(
    trigger: &Trigger,
    sequence: &SequenceId,
    author: PacketAuthor,
) -> wire::CompactionTrigger {
    match trigger {
        Trigger::Rawr { entrance, tier, percent, boundaries: set } => {
            wire::CompactionTrigger::Rawr {
                entrance: entrance.to_wire(),
                tier: tier.to_wire(),
                percent_remaining: percent.0,
                boundaries: boundaries(*set),
                packet_author: author.to_wire(),
                sequence_id: sequence.to_string(),
            }
        }
        Trigger::Inline { percent } => {
            wire::CompactionTrigger::Inline { percent_remaining: percent.0 }
        }
        Trigger::Host => wire::CompactionTrigger::Host,
        Trigger::User => wire::CompactionTrigger::User,
    }
}

pub fn action(issued: &Issued) -> wire::Action {
    match &issued.kind {
        event::HostAction::InjectTurn { purpose, text, marker, via_steer } => {
            wire::Action::InjectTurn {
                purpose: purpose.to_wire(),
                text: text.clone(),
                marker: marker.clone(),
                via_steer: *via_steer,
            }
        }
        event::HostAction::Compact { trigger: cause, author, settings, local, interrupt } => {
            wire::Action::Compact {
                trigger: trigger(cause, &issued.sequence, *author),
                model: settings.model.clone(),
                reasoning_effort: settings.reasoning_effort.clone(),
                verbosity: settings.verbosity.clone(),
                packet_only: settings.packet_only,
                local: *local,
                interrupt: *interrupt,
            }
        }
        event::HostAction::DeliverInput { input, items } => wire::Action::DeliverInput {
            input_id: input.to_string(),
            items: items
                .iter()
                .map(|item| wire::InputItem { role: item.role.to_wire(), text: item.text.clone() })
                .collect(),
        },
        event::HostAction::SamplePacket { prompt, ahead } => {
            wire::Action::SamplePacket { prompt: prompt.clone(), ahead: *ahead }
        }
        event::HostAction::Judge { request, by: _, instructions, context } => wire::Action::Judge {
            request_id: request.to_string(),
            instructions: instructions.clone(),
            context: context.clone(),
            output_schema: OUTPUT_SCHEMA.clone(),
        },
    }
}

pub fn pending(issued: &[Issued]) -> Vec<wire::PendingAction> {
    issued
        .iter()
        .filter(|issued| !issued.kind.is_for_sidecar())
        .map(|issued| wire::PendingAction {
            action_id: issued.id.to_string(),
            sequence_id: issued.sequence.to_string(),
            issued_at_ms: (issued.issued_at.0 > 0).then_some(issued.issued_at.0),
            action: action(issued),
        })
        .collect()
}

pub fn plan(thread: &Thread) -> Vec<wire::PlanStep> {
    thread
        .known
        .plan
        .iter()
        .map(|s| wire::PlanStep { step: s.step.clone(), status: s.status.to_wire() })
        .collect()
}

/// The guards that are active now.
pub fn held_input(held: &WaitingInput) -> wire::HeldInput {
    wire::HeldInput { input_id: held.id.to_string(), text: held.text.clone() }
}

pub fn guards(thread: &Thread, now: Timestamp) -> Vec<wire::Guard> {
    thread.active_guards(now).map(guard).collect()
}

fn guard(guard: &CompactionGuard) -> wire::Guard {
    wire::Guard {
        guard_id: guard.id.to_string(),
        until: match guard.until {
            GuardEnd::Turns(turns) => wire::Until::Turns { turns: turns.into() },
            GuardEnd::Minutes(minutes) => wire::Until::Minutes { minutes: minutes.into() },
            GuardEnd::NextCommit => wire::Until::NextCommit,
            GuardEnd::TestsPass => wire::Until::TestsPass,
            GuardEnd::Released => wire::Until::Released,
        },
        note: guard.note.clone(),
        set_at_ms: guard.set_at.0,
        set_by: guard.by.clone(),
    }
}

/// The newest fate, which may be that of the proposal that waits.
pub fn last_fate(known: &TrackedDecision, proposal: Option<&Assessed>) -> wire::DecisionFate {
    match proposal {
        Some(proposal) if proposal.decision == known.decision => fate_of_proposal(known),
        _ => fate(known),
    }
}

fn fate_of_proposal(known: &TrackedDecision) -> wire::DecisionFate {
    let told = fate(known);
    match &known.fate {
        Fate::Waiting => wire::DecisionFate { text: "not decided yet".to_owned(), ..told },
        Fate::Overtaken { by } => {
            wire::DecisionFate { text: format!("decided by decision {by}"), ..told }
        }
        _ => told,
    }
}

fn fate(known: &TrackedDecision) -> wire::DecisionFate {
    use wire::FateStatus::{CalledOff, CarriedOut, Dropped, Failed, Overtaken, Running, Waiting};
    let (status, text) = match &known.fate {
        Fate::Waiting => (Waiting, "not started yet".to_owned()),
        Fate::Running => (Running, "in progress".to_owned()),
        Fate::CarriedOut => (CarriedOut, "carried out".to_owned()),
        Fate::Dropped { why } => (Dropped, format!("dropped: {why}")),
        Fate::CalledOff { by: Some(by), why } => (CalledOff, format!("called off by {by} ({why})")),
        Fate::CalledOff { by: None, why } => (CalledOff, format!("called off: {why}")),
        Fate::Failed { why } => (Failed, format!("failed: {why}")),
        Fate::Overtaken { by } => (Overtaken, format!("replaced by decision {by}")),
    };
    wire::DecisionFate {
        decision_id: known.decision.to_string(),
        status,
        at_ms: known.at.0,
        by: match &known.fate {
            Fate::CalledOff { by, .. } => by.clone(),
            _ => None,
        },
        overtaken_by: match &known.fate {
            Fate::Overtaken { by } => Some(by.to_string()),
            _ => None,
        },
        text,
    }
}

pub fn breaker_hold(hold: &Hold) -> wire::BreakerHold {
    wire::BreakerHold {
        held_tier: hold.tier.map(ToWire::to_wire),
        needed_tier: hold.needs.map(ToWire::to_wire),
        strikes: hold.strikes.into(),
        until_ms: hold.until.map(|until| until.0),
        reason: hold.reason.clone(),
        ends_when: hold.ends_when.clone(),
    }
}

pub fn last_compaction(last: &CompletedCompaction) -> wire::LastCompaction {
    wire::LastCompaction {
        at_ms: last.at.0,
        origin: last.origin.to_wire(),
        sequence_id: last.sequence.as_ref().map(SequenceId::to_string),
        trigger: last.trigger.as_ref().zip(last.sequence.as_ref()).map(|(cause, sequence)| {
            trigger(cause, sequence, last.author.unwrap_or(PacketAuthor::Agent))
        }),
        tokens_before: last.before.map(|tokens| tokens.0),
        tokens_after: last.after.map(|tokens| tokens.0),
    }
}

pub fn thread_changed(
    thread: &Thread,
    policy: &Policy,
    heads_up: Option<&HeadsUpBanner>,
    now: Timestamp,
) -> wire::ThreadChangedNotification {
    let left = thread.percent_remaining(policy);
    let proposed = thread.proposal().map(|proposed| &proposed.assessed);
    wire::ThreadChangedNotification {
        thread_id: thread.id.to_string(),
        title: thread.known.title(),
        phase: thread.phase().to_wire(),
        tier: thread.tier(policy).map(ToWire::to_wire),
        percent_remaining: left.map(percent),
        sequence_id: thread.sequence().map(|sequence| sequence.id.to_string()),
        guards: guards(thread, now),
        last_compaction: thread.compactions.last.as_ref().map(last_compaction),
        breaker: thread.held_back(policy, now).as_ref().map(breaker_hold),
        last_fate: thread.decided.fates.back().map(|known| last_fate(known, proposed)),
        proposal: proposed.and_then(|of| {
            proposal(of, policy.mode, policy.silence(thread.session.host.can.cache_seconds))
        }),
        heads_up: heads_up.map(|heads_up| super::banner::heads_up(thread, heads_up)),
    }
}

pub fn compaction_update(
    thread: &Thread,
    report: &CompactionReported,
    sequence: Option<&SequenceId>,
    cause: Option<&Trigger>,
) -> wire::CompactionUpdateNotification {
    let author =
        thread.handoffs.last_packet.as_ref().map_or(PacketAuthor::Agent, |last| last.packet.author);
    let before = thread.compactions.last.as_ref().and_then(|last| last.before);
    let completed = report.status == CompactionReportStatus::Completed;
    wire::CompactionUpdateNotification {
        thread_id: thread.id.to_string(),
        sequence_id: sequence.map(SequenceId::to_string),
        status: match report.status {
            CompactionReportStatus::Started => wire::CompactionStatus::InProgress,
            CompactionReportStatus::Completed => wire::CompactionStatus::Completed,
            CompactionReportStatus::Failed => wire::CompactionStatus::Failed,
        },
        origin: report.origin.to_wire(),
        trigger: cause.zip(sequence).map(|(cause, sequence)| trigger(cause, sequence, author)),
        tokens_before: report.tokens_before.or(before.filter(|_| completed)).map(|tokens| tokens.0),
        tokens_after: report.tokens_after.map(|tokens| tokens.0),
        error: report.error.clone(),
    }
}

/// Converts spans in bytes to lines and columns if the file can still be read. Each file is read once.
pub fn problems<'p>(
    problems: impl IntoIterator<Item = &'p problem::FileProblem>,
) -> Vec<wire::Problem> {
    let mut texts: BTreeMap<&Path, Option<String>> = BTreeMap::new();
    let to_wire = |problem: &'p problem::FileProblem| {
        let text = problem.file.as_deref().and_then(|file| {
            // A file that must not be read, such as a pipe or a device, has no positions.
            let read = || problem::read_text(file).ok().flatten();
            texts.entry(file).or_insert_with(read).as_deref()
        });
        placed(problem, text)
    };
    problems.into_iter().map(to_wire).collect()
}

fn placed(problem: &problem::FileProblem, text: Option<&str>) -> wire::Problem {
    let place = |at: problem::Utf16Position| wire::Position {
        line: at.line.into(),
        character: at.character.into(),
    };
    let range = text.zip(problem.span.as_ref()).map(|(text, span)| {
        let range = problem::positions(text, span);
        wire::Range { start: place(range.start), end: place(range.end) }
    });
    wire::Problem {
        code: problem.code.to_owned(),
        severity: match problem.severity {
            ProblemSeverity::Error => wire::Severity::Error,
            ProblemSeverity::Warning => wire::Severity::Warning,
            ProblemSeverity::Hint => wire::Severity::Hint,
        },
        message: problem.message.clone(),
        file: problem.file.as_ref().map(|file| file.display().to_string()),
        range,
        help: problem.help.as_ref().map(ToString::to_string),
    }
}

#[cfg(test)]
mod tests {
    use super::ToWire;
    use rawr_core::boundary::Boundary;

    #[test]
    fn a_boundary_has_the_same_label_in_sentences_and_on_the_wire() {
        for boundary in Boundary::ALL {
            assert_eq!(boundary.to_wire().label(), boundary.label());
        }
    }
}
