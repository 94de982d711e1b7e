//! The result of a replay in the protocol's types. Has the shape of `rawr replay --json`, which a test compares.

use crate::wire::{self, ToWire};
use rawr_analysis::replay::{
    ContextPoint, FileWithoutSession, ModelTokens, RecordedCompaction, ReplayCost, ReplayRequest,
    ReplayResult, ReplayTotals, ReplayedDecision, ReplayedFile, ReplayedTurn, SessionReport,
    TokenCounts,
};
use rawr_protocol::{
    ReplayCompaction, ReplayContextPoint, ReplayDecision, ReplayFile, ReplayLines, ReplayOtherFile,
    ReplayPrice, ReplayRunResult, ReplaySession, ReplaySums, ReplayTokens, ReplayTurn,
};
use rawr_records::read::LineCounts;
use std::collections::BTreeMap;

pub fn result(result: ReplayResult, request: &ReplayRequest) -> ReplayRunResult {
    ReplayRunResult {
        configurations: request.policies.iter().map(ToString::to_string).collect(),
        order: request.order.to_wire(),
        totals: result.totals.into_iter().map(sums).collect(),
        costs: result.costs.into_iter().map(cost).collect(),
        files: result.files.into_iter().map(file).collect(),
        others: result.others.into_iter().map(other).collect(),
        is_stopped: result.is_stopped,
    }
}

fn sums(totals: ReplayTotals) -> ReplaySums {
    let by_tier = totals.fires_by_tier.into_iter();
    let by_gate = totals.near_misses.into_iter();
    ReplaySums {
        sessions: totals.sessions,
        turns: totals.turns,
        active_ms: totals.active_ms,
        proposals: totals.proposals,
        confirmed: totals.confirmed,
        dropped: totals.dropped,
        fires: totals.fires,
        fires_inside_turn: totals.fires_inside_turn,
        fires_by_tier: by_tier.map(|(tier, count)| (tier.to_owned(), count)).collect(),
        fires_by_boundary: totals.fires_by_boundary,
        vetoes: totals.vetoes,
        near_misses: by_gate.map(|(gate, count)| (gate.to_wire().to_string(), count)).collect(),
        host_compactions: totals.host_compactions,
        host_compactions_inside_turn: totals.host_compactions_inside_turn,
        host_compactions_unforeseen: totals.host_compactions_unforeseen,
        person_compactions: totals.person_compactions,
        files_read_again: totals.files_read_again,
        tokens: by_model(totals.tokens),
        recorded_tokens: by_model(totals.recorded_tokens),
        lines: lines(totals.lines),
    }
}

fn cost(cost: ReplayCost) -> ReplayPrice {
    let ReplayCost { cents, recorded_cents, unpriced } = cost;
    ReplayPrice { cents, recorded_cents, unpriced }
}

fn by_model(tokens: ModelTokens) -> BTreeMap<String, ReplayTokens> {
    let shown = |counts: TokenCounts| ReplayTokens {
        requests: counts.requests,
        input: counts.input,
        cached: counts.cached,
        written: counts.written,
        written_for_hour: counts.written_for_hour,
        output: counts.output,
    };
    tokens.into_iter().map(|(model, counts)| (model, shown(counts))).collect()
}

fn file(file: ReplayedFile) -> ReplayFile {
    ReplayFile {
        file: file.file.display().to_string(),
        reports: file.reports.into_iter().map(session).collect(),
        error: file.error,
    }
}

fn other(other: FileWithoutSession) -> ReplayOtherFile {
    ReplayOtherFile { file: other.file.display().to_string(), lines: lines(other.lines) }
}

const fn lines(counts: LineCounts) -> ReplayLines {
    ReplayLines {
        lines: counts.lines,
        unknown: counts.unknown,
        malformed: counts.malformed,
        oversized: counts.oversized,
    }
}

fn session(report: SessionReport) -> ReplaySession {
    ReplaySession {
        session: report.session,
        cwd: report.cwd,
        format: report.format.map(ToWire::to_wire),
        model: report.model,
        window: report.window.0,
        spans: report.spans.map(|(first, last)| [first.0, last.0]),
        active_ms: report.active_ms,
        turns: report.turns,
        lines: lines(report.lines),
        ended: report.ended.into_iter().map(turn).collect(),
        decisions: report.decisions.into_iter().map(decision).collect(),
        context: report.context.into_iter().map(point).collect(),
        recorded: report.recorded.into_iter().map(compaction).collect(),
        files_read_again: report.files_read_again,
        tokens: by_model(report.tokens),
        recorded_tokens: by_model(report.recorded_tokens),
        refused: report.refused,
    }
}

fn turn(turn: ReplayedTurn) -> ReplayTurn {
    ReplayTurn {
        turn: turn.turn,
        started_at: turn.started_at.0,
        ended_at: turn.ended_at.0,
        active_ms: turn.active_ms,
        ending: turn.ending.to_wire(),
        requests: turn.requests,
        commands: turn.commands,
        failed_commands: turn.failed_commands,
        files_read_again: turn.files_read_again,
        tokens_read: turn.tokens_read,
        tokens: turn.tokens.map(|tokens| tokens.0),
        percent: turn.percent.map(wire::percent),
    }
}

fn decision(decision: ReplayedDecision) -> ReplayDecision {
    ReplayDecision {
        at: decision.at.0,
        turn: decision.turn,
        entrance: decision.entrance.to_wire(),
        outcome: decision.outcome.to_wire(),
        tier: decision.tier.map(ToWire::to_wire),
        percent: decision.percent.map(wire::percent),
        tokens: decision.tokens.map(|tokens| tokens.0),
        boundaries: wire::boundaries(decision.boundaries),
        reason: decision.reason,
        proposes: decision.proposes,
        confirms: decision.confirms,
        after_closing: decision.after_closing,
        drops: decision.drops,
        vetoed: decision.vetoed,
        stopped_by: decision.stopped_by.map(ToWire::to_wire),
    }
}

const fn point(point: ContextPoint) -> ReplayContextPoint {
    let (percent, percent_left) = (wire::percent(point.percent), wire::percent(point.percent_left));
    ReplayContextPoint { at: point.at.0, turn: point.turn, percent, percent_left }
}

fn compaction(recorded: RecordedCompaction) -> ReplayCompaction {
    ReplayCompaction {
        at: recorded.at.0,
        turn: recorded.turn,
        by: recorded.by.to_wire(),
        tokens_before: recorded.tokens_before.0,
        inside_turn: recorded.inside_turn,
    }
}
