//! Replays a recorded decision under another policy. What was not recorded is not guessed.

use super::{DecisionRecord, GATES, Gate, GateOutcome, Lift};
use crate::boundary::{Boundaries, Boundary};
use crate::event::Entrance;
use crate::policy::{ConfirmRule, Policy, Pressure, Tier, TierRule};

impl DecisionRecord {
    /// The tier at which this policy would have compacted here, or `None`. Gates that depend on the policy are
    /// evaluated again; the others keep their recorded result. [`Gate::Mode`] is ignored outside of a turn: the
    /// question is what the thresholds would have led to, not what would have been carried out. Always `None` for a
    /// decision of the built-in compaction, which has no tiers.
    pub fn under(&self, policy: &Policy) -> Option<Tier> {
        if self.entrance == Entrance::Inline {
            return None;
        }
        let pressure = Pressure { remaining: self.percent?, used: self.tokens };
        let tier = policy.tiers.pick(pressure)?;
        let passes = |gate| self.passes(gate, policy, tier);
        let lifted = |lift| lift == Lift::PersonOrEmergency && tier == Tier::Emergency;
        GATES.iter().all(|(gate, _, lift, _)| lifted(*lift) || passes(*gate)).then_some(tier)
    }

    fn passes(&self, gate: Gate, policy: &Policy, tier: Tier) -> bool {
        let rule = policy.tiers.rule(tier);
        let counting = self.boundaries.and(rule.counting(tier));
        match gate {
            Gate::Pressure => true,
            Gate::Boundary => !counting.is_empty(),
            Gate::WeakBoundary => {
                counting != Boundaries::of(&[Boundary::PlanUpdate])
                    || rule.takes_a_plan_update_alone()
                    || self.had_a_break()
            }
            Gate::SemanticBreak => {
                !counting.without(Boundaries::PLAN).is_empty()
                    || !rule.needs_semantic_break(tier)
                    || self.had_a_break()
            }
            Gate::Confirmation => rule.confirm == ConfirmRule::None || !self.failed(gate),
            Gate::Judgment => rule.decision_prompt_path.is_none() || !self.failed(gate),
            Gate::Mode => self.entrance != Entrance::MidTurn || policy.mid_turn.allows(Some(tier)),
            Gate::Feature
            | Gate::Origin
            | Gate::ModeOfHost
            | Gate::Guard
            | Gate::Breaker
            | Gate::Rearm
            | Gate::Cooldown
            | Gate::ActiveWork
            | Gate::PacketWorth => !self.failed(gate),
        }
    }

    /// A lifted gate counts as failed: it may not be lifted under another policy.
    fn failed(&self, gate: Gate) -> bool {
        let failed = |outcome| matches!(outcome, GateOutcome::Fail | GateOutcome::Bypassed);
        self.gates.iter().any(|result| result.gate == gate && failed(result.outcome))
    }

    /// Boundaries that did not count are not recorded. If the gate was evaluated, its result shows whether there was a
    /// break.
    fn had_a_break(&self) -> bool {
        let asked =
            self.tier.is_some_and(|tier| TierRule::built_in(tier).needs_semantic_break(tier));
        !self.boundaries.and(Boundaries::SEMANTIC).is_empty()
            || asked && !self.failed(Gate::SemanticBreak)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::GateEvidence;
    use crate::event::Outcome;
    use crate::policy::MidTurn;
    use crate::units::{DecisionId, Percent, Timestamp};

    fn decision(percent: u8, boundaries: &[Boundary], failed: &[Gate]) -> DecisionRecord {
        let gate = |gate: &Gate| GateEvidence {
            gate: *gate,
            outcome: GateOutcome::Fail,
            evidence: String::new(),
        };
        DecisionRecord {
            id: DecisionId::new("d"),
            at: Timestamp(1000),
            entrance: Entrance::TurnComplete,
            turn: None,
            outcome: Outcome::Nothing,
            tier: Policy::default()
                .tiers
                .pick(Pressure { remaining: Percent(percent), used: None }),
            percent: Some(Percent(percent)),
            tokens: None,
            boundaries: Boundaries::of(boundaries),
            reason: String::new(),
            sequence: None,
            gates: failed.iter().map(gate).collect(),
            requests: Vec::new(),
            judgment: None,
            confirm: None,
            after_turn: false,
            proposal: None,
            would_fire_if: Vec::new(),
        }
    }

    fn check(decision: DecisionRecord, change: impl FnOnce(&mut Policy), expected: Option<Tier>) {
        let mut policy = Policy::default();
        change(&mut policy);
        assert_eq!(decision.under(&policy), expected);
    }

    fn rule(policy: &mut Policy, tier: Tier) -> &mut TierRule {
        policy.tiers.rule_mut(tier)
    }

    #[test]
    fn the_tier_is_picked_by_the_thresholds_of_the_policy() {
        let commit = || decision(70, &[Boundary::Commit], &[]);
        check(commit(), |_| {}, Some(Tier::Ready));
        let early_asap = |policy: &mut Policy| rule(policy, Tier::Asap).percent_remaining_lt = 71;
        check(commit(), early_asap, Some(Tier::Asap));
        let late_ready = |policy: &mut Policy| rule(policy, Tier::Ready).percent_remaining_lt = 70;
        check(commit(), late_ready, None);
    }

    #[test]
    fn a_recorded_failure_counts_unless_an_emergency_lifts_its_gate() {
        for (gate, _, lift, _) in GATES {
            let at = |percent| decision(percent, &[Boundary::Commit], &[gate]);
            let is_asked_again = [
                Gate::Pressure,
                Gate::Boundary,
                Gate::WeakBoundary,
                Gate::SemanticBreak,
                Gate::Confirmation,
                Gate::Mode,
            ]
            .contains(&gate);
            let no_judge = gate == Gate::Judgment;
            check(at(70), |_| {}, (is_asked_again || no_judge).then_some(Tier::Ready));
            let lifted = lift == Lift::PersonOrEmergency;
            check(at(10), |_| {}, (is_asked_again || lifted).then_some(Tier::Emergency));
        }
    }

    #[test]
    fn what_an_emergency_lifted_fails_in_another_tier() {
        let mut bypassed = decision(10, &[Boundary::Commit], &[Gate::Guard]);
        bypassed.gates[0].outcome = GateOutcome::Bypassed;
        check(bypassed.clone(), |_| {}, Some(Tier::Emergency));
        let later = |policy: &mut Policy| rule(policy, Tier::Emergency).percent_remaining_lt = 5;
        check(bypassed, later, None);
    }

    #[test]
    fn the_policy_sets_the_required_boundaries() {
        let commit = || decision(70, &[Boundary::Commit], &[]);
        let only_prs = Some(Boundaries::of(&[Boundary::PrCheckpoint]));
        check(commit(), |policy| rule(policy, Tier::Ready).required = only_prs, None);
        let bare = || decision(70, &[Boundary::PlanUpdate], &[Gate::SemanticBreak]);
        check(bare(), |_| {}, None);
        let lifted = |policy: &mut Policy| {
            rule(policy, Tier::Ready).plan_needs_semantic_break = Some(false);
        };
        check(bare(), lifted, Some(Tier::Ready));
        check(decision(60, &[Boundary::PlanCheckpoint], &[]), |_| {}, Some(Tier::Asap));
    }

    #[test]
    fn a_judges_no_counts_if_the_policy_has_a_judge() {
        let vetoed = || decision(70, &[Boundary::Commit], &[Gate::Judgment]);
        check(vetoed(), |_| {}, Some(Tier::Ready));
        let asks = |policy: &mut Policy| {
            rule(policy, Tier::Ready).decision_prompt_path = Some("judgment.md".to_owned());
        };
        check(vetoed(), asks, None);
    }

    #[test]
    fn inside_a_turn_the_policy_for_it_counts_and_the_built_in_compaction_has_no_tier() {
        let inside = || DecisionRecord {
            entrance: Entrance::MidTurn,
            ..decision(70, &[Boundary::Commit], &[Gate::Mode])
        };
        check(inside(), |policy| policy.mid_turn = MidTurn::Emergency, None);
        check(inside(), |policy| policy.mid_turn = MidTurn::Policy, Some(Tier::Ready));
        let inline = DecisionRecord { entrance: Entrance::Inline, ..decision(10, &[], &[]) };
        check(inline, |_| {}, None);
    }
}
