//! The breaker: after several compactions in a row that did not help, the next one needs a more urgent tier.

use super::sequence::{Aim, Sequence};
use super::{CompletedCompaction, Thread};
use crate::event::Ending;
use crate::policy::{Breaker, Policy, Tier, Worth};
use crate::units::{Percent, SequenceId, Timestamp, Tokens};
use serde::{Deserialize, Serialize};

/// How many strikes are kept, and the limit of `breaker_strikes`.
pub const MOST_STRIKES: u32 = 50;

/// An emergency must be able to free 1/20 of the window. A compaction reads the whole window, so freeing less costs
/// more than twenty times the gain. With a larger part, hosts would compact by themselves first, without a packet.
const LEAST_GAIN: u64 = 20;

/// A sequence that failed, or whose compaction freed too little. A compaction that frees enough clears all strikes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Strike {
    /// When the sequence failed or its compaction was measured.
    pub at: Timestamp,
    pub sequence: SequenceId,
    /// The tier at which it started; `None` for the built-in compaction and for one that a person asked for.
    pub tier: Option<Tier>,
    /// The rule that the compaction was measured by.
    pub worth: Worth,
    /// How much it freed, in percent of what it could have; absent if the sequence failed.
    pub freed: Option<Percent>,
}

/// What the breaker pauses now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// This tier and every less urgent one; `None`: the built-in compaction, which has no tiers.
    pub tier: Option<Tier>,
    /// The tier that is needed now; `None` if no more urgent one is in use.
    pub needs: Option<Tier>,
    /// How many strikes count here.
    pub strikes: u32,
    /// When one more try is allowed; `None`: only after a compaction that helps.
    pub until: Option<Timestamp>,
    /// Why, for people.
    pub reason: String,
    /// What ends the pause, for people. To be read after "when".
    pub ends_when: String,
}

impl Hold {
    fn ends_when(&self, policy: &Policy, now: Timestamp) -> String {
        let urgent = self.needs.map(|tier| {
            let threshold = Percent(policy.tiers.rule(tier).percent_remaining_lt);
            format!("less than {threshold} is left ({tier})")
        });
        let helps = "a compaction frees enough".to_owned();
        let later = self.until.map(|until| {
            let minutes = until.seconds_since(now).div_ceil(60);
            if minutes == 1 {
                "a minute passes".to_owned()
            } else {
                format!("{minutes} minutes pass")
            }
        });
        let ways: Vec<_> = urgent.into_iter().chain([helps]).chain(later).collect();
        ways.join(", or ")
    }
}

impl Thread {
    /// What the breaker pauses under this policy: of rawr's own compactions or of the built-in one, whichever is on.
    pub fn held_back(&self, policy: &Policy, now: Timestamp) -> Option<Hold> {
        match (policy.enabled, policy.inline.enabled) {
            (true, _) => self.hold(policy, now),
            (false, true) => self.inline_hold(policy, now),
            (false, false) => None,
        }
    }

    /// The most urgent tier that the breaker pauses. An emergency is never paused.
    pub fn hold(&self, policy: &Policy, now: Timestamp) -> Option<Hold> {
        let held = [Tier::Asap, Tier::Ready, Tier::Early].into_iter();
        held.map(Some).find_map(|tier| self.hold_at(tier, policy, now))
    }

    /// Whether the breaker pauses the built-in compaction. Strikes of every tier count.
    pub fn inline_hold(&self, policy: &Policy, now: Timestamp) -> Option<Hold> {
        self.hold_at(None, policy, now)
    }

    /// The strikes that count at this tier: its own and those of more urgent ones, because less can be freed here.
    pub fn strikes_at(&self, tier: Option<Tier>) -> impl DoubleEndedIterator<Item = &Strike> {
        self.compactions.strikes.iter().filter(move |strike| strike.tier >= tier)
    }

    fn hold_at(&self, tier: Option<Tier>, policy: &Policy, now: Timestamp) -> Option<Hold> {
        let Breaker { strikes: limit, reset_seconds, .. } = policy.breaker;
        let strikes: Vec<_> = self.strikes_at(tier).collect();
        let last = strikes.last().filter(|_| limit > 0 && strikes.len() >= limit as usize)?;
        let until = (reset_seconds > 0).then(|| last.at.plus_seconds(reset_seconds));
        if until.is_some_and(|until| until <= now) {
            return None;
        }
        let in_use = |tier: &Tier| policy.tiers.rule(*tier).percent_remaining_lt > 0;
        let needs =
            tier.and_then(|held| Tier::ALL.into_iter().filter(in_use).find(|tier| *tier > held));
        let newest = &strikes[strikes.len() - limit as usize..];
        let mut hold = Hold {
            tier,
            needs,
            strikes: u32::try_from(strikes.len()).unwrap_or(u32::MAX),
            until,
            reason: did_not_help(newest),
            ends_when: String::new(),
        };
        hold.ends_when = hold.ends_when(policy, now);
        Some(hold)
    }

    /// Tokens after the last compaction, the floor and the window, once all three are known.
    fn landing(&self) -> Option<[Tokens; 3]> {
        let last = self.compactions.last.as_ref().filter(|last| last.measured)?;
        Some([last.after?, self.gauge.floor?, self.gauge.window?])
    }

    /// How many new tokens make the next compaction worth its cost: as many as the last one left above the floor. With
    /// fewer, it would mostly process what could not be freed a moment ago. At most a quarter of the room that was
    /// left, so that the next compaction comes in time.
    pub fn worth_waiting_for(&self) -> Tokens {
        let Some([after, floor, window]) = self.landing() else { return Tokens(0) };
        let room = window.0.saturating_sub(after.0);
        Tokens(after.0.saturating_sub(floor.0).min(room / 4))
    }

    /// How many new tokens make a compaction worth its cost in an emergency: enough must be above the floor. Otherwise,
    /// if the floor itself is an emergency, each compaction would be followed by the next at once. At most half of the
    /// room above the floor, so that the compaction comes before the window is full.
    pub fn worth_an_emergency(&self) -> Tokens {
        let Some([after, floor, window]) = self.landing() else { return Tokens(0) };
        let room = window.0.saturating_sub(floor.0);
        let gain = (window.0 / LEAST_GAIN).min(room / 2);
        Tokens(gain.saturating_sub(after.0.saturating_sub(floor.0)))
    }

    /// Measures the last compaction by the first request after it.
    pub(crate) fn judge_compaction(&mut self, at: Timestamp) {
        let Some(last) = &self.compactions.last else { return };
        // A compaction that was not rawr's can only clear strikes.
        let worth = last.worth.or_else(|| {
            let strike = self.compactions.strikes.last()?;
            matches!(strike.worth, Worth::AboveFloor(_)).then_some(strike.worth)
        });
        let Some((worth, freed, enough)) = worth.and_then(|worth| {
            let (freed, enough) = last.freed(worth, self.gauge.floor?)?;
            Some((worth, freed, enough))
        }) else {
            return;
        };
        if enough {
            self.compactions.strikes.clear();
        } else if let Some(sequence) = last.sequence.clone() {
            let tier = last.trigger.as_ref().and_then(crate::event::Trigger::tier);
            self.strike(Strike { at, sequence, tier, worth, freed: Some(freed) });
        }
    }

    pub(crate) fn strike_for_failure(
        &mut self,
        sequence: &Sequence,
        ending: Ending,
        at: Timestamp,
    ) {
        let compacts = match sequence.aim {
            Aim::Compact | Aim::Recover => true,
            // What the agent is told afterwards says nothing about compactions.
            Aim::HandOver | Aim::CallOff => false,
        };
        if ending == Ending::Failed && compacts {
            let (sequence, tier, worth) =
                (sequence.id.clone(), sequence.trigger.tier(), sequence.terms.worth);
            self.strike(Strike { at, sequence, tier, worth, freed: None });
        }
    }

    /// A sequence is one strike. Format 1 counted its failure and its compaction separately.
    fn strike(&mut self, strike: Strike) {
        let known = self.compactions.strikes.iter().any(|known| known.sequence == strike.sequence);
        if !known || matches!(strike.worth, Worth::OfAll(_)) {
            self.compactions.strikes.push(strike);
            let many = self.compactions.strikes.len().saturating_sub(MOST_STRIKES as usize);
            self.compactions.strikes.drain(..many);
        }
    }
}

fn did_not_help(strikes: &[&Strike]) -> String {
    let freed: Vec<_> = strikes.iter().filter_map(|strike| strike.freed).collect();
    let failed = strikes.len() - freed.len();
    let shares: Vec<_> = freed.iter().map(ToString::to_string).collect();
    let shares = shares.join(", ");
    match (failed, freed.len()) {
        (1, 0) => "the last compaction failed".to_owned(),
        (0, 1) => format!("the last compaction freed only {shares} of what it could"),
        (failed, 0) => format!("the last {failed} compactions failed"),
        (0, freed) => {
            format!("the last {freed} compactions freed only {shares} of what they could")
        }
        (failed, freed) => format!(
            "of the last {} compactions {failed} failed, and the others freed only {shares} of what they could",
            failed + freed
        ),
    }
}

impl CompletedCompaction {
    /// How much it freed of what it could have, and whether that was enough. `None` while unknown, and if there was
    /// nothing to free.
    fn freed(&self, worth: Worth, floor: Tokens) -> Option<(Percent, bool)> {
        let (before, after) = (self.before?, self.after?);
        let (floor, most) = match worth {
            Worth::AboveFloor(most) => (floor, most),
            Worth::OfAll(most) => (Tokens(0), most),
        };
        let (could, left) = (before.0.saturating_sub(floor.0), after.0.saturating_sub(floor.0));
        let freed = could.saturating_sub(left).saturating_mul(100).checked_div(could);
        // Format 1 measured that case as well.
        let freed = freed.or(matches!(worth, Worth::OfAll(_)).then_some(0))?;
        let enough = left.saturating_mul(100) <= could.saturating_mul(u64::from(most));
        Some((Percent(u8::try_from(freed).unwrap_or(100)), enough))
    }
}
