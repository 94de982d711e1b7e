//! How often each tier would have fired under a configuration that is being edited. The core evaluates it.

use rawr_core::assess::DecisionRecord;
use rawr_core::policy::{Policy, Tier};
use rawr_core::units::{Timestamp, TurnId};
use std::collections::BTreeSet;

/// The number of days that are evaluated.
pub const DAYS: u64 = 7;

/// Every tier with the number of turns after which it would have compacted. Only the most urgent tier of each turn
/// counts.
pub fn would_have_fired(
    threads: &[Vec<DecisionRecord>],
    policy: &Policy,
    since: Timestamp,
) -> [usize; 4] {
    let mut counts = [0; 4];
    for decisions in threads {
        let mut turns: BTreeSet<(Tier, Option<&TurnId>, Timestamp)> = BTreeSet::new();
        for decision in decisions.iter().filter(|decision| decision.at >= since) {
            if let Some(tier) = decision.under(policy) {
                // A decision without a turn counts on its own.
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

/// The text that an editor shows next to the tier. VS Code truncates hints of more than 43 characters.
pub fn told(tier: Tier, count: usize) -> String {
    let times = match count {
        0 => "no compaction".to_owned(),
        1 => "1 compaction".to_owned(),
        count => format!("{count} compactions"),
    };
    format!("{tier}: {times} in {DAYS} days")
}

/// What [`told`] says, in full.
pub fn explained(tier: Tier, count: usize) -> String {
    let times = match count {
        0 => "not have fired".to_owned(),
        1 => "have fired once".to_owned(),
        count => format!("have fired {count} times"),
    };
    format!("With the thresholds of this text, {tier} would {times} in the last {DAYS} days.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rawr_core::boundary::{Boundaries, Boundary};
    use rawr_core::event::{Entrance, Outcome};
    use rawr_core::units::{DecisionId, Percent};

    #[test]
    fn one_turn_counts_once_and_older_turns_do_not_count() {
        let of_turn = |at| DecisionRecord {
            id: DecisionId::new("d"),
            at: Timestamp(at),
            entrance: Entrance::TurnComplete,
            turn: Some(TurnId::new("t")),
            outcome: Outcome::Nothing,
            tier: Some(Tier::Ready),
            percent: Some(Percent(70)),
            boundaries: Boundaries::of(&[Boundary::Commit]),
            reason: String::new(),
            sequence: None,
            gates: Vec::new(),
            requests: Vec::new(),
            judgment: None,
            confirm: None,
            after_turn: false,
            proposal: None,
            tokens: None,
            would_fire_if: Vec::new(),
        };
        let all = [vec![of_turn(1000), of_turn(1001)], vec![of_turn(999)], vec![of_turn(1000)]];
        let since = Timestamp(1000);
        assert_eq!(would_have_fired(&all, &Policy::default(), since), [0, 2, 0, 0]);
        assert_eq!(told(Tier::Ready, 2), "ready: 2 compactions in 7 days");
        assert_eq!(
            explained(Tier::Ready, 2),
            "With the thresholds of this text, ready would have fired 2 times in the last 7 days."
        );
        let longest = Tier::ALL.map(|tier| told(tier, 99_999).len()).into_iter().max();
        assert!(longest <= Some(43), "{longest:?}");
    }
}
