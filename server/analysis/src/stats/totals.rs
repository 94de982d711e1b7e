//! Sums over threads.

use super::{
    AnswerCounts, CommandCounts, CompactionRun, CompactionStart, FactCounts, JudgeCounts,
    ProposalCounts, ThreadStats,
};
use rawr_core::event::{Ending, Phase};
use rawr_core::policy::{PacketAuthor, Tier};
use rawr_records::read::LineCounts;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The phases of a sequence, in their order.
const PHASES: [Phase; 7] = [
    Phase::AwaitingApproval,
    Phase::AwaitingHeadsUp,
    Phase::AwaitingScratchWrite,
    Phase::AwaitingPacket,
    Phase::AwaitingCompaction,
    Phase::Compacting,
    Phase::AwaitingHandoff,
];

/// How compaction went in many threads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatsTotals {
    /// Threads with an event that counts.
    pub threads: u32,
    /// Turns of the user or the host that ended.
    pub turns: u32,
    /// Compactions that completed.
    pub compactions: u32,
    /// Those by how they came about.
    pub by_start: BTreeMap<CompactionStart, u32>,
    /// Those by tier, where rawr's tiers started them.
    pub by_tier: BTreeMap<&'static str, u32>,
    /// Those that began while the agent worked.
    pub inside_turn: u32,
    /// Proposals and what became of them.
    pub proposals: ProposalCounts,
    /// What people answered.
    pub answers: AnswerCounts,
    /// What the judge was asked and said.
    pub judge: JudgeCounts,
    /// Packets, also of sequences that did not compact.
    pub packets: PacketTotals,
    /// What the compactions did to the context.
    pub tokens: TokenTotals,
    /// What the agents did after them.
    pub work: WorkTotals,
    /// How long the phases took.
    pub phases: Vec<PhaseTimes>,
    /// Sequences that failed or were called off, the most frequent reason first.
    pub not_completed: Vec<EndingCount>,
    /// Sequences without an end: they run, or no process continued them.
    pub not_ended: u32,
    /// Lines of all logs.
    pub lines: LineCounts,
}

/// Packets, by author, and what they name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PacketTotals {
    /// Written by agents.
    pub by_agent: u32,
    /// Written by rawr.
    pub by_rawr: u32,
    /// Written or edited by people.
    pub by_person: u32,
    /// Facts and how many of them agents named.
    pub agent_facts: FactCounts,
    /// Standing instructions and how many of them are in the packets of all authors.
    pub directives: FactCounts,
}

/// Tokens around compactions, of those for which both numbers are known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenTotals {
    pub before: Samples,
    pub after: Samples,
    /// What they freed in sum.
    pub freed: u64,
    /// How many of `after` are the host's estimate.
    pub estimated: u32,
}

/// What agents did after compactions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkTotals {
    pub handoffs: u32,
    /// Requests from each handoff until work went on, where events tell.
    pub requests: Samples,
    /// Compactions in threads that record commands.
    pub compactions_with_commands: u32,
    /// Commands soon after those.
    pub commands: CommandCounts,
}

/// How long a phase took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseTimes {
    pub phase: Phase,
    /// In milliseconds.
    pub ms: Samples,
}

/// How often sequences ended for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EndingCount {
    /// How.
    pub ending: Ending,
    /// Why, for people.
    pub reason: String,
    /// How often.
    pub count: u32,
}

/// Numbers, of which the middle is told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Samples(Vec<u64>);

impl Samples {
    fn add(&mut self, value: u64) {
        let at = self.0.partition_point(|known| *known <= value);
        self.0.insert(at, value);
    }

    /// How many.
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// The middle one, or the mean of the two in the middle, rounded down.
    pub fn median(&self) -> Option<u64> {
        let upper = self.0.get(self.0.len() / 2)?;
        match self.0.len() % 2 {
            0 => self.0.get(self.0.len() / 2 - 1).map(|lower| lower.midpoint(*upper)),
            _ => Some(*upper),
        }
    }

    /// The smallest one that at least nine tenths do not exceed.
    pub fn p90(&self) -> Option<u64> {
        self.0.get((self.0.len() * 9).div_ceil(10).checked_sub(1)?).copied()
    }
}

impl EndingCount {
    /// How they ended, for people.
    pub const fn ending_name(&self) -> &'static str {
        super::thread::ending_name(self.ending)
    }
}

impl Serialize for Samples {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut told = to.serialize_struct("Samples", 3)?;
        told.serialize_field("count", &self.count())?;
        told.serialize_field("median", &self.median())?;
        told.serialize_field("p90", &self.p90())?;
        told.end()
    }
}

impl StatsTotals {
    /// The sums over these threads.
    pub fn of<'t>(threads: impl IntoIterator<Item = &'t ThreadStats>) -> Self {
        let mut totals = Self::default();
        let mut times = PHASES.map(|phase| PhaseTimes { phase, ms: Samples::default() });
        let mut reasons: BTreeMap<(&str, &str), EndingCount> = BTreeMap::new();
        for thread in threads {
            totals.threads += u32::from(thread.spans.is_some());
            totals.turns += thread.turns;
            totals.proposals.add(thread.proposals);
            totals.answers.add(thread.answers);
            totals.judge.add(thread.judge);
            totals.lines.add(thread.lines);
            for run in &thread.runs {
                totals.count(run);
                for time in &mut times {
                    let is_same = |known: &&super::PhaseTime| known.phase == time.phase;
                    let known = run.phases.iter().find(is_same);
                    known.and_then(|known| known.ms).into_iter().for_each(|ms| time.ms.add(ms));
                }
                for end in run.endings.iter().filter(|end| end.ending != Ending::Completed) {
                    let (ending, reason) = (end.ending, end.reason.clone());
                    let counted = reasons.entry((end.ending_name(), &end.reason));
                    counted.or_insert(EndingCount { ending, reason, count: 0 }).count += 1;
                }
            }
        }
        totals.phases = times.into_iter().filter(|time| time.ms.count() > 0).collect();
        totals.not_completed = reasons.into_values().collect();
        totals.not_completed.sort_by_key(|end| std::cmp::Reverse(end.count));
        totals
    }

    fn count(&mut self, run: &CompactionRun) {
        self.not_ended += u32::from(run.sequence.is_some() && run.endings.is_empty());
        self.work.handoffs += u32::from(run.handed_over);
        run.requests_until_work.into_iter().for_each(|it| self.work.requests.add(it.into()));
        if let Some(packet) = run.packet {
            let packets = &mut self.packets;
            packets.directives.add(packet.directives);
            match packet.author {
                PacketAuthor::Agent => {
                    packets.by_agent += 1;
                    packets.agent_facts.add(packet.facts);
                }
                PacketAuthor::Watcher => packets.by_rawr += 1,
                PacketAuthor::Person => packets.by_person += 1,
            }
        }
        let Some(compaction) = run.compaction else { return };
        self.compactions += 1;
        *self.by_start.entry(run.start).or_default() += 1;
        if let Some(tier) = run.tier.map(Tier::name) {
            *self.by_tier.entry(tier).or_default() += 1;
        }
        self.inside_turn += u32::from(run.inside_turn);
        if let (Some(before), Some(after)) = (compaction.before, compaction.after) {
            let tokens = &mut self.tokens;
            tokens.before.add(before.0);
            tokens.after.add(after.0);
            tokens.freed = tokens.freed.saturating_add(before.0.saturating_sub(after.0));
            tokens.estimated += u32::from(!compaction.is_measured);
        }
        if let Some(commands) = run.commands {
            self.work.compactions_with_commands += 1;
            self.work.commands.ran += commands.ran;
            self.work.commands.again += commands.again;
        }
    }

    /// Compactions at a confirmed end of a phase.
    pub fn confirmed(&self) -> u32 {
        let confirmed = self.by_start.iter().filter(|(start, _)| start.is_confirmed());
        confirmed.map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_nine_of_ten_are_told() {
        let check = |values: &[u64], expected: (Option<u64>, Option<u64>)| {
            let mut samples = Samples::default();
            values.iter().for_each(|value| samples.add(*value));
            assert_eq!((samples.median(), samples.p90()), expected, "{values:?}");
        };
        check(&[], (None, None));
        check(&[7], (Some(7), Some(7)));
        check(&[4, 1], (Some(2), Some(4)));
        check(&[9, 1, 5], (Some(5), Some(9)));
        check(&[10, 9, 8, 7, 6, 5, 4, 3, 2, 1], (Some(5), Some(9)));
        check(&[u64::MAX, u64::MAX], (Some(u64::MAX), Some(u64::MAX)));
    }
}
