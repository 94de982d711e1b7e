//! One flat row for each turn of a replayed session. Decides nothing: it only sums up what the report holds.

use crate::replay::{PolicySource, ReplayedDecision, ReplayedFile, SessionReport};
use rawr_core::event::{CompactionOrigin, Entrance};
use rawr_protocol::{ReplayTurnRow, TURN_ROW_VERSION};

/// The rows of a file under each configuration.
pub fn turn_rows(file: &ReplayedFile, policies: &[PolicySource]) -> Vec<ReplayTurnRow> {
    let name = file.file.display().to_string();
    let columns = file.reports.iter().zip(policies);
    columns.flat_map(|(report, policy)| rows(&name, report, &policy.to_string())).collect()
}

fn rows(file: &str, report: &SessionReport, configuration: &str) -> Vec<ReplayTurnRow> {
    // Decisions and compactions are in the order of turns.
    let (mut decisions, mut recorded) = (report.decisions.as_slice(), report.recorded.as_slice());
    let mut rows = Vec::with_capacity(report.ended.len());
    for turn in &report.ended {
        let own;
        (own, decisions) = decisions.split_at(decisions.partition_point(|it| it.turn <= turn.turn));
        let compactions;
        (compactions, recorded) =
            recorded.split_at(recorded.partition_point(|it| it.turn <= turn.turn));
        let count = |by: CompactionOrigin| {
            number(compactions.iter().filter(|compaction| compaction.by == by).count())
        };
        let fires = || own.iter().filter(|decision| decision.fires());
        let inside = |decision: &&ReplayedDecision| decision.entrance == Entrance::MidTurn;
        let proposal = own.iter().rfind(|decision| decision.proposes);
        let deciding = fires().next_back().or(proposal).or(own.last());
        rows.push(ReplayTurnRow {
            v: TURN_ROW_VERSION,
            file: file.to_owned(),
            session: report.session.clone(),
            configuration: configuration.to_owned(),
            format: report.format.map(|format| format.id().to_owned()),
            model: report.model.clone(),
            window: report.window.0,
            turn: turn.turn,
            started_at: turn.started_at.0,
            ended_at: turn.ended_at.0,
            active_ms: turn.active_ms,
            ending: turn.ending.name().to_owned(),
            requests: turn.requests,
            commands: turn.commands,
            failed_commands: turn.failed_commands,
            tokens_read: turn.tokens_read,
            tokens: turn.tokens.map(|tokens| tokens.0),
            percent_left: turn.percent.map(|percent| u32::from(percent.0)),
            proposed: proposal.is_some(),
            dropped: own.iter().find_map(|decision| decision.drops.clone()),
            compactions: number(fires().count()),
            compactions_inside_turn: number(fires().filter(inside).count()),
            tier: deciding.and_then(|it| it.tier).map(|tier| tier.name().to_owned()),
            boundaries: deciding.map(boundaries).unwrap_or_default(),
            stopped_by: deciding.and_then(|it| it.stopped_by).map(|gate| gate.name().to_owned()),
            vetoed: own.iter().any(|decision| decision.vetoed),
            reason: deciding.map(|it| it.reason.clone()),
            host_compactions: count(CompactionOrigin::Host),
            person_compactions: count(CompactionOrigin::User),
            files_read_again: turn.files_read_again,
        });
    }
    rows
}

fn boundaries(decision: &ReplayedDecision) -> String {
    decision.boundaries.iter().map(|boundary| boundary.name()).collect::<Vec<_>>().join(",")
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
