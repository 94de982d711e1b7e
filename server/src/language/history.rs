//! What stored decisions would have come to under other thresholds: an answer for people who tune them. Nothing is
//! decided by it, and what was not recorded is not guessed.

use rawr_core::assess::{Decision, Gate, GateOutcome};
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::policy::{Policy, Tier};
use rawr_core::units::{Timestamp, TurnId};
use std::collections::BTreeSet;

/// How far back is looked.
pub const DAYS: u64 = 7;

/// Every tier with the turns that it would have compacted after. Of each turn the most urgent tier counts.
pub fn would_have_fired(
    threads: &[Vec<Decision>],
    policy: &Policy,
    since: Timestamp,
) -> [usize; 4] {
    let mut counts = [0; 4];
    for decisions in threads {
        let mut turns: BTreeSet<(Tier, Option<&TurnId>, Timestamp)> = BTreeSet::new();
        for decision in decisions.iter().filter(|decision| decision.at >= since) {
            if let Some(tier) = fires(decision, policy) {
                // Without a turn, each decision is one of its own.
                let at = decision.turn.as_ref().map_or(decision.at, |_| Timestamp::default());
                turns.insert((tier, decision.turn.as_ref(), at));
            }
        }
        for (index, tier) in Tier::ALL.into_iter().enumerate() {
            counts[index] += turns.iter().filter(|(of, ..)| *of == tier).count();
        }
    }
    counts
}

/// The tier in which it would have been a yes.
fn fires(decision: &Decision, policy: &Policy) -> Option<Tier> {
    let tier = policy.tiers.pick(decision.percent?)?;
    let rule = policy.tiers.rule(tier);
    let emergency = tier == Tier::Emergency;
    let failed = |of: Gate| {
        let is_it = |result: &rawr_core::assess::GateResult| result.gate == of;
        let result = decision.gates.iter().find(|result| is_it(result));
        result.is_some_and(|result| result.outcome == GateOutcome::Fail)
    };
    let always = [Gate::Feature, Gate::Origin, Gate::ModeOfHost, Gate::Breaker, Gate::Rearm];
    let unless_urgent = [Gate::Guard, Gate::Cooldown, Gate::ActiveWork, Gate::PacketWorth];
    if always.into_iter().any(failed) || !emergency && unless_urgent.into_iter().any(failed) {
        return None;
    }
    if emergency {
        return Some(tier);
    }
    let counting = decision.boundaries.and(rule.counting(tier));
    let plan_alone = counting.without(Boundaries::PLAN).is_empty();
    let has_break = !decision.boundaries.and(Boundaries::SEMANTIC).is_empty()
        || decision.tier.is_some_and(asks_for_break) && !failed(Gate::SemanticBreak);
    let weak = counting == Boundaries::of(&[Boundary::PlanUpdate])
        && rule.plan_needs_semantic_break != Some(false);
    let vetoed = rule.decision_prompt_path.is_some() && failed(Gate::Judgment);
    let lacks_break = plan_alone && !has_break && (weak || rule.needs_semantic_break(tier));
    (!counting.is_empty() && !lacks_break && !vetoed).then_some(tier)
}

/// Where the gate was asked, its outcome says whether there was a break.
const fn asks_for_break(tier: Tier) -> bool {
    matches!(tier, Tier::Early | Tier::Ready)
}

/// As an editor shows it beside the tier.
pub fn told(tier: Tier, count: usize) -> String {
    let times = match count {
        0 => "not have fired".to_owned(),
        1 => "have fired once".to_owned(),
        count => format!("have fired {count} times"),
    };
    format!("{tier}: would {times} in the last {DAYS} days")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rawr_core::assess::GateResult;
    use rawr_core::event::{Entrance, Outcome};
    use rawr_core::policy::TierRule;
    use rawr_core::units::{DecisionId, Percent};

    const NOW: Timestamp = Timestamp(1000);

    fn decision(percent: u8, boundaries: &[Boundary], failed: &[Gate]) -> Decision {
        let gate = |gate: &Gate| GateResult {
            gate: *gate,
            outcome: GateOutcome::Fail,
            evidence: String::new(),
        };
        Decision {
            id: DecisionId::new("d"),
            at: NOW,
            entrance: Entrance::TurnComplete,
            turn: None,
            outcome: Outcome::Nothing,
            tier: Policy::default().tiers.pick(Percent(percent)),
            percent: Some(Percent(percent)),
            boundaries: Boundaries::of(boundaries),
            reason: String::new(),
            sequence: None,
            gates: failed.iter().map(gate).collect(),
            judgment: None,
            would_fire_if: Vec::new(),
        }
    }

    /// Counts of early, ready, asap and emergency.
    fn check(decision: Decision, change: impl FnOnce(&mut Policy), expected: [usize; 4]) {
        let mut policy = Policy::default();
        change(&mut policy);
        assert_eq!(would_have_fired(&[vec![decision]], &policy, NOW), expected);
    }

    fn rule(policy: &mut Policy, tier: Tier) -> &mut TierRule {
        policy.tiers.rule_mut(tier)
    }

    #[test]
    fn the_tier_is_picked_by_the_thresholds_at_hand() {
        let commit = || decision(70, &[Boundary::Commit], &[]);
        check(commit(), |_| {}, [0, 1, 0, 0]);
        check(commit(), |policy| rule(policy, Tier::Asap).percent_remaining_lt = 71, [0, 0, 1, 0]);
        check(commit(), |policy| rule(policy, Tier::Ready).percent_remaining_lt = 70, [0; 4]);
    }

    #[test]
    fn what_stood_in_the_way_still_does_but_not_in_an_emergency() {
        let guarded = |percent| decision(percent, &[Boundary::Commit], &[Gate::Guard]);
        check(guarded(70), |_| {}, [0; 4]);
        check(guarded(10), |_| {}, [0, 0, 0, 1]);
        check(decision(10, &[], &[Gate::Boundary]), |_| {}, [0, 0, 0, 1]);
        check(decision(10, &[], &[Gate::Breaker]), |_| {}, [0; 4]);
        check(decision(70, &[Boundary::Commit], &[Gate::Mode]), |_| {}, [0, 1, 0, 0]);
    }

    #[test]
    fn boundaries_are_asked_for_as_the_policy_has_it() {
        let commit = || decision(70, &[Boundary::Commit], &[]);
        let only_prs = Some(Boundaries::of(&[Boundary::PrCheckpoint]));
        check(commit(), |policy| rule(policy, Tier::Ready).required = only_prs, [0; 4]);
        let bare = || decision(70, &[Boundary::PlanUpdate], &[Gate::SemanticBreak]);
        check(bare(), |_| {}, [0; 4]);
        let lifted = |policy: &mut Policy| {
            rule(policy, Tier::Ready).plan_needs_semantic_break = Some(false);
        };
        check(bare(), lifted, [0, 1, 0, 0]);
        check(decision(60, &[Boundary::PlanCheckpoint], &[]), |_| {}, [0, 0, 1, 0]);
    }

    #[test]
    fn a_judge_that_said_no_counts_where_one_is_asked() {
        let vetoed = || decision(70, &[Boundary::Commit], &[Gate::Judgment]);
        check(vetoed(), |_| {}, [0, 1, 0, 0]);
        let asks = |policy: &mut Policy| {
            rule(policy, Tier::Ready).decision_prompt_path = Some("judgment.md".to_owned());
        };
        check(vetoed(), asks, [0; 4]);
    }

    #[test]
    fn one_turn_counts_once_and_what_is_older_not_at_all() {
        let of_turn = |at| Decision {
            turn: Some(TurnId::new("t")),
            at: Timestamp(at),
            ..decision(70, &[Boundary::Commit], &[])
        };
        let all = [vec![of_turn(1000), of_turn(1001)], vec![of_turn(999)], vec![of_turn(1000)]];
        assert_eq!(would_have_fired(&all, &Policy::default(), NOW), [0, 2, 0, 0]);
        assert_eq!(told(Tier::Ready, 2), "ready: would have fired 2 times in the last 7 days");
    }
}
